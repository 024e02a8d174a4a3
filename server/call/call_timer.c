/*
 * call_timer.c: a timer wheel of deadlines: a call is put into the slot after its deadline, which
 * is checked when its time comes. Adding and removing take constant time.
 */
#include "server/call/call_internal.h"

static void call_expire(struct call_core *core)
{
    bool may_be_stored = core->half_closed && core->call.method->transaction == METHOD_WRITE;
    enum err err = may_be_stored ? ERR_DEADLINE_UNKNOWN : ERR_DEADLINE;

    core->server->stats.calls_expired++;
    call_fail(core, err, slice_text(err_text(err)));
    core->protocol->expired(core);
    call_cancel(core, ERR_DEADLINE);
}

static void call_timer_put(struct call_core *core, int32_t slot_index)
{
    struct call_core **slot = &core->server->wheel[slot_index];

    core->timer_slot = slot_index;
    core->timer_next = *slot;
    core->timer_previous = NULL;
    if (*slot != NULL) {
        (*slot)->timer_previous = core;
    }
    *slot = core;
}

void call_timer_start(struct call_core *core)
{
    if (core->call.deadline_us != INT64_MAX) {
        /* The next slot, so that the deadline has passed when the slot is due. */
        int64_t slot = core->call.deadline_us / CALL_WHEEL_SLOT_US + 1;

        call_timer_put(core, (int32_t)(slot % CALL_WHEEL_SLOTS));
    }
}

void call_timer_stop(struct call_core *core)
{
    if (core->timer_slot < 0) {
        return;
    }
    if (core->timer_previous != NULL) {
        core->timer_previous->timer_next = core->timer_next;
    } else {
        core->server->wheel[core->timer_slot] = core->timer_next;
    }
    if (core->timer_next != NULL) {
        core->timer_next->timer_previous = core->timer_previous;
    }
    core->timer_slot = -1;
}

/* Handlers may finish other calls of the same slot, so the calls due are moved to a separate slot
 * and taken from its head. */
static void call_server_expire_slot(struct call_server *server, struct call_core *core)
{
    while (core != NULL) {
        struct call_core *next = core->timer_next;

        if (core->call.deadline_us <= server->now_us) {
            call_timer_stop(core);
            call_timer_put(core, CALL_WHEEL_SLOTS);
        }
        core = next;
    }
    while (server->wheel[CALL_WHEEL_SLOTS] != NULL) {
        call_expire(server->wheel[CALL_WHEEL_SLOTS]);
    }
}

void call_server_turn_wheel(struct call_server *server, int64_t now_us)
{
    int64_t from = server->wheel_us / CALL_WHEEL_SLOT_US;
    int64_t to = now_us / CALL_WHEEL_SLOT_US;

    if (to - from >= CALL_WHEEL_SLOTS) {
        from = to - CALL_WHEEL_SLOTS;
    }
    for (int64_t slot = from + 1; slot <= to; slot++) {
        call_server_expire_slot(server, server->wheel[slot % CALL_WHEEL_SLOTS]);
    }
    server->wheel_us = now_us;
}

/* Returns whether too little of the call's request has arrived. A bidi stream need not send another
 * message, but must complete one that it has begun; held bytes wait for the server. */
static bool call_body_is_late(const struct call_core *core, int64_t before_us)
{
    return (core->started || core->input.begun) && !core->ended && !core->request_end &&
           !call_input_waits(core) &&
           (core->input.begun || core->call.method->stream != METHOD_BIDI_STREAM) &&
           core->held.size == 0 && core->input.progress_us <= before_us;
}

void call_server_check_bodies(struct call_server *server, int64_t now_us)
{
    struct call_core *next = NULL;
    bool pressed =
        call_server_is_pressed(server) || server->body_bytes > server->config.body_bytes_max / 2;
    int64_t before_us = now_us - (pressed ? CALL_BODY_PRESSED_US : CALL_BODY_DEADLINE_US);

    if (now_us - server->bodies_checked_us < CALL_BODY_CHECK_US) {
        return;
    }
    server->bodies_checked_us = now_us;
    for (struct call_core *core = server->live; core != NULL; core = next) {
        next = core->next; /* a refused call exists until its stream is closed */
        if (call_body_is_late(core, before_us)) {
            server->stats.calls_expired++;
            call_refuse_err(core, ERR_DEADLINE,
                            "request: incomplete at its deadline; expected the whole request "
                            "before the deadline");
        }
    }
}
