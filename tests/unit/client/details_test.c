/*
 * details_test.c: google.rpc.Status in the trailers of a failed call.
 */
#include "client/details.h"
#include "store/base/wire.h"
#include "tests/unit/client/client_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct slice any_of(struct arena *arena, struct slice type, struct slice value)
{
    struct buffer any;

    buffer_init(&any, arena, 128);
    wire_put_bytes(&any, 1, type);
    wire_put_bytes(&any, 2, value);
    assert_true(buffer_ok(&any));
    return buffer_slice(&any);
}

static struct slice bad_request(struct arena *arena, unsigned fields)
{
    struct buffer message;

    buffer_init(&message, arena, 128);
    for (unsigned i = 0; i < fields; i++) {
        struct buffer violation;

        buffer_init(&violation, arena, 64);
        wire_put_bytes(&violation, 1, arena_printf(arena, "events[%u].before_json", i));
        wire_put_bytes(&violation, 2, SLICE("is not a JSON object"));
        wire_put_bytes(&message, 1, buffer_slice(&violation));
    }
    return any_of(arena, SLICE("type.googleapis.com/google.rpc.BadRequest"),
                  buffer_slice(&message));
}

static struct slice retry_info(struct arena *arena)
{
    struct buffer delay;
    struct buffer message;

    buffer_init(&delay, arena, 16);
    wire_put_varint(&delay, 1, 2);
    wire_put_varint(&delay, 2, 500000000);
    buffer_init(&message, arena, 32);
    wire_put_bytes(&message, 1, buffer_slice(&delay));
    return any_of(arena, SLICE("type.googleapis.com/google.rpc.RetryInfo"), buffer_slice(&message));
}

static struct slice error_info(struct arena *arena)
{
    struct buffer message;

    buffer_init(&message, arena, 32);
    wire_put_bytes(&message, 1, SLICE("ENCRYPTED"));
    wire_put_bytes(&message, 2, SLICE("errata"));
    return any_of(arena, SLICE("type.googleapis.com/google.rpc.ErrorInfo"), buffer_slice(&message));
}

/* Goal: every bad field, the delay and the reason are read, unknown details are passed over, and a list that is
 * too long is counted.
 * Method: a status written with the wire writer, with 101 fields. */
static void test_known_details_are_read(void **state)
{
    struct client_details details;
    struct buffer status;
    struct arena arena;

    (void)state;
    arena_init(&arena, 1 << 20);
    buffer_init(&status, &arena, 256);
    wire_put_varint(&status, 1, 3);
    wire_put_bytes(&status, 2, SLICE("message"));
    wire_put_bytes(&status, 3, any_of(&arena, SLICE("type.googleapis.com/other"), SLICE("\xff")));
    wire_put_bytes(&status, 3, bad_request(&arena, CLIENT_VIOLATIONS_MAX + 1));
    wire_put_bytes(&status, 3, retry_info(&arena));
    wire_put_bytes(&status, 3, error_info(&arena));
    assert_int_equal(client_details_read(buffer_slice(&status), &details), OK);
    assert_int_equal(details.violation_count, CLIENT_VIOLATIONS_MAX);
    assert_int_equal(details.violation_total, CLIENT_VIOLATIONS_MAX + 1);
    assert_true(slice_equal(details.violations[7].field, SLICE("events[7].before_json")));
    assert_true(slice_equal(details.violations[7].description, SLICE("is not a JSON object")));
    assert_int_equal(details.retry_ms, 2500);
    assert_true(slice_equal(details.reason, SLICE("ENCRYPTED")));
    arena_deinit(&arena);
}

/* Goal: missing details are not an error, damaged ones are. Method: the empty slice, and a
 * truncated message. */
static void test_damaged_details_are_an_error(void **state)
{
    struct client_details details;

    (void)state;
    assert_int_equal(client_details_read(slice_of(NULL, 0), &details), OK);
    assert_int_equal(details.violation_total, 0);
    assert_int_equal(details.retry_ms, -1);
    assert_int_equal(details.reason.size, 0);
    assert_int_equal(client_details_read(SLICE("\x1a\x05x"), &details), ERR_MALFORMED);
}

int run_details_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_details_are_read),
                                       cmocka_unit_test(test_damaged_details_are_an_error)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
