/*
 * alloc.h: a malloc that fails when a test requests it. It replaces the one that this executable's
 * own objects call; allocations of shared libraries are not affected.
 */
#ifndef ERRATA_TESTS_UNIT_CLIENT_LIBRARY_ALLOC_H
#define ERRATA_TESTS_UNIT_CLIENT_LIBRARY_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Makes only allocation number `place` of this thread fail, counted from 1; 0: none. */
void alloc_fail(size_t place);
/* Returns whether the failure has occurred; later allocations succeed. */
bool alloc_has_failed(void);

#endif
