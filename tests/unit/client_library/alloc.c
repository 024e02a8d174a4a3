/*
 * alloc.c: replaces malloc and calloc by the linker's --wrap.
 */
#include "tests/unit/client_library/alloc.h"

static _Thread_local size_t left; /* number of allocations until the failing one; 0: none */
static _Thread_local bool failed;

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names for what it wraps */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool fails_now(void)
{
    if (left == 0) {
        return false;
    }
    left--;
    failed = left == 0;
    return failed;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

void alloc_fail(size_t place)
{
    left = place;
    failed = false;
}

bool alloc_has_failed(void)
{
    left = 0;
    return failed;
}
