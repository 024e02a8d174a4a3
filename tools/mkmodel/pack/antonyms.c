/*
 * antonyms.c: a line of a data file is a set of synonyms with its pointers (wndb(5WN)); the pointer `!` names the file
 * and the offset of another line, and a word in each.
 */
#include "tools/mkmodel/pack/antonyms.h"

#include "store/base/sha256.h"

#include <stdlib.h>

#define FIELD_BYTES_MAX 16
/* Both directions of each pointer; WordNet has 7,979. */
#define PAIRS_MAX 32768

/* The rest of a line. */
struct line {
    struct slice rest;
};

struct pair {
    struct slice word;
    struct slice other;
};

struct pairs {
    struct pair *at;
    size_t count;
};

enum err wordnet_check(const struct slice files[WORDNET_FILES], struct fault *fault)
{
    struct sha256_digest digest = sha256_pieces(files, WORDNET_FILES);
    char text[2 * SHA256_BYTES];

    sha256_format(&digest, text);
    if (!slice_equal(slice_of(text, sizeof(text)), SLICE(WORDNET_SHA256))) {
        return fault_say(fault, ERR_INVALID,
                         "data files of WordNet: SHA-256 is %.64s; expected " WORDNET_SHA256, text);
    }
    return OK;
}

static struct slice take_field(struct line *line)
{
    size_t size = 0;
    struct slice field;

    while (size < line->rest.size && line->rest.data[size] != ' ' &&
           line->rest.data[size] != '\n') {
        size++;
    }
    field = slice_of(line->rest.data, size);
    line->rest = slice_after(line->rest, size < line->rest.size ? size + 1 : size);
    return field;
}

static size_t read_number(struct slice field, int base)
{
    char text[FIELD_BYTES_MAX] = {0};

    memcpy(text, field.data, field.size < sizeof(text) ? field.size : sizeof(text) - 1);
    return (size_t)strtoul(text, NULL, base);
}

/* Begins the line at an offset: returns the number of its words, which come next; 0 if there is none. */
static size_t begin_line(struct slice file, size_t offset, struct line *ret_line)
{
    size_t size = 0;

    if (offset >= file.size || file.data[offset] == ' ') {
        return 0;
    }
    while (offset + size < file.size && file.data[offset + size] != '\n') {
        size++;
    }
    ret_line->rest = slice_of(file.data + offset, size);
    (void)take_field(ret_line); /* the offset */
    (void)take_field(ret_line); /* the lexicographer's file */
    (void)take_field(ret_line); /* the part of speech */
    return read_number(take_field(ret_line), 16);
}

/* Returns word `number` of a line, from 1; empty if it does not have it. */
static struct slice word_of(struct slice file, size_t offset, size_t number)
{
    struct line line = {{NULL, 0}};
    size_t count = begin_line(file, offset, &line);
    struct slice word = {NULL, 0};

    for (size_t i = 0; i < number && i < count; i++) {
        word = take_field(&line);
        (void)take_field(&line); /* its number among homonyms */
    }
    return number <= count ? word : slice_of(NULL, 0);
}

static size_t file_of(struct slice part_of_speech)
{
    switch (part_of_speech.size == 1 ? part_of_speech.data[0] : 0) {
    case 'a':
        return 0;
    case 'r':
        return 1;
    case 'n':
        return 2;
    case 'v':
        return 3;
    default:
        return WORDNET_FILES;
    }
}

/* Copies a word that has only letters and digits, in lower case; "(p)" and the like at its end are marks. */
static enum err plain_word(struct arena *arena, struct slice word, struct slice *ret_plain)
{
    uint8_t *copy = (uint8_t *)arena_alloc(arena, word.size + 1);
    size_t size = 0;

