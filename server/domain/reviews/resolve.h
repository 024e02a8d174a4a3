/*
 * resolve.h: the texts of the placeholders that reviews fill: guidance by the signals of the current review and of the
 * triggers, focus fields, notes, and an example item. Each part has a limit, and all of them together have one.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_RESOLVE_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_RESOLVE_H

#include "server/domain/reviews/fragments.h"
#include "server/domain/reviews/triggers.h"

#include <errata/v1/review_prompts.fields.h>

/* Maximum characters, without marks and labels, of a note, of all focus fields, of the example
 * item; and of the texts of all placeholders together. */
#define RESOLVE_NOTE_CHARACTERS_MAX 500
#define RESOLVE_FOCUS_CHARACTERS_MAX 1000
#define RESOLVE_EXAMPLE_CHARACTERS_MAX 2000
#define RESOLVE_TOTAL_CHARACTERS_MAX 6000

#define PLACEHOLDER_COUNT 4
#define SIGNAL_COUNT 8

/* The current review; zeros: there is none. */
struct current_review {
    enum review_answer flags[REVIEW_FLAG_COUNT];
    struct slice missing_spec; /* from review_specs_normalise */
    struct slice notes;
};

struct resolve_request {
    struct current_review review;
    bool has_static_example;
    struct slice static_example;
    const struct review_triggers *triggers;
    const struct fragment_set *fragments; /* the wording */
    struct slice item_json; /* text of the example item; empty: there is none */
    struct slice redacted_members; /* a RedactedMembers: members of the item that are not shown */
};

/* The text of a placeholder. */
struct resolved_text {
    struct slice text;
    enum placeholder_source source;
    bool signals[SIGNAL_COUNT + 1]; /* indexed by enum review_signal */
};

struct resolved {
    struct resolved_text texts[PLACEHOLDER_COUNT + 1]; /* indexed by enum review_placeholder */
    bool broad_search_allowed;
    bool prefer_json_correction;
    bool cuts[CUT_PART_FOCUS_FIELDS + 1]; /* indexed by enum cut_part */
};

/* Returns the name of a placeholder's token. */
struct slice placeholder_name(enum review_placeholder placeholder);
/* Builds the texts, in the arena. Fails only with ERR_MEMORY, or ERR_CORRUPT for a list that cannot be read. */
MUST_CHECK enum err resolve_placeholders(struct arena *arena, const struct resolve_request *request,
                                         struct resolved *ret_resolved);

#endif
