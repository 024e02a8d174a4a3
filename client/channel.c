/*
 * channel.c: see channel.h. The channel's states, its steps, and the user's operations on calls.
 * Events are handled by steps, in one place; only an attempt's end is reported at once, since it
 * occurs in the connection's own turn and never inside a function that the user called.
 */
#include "client/channel.h"

#include "client/channel_internal.h"
#include "client/connection.h"
#include "store/base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define US_PER_MS 1000

static struct lasting_channel *channel_of(struct client_channel *channel)
{
    return (struct lasting_channel *)channel;
}

int64_t channel_now_ms(const struct lasting_channel *channel)
{
    return clock_monotonic_us(channel->config.clock) / US_PER_MS;
}

void channel_wake(struct lasting_channel *channel)
{
    channel->config.connector.wake(channel->config.connector.user);
}

void channel_log(const struct lasting_channel *channel, enum errata_log_level level,
                 const char *format, ...)
{
    const struct errata_log *log = &channel->config.log;
    char line[CHANNEL_LOG_BYTES];
    va_list values;

    if (log->write == NULL) {
        return;
    }
    va_start(values, format);
    (void)vsnprintf(line, sizeof(line), format, values);
    va_end(values);
    log->write(log->user, level, line);
}

/* --- operations of users --- */

/* Starts a call now if a connection takes it; else it waits for the next step. */
static enum err channel_start_now(struct lasting_channel *channel, struct lasting_call *call,
                                  bool was_ready)
{
    enum err err = was_ready ? call_begin_attempt(call, channel->link) : ERR_UNAVAILABLE;

    if (err == ERR_BUSY || err == ERR_UNAVAILABLE) {
        channel_wake(channel);
        return OK;
    }
    /* The owner sleeps until the time that the last step returned. */
    if (err == OK &&
        (call->deadline_ms < channel->promised_ms || channel->statistics.calls_under_way == 1)) {
        channel_wake(channel);
    }
    return err;
}

static enum err channel_start(struct client_channel *base, const struct method_info *method,
                              struct slice request, const struct client_options *options,
                              const struct client_handlers *handlers, struct client_call **ret_call)
{
    static const struct client_options none = {.timeout_ms = 0};
    struct lasting_channel *channel = channel_of(base);
    bool was_ready = channel_is_ready(channel);
    struct lasting_call *call = NULL;
    enum err err = OK;

    if (channel->shut) {
        return ERR_UNAVAILABLE;
    }
    if (channel->statistics.calls_under_way >= channel->config.calls_max) {
        return ERR_BUSY;
    }
    err = call_new(channel, method, request, options != NULL ? options : &none, handlers, &call);
    if (err != OK) {
        return err;
    }
    err = channel_start_now(channel, call, was_ready);
    if (err != OK) {
        call_free(call);
        return err;
    }
    channel->statistics.calls++;
    *ret_call = (struct client_call *)call;
    return OK;
}

static bool call_has_ended(const struct lasting_call *call)
{
    return call->state == CALL_ENDED || call->state == CALL_TELLING;
}

static void channel_cancel(struct client_channel *base, struct client_call *handle)
{
    (void)base;
    if (handle != NULL && !call_has_ended(lasting_of(handle))) {
        call_end_by(lasting_of(handle), CALL_END_CANCELLED);
    }
}

static void channel_pause(struct client_channel *base, struct client_call *handle)
{
    struct lasting_call *call = lasting_of(handle);

    (void)base;
    call->paused = true;
    if (call->attempt != NULL) {
        client_call_pause(call->attempt->link->connection, call->attempt->inner);
    }
}

static void channel_resume(struct client_channel *base, struct client_call *handle)
{
    struct lasting_call *call = lasting_of(handle);

    (void)base;
    call->paused = false;
    if (call->attempt != NULL) {
        client_call_resume(call->attempt->link->connection, call->attempt->inner);
    }
}

