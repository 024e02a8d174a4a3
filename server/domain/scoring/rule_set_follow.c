/*
 * rule_set_follow.c: brings a set up to date with the log. An event only names the rules that it may have changed; each
 * is read again from its row, so that a set agrees with the rows of the snapshot.
 */
#include "server/domain/scoring/rule_set_internal.h"

#include <errata/v1/event.views.h>
#include <errata/v1/verdict_submission.views.h>

struct following {
    struct rule_set *set;
    struct store_txn *txn;
};

/* Finds a rule by its number; NULL if the set does not have it. */
static struct scoring_rule *find_rule(struct rule_set *set, uint64_t seq)
{
    size_t low = 0;
    size_t high = set->rule_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->rules[middle].seq < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < set->rule_count && set->rules[low].seq == seq ? &set->rules[low] : NULL;
}

/* Adds a rule that the set has now. Only a rule that is newer than all others can be added in place. */
static enum err add_rule(struct rule_set *set, const struct learned_rule_row *row)
{
    bool is_last = set->rule_count == 0 || set->rules[set->rule_count - 1].seq < row->seq;
    enum err err = OK;

    if (!is_last || set->rule_count == set->rule_room ||
        set->new_phrase_count == RULE_SET_NEW_PHRASES_MAX) {
        set->is_stale = true;
        return OK;
    }
    err = rule_set_add(set, row);
    if (err == OK && set->rules[set->rule_count - 1].predicate.phrase.size > 0) {
        set->new_phrases[set->new_phrase_count] = (uint32_t)set->rule_count - 1;
        set->new_phrase_count++;
    }
    return err;
}

static enum err follow_rule(struct following *following, uint64_t seq)
{
    struct rule_set *set = following->set;
    struct scoring_rule *rule = find_rule(set, seq);
    struct learned_rule_row row;
    enum err err = learned_rule_read(following->txn, set->org, seq, &row);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (rule != NULL) {
        rule_set_update(&row.record, rule);
        return OK;
    }
    return rule_set_has(&row.record) ? add_rule(set, &row) : OK;
}

/* Follows a submission, or its retraction: all rules that it lists. */
static enum err follow_submission(struct following *following, const struct event *event)
{
    struct verdict_submission_view view;
    struct slice changes = {NULL, 0};
    struct slice message = {NULL, 0};
    enum err err = verdict_submission_view_read(event->facts, &view);

    if (err == OK) {
        changes = view.rule_changes.run;
    }
    while (err == OK && view_next(&changes, &message)) {
        struct learned_rule_change_view change;

        err = learned_rule_change_view_read(message, &change);
        if (err == OK) {
            err = follow_rule(following, change.seq);
        }
    }
    return err;
}

static enum err follow_retraction(struct following *following, const struct event *event)
{
    struct event_retracted_view view;
    struct event retracted;
    enum err err = event_retracted_view_read(event->facts, &view);

    if (err == OK) {
        err = log_read(following->txn, event->org, view.retracted_seq, &retracted);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return retracted.kind == EVENT_VERDICT_SUBMITTED ? follow_submission(following, &retracted)
                                                     : OK;
}

static enum err follow_switch(struct following *following, const struct event *event)
{
    struct learned_rule_enabled_set_view view;
    enum err err = learned_rule_enabled_set_view_read(event->facts, &view);

    return err != OK ? err : follow_rule(following, view.seq);
}

static enum err follow_state(struct following *following, const struct event *event)
{
    struct artifact_state_set_view view;
    enum err err = artifact_state_set_view_read(event->facts, &view);

    if (err != OK || view.artifact_kind != ARTIFACT_KIND_LEARNED_RULE) {
        return err;
    }
    return follow_rule(following, view.artifact_seq);
}

/* Follows an imported rule: a new one, or one that has other values. */
static enum err follow_import(struct following *following, const struct event *event)
{
    struct learned_rule_imported_view view;
    enum err err = OK;

    if (event->kind == EVENT_LEARNED_RULE_CREATED) {
        return follow_rule(following, event->seq);
    }
    err = learned_rule_imported_view_read(event->facts, &view);
    return err != OK ? err : follow_rule(following, view.seq);
}

/* Follows a rule with another weight. */
static enum err follow_weight(struct following *following, const struct event *event)
{
    struct learned_rule_weight_set_view view;
    enum err err = learned_rule_weight_set_view_read(event->facts, &view);

    return err != OK ? err : follow_rule(following, view.seq);
}

static enum err follow_event(struct following *following, const struct event *event)
{
    if (event->kind == EVENT_VERDICT_SUBMITTED) {
        return follow_submission(following, event);
    }
    if (event->kind == EVENT_RETRACTED) {
        return follow_retraction(following, event);
    }
    if (event->kind == EVENT_ARTIFACT_STATE_SET) {
        return follow_state(following, event);
    }
    if (event->kind == EVENT_LEARNED_RULE_WEIGHT_SET) {
        return follow_weight(following, event);
    }
    if (event->kind == EVENT_LEARNED_RULE_CREATED || event->kind == EVENT_LEARNED_RULE_IMPORTED) {
        return follow_import(following, event);
    }
    return event->kind == EVENT_LEARNED_RULE_ENABLED_SET ? follow_switch(following, event) : OK;
}

enum err rule_set_follow(struct rule_set *set, struct store_txn *txn, uint64_t last_seq)
{
    struct following following = {set, txn};
    enum err err = OK;

    if (last_seq < set->applied_seq || last_seq - set->applied_seq > RULE_SET_LAG_MAX) {
        set->is_stale = true;
    }
    while (err == OK && !set->is_stale && set->applied_seq < last_seq) {
        struct event event;

        err = log_read(txn, set->org, set->applied_seq + 1, &event);
        if (err == OK) {
            err = follow_event(&following, &event);
        }
        set->applied_seq++;
    }
    set->is_stale = set->is_stale || err != OK;
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
