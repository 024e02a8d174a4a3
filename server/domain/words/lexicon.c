/*
 * lexicon.c: see lexicon.h. The phrases are hashed by their first stem; a text is looked up word by word.
 */
#include "server/domain/words/lexicon.h"

#include "store/base/assert.h"

#include <string.h>

#define BUCKETS 4096
/* Phrases of all lists; the data has about half as many. */
#define PHRASES_MAX 4096
/* Matches of a text. */
#define MATCHES_MAX 2048
/* The phrases of an entry are separated by `|`. */
#define SEPARATOR '|'

/* A line of the data. */
struct line {
    enum lexicon_list list;
    int value;
    const char *phrases;
};

struct phrase {
    uint64_t stems[LEXICON_PHRASE_WORDS_MAX];
    uint32_t next; /* in its bucket, plus 1; 0: the last */
    enum lexicon_list list;
    int value;
    uint16_t count;
};

struct lexicon {
    uint32_t buckets[BUCKETS]; /* the newest phrase, plus 1 */
    struct phrase phrases[PHRASES_MAX];
    uint32_t count;
};

static const struct line lines[] = {
#define ENTRY(list, value, phrases) {LEXICON_##list, (value), phrases},
#include "server/domain/words/lexicon.def"
#include "server/domain/words/opposites.def"
#undef ENTRY
#define CONCEPT(name, phrases) {LEXICON_CONCEPT, 0, phrases},
#include "server/domain/words/concepts.def"
#undef CONCEPT
};

static const char *const concept_names[] = {
#define CONCEPT(name, phrases) #name,
#include "server/domain/words/concepts.def"
#undef CONCEPT
};

#define CONCEPT_COUNT ((int)(sizeof(concept_names) / sizeof(concept_names[0])))

_Static_assert(CONCEPT_COUNT <= LEXICON_CONCEPTS_MAX, "concepts are numbered within their limit");

struct slice lexicon_concept_name(int concept)
{
    return concept >= 0 && concept < CONCEPT_COUNT ? slice_text(concept_names[concept])
                                                   : slice_of(NULL, 0);
}

static void add_phrase(struct lexicon *lexicon, enum lexicon_list list, int value,
                       struct slice text)
{
    struct phrase *phrase = &lexicon->phrases[lexicon->count];
    uint8_t stem[WORD_STEM_BYTES_MAX];
    size_t from = 0;

    ASSERT(lexicon->count < PHRASES_MAX);
    *phrase = (struct phrase){.list = list, .value = value};
    while (from < text.size) {
        const uint8_t *space = memchr(text.data + from, ' ', text.size - from);
        size_t end = space != NULL ? (size_t)(space - text.data) : text.size;

        ASSERT(phrase->count < LEXICON_PHRASE_WORDS_MAX);
        phrase->stems[phrase->count++] =
            word_hash(slice_of(stem, word_stem(slice_of(text.data + from, end - from), stem)));
        from = end + 1;
    }
    ASSERT(phrase->count > 0);
    phrase->next = lexicon->buckets[phrase->stems[0] % BUCKETS];
    lexicon->buckets[phrase->stems[0] % BUCKETS] = ++lexicon->count;
}

enum err lexicon_build(struct arena *arena, const struct lexicon **ret_lexicon)
{
    struct lexicon *lexicon = arena_calloc(arena, 1, sizeof(*lexicon));
    int concept = 0;

    if (lexicon == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct slice rest = slice_text(lines[i].phrases);
        int value = lines[i].list == LEXICON_CONCEPT ? concept ++ : lines[i].value;

        while (rest.size > 0) {
            const uint8_t *bar = memchr(rest.data, SEPARATOR, rest.size);
            size_t size = bar != NULL ? (size_t)(bar - rest.data) : rest.size;

            add_phrase(lexicon, lines[i].list, value, slice_of(rest.data, size));
            rest = slice_after(rest, bar != NULL ? size + 1 : size);
        }
    }
    *ret_lexicon = lexicon;
    return OK;
}

/* Returns whether the phrase is at the word, within its sentence. */
static bool fits(const struct phrase *phrase, const struct words *words, size_t at)
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
static void add_match(const struct phrase *phrase, size_t at, struct lexicon_matches *matches)
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
    matches->items[place] =
        (struct lexicon_match){phrase->list, phrase->value, (uint16_t)at, phrase->count};
    matches->count++;
}

enum err lexicon_find(const struct lexicon *lexicon, struct arena *arena, const struct words *words,
                      struct lexicon_matches *ret_matches)
{
    struct lexicon_matches matches = {.items =
                                          arena_calloc(arena, MATCHES_MAX, sizeof(*matches.items))};

    if (matches.items == NULL) {
        return ERR_MEMORY;
    }
    for (size_t at = 0; at < words->count; at++) {
        uint32_t next = lexicon->buckets[words->items[at].hash % BUCKETS];

        while (next != 0) {
            const struct phrase *phrase = &lexicon->phrases[next - 1];

            if (fits(phrase, words, at)) {
                add_match(phrase, at, &matches);
            }
            next = phrase->next;
        }
    }
    *ret_matches = matches;
    return OK;
}
