/*
 * channel.c: see channel.h; and the public functions of a channel once it is open.
 */
#include "client/library/channel.h"

#include "client/library/result.h"
#include "client/token.h"
#include "store/base/assert.h"

#include <stdlib.h>

enum err library_channel_new(struct client_channel *take_lower, const struct library_lower_ops *ops,
                             bool has_token, struct errata_channel **ret_channel)
{
    struct errata_channel *channel = calloc(1, sizeof(*channel));

    if (channel == NULL) {
        return ERR_MEMORY;
    }
    channel->lower = take_lower;
    channel->ops = ops;
    channel->has_token = has_token;
    *ret_channel = channel;
    return OK;
}

static void on_lower_closed(void *user)
{
    struct errata_channel *channel = user;
    void (*on_closed)(void *user) = channel->on_closed;
    void *on_closed_user = channel->on_closed_user;

    ASSERT(channel->call_count == 0);
    free(channel);
    if (on_closed != NULL) {
        on_closed(on_closed_user);
    }
}

void errata_channel_close(struct errata_channel *take_channel, void (*on_closed)(void *user),
                          void *user)
{
    if (take_channel == NULL) {
        return;
    }
    ASSERT(!take_channel->closed);
    take_channel->closed = true;
    take_channel->on_closed = on_closed;
    take_channel->on_closed_user = user;
    take_channel->ops->close(take_channel->lower, on_lower_closed, take_channel);
}

enum errata_result errata_channel_set_token(struct errata_channel *channel, const char *token)
{
    struct slice text = slice_text(token);
    enum err err = OK;

    if (channel->closed) {
        return ERRATA_ENDED;
    }
    if (token != NULL && !token_valid(text)) {
        return ERRATA_INVALID;
    }
    err = channel->ops->set_token(channel->lower, text);
    if (err == OK) {
        channel->has_token = token != NULL;
    }
    return library_result(err);
}

static enum errata_channel_state channel_state(enum client_channel_state state)
{
    switch (state) {
    case CLIENT_CHANNEL_IDLE:
        return ERRATA_CHANNEL_IDLE;
    case CLIENT_CHANNEL_CONNECTING:
        return ERRATA_CHANNEL_CONNECTING;
    case CLIENT_CHANNEL_READY:
        return ERRATA_CHANNEL_READY;
    case CLIENT_CHANNEL_BACKOFF:
        return ERRATA_CHANNEL_BACKOFF;
    }
    return ERRATA_CHANNEL_IDLE;
}

void errata_channel_read_statistics(const struct errata_channel *channel,
                                    struct errata_channel_statistics *ret_statistics)
{
    struct client_channel_statistics lower = {.state = CLIENT_CHANNEL_IDLE};

    if (!channel->closed) {
        channel->ops->read_statistics(channel->lower, &lower);
    }
    *ret_statistics =
        (struct errata_channel_statistics){.state = channel_state(lower.state),
                                           .calls_under_way = lower.calls_under_way,
                                           .calls = lower.calls,
                                           .attempts = lower.attempts,
                                           .connections = lower.connections,
                                           .connections_lost = lower.connections_lost,
                                           .connect_failures = lower.connect_failures};
}

const char *errata_channel_unreachable(const struct errata_channel *channel)
{
    return channel->closed ? NULL : channel->ops->unreachable(channel->lower);
}
