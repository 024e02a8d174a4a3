/*
 * repeat_test.c: which calls are repeated, when, how often and with which idempotency key; a test
 * simulates the server.
 */
#include "store/base/uuid.h"
#include "tests/unit/client_channel/channel_tests.h"
#include "tests/unit/client_channel/fixture.h"

#include <stdio.h>

#define RESTART_CALLS 200

/* A fixture with one established connection, and one call on it that was answered. */
static struct fake_connection *start_ready(struct fixture *fixture)
{
    struct asked asked = {0};

    fixture_start(fixture);
    assert_int_equal(ask(fixture, &asked, &method_read, NULL), OK);
    fixture_run(fixture);
    fake_answer(fake_at(fixture_make_ready(fixture), 0), "hello");
    fixture_run(fixture);
    assert_int_equal(asked.ends, 1);
    return fixture_newest(fixture);
}

/* Goal: an idempotency key is made only for writes, is a UUID, differs for each call, and is
 * reported. */
static void test_keys_are_made_only_for_writes(void **state)
{
    struct fixture fixture;
    struct asked asked[3] = {{0}};
    struct fake_connection *connection = NULL;
    struct uuid uuid;

    (void)state;
    connection = start_ready(&fixture);
    assert_int_equal(ask(&fixture, &asked[0], &method_write, NULL), OK);
    assert_int_equal(ask(&fixture, &asked[1], &method_write, NULL), OK);
    assert_int_equal(ask(&fixture, &asked[2], &method_read, NULL), OK);
    assert_true(uuid_parse(slice_text(fake_at(connection, 0)->key), &uuid));
    assert_true(uuid_parse(slice_text(fake_at(connection, 1)->key), &uuid));
    assert_string_not_equal(fake_at(connection, 0)->key, fake_at(connection, 1)->key);
    assert_int_equal(fake_at(connection, 2)->keys, 0);
    for (int i = 0; i < 3; i++) {
        char key[FIXTURE_TEXT_BYTES];

        memcpy(key, fake_at(connection, 0)->key, sizeof(key));
        fake_answer(fake_at(connection, 0), "done");
        assert_string_equal(asked[i].key, key);
    }
    fixture_end(&fixture);
}

/* Goal: the caller's own key is kept, and reported. */
static void test_callers_key_is_kept(void **state)
{
    const struct client_metadata metadata[] = {
        {.key = SLICE("x-one"), .value = SLICE("1")},
        {.key = SLICE("idempotency-key"), .value = SLICE("invoice 7")}};
    const struct client_options options = {.metadata = metadata, .metadata_count = 2};
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    connection = start_ready(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_write, &options), OK);
    assert_int_equal(fake_at(connection, 0)->keys, 1);
    assert_string_equal(fake_at(connection, 0)->key, "invoice 7");
    fake_answer(fake_at(connection, 0), "done");
    assert_string_equal(asked.key, "invoice 7");
    fixture_end(&fixture);
}

/* Goal: a server that is restarted in the middle of many calls loses none and gets no write under
 * two keys. Some calls are answered, of the others the server has seen half. */
static void test_restarted_server_loses_no_call(void **state)
{
    struct fixture fixture;
    struct asked asked[RESTART_CALLS] = {{0}};
    char keys[RESTART_CALLS][UUID_TEXT_BYTES + 1] = {{0}};
    struct fake_connection *connection = NULL;

    (void)state;
    connection = start_ready(&fixture);
    for (int i = 0; i < RESTART_CALLS; i++) {
        assert_int_equal(ask(&fixture, &asked[i], i % 2 == 0 ? &method_write : &method_read, NULL),
                         OK);
        memcpy(keys[i], fake_at(connection, (unsigned)i)->key, sizeof(keys[i]));
    }
    for (int i = 0; i < RESTART_CALLS / 4; i++) {
        fake_answer(fake_at(connection, 0), "first");
    }
    fake_report(connection, CLIENT_CONNECTION_LOST, "the server was killed");
    for (int i = RESTART_CALLS / 4; i < RESTART_CALLS / 2; i++) {
        fake_vanish(fake_at(connection, 0));
    }
    while (connection->calls != NULL) {
        fake_refuse(fake_at(connection, 0));
    }
    fixture_run(&fixture);
    assert_int_equal(fixture_statistics(&fixture).calls_under_way, RESTART_CALLS * 3 / 4);
    /* The third attempt succeeds. */
    fixture_pass(&fixture, 120);
    fake_lose(fixture_newest(&fixture), true);
    fixture_pass(&fixture, 200);
    fake_lose(fixture_newest(&fixture), true);
    fixture_pass(&fixture, 320);
    connection = fixture_make_ready(&fixture);
    fixture_pass(&fixture, 1000);
    assert_int_equal(fake_count(connection), RESTART_CALLS * 3 / 4);
    while (connection->calls != NULL) {
        fake_answer(connection->calls, connection->calls->key);
    }
    for (int i = 0; i < RESTART_CALLS; i++) {
        assert_int_equal(asked[i].ends, 1);
        assert_int_equal(asked[i].code, CLIENT_CODE_OK);
        assert_int_equal(asked[i].replies, 1);
        assert_int_equal(asked[i].attempts, i < RESTART_CALLS / 4 ? 1 : 2);
        assert_string_equal(asked[i].key, keys[i]);
        assert_string_equal(asked[i].reply, i < RESTART_CALLS / 4 ? "first" : keys[i]);
    }
    fixture_end(&fixture);
}

