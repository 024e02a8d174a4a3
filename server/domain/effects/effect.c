/*
 * effect.c: see effect.h.
 */
#include "server/domain/effects/effect.h"

#include "server/domain/decisions/decisions.h"
#include "server/domain/decisions/history.h"

/* A guideline that is being measured. */
struct measuring {
    struct org_id org;
    struct arena *arena;
    struct store_txn *txn;
    uint64_t clusters[EFFECT_CLUSTERS_MAX];
    size_t cluster_count;
    struct decision_set similar;
    int64_t activated_us;
    int64_t settled_us;
    uint32_t max; /* decisions on each side, for each agent */
    struct guideline_effect effect;
};

static void add_cluster(struct measuring *measuring, uint64_t seq)
{
    for (size_t i = 0; i < measuring->cluster_count; i++) {
        if (measuring->clusters[i] == seq) {
            return;
        }
    }
    if (seq != 0 && measuring->cluster_count < EFFECT_CLUSTERS_MAX) {
        measuring->clusters[measuring->cluster_count++] = seq;
    }
}

/* Lists the clusters of its evidence. */
static enum err find_clusters(struct measuring *measuring, const struct proposal *guideline)
{
    struct slice run = guideline->view.created_from_feedback_ids.run;
    struct slice id = {NULL, 0};
    enum err err = OK;

    add_cluster(measuring, guideline->view.cluster_seq);
    while (err == OK && guideline->view.cluster_seq == 0 && view_next(&run, &id)) {
        struct decision_view decision;
        struct event event;
        uint64_t seq = 0;

        err = decision_find_id(measuring->txn, measuring->org, id, &seq);
        if (err == OK) {
            err = decision_read(measuring->txn, measuring->org, seq, &event, &decision);
        }
        if (err == OK) {
            add_cluster(measuring, decision.cluster_seq);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err read_time(struct measuring *measuring, uint64_t seq, int64_t *ret_time_us)
{
    struct event event;
    enum err err = log_read(measuring->txn, measuring->org, seq, &event);

    *ret_time_us = err == OK ? event.created_at_us : 0;
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Counts the newest decisions of an agent in a time: from `since_us` on, before `before_us`. */
static enum err count_side(struct measuring *measuring, struct slice agent, int64_t since_us,
                           int64_t before_us, struct proportion *side)
{
    const struct decision_history_query query = {
        .org = measuring->org, .agent = agent, .before_us = before_us, .max = measuring->max};
    struct scan scan = {0};
    int64_t created_at_us = INT64_MAX;
    uint64_t seq = 0;
    enum err err = decision_history_begin(&scan, measuring->txn, &query);

    while (err == OK) {
        err = decision_history_next(&scan, measuring->txn, measuring->org, &created_at_us, &seq);
        if (err != OK || created_at_us < since_us) {
            break;
        }
        side->trial_count++;
        side->success_count += decision_set_has(&measuring->similar, seq);
        measuring->effect.settled += created_at_us >= measuring->settled_us;
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Without clusters nothing is similar, so the side before the activation is not read; the one after it has `settled`. */
static enum err count_decisions(struct measuring *measuring, const struct proposal *guideline)
{
    const struct view_list *agents = &guideline->view.affected_agents;
    struct slice run = agents->run;
    struct slice agent = {NULL, 0};
    enum err err = decision_set_of_clusters(measuring->arena, measuring->txn, measuring->org,
                                            measuring->clusters, measuring->cluster_count,
                                            &measuring->similar);

    measuring->max = EFFECT_DECISIONS_MAX / (agents->count > 0 ? agents->count : 1);
    while (err == OK && view_next(&run, &agent)) {
        err = count_side(measuring, agent, measuring->activated_us, INT64_MAX,
                         &measuring->effect.after);
        if (err == OK && measuring->cluster_count > 0) {
            err = count_side(measuring, agent, INT64_MIN, measuring->activated_us,
                             &measuring->effect.before);
        }
    }
    return err;
}

enum err guideline_effect_measure(struct arena *arena, struct store_txn *txn,
                                  const struct proposal *guideline,
                                  struct guideline_effect *ret_effect)
{
    struct measuring measuring = {.org = guideline->event.org, .arena = arena, .txn = txn};
    enum err err = find_clusters(&measuring, guideline);

    if (err == OK) {
        err = read_time(&measuring, guideline->record.activated_seq, &measuring.activated_us);
    }
    measuring.settled_us = measuring.activated_us;
    if (err == OK && guideline->record.kept_seq != 0) {
        err = read_time(&measuring, guideline->record.kept_seq, &measuring.settled_us);
    }
    if (err == OK) {
        err = artifact_read(txn, measuring.org, guideline->seq, &measuring.effect.outcomes);
    }
    if (err == OK) {
        err = count_decisions(&measuring, guideline);
    }
    measuring.effect.is_measured = measuring.cluster_count > 0;
    if (!measuring.effect.is_measured) {
        measuring.effect.after = (struct proportion){0, 0};
    }
    *ret_effect = measuring.effect;
    return err;
}

/* Whether the difference of two proportions is certainly below 0; absent if it is not known. */
static bool is_lower(const struct proportion *first, const struct proportion *second,
                     bool *ret_is_known)
{
    struct proportion_difference difference = {.high = 0};

    *ret_is_known = proportions_subtract(first, second, &difference);
    return *ret_is_known && difference.high < 0;
}

bool guideline_effect_is_none(const struct guideline_effect *effect)
{
    const struct artifact_counts *served = &effect->outcomes.treatment;
    const struct artifact_counts *held_out = &effect->outcomes.control;
    const struct proportion treatment = {served->bad_count, served->outcome_count};
    const struct proportion control = {held_out->bad_count, held_out->outcome_count};
    bool has_outcomes = false;
    bool has_feedback = false;
    bool helps = is_lower(&treatment, &control, &has_outcomes);
    bool reduces = is_lower(&effect->after, &effect->before, &has_feedback);

    if (helps || reduces) {
        return false;
    }
    return effect->settled >= EFFECT_DECISIONS_MIN &&
           (effect->is_measured ? has_feedback
                                : has_outcomes && served->outcome_count >= EFFECT_DECISIONS_MIN);
}
