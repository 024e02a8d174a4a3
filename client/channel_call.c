/*
 * channel_call.c: a call of the lasting channel from its start to its end: its stored data, its
 * attempts, and the decision whether to repeat a failed one.
 */
#include "client/channel_internal.h"
#include "client/header.h"
#include "client/session.h"
#include "store/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* Room for the message of an end that the client determines. */
#define END_TEXT_BYTES (CHANNEL_REASON_BYTES + 128)

static const struct slice key_name = SLICE("idempotency-key");

/* --- lists and times --- */

static void list_add(struct lasting_call *call, enum call_state state)
{
    struct call_list *list = &call->channel->lists[state];

    call->next = NULL;
    call->previous = list->last;
    if (list->last != NULL) {
        list->last->next = call;
    } else {
        list->first = call;
    }
    list->last = call;
}

static void list_remove(struct lasting_call *call)
{
    struct call_list *list = &call->channel->lists[call->state];

    if (call->previous != NULL) {
        call->previous->next = call->next;
    } else {
        list->first = call->next;
    }
    if (call->next != NULL) {
        call->next->previous = call->previous;
    } else {
        list->last = call->previous;
    }
}

void call_move(struct lasting_call *call, enum call_state state)
{
    list_remove(call);
    call->state = state;
    list_add(call, state);
}

static void call_wake_at(struct lasting_call *call, int64_t at_ms)
{
    enum err err = OK;

    client_deadlines_remove(&call->channel->wakes, &call->wake);
    call->wake.at_ms = at_ms;
    err = client_deadlines_add(&call->channel->wakes, &call->wake);
    ASSERT(err == OK); /* the previous position is free */
}

/* --- a call's memory --- */

static size_t metadata_bytes(const struct client_options *options)
{
    size_t bytes = 0;

    for (size_t i = 0; i < options->metadata_count; i++) {
        bytes += options->metadata[i].key.size + options->metadata[i].value.size;
    }
    return bytes;
}

static enum err call_check(const struct lasting_channel *channel, const struct method_info *method,
                           struct slice request, const struct client_options *options)
{
    if (request.size > channel->config.request_bytes_max) {
        return ERR_TOO_LARGE;
    }
    /* One entry is reserved for the idempotency key. */
    if (options->metadata_count >= CLIENT_METADATA_MAX ||
        (request.size > 0 && !method_has_one_request(method))) {
        return ERR_INVALID;
    }
    for (size_t i = 0; i < options->metadata_count; i++) {
        if (!client_metadata_valid(&options->metadata[i])) {
            return ERR_INVALID;
        }
    }
    return OK;
}

static struct slice text_place(char **at, struct slice text)
{
    struct slice placed = slice_of(*at, text.size);

    if (text.size > 0) {
        memcpy(*at, text.data, text.size);
    }
    *at += text.size;
    return placed;
}

/* Copies the metadata after the call, and adds an idempotency key to a write that has none: so
 * every call may be sent twice, since repeating a read is harmless. */
static void call_take_metadata(struct lasting_call *call, const struct client_options *options)
{
    struct lasting_channel *channel = call->channel;
    char *at = (char *)&call->metadata[options->metadata_count + 1];
    char uuid[UUID_TEXT_BYTES];

    for (size_t i = 0; i < options->metadata_count; i++) {
        struct client_metadata *copy = &call->metadata[i];

        copy->key = text_place(&at, options->metadata[i].key);
        copy->value = text_place(&at, options->metadata[i].value);
        if (slice_equal(copy->key, key_name)) {
            call->key = copy->value;
        }
    }
    call->metadata_count = options->metadata_count;
    if (call->method->transaction == METHOD_WRITE && call->key.data == NULL) {
        uuid_format(uuid_v7(clock_wall_us(channel->config.clock), channel->config.random), uuid);
        call->key = text_place(&at, slice_of(uuid, sizeof(uuid)));
        call->metadata[call->metadata_count++] =
            (struct client_metadata){.key = key_name, .value = call->key};
    }
}

static enum err call_take_request(struct lasting_call *call, struct slice request)
{
    if (request.size == 0) {
        return OK;
    }
    call->request = malloc(request.size);
    if (call->request == NULL) {
        return ERR_MEMORY;
    }
    memcpy(call->request, request.data, request.size);
    call->request_bytes = request.size;
    return OK;
}

static void call_drop_request(struct lasting_call *call)
{
    free(call->request);
    call->request = NULL;
    call->request_bytes = 0;
}

