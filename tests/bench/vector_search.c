/*
 * vector_search.c: the search of an organisation's vectors: its time, by number of rows, and its recall
 * beside an exact scan. The rows are vectors of real texts (a table whose first column is a text), and
 * variations of them: each is a text's vector plus a share of another's and noise. Queries are texts that
 * are not rows. Each query is searched several times; times are CPU time of this thread, by each path, whose results
 * must be equal.
 *
 *   bench_vector_search MODEL|- TEXTS.tsv ROWS
 */
#include "server/domain/embed/embedder.h"
#include "server/domain/vectors/vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)
#define TEXTS_MAX 20000
#define QUERIES 50
#define TOP 10
#define ROUNDS 4 /* results of all queries */

static struct arena arena;
static float *texts; /* their vectors */
static size_t text_count;
static size_t width;
static uint64_t seed = 1;

static uint32_t draw(void)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(seed >> 33);
}

static struct slice read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = (uint8_t *)arena_alloc(&arena, FILE_BYTES_MAX);
    size_t size = 0;

    if (file == NULL || bytes == NULL) {
        (void)fprintf(stderr, "%s: cannot be read\n", path);
        exit(EXIT_FAILURE);
    }
    bytes += (MODEL_ALIGN_BYTES - (uintptr_t)bytes % MODEL_ALIGN_BYTES) % MODEL_ALIGN_BYTES;
    size = fread(bytes, 1, FILE_BYTES_MAX - MODEL_ALIGN_BYTES, file);
    (void)fclose(file);
    return slice_of(bytes, size);
}

static double cpu_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Embeds the first column of each line. */
static void embed_texts(struct embedder *embedder, const char *path)
{
    struct slice rest = read_file(path);
    struct arena scratch;

    arena_init(&scratch, (size_t)64 << 20);
    texts = (float *)arena_alloc(&arena, TEXTS_MAX * width * sizeof(float));
    while (texts != NULL && rest.size > 0 && text_count < TEXTS_MAX) {
        const uint8_t *end = (const uint8_t *)memchr(rest.data, '\n', rest.size);
        size_t size = end != NULL ? (size_t)(end - rest.data) : rest.size;
        const uint8_t *tab = (const uint8_t *)memchr(rest.data, '\t', size);
        struct slice text = slice_of(rest.data, tab != NULL ? (size_t)(tab - rest.data) : size);

        arena_reset(&scratch);
        if (embedder_embed(embedder, &scratch, SLICE("bench"), &text, 1,
                           texts + text_count * width) != OK) {
            exit(EXIT_FAILURE);
        }
        text_count++;
        rest = slice_after(rest, size < rest.size ? size + 1 : size);
    }
    arena_deinit(&scratch);
}

/* Writes a variation of a text's vector. The first QUERIES texts are reserved for queries. */
static void vary(float *row)
{
    const float *one = texts + (QUERIES + draw() % (text_count - QUERIES)) * width;
    const float *other = texts + (QUERIES + draw() % (text_count - QUERIES)) * width;
    float share = (float)(draw() % 100) / 100;
    double squares = 0;

    for (size_t i = 0; i < width; i++) {
        float noise = ((float)(draw() % 2001) / 1000 - 1) / sqrtf((float)width);

        row[i] = one[i] + share * other[i] + noise * 0.5F;
        squares += (double)row[i] * (double)row[i];
    }
    for (size_t i = 0; i < width; i++) {
        row[i] = (float)((double)row[i] / sqrt(squares));
    }
}

static const float *read_row(void *user, uint32_t row)
{
    return (const float *)user + (size_t)row * width;
}

/* Returns the cosine of the TOP-th most similar row. */
static float find_exactly(const float *query, const float *rows, size_t count)
{
    float best[TOP];

    for (size_t i = 0; i < TOP; i++) {
        best[i] = -2;
    }
    for (size_t row = 0; row < count; row++) {
        float cosine = 0;
        size_t at = TOP;

        for (size_t i = 0; i < width; i++) {
            cosine += query[i] * rows[row * width + i];
        }
        while (at > 0 && best[at - 1] < cosine) {
            at--;
        }
        if (at < TOP) {
            memmove(best + at + 1, best + at, (TOP - at - 1) * sizeof(best[0]));
            best[at] = cosine;
        }
    }
    return best[TOP - 1];
}

