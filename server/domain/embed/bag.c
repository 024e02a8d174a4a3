/*
 * bag.c: splits a text by character, and finds words by binary search.
 */
#include "server/domain/embed/bag.h"

#include "server/domain/embed/letters.h"
#include "server/domain/text/sku.h"

#include <math.h>
#include <utf8proc.h>

#define RIGHT_QUOTE 0x2019 /* an apostrophe as written by text processors */
#define CHARACTER_BYTES_MAX 4
#define NOT SLICE("not")

/* State of splitting a text into words. */
struct splitter {
    const struct points *letters;
    size_t at;
    uint8_t *bytes; /* room for the rest of the text in UTF-8 */
    struct bag *words;
};

static void add_word(struct bag *words, struct slice word)
{
    if (words->count < BAG_WORDS_MAX) {
        words->at[words->count++] = word;
    }
}

/* Reads the letters and digits from here on. */
static struct slice take_word(struct splitter *splitter)
{
    const struct points *letters = splitter->letters;
    uint8_t *start = splitter->bytes;

    while (splitter->at < letters->count && sku_is_word(letters->at[splitter->at])) {
        utf8proc_int32_t letter = utf8proc_tolower((utf8proc_int32_t)letters->at[splitter->at++]);

        splitter->bytes += utf8proc_encode_char(letter, splitter->bytes);
    }
    return slice_of(start, (size_t)(splitter->bytes - start));
}

static bool is_apostrophe(const struct points *letters, size_t at)
{
    return at < letters->count && (letters->at[at] == '\'' || letters->at[at] == RIGHT_QUOTE);
}

/* Adds the word that begins here, and "not" for its "n't". Any other text after its apostrophe is dropped. */
static void add_next(struct splitter *splitter)
{
    struct slice word = take_word(splitter);
    struct slice rest = {NULL, 0};

    if (is_apostrophe(splitter->letters, splitter->at)) {
        splitter->at++;
        rest = take_word(splitter);
    }
    if (slice_equal(rest, SLICE("t")) && word.size > 1 && word.data[word.size - 1] == 'n') {
        add_word(splitter->words, slice_of(word.data, word.size - 1));
        add_word(splitter->words, NOT);
    } else {
        add_word(splitter->words, word);
    }
}

enum err bag_split(struct arena *arena, struct slice text, struct bag *ret_bag)
{
    struct points letters = {NULL, 0};
    struct splitter splitter = {.letters = &letters, .words = ret_bag};
    enum err err = letters_read(arena, text, &letters);

    ret_bag->count = 0;
    if (err != OK) {
        return err;
    }
    splitter.bytes = (uint8_t *)arena_alloc(arena, CHARACTER_BYTES_MAX * (letters.count + 1));
    if (splitter.bytes == NULL) {
        return ERR_MEMORY;
    }
    while (splitter.at < letters.count) {
        if (sku_is_word(letters.at[splitter.at])) {
            add_next(&splitter);
        } else {
            splitter.at++;
        }
    }
    return OK;
}

bool bag_find(const struct model_words *words, struct slice word, uint32_t *ret_index)
{
    uint32_t low = 0;
    uint32_t high = words->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t start = middle == 0 ? 0 : words->ends[middle - 1];
        int order = slice_compare(slice_of(words->text + start, words->ends[middle] - start), word);

        if (order == 0) {
            *ret_index = middle;
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

enum err bag_embed(const struct model *model, struct arena *arena, struct slice text,
                   float *ret_vector)
{
    struct bag *words = (struct bag *)arena_alloc(arena, sizeof(struct bag));
    double squares = 0;
    float factor = 0;
    enum err err = words == NULL ? ERR_MEMORY : bag_split(arena, text, words);

    if (err != OK) {
        return err;
    }
    memset(ret_vector, 0, MODEL_WORD_WIDTH * sizeof(ret_vector[0]));
    for (size_t i = 0; i < words->count; i++) {
        uint32_t word = 0;

        if (bag_find(&model->words, words->at[i], &word)) {
            const int8_t *numbers = model->word_vectors + (size_t)word * MODEL_WORD_WIDTH;

            for (size_t j = 0; j < MODEL_WORD_WIDTH; j++) {
                ret_vector[j] += model->word_scales[word] * (float)numbers[j];
            }
        }
    }
    for (size_t j = 0; j < MODEL_WORD_WIDTH; j++) {
        squares += (double)ret_vector[j] * (double)ret_vector[j];
    }
    factor = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    for (size_t j = 0; j < MODEL_WORD_WIDTH; j++) {
        ret_vector[j] *= factor;
    }
    return OK;
}
