/*
 * refusal_tests.c: log lines of refusals: each kind is counted, and has one line per interval.
 */
#include "tests/rpc/fixture.h"

#include "store/base/logger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_US 1000000
#define LIST "errata.v1.EventService/ListEvents"

/* Redirects standard error to a file. */
struct listener {
    FILE *file;
    int kept;
    char text[8192];
};

static void listener_begin(struct listener *listener)
{
    logger_configure(LOGGER_INFO, LOGGER_TEXT);
    listener->file = tmpfile();
    assert_non_null(listener->file);
    listener->kept = dup(STDERR_FILENO);
    assert_true(dup2(fileno(listener->file), STDERR_FILENO) >= 0);
}

/* Returns the lines written since the beginning. */
static const char *listener_end(struct listener *listener)
{
    size_t size = 0;

    assert_true(dup2(listener->kept, STDERR_FILENO) >= 0);
    assert_int_equal(close(listener->kept), 0);
    rewind(listener->file);
    size = fread(listener->text, 1, sizeof(listener->text) - 1, listener->file);
    listener->text[size] = '\0';
    assert_int_equal(fclose(listener->file), 0);
    logger_configure(LOGGER_ERROR, LOGGER_TEXT);
    return listener->text;
}

static size_t count_text(const char *text, const char *part)
{
    size_t count = 0;

    while ((text = strstr(text, part)) != NULL) {
        count++;
        text += strlen(part);
    }
    return count;
}

static void list(struct fixture *fixture, const char *token, enum status_code code)
{
    Errata__V1__ListEventsRequest request = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;
    const struct exchange_start start = {.path = LIST, .authorization = token};

    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), code);
}

/* Goal: a flood of refused tokens is one line in the log, with the reason, the key id and the number, and
 * without the secret. Method: 100 calls, then one after nine seconds, then one after ten. */
static void test_flood_of_refused_tokens_is_one_log_line(void **state)
{
    struct fixture fixture;
    struct listener listener;
    char wrong[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    const char *text = NULL;

    (void)state;
    fixture_init(&fixture);
    (void)snprintf(wrong, sizeof(wrong), "%s", fixture.admin);
    wrong[30] = wrong[30] == 'a' ? 'b' : 'a';
    fixture_key_id_of(fixture.admin, key_id);
    listener_begin(&listener);
    for (size_t i = 0; i < 100; i++) {
        list(&fixture, wrong, STATUS_UNAUTHENTICATED);
    }
    clock_manual_advance(&fixture.clock, 9 * SECOND_US);
    list(&fixture, wrong, STATUS_UNAUTHENTICATED);
    text = listener_end(&listener);
    assert_int_equal(count_text(text, "token refused"), 1);
    assert_non_null(strstr(text, "wrong secret"));
    assert_non_null(strstr(text, key_id));
    assert_null(strstr(text, wrong + 24));
    assert_null(strstr(text, fixture.admin + 24));
    listener_begin(&listener);
    clock_manual_advance(&fixture.clock, SECOND_US);
    list(&fixture, wrong, STATUS_UNAUTHENTICATED);
    text = listener_end(&listener);
    assert_int_equal(count_text(text, "token refused"), 1);
    assert_non_null(strstr(text, "101"));
    assert_int_equal(fixture.env.refusal_counts[REFUSAL_TOKEN], 102);
    assert_int_equal(fixture.env.refusal_counts[REFUSAL_BUSY], 0);
    fixture_deinit(&fixture);
}

/* Checks the log line of one refused call, after ten quiet seconds. */
static void expect_reason(struct fixture *fixture, const char *token, const char *reason)
{
    struct listener listener;

    clock_manual_advance(&fixture->clock, 10 * SECOND_US);
    listener_begin(&listener);
    list(fixture, token, STATUS_UNAUTHENTICATED);
    assert_non_null(strstr(listener_end(&listener), reason));
}

/* Goal: the log distinguishes the reasons, which the response does not. Method: each kind of
 * token. */
static void test_log_distinguishes_reasons_of_refusal(void **state)
{
    struct fixture fixture;
    char token[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    Errata__V1__RevokeTokenRequest revoke = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.AdminService/RevokeToken",
                                         .authorization = fixture.admin};

    (void)state;
    fixture_init(&fixture);
    expect_reason(&fixture, NULL, "no token");
    expect_reason(&fixture, "Bearer x", "malformed token");
    (void)snprintf(token, sizeof(token), "%s", fixture.admin);
    token[14] = token[14] == '0' ? '1' : '0';
    expect_reason(&fixture, token, "unknown key id");
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, token);
    fixture_key_id_of(token, key_id);
    revoke.key_id = key_id;
    assert_int_equal(fixture_call(&fixture, &start, &revoke.base, NULL), STATUS_OK);
    expect_reason(&fixture, token, "revoked");
    fixture_make_ending_token(&fixture, fixture.admin,
                              clock_wall_us(&fixture.clock.clock) + SECOND_US, token);
    expect_reason(&fixture, token, "expired");
    fixture_deinit(&fixture);
}

/* Goal: an overloaded server logs this once, not once per call. Method: a full pool. */
static void test_overload_is_logged_once(void **state)
{
    struct fixture fixture;
    struct listener listener;
    const char *text = NULL;
    Errata__V1__GetLearningAnalyticsRequest request =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.AnalyticsService/GetLearningAnalytics",
                                         .authorization = fixture.admin};

    (void)state;
    fixture_init(&fixture);
    fixture.pool_is_full = true;
    listener_begin(&listener);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL), STATUS_UNAVAILABLE);
    }
    text = listener_end(&listener);
    assert_int_equal(count_text(text, "too much to do"), 1);
    assert_int_equal(count_text(text, "\n"), 1);
    assert_int_equal(fixture.env.refusal_counts[REFUSAL_BUSY], 20);
    fixture_deinit(&fixture);
}

int run_refusal_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flood_of_refused_tokens_is_one_log_line),
        cmocka_unit_test(test_log_distinguishes_reasons_of_refusal),
        cmocka_unit_test(test_overload_is_logged_once),
    };

    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
