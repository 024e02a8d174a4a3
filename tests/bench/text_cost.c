/*
 * text_cost.c: the cost of a text's vector: CPU time of this thread for the steps of a sentence of 14 tokens, alone and
 * in a batch of 32, by each path; a comparison's vetoes; and start and memory of an embedder that has used its whole
 * cache. The model file is mapped, like in the server.
 *
 *   bench_text_cost MODEL
 */
#include "server/domain/embed/bag.h"
#include "server/domain/embed/calibration.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 200
#define BATCH 32

static const char sentence[] = "What is the capital of France, and how many people live there?";
static struct arena arena;
static struct arena scratch;

static void check(enum err err)
{
    if (err != OK) {
        (void)fprintf(stderr, "bench_text_cost: %s\n", err_text(err));
        exit(EXIT_FAILURE);
    }
}

static double cpu_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static struct slice map_file(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes = MAP_FAILED;

    if (file < 0 || fstat(file, &status) != 0) {
        (void)fprintf(stderr, "%s: cannot be read\n", path);
        exit(EXIT_FAILURE);
    }
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    (void)close(file);
    if (bytes == MAP_FAILED) {
        (void)fprintf(stderr, "%s: cannot be mapped\n", path);
        exit(EXIT_FAILURE);
    }
    return slice_of(bytes, (size_t)status.st_size);
}

/* Returns the resident memory of this process, including shared files. */
static double resident_mb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    char line[128] = "";
    char *rest = NULL;

    if (file == NULL || fgets(line, sizeof(line), file) == NULL) {
        exit(EXIT_FAILURE);
    }
    (void)fclose(file);
    (void)strtoul(line, &rest, 10);
    return (double)strtoul(rest, NULL, 10) * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static void measure_steps(const struct model *model)
{
    const struct slice texts[2] = {slice_text(sentence), SLICE("How many people live in Paris?")};
    float vector[NGRAMS_WIDTH];
    struct antonyms antonyms;
    struct tokens tokens;
    double from = cpu_us();

    for (size_t i = 0; i < ROUNDS; i++) {
        arena_reset(&scratch);
        check(tokens_of(model, &scratch, texts[0], &tokens));
    }
    (void)printf("%zu tokens: split in %.1f us", tokens.count, (cpu_us() - from) / ROUNDS);
    from = cpu_us();
    for (size_t i = 0; i < ROUNDS; i++) {
        arena_reset(&scratch);
        check(bag_embed(model, &scratch, texts[0], vector));
    }
    (void)printf(", words %.1f us", (cpu_us() - from) / ROUNDS);
    from = cpu_us();
    for (size_t i = 0; i < ROUNDS; i++) {
        arena_reset(&scratch);
        check(ngrams_of(&scratch, texts[0], vector));
    }
    (void)printf(", n-grams %.1f us", (cpu_us() - from) / ROUNDS);
    from = cpu_us();
    for (size_t i = 0; i < ROUNDS; i++) {
        arena_reset(&scratch);
        check(antonyms_find(model, &scratch, texts[0], texts[1], &antonyms));
    }
    (void)printf(", antonyms of two %.1f us\n", (cpu_us() - from) / ROUNDS);
}

static void measure_encoder(const struct model *model, enum linear_path path)
{
    static struct tokens tokens[BATCH];
    static float vectors[BATCH * MODEL_WIDE];
    double from = 0;

    for (size_t i = 0; i < BATCH; i++) {
        check(tokens_of(model, &scratch, slice_text(sentence), &tokens[i]));
    }
    for (size_t count = 1; count <= BATCH; count += BATCH - 1) {
        size_t rounds = ROUNDS / count;

        from = cpu_us();
        for (size_t i = 0; i < rounds; i++) {
            arena_reset(&scratch);
            check(encoder_embed(model, path, &scratch, tokens, count, vectors));
        }
        (void)printf("%s: %zu texts of %zu tokens, %.2f ms each\n",
                     path == LINEAR_AVX2 ? "AVX2" : "plain", count, tokens[0].count,
                     (cpu_us() - from) / (double)(rounds * count) / 1000);
    }
}

/* Fills the cache with texts that use most pieces and words. */
static void measure_memory(const char *path, double before)
{
    double from = cpu_us();
    struct slice file = map_file(path);
    struct embedder *embedder = NULL;
    static float vector[EMBEDDER_WIDTH_MAX];
    static char long_text[1024]; /* a text with more tokens than the limit */

    check(embedder_new(&arena, file, &embedder));
    (void)printf("start: %.1f ms\n", (cpu_us() - from) / 1000);
    for (unsigned i = 0; i < EMBEDDER_CACHE_VECTORS; i++) {
        char text[64];
        int length = snprintf(text, sizeof(text), "text %u of many with numbers %u", i, i * 7919);
        struct slice slice = slice_of(text, (size_t)length);

        arena_reset(&scratch);
        check(embedder_embed(embedder, &scratch, SLICE("bench"), &slice, 1, vector));
    }
    memset(long_text, 'x', sizeof(long_text));
    for (size_t i = 0; i < sizeof(long_text); i += 3) {
        long_text[i] = ' ';
    }
    check(embedder_embed(embedder, &scratch, SLICE("bench"),
                         &(struct slice){(const uint8_t *)long_text, sizeof(long_text)}, 1,
                         vector));
    (void)printf("memory: %.1f MB, of which the file has %.1f MB\n", resident_mb() - before,
                 (double)file.size / 1e6);
    embedder_free(embedder);
}

int main(int argc, char **argv)
{
    double before = resident_mb();
    struct model model;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_text_cost MODEL\n");
        return 2;
    }
    arena_init(&arena, (size_t)64 << 20);
    arena_init(&scratch, (size_t)64 << 20);
    measure_memory(argv[1], before);
    check(model_open(map_file(argv[1]), &model));
    measure_steps(&model);
    if (linear_best_path() == LINEAR_AVX2) {
        measure_encoder(&model, LINEAR_AVX2);
    }
    measure_encoder(&model, LINEAR_PLAIN);
    arena_deinit(&scratch);
    arena_deinit(&arena);
    return EXIT_SUCCESS;
}
