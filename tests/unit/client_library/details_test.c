/*
 * details_test.c: the details of an error beyond its text, as a program gets them.
 */
#include "store/base/arena.h"
#include "store/base/wire.h"
#include "tests/unit/client_library/alloc.h"
#include "tests/unit/client_library/library_tests.h"

#include <errata/details.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void put_any(struct arena *arena, struct buffer *status, struct slice type,
                    struct slice value)
{
    struct buffer any;

    buffer_init(&any, arena, 64);
    wire_put_bytes(&any, 1, type);
    wire_put_bytes(&any, 2, value);
    wire_put_bytes(status, 3, buffer_slice(&any));
}

/* A google.rpc.Status with two violations, a delay of 1.5 s and a reason, in the arena. */
static struct errata_status failed_status(struct arena *arena)
{
    struct buffer status;

    buffer_init(&status, arena, 256);
    put_any(arena, &status, SLICE("type.googleapis.com/google.rpc.BadRequest"),
            SLICE("\x0a\x0a\x0a\x03"
                  "a.b\x12\x03why\x0a\x05\x12\x03how"));
    put_any(arena, &status, SLICE("type.googleapis.com/google.rpc.RetryInfo"),
            SLICE("\x0a\x08\x08\x01\x10\x80\xca\xb5\xee\x01"));
    put_any(arena, &status, SLICE("type.googleapis.com/google.rpc.ErrorInfo"),
            SLICE("\x0a\x09"
                  "ENCRYPTED\x12\x06"
                  "errata"));
    return (struct errata_status){
        .message = "", .details = {buffer_slice(&status).data, buffer_slice(&status).size}};
}

/* Goal: all details are passed on with terminated texts, and outlive the status. Method: the bytes
 * are freed before the details are examined. */
static void test_details_outlive_the_status(void **state)
{
    struct errata_details *details = NULL;
    struct errata_status status;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    status = failed_status(&arena);
    assert_int_equal(errata_details_read(&status, &details), ERRATA_OK);
    arena_deinit(&arena);
    assert_int_equal(details->violation_count, 2);
    assert_int_equal(details->violation_total, 2);
    assert_string_equal(details->violations[0].field, "a.b");
    assert_string_equal(details->violations[0].description, "why");
    assert_string_equal(details->violations[1].field, "");
    assert_string_equal(details->violations[1].description, "how");
    assert_int_equal(details->retry_ms, 1500);
    assert_string_equal(details->reason, "ENCRYPTED");
    errata_details_free(details);
}

/* Goal: a status without details has none; damaged ones and a lack of memory are reported. Method:
 * each. */
static void test_damaged_details_are_reported(void **state)
{
    struct errata_status status = {.message = ""};
    struct errata_details *details = NULL;

    (void)state;
    assert_int_equal(errata_details_read(&status, &details), ERRATA_OK);
    assert_int_equal(details->violation_count, 0);
    assert_int_equal(details->retry_ms, -1);
    assert_string_equal(details->reason, "");
    errata_details_free(details);
    errata_details_free(NULL);
    details = NULL;
    status.details = (struct errata_bytes){"\x1a\x05x", 3};
    assert_int_equal(errata_details_read(&status, &details), ERRATA_INVALID);
    status.details.size = 0;
    alloc_fail(1);
    assert_int_equal(errata_details_read(&status, &details), ERRATA_MEMORY);
    assert_true(alloc_has_failed());
    assert_null(details);
}

int run_details_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_details_outlive_the_status),
                                       cmocka_unit_test(test_damaged_details_are_reported)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
