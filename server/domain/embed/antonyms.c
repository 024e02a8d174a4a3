/*
 * antonyms.c: marks the listed words of both texts, and searches for a pair in which each text has one word.
 */
#include "server/domain/embed/antonyms.h"

#include "server/domain/embed/bag.h"

#define IN_FIRST 1
#define IN_SECOND 2
#define WORD_BYTES_MAX 64
/* Minimum letters of a word without its ending; a shorter remainder would be another word ("sing", "bed"). */
#define STEM_BYTES_MIN 3

/* An ending of inflected words, and the ending of the base form. */
struct ending {
    struct slice ending;
    struct slice instead;
};

static const struct ending endings[] = {
    {SLICE("ies"), SLICE("y")}, {SLICE("es"), SLICE("")},   {SLICE("s"), SLICE("")},
    {SLICE("ed"), SLICE("")},   {SLICE("ed"), SLICE("e")},  {SLICE("ing"), SLICE("")},
    {SLICE("ing"), SLICE("e")}, {SLICE("ied"), SLICE("y")},
};

static const struct slice negations[] = {SLICE("not"),     SLICE("no"),     SLICE("never"),
                                         SLICE("without"), SLICE("cannot"), SLICE("nor")};

/* A text's marks on the listed words, and its negations. */
struct side {
    uint8_t *marks; /* one mark for each listed word */
    uint8_t mark;
    size_t negation_count;
};

static void mark_if_listed(const struct model *model, struct slice word, const struct side *side)
{
    uint32_t index = 0;

    if (bag_find(&model->antonym_words, word, &index)) {
        side->marks[index] |= side->mark;
    }
}

/* Marks the word and the base forms that it may be an inflection of. */
static void mark_word(const struct model *model, struct slice word, const struct side *side)
{
    uint8_t base[WORD_BYTES_MAX];

    mark_if_listed(model, word, side);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const struct ending *ending = &endings[i];
        size_t stem = word.size < ending->ending.size ? 0 : word.size - ending->ending.size;

        if (stem >= STEM_BYTES_MIN && stem + ending->instead.size <= sizeof(base) &&
            slice_equal(slice_after(word, stem), ending->ending)) {
            memcpy(base, word.data, stem);
            memcpy(base + stem, ending->instead.data, ending->instead.size);
            mark_if_listed(model, slice_of(base, stem + ending->instead.size), side);
        }
    }
}

static bool is_negation(struct slice word)
{
    for (size_t i = 0; i < sizeof(negations) / sizeof(negations[0]); i++) {
        if (slice_equal(word, negations[i])) {
            return true;
        }
    }
    return false;
}

static enum err mark_text(const struct model *model, struct arena *arena, struct slice text,
                          struct side *side)
{
    struct bag *words = (struct bag *)arena_alloc(arena, sizeof(struct bag));
    enum err err = words == NULL ? ERR_MEMORY : bag_split(arena, text, words);

    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < words->count; i++) {
        mark_word(model, words->at[i], side);
        side->negation_count += is_negation(words->at[i]) ? 1 : 0;
    }
    return OK;
}

static struct slice word_at(const struct model_words *words, uint32_t index)
{
    uint32_t start = index == 0 ? 0 : words->ends[index - 1];

    return slice_of(words->text + start, words->ends[index] - start);
}

static void find_pair(const struct model *model, const uint8_t *marks, struct antonyms *antonyms)
{
    for (uint32_t i = 0; i < model->antonym_count && !antonyms->found; i++) {
        const struct model_antonym *pair = &model->antonyms[i];

        if (marks[pair->word] == IN_FIRST && marks[pair->other] == IN_SECOND) {
            antonyms->found = true;
            antonyms->first = word_at(&model->antonym_words, pair->word);
            antonyms->second = word_at(&model->antonym_words, pair->other);
        }
    }
}

enum err antonyms_find(const struct model *model, struct arena *arena, struct slice a,
                       struct slice b, struct antonyms *ret_antonyms)
{
    uint8_t *marks = (uint8_t *)arena_calloc(arena, model->antonym_words.count + 1, 1);
    struct side first = {.marks = marks, .mark = IN_FIRST};
    struct side second = {.marks = marks, .mark = IN_SECOND};
    enum err err = OK;

    *ret_antonyms = (struct antonyms){.found = false};
    if (marks == NULL) {
        return ERR_MEMORY;
    }
    if (model->antonym_count == 0) {
        return OK;
    }
    err = mark_text(model, arena, a, &first);
    if (err == OK) {
        err = mark_text(model, arena, b, &second);
    }
    if (err == OK && first.negation_count % 2 == second.negation_count % 2) {
        find_pair(model, marks, ret_antonyms);
    }
    return err;
}
