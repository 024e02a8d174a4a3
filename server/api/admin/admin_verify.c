/*
 * admin_verify.c: AdminService/Verify: a stream that reports the progress of the verification
 * whenever it has changed, and ends with the report. A slow reader may miss progress messages, but
 * never the report.
 */
#include "server/pipeline/service.h"

#include "store/base/hex.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/admin_service.views.h>

struct verifying {
    uint64_t sent_version; /* version of the last sent state; 0: none */
};

enum err admin_service_verify_start(struct admin_service_verify_call *call)
{
    const struct verify_jobs *jobs = call->service->verify;
    struct verifying *verifying = NULL;
    enum err err = OK;

    if (jobs == NULL) {
        return fault_say(call->ctx->fault, ERR_UNIMPLEMENTED,
                         "store: this server's store cannot be verified; expected a server with a "
                         "store on disk");
    }
    if (!call->service->principal->server) {
        return fault_say(call->ctx->fault, ERR_DENIED,
                         "authorization: the token lacks the server flag; expected a token with "
                         "the flag to verify the store");
    }
    verifying = (struct verifying *)arena_calloc(call->ctx->arena, 1, sizeof(*verifying));
    if (verifying == NULL) {
        return ERR_MEMORY;
    }
    err = jobs->start(jobs->user, call->org, call->ctx->fault);
    if (err == OK) {
        call->stream->state = verifying;
    }
    return err;
}

static enum err send_progress(struct stream *stream, const struct verify_state *state)
{
    static const enum verify_step steps[] = {
        [VERIFY_AT_COPY] = VERIFY_STEP_COPY,
        [VERIFY_AT_CHECK] = VERIFY_STEP_CHECK,
        [VERIFY_AT_REPLAY] = VERIFY_STEP_REPLAY,
        [VERIFY_AT_COMPARE] = VERIFY_STEP_COMPARE,
    };
    const struct verify_progress_view progress = {
        .step = steps[state->stage],
        .copied_bytes = state->copied_bytes,
        .copied_bytes_total = state->copied_bytes_total,
        .events = state->events,
        .events_total = state->events_total,
        .rows = state->rows,
    };
    struct buffer *reply =
        stream_reply_begin(stream, verify_progress_view_bytes(&progress) + WIRE_OVERHEAD_BYTES);

    verify_progress_view_put(&progress, VERIFY_RESPONSE_PROGRESS_FIELD, reply);
    return stream_reply_end(stream);
}

static enum err encode_broken_event(struct arena *arena, const struct replay_report *from,
                                    struct verify_report_view *report)
{
    char org_id[UUID_TEXT_BYTES];
    const struct verify_broken_event_view broken = {
        .org_id = slice_of(org_id, sizeof(org_id)),
        .seq = from->broken_seq,
        .reason = slice_text(replay_break_text(from->broken_by)),
    };

    uuid_format(from->broken_org.uuid, org_id);
    report->has_broken_event = true;
    return view_encode(&verify_broken_event_view_type, &broken, arena, &report->broken_event)
               ? OK
               : ERR_MEMORY;
}

static void put_difference(const struct replay_difference *from, struct buffer *run)
{
    static const enum verify_difference_kind kinds[] = {
        [REPLAY_ROW_MISSING] = VERIFY_DIFFERENCE_KIND_MISSING,
        [REPLAY_ROW_EXTRA] = VERIFY_DIFFERENCE_KIND_EXTRA,
        [REPLAY_ROW_OTHER] = VERIFY_DIFFERENCE_KIND_OTHER,
    };
    char hex[2 * sizeof(from->key)];
    const struct verify_difference_view difference = {
        .kind = kinds[from->kind],
        .table = slice_text(store_table_name(from->table)),
        .key_hex = slice_of(hex, 2 * from->key_bytes),
    };

    for (size_t i = 0; i < from->key_bytes; i++) {
        hex[2 * i] = hex_digit(from->key[i] >> 4);
        hex[2 * i + 1] = hex_digit(from->key[i]);
    }
    verify_difference_view_put(&difference, VERIFY_REPORT_DIFFERENCES_FIELD, run);
}

static enum err encode_differences(struct arena *arena, const struct replay_report *from,
                                   struct verify_report_view *report)
{
    size_t count = from->difference_count < REPLAY_DIFFERENCES_MAX ? (size_t)from->difference_count
                                                                   : REPLAY_DIFFERENCES_MAX;
    struct buffer run;

    buffer_init(&run, arena, count * sizeof(struct replay_difference));
    for (size_t i = 0; i < count; i++) {
        put_difference(&from->differences[i], &run);
    }
    report->difference_count = from->difference_count;
    report->differences.run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static enum err send_report(struct arena *arena, struct stream *stream,
                            const struct verify_state *state)
{
    const struct replay_report *from = &state->report;
    struct verify_report_view report = {
        .clean = !state->damaged && replay_is_clean(from),
        .organizations = from->organizations,
        .events = from->events,
        .rows = from->rows,
        .damage = state->damaged ? slice_text(state->why) : slice_of(NULL, 0),
        .broken_organizations = from->broken_count,
    };
    struct buffer *reply = NULL;
    enum err err = encode_differences(arena, from, &report);

    if (err == OK && from->broken_count > 0) {
        err = encode_broken_event(arena, from, &report);
    }
    if (err != OK) {
        return err;
    }
    reply = stream_reply_begin(stream, verify_report_view_bytes(&report) + WIRE_OVERHEAD_BYTES);
    verify_report_view_put(&report, VERIFY_RESPONSE_REPORT_FIELD, reply);
    return stream_reply_end(stream);
}

enum err admin_service_verify_writable(struct admin_service_verify_call *call)
{
    const struct verify_jobs *jobs = call->service->verify;
    struct verifying *verifying = (struct verifying *)call->stream->state;
    const struct verify_state *state = jobs->state(jobs->user);

    if (!stream_wants(call->stream)) {
        return OK;
    }
    if (state->ended && state->err == OK) {
        stream_finish(call->stream);
        return send_report(call->ctx->arena, call->stream, state);
    }
    if (state->ended) {
        return fault_say(call->ctx->fault, state->err, "%s", state->why);
    }
    stream_wait_for_events(call->stream);
    if (state->version == verifying->sent_version) {
        return OK;
    }
    verifying->sent_version = state->version;
    return send_progress(call->stream, state);
}

void admin_service_verify_stopped(struct admin_service_verify_call *call)
{
    const struct verify_jobs *jobs = call->service->verify;

    jobs->cancel(jobs->user);
}