/* Marks a call as not repeatable: the caller has received a part of its response. */
static void call_commit(struct lasting_call *call)
{
    call->committed = true;
    call_drop_request(call);
}

static int64_t call_find_deadline(const struct lasting_channel *channel,
                                  const struct method_info *method,
                                  const struct client_options *options)
{
    int64_t now_ms = channel_now_ms(channel);
    int64_t timeout_ms = options->timeout_ms;

    if (timeout_ms == 0 && method->stream == METHOD_UNARY) {
        timeout_ms = channel->config.call_timeout_ms;
    }
    return timeout_ms <= 0 || timeout_ms > CHANNEL_NEVER - now_ms ? CHANNEL_NEVER
                                                                  : now_ms + timeout_ms;
}

enum err call_new(struct lasting_channel *channel, const struct method_info *method,
                  struct slice request, const struct client_options *options,
                  const struct client_handlers *handlers, struct lasting_call **ret_call)
{
    struct lasting_call *call = NULL;
    enum err err = call_check(channel, method, request, options);

    if (err != OK) {
        return err;
    }
    call =
        calloc(1, sizeof(*call) + (options->metadata_count + 1) * sizeof(struct client_metadata) +
                      metadata_bytes(options) + UUID_TEXT_BYTES);
    if (call == NULL) {
        return ERR_MEMORY;
    }
    call->channel = channel;
    call->method = method;
    call->handlers = *handlers;
    call->attempts_max = options->no_retry ? 1 : channel->config.retry.attempts_max;
    call->wait_for_ready = options->wait_for_ready;
    call->gzip = options->gzip;
    call->owes_room = !method_has_one_request(method);
    call->deadline_ms = call_find_deadline(channel, method, options);
    call->wake.at_ms = call->deadline_ms;
    err = call_take_request(call, request);
    if (err == OK) {
        err = client_deadlines_add(&channel->wakes, &call->wake);
    }
    if (err != OK) {
        call_drop_request(call);
        free(call);
        return err;
    }
    call_take_metadata(call, options);
    list_add(call, CALL_WAITING);
    channel->statistics.calls_under_way++;
    *ret_call = call;
    return OK;
}

/* Removes a call from all lists; only its caller refers to it then. */
static void call_leave(struct lasting_call *call)
{
    ASSERT(call->attempt == NULL);
    list_remove(call);
    client_deadlines_remove(&call->channel->wakes, &call->wake);
    call->state = CALL_TELLING;
    call->channel->statistics.calls_under_way--;
    if (call->channel->statistics.calls_under_way == 0) {
        channel_wake(call->channel);
    }
}

void call_free(struct lasting_call *call)
{
    if (call->state != CALL_TELLING) {
        call_leave(call);
    }
    call_drop_request(call);
    free(call);
}

/* --- ends --- */

/* Reports how a call ended, and frees it. */
static void call_finish(struct lasting_call *call, const struct client_status *status)
{
    struct client_status reported = *status;

    call_leave(call);
    reported.unseen = reported.unseen && !call->seen;
    reported.attempts = call->attempts;
    reported.idempotency_key = call->key;
    call->handlers.on_end(call->handlers.user, &reported);
    call_free(call);
}

void call_end_by(struct lasting_call *call, enum call_end end)
{
    struct channel_attempt *attempt = call->attempt;

    if (attempt != NULL) {
        call->attempt = NULL;
        attempt->call = NULL;
        call->seen = true;
        client_call_cancel(attempt->link->connection, attempt->inner);
    }
    client_deadlines_remove(&call->channel->wakes, &call->wake);
    call_drop_request(call);
    call->end = end;
    call_move(call, CALL_ENDED);
    channel_wake(call->channel);
}

/* Writes the message of an end that the client determines, and returns its code. */
static uint32_t call_write_end(const struct lasting_call *call, char *text, size_t capacity)
{
    const char *reason = call->channel->reason;

    switch (call->end) {
    case CALL_END_CANCELLED:
        (void)snprintf(text, capacity, "the call was cancelled");
        return CLIENT_CODE_CANCELLED;
    case CALL_END_SHUT:
        (void)snprintf(text, capacity, "the channel was closed");
        return CLIENT_CODE_CANCELLED;
    case CALL_END_LATE:
        (void)snprintf(text, capacity, "the deadline passed before the response arrived");
        return CLIENT_CODE_DEADLINE_EXCEEDED;
    case CALL_END_LATE_WAITING:
        if (reason[0] == '\0') {
            (void)snprintf(text, capacity, "the deadline passed before a connection to %s was open",
                           call->channel->config.server);
            return CLIENT_CODE_DEADLINE_EXCEEDED;
        }
        (void)snprintf(text, capacity, "%s; the deadline passed before another try succeeded",
                       reason);
        return call->wait_for_ready ? CLIENT_CODE_DEADLINE_EXCEEDED : CLIENT_CODE_UNAVAILABLE;
    case CALL_END_UNREACHED:
        (void)snprintf(text, capacity, "%s", reason);
        return CLIENT_CODE_UNAVAILABLE;
    case CALL_END_NOT_TAKEN:
        (void)snprintf(text, capacity, "the connection did not accept the call: %s",
                       err_text(call->refusal));
        return err_status(call->refusal);
    }
    return CLIENT_CODE_UNKNOWN;
}

