/*
 * explain_internal.h: declarations shared by the files of this folder.
 */
#ifndef ERRATA_SERVER_DOMAIN_LEARNING_EXPLAIN_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_LEARNING_EXPLAIN_INTERNAL_H

#include "server/domain/corrections/example_hints.h"
#include "server/domain/learning/explain.h"

#include <errata/v1/learning_service.views.h>

/* An explanation that is being built. */
struct explaining {
    struct ctx *ctx;
    const struct explain_query *query;
    struct exposure exposure;
    uint64_t exposure_seq; /* seq of the event that recorded it; 0: not recorded */
    struct buffer *body;
    struct example_hint hints[EXAMPLES_LIMIT_MAX]; /* hints of its examples, in order */
    uint8_t hint_hashes[EXAMPLES_LIMIT_MAX][KEY_HASH_BYTES];
    size_t hint_count;
    struct buffer
        score_events; /* for a score: the served events, as fields of a ScoreDocumentResponse */
    struct prompt_template template; /* template of a prompt; seq 0: the exposure names none */
    bool is_expired;
    bool is_incomplete;
};

/* Appends each artifact of the exposure, and sets the hints and the template. */
MUST_CHECK enum err explain_artifacts(struct explaining *explaining, struct store_txn *txn);
/* Appends a rule of a score; adds its event, if it had one, to `score_events`. */
MUST_CHECK enum err explain_rule(struct explaining *explaining, struct store_txn *txn,
                                 const struct exposed_artifact *artifact);
/* Appends an artifact of filled placeholders. */
MUST_CHECK enum err explain_placeholder_artifact(struct explaining *explaining,
                                                 struct store_txn *txn,
                                                 const struct exposed_artifact *artifact);
struct feedback_event_view;

/* Adds an event to the evidence of an artifact; `feedback` is NULL for an event of another kind. */
void explain_put_evidence(const struct event *event, const struct feedback_event_view *feedback,
                          struct buffer *run);
/* Appends an artifact with its evidence. */
MUST_CHECK enum err explain_put_artifact(struct explaining *explaining,
                                         struct explained_artifact_view *view,
                                         const struct buffer *evidence);
/* Records who approved an artifact. */
void explain_approve(struct explained_artifact_view *view, const struct event *event);
/* Appends the reason why each signal of filled placeholders had guidance. */
MUST_CHECK enum err explain_signals(struct explaining *explaining, struct store_txn *txn);
/* Appends the prompts again, if the caller sent the request, and sets `hash` to the hash of their texts. */
MUST_CHECK enum err explain_prompts(struct explaining *explaining, struct store_txn *txn,
                                    const uint8_t **hash);
/* Appends the turn of an offered strategy. */
MUST_CHECK enum err explain_strategy(struct explaining *explaining, struct store_txn *txn,
                                     const struct exposed_artifact *artifact);
/* Searches and appends the strategies again, if the caller sent the request and its vector is
 * comparable, and sets `hash` to their hash. */
MUST_CHECK enum err explain_strategies(struct explaining *explaining, struct store_txn *txn,
                                       bool *ret_is_known, uint8_t hash[EXPOSURE_TEXT_HASH_BYTES]);
/* Appends a guideline of an agent's prompt. */
MUST_CHECK enum err explain_guideline(struct explaining *explaining, struct store_txn *txn,
                                      const struct exposed_artifact *artifact);
/* Appends the rules of an agent's prompt again and, if the caller sent the rest of it, the prompt, and sets `hash` to its
 * hash. */
MUST_CHECK enum err explain_agent_prompt(struct explaining *explaining, struct store_txn *txn,
                                         bool *ret_is_known,
                                         uint8_t hash[EXPOSURE_TEXT_HASH_BYTES]);
/* Appends the outcomes that cited the exposure. */
MUST_CHECK enum err explain_outcomes(struct explaining *explaining, struct store_txn *txn);

#endif
