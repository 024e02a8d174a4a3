/*
 * metrics.h: the server's metrics as Prometheus text, version 0.0.4: its counters (metrics.def),
 * calls by method and code, and histograms of calls by method, and of commits. Methods that were
 * not called are left out. No sockets, no authorisation.
 */
#ifndef ERRATA_SERVER_METRICS_METRICS_H
#define ERRATA_SERVER_METRICS_METRICS_H

#include "server/pipeline/env.h"
#include "store/base/buffer.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Appends all metrics; the caller checks whether the buffer failed. It runs on the loop, and takes
 * about a microsecond for each of at most 2,500 lines. */
void metrics_write(const struct service_env *env, const struct clock *clock, struct buffer *text);

#endif
