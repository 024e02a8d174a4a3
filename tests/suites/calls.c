/*
 * calls.c: calls whose replies wait: each for its time, and for room at the peer.
 */
#include "store/base/assert.h"
#include "tests/suites/suite.h"

#include <stdlib.h>

struct suite_reply {
    struct suite_reply *next;
    struct slice message;
    int64_t delay_us;
};

struct suite_call {
    struct suite *suite;
    struct call *call;
    const struct suite_method *method;
    struct suite_reply *first; /* waiting replies */
    struct suite_reply **end;
    uint32_t reply_count;
    bool ended; /* `status` is sent after the replies */
    struct status status;
    int64_t end_delay_us;
    int64_t due_us; /* due time of the first waiting reply; INT64_MAX: none waits */
    void *state;
    struct suite_call *next; /* next in the list of live calls */
    struct suite_call *previous;
};

struct suite {
    struct call_handlers handlers;
    const struct clock *clock;
    struct suite_call *calls; /* live calls */
    int64_t now_us; /* time of the current event */
    int64_t due_us; /* time last passed to want_timer */
    void (*want_timer)(void *user, int64_t in_us);
    void *user;
};

struct call *suite_call_of(struct suite_call *call)
{
    return call->call;
}

bool suite_has_ended(const struct suite_call *call)
{
    return call->ended;
}

/* Finishes the call: nothing may touch it after this. */
static void suite_finish(struct suite_call *call, const struct status *status)
{
    if (call->next != NULL) {
        call->next->previous = call->previous;
    }
    if (call->previous != NULL) {
        call->previous->next = call->next;
    } else {
        call->suite->calls = call->next;
    }
    call_finish(call->call, status);
}

static void suite_finish_without_memory(struct suite_call *call)
{
    const struct status status = {.code = STATUS_RESOURCE_EXHAUSTED,
                                  .message = SLICE("the test server has no memory for this call")};

    suite_finish(call, &status);
}

/* Sets the time of the next action, relative to now. */
static void suite_set_due(struct suite_call *call)
{
    call->due_us = INT64_MAX;
    if (call->first != NULL) {
        call->due_us = call->suite->now_us + call->first->delay_us;
    } else if (call->ended) {
        call->due_us = call->suite->now_us + call->end_delay_us;
    }
}

static bool suite_send(struct call *call, struct slice message)
{
    buffer_append(call_reply_begin(call, message.size), message);
    return call_reply_end(call) == OK;
}

/* Sends what is due, and finishes the call where that was all. */
static void suite_pump(struct suite_call *call)
{
    struct suite *suite = call->suite;

    while (call->first != NULL && call->due_us <= suite->now_us) {
        struct suite_reply *reply = call->first;

        if (!call_writable(call->call)) {
            return; /* on_writable continues */
        }
        if (!suite_send(call->call, reply->message)) {
            suite_finish_without_memory(call);
            return;
        }
        call->first = reply->next;
        call->end = call->first != NULL ? call->end : &call->first;
        call->reply_count--;
        suite_set_due(call);
    }
    if (call->first == NULL && call->ended && call->due_us <= suite->now_us) {
        suite_finish(call, &call->status);
    }
}

/* Reports the owner when to come back, where that has changed. */
static void suite_update_timer(struct suite *suite)
{
    int64_t due_us = INT64_MAX;

    for (const struct suite_call *at = suite->calls; at != NULL; at = at->next) {
        /* Overdue calls wait for their peers, so they need no timer. */
        if (at->due_us > suite->now_us && at->due_us < due_us) {
            due_us = at->due_us;
        }
    }
    if (due_us != suite->due_us) {
        suite->due_us = due_us;
        suite->want_timer(suite->user, due_us == INT64_MAX ? due_us : due_us - suite->now_us);
    }
}

static void suite_look_at_clock(struct suite *suite)
{
    suite->now_us = clock_monotonic_us(suite->clock);
}

void suite_run_due(struct suite *suite)
{
    struct suite_call *next = NULL;

    suite_look_at_clock(suite);
    suite->due_us = INT64_MAX;
    for (struct suite_call *call = suite->calls; call != NULL; call = next) {
        next = call->next;
        suite_pump(call);
    }
    suite_update_timer(suite);
}

void suite_reply(struct suite_call *call, struct slice message, int64_t delay_us)
{
    struct suite_reply *reply = NULL;

    if (call->ended) {
        return;
    }
    reply = arena_alloc(call->call->arena, sizeof(*reply));
    if (reply == NULL || call->reply_count >= SUITE_REPLIES_MAX) {
        suite_fail(call, STATUS_RESOURCE_EXHAUSTED, "too many replies wait in this call");
        return;
    }
    *reply = (struct suite_reply){.message = message, .delay_us = delay_us};
    *call->end = reply;
    call->end = &reply->next;
    call->reply_count++;
    if (call->first == reply) {
        suite_set_due(call);
    }
}

