/*
 * channel_loop.h: the lasting channel of channel.h over TCP, on the caller's libuv loop: it
 * provides the channel's connections (connection.h), its clock and its steps. Without running calls
 * it does not keep the loop alive, except while a name is being looked up.
 */
#ifndef ERRATA_CLIENT_CHANNEL_LOOP_H
#define ERRATA_CLIENT_CHANNEL_LOOP_H

#include "client/channel.h"
#include "client/connection.h"

struct client_channel_loop_config {
    struct client_connection_config connection; /* the listener is ignored */
    struct client_retry_policy retry; /* zeros select the defaults */
    const char *token_file; /* read again after UNAUTHENTICATED; NULL: no file; copied */
    struct errata_log log; /* copied */
    int64_t call_timeout_ms; /* 0: default; -1: none */
    uint32_t calls_max; /* 0: default */
};

/* Copies the configuration; does not connect yet. ERR_INVALID for an invalid host name, ERR_MEMORY. */
MUST_CHECK enum err client_channel_loop_open(struct uv_loop_s *loop,
                                             const struct client_channel_loop_config *config,
                                             struct client_channel **ret_channel);
/* Ends the remaining calls with CANCELLED, then frees the channel and calls `on_closed` (which may
 * be NULL) in a later turn of the loop. May be called from any callback, at most once. */
void client_channel_loop_close(struct client_channel *take_channel, void (*on_closed)(void *user),
                               void *user);
/* Sets the token of attempts that start from now on; empty: none. The token file is not read any
 * more. On ERR_MEMORY the old one is kept. */
MUST_CHECK enum err client_channel_loop_set_token(struct client_channel *channel,
                                                  struct slice token);
void client_channel_loop_read_statistics(const struct client_channel *channel,
                                         struct client_channel_statistics *ret_statistics);
/* See client_channel_unreachable. */
const char *client_channel_loop_unreachable(const struct client_channel *channel);

#endif
