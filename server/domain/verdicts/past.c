/*
 * past.c: reads rules as they were after an earlier event. The row of a rule has its present state;
 * its life has every state and version, and the event of each version has the adjustment.
 */
#include "server/domain/verdicts/rules.h"

#include <errata/payload/payload.views.h>
#include <errata/v1/event.views.h>

static enum err read_created(struct slice facts, int64_t *ret_adjustment)
{
    struct learned_rule_created_internal_view internal;
    struct learned_rule_created_view created;
    enum err err = learned_rule_created_view_read(facts, &created);

    if (err == OK) {
        err = learned_rule_created_internal_view_read(created.internal, &internal);
    }
    if (err == OK) {
        *ret_adjustment = internal.adjustment_billionths;
    }
    return err;
}

static enum err read_imported(struct slice facts, int64_t *ret_adjustment)
{
    struct learned_rule_imported_internal_view internal;
    struct learned_rule_imported_view imported;
    enum err err = learned_rule_imported_view_read(facts, &imported);

    if (err == OK) {
        err = learned_rule_imported_internal_view_read(imported.internal, &internal);
    }
    if (err == OK) {
        *ret_adjustment = internal.adjustment_billionths;
    }
    return err;
}

static enum err read_weight_set(struct slice facts, int64_t *ret_adjustment)
{
    struct learned_rule_weight_set_internal_view internal;
    struct learned_rule_weight_set_view set;
    enum err err = learned_rule_weight_set_view_read(facts, &set);

    if (err == OK) {
        err = learned_rule_weight_set_internal_view_read(set.internal, &internal);
    }
    if (err == OK) {
        *ret_adjustment = internal.adjustment_billionths;
    }
    return err;
}

enum err learned_rule_adjustment_at(struct store_txn *txn, struct org_id org, uint64_t content_seq,
                                    int64_t *ret_adjustment)
{
    struct event event;
    enum err err = log_read(txn, org, content_seq, &event);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (event.kind == EVENT_LEARNED_RULE_CREATED) {
        return read_created(event.facts, ret_adjustment);
    }
    if (event.kind == EVENT_LEARNED_RULE_IMPORTED) {
        return read_imported(event.facts, ret_adjustment);
    }
    return event.kind == EVENT_LEARNED_RULE_WEIGHT_SET
               ? read_weight_set(event.facts, ret_adjustment)
               : ERR_CORRUPT;
}

enum err learned_rule_first_adjustment(struct store_txn *txn, struct org_id org,
                                       const struct learned_rule_row *row, int64_t *ret_adjustment)
{
    uint64_t seq = row->record.imported_seq != 0 ? row->record.imported_seq : row->seq;

    return learned_rule_adjustment_at(txn, org, seq, ret_adjustment);
}

enum err learned_rule_make_past(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                                struct learned_rule_row *row)
{
    struct artifact_life_record life;
    enum err err = row->seq <= as_of_seq
                       ? artifact_life_read_as_of(txn, org, row->seq, as_of_seq, &life)
                       : ERR_NOT_FOUND;

    if (err == OK && life.version != row->record.life.version) {
        err = learned_rule_adjustment_at(txn, org, life.content_seq, &row->record.adjustment);
    }
    if (err == OK) {
        row->record.life = life;
    }
    return err;
}
