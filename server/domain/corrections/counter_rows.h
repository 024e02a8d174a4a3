/*
 * counter_rows.h: what analytics adds up: events by day and type, and corrected fields by day, kind of
 * correction and name. A day is a UTC day of created_at. The sum of the counters equals what a scan of
 * the events gives, always.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_COUNTER_ROWS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_COUNTER_ROWS_H

#include "server/domain/corrections/view.h"

MUST_CHECK enum err counter_rows_add(struct ctx *ctx, struct store_txn *txn,
                                     const struct event *event, const struct feedback_view *view);

#endif
