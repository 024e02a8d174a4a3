/*
 * call.c: the calls of a server: how they begin and end, and the operations that services and
 * protocols have on them. Independent of the wire format.
 */
#include "server/call/call_internal.h"
#include "server/call/status.h"
#include "server/call/status_details.h"
#include "store/base/assert.h"
#include "store/base/fault_point.h"

#include <stdlib.h>

/* Keeps a call's memory for reuse, once it is over or if it was not started. */
static void call_keep(struct call_server *server, struct call_core *core)
{
    core->next = server->pool;
    server->pool = core;
    server->pool_count++;
}

struct call_core *call_open(struct call_server *server, const struct call_protocol *protocol)
{
    struct call_core *core = server->pool;

    if (server->stats.calls_live >= server->config.live_max) {
        return NULL;
    }
    if (core != NULL) {
        server->pool = core->next;
        server->pool_count--;
    } else {
        core = FAULT("call.open") ? NULL : malloc(sizeof(*core));
        if (core == NULL) {
            return NULL;
        }
        arena_init(&core->arena, server->config.arena_bytes_max);
        arena_init(&core->reply_arenas[0], server->config.arena_bytes_max);
        arena_init(&core->reply_arenas[1], server->config.arena_bytes_max);
        arena_init(&core->input_arena, server->config.arena_bytes_max);
        arena_init(&core->held_arena, CALL_HELD_BYTES_MAX);
    }
    memset(core, 0, offsetof(struct call_core, arena));
    core->state = arena_calloc(&core->arena, 1, protocol->state_bytes + 1);
    if (core->state == NULL) {
        call_keep(server, core);
        return NULL;
    }
    core->call.arena = &core->arena;
    core->call.deadline_us = INT64_MAX;
    core->call.number = ++server->next_number;
    core->server = server;
    core->protocol = protocol;
    core->timer_slot = -1;
    core->call.started_us = server->now_us;
    core->input.progress_us = server->now_us;
    core->pieces_end = &core->pieces;
    core->next = server->live;
    if (server->live != NULL) {
        server->live->previous = core;
    }
    server->live = core;
    server->stats.calls_live++;
    return core;
}

static void call_deinit_stream(struct call_core *core)
{
    arena_deinit(&core->reply_arenas[0]);
    arena_deinit(&core->reply_arenas[1]);
    arena_deinit(&core->input_arena);
    arena_deinit(&core->held_arena);
}

void call_free_memory(struct call_core *core)
{
    arena_deinit(&core->arena);
    call_deinit_stream(core);
    free(core);
}

static void call_release(struct call_core *core)
{
    struct call_server *server = core->server;

    call_timer_stop(core);
    if (core->previous != NULL) {
        core->previous->next = core->next;
    } else {
        server->live = core->next;
    }
    if (core->next != NULL) {
        core->next->previous = core->previous;
    }
    ASSERT(server->stats.calls_live > 0);
    server->stats.calls_live--;
    ASSERT(server->body_bytes >= core->input.budget_bytes);
    server->body_bytes -= core->input.budget_bytes;
    if (server->pool_count >= CALL_POOL_MAX) {
        call_free_memory(core);
        return;
    }
    arena_reset_by(&core->arena, server->config.run_on_pool, server->config.pool_user);
    if ((core->call.method != NULL && core->call.method->stream != METHOD_UNARY) ||
        core->held.arena != NULL) {
        call_deinit_stream(core);
    }
    call_keep(server, core);
}

void call_release_when_done(struct call_core *core)
{
    if (core->closed && (core->finished || !core->started) &&
        core->inflation.state != CALL_INFLATION_RUNS) {
        call_release(core);
    }
}

void call_cancel(struct call_core *core, enum err why)
{
    const struct call_handlers *handlers = core->server->config.handlers;

    if (!core->started || core->finished || core->call.cancelled) {
        return;
    }
    core->call.cancelled = true;
    handlers->on_cancel(handlers->user, &core->call, why);
}

