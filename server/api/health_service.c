/*
 * health_service.c: grpc.health.v1: Check, and Watch, which sends the present state and then each
 * change. "" is the server (reads are answered), "errata.write" whether writes are taken,
 * "errata.pdf" whether documents are measured, "errata.admin" whether a token can administer the
 * server for at least 14 more days, "errata.tokens" whether no token ends in that time without a successor,
 * "errata.clock" whether the clock agrees with the log, "errata.redis" whether a configured stream of decisions is read, and
 * "errata.embedder" whether a model compares texts.
 */
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include <grpc/health/v1/health.handlers.h>
#include <grpc/health/v1/health.views.h>

static void append_status(struct buffer *body, enum health_status status)
{
    const struct health_check_response_view response = {.status = (int32_t)status};

    health_check_response_view_write(&response, body);
}

enum err grpc_health_v1_health_check_read(struct grpc_health_v1_health_check_call *call)
{
    struct slice name = slice_text(call->request->service);
    enum health_part part = HEALTH_PART_SERVER;

    if (!env_find_part(name, &part)) {
        struct slice shown = fault_shorten(call->ctx->fault, name);

        return fault_say(call->ctx->fault, ERR_NOT_FOUND,
                         "service: unknown service '%.*s'; expected \"\", \"errata.write\", "
                         "\"errata.pdf\", \"errata.admin\", \"errata.tokens\", \"errata.clock\", "
                         "\"errata.redis\" or \"errata.embedder\"",
                         (int)shown.size, (const char *)shown.data);
    }
    append_status(call->body, call->service->env->health[part]);
    return OK;
}

/* The state that was last sent to a watcher. */
struct watch {
    bool known;
    enum health_part part;
    bool sent;
    enum health_status status;
};

enum err grpc_health_v1_health_watch_start(struct grpc_health_v1_health_watch_call *call)
{
    struct watch *watch = (struct watch *)arena_calloc(call->ctx->arena, 1, sizeof(*watch));

    if (watch == NULL) {
        return ERR_MEMORY;
    }
    watch->known = env_find_part(slice_text(call->request->service), &watch->part);
    call->stream->state = watch;
    return OK;
}

enum err grpc_health_v1_health_watch_writable(struct grpc_health_v1_health_watch_call *call)
{
    struct watch *watch = (struct watch *)call->stream->state;
    enum health_status status = HEALTH_SERVICE_UNKNOWN;
    struct buffer *reply = NULL;
    enum err err = OK;

    if (watch->known) {
        status = call->service->env->health[watch->part];
    }
    if (watch->sent && watch->status == status) {
        stream_wait_for_events(call->stream);
        return OK;
    }
    if (!stream_wants(call->stream)) {
        return OK;
    }
    watch->sent = true;
    watch->status = status;
    reply = stream_reply_begin(call->stream, 8);
    append_status(reply, status);
    err = stream_reply_end(call->stream);
    if (err == OK) {
        stream_wait_for_events(call->stream);
    }
    return err;
}

void grpc_health_v1_health_watch_stopped(struct grpc_health_v1_health_watch_call *call)
{
    call->stream->state = NULL; /* allocated in the call's arena */
}
