/*
 * plain_test.c: the pipeline serves a protocol that has no HTTP/2, no five-byte heads, no trailers.
 */
#include "tests/command/fixture.h"

#include <errata/v1/admin_service.pb-c.h>
#include <errata/v1/feedback_service.pb-c.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define SETTINGS_PATH "/errata.v1.AdminService/GetSettings\n"

static const char *authorized(struct fixture *fixture, const char *path)
{
    struct slice head =
        arena_printf(&fixture->arena, "%sauthorization: %s\n", path, fixture->admin);

    assert_true(head.size > 0);
    return (const char *)head.data;
}

/* Goal: a unary method is answered, regardless of how its bytes are split. Method: the same request
 * in pieces. */
static void test_unary_call_is_answered_for_any_pieces(void **state)
{
    static const size_t pieces[] = {1, 3, 1000000};
    Errata__V1__GetSettingsRequest request = ERRATA__V1__GET_SETTINGS_REQUEST__INIT;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        Errata__V1__GetSettingsResponse *response = NULL;
        struct plain_call plain;
        struct slice reply = {NULL, 0};

        fixture_call_whole(&fixture, &plain, authorized(&fixture, SETTINGS_PATH), &request.base,
                           pieces[i]);
        assert_int_equal(plain.code, STATUS_OK);
        assert_true(plain_read(&plain, &reply));
        response = errata__v1__get_settings_response__unpack(NULL, reply.size, reply.data);
        assert_non_null(response);
        assert_non_null(response->settings);
        errata__v1__get_settings_response__free_unpacked(response, NULL);
        assert_false(plain_read(&plain, &reply));
    }
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 0);
    assert_int_equal(call_server_stats(fixture.calls).body_bytes_live, 0);
    fixture_deinit(&fixture);
}

/* Goal: refusals before a method runs are the same for every protocol. Method: each refusal of the
 * call layer, and two of the pipeline. */
static void test_early_refusals_match_those_of_grpc(void **state)
{
    static const struct {
        const char *bytes;
        enum status_code code;
        const char *message;
    } cases[] = {
        {"/errata.v1.AdminService/None\n\n", STATUS_UNIMPLEMENTED, "method: unknown"},
        {SETTINGS_PATH "\n0\n", STATUS_UNAUTHENTICATED, "token"},
        {SETTINGS_PATH "authorization: Bearer errata_00000000_x\n\n0\n", STATUS_UNAUTHENTICATED,
         "token"},
        {SETTINGS_PATH "authorization: A\n\n", STATUS_UNAUTHENTICATED, "token"},
    };
    static const struct {
        const char *bytes;
        enum status_code code;
        const char *message;
    } admitted[] = {
        {"\n99999999\n", STATUS_RESOURCE_EXHAUSTED, "message: 99999999 bytes"},
        {"\n5\nabc", STATUS_INTERNAL, "ended inside a message"},
        {"\n1", STATUS_INTERNAL, "ended inside a message"},
        {"\n", STATUS_UNIMPLEMENTED, "request: no message"},
        {"\n0\n0\n", STATUS_UNIMPLEMENTED, "request: more than one message"},
        {"\n2\nab", STATUS_INTERNAL, ""},
    };
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct plain_call plain;

        plain_open(&plain, fixture.calls, &fixture.arena);
        plain_feed(&plain, slice_text(cases[i].bytes));
        plain_end(&plain);
        assert_true(plain.ended);
        assert_int_equal(plain.code, cases[i].code);
        assert_non_null(memmem(plain.message.data, plain.message.size, cases[i].message,
                               strlen(cases[i].message)));
        plain_close(&plain);
    }
    for (size_t i = 0; i < sizeof(admitted) / sizeof(admitted[0]); i++) {
        struct plain_call plain;

        plain_open(&plain, fixture.calls, &fixture.arena);
        plain_feed(&plain, slice_text(authorized(&fixture, SETTINGS_PATH)));
        plain_feed(&plain, slice_text(admitted[i].bytes));
        plain_end(&plain);
        assert_true(plain.ended);
        assert_int_equal(plain.code, admitted[i].code);
        assert_non_null(memmem(plain.message.data, plain.message.size, admitted[i].message,
                               strlen(admitted[i].message)));
        plain_close(&plain);
    }
    fixture_deinit(&fixture);
}

/* Goal: a deadline and a disconnecting peer end a call of any protocol. Method: a request that does
 * not arrive whole; the clock of the calls is moved. */
static void test_deadline_or_close_ends_the_call(void **state)
{
    struct fixture fixture;
    struct plain_call plain;

    (void)state;
    fixture_init(&fixture);
    plain_open(&plain, fixture.calls, &fixture.arena);
    plain_feed(&plain, slice_text(authorized(&fixture, SETTINGS_PATH)));
    plain_feed(&plain, SLICE("\n10\nabc"));
    call_server_tick(fixture.calls, CALL_BODY_DEADLINE_US - 1);
    assert_false(plain.ended);
    call_server_tick(fixture.calls, CALL_BODY_DEADLINE_US + CALL_BODY_CHECK_US);
    assert_true(plain.ended);
    assert_int_equal(plain.code, STATUS_DEADLINE_EXCEEDED);
    plain_close(&plain);

    plain_open(&plain, fixture.calls, &fixture.arena);
    plain_feed(&plain, slice_text(authorized(&fixture, SETTINGS_PATH)));
    plain_feed(&plain, SLICE("\n10\nabc"));
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 1);
    plain_close(&plain);
    assert_int_equal(call_server_stats(fixture.calls).calls_live, 0);
    assert_int_equal(call_server_stats(fixture.calls).calls_ended[STATUS_CANCELLED], 1);
    assert_int_equal(call_server_stats(fixture.calls).body_bytes_live, 0);
    fixture_deinit(&fixture);
}

int run_plain_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary_call_is_answered_for_any_pieces),
        cmocka_unit_test(test_early_refusals_match_those_of_grpc),
        cmocka_unit_test(test_deadline_or_close_ends_the_call),
    };

    return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}
