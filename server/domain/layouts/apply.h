/*
 * apply.h: what a stored document means for the tables: its row, its places in the lists, and its
 * layout's profile. It depends on the event and the tables alone, so a replay of the log gives the
 * same bytes; it reads no content.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_APPLY_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_APPLY_H

#include "store/log.h"

/* Takes an EVENT_DOCUMENT_INGESTED event; other kinds change nothing here. */
MUST_CHECK enum err layouts_apply(struct ctx *ctx, struct store_txn *txn,
                                  const struct event *event);

#endif
