/*
 * reviewers.c: see reviewers.h. Decisions are sorted by cluster, to count clusters, then by reviewer and cluster, to count
 * the part of each.
 */
#include "server/domain/effects/reviewers.h"

#include "server/domain/decisions/decisions.h"
#include "server/domain/decisions/history.h"

#include <stdlib.h>

/* Decisions between two looks at whether the caller is still there. */
#define ROWS_PER_LOOK 256

/* A decision that is counted. */
struct counted_decision {
    struct slice reviewer;
    struct slice agent;
    uint64_t cluster_seq; /* 0: none */
    const struct counted_cluster *cluster; /* set by count_clusters */
    bool is_approved;
};

/* A report that is being made. */
struct counting {
    struct arena *arena;
    struct store_txn *txn;
    const struct reviewer_query *query;
    struct counted_decision *decisions;
    size_t decision_count;
    struct counted_cluster *clusters; /* ascending by seq */
    size_t cluster_count;
};

/* --- reading --- */

static enum err read_decision(struct counting *counting, uint64_t seq)
{
    struct decision_view view;
    struct event event;
    enum err err = decision_read(counting->txn, counting->query->org, seq, &event, &view);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    counting->decisions[counting->decision_count++] = (struct counted_decision){
        .reviewer = view.reviewer_id,
        .agent = view.agent_name,
        .cluster_seq = view.cluster_seq,
        .is_approved = view.decision == DECISION_OUTCOME_APPROVED,
    };
    return OK;
}

static enum err read_decisions(struct counting *counting, bool *ret_is_cut)
{
    const struct reviewer_query *query = counting->query;
    const struct decision_history_query history = {.org = query->org,
                                                   .agent = query->agent,
                                                   .before_us = INT64_MAX,
                                                   .max = REVIEWER_DECISIONS_MAX};
    struct scan scan = {0};
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    enum err err = decision_history_begin(&scan, counting->txn, &history);

    while (err == OK) {
        err = decision_history_next(&scan, counting->txn, query->org, &created_at_us, &seq);
        if (err == OK) {
            err = read_decision(counting, seq);
        }
        if (err == OK && counting->decision_count % ROWS_PER_LOOK == 0 &&
            query->is_cancelled(query->user)) {
            err = ERR_CANCELLED;
        }
    }
    *ret_is_cut = scan.is_cut;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* --- clusters --- */

static int compare_clusters(const void *a, const void *b)
{
    const struct counted_decision *first = a;
    const struct counted_decision *second = b;

    return (first->cluster_seq > second->cluster_seq) - (first->cluster_seq < second->cluster_seq);
}

/* Reads the proposal that was made of a cluster. */
static enum err read_proposal(struct counting *counting, struct counted_cluster *cluster)
{
    struct proposal proposal;
    enum err err =
        proposal_of_cluster(counting->txn, counting->query->org, cluster->seq, &proposal);