    if (copy == NULL) {
        return ERR_MEMORY;
    }
    while (size < word.size && word.data[size] != '(') {
        uint8_t letter = word.data[size];

        if (letter >= 'A' && letter <= 'Z') {
            letter = (uint8_t)(letter - 'A' + 'a');
        }
        if (!((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9'))) {
            *ret_plain = slice_of(NULL, 0);
            return OK;
        }
        copy[size++] = letter;
    }
    *ret_plain = slice_of(copy, size);
    return OK;
}

static enum err add_pair(struct arena *arena, struct pairs *pairs, struct slice word,
                         struct slice other)
{
    struct slice plain = {NULL, 0};
    struct slice plain_other = {NULL, 0};
    enum err err = plain_word(arena, word, &plain);

    if (err == OK) {
        err = plain_word(arena, other, &plain_other);
    }
    if (err != OK || plain.size == 0 || plain_other.size == 0) {
        return err;
    }
    if (pairs->count + 2 > PAIRS_MAX) {
        return ERR_INVALID;
    }
    pairs->at[pairs->count++] = (struct pair){plain, plain_other};
    pairs->at[pairs->count++] = (struct pair){plain_other, plain};
    return OK;
}

/* Adds the antonyms of the line at an offset. */
static enum err read_line(struct arena *arena, const struct slice files[WORDNET_FILES], size_t from,
                          size_t offset, struct pairs *pairs)
{
    struct line line = {{NULL, 0}};
    size_t words = begin_line(files[from], offset, &line);
    size_t pointers = 0;
    enum err err = OK;

    if (words == 0) {
        return OK;
    }
    for (size_t i = 0; i < 2 * words; i++) {
        (void)take_field(&line);
    }
    pointers = read_number(take_field(&line), 10);
    for (size_t i = 0; i < pointers && line.rest.size > 0 && err == OK; i++) {
        struct slice symbol = take_field(&line);
        size_t target = read_number(take_field(&line), 10);
        size_t file = file_of(take_field(&line));
        size_t ends = read_number(take_field(&line), 16); /* the words, in two digits each */

        if (slice_equal(symbol, SLICE("!")) && file < WORDNET_FILES) {
            err = add_pair(arena, pairs, word_of(files[from], offset, ends >> 8),
                           word_of(files[file], target, ends & 0xFF));
        }
    }
    return err;
}

static enum err read_file(struct arena *arena, const struct slice files[WORDNET_FILES], size_t file,
                          struct pairs *pairs)
{
    size_t offset = 0;

    while (offset < files[file].size) {
        const uint8_t *start = files[file].data + offset;
        const uint8_t *end = (const uint8_t *)memchr(start, '\n', files[file].size - offset);
        enum err err = read_line(arena, files, file, offset, pairs);

        if (err != OK) {
            return err;
        }
        offset += end == NULL ? files[file].size - offset : (size_t)(end - start) + 1;
    }
    return OK;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *left = (const struct pair *)a;
    const struct pair *right = (const struct pair *)b;
    int order = slice_compare(left->word, right->word);

    return order != 0 ? order : slice_compare(left->other, right->other);
}

static int compare_words(const void *a, const void *b)
{
    return slice_compare(*(const struct slice *)a, *(const struct slice *)b);
}

/* Every word occurs as the first one of a pair, so that the sorted pairs have the words in order. */
static enum err list_pairs(struct arena *arena, const struct pairs *pairs,
                           struct make_antonyms *ret_antonyms)
{
    struct slice *words =
        (struct slice *)arena_alloc(arena, (pairs->count + 1) * sizeof(struct slice));
    struct model_antonym *list = (struct model_antonym *)arena_alloc(
        arena, (pairs->count + 1) * sizeof(struct model_antonym));
    size_t word_count = 0;
    size_t count = 0;

    if (words == NULL || list == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < pairs->count; i++) {
        if (word_count == 0 || !slice_equal(words[word_count - 1], pairs->at[i].word)) {
            words[word_count++] = pairs->at[i].word;
        }
    }
    for (size_t i = 0; i < pairs->count; i++) {
        const struct pair *pair = &pairs->at[i];
        const struct slice *word = (const struct slice *)bsearch(&pair->word, words, word_count,
                                                                 sizeof(words[0]), compare_words);
        const struct slice *other = (const struct slice *)bsearch(&pair->other, words, word_count,
                                                                  sizeof(words[0]), compare_words);

        if (word != NULL && other != NULL &&
            (i == 0 || compare_pairs(pair, &pairs->at[i - 1]) != 0)) {
            list[count++] =
                (struct model_antonym){(uint16_t)(word - words), (uint16_t)(other - words)};
        }
    }
    *ret_antonyms = (struct make_antonyms){
        .words = words, .word_count = word_count, .pairs = list, .pair_count = count};
    return OK;
}

enum err wordnet_read(struct arena *arena, const struct slice files[WORDNET_FILES],
                      struct make_antonyms *ret_antonyms, struct fault *fault)
{
    struct pairs pairs = {(struct pair *)arena_alloc(arena, PAIRS_MAX * sizeof(struct pair)), 0};
    enum err err = pairs.at == NULL ? ERR_MEMORY : OK;

    for (size_t i = 0; i < WORDNET_FILES && err == OK; i++) {
        err = read_file(arena, files, i, &pairs);
    }
    if (err == ERR_INVALID) {
        return fault_say(fault, ERR_INVALID, "data files of WordNet: more than %d antonyms",
                         PAIRS_MAX / 2);
    }
    if (err != OK) {
        return err;
    }
    qsort(pairs.at, pairs.count, sizeof(pairs.at[0]), compare_pairs);
    return list_pairs(arena, &pairs, ret_antonyms);
}
