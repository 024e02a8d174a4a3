/*
 * clusters.h: decisions for one agent that ask for the same. A decision joins the cluster whose members it resembles most
 * on the mean, if that is enough, or begins one; this is decided in the transaction, and recorded in the event. Sums of
 * themes are integers, so that apply adds exactly.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_CLUSTERS_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_CLUSTERS_H

#include "server/domain/evaluator/evaluator.h"
#include "server/domain/evaluator/theme.h"
#include "store/base/ctx.h"
#include "store/log.h"

#include <errata/v1/decision.views.h>

/* Clusters of an agent that are compared, the newest first. */
#define CLUSTERS_COMPARED_MAX 1000
/* Members of a cluster that are read, the newest first: support beyond them changes nothing. */
#define CLUSTER_MEMBERS_MAX 100

/* Where a decision may have a cluster. */
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
    bool is_change; /* its decision is not APPROVED */
};

struct cluster_members {
    struct cluster_member *items; /* in the arena, with room for one more */
    size_t count;
};

/* Finds the cluster of a theme; 0: it begins one. */
MUST_CHECK enum err cluster_find(struct store_txn *txn, const struct cluster_space *space,
                                 const struct theme *theme, uint64_t *ret_seq);
/* Which members of a cluster to read. */
struct cluster_query {
    struct org_id org;
    uint64_t cluster_seq;
    uint64_t before_seq; /* recorded before this event; UINT64_MAX: all */
    size_t max; /* at most CLUSTER_MEMBERS_MAX */
};

/* Lists members among the CLUSTER_MEMBERS_MAX newest of a cluster, the newest first. */
MUST_CHECK enum err cluster_members_read(struct arena *arena, struct store_txn *txn,
                                         const struct cluster_query *query,
                                         struct cluster_members *ret_members);
/* Reads the given decisions likewise; at most CLUSTER_MEMBERS_MAX. ERR_NOT_FOUND if one is not a decision. */
MUST_CHECK enum err cluster_members_of(struct arena *arena, struct store_txn *txn,
                                       struct org_id org, const uint64_t *seqs, size_t count,
                                       struct cluster_members *ret_members);
/* Lists clusters in which a decision was general by several reviewers, those that began last first, and only those that
 * began before `before_seq`, if it is not 0. */
MUST_CHECK enum err clusters_high_read(struct store_txn *txn, struct org_id org,
                                       uint64_t before_seq, size_t max, uint64_t *ret_seqs,
                                       size_t *ret_count);
/* Sums up the members: who, for which tasks, how old at `now_us`, and whether they contradict each other. */
MUST_CHECK enum err cluster_support(struct arena *arena, const struct cluster_members *members,
                                    int64_t now_us, struct evaluator_support *ret_support);
/* Adds a theme to the row of a cluster, for apply. */
MUST_CHECK enum err cluster_add(struct arena *arena, struct store_txn *txn,
                                const struct cluster_space *space, uint64_t cluster_seq,
                                struct slice theme);

#endif
