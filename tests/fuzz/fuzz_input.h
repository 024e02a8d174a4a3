/*
 * fuzz_input.h: an input as a row of decisions. Each function takes bytes off its front; after the
 * end everything is 0, so that any input is a whole one, and a cut one the beginning of the same.
 */
#ifndef ERRATA_TESTS_FUZZ_FUZZ_INPUT_H
#define ERRATA_TESTS_FUZZ_FUZZ_INPUT_H

#include "store/base/slice.h"

struct fuzz_input {
    struct slice rest;
};

static inline struct fuzz_input fuzz_input_of(const uint8_t *data, size_t size)
{
    return (struct fuzz_input){slice_of(data, size)};
}

/* Returns whether the input is used up. */
static inline bool fuzz_is_over(const struct fuzz_input *input)
{
    return input->rest.size == 0;
}

static inline uint8_t fuzz_take_byte(struct fuzz_input *input)
{
    uint8_t byte = 0;

    if (input->rest.size > 0) {
        byte = input->rest.data[0];
        input->rest = slice_after(input->rest, 1);
    }
    return byte;
}

/* A number of 1 to 8 bytes, big-endian. */
static inline uint64_t fuzz_take_number(struct fuzz_input *input, size_t bytes)
{
    uint64_t number = 0;

    for (size_t i = 0; i < bytes; i++) {
        number = number << 8 | fuzz_take_byte(input);
    }
    return number;
}

/* Takes one of `count` (1 to 256) choices, determined by a byte. */
static inline uint32_t fuzz_take_choice(struct fuzz_input *input, uint32_t count)
{
    return fuzz_take_byte(input) % count;
}

/* Takes at most `max` bytes, fewer at the end of the input; borrowed from it. */
static inline struct slice fuzz_take_bytes(struct fuzz_input *input, size_t max)
{
    size_t size = max < input->rest.size ? max : input->rest.size;
    struct slice bytes = slice_of(input->rest.data, size);

    input->rest = slice_after(input->rest, size);
    return bytes;
}

/* The same, with a length that the input gives in a byte. */
static inline struct slice fuzz_take_text(struct fuzz_input *input)
{
    return fuzz_take_bytes(input, fuzz_take_byte(input));
}

#endif