void call_report_end(struct lasting_call *call)
{
    char text[END_TEXT_BYTES];
    struct client_status status = {.unseen = true};

    ASSERT(call->state == CALL_ENDED);
    status.code = call_write_end(call, text, sizeof(text));
    status.message = slice_text(text);
    call_finish(call, &status);
}

void call_count_failure(struct lasting_call *call)
{
    ASSERT(call->state == CALL_WAITING);
    if (call->wait_for_ready) {
        return;
    }
    call->failures++;
    if (call->attempts + call->failures >= call->attempts_max ||
        call->deadline_ms <= call->channel->next_try_ms) {
        call_end_by(call, CALL_END_UNREACHED);
    }
}

void call_expire(struct lasting_call *call, int64_t now_ms)
{
    if (call->deadline_ms <= now_ms) {
        call_end_by(call, call->state == CALL_UNDER_WAY ? CALL_END_LATE : CALL_END_LATE_WAITING);
        return;
    }
    ASSERT(call->state == CALL_SLEEPING);
    call_move(call, CALL_WAITING);
    call_wake_at(call, call->deadline_ms);
}

/* --- attempts --- */

/* Returns whether another attempt may follow this end, and after which wait. An attempt that never
 * reached the server, because its connection is lost, waits only for the next connection. */
static bool call_may_repeat(const struct lasting_call *call, const struct client_status *status,
                            bool link_is_ready, int64_t *ret_wait_ms)
{
    struct lasting_channel *channel = call->channel;
    enum client_repeat repeat = client_repeat_allowed(status, ret_wait_ms);

    if (repeat == CLIENT_REPEAT_NEVER || call->committed ||
        call->attempts + call->failures >= call->attempts_max) {
        return false;
    }
    if (repeat == CLIENT_REPEAT_HARMLESS || link_is_ready) {
        int64_t backoff_ms =
            client_backoff_ms(&channel->config.retry, call->attempts - 1, channel->config.random);

        *ret_wait_ms = *ret_wait_ms > backoff_ms ? *ret_wait_ms : backoff_ms;
    }
    if (*ret_wait_ms >= call->deadline_ms - channel_now_ms(channel)) {
        return false;
    }
    return !status->from_server || client_retry_bucket_take(&channel->bucket);
}

/* Returns whether the attempt failed because of a token that the channel no longer uses: either the
 * token has been replaced, or its source, which is read once per call, contains a new one. The
 * server has not processed the call, so reads and writes may both be repeated. */
static bool call_has_new_token(struct lasting_call *call, const struct client_status *status)
{
    struct lasting_channel *channel = call->channel;
    const struct client_connector *connector = &channel->config.connector;

    if (status->code != CLIENT_CODE_UNAUTHENTICATED || !status->from_server) {
        return false;
    }
    if (call->token_version == channel->token_version && !call->token_refreshed &&
        connector->refresh_token != NULL) {
        call->token_refreshed = true;
        connector->refresh_token(connector->user);
    }
    return call->token_version != channel->token_version;
}

void call_attempt_over(struct lasting_call *call, const struct client_status *status,
                       bool link_is_ready)
{
    struct lasting_channel *channel = call->channel;
    int64_t wait_ms = 0;

    ASSERT(call->state == CALL_UNDER_WAY);
    call->attempt = NULL;
    if (!status->unseen) {
        call->seen = true;
    }
    if (status->code == CLIENT_CODE_OK) {
        client_retry_bucket_give(&channel->bucket);
    }
    if (call_has_new_token(call, status) && !call->committed &&
        call->attempts + call->failures < call->attempts_max) {
        wait_ms = 0;
    } else if (!call_may_repeat(call, status, link_is_ready, &wait_ms)) {
        call_finish(call, status);
        return;
    }
    channel_log(channel, ERRATA_LOG_DEBUG,
                "%.*s: attempt %u ended with %s: %.*s; the next one follows in %lld ms",
                (int)call->method->path.size, (const char *)call->method->path.data, call->attempts,
                client_code_name(status->code), (int)status->message.size,
                (const char *)status->message.data, (long long)wait_ms);
    if (wait_ms > 0) {
        call_move(call, CALL_SLEEPING);
        call_wake_at(call, channel_now_ms(channel) + wait_ms);
    } else {
        call_move(call, CALL_WAITING);
    }
    channel_wake(channel);
}

