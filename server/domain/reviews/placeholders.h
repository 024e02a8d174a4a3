/*
 * placeholders.h: fills prompts with guidance from reviews, as it was after an event: reads
 * triggers, wording and example item, decides the arm of the run, builds the texts, and describes
 * the response as an exposure. A stored value that cannot be read does not cause a failure; the
 * texts that depend on it are empty.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_PLACEHOLDERS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_PLACEHOLDERS_H

#include "server/domain/exposures/exposures.h"
#include "server/domain/reviews/resolve.h"
#include "server/domain/reviews/window.h"

/* Maximum prompts of a request. */
#define PLACEHOLDER_PROMPTS_MAX 16

struct named_prompt {
    struct slice name;
    struct slice text;
};

/* Borrowed for the duration of the call. */
struct placeholders_request {
    struct review_window_query query; /* query->runs_max is not used */
    struct slice run_id; /* empty: there is no arm */
    bool has_arm; /* the arm is given, and run_id is not used */
    enum experiment_arm arm;
    struct current_review review;
    bool has_static_example;
    struct slice static_example;
    struct named_prompt prompts[PLACEHOLDER_PROMPTS_MAX];
    size_t prompt_count;
};

/* Parts that can fail, in the order in which they are read. */
enum placeholder_part {
    PLACEHOLDER_PART_ARM, /* if it fails, there is no arm */
    PLACEHOLDER_PART_TRIGGERS, /* if they fail, there is no guidance by triggers */
    PLACEHOLDER_PART_EXAMPLE, /* if it fails, the static example is used */
    PLACEHOLDER_PART_WORDING, /* if it fails, there is no guidance */
    PLACEHOLDER_PART_TEXTS, /* if they fail, there is no guidance, and the static example is used */
    PLACEHOLDER_PART_COUNT
};

/* In the arena, or borrowed from the transaction and the request. */
struct placeholders {
    struct review_triggers triggers;
    struct fragment_set fragments; /* the wording */
    uint64_t item_seq; /* seq of the example item; 0: there is none */
    uint64_t expired_seq; /* seq of the item, if its content was removed; else 0 */
    enum experiment_arm arm;
    bool failed[PLACEHOLDER_PART_COUNT];
    bool degraded; /* at least one reader failed */
    struct resolved resolved;
    uint32_t
        signals; /* as in an exposure: signals with guidance, or that would have it without a holdout */
    struct named_prompt prompts[PLACEHOLDER_PROMPTS_MAX]; /* filled */
    size_t prompt_count;
    struct slice other_tokens; /* each name once; a run of field 1 */
};

/* Adds faults for prompts that cannot be filled. ERR_CANCELLED. */
MUST_CHECK enum err placeholders_fill(struct ctx *ctx, struct store_txn *txn,
                                      const struct placeholders_request *request,
                                      struct placeholders *ret_placeholders);
/* Describes a response; its artifacts are in the arena. The caller sets the time and the as-of number. */
MUST_CHECK enum err placeholders_expose(struct arena *arena,
                                        const struct placeholders_request *request,
                                        const struct placeholders *placeholders,
                                        struct exposure *ret_exposure);

/* Appends the four placeholders as fields `field`, which are ResolvedPlaceholders. */
MUST_CHECK enum err placeholders_put_texts(struct arena *arena, const struct resolved *resolved,
                                           uint32_t field, struct buffer *run);
/* Appends the filled prompts as entries of the map `field`. */
MUST_CHECK enum err placeholders_put_prompts(struct arena *arena,
                                             const struct placeholders *placeholders,
                                             uint32_t field, struct buffer *run);

#endif
