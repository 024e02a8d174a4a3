/*
 * ways.h: the two modes in which the script's captures are stored.
 */
#ifndef ERRATA_TOOLS_BENCH_PRELOAD_WAYS_H
#define ERRATA_TOOLS_BENCH_PRELOAD_WAYS_H

#include "tools/bench/preload/progress.h"
#include "tools/bench/preload/script.h"

/* Each organisation is captured on a stage, whose rows are then written in the order of their keys. */
MUST_CHECK enum err ways_load_bulk(struct script *script, struct store_backend *store,
                                   struct progress *progress);
/* Each event is captured in the store. */
MUST_CHECK enum err ways_load_plain(struct script *script, struct store_backend *store,
                                    struct progress *progress);

#endif
