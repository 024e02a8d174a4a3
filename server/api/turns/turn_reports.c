/*
 * turn_reports.c: TurnService/GetSatisfaction and GetDetectorReport.
 */
#include "server/domain/analytics/days.h"
#include "server/domain/analytics/proportions.h"
#include "server/domain/turns/report.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"

#include <errata/v1/turn_service.fields.h>
#include <errata/v1/turn_service.handlers.h>
#include <errata/v1/turn_service.views.h>

/* Maximum bytes of a row of a report. */
#define ROW_BYTES 128

/* `day` has room for the row's day, which the view borrows. */
static struct satisfaction_view view_of(const struct satisfaction *row, char day[DAY_TEXT_BYTES])
{
    day_format(row->day, day);
    return (struct satisfaction_view){
        .day = slice_of(day, row->day != 0 ? DAY_TEXT_BYTES : 0),
        .intent = row->intent,
        .turn_count = row->turns,
        .rejected_count = row->rejected,
        .accepted_count = row->accepted,
        .mean = row->turns > 0 ? row->sum / (double)row->turns : 0,
    };
}

/* Encodes the rows as a list of the field. */
static enum err put_rows(struct arena *arena, const struct satisfaction *rows, size_t count,
                         uint32_t field, struct slice *ret_run)
{
    struct buffer run;

    buffer_init(&run, arena, count * ROW_BYTES);
    for (size_t i = 0; i < count; i++) {
        char day[DAY_TEXT_BYTES];
        struct satisfaction_view view = view_of(&rows[i], day);

        satisfaction_view_put(&view, field, &run);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

enum err turn_service_get_satisfaction_read(struct turn_service_get_satisfaction_call *call)
{
    struct satisfaction_query query = {
        .org = call->org,
        .intent = slice_text(call->request->intent),
        .cancelled = &call->service->cancelled,
    };
    struct satisfaction_report *report = arena_calloc(call->ctx->arena, 1, sizeof(*report));
    struct get_satisfaction_response_view response = {.has_total = true};
    struct satisfaction_view total;
    char day[DAY_TEXT_BYTES];
    enum err err = report != NULL ? OK : ERR_MEMORY;

    if (err == OK && !time_range_read(call->ctx->fault, call->request->start_time,
                                      call->request->end_time, &query.start_us, &query.end_us)) {
        err = ERR_INVALID;
    }
    if (err == OK) {
        err = satisfaction_count(call->ctx->arena, call->txn, &query, report);
    }
    if (err == OK) {
        err = put_rows(call->ctx->arena, report->days, report->day_count,
                       GET_SATISFACTION_RESPONSE_DAYS_FIELD, &response.days.run);
    }
    if (err == OK) {
        err = put_rows(call->ctx->arena, report->intents, report->intent_count,
                       GET_SATISFACTION_RESPONSE_INTENTS_FIELD, &response.intents.run);
    }
    if (err != OK) {
        return err;
    }
    total = view_of(&report->total, day);
    if (!view_encode(&satisfaction_view_type, &total, call->ctx->arena, &response.total)) {
        return ERR_MEMORY;
    }
    response.truncated = report->is_truncated;
    get_satisfaction_response_view_write(&response, call->body);
    return OK;
}

/* Encodes tallies with judgements as a list of the field. */
static enum err put_tallies(struct arena *arena, const struct detector_tally *tallies, size_t count,
                            uint32_t field, struct slice *ret_run)
{
    struct buffer run;

    buffer_init(&run, arena, count * ROW_BYTES);
    for (size_t i = 0; i < count; i++) {
        const struct detector_tally *tally = &tallies[i];
        struct proportion_interval interval;
        struct detector_precision_view view = {
            .row = tally->row,
            .cue_class = tally->cue_class,
            .cue = tally->cue,
            .judged_count = tally->judged,
            .right_count = tally->right,
        };

        if (tally->judged == 0) {
            continue;
        }
        view.precision = (double)tally->right / tally->judged;
        if (proportion_interval_of(&(struct proportion){tally->right, tally->judged}, &interval)) {
            view.precision_low = interval.low;
            view.precision_high = interval.high;
        }
        view.removal_proposed = tally->cue.size > 0 && view.precision < 0.5 &&
                                tally->judged >= DETECTOR_REMOVAL_JUDGEMENTS;
        detector_precision_view_put(&view, field, &run);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static enum err put_confusion(struct arena *arena, const struct detector_report *report,
                              struct slice *ret_run)
{
    struct buffer run;

    buffer_init(&run, arena, 0);
    for (size_t i = 0; i < DETECTOR_STATUSES; i++) {
        for (size_t j = 0; j < DETECTOR_STATUSES; j++) {
            const struct detector_confusion_view view = {
                .detected = (enum turn_status)(i + TURN_STATUS_REJECTED),
                .judged = (enum turn_status)(j + TURN_STATUS_REJECTED),
                .turn_count = report->confusion[i][j],
            };

            if (view.turn_count > 0) {
                detector_confusion_view_put(&view, GET_DETECTOR_REPORT_RESPONSE_CONFUSION_FIELD,
                                            &run);
            }
        }
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

enum err turn_service_get_detector_report_read(struct turn_service_get_detector_report_call *call)
{
    struct detector_report *report = arena_calloc(call->ctx->arena, 1, sizeof(*report));
    struct get_detector_report_response_view response = {.judged_count = 0};
    enum err err = report != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        err = detector_count(call->ctx->arena, call->txn, call->org, &call->service->cancelled,
                             report);
    }
    if (err == OK) {
        err = put_confusion(call->ctx->arena, report, &response.confusion.run);
    }
    if (err == OK) {
        err = put_tallies(call->ctx->arena, report->rows, DETECT_NOTHING + 1,
                          GET_DETECTOR_REPORT_RESPONSE_ROWS_FIELD, &response.rows.run);
    }
    if (err == OK) {
        err = put_tallies(call->ctx->arena, report->cues, report->cue_count,
                          GET_DETECTOR_REPORT_RESPONSE_CUES_FIELD, &response.cues.run);
    }
    if (err != OK) {
        return err;
    }
    response.judged_count = report->judged;
    response.truncated = report->is_truncated;
    get_detector_report_response_view_write(&response, call->body);
    return OK;
}
