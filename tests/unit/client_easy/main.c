/*
 * main.c: unit tests of errata/easy.h, against a scripted server on the loopback: what its calls send, the
 * texts that they return, and how each failure is described.
 */
#include "tests/support/client/loopback.h"

#include <errata/easy.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

/* {hint_examples_json: "[]"}, and {event: {id: "x"}}. */
#define FRAME_HINTS "\0\0\0\0\4\x12\x02[]"
#define FRAME_EVENT "\0\0\0\0\5\x0a\x03\x0a\x01x"

static const char *const headers[] = {":status", "200", "content-type", "application/grpc", NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};
static const char *const refusal[] = {":status",          "200",         "content-type",
                                      "application/grpc", "grpc-status", "3",
                                      "grpc-message",     "no%20layout", NULL};

static struct errata_easy *open_at(const char *address)
{
    struct errata_easy *easy = errata_easy_open(address);

    assert_non_null(easy);
    assert_string_equal(errata_easy_error(easy), "");
    assert_int_equal(errata_easy_code(easy), ERRATA_CODE_OK);
    return easy;
}

static bool was_sent(const struct loopback *server, const char *text)
{
    return memmem(server->peers[0]->request, server->peers[0]->request_bytes, text, strlen(text)) !=
           NULL;
}

/* Goal: examples are requested by layout and document, and returned as JSON. */
static void test_examples_are_returned_as_json(void **state)
{
    const struct peer_script script = {
        .headers = headers, .body = SLICE(FRAME_HINTS), .trailers = trailers_ok};
    struct errata_easy *easy = NULL;
    struct loopback server;

    (void)state;
    loopback_start(&server, &script, 1);
    easy = open_at(server.address);
    assert_string_equal(errata_easy_examples(easy, "layout-1", "document-1"), "[]");
    assert_string_equal(errata_easy_error(easy), "");
    errata_easy_close(easy);
    loopback_wait(&server);
    assert_true(was_sent(&server, "layout-1"));
    assert_true(was_sent(&server, "document-1"));
    loopback_free(&server);
}

/* Goal: a correction is sent with all its members, the snippet as valid JSON, and its id returned. */
static void test_correction_is_sent_with_all_members(void **state)
{
    const struct peer_script script = {
        .headers = headers, .body = SLICE(FRAME_EVENT), .trailers = trailers_ok};
    const struct errata_correction correction = {.layout = "layout-1",
                                                 .document_id = "document-1",
                                                 .input_snippet = "12 \"M8\"\tbolts",
                                                 .before_json = "{\"qty\": 10}",
                                                 .after_json = "{\"qty\": 12}",
                                                 .actor_user_id = "user-1"};
    struct errata_easy *easy = NULL;
    struct loopback server;

    (void)state;
    loopback_start(&server, &script, 1);
    easy = open_at(server.address);
    assert_string_equal(errata_easy_correct(easy, &correction), "x");
    assert_int_equal(errata_easy_code(easy), ERRATA_CODE_OK);
    errata_easy_close(easy);
    loopback_wait(&server);
    assert_true(was_sent(&server, "layout-1"));
    assert_true(was_sent(&server, "document-1"));
    assert_true(was_sent(&server, "user-1"));
    assert_true(was_sent(&server, "{\"input_snippet\": \"12 \\\"M8\\\"\\tbolts\"}"));
    assert_true(was_sent(&server, "{\"qty\": 10}"));
    assert_true(was_sent(&server, "{\"qty\": 12}"));
    loopback_free(&server);
}

/* Goal: a refusal returns "" and is described; the next call starts without it. Method: a server that
 * refuses, then no server. */
static void test_refusal_is_described_and_then_forgotten(void **state)
{
    const struct peer_script script = {.headers = refusal};
    struct errata_channel_config config;
    struct errata_easy *easy = NULL;
    struct loopback server;
    char address[32];
    char expected[100];

    (void)state;
    loopback_start(&server, &script, 1);
    errata_channel_config_init(&config);
    memcpy(address, server.address, sizeof(address));
    config.server = address;
    config.attempts_max = 2;
    config.backoff_initial_ms = 1;
    easy = errata_easy_open_config(&config);
    assert_string_equal(errata_easy_examples(easy, NULL, NULL), "");
    assert_string_equal(errata_easy_error(easy), "INVALID_ARGUMENT: no layout");
    assert_int_equal(errata_easy_code(easy), ERRATA_CODE_INVALID_ARGUMENT);
    errata_easy_close(easy);
    loopback_wait(&server);
    loopback_free(&server);

    easy = errata_easy_open_config(&config);
    (void)snprintf(expected, sizeof(expected),
                   "UNAVAILABLE: cannot connect to %s: connection refused", address);
    assert_string_equal(errata_easy_examples(easy, "layout-1", NULL), "");
    assert_string_equal(errata_easy_error(easy), expected);
    assert_string_equal(errata_easy_correct(easy, NULL), "");
    assert_string_equal(errata_easy_error(easy),
                        "INVALID_ARGUMENT: correction: NULL; expected a correction");
    errata_easy_close(easy);
}

/* Goal: an invalid setting, from the caller or the environment, is described by open and by every
 * call; so is a NULL object. */
static void test_invalid_setting_is_described_by_every_call(void **state)
{
    static const struct errata_correction correction = {.after_json = "{}"};
    struct errata_easy *easy = errata_easy_open("https://errata");

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(errata_easy_code(easy), ERRATA_CODE_INVALID_ARGUMENT);
        assert_non_null(strstr(errata_easy_error(easy), "INVALID_ARGUMENT: server: "));
        assert_string_equal(errata_easy_examples(easy, "layout-1", NULL), "");
        assert_string_equal(errata_easy_correct(easy, &correction), "");
        assert_null(errata_easy_blocking(easy));
    }
    errata_easy_close(easy);

    assert_int_equal(setenv("ERRATA_TOKEN_FILE", "/nowhere/token", 1), 0);
    easy = errata_easy_open(NULL);
    assert_string_equal(errata_easy_error(easy), "INVALID_ARGUMENT: token_file: cannot read "
                                                 "\"/nowhere/token\": no such file or directory");
    errata_easy_close(easy);
    assert_int_equal(unsetenv("ERRATA_TOKEN_FILE"), 0);

    assert_string_equal(errata_easy_examples(NULL, "layout-1", NULL), "");
    assert_string_equal(errata_easy_correct(NULL, &correction), "");
    assert_string_equal(errata_easy_error(NULL), "RESOURCE_EXHAUSTED: out of memory");
    assert_int_equal(errata_easy_code(NULL), ERRATA_CODE_RESOURCE_EXHAUSTED);
    assert_null(errata_easy_blocking(NULL));
    errata_easy_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_are_returned_as_json),
        cmocka_unit_test(test_correction_is_sent_with_all_members),
        cmocka_unit_test(test_refusal_is_described_and_then_forgotten),
        cmocka_unit_test(test_invalid_setting_is_described_by_every_call)};

    (void)unsetenv("ERRATA_SERVER");
    (void)unsetenv("ERRATA_TOKEN_FILE");
    return cmocka_run_group_tests_name("client_easy", tests, NULL, NULL);
}
