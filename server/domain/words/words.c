/*
 * words.c: see words.h. The stem follows the first steps of Porter, "An algorithm for suffix stripping" (1980), and
 * unites British and American spellings.
 */
#include "server/domain/words/words.h"

#include "server/domain/text/case_fold.h"

#include <string.h>

/* A stem keeps at least this many bytes before a removed ending. */
#define STEM_KEPT_MIN 3

/* An ending, its replacement, and the minimum number of bytes before it, including a vowel; 0: it is not replaced. */
struct ending {
    const char *from;
    const char *to;
    size_t from_bytes;
    size_t to_bytes;
    size_t kept_min;
};

#define ENDING(from, to, kept_min)                                                                 \
    {                                                                                              \
        from, to, sizeof(from) - 1, sizeof(to) - 1, kept_min                                       \
    }

/* Compares the last byte first, which differs for most words. */
static bool ends_with(const uint8_t *stem, size_t size, const struct ending *ending)
{
    return size >= ending->from_bytes &&
           stem[size - 1] == (uint8_t)ending->from[ending->from_bytes - 1] &&
           memcmp(stem + size - ending->from_bytes, ending->from, ending->from_bytes) == 0;
}

static bool is_letter(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || byte >= 0x80 || byte == '_';
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

/* Returns the number of bytes of an apostrophe at the place: ASCII, or U+2019; 0 if there is none. */
static size_t apostrophe_at(struct slice text, size_t at)
{
    if (text.data[at] == '\'') {
        return 1;
    }
    return text.size - at >= 3 && memcmp(text.data + at, "\xe2\x80\x99", 3) == 0 ? 3 : 0;
}

/* Returns whether the place is in general punctuation (U+2000 to U+206F), which is not a letter. */
static bool is_punctuation(struct slice text, size_t at)
{
    return text.size - at >= 3 && text.data[at] == 0xe2 &&
           (text.data[at + 1] == 0x80 || text.data[at + 1] == 0x81);
}

static bool is_word_byte(struct slice text, size_t at)
{
    return (is_letter(text.data[at]) && !is_punctuation(text, at)) || is_digit(text.data[at]);
}

/* Returns the number of bytes of a joint within a word at the place: an apostrophe before a letter,
 * a point between digits. */
static size_t joint_at(struct slice text, size_t at)
{
    size_t size = apostrophe_at(text, at);

    if (size > 0 && at + size < text.size && is_letter(text.data[at + size])) {
        return size;
    }
    if (text.data[at] == '.' && at + 1 < text.size && at > 0 && is_digit(text.data[at - 1]) &&
        is_digit(text.data[at + 1])) {
        return 1;
    }
    return 0;
}

/* Returns the end of the word that starts at the place: `30s` has two words. */
static size_t word_end(struct slice text, size_t at)
{
    bool starts_with_digit = is_digit(text.data[at]);
    size_t joint = 1;

    while (at < text.size && joint > 0) {
        if (starts_with_digit && is_letter(text.data[at])) {
            return at;
        }
        joint = is_word_byte(text, at) ? 1 : joint_at(text, at);
        at += joint;
    }
    return at;
}

static enum word_gap gap_of(struct slice between, bool is_first)
{
    enum word_gap gap = is_first ? WORD_GAP_END : WORD_GAP_SPACE;

    for (size_t i = 0; i < between.size; i++) {
        if (memchr(".!?;\n", between.data[i], 5) != NULL) {
            return WORD_GAP_END;
        }
        if (memchr(",:()[]", between.data[i], 6) != NULL || is_punctuation(between, i)) {
            gap = gap == WORD_GAP_END ? gap : WORD_GAP_COMMA;
        }
    }
    return gap;
}

/* Copies a word with apostrophes in ASCII. */
static bool copy_word(struct arena *arena, struct slice from, struct slice *ret_text)
{
    uint8_t *bytes = (uint8_t *)arena_alloc(arena, from.size + 1);
    size_t size = 0;

    if (bytes == NULL) {
        return false;
    }
    for (size_t i = 0; i < from.size; i++) {
        size_t apostrophe = apostrophe_at(from, i);

        bytes[size++] = apostrophe > 0 ? '\'' : from.data[i];
        i += apostrophe > 1 ? apostrophe - 1 : 0;
    }
    *ret_text = slice_of(bytes, size);
    return true;
}

static bool is_number(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (!is_digit(text.data[i]) && text.data[i] != '.') {
            return false;
        }
    }
    return text.size > 0;
}

static bool fill_word(struct arena *arena, struct slice from, struct word *word)
{
    uint8_t *stem = (uint8_t *)arena_alloc(arena, WORD_STEM_BYTES_MAX);

    if (stem == NULL || !copy_word(arena, from, &word->text)) {
        return false;
    }
    word->stem = slice_of(stem, word_stem(word->text, stem));
    word->hash = word_hash(word->stem);
    word->is_number = is_number(word->text);
    return true;
}

