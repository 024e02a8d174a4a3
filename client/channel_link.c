/*
 * channel_link.c: the lasting channel's connections: one that accepts calls, opened when a call
 * needs it, with back-off between failed attempts; and those that accept no more calls, until their
 * calls are done.
 */
#include "client/channel_internal.h"
#include "client/header.h"
#include "store/base/assert.h"

#include <stdlib.h>

bool channel_wants_link(const struct lasting_channel *channel)
{
    return channel->lists[CALL_WAITING].first != NULL ||
           channel->lists[CALL_SLEEPING].first != NULL;
}

bool channel_is_ready(const struct lasting_channel *channel)
{
    return channel->link != NULL && channel->link->state == LINK_READY && !channel->link->full &&
           channel->lists[CALL_WAITING].first == NULL;
}

static void channel_keep_reason(struct lasting_channel *channel, struct slice reason)
{
    size_t size = reason.size < sizeof(channel->reason) ? reason.size : sizeof(channel->reason) - 1;

    if (size > 0) {
        memcpy(channel->reason, reason.data, size);
    }
    channel->reason[size] = '\0';
}

/* Handles the loss of the connection for new calls: schedules the next attempt, and updates the
 * waiting calls. `closed_kindly`: the server announced the end with GOAWAY. */
static void channel_lose_link(struct lasting_channel *channel, bool used, bool answered,
                              bool closed_kindly)
{
    struct lasting_call *call = channel->lists[CALL_WAITING].first;

    channel->link = NULL;
    channel->next_try_ms = channel_now_ms(channel);
    if (answered) {
        channel->fruitless = 0;
    }
    if (!answered || !closed_kindly) {
        channel->next_try_ms +=
            client_backoff_ms(&channel->config.retry, channel->fruitless, channel->config.random);
        channel->fruitless++;
    }
    channel_log(channel, closed_kindly ? ERRATA_LOG_INFO : ERRATA_LOG_WARNING,
                "%s; connecting again in %lld ms if a call needs it", channel->reason,
                (long long)(channel->next_try_ms - channel_now_ms(channel)));
    while (!used && call != NULL) {
        struct lasting_call *next = call->next;

        call_count_failure(call);
        call = next;
    }
    channel_wake(channel);
}

static void link_retire(struct channel_link *link, bool closed_kindly)
{
    struct lasting_channel *channel = link->channel;

    if (link->state == LINK_READY) {
        channel->statistics.connections_lost++;
    } else {
        channel->statistics.connect_failures++;
    }
    link->state = LINK_RETIRED;
    ASSERT(channel->retired_count <= CLIENT_DRAINING_MAX);
    channel->retired[channel->retired_count++] = link;
    channel_lose_link(channel, link->used, link->answered, closed_kindly);
}

static void on_link_state(void *user, struct client_channel *connection,
                          enum client_connection_state state, struct slice reason)
{
    struct channel_link *link = user;
    struct lasting_channel *channel = link->channel;

    (void)connection;
    if (link->state == LINK_RETIRED) {
        channel_wake(channel);
        return;
    }
    switch (state) {
    case CLIENT_CONNECTION_READY:
        link->state = LINK_READY;
        channel->statistics.connections++;
        channel->reason[0] = '\0';
        channel_log(channel, ERRATA_LOG_INFO, "connected to %s", channel->config.server);
        channel_wake(channel);
        break;
    case CLIENT_CONNECTION_DRAINING:
        channel_keep_reason(channel, SLICE("the server closed the connection"));
        link_retire(link, true);
        break;
    case CLIENT_CONNECTION_LOST:
        channel_keep_reason(channel, reason);
        link_retire(link, false);
        break;
    }
}

/* Opens a connection. A connection that cannot be opened counts as a failed attempt. */
static void channel_open_link(struct lasting_channel *channel)
{
    const struct client_connector *connector = &channel->config.connector;
    struct client_connection_listener listener = {.on_state = on_link_state};
    struct channel_link *link = calloc(1, sizeof(*link));
    enum err err = ERR_MEMORY;

    if (link != NULL) {
        link->channel = channel;
        listener.user = link;
        err = connector->open(connector->user, &listener, &link->connection);
    }
    if (err != OK) {
        free(link);
        channel->statistics.connect_failures++;
        channel_keep_reason(channel, slice_text(err == ERR_MEMORY
                                                    ? "out of memory for a connection"
                                                    : "cannot open a connection to the server"));
        channel_lose_link(channel, false, false, false);
        return;
    }
    channel->link = link;
}

/* Closes a connection. Ends the attempts on it with UNAVAILABLE. */
static void link_close(struct channel_link *link)
{
    static const struct client_status gone = {
        .code = CLIENT_CODE_UNAVAILABLE,
        .message = {(const uint8_t *)"the server closed the connection", 32}};
    const struct client_connector *connector = &link->channel->config.connector;

    while (link->attempts != NULL) {
        struct channel_attempt *attempt = link->attempts;
        struct lasting_call *call = attempt->call;

        link->attempts = attempt->next;
        attempt->link = NULL;
        attempt->call = NULL;
        if (call != NULL) {
            call_attempt_over(call, &gone, false);
        }
    }
    connector->close(connector->user, link->connection);
    free(link);
}

static void channel_close_retired(struct lasting_channel *channel, size_t at)
{
    struct channel_link *link = channel->retired[at];

    channel->retired_count--;
    for (size_t i = at; i < channel->retired_count; i++) {
        channel->retired[i] = channel->retired[i + 1];
    }
    link_close(link);
}

void channel_keep_links(struct lasting_channel *channel, int64_t now_ms)
{
    /* From newest to oldest, so that removing an element does not move any that follow. */
    for (size_t i = channel->retired_count; i > 0; i--) {
        if (channel->retired[i - 1]->attempts == NULL) {
            channel_close_retired(channel, i - 1);
        }
    }
    if (channel->retired_count > CLIENT_DRAINING_MAX) {
        channel_close_retired(channel, 0);
    }
    if (channel->link == NULL && !channel->shut && now_ms >= channel->next_try_ms &&
        channel_wants_link(channel)) {
        channel_open_link(channel);
    }
}

void channel_close_links(struct lasting_channel *channel)
{
    struct channel_link *link = channel->link;

    channel->link = NULL;
    if (link != NULL) {
        link_close(link);
    }
    while (channel->retired_count > 0) {
        channel_close_retired(channel, channel->retired_count - 1);
    }
}
