/*
 * status_tests.c: failures of calls: code, message and google.rpc details.
 */
#include "tests/rpc/fixture.h"

#include "server/call/status.h"

#include <google/rpc/error_details.pb-c.h>
#include <google/rpc/status.pb-c.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static Google__Rpc__Status *decode(struct slice details)
{
    Google__Rpc__Status *status = google__rpc__status__unpack(NULL, details.size, details.data);

    assert_non_null(status);
    return status;
}

static const Google__Protobuf__Any *find_detail(const Google__Rpc__Status *status,
                                                const char *type_url)
{
    for (size_t i = 0; i < status->n_details; i++) {
        if (strcmp(status->details[i]->type_url, type_url) == 0) {
            return status->details[i];
        }
    }
    return NULL;
}

/* Goal: every error has a code that gRPC knows, a message, and an ErrorInfo with its name; a retry
 * hint if errors.def has one. Method: all of them. */
static void test_every_error_has_code_message_and_details(void **state)
{
    (void)state;
    for (unsigned number = 1; number < ERR_COUNT; number++) {
        enum err err = (enum err)number;
        struct arena arena;
        struct status status;
        Google__Rpc__Status *details = NULL;
        Google__Rpc__ErrorInfo *info = NULL;
        const Google__Protobuf__Any *any = NULL;

        arena_init(&arena, 1u << 20);
        status = status_of(&arena, err, NULL);
        assert_true(status.code > STATUS_OK && status.code <= STATUS_UNAUTHENTICATED);
        assert_true(status.message.size > 0);
        details = decode(status.details);
        assert_int_equal(details->code, status.code);
        any = find_detail(details, "type.googleapis.com/google.rpc.ErrorInfo");
        assert_non_null(any);
        info = google__rpc__error_info__unpack(NULL, any->value.len, any->value.data);
        assert_string_equal(info->reason, err_name(err));
        assert_string_equal(info->domain, "errata");
        google__rpc__error_info__free_unpacked(info, NULL);
        any = find_detail(details, "type.googleapis.com/google.rpc.RetryInfo");
        assert_int_equal(any != NULL, err_retry_ms(err) > 0);
        assert_int_equal(status.retry_ms, err_retry_ms(err));
        if (any != NULL) {
            Google__Rpc__RetryInfo *retry =
                google__rpc__retry_info__unpack(NULL, any->value.len, any->value.data);

            assert_int_equal(retry->retry_delay->seconds * 1000 +
                                 retry->retry_delay->nanos / 1000000,
                             err_retry_ms(err));
            google__rpc__retry_info__free_unpacked(retry, NULL);
        }
        google__rpc__status__free_unpacked(details, NULL);
        arena_deinit(&arena);
    }
}

/* Goal: all invalid fields of a request are reported. Method: an event with four. */
static void test_all_invalid_fields_are_reported(void **state)
{
    static const char *const fields[] = {"event.event_type", "event.before_json",
                                         "event.after_json", "event.layout_fingerprint"};
    struct fixture fixture;
    struct exchange exchange;
    char before[] = "{";
    char after[] = "[]";
    char layout[] = "a\nb";
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent"};
    Google__Rpc__Status *status = NULL;
    Google__Rpc__BadRequest *bad = NULL;
    const Google__Protobuf__Any *any = NULL;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    event.before_json = before;
    event.after_json = after;
    event._layout_fingerprint_case =
        ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    event.layout_fingerprint = layout;
    request.event = &event;
    exchange = fixture_call_whole(&fixture, &start, &request.base);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    status = decode(exchange.details);
    any = find_detail(status, "type.googleapis.com/google.rpc.BadRequest");
    assert_non_null(any);
    bad = google__rpc__bad_request__unpack(NULL, any->value.len, any->value.data);
    assert_int_equal(bad->n_field_violations, 4);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        bool found = false;

        for (size_t k = 0; k < bad->n_field_violations; k++) {
            found = found || strcmp(bad->field_violations[k]->field, fields[i]) == 0;
        }
        assert_true(found);
        assert_true(slice_has(exchange.message, fields[i]));
    }
    google__rpc__bad_request__free_unpacked(bad, NULL);
    google__rpc__status__free_unpacked(status, NULL);
    fixture_deinit(&fixture);
}

