/*
 * target.h: the server's address, and sockets that lead to it.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_TARGET_H
#define ERRATA_TOOLS_BENCH_LOAD_TARGET_H

#include "store/base/fault.h"

#include <stdbool.h>
#include <sys/socket.h>

#define TARGET_HOST_BYTES_MAX 256
/* Time limit for a connection attempt. */
#define TARGET_CONNECT_MS 5000

struct target {
    struct sockaddr_storage address;
    socklen_t address_bytes;
    uint16_t port;
    bool local; /* the server is on this machine, by its address */
};

/* Splits `HOST:PORT` or `[ADDRESS]:PORT`; `ret_host` has TARGET_HOST_BYTES_MAX bytes. Returns
 * ERR_INVALID with a message. */
MUST_CHECK enum err target_split(const char *text, struct fault *fault, char *ret_host,
                                 uint16_t *ret_port);
/* Resolves a name. Returns ERR_INVALID, or ERR_UNAVAILABLE for an unknown name, with a message. */
MUST_CHECK enum err target_find(const char *text, struct fault *fault, struct target *ret_target);
/* Returns a connected non-blocking socket, or ERR_UNAVAILABLE with a message. Records in `target`
 * whether the server is on this machine. */
MUST_CHECK enum err target_connect(struct target *target, const char *text, struct fault *fault,
                                   int *ret_fd);

#endif
