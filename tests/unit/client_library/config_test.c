/*
 * config_test.c: a channel's configuration: defaults, ranges, tokens and the files that hold them.
 */
#include "client/library/config.h"
#include "tests/unit/client_library/library_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* Initializes like errata_channel_config_init. */
#define SIZED .struct_bytes = sizeof(struct errata_channel_config)

/* The message about the last refused configuration. */
static char reported[PROBLEM_BYTES_MAX];

static bool reads(const struct errata_channel_config *config, struct library_config *ret_config)
{
    reported[0] = '\0';
    return library_config_read(config, &(struct problem){reported, sizeof(reported)}, ret_config);
}

static void assert_reported(const char *words)
{
    if (strstr(reported, words) == NULL) {
        print_error("not reported: \"%s\": %s\n", words, reported);
        fail();
    }
}

/* Goal: structs of programs that were compiled with an older or newer version are read, unless a
 * newer one sets a member that this version does not know. Method: a struct of two members, as
 * three versions have it. */
static void test_structs_of_other_versions_are_read(void **state)
{
    struct known {
        size_t struct_bytes;
        uint64_t first;
        uint64_t second;
    };
    struct newer {
        struct known known;
        uint64_t third;
    };
    const size_t bytes_min = offsetof(struct known, second);
    struct newer given = {{sizeof(given), 1, 2}, 0};
    struct known copy;

    (void)state;
    assert_true(library_copy_sized(&given, sizeof(struct known), &copy, sizeof(copy), bytes_min));
    assert_int_equal(copy.second, 2);
    assert_true(library_copy_sized(&given, bytes_min, &copy, sizeof(copy), bytes_min));
    assert_int_equal(copy.first, 1);
    assert_int_equal(copy.second, 0);
    assert_true(library_copy_sized(&given, sizeof(given), &copy, sizeof(copy), bytes_min));
    assert_int_equal(copy.second, 2);
    given.third = 1;
    assert_false(library_copy_sized(&given, sizeof(given), &copy, sizeof(copy), bytes_min));
    assert_false(library_copy_sized(&given, bytes_min - 1, &copy, sizeof(copy), bytes_min));
    assert_false(library_copy_sized(&given, 0, &copy, sizeof(copy), bytes_min));
    assert_false(library_copy_sized(&given, SIZE_MAX, &copy, sizeof(copy), bytes_min));
}

/* Goal: a configuration that was not initialized is refused with a message. Method: zeros. */
static void test_uninitialized_configuration_is_refused(void **state)
{
    const struct errata_channel_config zeros = {.struct_bytes = 0};
    struct library_config config;

    (void)state;
    assert_false(reads(&zeros, &config));
    assert_reported("errata_channel_config_init");
}

/* Goal: unset members have the defaults of the header. Method: NULL, and the result of init. */
static void test_unset_members_have_documented_defaults(void **state)
{
    struct errata_channel_config empty;

    (void)state;
    memset(&empty, 0xff, sizeof(empty));
    errata_channel_config_init(&empty);
    for (int i = 0; i < 2; i++) {
        struct library_config config;
        const struct client_channel_loop_config *lower = &config.lower;

        assert_true(reads(i == 0 ? NULL : &empty, &config));
        assert_string_equal(lower->connection.host, "127.0.0.1");
        assert_int_equal(lower->connection.port, 7443);
        assert_int_equal(lower->connection.token.size, 0);
        assert_string_equal(lower->connection.user_agent, "errata-c/" ERRATA_VERSION);
        assert_int_equal(lower->connection.connect_timeout_ms, 10000);
        assert_int_equal(lower->connection.keepalive_ms, 30000);
        assert_int_equal(lower->connection.keepalive_timeout_ms, 10000);
        assert_int_equal(lower->connection.reply_bytes_max, 64 << 20);
        assert_int_equal(lower->connection.request_bytes_max, 64 << 20);
        assert_int_equal(lower->call_timeout_ms, 30000);
        assert_int_equal(lower->retry.attempts_max, 8);
        assert_int_equal(lower->retry.backoff_initial_ms, 100);
        assert_int_equal(lower->retry.backoff_max_ms, 5000);
        assert_int_equal(lower->calls_max, 10000);
    }
}

