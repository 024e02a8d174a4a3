/*
 * fold.c: see fold.h. Unicode's own foldings come from utf8proc, which allocates nothing for a
 * single character; characters that look the same but that Unicode distinguishes are in
 * look_alikes.def.
 */
#include "server/domain/text/fold.h"

#include <utf8proc.h>

struct look_alike {
    uint32_t code_point;
    char ascii;
};

static const struct look_alike look_alikes[] = {
#define LOOK_ALIKE(code_point, ascii) {code_point, ascii},
#include "server/domain/text/look_alikes.def"
#undef LOOK_ALIKE
};

struct code_range {
    uint32_t first;
    uint32_t last;
};

static const struct code_range ignorable[] = {
#define IGNORABLE(first, last) {first, last},
#include "server/domain/text/ignorable.def"
#undef IGNORABLE
};

/* Capital letters in black or dashed frames, A to Z in a row, that Unicode does not decompose. */
static const uint32_t framed_rows[] = {0x1F150, 0x1F170, 0x1F1E6};

/* The longest compatibility decomposition of one character (U+FDFA) has 18. */
#define DECOMPOSED_MAX 18

static uint8_t find_look_alike(uint32_t code_point)
{
    size_t low = 0;
    size_t high = sizeof(look_alikes) / sizeof(look_alikes[0]);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (look_alikes[middle].code_point < code_point) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == sizeof(look_alikes) / sizeof(look_alikes[0]) ||
        look_alikes[low].code_point != code_point) {
        return 0;
    }
    return (uint8_t)look_alikes[low].ascii;
}

static uint8_t find_framed(uint32_t code_point)
{
    for (size_t i = 0; i < sizeof(framed_rows) / sizeof(framed_rows[0]); i++) {
        if (code_point >= framed_rows[i] && code_point < framed_rows[i] + 26) {
            return fold_ascii((uint8_t)('A' + (code_point - framed_rows[i])));
        }
    }
    return 0;
}

/* Folds one character by Unicode's own rules, those of case if `fold_case` has them; returns the number of code points, 0 if
 * it has no folding. */
static size_t decompose(uint32_t code_point, utf8proc_option_t fold_case,
                        utf8proc_int32_t decomposed[DECOMPOSED_MAX])
{
    int boundary = 0;
    utf8proc_ssize_t count = utf8proc_decompose_char(
        (utf8proc_int32_t)code_point, decomposed, DECOMPOSED_MAX,
        UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_STRIPMARK | fold_case, &boundary);

    return count < 0 ? 0 : (size_t)count;
}

static uint8_t fold_one(uint32_t decomposed)
{
    return decomposed < 0x80 ? fold_ascii((uint8_t)decomposed) : find_look_alike(decomposed);
}

uint8_t fold_to_ascii(uint32_t code_point)
{
    utf8proc_int32_t decomposed[DECOMPOSED_MAX] = {0};
    uint8_t found = 0;

    if (code_point < 0x80) {
        return fold_ascii((uint8_t)code_point);
    }
    found = find_look_alike(code_point);
    if (found != 0) {
        return found;
    }
    if (decompose(code_point, UTF8PROC_CASEFOLD, decomposed) != 1) {
        return 0;
    }
    found = fold_one((uint32_t)decomposed[0]);
    return found != 0 ? found : find_framed(code_point);
}

uint8_t fold_to_plain(uint32_t code_point)
{
    utf8proc_int32_t decomposed[DECOMPOSED_MAX] = {0};

    if (code_point < 0x80) {
        return (uint8_t)code_point;
    }
    if (decompose(code_point, 0, decomposed) == 1 && decomposed[0] < 0x80) {
        return (uint8_t)decomposed[0];
    }
    return utf8proc_category((utf8proc_int32_t)code_point) == UTF8PROC_CATEGORY_ND
               ? '1'
               : fold_to_ascii(code_point);
}

size_t fold_to_letters(uint32_t code_point, uint8_t letters[FOLD_LETTERS_MAX])
{
    utf8proc_int32_t decomposed[DECOMPOSED_MAX] = {0};
    size_t count = 0;

    letters[0] = fold_to_ascii(code_point);
    if (letters[0] != 0) {
        return 1;
    }
    count = decompose(code_point, UTF8PROC_CASEFOLD, decomposed);
    if (count > FOLD_LETTERS_MAX) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        letters[i] = fold_one((uint32_t)decomposed[i]);
    }
    return count;
}

bool fold_is_ignorable(uint32_t code_point)
{
    size_t count = code_point < ignorable[0].first ? 0 : sizeof(ignorable) / sizeof(ignorable[0]);

    for (size_t i = 0; i < count && ignorable[i].first <= code_point; i++) {
        if (code_point <= ignorable[i].last) {
            return true;
        }
    }
    return false;
}

bool fold_is_mark(uint32_t code_point)
{
    if (code_point < 0x300) {
        return false;
    }
    switch ((int)utf8proc_category((utf8proc_int32_t)code_point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return true;
    default:
        return false;
    }
}

bool fold_is_letter(uint32_t code_point)
{
    uint8_t looks = 0;

    switch ((int)utf8proc_category((utf8proc_int32_t)code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return true;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NO:
        return false;
    default:
        looks = fold_to_ascii(code_point);
        return looks >= 'a' && looks <= 'z';
    }
}

bool fold_is_space(uint32_t code_point)
{
    if (code_point < 0x80) {
        return code_point == ' ';
    }
    return code_point == 0xA0 || code_point == 0x1680 ||
           (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x202F ||
           code_point == 0x205F || code_point == 0x3000;
}