/* Goal: after UNAVAILABLE a call is repeated after its own wait, which grows; the key stays. */
static void test_unavailable_call_is_repeated_after_growing_waits(void **state)
{
    static const int64_t waits_ms[] = {100, 160, 256, 410, 656, 1050, 1680};
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = start_ready(&fixture);
    char key[FIXTURE_TEXT_BYTES];

    (void)state;
    assert_int_equal(ask(&fixture, &asked, &method_write, NULL), OK);
    memcpy(key, fake_at(connection, 0)->key, sizeof(key));
    for (unsigned i = 0; i < CLIENT_ATTEMPTS_DEFAULT - 1; i++) {
        assert_string_equal(fake_at(connection, 0)->key, key);
        assert_string_equal(fake_at(connection, 0)->request, "please");
        fake_end(fake_at(connection, 0), CLIENT_CODE_UNAVAILABLE);
        fixture_run(&fixture);
        assert_int_equal(fake_count(connection), 0);
        assert_in_range(fixture.delay_ms, waits_ms[i] * 4 / 5 - 1, waits_ms[i] * 6 / 5 + 1);
        fixture_pass(&fixture, fixture.delay_ms);
    }
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(asked.ends, 1);
    assert_int_equal(asked.code, CLIENT_CODE_UNAVAILABLE);
    assert_string_equal(asked.message, "the server said so");
    assert_int_equal(asked.attempts, CLIENT_ATTEMPTS_DEFAULT);
    assert_true(asked.from_server);
    assert_false(asked.unseen);
    fixture_end(&fixture);
}

/* Goal: the delay of RetryInfo is used, for any error, if it is longer than the call's own. */
static void test_longer_retry_info_delay_is_used(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = start_ready(&fixture);

    (void)state;
    assert_int_equal(ask(&fixture, &asked, &method_write, NULL), OK);
    fake_end_retry(fake_at(connection, 0), CLIENT_CODE_RESOURCE_EXHAUSTED, 700);
    fixture_pass(&fixture, 699);
    assert_int_equal(fake_count(connection), 0);
    fixture_pass(&fixture, 1);
    fake_end_retry(fake_at(connection, 0), CLIENT_CODE_UNAVAILABLE, 10);
    fixture_run(&fixture);
    assert_in_range(fixture.delay_ms, 127, 193);
    fixture_pass(&fixture, 193);
    fake_end(fake_at(connection, 0), CLIENT_CODE_RESOURCE_EXHAUSTED);
    assert_int_equal(asked.code, CLIENT_CODE_RESOURCE_EXHAUSTED);
    assert_int_equal(asked.attempts, 3);
    fixture_end(&fixture);
}

/* Goal: a final answer of the server is passed on: also ALREADY_EXISTS after an attempt whose
 * answer was lost, since only the caller knows its meaning. */
static void test_final_answer_is_passed_on(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = start_ready(&fixture);

    (void)state;
    for (uint32_t code = 1; code <= 16; code++) {
        if (code != CLIENT_CODE_UNAVAILABLE) {
            assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
            fake_end(fake_at(connection, 0), code);
            assert_int_equal(asked.code, code);
            assert_int_equal(asked.attempts, 1);
        }
    }
    assert_int_equal(ask(&fixture, &asked, &method_write, NULL), OK);
    fake_report(connection, CLIENT_CONNECTION_LOST, "cut");
    fake_vanish(fake_at(connection, 0));
    fixture_pass(&fixture, 120);
    fake_end(fake_at(fixture_make_ready(&fixture), 0), 6);
    assert_int_equal(asked.code, 6);
    assert_int_equal(asked.attempts, 2);
    assert_true(asked.from_server);
    fixture_end(&fixture);
}

