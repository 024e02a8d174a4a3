/*
 * suggest.c: see suggest.h. Optimal string alignment distance over three rows.
 */
#include "tools/errata/terminal/suggest.h"

#include <ctype.h>
#include <limits.h>

static struct slice cut(struct slice word)
{
    return slice_of(word.data,
                    word.size < SUGGEST_WORD_BYTES_MAX ? word.size : SUGGEST_WORD_BYTES_MAX);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool same(uint8_t a, uint8_t b)
{
    return tolower(a) == tolower(b);
}

unsigned suggest_distance(struct slice a, struct slice b)
{
    unsigned rows[3][SUGGEST_WORD_BYTES_MAX + 1];

    a = cut(a);
    b = cut(b);
    for (size_t j = 0; j <= b.size; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a.size; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3];
        const unsigned *two_above = rows[(i + 1) % 3];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.size; j++) {
            unsigned replace = above[j - 1] + !same(a.data[i - 1], b.data[j - 1]);

            row[j] = least(replace, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a.data[i - 1], b.data[j - 2]) &&
                same(a.data[i - 2], b.data[j - 1])) {
                row[j] = least(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[a.size % 3][b.size];
}

void suggest_init(struct suggest *suggest, struct slice typed)
{
    *suggest = (struct suggest){.typed = typed, .best_distance = UINT_MAX};
}

static bool begins_with(struct slice whole, struct slice prefix)
{
    if (prefix.size == 0 || prefix.size > whole.size) {
        return false;
    }
    for (size_t i = 0; i < prefix.size; i++) {
        if (!same(whole.data[i], prefix.data[i])) {
            return false;
        }
    }
    return true;
}

void suggest_offer(struct suggest *suggest, struct slice candidate)
{
    unsigned allowed = suggest->typed.size < 6 ? 2 : (unsigned)suggest->typed.size / 3;
    unsigned distance = suggest_distance(suggest->typed, candidate);

    if (begins_with(candidate, suggest->typed)) {
        distance = least(distance, 1);
    }
    /* Words of one or two letters match too easily, so their distance must be less than their
     * length. */
    if (distance > allowed || distance >= candidate.size || distance >= suggest->best_distance) {
        return;
    }
    suggest->best = candidate;
    suggest->best_distance = distance;
}
