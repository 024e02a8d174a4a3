/*
 * header_test.c: the encoding of gRPC's values in header fields.
 */
#include "client/header.h"
#include "tests/unit/client/client_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_decodes(const char *text, const char *expected)
{
    uint8_t bytes[128];
    size_t size = client_percent_decode(slice_text(text), bytes);

    assert_int_equal(size, strlen(expected));
    assert_memory_equal(bytes, expected, size);
}

/* Goal: messages are returned unchanged; invalid escapes are kept as they are. Method: texts with
 * and without escapes, truncated escapes, and hex in both cases. */
static void test_percent_escapes_are_decoded(void **state)
{
    (void)state;
    assert_decodes("plain text", "plain text");
    assert_decodes("gr%C3%B6%c3%9fe%0A", "gr\xc3\xb6\xc3\x9f"
                                         "e\n");
    assert_decodes("100%25", "100%");
    assert_decodes("%", "%");
    assert_decodes("%4", "%4");
    assert_decodes("%4x%zz", "%4x%zz");
    assert_decodes("", "");
}

/* Goal: binary metadata is read with correct, wrong or no padding; damage is detected. Method: one
 * text with more and more padding, and invalid texts. */
static void test_base64_is_read_with_any_padding(void **state)
{
    static const char *const texts[] = {"Zg", "Zg=", "Zg==", "Zg==="};
    uint8_t bytes[64];
    size_t size = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_true(client_base64_decode(slice_text(texts[i]), bytes, &size));
        assert_int_equal(size, 1);
        assert_int_equal(bytes[0], 'f');
    }
    assert_false(client_base64_decode(SLICE("Z"), bytes, &size));
    assert_false(client_base64_decode(SLICE("Zm9v!A"), bytes, &size));
    assert_false(client_base64_decode(SLICE("Zg=A"), bytes, &size));
    assert_false(client_base64_decode(SLICE("__4A"), bytes, &size));
}

static void assert_timeout(int64_t timeout_ms, const char *expected)
{
    char text[CLIENT_TIMEOUT_BYTES];

    client_timeout_write(timeout_ms, text);
    assert_string_equal(text, expected);
}

/* Goal: a timeout has at most eight digits and is never shorter than requested. Method: durations
 * at the limits of each unit. */
static void test_timeout_has_at_most_eight_digits(void **state)
{
    (void)state;
    assert_timeout(1, "1m");
    assert_timeout(99999999, "99999999m");
    assert_timeout(100000000, "100000S");
    assert_timeout(100000001, "100001S");
    assert_timeout(INT64_C(99999999001), "1666667M");
    assert_timeout(INT64_MAX, "99999999H");
}

/* Goal: any status becomes a code of gRPC. Method: numbers, numbers that gRPC does not define,
 * texts that are not numbers, and both mappings. */
static void test_every_status_becomes_a_code(void **state)
{
    uint32_t code = 99;

    (void)state;
    assert_true(client_code_read(SLICE("0"), &code));
    assert_int_equal(code, CLIENT_CODE_OK);
    assert_true(client_code_read(SLICE("16"), &code));
    assert_int_equal(code, CLIENT_CODE_UNAUTHENTICATED);
    assert_true(client_code_read(SLICE("17"), &code));
    assert_int_equal(code, CLIENT_CODE_UNKNOWN);
    assert_false(client_code_read(SLICE(""), &code));
    assert_false(client_code_read(SLICE("-1"), &code));
    assert_false(client_code_read(SLICE("9999999999"), &code));
    assert_int_equal(client_code_of_http(404), CLIENT_CODE_UNIMPLEMENTED);
    assert_int_equal(client_code_of_http(503), CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(client_code_of_http(418), CLIENT_CODE_UNKNOWN);
    assert_int_equal(client_code_of_reset(7), CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(client_code_of_reset(11), CLIENT_CODE_RESOURCE_EXHAUSTED);
    assert_int_equal(client_code_of_reset(2), CLIENT_CODE_INTERNAL);
    assert_string_equal(client_code_name(5), "NOT_FOUND");
    assert_string_equal(client_code_name(17), "UNKNOWN");
}

static bool sendable(const char *key, const char *value)
{
    struct client_metadata metadata = {slice_text(key), slice_text(value)};

    return client_metadata_valid(&metadata);
}

/* Goal: no metadata can pose as a field of the protocol or split a header. Method: valid and
 * invalid keys and values for each rule. */
static void test_metadata_can_not_forge_headers(void **state)
{
    (void)state;
    assert_true(sendable("idempotency-key", "a b~"));
    assert_true(sendable("x-bin", "\x01\xff"));
    assert_false(sendable("X-Upper", "a"));
    assert_false(sendable("", "a"));
    assert_false(sendable(":path", "a"));
    assert_false(sendable("grpc-timeout", "1S"));
    assert_false(sendable("te", "gzip"));
    assert_false(sendable("content-length", "6"));
    assert_false(sendable("proxy-connection", "close"));
    assert_false(sendable("x", "a\r\nb: c"));
    assert_false(sendable("x", "\x80"));
    assert_false(sendable("x y", "a"));
}

int run_header_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_percent_escapes_are_decoded),
                                       cmocka_unit_test(test_base64_is_read_with_any_padding),
                                       cmocka_unit_test(test_timeout_has_at_most_eight_digits),
                                       cmocka_unit_test(test_every_status_becomes_a_code),
                                       cmocka_unit_test(test_metadata_can_not_forge_headers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
