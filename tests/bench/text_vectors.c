/*
 * text_vectors.c: the vectors of texts, for the tools that fit the server's parameters. Reads a text from each line,
 * and writes its vector as floats in the machine's order, one after the other.
 *
 * With `--paths` it writes no vectors, but checks that the encoder gives the same bits by every path of this machine, so
 * that every decision by vectors is the same on every machine.
 *
 *   bench_text_vectors MODEL|- [--paths] <TEXTS >VECTORS
 */
#include "server/domain/embed/embedder.h"

#include <stdio.h>
#include <stdlib.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)
#define LINE_BYTES_MAX 65536

static struct slice read_file(struct arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = (uint8_t *)arena_alloc(arena, FILE_BYTES_MAX);
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

static void write_vectors(struct embedder *embedder, struct arena *scratch)
{
    static char line[LINE_BYTES_MAX];
    float vector[EMBEDDER_WIDTH_MAX];

    while (fgets(line, sizeof(line), stdin) != NULL) {
        struct slice text = slice_of(line, strcspn(line, "\n"));

        arena_reset(scratch);
        if (embedder_embed(embedder, scratch, SLICE("bench"), &text, 1, vector) != OK ||
            fwrite(vector, sizeof(float), embedder_width(embedder), stdout) !=
                embedder_width(embedder)) {
            exit(EXIT_FAILURE);
        }
    }
}

static void check_paths(struct slice file, struct arena *scratch)
{
    static char line[LINE_BYTES_MAX];
    float best[MODEL_WIDE];
    float plain[MODEL_WIDE];
    struct tokens tokens;
    struct model model;
    size_t count = 0;

    if (model_open(file, &model) != OK || linear_best_path() == LINEAR_PLAIN) {
        (void)fprintf(stderr, "expected a model file, and a machine with AVX2\n");
        exit(EXIT_FAILURE);
    }
    while (fgets(line, sizeof(line), stdin) != NULL) {
        arena_reset(scratch);
        if (tokens_of(&model, scratch, slice_of(line, strcspn(line, "\n")), &tokens) != OK ||
            encoder_embed(&model, linear_best_path(), scratch, &tokens, 1, best) != OK ||
            encoder_embed(&model, LINEAR_PLAIN, scratch, &tokens, 1, plain) != OK ||
            memcmp(best, plain, sizeof(best)) != 0) {
            (void)fprintf(stderr, "text %zu has other bits by the plain path\n", count + 1);
            exit(EXIT_FAILURE);
        }
        count++;
    }
    (void)printf("%zu texts: the same bits by AVX2 and by plain C\n", count);
}

int main(int argc, char **argv)
{
    struct slice file = {NULL, 0};
    struct embedder *embedder = NULL;
    struct arena arena;
    struct arena scratch;

    if (argc != 2 && !(argc == 3 && strcmp(argv[2], "--paths") == 0)) {
        (void)fprintf(stderr, "usage: bench_text_vectors MODEL|- [--paths] <TEXTS >VECTORS\n");
        return 2;
    }
    arena_init(&arena, (size_t)256 << 20);
    arena_init(&scratch, (size_t)64 << 20);
    if (strcmp(argv[1], "-") != 0) {
        file = read_file(&arena, argv[1]);
    }
    if (embedder_new(&arena, file, &embedder) != OK) {
        (void)fprintf(stderr, "%s: not a model file\n", argv[1]);
        return EXIT_FAILURE;
    }
    if (argc == 3) {
        check_paths(file, &scratch);
    } else {
        write_vectors(embedder, &scratch);
    }
    embedder_free(embedder);
    arena_deinit(&scratch);
    arena_deinit(&arena);
    return EXIT_SUCCESS;
}
