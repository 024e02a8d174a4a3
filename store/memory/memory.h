/*
 * memory.h: the back end that forgets: the test double, and the proof that backend.h is not LMDB in
 * disguise. A commit publishes immutable maps, so "what is durable" can become a second reference to
 * older ones without a change here above.
 */
#ifndef ERRATA_STORE_MEMORY_MEMORY_H
#define ERRATA_STORE_MEMORY_MEMORY_H

#include "store/backend.h"

MUST_CHECK enum err store_memory_open(struct store_backend **ret_backend);
/* No transaction may be alive. Accepts NULL. */
void store_memory_close(struct store_backend *take_backend);

#endif
