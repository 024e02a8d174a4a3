/*
 * past.c: rules as they were after an earlier event. The row of a rule has its present state; its life has every state
 * and version, and the event of each version has the adjustment.
 */
#include "server/domain/verdicts/rules.h"

#include <errata/payload/payload.views.h>
#include <errata/v1/event.views.h>

enum err learned_rule_adjustment_at(struct store_txn *txn, struct org_id org, uint64_t content_seq,
                                    int64_t *ret_adjustment)
{
    struct learned_rule_created_internal_view internal;
    struct learned_rule_created_view facts;
    struct event event;
    enum err err = log_read(txn, org, content_seq, &event);

    if (err == OK) {
        err = event.kind == EVENT_LEARNED_RULE_CREATED
                  ? learned_rule_created_view_read(event.facts, &facts)
                  : ERR_CORRUPT;
    }
    if (err == OK) {
        err = learned_rule_created_internal_view_read(facts.internal, &internal);
    }
    if (err == OK) {
        *ret_adjustment = internal.adjustment_billionths;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
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
