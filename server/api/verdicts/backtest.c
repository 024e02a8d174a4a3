/*
 * backtest.c: LearningService/Backtest: each step examines some submissions on the pool; after it, the loop sends the
 * progress, and at the end the report.
 */
#include "server/domain/backtest/backtest.h"
#include "server/domain/settings/settings.h"

#include "server/pipeline/service.h"
#include "store/base/assert.h"

#include <errata/v1/learning_service.handlers.h>
#include <errata/v1/learning_service.views.h>

/* The approximate size of a report with all reviewers. */
#define REPORT_BYTES 4096

static enum err read_subject(struct learning_service_backtest_call *call, struct backtest *backtest)
{
    const Errata__V1__BacktestRequest *request = call->request;
    const Errata__V1__ProposedRule *candidate = request->candidate;
    enum learned_rule_type type = LEARNED_RULE_TYPE_UNSPECIFIED;

    if (request->subject_case == ERRATA__V1__BACKTEST_REQUEST__SUBJECT_RULE_ID) {
        backtest->has_id = uuid_parse(slice_text(request->rule_id), &backtest->id);
        if (!backtest->has_id) {
            fault_add(call->ctx->fault, SLICE("rule_id"), "empty; expected the id of a rule");
            return ERR_INVALID;
        }
        return OK;
    }
    if (request->subject_case != ERRATA__V1__BACKTEST_REQUEST__SUBJECT_CANDIDATE) {
        fault_add(call->ctx->fault, SLICE("subject"), "missing; expected rule_id or candidate");
        return ERR_INVALID;
    }
    if (UNEXPECTED(!learned_rule_type_from_wire((int32_t)candidate->rule_type, &type))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    return backtest_set_candidate(
        call->ctx, type, slice_text(candidate->pattern),
        candidate->_confidence_adjustment_case != 0 ? &candidate->confidence_adjustment : NULL,
        backtest);
}

enum err learning_service_backtest_start(struct learning_service_backtest_call *call)
{
    struct backtest *backtest = arena_calloc(call->ctx->arena, 1, sizeof(*backtest));
    enum err err = backtest != NULL ? OK : ERR_MEMORY;

    if (err != OK) {
        return err;
    }
    backtest->org = call->org;
    backtest->submissions_max = call->request->max_submissions > 0
                                    ? (uint64_t)call->request->max_submissions
                                    : BACKTEST_SUBMISSIONS_MAX;
    err = read_subject(call, backtest);
    call->stream->state = backtest;
    return err;
}

enum err learning_service_backtest_work(struct learning_service_backtest_call *call)
{
    struct backtest *backtest = call->stream->state;
    struct settings settings;
    enum err err = OK;

    if (!backtest->has_begun) {
        err = settings_read(call->txn, call->org, &settings);
        backtest->thresholds = (struct score_thresholds){settings.suspicious_at, settings.fake_at};
    }
    return err != OK ? err
                     : backtest_step(call->ctx, call->txn, backtest, service_was_cancelled,
                                     call->service);
}

enum err learning_service_backtest_writable(struct learning_service_backtest_call *call)
{
    const struct backtest *backtest = call->stream->state;
    const struct backtest_progress_view progress = {.submission_count = backtest->submissions};
    struct buffer *reply = NULL;
    enum err err = OK;

    if (!stream_wants(call->stream)) {
        return OK;
    }
    reply = stream_reply_begin(call->stream, backtest->has_ended ? REPORT_BYTES : 16);
    if (backtest->has_ended) {
        err = backtest_report(call->ctx->arena, backtest, BACKTEST_RESPONSE_REPORT_FIELD, reply);
        stream_finish(call->stream);
    } else {
        backtest_progress_view_put(&progress, BACKTEST_RESPONSE_PROGRESS_FIELD, reply);
        err = buffer_ok(reply) ? OK : ERR_MEMORY;
    }
    return err == OK ? stream_reply_end(call->stream) : err;
}

void learning_service_backtest_stopped(struct learning_service_backtest_call *call)
{
    call->stream->state = NULL; /* allocated in the call's arena */
}