static void attempt_on_reply(void *user, struct slice message)
{
    struct channel_attempt *attempt = user;
    struct lasting_call *call = attempt->call;

    if (call == NULL) {
        return;
    }
    attempt->link->answered = true;
    if (!method_has_one_reply(call->method)) {
        call_commit(call);
    } else if (call->replied) {
        /* The previous attempt was lost between its reply and its status; this one is only for the
         * status. */
        return;
    }
    call->replied = true;
    call->handlers.on_reply(call->handlers.user, message);
}

static void attempt_on_writable(void *user)
{
    struct channel_attempt *attempt = user;
    struct lasting_call *call = attempt->call;

    if (call == NULL || !call->owes_room || call->half_closed) {
        return;
    }
    call->owes_room = false;
    call->handlers.on_writable(call->handlers.user);
}

/* Removes an attempt from its connection's list; the connection may then accept a call or be
 * closed. */
static void attempt_leave(struct channel_attempt *attempt)
{
    struct channel_link *link = attempt->link;

    if (attempt->previous != NULL) {
        attempt->previous->next = attempt->next;
    } else {
        link->attempts = attempt->next;
    }
    if (attempt->next != NULL) {
        attempt->next->previous = attempt->previous;
    }
    if (link->full || (link->state == LINK_RETIRED && link->attempts == NULL)) {
        link->full = false;
        channel_wake(link->channel);
    }
}

static void attempt_on_end(void *user, const struct client_status *status)
{
    struct channel_attempt *attempt = user;
    struct channel_link *link = attempt->link;
    struct lasting_call *call = attempt->call;
    bool link_is_ready = link != NULL && link->state == LINK_READY;

    if (link != NULL) {
        attempt_leave(attempt);
        link->answered = link->answered || status->from_server;
    }
    free(attempt);
    if (call != NULL) {
        call_attempt_over(call, status, link_is_ready);
    }
}

/* Applies the caller's requests that were made while there was no attempt. */
static void call_catch_up(struct lasting_call *call, struct client_channel *connection)
{
    struct client_call *inner = call->attempt->inner;

    if (call->paused) {
        client_call_pause(connection, inner);
    }
    if (call->half_closed && client_call_half_close(connection, inner) != OK) {
        return; /* the attempt has ended; its on_end follows */
    }
}

enum err call_begin_attempt(struct lasting_call *call, struct channel_link *link)
{
    struct lasting_channel *channel = call->channel;
    struct channel_attempt *attempt = calloc(1, sizeof(*attempt));
    int64_t left_ms = call->deadline_ms - channel_now_ms(channel);
    const struct client_options options = {
        .timeout_ms = call->deadline_ms == CHANNEL_NEVER ? 0 : (left_ms > 1 ? left_ms : 1),
        .metadata = call->metadata,
        .metadata_count = call->metadata_count,
        .gzip = call->gzip};
    const struct client_handlers handlers = {.user = attempt,
                                             .on_reply = attempt_on_reply,
                                             .on_end = attempt_on_end,
                                             .on_writable = attempt_on_writable};
    enum err err = ERR_MEMORY;

    ASSERT(call->state == CALL_WAITING);
    if (attempt != NULL) {
        err = client_call_start(link->connection, call->method,
                                slice_of(call->request, call->request_bytes), &options, &handlers,
                                &attempt->inner);
    }
    if (err != OK) {
        free(attempt);
        return err;
    }
    attempt->call = call;
    attempt->link = link;
    attempt->next = link->attempts;
    if (attempt->next != NULL) {
        attempt->next->previous = attempt;
    }
    link->attempts = attempt;
    link->used = true;
    call->attempt = attempt;
    call->attempts++;
    call->token_version = channel->token_version;
    channel->statistics.attempts++;
    call_move(call, CALL_UNDER_WAY);
    if (call->attempts + call->failures >= call->attempts_max) {
        call_drop_request(call);
    }
    call_catch_up(call, link->connection);
    return OK;
}