/* Goal: attempts_max of 1 forbids a repeat; but a call that was not sent waits for the current
 * connection attempt. */
static void test_one_attempt_is_not_repeated(void **state)
{
    const struct client_options once = {.no_retry = true};
    struct fixture fixture;
    struct asked asked = {0};
    struct asked second = {0};

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_read, &once), OK);
    fixture_pass(&fixture, 100);
    fake_answer(fake_at(fixture_make_ready(&fixture), 0), "yes");
    assert_int_equal(asked.code, CLIENT_CODE_OK);
    assert_int_equal(ask(&fixture, &asked, &method_read, &once), OK);
    assert_int_equal(ask(&fixture, &second, &method_write, &once), OK);
    fake_end(fake_at(fixture_newest(&fixture), 0), CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(asked.code, CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(asked.attempts, 1);
    fake_lose(fixture_newest(&fixture), true);
    assert_int_equal(second.code, CLIENT_CODE_UNAVAILABLE);
    assert_true(second.unseen);
    assert_int_equal(second.attempts, 1);

    assert_int_equal(ask(&fixture, &asked, &method_read, &once), OK);
    fixture_pass(&fixture, 200);
    assert_int_equal(asked.ends, 0);
    fake_lose(fixture_newest(&fixture), true);
    assert_int_equal(asked.ends, 1);
    assert_int_equal(asked.code, CLIENT_CODE_UNAVAILABLE);
    assert_string_equal(asked.message, "cannot connect to nowhere: connection refused");
    assert_int_equal(asked.attempts, 0);
    fixture_end(&fixture);
}

/* Goal: a server that cannot be reached ends a call after attempts_max attempts; one that waits for
 * ready continues until its deadline, and then reports what it waited for. */
static void test_unreachable_server_ends_a_call_after_its_attempts(void **state)
{
    const struct client_options patient = {.wait_for_ready = true, .timeout_ms = 60000};
    struct fixture fixture;
    struct asked asked = {0};
    struct asked waiting = {0};
    unsigned tries = 0;

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    assert_int_equal(ask(&fixture, &waiting, &method_read, &patient), OK);
    fixture_run(&fixture);
    while (waiting.ends == 0 && tries < 100) {
        if (fixture.connection_count > 0) {
            tries++;
            assert_int_equal(asked.ends, tries > CLIENT_ATTEMPTS_DEFAULT);
            fake_lose(fixture_newest(&fixture), true);
        }
        fixture_pass(&fixture, 10);
    }
    assert_int_equal(asked.code, CLIENT_CODE_UNAVAILABLE);
    assert_string_equal(asked.message, "cannot connect to nowhere: connection refused");
    assert_false(asked.from_server);
    assert_int_equal(waiting.code, CLIENT_CODE_DEADLINE_EXCEEDED);
    assert_string_equal(waiting.message,
                        "cannot connect to nowhere: connection refused; the deadline passed before "
                        "another try succeeded");
    assert_int_equal(fixture_now_ms(&fixture) / 1000, 60);
    assert_true(tries > CLIENT_ATTEMPTS_DEFAULT + 5);
    fixture_end(&fixture);
}

/* Goal: if the next wait exceeded the deadline, the call ends at once with the result of its last
 * attempt, and so does one that waits for a connection. */
static void test_call_ends_early_if_a_wait_exceeds_its_deadline(void **state)
{
    const struct client_options soon = {.timeout_ms = 300};
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = start_ready(&fixture);

    (void)state;
    assert_int_equal(ask(&fixture, &asked, &method_read, &soon), OK);
    fake_end_retry(fake_at(connection, 0), CLIENT_CODE_RESOURCE_EXHAUSTED, 300);
    assert_int_equal(asked.code, CLIENT_CODE_RESOURCE_EXHAUSTED);
    assert_string_equal(asked.message, "the server said when");
    assert_int_equal(ask(&fixture, &asked, &method_read, &soon), OK);
    fake_end_retry(fake_at(connection, 0), CLIENT_CODE_RESOURCE_EXHAUSTED, 299);
    fixture_pass(&fixture, 299);
    assert_int_equal(fake_at(connection, 0)->timeout_ms, 1);
    fixture_pass(&fixture, 1);
    assert_int_equal(asked.code, CLIENT_CODE_DEADLINE_EXCEEDED);

    assert_int_equal(ask(&fixture, &asked, &method_read, &soon), OK);
    fake_lose(connection, true);
    fixture_pass(&fixture, 120);
    fake_lose(fixture_newest(&fixture), true);
    assert_int_equal(asked.ends, 1);
    assert_int_equal(asked.code, CLIENT_CODE_UNAVAILABLE);
    assert_string_equal(asked.message, "cannot connect to nowhere: connection refused");
    fixture_end(&fixture);
}

/* Goal: an attempt gets the rest of the call's time; unary calls have a deadline unless they
 * disable it. */
static void test_attempt_gets_the_remaining_time(void **state)
{
    const struct client_options none = {.timeout_ms = -1};
    const struct client_options second = {.timeout_ms = 1000};
    const struct client_options endless = {.timeout_ms = INT64_MAX};
    struct fixture fixture;
    struct asked asked[5] = {{0}};
    struct fake_connection *connection = start_ready(&fixture);

    (void)state;
    assert_int_equal(ask(&fixture, &asked[0], &method_read, NULL), OK);
    assert_int_equal(ask(&fixture, &asked[1], &method_read, &none), OK);
    assert_int_equal(ask(&fixture, &asked[2], &method_watch, NULL), OK);
    assert_int_equal(ask(&fixture, &asked[3], &method_read, &second), OK);
    assert_int_equal(ask(&fixture, &asked[4], &method_read, &endless), OK);
    assert_int_equal(fake_at(connection, 0)->timeout_ms, CLIENT_CALL_TIMEOUT_MS);
    assert_int_equal(fake_at(connection, 1)->timeout_ms, 0);
    assert_int_equal(fake_at(connection, 2)->timeout_ms, 0);
    assert_int_equal(fake_at(connection, 3)->timeout_ms, 1000);
    assert_int_equal(fake_at(connection, 4)->timeout_ms, 0);
    fixture_pass(&fixture, 400);
    fake_end_retry(fake_at(connection, 3), CLIENT_CODE_UNAVAILABLE, 200);
    fixture_pass(&fixture, 200);
    assert_int_equal(fake_at(connection, 4)->timeout_ms, 400);
    fixture_pass(&fixture, 399);
    assert_int_equal(asked[3].ends, 0);
    fixture_pass(&fixture, 1);
    assert_int_equal(asked[3].code, CLIENT_CODE_DEADLINE_EXCEEDED);
    assert_string_equal(asked[3].message, "the deadline passed before the response arrived");
    assert_false(asked[3].unseen);
    fixture_pass(&fixture, CLIENT_CALL_TIMEOUT_MS - 1000);
    assert_int_equal(asked[0].code, CLIENT_CODE_DEADLINE_EXCEEDED);
    fixture_pass(&fixture, (int64_t)1000 * 3600 * 1000);
    assert_int_equal(asked[1].ends + asked[2].ends + asked[4].ends, 0);
    fixture_end(&fixture);
}

/* Goal: a deadline counts from the start of the call, even if the program stepped the channel
 * late. */
static void test_deadline_counts_from_the_start_of_the_call(void **state)
{
    const struct client_options second = {.timeout_ms = 1000};
    struct fixture fixture;
    struct asked asked = {0};

    (void)state;
    (void)start_ready(&fixture);
    clock_manual_advance(&fixture.clock, 5000000);
    assert_int_equal(ask(&fixture, &asked, &method_read, &second), OK);
    fixture_run(&fixture);
    assert_int_equal(asked.ends, 0);
    fixture_pass(&fixture, 999);
    assert_int_equal(asked.ends, 0);
    fixture_pass(&fixture, 1);
    assert_int_equal(asked.code, CLIENT_CODE_DEADLINE_EXCEEDED);
    fixture_end(&fixture);
}

/* Goal: repeats after an answer of the server take tokens from the bucket; an empty one ends calls
 * with that answer. Lost connections cost nothing, and successful calls refill it. */
static void test_repeats_are_limited_by_the_bucket(void **state)
{
    const struct client_options none = {.timeout_ms = -1};
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = start_ready(&fixture);
    unsigned repeats = 0;

    (void)state;
    /* Each of these calls takes one token for its repeat, and returns a fifth of it. */
    do {
        assert_int_equal(ask(&fixture, &asked, &method_read, &none), OK);
        fake_end(fake_at(connection, 0), CLIENT_CODE_UNAVAILABLE);
        if (asked.ends == 0) {
            repeats++;
            fixture_pass(&fixture, 120);
            fake_answer(fake_at(connection, 0), "at last");
        }
    } while (asked.code == CLIENT_CODE_OK && repeats <= 5 * CLIENT_RETRY_TOKENS_MAX);
    assert_int_equal(asked.attempts, 1);
    assert_int_equal(repeats, (5 * CLIENT_RETRY_TOKENS_MAX - 1) / 4);
    /* A lost connection is not a response of the server. */
    assert_int_equal(ask(&fixture, &asked, &method_read, &none), OK);
    fake_report(connection, CLIENT_CONNECTION_LOST, "cut");
    fake_vanish(fake_at(connection, 0));
    fixture_pass(&fixture, 120);
    connection = fixture_make_ready(&fixture);
    fake_answer(fake_at(connection, 0), "again");
    assert_int_equal(asked.attempts, 2);
    /* The success added the missing fifth of a token: enough for one retry, but not for two. */
    assert_int_equal(ask(&fixture, &asked, &method_read, &none), OK);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(asked.ends, 0);
    fixture_pass(&fixture, 120);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(asked.ends, 1);
    assert_int_equal(asked.attempts, 2);
    fixture_end(&fixture);
}

/* Goal: a stream refused by a healthy server is repeated after a wait, for any call, and at most
 * attempts_max times. */
static void test_refused_stream_is_repeated_after_a_wait(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = start_ready(&fixture);

    (void)state;
    assert_int_equal(ask(&fixture, &asked, &method_write, NULL), OK);
    for (unsigned i = 0; i < CLIENT_ATTEMPTS_DEFAULT; i++) {
        fake_refuse(fake_at(connection, 0));
        fixture_run(&fixture);
        assert_int_equal(fake_count(connection), 0);
        fixture_pass(&fixture, 2100);
    }
    assert_int_equal(asked.ends, 1);
    assert_int_equal(asked.attempts, CLIENT_ATTEMPTS_DEFAULT);
    assert_true(asked.unseen);
    assert_string_equal(asked.message, "the stream was refused");
    fixture_end(&fixture);
}

/* Goal: a reply whose status was lost is reported once; the repeat only gets the status. */
static void test_reply_without_status_is_reported_once(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = start_ready(&fixture);

    (void)state;
    assert_int_equal(ask(&fixture, &asked, &method_write, NULL), OK);
    fake_reply(fake_at(connection, 0), "stored");
    fake_report(connection, CLIENT_CONNECTION_LOST, "cut");
    fake_vanish(fake_at(connection, 0));
    fixture_pass(&fixture, 120);
    fake_answer(fake_at(fixture_make_ready(&fixture), 0), "stored");
    assert_int_equal(asked.replies, 1);
    assert_string_equal(asked.reply, "stored");
    assert_int_equal(asked.code, CLIENT_CODE_OK);
    assert_int_equal(asked.attempts, 2);
    fixture_end(&fixture);
}

/* Source of tokens for a fake connector. */
struct token_source {
    unsigned reads;
    bool has_another;
};

static struct token_source source; /* the connector's user is the fixture */

static void refresh_token(void *user)
{
    source.reads++;
    if (source.has_another) {
        client_channel_note_token(((struct fixture *)user)->channel);
    }
}

static void start_with_source(struct fixture *fixture, bool has_another)
{
    source = (struct token_source){.has_another = has_another};
    fixture_init(fixture, 1);
    fixture->config.connector.refresh_token = refresh_token;
    fixture_open(fixture);
}

/* Goal: an unauthenticated call has the token read again, once, and is repeated at once with the
 * new one, for any method; a second refusal ends it. Method: a write, refused twice. */
static void test_unauthenticated_call_reads_the_token_once(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    start_with_source(&fixture, true);
    assert_int_equal(ask(&fixture, &asked, &method_write, NULL), OK);
    fixture_run(&fixture);
    connection = fixture_make_ready(&fixture);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAUTHENTICATED);
    fixture_run(&fixture);
    assert_int_equal(source.reads, 1);
    assert_int_equal(asked.ends, 0);
    assert_int_equal(fake_count(connection), 1);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAUTHENTICATED);
    assert_int_equal(source.reads, 1);
    assert_int_equal(asked.code, CLIENT_CODE_UNAUTHENTICATED);
    assert_int_equal(asked.attempts, 2);
    fixture_end(&fixture);
}

