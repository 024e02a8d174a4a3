/*
 * sku.c: see sku.h. Nearly all SKUs are ASCII, and are folded without tables.
 */
#include "server/domain/text/sku.h"

#include "store/base/assert.h"
#include "store/base/text.h"

#include <utf8proc.h>

/* Maximum code points of a SKU, also of intermediate results: each takes at least one byte. */
#define CODE_POINTS_MAX SKU_FOLDED_BYTES_MAX

/* Unicode's property White_Space. */
static bool is_white_space(uint32_t code_point)
{
    if (code_point < 0x80) {
        return code_point == ' ' || (code_point >= '\t' && code_point <= '\r');
    }
    return code_point == 0x85 || code_point == 0xA0 || code_point == 0x1680 ||
           (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x2028 ||
           code_point == 0x2029 || code_point == 0x202F || code_point == 0x205F ||
           code_point == 0x3000;
}

struct slice sku_trim(struct slice text)
{
    size_t start = text.size;
    size_t end = 0;

    for (size_t at = 0; at < text.size;) {
        size_t before = at;

        if (is_white_space(text_next(text, &at))) {
            continue;
        }
        start = start == text.size ? before : start;
        end = at;
    }
    return end == 0 ? slice_of(NULL, 0) : slice_of(text.data + start, end - start);
}

static bool is_ascii(struct slice text)
{
    uint8_t bits = 0;

    for (size_t i = 0; i < text.size; i++) {
        bits |= text.data[i];
    }
    return bits < 0x80;
}

static enum err fold_ascii(struct arena *arena, struct slice text, struct slice *ret_folded)
{
    uint8_t *bytes = arena_alloc(arena, text.size);

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];

        bytes[i] = byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte - 'A' + 'a') : byte;
    }
    *ret_folded = slice_of(bytes, text.size);
    return OK;
}

/* Folds a text once with Unicode's foldings; the result is in `points`, which has room for
 * CODE_POINTS_MAX + 1. */
static struct slice pass(struct slice text, int decompose, int encode, utf8proc_int32_t *points)
{
    utf8proc_ssize_t count =
        utf8proc_decompose(text.data, (utf8proc_ssize_t)text.size, points, CODE_POINTS_MAX,
                           (utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | decompose));
    utf8proc_ssize_t size = 0;

    ASSERT(count >= 0 && count <= CODE_POINTS_MAX);
    size = utf8proc_reencode(points, count, (utf8proc_option_t)(UTF8PROC_STABLE | encode));
    ASSERT(size >= 0);
    return slice_of(points, (size_t)size);
}

/* Decomposed first, since a mark may fold into a letter whose position then differs. */
static enum err fold_unicode(struct arena *arena, struct slice text, struct slice *ret_folded)
{
    utf8proc_int32_t *points[2] = {NULL, NULL};
    struct slice folded = text;

    for (size_t i = 0; i < 2; i++) {
        points[i] = arena_alloc(arena, (CODE_POINTS_MAX + 1) * sizeof(*points[i]));
        if (points[i] == NULL) {
            return ERR_MEMORY;
        }
    }
    folded = pass(folded, 0, 0, points[0]);
    folded = pass(folded, UTF8PROC_CASEFOLD, UTF8PROC_COMPOSE, points[1]);
    ASSERT(folded.size <= SKU_FOLDED_BYTES_MAX);
    *ret_folded = folded;
    return OK;
}

enum err sku_fold(struct arena *arena, struct slice text, struct slice *ret_folded)
{
    struct slice trimmed = sku_trim(text);

    ASSERT(text.size <= SKU_BYTES_MAX);
    if (trimmed.size == 0) {
        *ret_folded = trimmed;
        return OK;
    }
    return is_ascii(trimmed) ? fold_ascii(arena, trimmed, ret_folded)
                             : fold_unicode(arena, trimmed, ret_folded);
}

bool sku_is_word(uint32_t code_point)
{
    if (code_point < 0x80) {
        return (code_point >= '0' && code_point <= '9') ||
               ((code_point | 0x20) >= 'a' && (code_point | 0x20) <= 'z');
    }
    switch (utf8proc_category((utf8proc_int32_t)code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return true;
    default:
        return false;
    }
}
