/*
 * assert.c: reports bugs of the program. The count of survived ones is static, since no object is
 * shared by all threads.
 */
#include "store/base/assert.h"

#include "store/base/logger.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic uint64_t *unexpected_counter(void)
{
    static _Atomic uint64_t counter;

    return &counter;
}

void assert_failed(const char *fact, const char *file, int line)
{
    (void)fprintf(stderr, "assertion failed: %s, at %s:%d\n", fact, file, line);
    abort();
}

bool assert_unexpected(const char *condition, const char *file, int line)
{
    const struct logger_field fields[] = {
        LOGGER_TEXT_FIELD("condition", slice_text(condition)),
        LOGGER_TEXT_FIELD("file", slice_text(file)),
        LOGGER_NUMBER_FIELD("line", line),
    };

    atomic_fetch_add_explicit(unexpected_counter(), 1, memory_order_relaxed);
    logger_write(LOGGER_ERROR, "an unexpected condition", fields,
                 sizeof(fields) / sizeof(fields[0]));
    return true;
}

uint64_t assert_unexpected_count(void)
{
    return atomic_load_explicit(unexpected_counter(), memory_order_relaxed);
}
