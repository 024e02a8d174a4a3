/*
 * journal_tests.h: the groups of this program, and their shared functions.
 */
#ifndef ERRATA_TESTS_UNIT_JOURNAL_JOURNAL_TESTS_H
#define ERRATA_TESTS_UNIT_JOURNAL_JOURNAL_TESTS_H

#include "store/base/bytes.h"
#include "store/base/fault_point.h"
#include "store/journal/segments.h"
#include "tests/support/store/temp_folder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* Returns whether a file of the folder holds nothing but zeros. */
static inline bool journal_test_is_zero(const char *folder, int number)
{
    static uint8_t bytes[4 * STORE_JOURNAL_SEGMENT_BYTES_MIN];
    char path[TEMP_FOLDER_PATH_BYTES + 16];
    ssize_t size = 0;
    int fd = -1;

    (void)snprintf(path, sizeof(path), "%s/%d", folder, number);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    size = read(fd, bytes, sizeof(bytes));
    (void)close(fd);
    assert_true(size > 0);
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)size - 1) == 0;
}

#ifdef ERRATA_FAULTS
/* Makes the fault point with this name fail. */
struct failing_point {
    struct fault_driver driver; /* must be the first member; journal_test_fails_named */
    const char *name;
};

static inline bool journal_test_fails_named(struct fault_driver *driver, const char *name)
{
    return strcmp(name, ((const struct failing_point *)driver)->name) == 0;
}
#endif

int run_memtable_tests(void);
int run_segments_tests(void);
int run_recovery_tests(void);

#endif