/* Goal: a status fits into the headers that clients accept, for any number of errors. Method: a
 * hundred invalid fields with sentences of each length; the transport drops longer ones. */
static void test_status_fits_into_headers(void **state)
{
    struct arena arena;
    struct fault fault;
    struct status status;
    char field[32];

    (void)state;
    for (int width = 1; width < 200; width++) {
        int count = width % 2 == 0 ? 100 : 101;

        arena_init(&arena, 1u << 20);
        fault_init(&fault, &arena);
        for (int i = 0; i < count; i++) {
            (void)snprintf(field, sizeof(field), "events[%d].event_type", i);
            fault_add(&fault, slice_text(field), "%0*d is not what it should be", width, i);
        }
        status = status_of(&arena, ERR_INVALID, &fault);
        assert_true(status.message.size <= CALL_STATUS_MESSAGE_BYTES_MAX);
        assert_true(slice_has(status.message, "100 fields in all"));
        assert_int_equal(slice_has(status.message, "more than"), count > 100);
        assert_true(status.details.size <= CALL_STATUS_DETAILS_BYTES_MAX);
        assert_true(slice_has(status.details, "events[5].event_type"));
        google__rpc__status__free_unpacked(decode(status.details), NULL);
        arena_deinit(&arena);
    }
}

/* Goal: a fault's own reason is in ErrorInfo in upper case, and at the head of the message; the
 * retry hint stays the error's. Method: an error with a hint and one without. */
static void test_reason_of_a_fault_is_in_error_info(void **state)
{
    static const enum err errs[] = {ERR_INVALID, ERR_BUSY};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct arena arena;
        struct fault fault;
        struct status status;
        Google__Rpc__Status *details = NULL;
        Google__Rpc__ErrorInfo *info = NULL;
        const Google__Protobuf__Any *any = NULL;

        arena_init(&arena, 1u << 20);
        fault_init(&fault, &arena);
        (void)fault_say_reason(&fault, errs[i], "too_many_pages", "it has 5001");
        status = status_of(&arena, errs[i], &fault);
        assert_true(slice_equal(status.message, SLICE("too_many_pages: it has 5001")));
        details = decode(status.details);
        any = find_detail(details, "type.googleapis.com/google.rpc.ErrorInfo");
        assert_non_null(any);
        info = google__rpc__error_info__unpack(NULL, any->value.len, any->value.data);
        assert_string_equal(info->reason, "TOO_MANY_PAGES");
        assert_string_equal(info->domain, "errata");
        assert_int_equal(find_detail(details, "type.googleapis.com/google.rpc.RetryInfo") != NULL,
                         errs[i] == ERR_BUSY);
        google__rpc__error_info__free_unpacked(info, NULL);
        google__rpc__status__free_unpacked(details, NULL);
        arena_deinit(&arena);
    }
}

/* Goal: bytes that are not a message are INTERNAL, refusals of the check are INVALID_ARGUMENT.
 * Method: a truncated message, and a text that is not UTF-8. */
static void test_undecodable_bytes_are_internal(void **state)
{
    static const uint8_t cut[] = {0x0a, 0x10, 'x'};
    static const uint8_t not_utf8[] = {0x0a, 0x02, 0xff, 0xfe};
    const struct slice bodies[] = {slice_of(cut, sizeof(cut)),
                                   slice_of(not_utf8, sizeof(not_utf8))};
    const enum status_code codes[] = {STATUS_INTERNAL, STATUS_INVALID_ARGUMENT};
    struct fixture fixture;
    struct exchange exchange;
    struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples"};

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    for (size_t i = 0; i < 2; i++) {
        exchange_open(&exchange, &fixture, &start);
        call_deliver(exchange.core, bodies[i]);
        call_deliver_end(exchange.core);
        assert_true(exchange.ended);
        assert_int_equal(exchange.code, codes[i]);
        exchange_close(&exchange);
    }
    fixture_deinit(&fixture);
}

int run_status_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_error_has_code_message_and_details),
        cmocka_unit_test(test_all_invalid_fields_are_reported),
        cmocka_unit_test(test_status_fits_into_headers),
        cmocka_unit_test(test_reason_of_a_fault_is_in_error_info),
        cmocka_unit_test(test_undecodable_bytes_are_internal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