void call_let_go(struct call_core *core)
{
    ASSERT(!core->closed);
    core->stream = NULL;
    if (core->started && !core->finished && !core->ended) {
        core->server->stats.calls_cancelled++;
        core->server->stats.calls_ended[STATUS_CANCELLED]++;
        core->ended = true;
        call_timer_stop(core); /* the services may hold the call past its deadline */
    }
    call_inflation_let_go(core);
    call_share_leave(core);
    call_share_take(core, core->output_bytes);
    core->share = NULL;
    call_cancel(core, ERR_CANCELLED);
    core->closed = true;
    call_release_when_done(core);
}

static void call_take_authorization(struct call_core *core, struct slice value)
{
    if (core->call.authorization.data != NULL) {
        core->call.authorization_repeated = true;
    } else {
        core->call.authorization = value;
    }
}

enum err call_take_metadata(struct call_core *core, struct slice name, struct slice value)
{
    struct call_metadata_field *field = NULL;
    size_t size = sizeof(*field) + name.size + value.size;
    uint8_t *bytes = NULL;

    field = arena_alloc(&core->arena, size);
    if (field == NULL) {
        return ERR_MEMORY;
    }
    bytes = (uint8_t *)(field + 1);
    memcpy(bytes, name.data, name.size);
    field->name = slice_of(bytes, name.size);
    bytes += name.size;
    if (value.size > 0) {
        memcpy(bytes, value.data, value.size);
    }
    field->value = slice_of(bytes, value.size);
    field->next = core->metadata;
    core->metadata = field;
    if (slice_equal(name, SLICE("authorization"))) {
        call_take_authorization(core, field->value);
    }
    return OK;
}

bool call_metadata(const struct call *call, struct slice key, struct slice *ret_value)
{
    const struct call_core *core = (const struct call_core *)call;
    const struct call_metadata_field *found = NULL;

    /* The list is newest first, but the field that was sent first is returned. */
    for (const struct call_metadata_field *at = core->metadata; at != NULL; at = at->next) {
        if (slice_equal(at->name, key)) {
            found = at;
        }
    }
    if (found == NULL) {
        return false;
    }
    if (core->protocol->read_value != NULL) {
        return core->protocol->read_value(call->arena, key, found->value, ret_value);
    }
    *ret_value = found->value;
    return true;
}

struct slice call_without_prefix(const struct call_server *server, struct slice path)
{
    struct slice prefix = server->config.path_prefix;
    bool has_it = prefix.size > 0 && path.size > prefix.size && slice_starts_with(path, prefix) &&
                  path.data[prefix.size] == '/';

    return has_it ? slice_after(path, prefix.size) : path;
}

const struct method_info *call_find_method(struct call_server *server, struct slice path)
{
    if (server->recent_method == NULL || !slice_equal(server->recent_method->path, path)) {
        server->recent_method = server->config.find_method(path);
    }
    return server->recent_method;
}

void call_start(struct call_core *core)
{
    const struct call_handlers *handlers = core->server->config.handlers;

    core->started = true;
    core->server->stats.calls_started++;
    call_timer_start(core);
    handlers->on_start(handlers->user, &core->call);
}

void call_start_within(struct call_core *core, int64_t timeout_us)
{
    if (timeout_us == INT64_MAX && core->call.method->default_deadline_ms > 0) {
        timeout_us = (int64_t)core->call.method->default_deadline_ms * 1000;
    }
    if (timeout_us != INT64_MAX) {
        core->call.deadline_us = core->call.started_us + timeout_us;
    }
    if (core->call.deadline_us <= core->server->now_us) {
        core->server->stats.calls_expired++;
        call_refuse_err(core, ERR_DEADLINE, NULL);
        return;
    }
    call_start(core);
}

void call_deliver(struct call_core *core, struct slice message)
{
    const struct call_handlers *handlers = core->server->config.handlers;

    if (!core->finished && !core->call.cancelled) {
        handlers->on_message(handlers->user, &core->call, message);
    }
}

void call_deliver_end(struct call_core *core)
{
    const struct call_handlers *handlers = core->server->config.handlers;

    if (!core->finished && !core->call.cancelled && !core->half_closed) {
        core->half_closed = true;
        handlers->on_half_close(handlers->user, &core->call);
    }
}

void call_end(struct call_core *core, enum status_code code)
{
    ASSERT(!core->ended);
    ASSERT(code <= STATUS_UNAUTHENTICATED);
    core->ended = true;
    core->status.code = code;
    core->server->stats.calls_ended[code]++;
    call_timer_stop(core);
    call_inflation_stop(core);
}

