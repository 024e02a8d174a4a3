/*
 * replay.c: a fuzz target as an ordinary test: every file of a corpus, and then that many damaged
 * copies of them. Prints the seed, and takes it: replay CORPUS [ROUNDS [SEED]]. A crash is the
 * result.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 256
#define INPUT_BYTES_MAX 65536
#define CHANGES_MAX 8

struct input {
    uint8_t bytes[INPUT_BYTES_MAX];
    size_t size;
};

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled".
 * */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

static bool read_input(const char *folder, const char *name, struct input *ret_input)
{
    char path[4096];
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "rbe");
    if (file == NULL) {
        return false;
    }
    ret_input->size = fread(ret_input->bytes, 1, sizeof(ret_input->bytes), file);
    (void)fclose(file);
    return true;
}

/* Bytes changed, cut out, doubled, or the end cut off. */
static void damage(struct input *input, uint64_t *random)
{
    uint64_t changes = 1 + next_random(random) % CHANGES_MAX;

    for (uint64_t i = 0; i < changes && input->size > 1; i++) {
        size_t at = next_random(random) % input->size;
        size_t left = input->size - at;
        size_t part = 1 + next_random(random) % left;

        switch (next_random(random) % 5) {
        case 0:
            input->bytes[at] = (uint8_t)next_random(random);
            break;
        case 1:
            input->bytes[at] ^= (uint8_t)(1u << next_random(random) % 8);
            break;
        case 2:
            memmove(input->bytes + at, input->bytes + at + part, left - part);
            input->size -= part;
            break;
        case 3:
            part = part < INPUT_BYTES_MAX - input->size ? part : INPUT_BYTES_MAX - input->size;
            memmove(input->bytes + at + part, input->bytes + at, left);
            input->size += part;
            break;
        default: /* five cases in total */
            input->size = at + 1;
            break;
        }
    }
}

/* A copy on the heap of just its size, so that a sanitizer sees a byte too far. */
static void run(const struct input *input)
{
    uint8_t *bytes = malloc(input->size + (input->size == 0));

    if (bytes == NULL) {
        abort();
    }
    memcpy(bytes, input->bytes, input->size);
    (void)LLVMFuzzerTestOneInput(bytes, input->size);
    free(bytes);
}

static size_t read_corpus(const char *folder, struct input *inputs)
{
    struct dirent **names = NULL;
    int found = scandir(folder, &names, NULL, alphasort);
    size_t count = 0;

    for (int i = 0; i < found; i++) {
        if (names[i]->d_name[0] != '.' && count < FILES_MAX &&
            read_input(folder, names[i]->d_name, &inputs[count])) {
            count++;
        }
        free(names[i]);
    }
    free((void *)names);
    return count;
}

int main(int argc, char **argv)
{
    static struct input inputs[FILES_MAX];
    static struct input damaged;
    unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    uint64_t random = seed * 2 + 1;
    size_t count = argc > 1 ? read_corpus(argv[1], inputs) : 0;

    if (count == 0) {
        (void)fprintf(stderr, "replay: no input; usage: replay CORPUS [ROUNDS [SEED]]\n");
        return 2;
    }
    (void)printf("seed %llu\n", (unsigned long long)seed);
    (void)fflush(stdout);
    for (size_t i = 0; i < count; i++) {
        run(&inputs[i]);
    }
    for (unsigned long i = 0; i < rounds; i++) {
        damaged = inputs[next_random(&random) % count];
        damage(&damaged, &random);
        run(&damaged);
    }
    (void)printf("%zu inputs and %lu damaged ones passed\n", count, rounds);
    return 0;
}
