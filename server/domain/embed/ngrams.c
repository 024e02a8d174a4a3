/*
 * ngrams.c: each sequence is hashed to a place and a sign; repeated occurrences of a sequence count
 * less each time, so that frequent words do not dominate a long text.
 */
#include "server/domain/embed/ngrams.h"

#include "server/domain/embed/letters.h"
#include "server/domain/text/sku.h"

#include <math.h>
#include <utf8proc.h>

#define SHORTEST 3
#define LONGEST 4
/* FNV-1a (draft-eastlake-fnv), over code points. */
#define HASH_START 2166136261U
#define HASH_FACTOR 16777619U
/* The use of the bits of a mixed hash. */
#define SIGN_SHIFT 31

/* Reduces the characters to words in lower case with a space before, between and after them. */
static void simplify(struct points *letters)
{
    size_t count = 0;
    uint32_t previous = ' ';

    for (size_t i = 0; i < letters->count; i++) {
        uint32_t next = letters->at[i];

        next = sku_is_word(next) ? (uint32_t)utf8proc_tolower((utf8proc_int32_t)next) : ' ';
        if (next != ' ' || previous != ' ') {
            letters->at[count++] = next;
        }
        previous = next;
    }
    if (previous != ' ') {
        letters->at[count++] = ' ';
    }
    letters->count = count;
}

static uint32_t letter_at(const struct points *letters, size_t at)
{
    return at == 0 ? ' ' : letters->at[at - 1]; /* the space before the first word */
}

/* The finaliser of MurmurHash3, since the low bits of FNV are weak. */
static uint32_t mix(uint32_t hash)
{
    hash = (hash ^ hash >> 16) * 0x85EBCA6BU;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35U;
    return hash ^ hash >> 16;
}

static void count_sequences(const struct points *letters, float *counts)
{
    size_t count = letters->count + 1;

    for (size_t from = 0; from + SHORTEST <= count; from++) {
        uint32_t hash = HASH_START;

        for (size_t length = 1; length <= LONGEST && from + length <= count; length++) {
            hash = (hash ^ letter_at(letters, from + length - 1)) * HASH_FACTOR;
            if (length >= SHORTEST) {
                uint32_t mixed = mix(hash);

                counts[mixed % NGRAMS_WIDTH] += mixed >> SIGN_SHIFT != 0 ? 1.0F : -1.0F;
            }
        }
    }
}

/* Replaces counts by their square roots, and makes the length 1. */
static void finish(float *counts)
{
    double squares = 0;
    float factor = 0;

    for (size_t i = 0; i < NGRAMS_WIDTH; i++) {
        squares += (double)fabsf(counts[i]);
        counts[i] = counts[i] < 0 ? -sqrtf(-counts[i]) : sqrtf(counts[i]);
    }
    factor = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    for (size_t i = 0; i < NGRAMS_WIDTH; i++) {
        counts[i] *= factor;
    }
}

enum err ngrams_of(struct arena *arena, struct slice text, float *ret_vector)
{
    struct points letters = {NULL, 0};
    enum err err = letters_read(arena, text, &letters);

    if (err != OK) {
        return err;
    }
    memset(ret_vector, 0, NGRAMS_WIDTH * sizeof(ret_vector[0]));
    simplify(&letters);
    count_sequences(&letters, ret_vector);
    finish(ret_vector);
    return OK;
}
