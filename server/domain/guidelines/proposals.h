/*
 * proposals.h: rules for agents, from a proposal to the end of a guideline. Every change is an
 * event; the messages are made from the event that created a proposal and the one that decided it.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_PROPOSALS_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_PROPOSALS_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "server/domain/guidelines/records.h"
#include "store/base/buffer.h"

#include <errata/v1/event.views.h>
#include <errata/v1/guideline.views.h>

/* Maximum active guidelines of an agent. */
#define GUIDELINES_OF_AGENT_MAX 20
/* Maximum proposals of an agent that are in SHADOW at once, so that an exposure names all of them. */
#define SHADOWS_OF_AGENT_MAX 20
/* Maximum agents of a proposal, and guidelines that it replaces. */
#define PROPOSAL_AGENTS_MAX 20
#define PROPOSAL_REPLACES_MAX 20
/* Maximum decisions that a proposal names. */
#define PROPOSAL_EVIDENCE_MAX 100
/* Maximum characters of a rule: as many as the sanitiser keeps. */
#define RULE_CHARACTERS_MAX 500
#define RULE_INSERTION_POINT_BYTES_MAX 64
#define RULE_INSERTION_POINT_DEFAULT "learned_rules"
/* Maximum rows of an agent's guidelines that are examined, including ended ones. */
#define GUIDELINE_ROWS_MAX 2000

/* A proposal that is stored: its row, and the view of the event that created it. */
struct proposal {
    uint64_t seq;
    struct proposal_record record;
    struct proposal_view view; /* borrowed from the transaction */
    struct event event; /* event that created it */
};

/* The values that a person or a program proposes. */
struct proposal_input {
    struct org_id org;
    struct event_caller caller;
    enum rule_type rule_type;
    const struct slice *agents;
    size_t agent_count; /* 1 to PROPOSAL_AGENTS_MAX */
    struct slice insertion_point; /* empty: the default point */
    const struct uuid *replaces;
    size_t replaces_count; /* at most PROPOSAL_REPLACES_MAX */
    struct slice rule_content;
    struct slice evidence_summary;
    /* Set for a proposal made from decisions: */
    const struct uuid *evidence;
    size_t evidence_count; /* at most PROPOSAL_EVIDENCE_MAX; 0: it has none */
    double confidence;
    bool expedited;
    uint64_t cluster_seq; /* their cluster; 0: they are not of one cluster */
    struct slice sole_author; /* the reviewer of all decisions; empty: there are several */
    struct slice proposer; /* set if the server proposes; empty: the caller proposes */
};

/* Appends and applies. ERR_INVALID naming each invalid field. */
MUST_CHECK enum err proposal_create(struct ctx *ctx, struct store_txn *txn,
                                    const struct proposal_input *input, uint64_t *ret_seq);
/* Finds the proposal that was made of a cluster of decisions. ERR_NOT_FOUND. */
MUST_CHECK enum err proposal_of_cluster(struct store_txn *txn, struct org_id org,
                                        uint64_t cluster_seq, struct proposal *ret_proposal);
/* Returns whether a text can be a rule: 1 to RULE_CHARACTERS_MAX characters, and not empty once sanitised. */
bool rule_content_is_valid(struct arena *arena, struct slice rule);
/* Adds a fault to ctx->fault if a text is not a rule. */
void rule_content_check(struct ctx *ctx, struct slice field, struct slice rule);
/* Reads a proposal by the number of its event, or by its id. ERR_NOT_FOUND. */
MUST_CHECK enum err proposal_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                                  struct proposal *ret_proposal);
/* Reads only the event that created a proposal that exists: what never changes. ERR_CORRUPT if there is no such event. */
MUST_CHECK enum err proposal_read_created(struct store_txn *txn, struct org_id org, uint64_t seq,
                                          struct event *ret_event, struct proposal_view *ret_view);
MUST_CHECK enum err proposal_find(struct store_txn *txn, struct org_id org, struct uuid id,
                                  struct proposal *ret_proposal);

/* Appends the current state of a proposal as field `field` of a message. */
MUST_CHECK enum err proposal_put(struct arena *arena, struct store_txn *txn,
                                 const struct proposal *proposal, uint32_t field,
                                 struct buffer *body);
