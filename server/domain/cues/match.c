/*
 * match.c: see match.h.
 */
#include "server/domain/cues/match.h"

/* Maximum words of a gap. */
#define GAP_WORDS_MAX 3

/* A cue that is being matched: bit i is set if the next element to match may be i. */
struct trial {
    const struct cue_lexicon *lexicon;
    const struct cue *cue;
    uint32_t ways;
    uint8_t gap_words[CUE_LEXICON_PATTERN_MAX]; /* number of words that each gap matched */
};

/* Places of a message where `^` and `^^` are true. */
struct starts {
    bool at_clause[CUE_WORDS_MAX];
    bool at_message[CUE_WORDS_MAX];
};

/* Skips elements that may be missing. */
static void skip_optional(struct trial *trial)
{
    for (size_t i = 0; i < trial->cue->element_count; i++) {
        if ((trial->ways >> i & 1u) != 0 && trial->cue->elements[i].is_optional) {
            trial->ways |= 1u << (i + 1);
        }
    }
}

static bool matches(const struct cue_lexicon *lexicon, const struct element *element,
                    const struct cue_word *word)
{
    switch (element->kind) {
    case ELEMENT_ANY:
    case ELEMENT_GAP:
        return true;
    case ELEMENT_SET:
        return !word->is_masked && (lexicon->entries[word->entry].sets >> element->first & 1u) != 0;
    case ELEMENT_WORD:
    case ELEMENT_WORDS:
        break;
    }
    for (size_t i = 0; word->entry != 0 && !word->is_masked && i < element->count; i++) {
        if (lexicon->choices[element->first + i] == word->entry) {
            return true;
        }
    }
    return false;
}

/* Matches a word. */
static void step(struct trial *trial, const struct cue_word *word)
{
    uint32_t before = trial->ways;

    trial->ways = 0;
    for (size_t i = 0; i < trial->cue->element_count; i++) {
        const struct element *element = &trial->cue->elements[i];

        if ((before >> i & 1u) == 0 || !matches(trial->lexicon, element, word)) {
            continue;
        }
        if (element->kind == ELEMENT_GAP) {
            trial->gap_words[i]++;
            trial->ways |= trial->gap_words[i] < GAP_WORDS_MAX ? 1u << i : 0;
            trial->ways |= 1u << (i + 1);
            continue;
        }
        trial->ways |= element->is_repeated ? 1u << i : 0;
        trial->ways |= 1u << (i + 1);
    }
    skip_optional(trial);
}

/* Returns whether a clause ends before a word. */
static bool ends_before(const struct cue_words *words, size_t at)
{
    return at == words->count || words->items[at].begins_clause;
}

/* Returns the end of the longest match that begins at a word; `from` without a match. */
static size_t try_cue(struct trial *trial, const struct cue_words *words, size_t from)
{
    uint32_t whole = 1u << trial->cue->element_count;
    size_t longest = from;
    size_t at = from;

    trial->ways = 1;
    memset(trial->gap_words, 0, sizeof(trial->gap_words));
    skip_optional(trial);
    while (trial->ways != 0 && at < words->count && at < from + CUE_SPAN_MAX &&
           (at == from || !words->items[at].begins_sentence)) {
        step(trial, &words->items[at]);
        at++;
        if ((trial->ways & whole) != 0 && (!trial->cue->to_end || ends_before(words, at))) {
            longest = at;
        }
    }
    return longest;
}

/* Computes where clauses and the message begin, ignoring interjections. */
static void find_starts(const struct cue_lexicon *lexicon, const struct cue_words *words,
                        struct starts *starts)
{
    uint32_t filler = cue_lexicon_set(lexicon, SLICE("filler"));
    bool at_clause = true;
    bool at_message = true;

    for (size_t i = 0; i < words->count; i++) {
        const struct cue_word *word = &words->items[i];

        at_clause = at_clause || word->begins_clause;
        starts->at_clause[i] = at_clause;
        starts->at_message[i] = at_message;
        if ((lexicon->entries[word->entry].sets & filler) == 0) {
            at_clause = false;
            at_message = false;
        }
    }
}

static void add_hit(struct cue_hits *hits, const struct cue_hit *hit)
{
    if (hits->count < CUE_HITS_MAX) {
        hits->items[hits->count] = *hit;
        hits->count++;
    }
}

void cues_find(const struct cue_lexicon *lexicon, const struct cue_words *words,
               struct cue_hits *ret_hits)
{
    struct starts starts;

    ret_hits->count = 0;
    find_starts(lexicon, words, &starts);
    for (size_t i = 0; i < words->count; i++) {
        const struct cue_lexicon_entry *entry = &lexicon->entries[words->items[i].entry];

        for (size_t j = 0; words->items[i].entry != 0 && j < entry->cue_count; j++) {
            const struct cue *cue = &lexicon->cues[lexicon->starts[entry->cue_first + j]];
            struct trial trial = {.lexicon = lexicon, .cue = cue};
            size_t to = i;

            if ((!cue->at_clause || starts.at_clause[i]) &&
                (!cue->at_message || starts.at_message[i])) {
                to = try_cue(&trial, words, i);
            }
            if (to > i) {
                add_hit(ret_hits, &(struct cue_hit){cue->class, cue->pattern, i, to});
            }
        }
    }
}

/* Returns whether the words of a phrase are at a place of a message. */
static bool is_at(const struct cue_words *words, size_t at, const struct cue_words *phrase)
{
    for (size_t i = 0; i < phrase->count; i++) {
        if (at + i >= words->count || words->items[at + i].is_masked ||
            !slice_equal(words->items[at + i].text, phrase->items[i].text)) {
            return false;
        }
    }
    return phrase->count > 0;
}

enum err cues_find_extras(struct arena *arena, const struct cue_lexicon *lexicon,
                          const struct cue_words *words, const struct extra_cue *extras,
                          size_t count, struct cue_hits *hits)
{
    for (size_t i = 0; i < count && i < CUE_EXTRAS_MAX; i++) {
        struct cue_words phrase;
        enum err err = words_of(arena, extras[i].phrase, &phrase);

        if (err == OK) {
            err = cue_lexicon_enter(lexicon, arena, &phrase);
        }
        if (err != OK) {
            return err;
        }
        for (size_t at = 0; at < words->count; at++) {
            if (is_at(words, at, &phrase)) {
                add_hit(hits, &(struct cue_hit){extras[i].class, extras[i].phrase, at,
                                                at + phrase.count});
            }
        }
    }
    return OK;
}

const struct cue_hit *cues_first(const struct cue_hits *hits, enum cue_class class)
{
    for (size_t i = 0; i < hits->count; i++) {
        if (hits->items[i].class == class) {
            return &hits->items[i];
        }
    }
    return NULL;
}
