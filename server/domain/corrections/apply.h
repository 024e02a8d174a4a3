/*
 * apply.h: what a stored feedback event means for the tables: the layout's counts and examples, which
 * examples are superseded, which extraction was corrected, and the day's counters. It depends on the event and the tables alone, so a
 * replay of the log gives the same bytes; an event whose content was removed keeps its counts and
 * marks and gives no example.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_APPLY_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_APPLY_H

#include "store/log.h"

/* Live corrections of one entity that one event is compared with: the newest. Each live correction
 * holds at least one field that none after it corrected, so only an entity with more distinct fields
 * than this has more. */
#define APPLY_ENTITY_ROWS_MAX 1000

/* Takes an EVENT_FEEDBACK event; other kinds change nothing here. */
MUST_CHECK enum err corrections_apply(struct ctx *ctx, struct store_txn *txn,
                                      const struct event *event);

#endif
