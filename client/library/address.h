/*
 * address.h: parses the address of a server.
 */
#ifndef ERRATA_CLIENT_LIBRARY_ADDRESS_H
#define ERRATA_CLIENT_LIBRARY_ADDRESS_H

#include "client/connection.h"
#include "client/problem.h"

/* The default address of `erratad`. */
#define ADDRESS_HOST_DEFAULT "127.0.0.1"
#define ADDRESS_PORT_DEFAULT 7443

struct address {
    char host[CLIENT_HOST_BYTES_MAX + 1]; /* a name or a numeric address, without brackets */
    uint16_t port;
};

/* Reads HOST:PORT, HOST, [IPV6]:PORT or [IPV6]; NULL: the default. Returns false with a problem if the
 * text is malformed. Does not resolve the name. */
MUST_CHECK bool address_read(const char *text, const struct problem *problem,
                             struct address *ret_address);

#endif