enum err words_split(struct arena *arena, struct slice text, struct words *ret_words)
{
    struct words words = {.items = arena_calloc(arena, WORDS_MAX, sizeof(*words.items))};
    struct slice folded = {NULL, 0};
    enum err err = words.items != NULL ? case_fold(arena, text, &folded) : ERR_MEMORY;
    size_t before = 0;
    size_t at = 0;

    while (err == OK && at < folded.size && words.count < WORDS_MAX) {
        size_t end = at;

        if (!is_word_byte(folded, at)) {
            at += is_punctuation(folded, at) ? 3 : 1;
            continue;
        }
        end = word_end(folded, at);
        words.items[words.count].gap =
            gap_of(slice_of(folded.data + before, at - before), words.count == 0);
        err = fill_word(arena, slice_of(folded.data + at, end - at), &words.items[words.count])
                  ? OK
                  : ERR_MEMORY;
        words.items[words.count].is_percent =
            words.items[words.count].is_number && end < folded.size && folded.data[end] == '%';
        words.count++;
        before = end;
        at = end;
    }
    if (err == OK) {
        *ret_words = words;
    }
    return err;
}

static bool is_vowel(uint8_t byte)
{
    return byte == 'a' || byte == 'e' || byte == 'i' || byte == 'o' || byte == 'u' || byte == 'y';
}

static bool has_vowel(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (is_vowel(bytes[i])) {
            return true;
        }
    }
    return false;
}

/* Replaces the first matching ending. */
static size_t replace_ending(uint8_t *stem, size_t size, const struct ending *endings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ending *ending = &endings[i];
        size_t kept = size - ending->from_bytes;

        if (ends_with(stem, size, ending) && kept >= ending->kept_min &&
            (ending->kept_min == 0 || has_vowel(stem, kept))) {
            memcpy(stem + kept, ending->to, ending->to_bytes);
            return kept + ending->to_bytes;
        }
    }
    return size;
}

/* Removes the second of two equal consonants at the end, as in `planned`. */
static size_t undouble(const uint8_t *stem, size_t size)
{
    if (size > STEM_KEPT_MIN && stem[size - 1] == stem[size - 2] && !is_vowel(stem[size - 1]) &&
        memchr("lsz", stem[size - 1], 3) == NULL) {
        return size - 1;
    }
    return size;
}

size_t word_stem(struct slice word, uint8_t stem[WORD_STEM_BYTES_MAX])
{
    static const struct ending plurals[] = {ENDING("'s", "", 1),     ENDING("sses", "ss", 1),
                                            ENDING("ies", "y", 2),   ENDING("ches", "ch", 2),
                                            ENDING("shes", "sh", 2), ENDING("xes", "x", 2),
                                            ENDING("ss", "ss", 0),   ENDING("us", "us", 0),
                                            ENDING("is", "is", 0),   ENDING("s", "", 3)};
    static const struct ending forms[] = {
        ENDING("ingly", "", 4), ENDING("edly", "", 4),   ENDING("ying", "y", 3),
        ENDING("ing", "", 3),   ENDING("eed", "eed", 0), ENDING("ied", "y", 2),
        ENDING("ed", "", 3),    ENDING("ly", "", 4),     ENDING("ness", "", 4)};
    static const struct ending nouns[] = {ENDING("ization", "is", 3), ENDING("isation", "is", 3),
                                          ENDING("ation", "", 4),     ENDING("tion", "t", 3),
                                          ENDING("sion", "s", 3),     ENDING("our", "or", 3)};
    static const struct ending last[] = {ENDING("iz", "is", 3), ENDING("ate", "", 4),
                                         ENDING("at", "", 5),   ENDING("ize", "is", 3),
                                         ENDING("e", "", 3),    ENDING("y", "i", 2)};
    size_t size = word.size < WORD_STEM_BYTES_MAX ? word.size : WORD_STEM_BYTES_MAX;

    memcpy(stem, word.data, size);
    size = replace_ending(stem, size, plurals, sizeof(plurals) / sizeof(plurals[0]));
    size = replace_ending(stem, size, forms, sizeof(forms) / sizeof(forms[0]));
    size = undouble(stem, size);
    size = replace_ending(stem, size, nouns, sizeof(nouns) / sizeof(nouns[0]));
    return replace_ending(stem, size, last, sizeof(last) / sizeof(last[0]));
}

uint64_t word_hash(struct slice stem)
{
    uint64_t hash = 0xcbf29ce484222325U; /* FNV-1a */

    for (size_t i = 0; i < stem.size; i++) {
        hash = (hash ^ stem.data[i]) * 0x100000001b3U;
    }
    return hash;
}
