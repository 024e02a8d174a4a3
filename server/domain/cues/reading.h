/*
 * reading.h: the facts about a message that decide how it judges the previous turn: its cues, the
 * kind of its sentences, and how its words differ from the previous query. Pure functions; no
 * vectors.
 */
#ifndef ERRATA_SERVER_DOMAIN_CUES_READING_H
#define ERRATA_SERVER_DOMAIN_CUES_READING_H

#include "server/domain/cues/match.h"

/* The inputs. Slices are valid UTF-8, borrowed. */
struct reading_input {
    struct slice message; /* without texts that an application inserted */
    struct slice previous_query;
    struct slice previous_response; /* may be empty */
    const struct slice *entities; /* entities that the previous response named */
    size_t entity_count;
    const struct extra_cue *extras;
    size_t extra_count; /* at most CUE_EXTRAS_MAX */
};

/* How the message's words differ from those of the previous query. */
struct difference {
    float overlap; /* share of content words in both among those in either, 0 to 1 */
    float kept; /* share of the previous query's content words in the message, 0 to 1 */
    float order; /* share of words in the same order in both, of the longer one, 0 to 1 */
    bool numbers_differ; /* each has a number that the other does not have */
    bool
        names_differ; /* each has a name that the other does not have, and neither is an abbreviation */
    bool
        is_replaced; /* the same sentence with one or two content words replaced: a question about something else */
    bool is_antonym; /* a word was replaced by its opposite */
    bool same_kind; /* both ask the same kind of question, or neither asks one */
    bool is_extended; /* the message has all content words of the query, and more */
};

struct reading {
    struct cue_words message;
    struct cue_words query;
    struct cue_words response;
    struct cue_hits hits; /* cues of the message, without those that a guard covers */
    struct difference difference;
    size_t content_words; /* content words of the message */
    bool is_question; /* has a question */
    bool is_request; /* makes a request, in the imperative or politely */
    bool is_wish; /* "I want ..." */
    bool is_statement; /* begins with its subject: "I live there" */
    bool refers_back; /* has a pronoun */
    bool mentions; /* names something that the previous response contained and the query did not */
    bool after_question; /* the previous response ends with a question or an offer */
    bool after_offer; /* the previous response offers something */
    bool has_contrast_in_response; /* "not X", where X is in the previous query or response */
    bool has_number;
    bool has_negator; /* a word such as "not" or "never" that no guard covers */
    bool repeats_query; /* the message only repeats a few words of the query */
    bool asked_for_fact; /* the query asks who, what, when, where or how many */
};

/* Reads a message. The result is in the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err reading_of(struct arena *arena, const struct cue_lexicon *lexicon,
                               const struct reading_input *input, struct reading *ret_reading);
/* Returns the first hit of a class in the message, or NULL. */
const struct cue_hit *reading_cue(const struct reading *reading, enum cue_class class);

#endif
