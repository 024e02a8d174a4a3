/*
 * dial.h: an outgoing connection to a service beside this server, by TCP or a Unix socket, on the loop. One at a time: a new
 * one may be opened while the last one is being closed. It knows no protocol. Callbacks are never called inside dial_open,
 * and never after dial_close.
 */
#ifndef ERRATA_SERVER_NET_DIAL_H
#define ERRATA_SERVER_NET_DIAL_H

#include "store/base/err.h"
#include "store/base/slice.h"

#include <uv.h>

/* Bytes of one read. */
#define DIAL_READ_BYTES (64u * 1024)
/* Addresses of a host that are tried, one after the other. */
#define DIAL_ADDRESSES_MAX 8

struct dial_config {
    uv_loop_t *loop;
    /* A name, whose addresses are tried in turn, or an address; NULL: a Unix socket. Borrowed, as is `path`. */
    const char *host;
    uint16_t port;
    const char *path;
    void (*on_open)(void *user);
    void (*on_bytes)(void *user, struct slice bytes);
    /* The connection could not be opened, or ended; dial_close is still to be called. `why` is borrowed. */
    void (*on_end)(void *user, const char *why);
    /* A connection that was closed is gone. */
    void (*on_closed)(void *user);
    void *user;
};

struct dial;

MUST_CHECK enum err dial_new(const struct dial_config *config, struct dial **ret_dial);
/* Opens a connection; on_open or on_end follows. ERR_MEMORY. */
MUST_CHECK enum err dial_open(struct dial *dial);
/* Sends bytes, which are copied if the socket does not take them at once. An error of the socket is reported by
 * on_end; if memory is exhausted nothing more is read, and the caller's time limit ends the connection. */
void dial_send(struct dial *dial, struct slice bytes);
/* Closes the connection, if there is one. */
void dial_close(struct dial *dial);
/* Returns whether no connection is open or being closed. */
bool dial_is_idle(const struct dial *dial);
/* It must be idle. NULL is allowed. */
void dial_free(struct dial *dial);

#endif
