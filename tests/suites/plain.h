/*
 * plain.h: HTTP/2 without gRPC: each request is read to its end and answered with a short text. Suites of HTTP/2 send
 * requests as browsers do, which gRPC refuses before reading them.
 */
#ifndef ERRATA_TESTS_SUITES_PLAIN_H
#define ERRATA_TESTS_SUITES_PLAIN_H

#include "server/net/protocol.h"

struct plain;

/* NULL without memory. */
struct plain *plain_new(void);
struct net_protocol plain_protocol(struct plain *plain);
/* All sessions are closed. */
void plain_free(struct plain *plain);

#endif