/* Appends its state after the event that created it, or after one of its votes. */
MUST_CHECK enum err proposal_put_event(struct arena *arena, struct store_txn *txn,
                                       const struct event *event, uint32_t field,
                                       struct buffer *body);
/* Appends a guideline. */
MUST_CHECK enum err guideline_put(struct store_txn *txn, const struct proposal *proposal,
                                  uint32_t field, struct buffer *body);

/* Encodes a guideline as it is now, in the arena. */
MUST_CHECK enum err guideline_encode(struct arena *arena, struct store_txn *txn,
                                     const struct proposal *proposal, struct slice *ret_guideline);
/* Encodes a guideline as it was while it was in effect, in the arena; or while it was in SHADOW, without votes. */
MUST_CHECK enum err guideline_encode_active(struct arena *arena, struct store_txn *txn,
                                            const struct proposal *proposal,
                                            struct slice *ret_guideline);
MUST_CHECK enum err guideline_encode_shadow(struct arena *arena, const struct proposal *proposal,
                                            struct slice *ret_guideline);

/* An agent's guidelines in effect, in the order of its prompt, and its proposals in SHADOW. */
struct agent_guidelines {
    uint64_t seqs[GUIDELINES_OF_AGENT_MAX]; /* seqs of their proposals */
    size_t count;
    uint64_t shadow_seqs[SHADOWS_OF_AGENT_MAX];
    size_t shadow_count;
};

/* ERR_CORRUPT if there are more than GUIDELINES_OF_AGENT_MAX, or SHADOWS_OF_AGENT_MAX. */
MUST_CHECK enum err agent_guidelines_read(struct store_txn *txn, struct org_id org,
                                          struct slice agent, struct agent_guidelines *ret_list);

/* The status of a proposal with this row. */
enum proposal_status proposal_status_of(const struct proposal_record *record);
/* Whether a proposal waits for votes: PROPOSED, or in SHADOW. */
bool proposal_is_pending(const struct proposal_record *record);
/* Decides whether a person may put a proposal in SHADOW. ERR_PRECONDITION, with a fault, if it was decided, or if one of its
 * agents has SHADOWS_OF_AGENT_MAX others there. */
MUST_CHECK enum err proposal_check_shadow(struct ctx *ctx, struct store_txn *txn,
                                          const struct proposal *proposal);
/* Whether a proposal is for an agent; empty: any. */
bool proposal_is_for(const struct proposal *proposal, struct slice agent);

/* Subtracts a retracted decision from the evidence of a proposal or guideline, for apply. */
MUST_CHECK enum err proposal_lose_evidence(struct ctx *ctx, struct store_txn *txn,
                                           const struct event *retraction, uint64_t proposal_seq);

/* A list of pending proposals, or of guidelines. */
struct proposal_list {
    struct org_id org;
    struct slice agent; /* only those for this agent; empty: all */
    struct page *page;
};

MUST_CHECK enum err proposal_list_begin(struct store_txn *txn, struct proposal_list *list);
/* ERR_NOT_FOUND at the end of the page. A proposal for other agents is skipped. */
MUST_CHECK enum err proposal_list_next(struct store_txn *txn, struct proposal_list *list,
                                       struct proposal *ret_proposal);
MUST_CHECK enum err guideline_list_begin(struct store_txn *txn, struct proposal_list *list);
MUST_CHECK enum err guideline_list_next(struct store_txn *txn, struct proposal_list *list,
                                        struct proposal *ret_proposal);

/* Reads the guideline in effect whose proposal is the next after `after_seq`. ERR_NOT_FOUND after the last. */
MUST_CHECK enum err guideline_next(struct store_txn *txn, struct org_id org, uint64_t after_seq,
                                   struct proposal *ret_guideline);

/* A person's decision to end a guideline. */
struct guideline_retirement {
    struct org_id org;
    struct event_caller caller;
    struct uuid guideline_id;
    struct slice reason;
};

MUST_CHECK enum err guideline_retire(struct ctx *ctx, struct store_txn *txn,
                                     const struct guideline_retirement *retirement,
                                     uint64_t *ret_seq);

#endif