/* Goal: if no other token is found, the refusal is the answer, without a second attempt; a call
 * that started before the token was replaced is repeated without another read; and a call of one
 * attempt is not repeated. Method: each. */
static void test_unchanged_token_is_not_retried(void **state)
{
    const struct client_options once = {.no_retry = true};
    struct fixture fixture;
    struct asked asked[2] = {{0}};
    struct fake_connection *connection = NULL;

    (void)state;
    start_with_source(&fixture, false);
    assert_int_equal(ask(&fixture, &asked[0], &method_read, NULL), OK);
    assert_int_equal(ask(&fixture, &asked[1], &method_read, NULL), OK);
    fixture_run(&fixture);
    connection = fixture_make_ready(&fixture);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAUTHENTICATED);
    assert_int_equal(asked[0].code, CLIENT_CODE_UNAUTHENTICATED);
    assert_int_equal(asked[0].attempts, 1);
    assert_int_equal(source.reads, 1);

    client_channel_note_token(fixture.channel);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAUTHENTICATED);
    fixture_run(&fixture);
    assert_int_equal(source.reads, 1);
    fake_answer(fake_at(connection, 0), "known");
    assert_int_equal(asked[1].code, CLIENT_CODE_OK);

    source.has_another = true;
    assert_int_equal(ask(&fixture, &asked[0], &method_read, &once), OK);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAUTHENTICATED);
    assert_int_equal(source.reads, 2);
    assert_int_equal(asked[0].code, CLIENT_CODE_UNAUTHENTICATED);
    fixture_end(&fixture);
}