/* Returns whether a call accepts messages, or their end. */
static enum err call_check_sending(const struct lasting_call *call)
{
    if (call_has_ended(call)) {
        return ERR_CANCELLED;
    }
    return method_has_one_request(call->method) || call->half_closed ? ERR_INVALID : OK;
}

static enum err channel_send(struct client_channel *base, struct client_call *handle,
                             struct slice message)
{
    struct lasting_channel *channel = channel_of(base);
    struct lasting_call *call = lasting_of(handle);
    enum err err = call_check_sending(call);

    if (err != OK) {
        return err;
    }
    if (message.size > channel->config.request_bytes_max) {
        return ERR_TOO_LARGE;
    }
    err = call->attempt == NULL
              ? ERR_BUSY
              : client_call_send(call->attempt->link->connection, call->attempt->inner, message);
    if (err == ERR_CANCELLED && !call->committed) {
        /* The attempt has ended, but the next one may take the message. */
        err = ERR_BUSY;
    }
    if (err == OK) {
        call->committed = true;
    } else if (err == ERR_BUSY) {
        call->owes_room = true;
    }
    return err;
}

static enum err channel_half_close(struct client_channel *base, struct client_call *handle)
{
    struct lasting_call *call = lasting_of(handle);
    enum err err = call_check_sending(call);

    (void)base;
    if (err == OK && call->attempt != NULL) {
        err = client_call_half_close(call->attempt->link->connection, call->attempt->inner);
    }
    if (err == ERR_CANCELLED && !call_has_ended(call) && !call->committed) {
        /* The next attempt is half-closed again, as above. */
        err = OK;
    }
    if (err == OK) {
        call->half_closed = true;
    }
    return err;
}

static const struct client_channel_ops channel_ops = {.start = channel_start,
                                                      .cancel = channel_cancel,
                                                      .pause = channel_pause,
                                                      .resume = channel_resume,
                                                      .send = channel_send,
                                                      .half_close = channel_half_close};

/* --- creation and end --- */

enum err client_channel_new(const struct client_channel_config *config,
                            struct client_channel **ret_channel)
{
    struct lasting_channel *channel = calloc(1, sizeof(*channel));

    if (channel == NULL) {
        return ERR_MEMORY;
    }
    channel->base.ops = &channel_ops;
    channel->config = *config;
    if (channel->config.request_bytes_max == 0) {
        channel->config.request_bytes_max = CLIENT_MESSAGE_BYTES_MAX;
    }
    channel->promised_ms = CHANNEL_NEVER;
    channel->next_try_ms = channel_now_ms(channel);
    client_retry_bucket_fill(&channel->bucket);
    *ret_channel = &channel->base;
    return OK;
}

void client_channel_free(struct client_channel *channel)
{
    struct lasting_channel *lasting = channel_of(channel);

    if (lasting == NULL) {
        return;
    }
    ASSERT(lasting->statistics.calls_under_way == 0);
    ASSERT(lasting->link == NULL);
    ASSERT(lasting->retired_count == 0);
    client_deadlines_deinit(&lasting->wakes);
    free(lasting);
}

void client_channel_shut(struct client_channel *channel)
{
    struct lasting_channel *lasting = channel_of(channel);

    lasting->shut = true;
    for (int state = 0; state < CALL_ENDED; state++) {
        while (lasting->lists[state].first != NULL) {
            call_end_by(lasting->lists[state].first, CALL_END_SHUT);
        }
    }
    channel_wake(lasting);
}

/* --- steps --- */

static void channel_expire(struct lasting_channel *channel, int64_t now_ms)
{
    struct client_deadline *first = client_deadlines_first(&channel->wakes);

    /* Each iteration ends a call or moves a sleeping one to the waiting ones: at most twice the
     * number of calls. */
    while (first != NULL && first->at_ms <= now_ms) {
        call_expire((struct lasting_call *)first, now_ms);
        first = client_deadlines_first(&channel->wakes);
    }
}

