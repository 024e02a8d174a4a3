/*
 * plain.h: HTTP/2 without gRPC: each request is read to its end and answered with a short text. A
 * suite for HTTP/2 itself asks for what a browser would, which gRPC refuses before it has read it.
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
