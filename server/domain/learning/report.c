/*
 * report.c: see report.h.
 */
#include "server/domain/learning/report.h"

#include "server/domain/events/feedback.h"
#include "server/domain/mappings/rows.h"

#include <errata/v1/review.views.h>

/* ERR_NOT_FOUND for a review without an item. */
static enum err check_item(const struct event *event)
{
    struct review_view review = {.has_item_snapshot = true};
    enum err err =
        event->kind == EVENT_REVIEW_SUBMITTED ? review_view_read(event->facts, &review) : OK;

    return err == OK && !review.has_item_snapshot ? ERR_NOT_FOUND : err;
}

/* Finds the kind of artifact that an event created. ERR_NOT_FOUND if it made no artifact. */
static enum err find_kind(struct store_txn *txn, struct org_id org, uint64_t seq,
                          enum artifact_kind *ret_kind)
{
    struct feedback_event_view view;
    struct mapping_row mapping;
    struct event event;
    enum err err = mapping_row_read(txn, org, seq, &mapping);

    if (err != ERR_NOT_FOUND) {
        *ret_kind = ARTIFACT_KIND_MAPPING;
        return err;
    }
    err = log_read(txn, org, seq, &event);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (event.kind == EVENT_PROMPT_TEMPLATE_PUT || event.kind == EVENT_LEARNED_RULE_CREATED) {
        *ret_kind = event.kind == EVENT_PROMPT_TEMPLATE_PUT ? ARTIFACT_KIND_PROMPT_TEMPLATE
                                                            : ARTIFACT_KIND_LEARNED_RULE;
        return OK;
    }
    if (event.kind == EVENT_FRAGMENT_SET_PUT) {
        *ret_kind = ARTIFACT_KIND_FRAGMENT_SET;
        return OK;
    }
    if (event.kind == EVENT_PROPOSAL_CREATED) {
        *ret_kind = ARTIFACT_KIND_GUIDELINE;
        return OK;
    }
    if (event.kind == EVENT_TURN_RECORDED) {
        *ret_kind = ARTIFACT_KIND_STRATEGY;
        return OK;
    }
    if (event.kind == EVENT_RUN_ITEM_PUT || event.kind == EVENT_REVIEW_SUBMITTED) {
        *ret_kind = ARTIFACT_KIND_EXAMPLE_ITEM;
        return check_item(&event);
    }
    if (event.kind != EVENT_FEEDBACK) {
        return ERR_NOT_FOUND;
    }
    *ret_kind = ARTIFACT_KIND_EXAMPLE;
    err = feedback_view_read(&event, &view);
    if (err == OK &&
        !(feedback_is_correction(view.event_type) && view.layout_fingerprint.size > 0)) {
        err = ERR_NOT_FOUND;
    }
    return err;
}

enum err artifact_find(struct store_txn *txn, struct org_id org, struct uuid id, uint64_t *ret_seq,
                       enum artifact_kind *ret_kind)
{
    enum err err = log_find(txn, org, id, ret_seq);

    return err != OK ? err : find_kind(txn, org, *ret_seq, ret_kind);
}

/* Adds the state of an artifact that has one, and its evidence. */
static enum err read_life(struct store_txn *txn, struct org_id org, uint64_t seq,
                          struct artifact_report *report)
{
    enum err err = artifact_life_read_as_of(txn, org, seq, UINT64_MAX, &report->life);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? OK : err;
    }
    report->has_life = true;
    return artifact_evidence_list(txn, org, seq, UINT64_MAX, &report->evidence);
}

void artifact_report_count(const struct artifact_record *record, struct artifact_report *report)
{
    const struct proportion treatment = {record->treatment.bad_count,
                                         record->treatment.outcome_count};
    const struct proportion held_out = {record->control.bad_count, record->control.outcome_count};

    report->treatment = record->treatment;
    report->held_out = record->control;
    report->shadow = record->shadow;
    report->served = (struct artifact_counts){
        .exposure_count = record->none.exposure_count + record->treatment.exposure_count,
        .outcome_count = record->none.outcome_count + record->treatment.outcome_count,
        .bad_count = record->none.bad_count + record->treatment.bad_count,
    };
    report->has_difference = proportions_subtract(&treatment, &held_out, &report->difference);
    memcpy(report->outcome_seqs, record->outcome_seqs, sizeof(report->outcome_seqs));
    report->outcome_seq_count = record->outcome_seq_count;
}

enum err artifact_report_read(struct store_txn *txn, struct org_id org, struct uuid id,
                              struct artifact_report *ret_report)
{
    struct artifact_report report = {.has_difference = false};
    struct artifact_record record;
    uint64_t seq = 0;
    enum err err = OK;

    if (uuid_equal(id, ARTIFACT_ID_SHIPPED_WORDING)) {
        report.kind = ARTIFACT_KIND_FRAGMENT_SET;
    } else {
        err = artifact_find(txn, org, id, &seq, &report.kind);
    }
    if (err == OK) {
        err = artifact_read(txn, org, seq, &record);
    }
    if (err == OK) {
        err = read_life(txn, org, seq, &report);
    }
    if (err != OK) {
        return err;
    }
    artifact_report_count(&record, &report);
    *ret_report = report;
    return OK;
}
