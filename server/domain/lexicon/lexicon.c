/*
 * lexicon.c: see lexicon.h. A text is looked up word by word.
 */
#include "server/domain/lexicon/lexicon.h"

#include "server/domain/lexicon/table.h"

/* Maximum matches of a text. */
#define MATCHES_MAX 2048
static const char *const concept_names[] = {
#define CONCEPT(name, phrases) #name,
#include "server/domain/lexicon/concepts.def"
#undef CONCEPT
};

#define CONCEPT_COUNT ((int)(sizeof(concept_names) / sizeof(concept_names[0])))

_Static_assert(CONCEPT_COUNT <= LEXICON_CONCEPTS_MAX, "concepts are numbered within their limit");

struct slice lexicon_concept_name(int concept)
{
    return concept >= 0 && concept < CONCEPT_COUNT ? slice_text(concept_names[concept])
                                                   : slice_of(NULL, 0);
}

/* Returns whether the phrase is at the word, within its sentence. */
static bool fits(const struct lexicon_phrase *phrase, const struct words *words, size_t at)
{
    if (phrase->count > words->count - at) {
        return false;
    }
    for (size_t i = 0; i < phrase->count; i++) {
        if (words->items[at + i].hash != phrase->stems[i] ||
            (i > 0 && words->items[at + i].gap == WORD_GAP_END)) {
            return false;
        }
    }
    return true;
}

/* Adds the match, before shorter ones of the same word. */
static void add_match(const struct lexicon_phrase *phrase, size_t at,
                      struct lexicon_matches *matches)
{
    size_t place = matches->count;

    if (matches->count == MATCHES_MAX) {
        return;
    }
    while (place > 0 && matches->items[place - 1].from == at &&
           matches->items[place - 1].count < phrase->count) {
        matches->items[place] = matches->items[place - 1];
        place--;
    }
    matches->items[place] = (struct lexicon_match){(enum lexicon_list)phrase->list, phrase->value,
                                                   (uint16_t)at, phrase->count};
    matches->count++;
}

enum err lexicon_find(struct arena *arena, const struct words *words,
                      struct lexicon_matches *ret_matches)
{
    struct lexicon_matches matches = {.items =
                                          arena_calloc(arena, MATCHES_MAX, sizeof(*matches.items))};

    if (matches.items == NULL) {
        return ERR_MEMORY;
    }
    for (size_t at = 0; at < words->count; at++) {
        uint32_t next = lexicon_buckets[words->items[at].hash % LEXICON_BUCKETS];

        while (next != 0) {
            const struct lexicon_phrase *phrase = &lexicon_phrases[next - 1];

            if (fits(phrase, words, at)) {
                add_match(phrase, at, &matches);
            }
            next = phrase->next;
        }
    }
    *ret_matches = matches;
    return OK;
}