void call_fail(struct call_core *core, enum err err, struct slice message)
{
    struct buffer details;

    core->status.message = message;
    core->status.details = slice_of(NULL, 0);
    if (core->server->config.sends_reasons) {
        core->status.retry_ms = err_retry_ms(err);
        status_details_begin(&core->arena, err, core->status.retry_ms, slice_of(NULL, 0), message,
                             &details);
        core->status.details = buffer_ok(&details) ? buffer_slice(&details) : slice_of(NULL, 0);
    }
    call_end(core, err_status(err));
}

/* Discards what the services have sent, before an error of the transport. */
static void call_refusal_begin(struct call_core *core)
{
    if (!core->started) {
        core->server->stats.calls_refused++;
    }
    (void)call_output_drop(core);
}

static void call_refusal_end(struct call_core *core)
{
    core->protocol->finished(core);
    call_cancel(core, ERR_CANCELLED);
}

void call_refuse(struct call_core *core, enum err err, struct slice message)
{
    if (core->ended) {
        return;
    }
    call_refusal_begin(core);
    call_fail(core, err, message);
    call_refusal_end(core);
}

void call_refuse_fault(struct call_core *core, enum err err, const struct fault *fault)
{
    struct status status;

    if (core->ended) {
        return;
    }
    call_refusal_begin(core);
    status = status_of(&core->arena, err, fault);
    if (!core->server->config.sends_reasons) {
        status.details = slice_of(NULL, 0);
        status.retry_ms = 0;
    }
    core->status = status;
    call_end(core, status.code);
    call_refusal_end(core);
}

void call_refuse_text(struct call_core *core, enum err err, struct slice text)
{
    call_refuse(core, err, text.size > 0 ? text : slice_text(err_text(err)));
}

void call_refuse_err(struct call_core *core, enum err err, const char *message)
{
    call_refuse(core, err, slice_text(message != NULL ? message : err_text(err)));
}

static bool call_status_copy(struct call_core *core, const struct status *status)
{
    struct slice message = {NULL, 0};
    struct slice details = {NULL, 0};

    if (status->message.size > 0 && !arena_copy(&core->arena, status->message, &message)) {
        return false;
    }
    if (status->details.size > 0 && !arena_copy(&core->arena, status->details, &details)) {
        return false;
    }
    core->status.message = message;
    core->status.details = details;
    return true;
}

void call_finish(struct call *call, const struct status *status)
{
    struct call_core *core = call_core_of(call);
    enum status_code code = status->code;

    ASSERT(core->started);
    ASSERT(!core->finished);
    core->finished = true;
    core->reply_open = false;
    core->message_held = false;
    if (!core->ended) {
        /* If memory for the texts is exhausted, the status is sent without them. */
        (void)call_status_copy(core, status);
        core->status.retry_ms = status->retry_ms;
        /* A successful call with one reply must have it; none of it has been sent yet. */
        if (code == STATUS_OK && method_has_one_reply(call->method) &&
            UNEXPECTED(core->pieces == NULL)) {
            code = STATUS_INTERNAL;
        }
        if (code != STATUS_OK && method_has_one_reply(call->method)) {
            (void)call_output_drop(core);
        }
        call_end(core, code);
        core->protocol->finished(core);
    }
    call_drop_inflated(core);
    call_release_when_done(core);
}

static void call_add_field(struct call_core *core, struct call_field *fields, uint32_t *count,
                           const struct call_field *field)
{
    struct call_field *copy = &fields[*count];

    if (*count >= CALL_ADDED_MAX || core->ended ||
        !arena_copy(&core->arena, field->name, &copy->name) ||
        !arena_copy(&core->arena, field->value, &copy->value)) {
        core->server->stats.metadata_dropped++;
        return;
    }
    (*count)++;
}

void call_add_leading(struct call *call, struct slice key, struct slice value)
{
    struct call_core *core = call_core_of(call);
    const struct call_field field = {key, value};

    call_add_field(core, core->leading, &core->leading_count, &field);
}

void call_add_trailing(struct call *call, struct slice key, struct slice value)
{
    struct call_core *core = call_core_of(call);
    const struct call_field field = {key, value};

    call_add_field(core, core->trailing, &core->trailing_count, &field);
}
