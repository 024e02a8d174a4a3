/*
 * script_internal.h: the shared part of the script's files.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_SCRIPT_INTERNAL_H
#define ERRATA_TOOLS_BENCH_PRELOAD_SCRIPT_INTERNAL_H

#include "tools/bench/preload/script.h"

/* Starts a write: sets its time and its memory. */
void script_start_write(struct script *script, struct store_txn *txn, int64_t time_us);
/* Describes the error of a write, in a text that remains valid after it. */
MUST_CHECK enum err script_end_write(struct script *script, const char *what, enum err err);

/* The writes of each stream: number `index` of the organisation, from 0, within a write that was
 * started. */
extern enum err (*const script_writes[SCRIPT_STREAM_COUNT])(struct script *script,
                                                            struct store_txn *txn, uint64_t index);

#endif
