/*
 * options_test.c: methods by their names, and the options of a call.
 */
#include "client/library/options.h"
#include "tests/unit/client_library/library_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* Goal: a method is found with or without a leading slash; one that streams both ways, or that does
 * not exist, is not. Method: names. */
static void test_method_is_found_with_or_without_a_slash(void **state)
{
    static const char *const none[] = {NULL,
                                       "",
                                       "/",
                                       "//errata.v1.PromptService/GetExamples",
                                       "errata.v1.PromptService/GetExample",
                                       "errata.v1.PromptService/GetExamples ",
                                       "GetExamples",
                                       "grpc.reflection.v1.ServerReflection/ServerReflectionInfo"};
    const struct method_info *method = library_method("errata.v1.PromptService/GetExamples");
    char longest[LIBRARY_METHOD_BYTES_MAX + 2];

    (void)state;
    assert_non_null(method);
    assert_true(slice_equal(method->name, SLICE("GetExamples")));
    assert_ptr_equal(method, library_method("/errata.v1.PromptService/GetExamples"));
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        assert_null(library_method(none[i]));
    }
    memset(longest, 'x', sizeof(longest));
    longest[LIBRARY_METHOD_BYTES_MAX + 1] = '\0';
    assert_null(library_method(longest));
}

/* Goal: without options the channel's defaults apply, and each given option is passed to the
 * channel. Method: NULL, and one of each. */
static void test_options_are_passed_to_the_channel(void **state)
{
    const struct errata_metadata metadata[] = {{"x-trace", {"a b", 3}},
                                               {"x-raw-bin", {"\0\xff", 2}}};
    const struct errata_options given = {.timeout_ms = 1500,
                                         .metadata = metadata,
                                         .metadata_count = 2,
                                         .idempotency_key = "order 7",
                                         .wait_for_ready = true,
                                         .no_retry = true,
                                         .gzip = true};
    struct library_options options;

    (void)state;
    assert_true(library_options_read(NULL, true, &options));
    assert_int_equal(options.lower.timeout_ms, 0);
    assert_int_equal(options.lower.metadata_count, 0);
    assert_false(options.lower.wait_for_ready || options.lower.no_retry || options.lower.gzip);
    assert_true(library_options_read(&given, true, &options));
    assert_int_equal(options.lower.timeout_ms, 1500);
    assert_true(options.lower.wait_for_ready && options.lower.no_retry && options.lower.gzip);
    assert_int_equal(options.lower.metadata_count, 3);
    assert_true(slice_equal(options.lower.metadata[0].key, SLICE("x-trace")));
    assert_true(slice_equal(options.lower.metadata[1].value, SLICE("\0\xff")));
    assert_true(slice_equal(options.lower.metadata[2].key, SLICE("idempotency-key")));
    assert_true(slice_equal(options.lower.metadata[2].value, SLICE("order 7")));
}

/* Goal: a timeout is absent, given, or the channel's. Method: -1, 0, the longest; and -2. */
static void test_timeout_is_absent_given_or_default(void **state)
{
    static const int64_t fine[] = {-1, 0, 1, INT64_MAX};
    struct errata_options given = {.timeout_ms = -2};
    struct library_options options;

    (void)state;
    assert_false(library_options_read(&given, false, &options));
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        given.timeout_ms = fine[i];
        assert_true(library_options_read(&given, false, &options));
        assert_int_equal(options.lower.timeout_ms, fine[i]);
    }
}

/* Goal: metadata that may not be sent is refused before anything is started. Method: a table. */
static void test_forbidden_metadata_is_refused(void **state)
{
    static const struct {
        struct errata_metadata metadata;
        bool with_token; /* accepted by a channel with a token */
        bool without_token;
    } table[] = {
        {{"x-trace", {"a", 1}}, true, true},
        {{"x-trace", {NULL, 0}}, true, true},
        {{"x-raw-bin", {" \n ", 3}}, true, true},
        {{"authorization", {"Bearer x", 8}}, false, true},
        {{"idempotency-key", {"x", 1}}, false, false},
        {{"grpc-timeout", {"1S", 2}}, false, false},
        {{"content-type", {"x", 1}}, false, false},
        {{":path", {"/", 1}}, false, false},
        {{"X-Trace", {"a", 1}}, false, false},
        {{"", {"a", 1}}, false, false},
        {{NULL, {"a", 1}}, false, false},
        {{"x-trace", {NULL, 1}}, false, false},
        {{"x-trace", {"\n", 1}}, false, false},
        {{"x-trace", {" a", 2}}, false, false},
        {{"x-trace", {"a ", 2}}, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct errata_options given = {.metadata = &table[i].metadata, .metadata_count = 1};
        struct library_options options;

        assert_int_equal(library_options_read(&given, true, &options), table[i].with_token);
        assert_int_equal(library_options_read(&given, false, &options), table[i].without_token);
    }
}

/* Goal: metadata is bounded in number and bytes. Method: 32 and 33 entries; 8,192 bytes and one
 * more; a key of 255 letters and of 256. */
static void test_metadata_is_bounded(void **state)
{
    static const char bytes[ERRATA_METADATA_BYTES_MAX] = {0};
    static char key[257];
    struct errata_metadata metadata[ERRATA_METADATA_MAX + 1];
    struct errata_options given = {.metadata = metadata, .idempotency_key = "k"};
    struct library_options options;

    (void)state;
    for (size_t i = 0; i <= ERRATA_METADATA_MAX; i++) {
        metadata[i] = (struct errata_metadata){"x", {"", 0}};
    }
    given.metadata_count = ERRATA_METADATA_MAX;
    assert_true(library_options_read(&given, false, &options));
    assert_int_equal(options.lower.metadata_count, ERRATA_METADATA_MAX + 1);
    given.metadata_count = ERRATA_METADATA_MAX + 1;
    assert_false(library_options_read(&given, false, &options));
    given.metadata_count = 2;
    metadata[1] = (struct errata_metadata){"x-bin", {bytes, sizeof(bytes) - 6}};
    assert_true(library_options_read(&given, false, &options));
    metadata[1].value.size++;
    assert_false(library_options_read(&given, false, &options));
    memset(key, 'k', 255);
    metadata[1] = (struct errata_metadata){key, {"", 0}};
    assert_true(library_options_read(&given, false, &options));
    key[255] = 'k';
    assert_false(library_options_read(&given, false, &options));
    given.metadata = NULL;
    assert_false(library_options_read(&given, false, &options));
}

/* Goal: an idempotency key has the form that the server accepts. Method: sizes and letters. */
static void test_invalid_idempotency_key_is_refused(void **state)
{
    static char key[ERRATA_IDEMPOTENCY_KEY_BYTES_MAX + 2];
    static const char *const none[] = {"", " a", "a ", "\303\274", "a\n", key};
    struct errata_options given = {.idempotency_key = key};
    struct library_options options;

    (void)state;
    memset(key, 'k', ERRATA_IDEMPOTENCY_KEY_BYTES_MAX);
    assert_true(library_options_read(&given, false, &options));
    key[ERRATA_IDEMPOTENCY_KEY_BYTES_MAX] = 'k';
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        given.idempotency_key = none[i];
        assert_false(library_options_read(&given, false, &options));
    }
}

int run_options_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_method_is_found_with_or_without_a_slash),
        cmocka_unit_test(test_options_are_passed_to_the_channel),
        cmocka_unit_test(test_timeout_is_absent_given_or_default),
        cmocka_unit_test(test_forbidden_metadata_is_refused),
        cmocka_unit_test(test_metadata_is_bounded),
        cmocka_unit_test(test_invalid_idempotency_key_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
