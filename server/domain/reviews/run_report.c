/*
 * run_report.c: see run_report.h.
 */
#include "server/domain/reviews/run_report.h"

#include "server/domain/reviews/agreement.h"
#include "server/domain/reviews/reviewers.h"

#include <errata/v1/review.fields.h>
#include <errata/v1/reviewed_run.views.h>

/* The list of a row is an encoded field. */
_Static_assert(REVIEWER_ANSWER_MISSING_SPEC_FIELD == (int)REVIEW_MISSING_SPEC_FIELD,
               "answers have the numbers of reviews");

/* Reads the history: counts all reviews, and keeps the newest of each reviewer. */
static enum err read_history(struct arena *arena, struct review_history *history,
                             struct run_answer *answers, struct run_report *report)
{
    struct review_entry entry;
    struct reviewers reviewers;
    enum err err = reviewers_init(&reviewers, arena, REVIEWS_OF_RUN_MAX);

    while (err == OK && report->review_count < REVIEWS_OF_RUN_MAX) {
        err = review_history_next(history, &entry);
        if (err == OK) {
            report->review_count++;
        }
        if (err == OK && reviewers_add(&reviewers, entry.record.reviewed_by)) {
            answers[report->answer_count++].entry = entry;
            report->reviewed_count += entry.record.decision == REVIEW_DECISION_REVIEWED;
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err read_ids(struct store_txn *txn, struct org_id org, struct run_answer *answers,
                         size_t count)
{
    struct event event;
    enum err err = OK;

    for (size_t i = 0; i < count && err == OK; i++) {
        err = log_read(txn, org, answers[i].entry.seq, &event);
        answers[i].id = event.id;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err run_report_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                         struct slice run_id, struct run_report *ret_report)
{
    struct review_run_hash run = review_run_hash_of(run_id);
    struct run_answer *answers = arena_calloc(arena, REVIEWS_OF_RUN_MAX, sizeof(*answers));
    struct run_report report = {.answers = answers};
    struct review_history history = {.as_of_seq = 0};
    enum err err =
        answers != NULL ? review_history_init(&history, txn, org, &run, REVIEWS_NOW) : ERR_MEMORY;

    if (err == OK) {
        err = read_history(arena, &history, answers, &report);
    }
    review_history_deinit(&history);
    if (err == OK && report.answer_count == 0) {
        return ERR_NOT_FOUND;
    }
    if (err == OK) {
        err = read_ids(txn, org, answers, report.answer_count);
    }
    if (err == OK) {
        const struct review_record *newest = &answers[0].entry.record;

        report.is_reviewed = newest->decision == REVIEW_DECISION_REVIEWED &&
                             report.reviewed_count >= newest->reviews_needed;
        *ret_report = report;
    }
    return err;
}

static bool is_given(const struct review_record *record, enum review_flag flag)
{
    return record->flags[flag] != REVIEW_ABSENT;
}

static bool is_true(const struct review_record *record, enum review_flag flag)
{
    return record->flags[flag] == REVIEW_TRUE;
}

static void put_answer(const struct run_answer *answer, struct buffer *run)
{
    const struct review_record *record = &answer->entry.record;
    const struct reviewer_answer_view view = {
        .review_id = answer->id,
        .missing_spec = {.run = record->missing_spec},
        .reviewed_by = record->reviewed_by,
        .has_reviewed_by = record->reviewed_by.size > 0,
        .decision = (enum review_decision)record->decision,
        .created_at_us = answer->entry.created_at_us,
        .has_created_at = true,
        .has_information_present = is_given(record, REVIEW_INFORMATION_PRESENT),
        .information_present = is_true(record, REVIEW_INFORMATION_PRESENT),
        .has_bad_format = is_given(record, REVIEW_BAD_FORMAT),
        .bad_format = is_true(record, REVIEW_BAD_FORMAT),
        .has_wrong_information = is_given(record, REVIEW_WRONG_INFORMATION),
        .wrong_information = is_true(record, REVIEW_WRONG_INFORMATION),
        .has_wrong_physical_dimensions = is_given(record, REVIEW_WRONG_PHYSICAL_DIMENSIONS),
        .wrong_physical_dimensions = is_true(record, REVIEW_WRONG_PHYSICAL_DIMENSIONS),
    };

    reviewer_answer_view_put(&view, REVIEWED_RUN_ANSWERS_FIELD, run);
}

static enum err put_agreement(struct arena *arena, const struct run_report *report,
                              struct buffer *run)
{
    struct review_record *records = arena_calloc(arena, report->answer_count, sizeof(*records));
    enum err err = records != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; i < report->answer_count && err == OK; i++) {
        records[i] = report->answers[i].entry.record;
    }
    for (int32_t field = REVIEW_FIELD_DECISION;
         field <= REVIEW_FIELD_WRONG_PHYSICAL_DIMENSIONS && err == OK; field++) {
        struct review_agreement agreement = {0, 0};
        struct review_agreement_view view = {.field = (enum review_field)field};

        err = review_agreement_of(arena, view.field, records, report->answer_count, &agreement);
        view.answer_count = agreement.answer_count;
        view.agreeing_count = agreement.agreeing_count;
        if (err == OK && agreement.answer_count > 0) {
            review_agreement_view_put(&view, REVIEWED_RUN_AGREEMENT_FIELD, run);
        }
    }
    return err;
}

enum err run_report_write(struct arena *arena, const struct run_report *report, struct slice run_id,
                          struct slice newest, struct buffer *body)
{
    struct reviewed_run_view view = {
        .run_id = run_id,
        .newest_review = newest,
        .has_newest_review = true,
        .review_count = report->review_count,
        .reviewed = report->is_reviewed,
        .reviewed_count = report->reviewed_count,
        .reviews_needed = report->answers[0].entry.record.reviews_needed,
    };
    struct buffer answers;
    struct buffer agreement;
    enum err err = OK;

    buffer_init(&answers, arena, 0);
    buffer_init(&agreement, arena, 0);
    for (size_t i = 0; i < report->answer_count; i++) {
        put_answer(&report->answers[i], &answers);
    }
    err = put_agreement(arena, report, &agreement);
    view.answers.run = buffer_slice(&answers);
    view.agreement.run = buffer_slice(&agreement);
    reviewed_run_view_write(&view, body);
    if (err == OK && !(buffer_ok(&answers) && buffer_ok(&agreement) && buffer_ok(body))) {
        err = ERR_MEMORY;
    }
    return err;
}
