/*
 * channel.h: a public channel: any channel of client/stub.h, and the function that closes it.
 * open.c creates channels over TCP, tests over simulated connections.
 */
#ifndef ERRATA_CLIENT_LIBRARY_CHANNEL_H
#define ERRATA_CLIENT_LIBRARY_CHANNEL_H

#include "client/channel.h"

#include <errata/client.h>

/* Operations of the lower channel in addition to calls, as in client/channel_loop.h. */
struct library_lower_ops {
    void (*close)(struct client_channel *take_channel, void (*on_closed)(void *user), void *user);
    enum err (*set_token)(struct client_channel *channel, struct slice token);
    void (*read_statistics)(const struct client_channel *channel,
                            struct client_channel_statistics *ret_statistics);
    const char *(*unreachable)(const struct client_channel *channel);
};

struct errata_channel {
    struct client_channel *lower; /* owned; closed by `ops` */
    const struct library_lower_ops *ops;
    bool has_token;
    bool closed; /* closed; freed after the lower channel is closed */
    size_t call_count; /* number of calls that have not ended */
    void (*on_closed)(void *user);
    void *on_closed_user;
};

/* Creates a public channel over `take_lower`, which the caller keeps on failure. */
MUST_CHECK enum err library_channel_new(struct client_channel *take_lower,
                                        const struct library_lower_ops *ops, bool has_token,
                                        struct errata_channel **ret_channel);

#endif
