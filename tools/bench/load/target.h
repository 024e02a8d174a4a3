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

/* `HOST:PORT` or `[ADDRESS]:PORT` in its parts; `ret_host` has TARGET_HOST_BYTES_MAX bytes. ERR_INVALID
 * with a sentence. */
MUST_CHECK enum err target_split(const char *text, struct fault *fault, char *ret_host,
                                 uint16_t *ret_port);
/* A name is looked up. ERR_INVALID, or ERR_UNAVAILABLE for a name
 * that is not known; with a sentence. */
MUST_CHECK enum err target_find(const char *text, struct fault *fault, struct target *ret_target);
/* A connected socket that does not block. ERR_UNAVAILABLE with a sentence. Notes in `target` whether
 * the server is on this machine. */
MUST_CHECK enum err target_connect(struct target *target, const char *text, struct fault *fault,
                                   int *ret_fd);

#endif
