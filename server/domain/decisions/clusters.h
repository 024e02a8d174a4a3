/*
 * clusters.h: groups decisions for one agent that request the same thing. A decision joins the
 * cluster with the highest mean similarity, if that is high enough, or begins a new one; this is
 * decided in the transaction, and recorded in the event. Sums of themes are integers, so that apply
 * adds exactly.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_CLUSTERS_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_CLUSTERS_H

#include "server/domain/evaluator/evaluator.h"
#include "server/domain/evaluator/theme.h"
#include "store/base/ctx.h"
#include "store/log.h"

#include <errata/v1/decision.views.h>

/* Maximum clusters of an agent that are compared, newest first. */
#define CLUSTERS_COMPARED_MAX 1000
/* Maximum members of a cluster that are read, the newest first: more support would change nothing. */
#define CLUSTER_MEMBERS_MAX 100

/* The agent and space in which a cluster is searched. */
struct cluster_space {
    struct org_id org;
    struct slice agent;
    struct slice space;
    enum theme_kind kind;
};

/* A member of a cluster. Slices are borrowed from the transaction. */
struct cluster_member {
    uint64_t seq;
    struct uuid id;
    struct slice reviewer;
    struct slice task;
    struct slice epic;
    struct slice agent;
    struct slice words;
    struct slice comment;
    struct slice summary; /* summary of the correction */
    struct slice theme; /* numbers of the theme; empty: it has none */
    uint64_t cluster_seq;
    enum decision_outcome outcome;
    int64_t created_at_us;
    bool is_change; /* the decision is not APPROVED */
};

struct cluster_members {
    struct cluster_member *items; /* in the arena, with room for one more */
    size_t count;
};

/* Finds the cluster of a theme; 0 if it begins a new one. */
MUST_CHECK enum err cluster_find(struct store_txn *txn, const struct cluster_space *space,
                                 const struct theme *theme, uint64_t *ret_seq);
/* Lists the CLUSTER_MEMBERS_MAX newest members of a cluster, newest first. */
MUST_CHECK enum err cluster_members_read(struct arena *arena, struct store_txn *txn,
                                         struct org_id org, uint64_t cluster_seq,
                                         struct cluster_members *ret_members);
/* Reads the given decisions in the same way; at most CLUSTER_MEMBERS_MAX. ERR_NOT_FOUND if one is not a decision. */
MUST_CHECK enum err cluster_members_of(struct arena *arena, struct store_txn *txn,
                                       struct org_id org, const uint64_t *seqs, size_t count,
                                       struct cluster_members *ret_members);
/* Lists clusters in which a decision was general by several reviewers, newest first, only those
 * that began before `before_seq` if it is not 0. */
MUST_CHECK enum err clusters_high_read(struct store_txn *txn, struct org_id org,
                                       uint64_t before_seq, size_t max, uint64_t *ret_seqs,
                                       size_t *ret_count);
/* Summarises the members: reviewers, tasks, age at `now_us`, and whether they contradict each other. */
MUST_CHECK enum err cluster_support(struct arena *arena, const struct cluster_members *members,
                                    int64_t now_us, struct evaluator_support *ret_support);
/* Adds a theme to the row of a cluster, for apply. */
MUST_CHECK enum err cluster_add(struct arena *arena, struct store_txn *txn,
                                const struct cluster_space *space, uint64_t cluster_seq,
                                struct slice theme);
/* Subtracts a theme that was added, and removes the row of a cluster without members. ERR_CORRUPT if it was not added. */
MUST_CHECK enum err cluster_subtract(struct arena *arena, struct store_txn *txn,
                                     const struct cluster_space *space, uint64_t cluster_seq,
                                     struct slice theme);

#endif
