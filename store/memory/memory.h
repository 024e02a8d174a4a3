/*
 * memory.h: the back end without persistence: a test double, which also shows that backend.h does
 * not depend on LMDB. A commit publishes immutable maps.
 */
#ifndef ERRATA_STORE_MEMORY_MEMORY_H
#define ERRATA_STORE_MEMORY_MEMORY_H

#include "store/backend.h"

MUST_CHECK enum err store_memory_open(struct store_backend **ret_backend);
/* Closes the back end, which must not have a transaction. NULL is allowed. */
void store_memory_close(struct store_backend *take_backend);

#endif