/* Goal: given numbers are used. Method: each number, none of them its default. */
static void test_given_numbers_are_used(void **state)
{
    const struct errata_channel_config given = {SIZED,
                                                .server = "[::1]:9",
                                                .connect_timeout_ms = 1,
                                                .call_timeout_ms = -1,
                                                .keepalive_ms = -1,
                                                .keepalive_timeout_ms = 3,
                                                .attempts_max = 1,
                                                .backoff_initial_ms = 20000,
                                                .reply_bytes_max = 4,
                                                .request_bytes_max = UINT32_MAX,
                                                .calls_max = 5};
    struct library_config config;

    (void)state;
    assert_true(reads(&given, &config));
    assert_string_equal(config.lower.connection.host, "::1");
    assert_int_equal(config.lower.connection.port, 9);
    assert_int_equal(config.lower.connection.connect_timeout_ms, 1);
    assert_int_equal(config.lower.call_timeout_ms, -1);
    assert_int_equal(config.lower.connection.keepalive_ms, 0);
    assert_int_equal(config.lower.connection.keepalive_timeout_ms, 3);
    assert_int_equal(config.lower.retry.attempts_max, 1);
    assert_int_equal(config.lower.retry.backoff_initial_ms, 20000);
    assert_int_equal(config.lower.retry.backoff_max_ms, 20000);
    assert_int_equal(config.lower.connection.reply_bytes_max, 4);
    assert_int_equal(config.lower.connection.request_bytes_max, UINT32_MAX);
    assert_int_equal(config.lower.calls_max, 5);
}

/* Goal: a number out of its range is refused by its name, with the range. Method: one configuration
 * each. */
