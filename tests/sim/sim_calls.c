/*
 * sim_calls.c: a call through the library's channel, from its start to its one end.
 */
#include "store/base/assert.h"
#include "tests/sim/sim_crowd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sim_call *sim_call_new(struct sim_member *member, enum sim_op op, const char *path)
{
    struct sim *sim = member->caller.sim;
    struct sim_crowd *crowd = sim->crowd;
    struct sim_call *call = calloc(1, sizeof(*call));

    ASSERT(call != NULL);
    call->member = member;
    call->op = op;
    call->method = contract_find_method(slice_text(path));
    ASSERT(call->method != NULL);
    call->number = ++crowd->call_count;
    call->strict = crowd->settled;
    call->was_revoked = member->revoked;
    call->next = crowd->calls;
    crowd->calls = call;
    return call;
}

static void on_reply(void *user, struct slice message)
{
    struct sim_call *call = user;
    struct sim *sim = call->member->caller.sim;

    if (call->ended) {
        sim_fail(sim, "call %" PRIu64 " got a reply after its end", call->number);
        return;
    }
    call->replies++;
    sim_check_bytes(&call->member->caller, message, "a reply");
    sim_judge_reply(call, message);
    free(call->reply);
    call->reply = malloc(message.size + 1);
    ASSERT(call->reply != NULL);
    if (message.size > 0) {
        memcpy(call->reply, message.data, message.size);
    }
    call->reply_bytes = message.size;
}

static bool is_watch(const struct sim_call *call)
{
    return call->op == SIM_WATCH || call->op == SIM_HEALTH_WATCH;
}

static void on_end(void *user, const struct client_status *status)
{
    struct sim_call *call = user;
    struct sim *sim = call->member->caller.sim;

    if (call->ended) {
        sim_fail(sim, "call %" PRIu64 " ended twice", call->number);
        return;
    }
    call->ended = true;
    call->handle = NULL;
    call->member->calls_under_way--;
    sim->crowd->under_way -= !is_watch(call);
    sim->counts[SIM_ANSWERS] += status->code == 0;
    sim_trace(sim, "call %" PRIu64 " of caller %u: %.*s ends with %u after %u attempts: %.*s",
              call->number, call->member->caller.number, (int)call->method->name.size,
              (const char *)call->method->name.data, status->code, status->attempts,
              (int)status->message.size, (const char *)status->message.data);
    sim_check_bytes(&call->member->caller, status->message, "a status");
    sim_check_bytes(&call->member->caller, status->details, "a status' details");
    if (call->write != NULL) {
        call->write->under_way--;
    }
    sim_judge_end(call, status);
}

static void on_writable(void *user)
{
    struct sim_call *call = user;

    if (!call->ended && call->op == SIM_INGEST_STREAM) {
        sim_send_document(call);
    }
}

static void on_cancel(struct sim *sim, void *object, uint64_t number)
{
    struct sim_call *call = object;

    (void)number;
    if (!call->ended && call->handle != NULL) {
        sim_trace(sim, "call %" PRIu64 ": its caller gives it up", call->number);
        call->cancelled = true;
        client_call_cancel(call->member->caller.channel, call->handle);
    }
}

static void on_resume(struct sim *sim, void *object, uint64_t number)
{
    struct sim_call *call = object;

    (void)sim;
    (void)number;
    if (call->paused && !call->ended && call->handle != NULL) {
        call->paused = false;
        client_call_resume(call->member->caller.channel, call->handle);
    }
}

/* A caller who watches does not read for a while: the server has to wait for it. */
static void on_pause(struct sim *sim, void *object, uint64_t number)
{
    struct sim_call *call = object;

    (void)number;
    if (!sim->calm && !call->ended && call->handle != NULL) {
        sim_trace(sim, "call %" PRIu64 ": its caller does not read", call->number);
        call->paused = true;
        client_call_pause(call->member->caller.channel, call->handle);
        sim_at(sim, sim_delay(sim, 10 * SIM_MS, 8 * SIM_S), on_resume, call, 0);
    }
}

/* The time that a call has; 0: the channel's own. */
static int64_t draw_timeout_ms(struct sim_call *call)
{
    struct sim *sim = call->member->caller.sim;

    if (call->op == SIM_WATCH) {
        return -1;
    }
    if (call->op == SIM_HEALTH_WATCH) {
        return 1 + (int64_t)sim_draw(sim, 5000);
    }
    if (call->op == SIM_INGEST_STREAM) {
        return SIM_STREAM_TIMEOUT_MS;
    }
    if (sim->calm || sim_draw(sim, 5) != 0) {
        return 0;
    }
    return 1 + sim_delay(sim, 1, 4000);
}

void sim_call_start_bytes(struct sim_call *call, struct slice request)
{
    struct sim_caller *caller = &call->member->caller;
    struct sim *sim = caller->sim;
    const struct client_handlers handlers = {
        .user = call, .on_reply = on_reply, .on_end = on_end, .on_writable = on_writable};
    struct client_metadata key = {.key = SLICE("idempotency-key")};
    struct client_options options = {.timeout_ms = draw_timeout_ms(call),
                                     .gzip = sim_draw(sim, 4) == 0,
                                     .wait_for_ready = sim->calm || sim_draw(sim, 2) == 0};
    int64_t timeout_ms = options.timeout_ms == 0 ? CLIENT_CALL_TIMEOUT_MS : options.timeout_ms;
    enum err err = OK;

    if (call->write != NULL) {
        key.value = slice_text(call->write->key);
        options.metadata = &key;
        options.metadata_count = 1;
        call->write->tries++;
        call->write->under_way++;
    }
    call->due_us = timeout_ms < 0 ? INT64_MAX : sim_now(sim) + timeout_ms * 1000 + SIM_LATE_US;
    call->member->calls_under_way++;
    sim->crowd->under_way += !is_watch(call);
    sim->counts[SIM_CALLS]++;
    sim_trace(sim, "call %" PRIu64 " of caller %u: %.*s, %" PRId64 " ms", call->number,
              caller->number, (int)call->method->name.size, (const char *)call->method->name.data,
              options.timeout_ms);
    err = client_call_start(caller->channel, call->method, request, &options, &handlers,
                            &call->handle);
    if (err != OK) {
        sim_fail(sim, "the library does not start a call: %s", err_name(err));
        return;
    }
    if (call->op == SIM_WATCH && !sim->calm && sim_draw(sim, 3) == 0) {
        sim_at(sim, sim_delay(sim, 10 * SIM_MS, 2 * SIM_S), on_pause, call, 0);
    }
    if (!sim->calm && sim_chance(sim, sim->profile.cancel)) {
        sim_at(sim, sim_delay(sim, 0, 3 * SIM_S), on_cancel, call, 0);
    }
}

void sim_call_start(struct sim_call *call, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size + 1);

    ASSERT(bytes != NULL);
    (void)protobuf_c_message_pack(message, bytes);
    sim_call_start_bytes(call, slice_of(bytes, size));
    free(bytes);
}
