/*
 * agent_prompt.h: an agent's prompt with its guidelines, and what an exposure names of it. Plain text in, plain text out:
 * the same guidelines give the same bytes.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_AGENT_PROMPT_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_AGENT_PROMPT_H

#include "server/domain/exposures/exposures.h"
#include "server/domain/guidelines/proposals.h"

/* A rule of a prompt. */
struct prompt_rule {
    enum rule_type type;
    struct slice text; /* text as stored; sanitised by this module */
    struct slice insertion_point;
};

/* Inserts rules, in the given order, into a prompt; the result is in the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err agent_prompt_insert(struct arena *arena, struct slice base,
                                        const struct prompt_rule *rules, size_t count,
                                        struct slice *ret_prompt);

/* A prompt to build. Slices are borrowed for the duration of the call. */
struct agent_prompt_query {
    struct org_id org;
    struct slice agent;
    struct slice base;
    struct slice subject_id; /* empty: without an arm */
    bool is_past; /* as it was after `as_of_seq`; examines every proposal of the organisation */
    uint64_t as_of_seq;
    bool (*is_cancelled)(const void *user); /* used only for the past */
    const void *user;
};

/* An agent's prompt, and what is in it; in the arm CONTROL, what would have been in it. */
struct agent_prompt {
    struct slice text;
    struct uuid ids[GUIDELINES_OF_AGENT_MAX];
    uint64_t seqs[GUIDELINES_OF_AGENT_MAX];
    size_t count;
    uint64_t shadow_seqs[SHADOWS_OF_AGENT_MAX]; /* proposals in SHADOW, which are not in it */
    size_t shadow_count; /* 0 in the arm CONTROL, which would not have them, and in the past */
    uint64_t
        version; /* seq of the event that last changed the agent's guidelines; 0: there is none */
    enum experiment_arm arm;
};

/* ERR_CANCELLED if a query of the past was cancelled. */
MUST_CHECK enum err agent_prompt_build(struct arena *arena, struct store_txn *txn,
                                       const struct agent_prompt_query *query,
                                       struct agent_prompt *ret_prompt);
/* Sets the kind, the arm, the artifacts and the hash of an exposure; its artifacts are in the arena. */
MUST_CHECK enum err agent_prompt_expose(struct arena *arena, const struct agent_prompt *prompt,
                                        struct exposure *exposure);
/* Inserts the guidelines of a recorded exposure into a prompt again. */
MUST_CHECK enum err agent_prompt_build_again(struct arena *arena, struct store_txn *txn,
                                             struct org_id org, const struct exposure *exposure,
                                             struct slice base, struct slice *ret_text);
/* The hash by which an exposure identifies a prompt. */
void agent_prompt_hash(struct slice text, uint8_t hash[EXPOSURE_TEXT_HASH_BYTES]);

#endif
