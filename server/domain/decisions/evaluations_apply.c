/*
 * evaluations_apply.c: applies classes by evaluators and people, and counts how often each
 * evaluator was right. A decision that a person classified counts once for each of its evaluators,
 * by the latest class of both.
 */
#include "server/domain/decisions/decisions_internal.h"
#include "server/domain/decisions/evaluations.h"
#include "server/domain/decisions/keys.h"

#include <errata/v1/event.views.h>

/* Classes of a decision; UNSPECIFIED: there is none. */
struct judgement {
    enum decision_class evaluators; /* class that the evaluator chose */
    enum decision_class persons;
};

static struct evaluator_record counts_of(const struct judgement *judgement)
{
    bool is_evaluated = judgement->evaluators != DECISION_CLASS_UNSPECIFIED;
    bool is_judged = is_evaluated && judgement->persons != DECISION_CLASS_UNSPECIFIED;

    return (struct evaluator_record){
        .evaluations = is_evaluated ? 1 : 0,
        .judged = is_judged ? 1 : 0,
        .overridden = is_judged && judgement->persons != judgement->evaluators ? 1 : 0,
    };
}

enum err evaluator_count(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         struct slice evaluator_id, const struct evaluator_change *change)
{
    const struct judgement before = {change->class_before, change->persons_before};
    const struct judgement after = {change->class_after, change->persons_after};
    struct evaluator_record less = counts_of(&before);
    struct evaluator_record more = counts_of(&after);
    struct evaluator_record record = {.evaluator_id = evaluator_id};
    struct key key = key_evaluator(org, evaluator_id);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EVALUATOR, key_slice(&key), &value);

    if (err == OK) {
        err = record_decode_evaluator(value, &record);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (record.evaluations < less.evaluations || record.judged < less.judged ||
        record.overridden < less.overridden) {
        return ERR_CORRUPT;
    }
    record.evaluations += more.evaluations - less.evaluations;
    record.judged += more.judged - less.judged;
    record.overridden += more.overridden - less.overridden;
    err = record_encode_evaluator(ctx->arena, &record, &value);
    return err != OK ? err : store_put(txn, TABLE_EVALUATOR, key_slice(&key), value);
}

/* Reads the class of the event whose number is in a row; UNSPECIFIED if there is no row. */
static enum err read_class(struct store_txn *txn, struct org_id org, enum store_table table,
                           const struct key *key, enum decision_class *ret_class)
{
    struct evaluation_view view;
    enum err err = decision_read_evaluation(txn, org, table, key, &view);

    *ret_class = err == OK ? view.classification : DECISION_CLASS_UNSPECIFIED;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err evaluation_apply_submitted(struct ctx *ctx, struct store_txn *txn,
                                    const struct event *event)
{
    struct evaluation_submitted_view submitted;
    struct evaluator_change change = {.class_before = DECISION_CLASS_UNSPECIFIED};
    struct decision_view decision;
    struct event recorded;
    struct key key;
    struct key override;
    enum err err = evaluation_submitted_view_read(event->facts, &submitted);

    if (err == OK) {
        err = decision_read(txn, event->org, submitted.decision_seq, &recorded, &decision);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    key = key_decision_evaluation(event->org, submitted.decision_seq, submitted.evaluator_id);
    override = key_decision_override(event->org, submitted.decision_seq);
    err = read_class(txn, event->org, TABLE_DECISION_EVALUATION, &key, &change.class_before);
    if (err == OK) {
        err =
            read_class(txn, event->org, TABLE_DECISION_OVERRIDE, &override, &change.persons_before);
    }
    if (err == OK) {
        change.class_after = submitted.classification;
        change.persons_after = change.persons_before;
        err = evaluator_count(ctx, txn, event->org, submitted.evaluator_id, &change);
    }
    if (err == OK) {
        err = log_put_id_row(txn, TABLE_DECISION_EVALUATION, &key, event->seq);
    }
    return err != OK
               ? err
               : decision_mark_high(txn, event, decision.cluster_seq, submitted.classification);
}

/* Reads an evaluation of the caller. */
static enum err read_submitted(struct store_txn *txn, struct org_id org, uint64_t seq,
                               struct evaluation_submitted_view *ret_submitted)
{
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    return err != OK ? err : evaluation_submitted_view_read(event.facts, ret_submitted);
}

/* Sets the classes of an evaluator that chose `chosen`. */
static void set_chosen(const struct evaluators_change *change, enum decision_class chosen,
                       struct evaluator_change *one)
{
    one->class_before = chosen;
    one->class_after = change->is_retracted ? DECISION_CLASS_UNSPECIFIED : chosen;
}

enum err evaluators_recount(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                            const struct evaluators_change *change)
{
    struct evaluator_change one = {.persons_after = change->persons};
    struct key override = key_decision_override(org, change->decision_seq);
    struct decision_seqs seqs;
    enum err err = decision_evaluation_seqs(txn, org, change->decision_seq, &seqs);

    if (err == OK) {
        err = read_class(txn, org, TABLE_DECISION_OVERRIDE, &override, &one.persons_before);
    }
    if (err == OK) {
        set_chosen(change, change->classification, &one);
        err = evaluator_count(ctx, txn, org, SLICE(EVALUATOR_ID), &one);
    }
    for (size_t i = 0; err == OK && i < seqs.count; i++) {
        struct evaluation_submitted_view submitted;

        err = read_submitted(txn, org, seqs.items[i], &submitted);
        if (err == OK) {
            set_chosen(change, submitted.classification, &one);
            err = evaluator_count(ctx, txn, org, submitted.evaluator_id, &one);
        }
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err evaluation_apply_overridden(struct ctx *ctx, struct store_txn *txn,
                                     const struct event *event)
{
    struct evaluation_overridden_view overridden;
    struct evaluators_change change;
    struct decision_view decision;
    struct event recorded;
    struct key key;
    enum err err = evaluation_overridden_view_read(event->facts, &overridden);

    if (err == OK) {
        err = decision_read(txn, event->org, overridden.decision_seq, &recorded, &decision);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    change = (struct evaluators_change){.decision_seq = overridden.decision_seq,
                                        .classification = decision.classification,
                                        .persons = overridden.classification};
    err = evaluators_recount(ctx, txn, event->org, &change);
    key = key_decision_override(event->org, overridden.decision_seq);
    if (err == OK) {
        err = log_put_id_row(txn, TABLE_DECISION_OVERRIDE, &key, event->seq);
    }
    return err != OK
               ? err
               : decision_mark_high(txn, event, decision.cluster_seq, overridden.classification);
}