static int compare_times(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static void search(const struct vectors_rows *rows, enum vectors_path path, struct arena *scratch,
                   const float *query, struct vectors_found found[VECTORS_KINDS])
{
    arena_reset(scratch);
    if (vectors_search(rows, path, scratch, query, -1, found) != OK) {
        exit(EXIT_FAILURE);
    }
}

/* Prints the time of a path; returns a checksum of the results. */
static uint64_t measure_path(const struct vectors_rows *rows, enum vectors_path path,
                             struct arena *scratch)
{
    static double times[QUERIES * ROUNDS];
    uint64_t checksum = 0;

    for (size_t i = 0; i < (size_t)QUERIES * ROUNDS; i++) {
        struct vectors_found found[VECTORS_KINDS];
        double from = cpu_ms();

        search(rows, path, scratch, texts + i % QUERIES * width, found);
        times[i] = cpu_ms() - from;
        for (size_t j = 0; j < found[0].count; j++) {
            checksum = checksum * 31 + found[0].matches[j].row;
        }
    }
    qsort(times, (size_t)QUERIES * ROUNDS, sizeof(times[0]), compare_times);
    (void)printf("%s: %zu rows of %zu numbers, p50 %.2f ms, p99 %.2f ms\n",
                 path == VECTORS_AVX2 ? "AVX2" : "plain", rows->count, width,
                 times[QUERIES * ROUNDS / 2], times[QUERIES * ROUNDS * 99 / 100]);
    return checksum;
}

static void measure_recall(const struct vectors_rows *rows, const float *vectors,
                           struct arena *scratch)
{
    size_t right = 0;

    for (size_t i = 0; i < QUERIES; i++) {
        struct vectors_found found[VECTORS_KINDS];
        const float *query = texts + i * width;
        float last = find_exactly(query, vectors, rows->count);

        search(rows, vectors_best_path(), scratch, query, found);
        for (size_t j = 0; j < TOP && j < found[0].count; j++) {
            right += found[0].matches[j].cosine >= last - 1e-5F ? 1 : 0;
        }
    }
    (void)printf("recall@%d %.3f\n", TOP, (double)right / (QUERIES * TOP));
}

static void measure(const struct vectors_rows *rows, const float *vectors)
{
    struct arena scratch;
    uint64_t checksum = 0;

    arena_init(&scratch, (size_t)16 << 20);
    checksum = measure_path(rows, VECTORS_PLAIN, &scratch);
    if (vectors_best_path() != VECTORS_PLAIN &&
        measure_path(rows, vectors_best_path(), &scratch) != checksum) {
        (void)fprintf(stderr, "bench_vector_search: the paths found different rows\n");
        exit(EXIT_FAILURE);
    }
    measure_recall(rows, vectors, &scratch);
    arena_deinit(&scratch);
}

int main(int argc, char **argv)
{
    struct slice file = {NULL, 0};
    struct embedder *embedder = NULL;
    struct vectors_rows rows = {.read = read_row};
    float *vectors = NULL;
    int8_t *sketches = NULL;
    uint8_t *kinds = NULL;

    if (argc != 4) {
        (void)fprintf(stderr, "usage: bench_vector_search MODEL|- TEXTS.tsv ROWS\n");
        return 2;
    }
    arena_init(&arena, (size_t)16 << 30);
    if (strcmp(argv[1], "-") != 0) {
        file = read_file(argv[1]);
    }
    if (embedder_new(&arena, file, &embedder) != OK) {
        return EXIT_FAILURE;
    }
    width = embedder_width(embedder);
    embed_texts(embedder, argv[2]);
    rows.width = width;
    rows.count = (size_t)strtoul(argv[3], NULL, 10);
    vectors = (float *)arena_alloc(&arena, rows.count * width * sizeof(float));
    sketches = (int8_t *)arena_alloc(&arena, rows.count * VECTORS_SKETCH_BYTES);
    kinds = (uint8_t *)arena_calloc(&arena, rows.count, 1);
    if (text_count <= QUERIES || vectors == NULL || sketches == NULL || kinds == NULL) {
        return EXIT_FAILURE;
    }
    for (size_t row = 0; row < rows.count; row++) {
        vary(vectors + row * width);
        vectors_sketch(vectors_best_path(), vectors + row * width, width,
                       sketches + row * VECTORS_SKETCH_BYTES);
    }
    rows.user = vectors;
    rows.sketches = sketches;
    rows.kinds = kinds;
    measure(&rows, vectors);
    embedder_free(embedder);
    arena_deinit(&arena);
    return EXIT_SUCCESS;
}