/* Log lines, each with a letter for the level. */
static char logged[2000];

static void write_log(void *user, enum errata_log_level level, const char *message)
{
    size_t size = strlen(logged);

    (void)user;
    assert_null(strchr(message, '\n'));
    (void)snprintf(logged + size, sizeof(logged) - size, "%c %s\n", "DIW"[level], message);
}

/* Goal: the log has a line for each connection that opens, fails or is lost, and for each repeat.
 * Method: one of each; the waits are those of the seed. */
static void test_connections_and_repeats_are_logged(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    logged[0] = '\0';
    fixture_init(&fixture, 1);
    fixture.config.log.write = write_log;
    fixture.config.retry.backoff_initial_ms = 1; /* makes the jitter negligible */
    fixture_open(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_read, NULL), OK);
    fixture_run(&fixture);
    fake_lose(fixture_newest(&fixture), true);
    fixture_pass(&fixture, 1);
    connection = fixture_make_ready(&fixture);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNAVAILABLE);
    fixture_pass(&fixture, 1);
    fake_answer(fake_at(connection, 0), "known");
    fake_drain(connection);
    fixture_end(&fixture);
    assert_string_equal(
        logged,
        "W cannot connect to nowhere: connection refused; connecting again in 1 ms if a call needs "
        "it\n"
        "I connected to played:1\n"
        "D /errata.v1.PromptService/GetExamples: attempt 1 ended with UNAVAILABLE: the server said "
        "so; the next one follows in 1 ms\n"
        "I the server closed the connection; connecting again in 0 ms if a call needs it\n");
}

