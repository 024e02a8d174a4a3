/*
 * normalise.c: see normalise.h. Unicode's data and its composition come from utf8proc; the
 * decomposition is done here one character at a time, so that its size stays bounded.
 */
#include "server/domain/text/normalise.h"

#include "server/domain/text/fold.h"

#include <string.h>
#include <utf8proc.h>

/* The longest compatibility decomposition of one character (U+FDFA) has 18. */
#define DECOMPOSED_MAX 18

bool normalise_drop_stacked(struct points *points)
{
    size_t stacked = NORMALISE_STACKED_MAX; /* the text may begin with a combining mark */
    size_t kept = 0;

    for (size_t at = 0; at < points->count; at++) {
        bool mark = points->at[at] >= 0x300 && fold_is_mark(points->at[at]);

        if (mark && stacked == NORMALISE_STACKED_MAX) {
            continue;
        }
        stacked = mark ? stacked + 1 : 0;
        points->at[kept] = points->at[at];
        kept++;
    }
    if (kept == points->count) {
        return false;
    }
    points->count = kept;
    return true;
}

/* Returns whether NFKC leaves the code point unchanged and it composes only with marks, as is the
 * case for most European texts. */
static bool is_stable(uint32_t code_point)
{
    return code_point < 0xA0 || (code_point >= 0xC0 && code_point < 0x132) ||
           (code_point >= 0x2018 && code_point <= 0x201F) || code_point == 0x2013 ||
           code_point == 0x2014 || code_point == 0x20AC;
}

static bool all_are_stable(struct points points)
{
    for (size_t at = 0; at < points.count; at++) {
        if (!is_stable(points.at[at])) {
            return false;
        }
    }
    return true;
}

static int class_of(uint32_t code_point)
{
    return utf8proc_get_property((utf8proc_int32_t)code_point)->combining_class;
}

/* Moves the newest character before the marks whose combining class is larger. */
static void put_in_order(struct points *points)
{
    size_t at = points->count - 1;
    uint32_t newest = points->at[at];
    int class = class_of(newest);

    while (class > 0 && at > 0 && class_of(points->at[at - 1]) > class) {
        points->at[at] = points->at[at - 1];
        at--;
    }
    points->at[at] = newest;
}

/* Appends the decomposition of one character; returns false if it does not fit. */
static bool append_decomposed(struct points *points, uint32_t code_point, size_t max)
{
    utf8proc_int32_t decomposed[DECOMPOSED_MAX] = {0};
    int boundary = 0;
    utf8proc_ssize_t count = 1;

    decomposed[0] = (utf8proc_int32_t)code_point;
    if (code_point >= 0xA0) {
        count = utf8proc_decompose_char((utf8proc_int32_t)code_point, decomposed, DECOMPOSED_MAX,
                                        UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE, &boundary);
    }
    if (count < 0 || (size_t)count > max - points->count) {
        return false;
    }
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        points->at[points->count] = (uint32_t)decomposed[i];
        points->count++;
        if (code_point >= 0xA0) {
            put_in_order(points);
        }
    }
    return true;
}

bool normalise_nfkc(struct points *points, struct points *spare, size_t max)
{
    struct points before = *points;
    utf8proc_ssize_t count = 0;

    if (all_are_stable(before)) {
        return false;
    }
    spare->count = 0;
    for (size_t at = 0; at < before.count && append_decomposed(spare, before.at[at], max); at++) {
    }
    /* Code points are below 2^31, so signed and unsigned numbers have the same bytes. */
    count = utf8proc_normalize_utf32((utf8proc_int32_t *)spare->at, (utf8proc_ssize_t)spare->count,
                                     UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    spare->count = count < 0 ? 0 : (size_t)count;
    if (spare->count == before.count &&
        memcmp(spare->at, before.at, before.count * sizeof(uint32_t)) == 0) {
        return false;
    }
    *points = *spare;
    *spare = before;
    return true;
}
