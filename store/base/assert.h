/*
 * assert.h: conditions that must not occur. ASSERT is for bugs and stays on in release: it prints
 * and aborts. UNEXPECTED is for bugs that can be survived: it counts, logs and is true, so that the
 * caller fails this one piece of work. Anything from outside (peer, disk, worker, configuration) is
 * checked and answered, never asserted.
 */
#ifndef ERRATA_STORE_BASE_ASSERT_H
#define ERRATA_STORE_BASE_ASSERT_H

#include "store/base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

NORETURN void assert_failed(const char *fact, const char *file, int line);
/* Counts and logs an unexpected condition; always true. */
bool assert_unexpected(const char *condition, const char *file, int line);
/* Returns the number of unexpected conditions since the start, on all threads. */
uint64_t assert_unexpected_count(void);

#define ASSERT(fact) ((fact) ? (void)0 : assert_failed(#fact, __FILE__, __LINE__))
#define UNEXPECTED(condition)                                                                      \
    (__builtin_expect(!!(condition), 0) && assert_unexpected(#condition, __FILE__, __LINE__))

#endif
