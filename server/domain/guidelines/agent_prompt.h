/*
 * agent_prompt.h: inserts guidelines into an agent's prompt. Works on plain text; the same
 * guidelines give the same bytes.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_AGENT_PROMPT_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_AGENT_PROMPT_H

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

/* An agent's prompt, and the guidelines in it. */
struct agent_prompt {
    struct slice text;
    struct uuid ids[GUIDELINES_OF_AGENT_MAX];
    uint64_t seqs[GUIDELINES_OF_AGENT_MAX];
    size_t count;
    uint64_t
        version; /* seq of the event that last changed the agent's guidelines; 0: there is none */
};

MUST_CHECK enum err agent_prompt_build(struct arena *arena, struct store_txn *txn,
                                       struct org_id org, struct slice agent, struct slice base,
                                       struct agent_prompt *ret_prompt);

#endif
