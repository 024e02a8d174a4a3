/*
 * config.h: a channel's configuration as the caller gave it, checked and completed, in the words of the
 * channel below.
 */
#ifndef ERRATA_CLIENT_LIBRARY_CONFIG_H
#define ERRATA_CLIENT_LIBRARY_CONFIG_H

#include "client/channel_loop.h"
#include "client/library/address.h"
#include "client/library/token.h"

#include <errata/client.h>

/* While calls are under way, silence longer than this is looked into: below what NATs and balancers
 * forget connections after. */
#define LIBRARY_KEEPALIVE_MS 30000
/* Servers end connections that ask more often (gRPC's proposal A8). */
#define LIBRARY_KEEPALIVE_MS_MIN 10000
#define LIBRARY_KEEPALIVE_TIMEOUT_MS 10000
/* A longer time is a mistake of units. */
#define LIBRARY_TIME_MS_MAX INT64_C(86400000)
#define LIBRARY_ATTEMPTS_MAX 100
#define LIBRARY_USER_AGENT_BYTES_MAX 200
/* The library's name in the server's log; the program's own stands in front of it. */
#define LIBRARY_NAME "errata-c/" ERRATA_VERSION

/* Borrows from itself: it is filled where it stays, until the channel is open. */
struct library_config {
    struct client_channel_loop_config lower;
    struct address address;
    char token[TOKEN_BYTES_MAX + 1];
    char user_agent[LIBRARY_USER_AGENT_BYTES_MAX + sizeof(" " LIBRARY_NAME)];
};

/* NULL is all defaults. False with a problem: the configuration can't be right. */
MUST_CHECK bool library_config_read(const struct errata_channel_config *config,
                                    const struct problem *problem,
                                    struct library_config *ret_config);

#endif