    if (err == OK) {
        cluster->has_proposal = true;
        cluster->proposal_id = proposal.view.id;
        cluster->status = proposal_status_of(&proposal.record);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err count_clusters(struct counting *counting)
{
    struct counted_cluster *last = NULL;
    enum err err = OK;

    qsort(counting->decisions, counting->decision_count, sizeof(*counting->decisions),
          compare_clusters);
    for (size_t i = 0; err == OK && i < counting->decision_count; i++) {
        struct counted_decision *decision = &counting->decisions[i];

        if (decision->cluster_seq == 0) {
            continue;
        }
        if (last == NULL || last->seq != decision->cluster_seq) {
            last = &counting->clusters[counting->cluster_count++];
            last->seq = decision->cluster_seq;
            last->agent = decision->agent;
            err = read_proposal(counting, last);
        }
        last->decisions++;
        decision->cluster = last;
    }
    return err;
}

/* --- reviewers --- */

static int compare_reviewers(const void *a, const void *b)
{
    const struct counted_decision *first = a;
    const struct counted_decision *second = b;
    int order = slice_compare(first->reviewer, second->reviewer);

    return order != 0 ? order : compare_clusters(a, b);
}

static int compare_reports(const void *a, const void *b)
{
    const struct reviewer_report *first = a;
    const struct reviewer_report *second = b;

    if (first->decisions != second->decisions) {
        return first->decisions < second->decisions ? 1 : -1;
    }
    return slice_compare(first->reviewer, second->reviewer);
}

bool reviewer_dominates(const struct reviewer_part *part)
{
    return part->cluster->decisions >= REVIEWER_CLUSTER_MIN &&
           2 * (uint64_t)part->own > part->cluster->decisions;
}

/* Adds the part in a cluster; keeps the largest ones. */
static void add_part(struct reviewer_report *report, const struct reviewer_part *part)
{
    size_t place = report->part_count;

    if (part->cluster->has_proposal && part->cluster->status != PROPOSAL_STATUS_PENDING) {
        report->judged += part->own;
        report->agreed += part->cluster->status == PROPOSAL_STATUS_APPROVED ? part->own : 0;
    }
    report->dominated += reviewer_dominates(part);
    if (place == REVIEWER_CLUSTERS_MAX && report->parts[place - 1].own >= part->own) {
        return;
    }
    if (place == REVIEWER_CLUSTERS_MAX) {
        place--;
    } else {
        report->part_count++;
    }
    while (place > 0 && report->parts[place - 1].own < part->own) {
        report->parts[place] = report->parts[place - 1];
        place--;
    }
    report->parts[place] = *part;
}

/* Counts the decisions of one reviewer, which begin at `start`. Returns where they end. */
static size_t count_reviewer(const struct counting *counting, size_t start,
                             struct reviewer_report *report)
{
    const struct counted_decision *decisions = counting->decisions;
    struct reviewer_part part = {.own = 0};
    size_t i = start;

    report->reviewer = decisions[start].reviewer;
    for (; i < counting->decision_count && slice_equal(decisions[i].reviewer, report->reviewer);
         i++) {
        report->decisions++;
        report->approved += decisions[i].is_approved;
        if (decisions[i].cluster == NULL) {
            continue;
        }
        if (part.own > 0 && part.cluster != decisions[i].cluster) {
            add_part(report, &part);
            part.own = 0;
        }
        part.cluster = decisions[i].cluster;
        part.own++;
    }
    if (part.own > 0) {
        add_part(report, &part);
    }
    return i;
}

/* Counts how many reviewers there are. */
static size_t count_names(const struct counting *counting)
{
    size_t count = 0;

    for (size_t i = 0; i < counting->decision_count; i++) {
        count += i == 0 ||
                 !slice_equal(counting->decisions[i].reviewer, counting->decisions[i - 1].reviewer);
    }
    return count;
}

static enum err make_reports(struct counting *counting, struct reviewer_reports *reports)
{
    struct slice wanted = counting->query->reviewer;
    size_t reports_max = 0;
    size_t place = 0;

    qsort(counting->decisions, counting->decision_count, sizeof(*counting->decisions),
          compare_reviewers);
    reports_max = wanted.size > 0 ? 2 : count_names(counting) + 1; /* one for the others */
    reports->items = arena_calloc(counting->arena, reports_max, sizeof(*reports->items));
    if (reports->items == NULL) {
        return ERR_MEMORY;
    }
    while (place < counting->decision_count) {
        struct reviewer_report *report = &reports->items[reports->count];

        place = count_reviewer(counting, place, report);
        if (wanted.size == 0 || slice_equal(report->reviewer, wanted)) {
            reports->count++;
        } else {
            *report = (struct reviewer_report){.decisions = 0};
        }
    }
    qsort(reports->items, reports->count, sizeof(*reports->items), compare_reports);
    reports->count = reports->count < REVIEWERS_MAX ? reports->count : REVIEWERS_MAX;
    return OK;
}

enum err reviewers_count(struct arena *arena, struct store_txn *txn,
                         const struct reviewer_query *query, struct reviewer_reports *ret_reports)
{
    struct counting counting = {.arena = arena, .txn = txn, .query = query};
    struct reviewer_reports reports = {.count = 0};
    enum err err = OK;

    counting.decisions =
        arena_calloc(arena, REVIEWER_DECISIONS_MAX + 1, sizeof(*counting.decisions));
    counting.clusters = arena_calloc(arena, REVIEWER_DECISIONS_MAX + 1, sizeof(*counting.clusters));
    if (counting.decisions == NULL || counting.clusters == NULL) {
        return ERR_MEMORY;
    }
    err = read_decisions(&counting, &reports.is_cut);
    if (err == OK) {
        err = count_clusters(&counting);
    }
    if (err == OK) {
        err = make_reports(&counting, &reports);
    }
    if (err == OK) {
        *ret_reports = reports;
    }
    return err;
}