void suite_end(struct suite_call *call, const struct status *status, int64_t delay_us)
{
    if (call->ended) {
        return;
    }
    call->ended = true;
    call->status = *status;
    call->end_delay_us = delay_us;
    if (call->first == NULL) {
        suite_set_due(call);
    }
}

void suite_fail(struct suite_call *call, enum status_code code, const char *why)
{
    call->first = NULL;
    call->end = &call->first;
    call->reply_count = 0;
    call->ended = true;
    call->status = (struct status){.code = code, .message = slice_text(why)};
    call->end_delay_us = 0;
    suite_set_due(call);
}

void *suite_call_state(struct suite_call *call, size_t size)
{
    if (call->state == NULL) {
        call->state = arena_calloc(call->call->arena, 1, size);
    }
    if (call->state == NULL) {
        suite_fail(call, STATUS_RESOURCE_EXHAUSTED, "no memory for the call");
    }
    return call->state;
}

/* Called after the service has handled an event. */
static void suite_after_event(struct suite_call *call)
{
    struct suite *suite = call->suite;

    suite_pump(call);
    suite_update_timer(suite);
}

static void on_start(void *user, struct call *call)
{
    struct suite *suite = user;
    struct suite_call *mine = arena_calloc(call->arena, 1, sizeof(*mine));

    suite_look_at_clock(suite);
    if (mine == NULL) {
        const struct status status = {.code = STATUS_RESOURCE_EXHAUSTED};

        call_finish(call, &status);
        return;
    }
    *mine = (struct suite_call){.suite = suite,
                                .call = call,
                                .method = (const struct suite_method *)(const void *)call->method,
                                .end = &mine->first,
                                .due_us = INT64_MAX,
                                .next = suite->calls};
    if (suite->calls != NULL) {
        suite->calls->previous = mine;
    }
    suite->calls = mine;
    call->user = mine;
    if (mine->method->on_start != NULL) {
        mine->method->on_start(mine);
    }
    suite_after_event(mine);
}

static void on_message(void *user, struct call *call, struct slice message)
{
    struct suite_call *mine = call->user;
    struct slice kept = message;

    suite_look_at_clock(user);
    if (!method_has_one_request(call->method) && !arena_copy(call->arena, message, &kept)) {
        suite_fail(mine, STATUS_RESOURCE_EXHAUSTED, "no memory for the messages of the call");
    }
    if (!mine->ended && mine->method->on_message != NULL) {
        mine->method->on_message(mine, kept);
    }
    suite_after_event(mine);
}

static void on_half_close(void *user, struct call *call)
{
    struct suite_call *mine = call->user;

    suite_look_at_clock(user);
    if (!mine->ended && mine->method->on_half_close != NULL) {
        mine->method->on_half_close(mine);
    }
    suite_after_event(mine);
}

static void on_writable(void *user, struct call *call)
{
    suite_look_at_clock(user);
    suite_after_event(call->user);
}

static void on_cancel(void *user, struct call *call, enum err why)
{
    const struct status status = {.code = STATUS_CANCELLED};
    struct suite *suite = user;

    (void)why;
    suite_look_at_clock(suite);
    suite_finish(call->user, &status);
    suite_update_timer(suite);
}

struct suite *suite_new(const struct clock *clock, void (*want_timer)(void *user, int64_t in_us),
                        void *user)
{
    struct suite *suite = calloc(1, sizeof(*suite));

    if (suite == NULL) {
        return NULL;
    }
    suite->clock = clock;
    suite->want_timer = want_timer;
    suite->user = user;
    suite->due_us = INT64_MAX;
    suite->handlers = (struct call_handlers){.user = suite,
                                             .on_start = on_start,
                                             .on_message = on_message,
                                             .on_half_close = on_half_close,
                                             .on_writable = on_writable,
                                             .on_cancel = on_cancel};
    return suite;
}

void suite_free(struct suite *suite)
{
    if (suite != NULL) {
        ASSERT(suite->calls == NULL);
        free(suite);
    }
}

const struct call_handlers *suite_handlers(const struct suite *suite)
{
    return &suite->handlers;
}

static const struct method_info *find_in(const struct suite_method *methods, size_t count,
                                         struct slice path)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_equal(methods[i].info.path, path)) {
            return &methods[i].info;
        }
    }
    return NULL;
}

const struct method_info *suite_find_method(struct slice path)
{
    const struct method_info *found = find_in(interop_methods, interop_method_count, path);

    return found != NULL ? found : find_in(conformance_methods, conformance_method_count, path);
}
