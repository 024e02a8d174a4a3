/*
 * admin_backup.c: AdminService/Backup: the bytes of a backup as they come, as fast as the peer reads, and
 * at last their size and checksum.
 */
#include "server/api/admin/admin_wire.h"
#include "server/pipeline/service.h"

#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/admin_service.pb-c.h>

/* Of a message, beside its data. */
#define MESSAGE_REST_BYTES 64

struct backing_up {
    uint64_t sent_bytes;
};

enum err admin_service_backup_start(struct admin_service_backup_call *call)
{
    const struct backup_jobs *jobs = call->service->backup;
    struct backing_up *backing_up = NULL;
    enum err err = OK;

    if (jobs == NULL) {
        return fault_say(
            call->ctx->fault, ERR_UNIMPLEMENTED,
            "store: this server's store has no backups; expected a server with a store on disk");
    }
    if (!call->service->principal->server) {
        return fault_say(call->ctx->fault, ERR_DENIED,
                         "authorization: the token lacks the server flag; expected one with it to "
                         "back up the store");
    }
    backing_up = (struct backing_up *)arena_calloc(call->ctx->arena, 1, sizeof(*backing_up));
    if (backing_up == NULL) {
        return ERR_MEMORY;
    }
    err = jobs->start(jobs->user, call->org, call->ctx->fault);
    if (err == OK) {
        call->stream->state = backing_up;
    }
    return err;
}

static enum err send(struct stream *stream, size_t likely_bytes,
                     const Errata__V1__BackupResponse *response)
{
    struct buffer *reply = stream_reply_begin(stream, likely_bytes);
    enum err err = reply_message(reply, &response->base);

    return err != OK ? err : stream_reply_end(stream);
}

static enum err send_data(struct stream *stream, struct slice data,
                          const struct backup_state *state)
{
    struct backing_up *backing_up = (struct backing_up *)stream->state;
    Errata__V1__BackupProgress progress = ERRATA__V1__BACKUP_PROGRESS__INIT;
    Errata__V1__BackupResponse response = ERRATA__V1__BACKUP_RESPONSE__INIT;

    backing_up->sent_bytes += data.size;
    progress.sent_bytes = backing_up->sent_bytes;
    progress.total_bytes =
        state->total_bytes > progress.sent_bytes ? state->total_bytes : progress.sent_bytes;
    response.progress = &progress;
    response.data.data = (uint8_t *)(uintptr_t)data.data;
    response.data.len = data.size;
    return send(stream, data.size + MESSAGE_REST_BYTES, &response);
}

static enum err send_report(struct arena *arena, struct stream *stream,
                            const struct backup_state *state)
{
    char sha256_text[2 * SHA256_BYTES + 1] = "";
    Errata__V1__BackupReport report = ERRATA__V1__BACKUP_REPORT__INIT;
    Errata__V1__BackupResponse response = ERRATA__V1__BACKUP_RESPONSE__INIT;

    sha256_format(&state->file_sha256, sha256_text);
    report.size_bytes = state->file_bytes;
    report.sha256 = sha256_text;
    report.format_version = state->format_version;
    report.created_at = admin_wire_time(arena, state->created_at_us);
    if (report.created_at == NULL) {
        return ERR_MEMORY;
    }
    response.report = &report;
    return send(stream, MESSAGE_REST_BYTES + sizeof(sha256_text), &response);
}

static enum err finish(struct service *service, struct stream *stream,
                       const struct backup_state *state)
{
    if (state->err == OK) {
        stream_finish(stream);
        return send_report(service->ctx->arena, stream, state);
    }
    return state->why[0] != '\0' ? fault_say(service->ctx->fault, state->err, "%s", state->why)
                                 : state->err;
}

enum err admin_service_backup_writable(struct admin_service_backup_call *call)
{
    const struct backup_jobs *jobs = call->service->backup;
    const struct backup_state *state = jobs->state(jobs->user);
    enum err err = OK;

    if (state->ended && state->err != OK) {
        return finish(call->service, call->stream, state); /* also where the peer reads nothing */
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
