/*
 * latency.h: measures the duration of a unary call in this client: the same call many times, one
 * after the other, over one connection.
 */
#ifndef ERRATA_TOOLS_ERRATA_METHODS_LATENCY_H
#define ERRATA_TOOLS_ERRATA_METHODS_LATENCY_H

#include "tools/errata/engine/connect.h"

/* Maximum number of stored measurements of eight bytes each. */
#define LATENCY_REPEAT_MAX 1000000

/* Calls `repeat` (a number as text) times and prints p50, p90, p99 and the slowest. */
MUST_CHECK enum cli_exit latency_run(struct cli *cli, const struct client_request *request,
                                     const char *repeat);

#endif
