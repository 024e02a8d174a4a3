/*
 * config.h: checks a channel's configuration and completes it with the defaults, in the types of
 * client/channel_loop.h.
 */
#ifndef ERRATA_CLIENT_LIBRARY_CONFIG_H
#define ERRATA_CLIENT_LIBRARY_CONFIG_H

#include "client/channel_loop.h"
#include "client/library/address.h"
#include "client/token.h"

#include <errata/client.h>

/* Silence after which a PING is sent during a call: shorter than the time after which NATs and load
 * balancers drop idle connections. */
#define LIBRARY_KEEPALIVE_MS 30000
/* Servers close connections that send PINGs more often (gRPC proposal A8). */
#define LIBRARY_KEEPALIVE_MS_MIN 10000
#define LIBRARY_KEEPALIVE_TIMEOUT_MS 10000
/* A longer time is probably in another unit. */
#define LIBRARY_TIME_MS_MAX INT64_C(86400000)
#define LIBRARY_ATTEMPTS_MAX 100
#define LIBRARY_USER_AGENT_BYTES_MAX 200
/* The library's name in the server's log, after the program's. */
#define LIBRARY_NAME "errata-c/" ERRATA_VERSION

/* Holds pointers to its own members, so it must not be copied. Needed until the channel is open. */
struct library_config {
    struct client_channel_loop_config lower;
    struct address address;
    char token[TOKEN_BYTES_MAX + 1];
    char user_agent[LIBRARY_USER_AGENT_BYTES_MAX + sizeof(" " LIBRARY_NAME)];
};

/* Copies a struct of the caller, whose first member is its size when the caller was compiled, into one
 * of this version: members that the caller does not know become zero. Returns false if it is smaller
 * than `bytes_min`, the first version, or sets a member that this version does not know. */
MUST_CHECK bool library_copy_sized(const void *given, size_t given_bytes, void *ret_struct,
                                   size_t bytes, size_t bytes_min);
/* Reads a configuration; NULL: the defaults. Returns false with a problem if a member is invalid; else the
 * caller ends it with library_config_deinit. */
MUST_CHECK bool library_config_read(const struct errata_channel_config *config,
                                    const struct problem *problem,
                                    struct library_config *ret_config);
/* Erases the token, and frees what the channel does not own. */
void library_config_deinit(struct library_config *config);

#endif
