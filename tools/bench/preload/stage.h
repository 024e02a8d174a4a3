/*
 * stage.h: the tables of one organisation while its events are captured: a memory back end, except that
 * rows which are appended (events, and their ids) go straight on to the store: they are half of all
 * bytes, and only the event that was appended last is read again, by what applies it. When the last
 * event is captured the other tables follow, in the order of their keys.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_STAGE_H
#define ERRATA_TOOLS_BENCH_PRELOAD_STAGE_H

#include "store/key.h"
#include "tools/bench/preload/feed.h"

struct stage;

/* Opens a stage; the feed outlives it. */
MUST_CHECK enum err stage_open(struct feed *feed, struct stage **ret_stage);
/* Closes the stage, which must not have a live transaction. NULL is allowed. */
void stage_close(struct stage *take_stage);
struct store_backend *stage_backend(struct stage *stage);
/* The table's rows pass the stage by: none but the last event can be read there. */
bool stage_passes(enum store_table table);
/* Passes all other rows of the organisation that the transaction sees to the feed. */
MUST_CHECK enum err stage_drain(struct stage *stage, struct store_txn *txn, struct org_id org);

#endif
