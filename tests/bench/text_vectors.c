/*
 * text_vectors.c: the vectors of texts, for the tools that fit what the server computes from them. Reads a text from
 * each line, and writes its vector as floats in the machine's order, one after the other; prints the widths of the
 * parts to standard error.
 *
 *   bench_text_vectors MODEL|- <TEXTS >VECTORS
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

int main(int argc, char **argv)
{
    struct slice file = {NULL, 0};
    struct embedder *embedder = NULL;
    struct arena arena;
    struct arena scratch;

    if (argc != 2) {
        (void)fprintf(stderr, "usage: bench_text_vectors MODEL|- <TEXTS >VECTORS\n");
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
    write_vectors(embedder, &scratch);
    embedder_free(embedder);
    arena_deinit(&scratch);
    arena_deinit(&arena);
    return EXIT_SUCCESS;
}
