/*
 * admin_backup.c: AdminService/Backup: streams the bytes of a backup as fast as the peer reads, and
 * finally their size and checksum.
 */
#include "server/domain/replay/position.h"
#include "server/pipeline/service.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/admin_service.views.h>

/* Overhead of a message in addition to its data. */
#define MESSAGE_REST_BYTES 64

struct backing_up {
    uint64_t sent_bytes;
};

enum err admin_service_backup_start(struct admin_service_backup_call *call)
{
    const struct backup_jobs *jobs = call->service->backup;
    struct slice since = slice_of(call->request->since.data, call->request->since.len);
    struct backing_up *backing_up = NULL;
    enum err err = OK;

    if (jobs == NULL) {
        return fault_say(
            call->ctx->fault, ERR_UNIMPLEMENTED,
            "store: this server's store has no backups; expected a server with a store on disk");
    }
    if (!call->service->principal->server) {
        return fault_say(call->ctx->fault, ERR_DENIED,
                         "authorization: the token lacks the server flag; expected a token with "
                         "the flag to back up the store");
    }
    if (!position_is_valid(since)) {
        fault_add(call->ctx->fault, SLICE("since"),
                  "not a position; expected that of the report of an earlier backup");
        return ERR_INVALID;
    }
    backing_up = (struct backing_up *)arena_calloc(call->ctx->arena, 1, sizeof(*backing_up));
    if (backing_up == NULL) {
        return ERR_MEMORY;
    }
    err = jobs->start(jobs->user, call->org, since, call->ctx->fault);
    if (err == OK) {
        call->stream->state = backing_up;
    }
    return err;
}

static enum err send_data(struct stream *stream, struct slice data,
                          const struct backup_state *state)
{
    struct backing_up *backing_up = (struct backing_up *)stream->state;
    struct buffer *reply = stream_reply_begin(stream, data.size + MESSAGE_REST_BYTES);
    const struct backup_response_view response = {.data = data};
    struct backup_progress_view progress = {.total_bytes = state->total_bytes};

    backing_up->sent_bytes += data.size;
    progress.sent_bytes = backing_up->sent_bytes;
    if (progress.total_bytes < progress.sent_bytes) {
        progress.total_bytes = progress.sent_bytes;
    }
    backup_progress_view_put(&progress, BACKUP_RESPONSE_PROGRESS_FIELD, reply);
    backup_response_view_write(&response, reply);
    return stream_reply_end(stream);
}

static enum err send_report(struct stream *stream, const struct backup_state *state)
{
    char sha256_text[2 * SHA256_BYTES + 1] = "";
    struct buffer *reply =
        stream_reply_begin(stream, MESSAGE_REST_BYTES + sizeof(sha256_text) + state->position.size);
    const struct backup_report_view report = {
        .size_bytes = state->file_bytes,
        .sha256 = slice_of(sha256_text, sizeof(sha256_text) - 1),
        .created_at_us = state->created_at_us,
        .has_created_at = true,
        .format_version = state->format_version,
        .position = state->position,
    };

    sha256_format(&state->file_sha256, sha256_text);
    backup_report_view_put(&report, BACKUP_RESPONSE_REPORT_FIELD, reply);
    return stream_reply_end(stream);
}

static enum err finish(struct service *service, struct stream *stream,
                       const struct backup_state *state)
{
    if (state->err == OK) {
        stream_finish(stream);
        return send_report(stream, state);
    }
    return fault_say(service->ctx->fault, state->err, "%s", state->why);
}

enum err admin_service_backup_writable(struct admin_service_backup_call *call)
{
    const struct backup_jobs *jobs = call->service->backup;
    const struct backup_state *state = jobs->state(jobs->user);
    enum err err = OK;

    if (state->ended && state->err != OK) {
        return finish(call->service, call->stream,
                      state); /* also called if the peer reads nothing */
    }
    while (err == OK && stream_wants(call->stream)) {
        struct slice data = jobs->take(jobs->user);

        if (data.size == 0 && state->ended) {
            return finish(call->service, call->stream, state);
        }
        if (data.size == 0) {
            stream_wait_for_events(call->stream);
            return OK;
        }
        err = send_data(call->stream, data, state);
    }
    return err;
}

void admin_service_backup_stopped(struct admin_service_backup_call *call)
{
    const struct backup_jobs *jobs = call->service->backup;

    jobs->cancel(jobs->user);
}