static void test_number_out_of_range_is_refused_by_name(void **state)
{
    static const struct {
        struct errata_channel_config config;
        const char *reported;
    } table[] = {
        {{SIZED, .connect_timeout_ms = -1},
         "connect_timeout_ms: -1 is out of range; expected 1 to 86400000, or 0 for the default "
         "(10000)"},
        {{SIZED, .connect_timeout_ms = 86400001}, "connect_timeout_ms"},
        {{SIZED, .call_timeout_ms = -2}, "call_timeout_ms: -2 is out of range"},
        {{SIZED, .call_timeout_ms = -2}, "or -1 to disable it"},
        {{SIZED, .keepalive_ms = 9999},
         "keepalive_ms: 9999 is out of range; expected 10000 to 86400000"},
        {{SIZED, .keepalive_ms = INT64_MIN}, "keepalive_ms"},
        {{SIZED, .keepalive_timeout_ms = -1}, "keepalive_timeout_ms"},
        {{SIZED, .attempts_max = 101}, "attempts_max: 101 is out of range; expected 1 to 100"},
        {{SIZED, .backoff_initial_ms = -5}, "backoff_initial_ms"},
        {{SIZED, .backoff_initial_ms = 200, .backoff_max_ms = 199},
         "backoff_max_ms: 199 is out of range; expected 200 to"},
        {{SIZED, .reply_bytes_max = (size_t)UINT32_MAX + 1}, "reply_bytes_max"},
        {{SIZED, .request_bytes_max = SIZE_MAX}, "request_bytes_max"},
        {{SIZED, .calls_max = 10001}, "calls_max: 10001 is out of range; expected 1 to 10000"},
        {{SIZED, .server = "a b"}, "server: invalid host name"},
        {{SIZED, .user_agent = "\303\274"}, "user_agent: invalid character"},
        {{SIZED, .user_agent = "\ta"}, "user_agent: invalid character"},
        {{SIZED, .user_agent = "a\177"}, "user_agent: invalid character"},
        {{SIZED, .user_agent = " x"}, "begins with a space"},
        {{SIZED, .token = "a", .token_file = "b"}, "token_file: set together with token"},
        {{SIZED, .token = ""}, "token: malformed"},
        {{SIZED, .token = "two words"}, "token: malformed"},
        {{SIZED, .token = "line\n"}, "token: malformed"},
        {{SIZED, .token = "\303\274"}, "token: malformed"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct library_config config;

        assert_false(reads(&table[i].config, &config));
        assert_reported(table[i].reported);
    }
}

/* Goal: the program's name precedes the library's, up to its limit. Method: one, none, one of 200
 * bytes, one of 201. */
static void test_user_agent_begins_with_the_programs_name(void **state)
{
    char name[LIBRARY_USER_AGENT_BYTES_MAX + 2];
    struct errata_channel_config given = {SIZED, .user_agent = "importer/2.1"};
    struct library_config config;

    (void)state;
    assert_true(reads(&given, &config));
    assert_string_equal(config.lower.connection.user_agent,
                        "importer/2.1 errata-c/" ERRATA_VERSION);
    given.user_agent = "";
    assert_true(reads(&given, &config));
    assert_string_equal(config.lower.connection.user_agent, "errata-c/" ERRATA_VERSION);
    memset(name, 'x', sizeof(name));
    name[LIBRARY_USER_AGENT_BYTES_MAX] = '\0';
    given.user_agent = name;
    assert_true(reads(&given, &config));
    assert_int_equal(strlen(config.lower.connection.user_agent),
                     LIBRARY_USER_AGENT_BYTES_MAX + strlen(" errata-c/" ERRATA_VERSION));
    name[LIBRARY_USER_AGENT_BYTES_MAX] = 'x';
    name[LIBRARY_USER_AGENT_BYTES_MAX + 1] = '\0';
    assert_false(reads(&given, &config));
    assert_reported("at most 200 bytes");
}

/* Goal: a token may have at most 4,096 bytes. Method: both sides of the limit. */
static void test_token_above_4096_bytes_is_refused(void **state)
{
    static char token[TOKEN_BYTES_MAX + 2];
    const struct errata_channel_config given = {SIZED, .token = token};
    struct library_config config;

    (void)state;
    memset(token, 't', TOKEN_BYTES_MAX);
    assert_true(reads(&given, &config));
    assert_true(slice_equal(config.lower.connection.token, slice_text(token)));
    token[TOKEN_BYTES_MAX] = 't';
    assert_false(reads(&given, &config));
    assert_reported("expected 1 to 4096 bytes");
}

/* Reads a configuration whose token file holds `bytes`. */
static bool reads_file(struct slice bytes, struct library_config *ret_config)
{
    char path[] = "/tmp/errata_token_XXXXXX";
    struct errata_channel_config given = {SIZED, .token_file = path};
    int file = mkstemp(path);
    bool took = false;

    assert_true(file >= 0);
    assert_int_equal(write(file, bytes.data, bytes.size), bytes.size);
    assert_int_equal(close(file), 0);
    took = reads(&given, ret_config);
    assert_int_equal(unlink(path), 0);
    return took;
}

/* Goal: a token file is read as editors and echo write it, and nothing else is accepted. Method:
 * contents, and the messages about the refused ones. */
static void test_token_file_is_read_with_a_line_end(void **state)
{
    static const struct {
        struct slice bytes;
        const char *reported; /* NULL: the token is "secret" */
    } table[] = {
        {SLICE("secret"), NULL},
        {SLICE("secret\n"), NULL},
        {SLICE("secret\r\n"), NULL},
        {SLICE(""), "is empty; expected a file with a token"},
        {SLICE("\n"), "is empty; expected a file with a token"},
        {SLICE("secret\n\n"), "holds no valid token"},
        {SLICE("secret "), "holds no valid token"},
        {SLICE("two\nlines\n"), "holds no valid token"},
        {SLICE("nul\0"), "holds no valid token"},
        {SLICE("\xef\xbb\xbfsecret"), "holds no valid token"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct library_config config;

        assert_int_equal(reads_file(table[i].bytes, &config), table[i].reported == NULL);
        if (table[i].reported == NULL) {
            assert_true(slice_equal(config.lower.connection.token, SLICE("secret")));
        } else {
            assert_reported(table[i].reported);
            assert_reported("/tmp/errata_token_");
        }
    }
}

/* Goal: a file of any size costs no more memory than a token. Method: files of the limit with a
 * line's end, one byte above it, and one without end. */
static void test_large_token_file_is_refused_cheaply(void **state)
{
    static char token[TOKEN_BYTES_MAX + 3];
    const struct errata_channel_config endless = {SIZED, .token_file = "/dev/zero"};
    struct library_config config;

    (void)state;
    memset(token, 't', TOKEN_BYTES_MAX + 1);
    token[TOKEN_BYTES_MAX] = '\r';
    token[TOKEN_BYTES_MAX + 1] = '\n';
    assert_true(reads_file(slice_of(token, TOKEN_BYTES_MAX + 2), &config));
    assert_int_equal(config.lower.connection.token.size, TOKEN_BYTES_MAX);
    token[TOKEN_BYTES_MAX] = 't';
    assert_false(reads_file(slice_of(token, TOKEN_BYTES_MAX + 2), &config));
    assert_reported("at most 4096 bytes");
    assert_false(reads(&endless, &config));
    assert_reported("holds no valid token");
}

/* Goal: the reason why a file cannot be read is reported. Method: a missing one, and a folder. */
static void test_unreadable_token_file_is_reported(void **state)
{
    const struct errata_channel_config missing = {SIZED, .token_file = "/nowhere/token"};
    const struct errata_channel_config folder = {SIZED, .token_file = "/tmp"};
    struct library_config config;

    (void)state;
    assert_false(reads(&missing, &config));
    assert_string_equal(reported,
                        "token_file: cannot read \"/nowhere/token\": no such file or directory");
    assert_false(reads(&folder, &config));
    assert_reported("token_file: cannot read \"/tmp\": illegal operation on a directory");
}

/* Goal: settings of TLS that exclude each other, or files that cannot be used, are refused by name. Method: one
 * after the other. */
static void test_invalid_tls_is_refused_by_name(void **state)
{
    const struct {
        struct errata_channel_config config;
        const char *words;
    } cases[] = {
        {{SIZED, .ca_file = "/ca"}, "ca_file: set without tls"},
        {{SIZED, .tls = true, .client_cert_file = "/c"}, "client_key_file: missing"},
        {{SIZED, .tls = true, .client_key_file = "/k"}, "client_cert_file: missing"},
        {{SIZED, .client_cert_file = "/c", .client_key_file = "/k"},
         "client_cert_file: set without"},
        {{SIZED, .tls = true, .ca_file = "/nonexistent"}, "tls: /nonexistent: cannot be read"},
        {{SIZED, .tls = true, .client_cert_file = "/nonexistent", .client_key_file = "/k"},
         "tls: /nonexistent: cannot be read"},
    };
    struct library_config checked;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_false(reads(&cases[i].config, &checked));
        assert_reported(cases[i].words);
    }
}

/* Goal: TLS by the system's authorities needs no file, and is freed. */
static void test_tls_needs_no_file(void **state)
{
    const struct errata_channel_config config = {SIZED, .tls = true};
    struct library_config checked;

    (void)state;
    assert_true(reads(&config, &checked));
    assert_non_null(checked.lower.connection.tls);
    library_config_deinit(&checked);
    assert_null(checked.lower.connection.tls);
}

int run_config_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structs_of_other_versions_are_read),
        cmocka_unit_test(test_uninitialized_configuration_is_refused),
        cmocka_unit_test(test_unset_members_have_documented_defaults),
        cmocka_unit_test(test_given_numbers_are_used),
        cmocka_unit_test(test_number_out_of_range_is_refused_by_name),
        cmocka_unit_test(test_user_agent_begins_with_the_programs_name),
        cmocka_unit_test(test_token_above_4096_bytes_is_refused),
        cmocka_unit_test(test_token_file_is_read_with_a_line_end),
        cmocka_unit_test(test_large_token_file_is_refused_cheaply),
        cmocka_unit_test(test_unreadable_token_file_is_reported),
        cmocka_unit_test(test_invalid_tls_is_refused_by_name),
        cmocka_unit_test(test_tls_needs_no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
