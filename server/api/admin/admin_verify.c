/*
 * admin_verify.c: AdminService/Verify: a stream that reports the progress of the verification whenever that
 * has changed, and ends with what was found. A slow reader misses steps in between, never the report.
 */
#include "server/pipeline/service.h"

#include "store/base/hex.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/admin_service.pb-c.h>

struct verifying {
    uint64_t sent_version; /* of the last state that was sent; 0: none */
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
                         "authorization: the token lacks the server flag; expected one with it to "
                         "verify the store");
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

static enum err send(struct stream *stream, const Errata__V1__VerifyResponse *response)
{
    struct buffer *reply =
        stream_reply_begin(stream, protobuf_c_message_get_packed_size(&response->base));
    enum err err = reply_message(reply, &response->base);

    return err != OK ? err : stream_reply_end(stream);
}

static enum err send_progress(struct stream *stream, const struct verify_state *state)
{
    static const Errata__V1__VerifyStep steps[] = {
        [VERIFY_AT_COPY] = ERRATA__V1__VERIFY_STEP__VERIFY_STEP_COPY,
        [VERIFY_AT_CHECK] = ERRATA__V1__VERIFY_STEP__VERIFY_STEP_CHECK,
        [VERIFY_AT_REPLAY] = ERRATA__V1__VERIFY_STEP__VERIFY_STEP_REPLAY,
        [VERIFY_AT_COMPARE] = ERRATA__V1__VERIFY_STEP__VERIFY_STEP_COMPARE,
    };
    Errata__V1__VerifyProgress progress = ERRATA__V1__VERIFY_PROGRESS__INIT;
    Errata__V1__VerifyResponse response = ERRATA__V1__VERIFY_RESPONSE__INIT;

    progress.step = steps[state->stage];
    progress.copied_bytes = state->copied_bytes;
    progress.copied_bytes_total = state->copied_bytes_total;
    progress.events = state->events;
    progress.events_total = state->events_total;
    progress.rows = state->rows;
    response.message_case = ERRATA__V1__VERIFY_RESPONSE__MESSAGE_PROGRESS;
    response.progress = &progress;
    return send(stream, &response);
}

static Errata__V1__VerifyBrokenEvent *broken_event(struct arena *arena,
                                                   const struct replay_report *report)
{
    Errata__V1__VerifyBrokenEvent *broken =
        (Errata__V1__VerifyBrokenEvent *)arena_alloc(arena, sizeof(*broken));
    char *org = (char *)arena_calloc(arena, 1, UUID_TEXT_BYTES + 1);

    if (broken == NULL || org == NULL) {
        return NULL;
    }
    errata__v1__verify_broken_event__init(broken);
    uuid_format(report->broken_org.uuid, org);
    broken->org_id = org;
    broken->seq = report->broken_seq;
    broken->reason = (char *)(uintptr_t)replay_break_text(report->broken_by);
    return broken;
}

static Errata__V1__VerifyDifference *difference(struct arena *arena,
                                                const struct replay_difference *from)
{
    static const Errata__V1__VerifyDifferenceKind kinds[] = {
        [REPLAY_ROW_MISSING] = ERRATA__V1__VERIFY_DIFFERENCE_KIND__VERIFY_DIFFERENCE_KIND_MISSING,
        [REPLAY_ROW_EXTRA] = ERRATA__V1__VERIFY_DIFFERENCE_KIND__VERIFY_DIFFERENCE_KIND_EXTRA,
        [REPLAY_ROW_OTHER] = ERRATA__V1__VERIFY_DIFFERENCE_KIND__VERIFY_DIFFERENCE_KIND_OTHER,
    };
    Errata__V1__VerifyDifference *row =
        (Errata__V1__VerifyDifference *)arena_alloc(arena, sizeof(*row));
    char *hex = (char *)arena_calloc(arena, 2 * from->key_bytes + 1, 1);

    if (row == NULL || hex == NULL) {
        return NULL;
    }
    errata__v1__verify_difference__init(row);
    for (size_t i = 0; i < from->key_bytes; i++) {
        hex[2 * i] = hex_digit(from->key[i] >> 4);
        hex[2 * i + 1] = hex_digit(from->key[i]);
    }
    row->kind = kinds[from->kind];
    row->table = (char *)(uintptr_t)store_table_name(from->table);
    row->key_hex = hex;
    return row;
}

static enum err put_differences(struct arena *arena, const struct replay_report *from,
                                Errata__V1__VerifyReport *report)
{
    size_t count = from->difference_count < REPLAY_DIFFERENCES_MAX ? (size_t)from->difference_count
                                                                   : REPLAY_DIFFERENCES_MAX;

    report->difference_count = from->difference_count;
    if (count == 0) {
        return OK;
    }
    report->differences = (Errata__V1__VerifyDifference **)arena_calloc(
        arena, count, sizeof(Errata__V1__VerifyDifference *));
    if (report->differences == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        report->differences[i] = difference(arena, &from->differences[i]);
        if (report->differences[i] == NULL) {
            return ERR_MEMORY;
        }
        report->n_differences++;
    }
    return OK;
}

static enum err send_report(struct arena *arena, struct stream *stream,
                            const struct verify_state *state)
{
    const struct replay_report *from = &state->report;
    Errata__V1__VerifyReport report = ERRATA__V1__VERIFY_REPORT__INIT;
    Errata__V1__VerifyResponse response = ERRATA__V1__VERIFY_RESPONSE__INIT;
    enum err err = put_differences(arena, from, &report);

    report.clean = !state->damaged && replay_is_clean(from);
    report.organizations = from->organizations;
    report.events = from->events;
    report.rows = from->rows;
    report.broken_organizations = from->broken_count;
    if (state->damaged) {
        report.damage = (char *)(uintptr_t)state->why;
    }
    if (err == OK && from->broken_count > 0) {
        report.broken_event = broken_event(arena, from);
        err = report.broken_event != NULL ? OK : ERR_MEMORY;
    }
    response.message_case = ERRATA__V1__VERIFY_RESPONSE__MESSAGE_REPORT;
    response.report = &report;
    return err != OK ? err : send(stream, &response);
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
        return state->why[0] != '\0' ? fault_say(call->ctx->fault, state->err, "%s", state->why)
                                     : state->err;
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
