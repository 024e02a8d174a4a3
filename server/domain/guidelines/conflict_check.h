/*
 * conflict_check.h: finds the guidelines and pending proposals that a rule contradicts, repeats or overlaps.
 */
#ifndef ERRATA_SERVER_DOMAIN_GUIDELINES_CONFLICT_CHECK_H
#define ERRATA_SERVER_DOMAIN_GUIDELINES_CONFLICT_CHECK_H

#include "server/domain/guidelines/proposals.h"

/* Pending proposals that are compared, in the order of their list. */
#define CONFLICT_PENDING_MAX 200
/* Maximum conflicts of a rule that are reported, contradictions first. */
#define CONFLICTS_MAX 50
/* Minimum share of common words of two rules that overlap. */
#define CONFLICT_OVERLAP_SHARE_MIN 0.5

struct conflict_query {
    struct org_id org;
    struct slice rule;
    const struct slice *agents;
    size_t agent_count;
    uint64_t except_seq; /* the proposal itself; 0: it is not stored yet */
    /* Guidelines that the rule replaces, which are not compared. */
    const struct uuid *except_ids;
    size_t except_count;
};

struct found_conflict {
    enum rule_conflict_kind kind;
    struct uuid id;
    double score;
    struct slice reason;
};

struct found_conflicts {
    struct found_conflict items[CONFLICTS_MAX];
    size_t count;
};

MUST_CHECK enum err conflicts_find(struct arena *arena, struct store_txn *txn,
                                   const struct conflict_query *query,
                                   struct found_conflicts *ret_found);
/* Appends each conflict as field `field` of a message. */
void conflicts_put(const struct found_conflicts *found, uint32_t field, struct buffer *run);

/* The pair of an agent's guidelines that are most similar to each other. */
struct closest_pair {
    struct uuid ids[2];
    double score;
};

/* ERR_NOT_FOUND if there are fewer than two. */
MUST_CHECK enum err conflicts_find_closest(struct arena *arena, struct store_txn *txn,
                                           struct org_id org, const struct agent_guidelines *list,
                                           struct closest_pair *ret_pair);

#endif
