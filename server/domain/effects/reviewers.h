/*
 * reviewers.h: what reviewers contribute: their decisions, the part that each has in clusters, and how often a rule that was
 * made of their feedback was approved. Counted from decisions when it is asked for; run it on the pool.
 */
#ifndef ERRATA_SERVER_DOMAIN_EFFECTS_REVIEWERS_H
#define ERRATA_SERVER_DOMAIN_EFFECTS_REVIEWERS_H

#include "server/domain/guidelines/proposals.h"

/* Decisions that are counted, the newest: about 100 ms of reading. */
#define REVIEWER_DECISIONS_MAX 20000
#define REVIEWERS_MAX 100
#define REVIEWER_CLUSTERS_MAX 20
/* Smallest cluster of which one reviewer can supply most. */
#define REVIEWER_CLUSTER_MIN 3

/* A cluster of which decisions were counted. */
struct counted_cluster {
    uint64_t seq;
    struct slice agent; /* borrowed from the transaction */
    uint32_t decisions;
    bool has_proposal;
    struct uuid proposal_id;
    enum proposal_status status;
};

/* The part of a reviewer in a cluster. */
struct reviewer_part {
    const struct counted_cluster *cluster;
    uint32_t own;
};

struct reviewer_report {
    struct slice reviewer; /* empty: decisions without one; borrowed from the transaction */
    uint32_t decisions;
    uint32_t approved;
    uint32_t judged; /* in clusters whose proposal was decided */
    uint32_t agreed; /* of these, the ones whose proposal was approved */
    struct reviewer_part parts[REVIEWER_CLUSTERS_MAX]; /* the largest first */
    size_t part_count;
    uint32_t dominated; /* clusters of which the reviewer supplies most */
};

struct reviewer_reports {
    struct reviewer_report *items; /* in the arena; the one with most decisions first */
    size_t count; /* at most REVIEWERS_MAX */
    bool is_cut; /* there are older decisions */
};

struct reviewer_query {
    struct org_id org;
    struct slice agent; /* only decisions about it; empty: all */
    struct slice reviewer; /* only this one; empty: all */
    bool (*is_cancelled)(const void *user);
    const void *user;
};

/* ERR_CANCELLED if the query was cancelled. */
MUST_CHECK enum err reviewers_count(struct arena *arena, struct store_txn *txn,
                                    const struct reviewer_query *query,
                                    struct reviewer_reports *ret_reports);
/* Whether a reviewer supplies most of a cluster. */
bool reviewer_dominates(const struct reviewer_part *part);

#endif
