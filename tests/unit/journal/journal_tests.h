/*
 * journal_tests.h: the groups of this program, and their shared functions.
 */
#ifndef ERRATA_TESTS_UNIT_JOURNAL_JOURNAL_TESTS_H
#define ERRATA_TESTS_UNIT_JOURNAL_JOURNAL_TESTS_H

#include "store/base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A key of 20 bytes, sorted by its number. */
struct named_key {
    uint8_t bytes[20];
};

static inline struct named_key journal_test_key(uint32_t number)
{
    struct named_key key = {{0}};

    bytes_put_be32(key.bytes + 16, number);
    return key;
}

int run_memtable_tests(void);
int run_segments_tests(void);
int run_recovery_tests(void);

#endif