int run_repeat_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_are_made_only_for_writes),
        cmocka_unit_test(test_callers_key_is_kept),
        cmocka_unit_test(test_restarted_server_loses_no_call),
        cmocka_unit_test(test_unavailable_call_is_repeated_after_growing_waits),
        cmocka_unit_test(test_longer_retry_info_delay_is_used),
        cmocka_unit_test(test_final_answer_is_passed_on),
        cmocka_unit_test(test_one_attempt_is_not_repeated),
        cmocka_unit_test(test_unreachable_server_ends_a_call_after_its_attempts),
        cmocka_unit_test(test_call_ends_early_if_a_wait_exceeds_its_deadline),
        cmocka_unit_test(test_attempt_gets_the_remaining_time),
        cmocka_unit_test(test_deadline_counts_from_the_start_of_the_call),
        cmocka_unit_test(test_repeats_are_limited_by_the_bucket),
        cmocka_unit_test(test_refused_stream_is_repeated_after_a_wait),
        cmocka_unit_test(test_reply_without_status_is_reported_once),
        cmocka_unit_test(test_unauthenticated_call_reads_the_token_once),
        cmocka_unit_test(test_unchanged_token_is_not_retried),
        cmocka_unit_test(test_connections_and_repeats_are_logged)};

    return cmocka_run_group_tests_name("channel_repeat", tests, NULL, NULL);
}