static void channel_start_waiting(struct lasting_channel *channel)
{
    struct channel_link *link = channel->link;
    struct lasting_call *call = channel->lists[CALL_WAITING].first;

    /* Each iteration removes a call from the list, to which nothing is added meanwhile. */
    while (link != NULL && link->state == LINK_READY && !link->full && call != NULL) {
        enum err err = call_begin_attempt(call, link);

        if (err == ERR_BUSY) {
            link->full = true;
        } else if (err == ERR_UNAVAILABLE) {
            return; /* the listener will be notified */
        } else if (err != OK) {
            call->refusal = err;
            call_end_by(call, CALL_END_NOT_TAKEN);
        }
        call = channel->lists[CALL_WAITING].first;
    }
}

/* Reports the ends that are due now; ends caused by the callbacks are reported by the next step,
 * except for a closed channel, whose step is the last. */
static void channel_report_ends(struct lasting_channel *channel)
{
    const struct lasting_call *last = channel->lists[CALL_ENDED].last;
    bool more = last != NULL;

    while (more) {
        struct lasting_call *call = channel->lists[CALL_ENDED].first;

        more = call != last;
        call_report_end(call);
        more = (more || channel->shut) && channel->lists[CALL_ENDED].first != NULL;
    }
}

/* Returns the time of the next scheduled action. */
static int64_t channel_next_ms(const struct lasting_channel *channel)
{
    const struct client_deadline *first = client_deadlines_first(&channel->wakes);
    int64_t next_ms = first != NULL ? first->at_ms : CHANNEL_NEVER;

    if (channel->link == NULL && !channel->shut && channel_wants_link(channel) &&
        channel->next_try_ms < next_ms) {
        next_ms = channel->next_try_ms;
    }
    return next_ms;
}

int64_t client_channel_step(struct client_channel *channel)
{
    struct lasting_channel *lasting = channel_of(channel);
    int64_t now_ms = channel_now_ms(lasting);

    channel_expire(lasting, now_ms);
    channel_keep_links(lasting, now_ms);
    channel_start_waiting(lasting);
    channel_report_ends(lasting);
    if (lasting->shut) {
        channel_close_links(lasting);
    }
    lasting->promised_ms = channel_next_ms(lasting);
    if (lasting->promised_ms == CHANNEL_NEVER) {
        return -1;
    }
    now_ms = channel_now_ms(lasting);
    return lasting->promised_ms > now_ms ? lasting->promised_ms - now_ms : 0;
}

void client_channel_note_token(struct client_channel *channel)
{
    channel_of(channel)->token_version++;
}

/* --- statistics --- */

const char *client_channel_unreachable(const struct client_channel *channel)
{
    const struct lasting_channel *lasting = (const struct lasting_channel *)channel;
    bool connected = lasting->link != NULL && lasting->link->state == LINK_READY;

    return connected || lasting->reason[0] == '\0' ? NULL : lasting->reason;
}

static enum client_channel_state channel_find_state(const struct lasting_channel *channel)
{
    if (channel->link != NULL) {
        return channel->link->state == LINK_READY ? CLIENT_CHANNEL_READY
                                                  : CLIENT_CHANNEL_CONNECTING;
    }
    if (!channel_wants_link(channel)) {
        return CLIENT_CHANNEL_IDLE;
    }
    return channel->next_try_ms > channel_now_ms(channel) ? CLIENT_CHANNEL_BACKOFF
                                                          : CLIENT_CHANNEL_CONNECTING;
}

void client_channel_read_statistics(const struct client_channel *channel,
                                    struct client_channel_statistics *ret_statistics)
{
    const struct lasting_channel *lasting = (const struct lasting_channel *)channel;
    struct client_channel_statistics statistics = lasting->statistics;

    statistics.state = channel_find_state(lasting);
    *ret_statistics = statistics;
}
