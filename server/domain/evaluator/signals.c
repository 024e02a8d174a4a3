/*
 * signals.c: see signals.h. A longer phrase hides the cues within it: "nothing to change" is praise, not a request.
 */
#include "server/domain/evaluator/signals.h"

#include "server/domain/evaluator/marks_of_place.h"

/* Imperatives count as requests at the start of a clause. */
#define REQUEST_ANYWHERE 0

struct covering {
    const struct words *words;
    struct arena *arena;
    bool *by_praise; /* for each word: covered by praise */
    bool *by_vague;
    bool *by_concept; /* for each word: covered by a concept of several words */
    bool *by_function;
};

/* Returns the words of a match, as they are folded, joined by spaces. */
static struct slice text_of(const struct covering *covering, const struct lexicon_match *match)
{
    struct slice text = covering->words->items[match->from].text;

    for (size_t i = 1; i < match->count; i++) {
        struct slice word = covering->words->items[match->from + i].text;

        text = arena_printf(covering->arena, "%.*s %.*s", (int)text.size, (const char *)text.data,
                            (int)word.size, (const char *)word.data);
    }
    return text;
}

static void cover(bool *covered, const struct lexicon_match *match)
{
    for (size_t i = 0; i < match->count; i++) {
        covered[match->from + i] = true;
    }
}

static bool is_hidden(const struct covering *covering, const struct lexicon_match *match)
{
    return match->count == 1 && covering->by_praise[match->from];
}

static bool starts_clause(const struct words *words, size_t at)
{
    return words->items[at].gap != WORD_GAP_SPACE;
}

static void keep_first(const struct covering *covering, const struct lexicon_match *match,
                       struct slice *cue)
{
    if (cue->size == 0) {
        *cue = text_of(covering, match);
    }
}

/* Reads the phrases of several words and the praise first; words that they cover are not read again. */
static void read_covers(struct covering *covering, const struct lexicon_matches *matches,
                        struct comment_signals *signals)
{
    for (size_t i = 0; i < matches->count; i++) {
        const struct lexicon_match *match = &matches->items[i];

        if (match->list == LEXICON_PRAISE) {
            keep_first(covering, match, &signals->praise);
            if (match->count > 1) {
                cover(covering->by_praise, match);
            }
        }
        if (match->list == LEXICON_CONCEPT && match->count > 1) {
            cover(covering->by_concept, match);
        }
        if (match->list == LEXICON_VAGUE) {
            cover(covering->by_vague, match);
        }
        if (match->list == LEXICON_FUNCTION) {
            cover(covering->by_function, match);
        }
    }
}

static void read_place(const struct covering *covering, const struct lexicon_match *match,
                       struct comment_signals *signals)
{
    size_t next = (size_t)match->from + match->count;

    if (next < covering->words->count && covering->words->items[next].is_number &&
        covering->words->items[next].gap == WORD_GAP_SPACE && signals->specific.size == 0) {
        signals->specific =
            text_of(covering, &(struct lexicon_match){.from = match->from,
                                                      .count = (uint16_t)(match->count + 1)});
    }
}

static void read_match(const struct covering *covering, const struct lexicon_match *match,
                       struct comment_signals *signals)
{
    if (match->list == LEXICON_CONCEPT) {
        if (match->count == 1 && covering->by_concept[match->from]) {
            return; /* "error message" is not about errors */
        }
        signals->concept_count += signals->concepts[match->value] ? 0 : 1;
        signals->concepts[match->value] = true;
        return;
    }
    if (match->list == LEXICON_PLACE) {
        read_place(covering, match, signals);
        return;
    }
    if (is_hidden(covering, match)) {
        return;
    }
    if (match->list == LEXICON_WORRY) {
        keep_first(covering, match, &signals->worry);
    } else if (match->list == LEXICON_REQUEST &&
               (match->value == REQUEST_ANYWHERE || starts_clause(covering->words, match->from))) {
        keep_first(covering, match, &signals->request);
    } else if (match->list == LEXICON_GENERAL) {
        keep_first(covering, match, match->value == 0 ? &signals->general : &signals->modal);
    } else if (match->list == LEXICON_SPECIFIC) {
        keep_first(covering, match, &signals->specific);
    }
}

static uint32_t count_content(const struct covering *covering)
{
    uint32_t count = 0;

    for (size_t i = 0; i < covering->words->count; i++) {
        count += covering->by_vague[i] || covering->by_function[i] ? 0 : 1;
    }
    return count;
}

enum err comment_signals_read(struct arena *arena, struct slice comment,
                              struct comment_signals *ret_signals)
{
    struct comment_signals signals = {.content_words = 0};
    struct lexicon_matches matches;
    struct words words;
    struct covering covering = {.words = &words, .arena = arena};
    enum err err = words_split(arena, comment, &words);

    if (err == OK) {
        err = lexicon_find(arena, &words, &matches);
    }
    covering.by_praise = arena_calloc(arena, WORDS_MAX, sizeof(bool));
    covering.by_vague = arena_calloc(arena, WORDS_MAX, sizeof(bool));
    covering.by_concept = arena_calloc(arena, WORDS_MAX, sizeof(bool));
    covering.by_function = arena_calloc(arena, WORDS_MAX, sizeof(bool));
    if (err == OK &&
        (covering.by_praise == NULL || covering.by_vague == NULL || covering.by_function == NULL)) {
        err = ERR_MEMORY;
    }
    if (err != OK) {
        return err;
    }
    read_covers(&covering, &matches, &signals);
    for (size_t i = 0; i < matches.count; i++) {
        read_match(&covering, &matches.items[i], &signals);
    }
    if (signals.specific.size == 0) {
        signals.specific = place_mark_find(arena, comment);
    }
    signals.content_words = count_content(&covering);
    *ret_signals = signals;
    return OK;
}
