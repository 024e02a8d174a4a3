/*
 * stream_test.c: streams of replies and of requests over more than one attempt: what commits them, and
 * the actions of a caller while there is no attempt.
 */
#include "tests/unit/client_channel/channel_tests.h"
#include "tests/unit/client_channel/fixture.h"

/* Loses the newest connection in such a way that the server may have seen its calls, and makes
 * another. */
static struct fake_connection *replace_connection(struct fixture *fixture)
{
    fake_lose(fixture_newest(fixture), false);
    fixture_pass(fixture, 400);
    return fixture_make_ready(fixture);
}

/* Goal: a stream of replies is repeated until its first reply was passed on, and never after
 * that. */
static void test_first_reply_commits_a_stream(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_watch, NULL), OK);
    fixture_run(&fixture);
    (void)fixture_make_ready(&fixture);
    connection = replace_connection(&fixture);
    fake_reply(fake_at(connection, 0), "one");
    fake_reply(fake_at(connection, 0), "two");
    assert_int_equal(asked.replies, 2);
    fake_refuse(fake_at(connection, 0));
    fixture_run(&fixture);
    assert_int_equal(asked.ends, 1);
    assert_int_equal(asked.code, CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(asked.attempts, 2);
    assert_false(asked.unseen);
    fixture_end(&fixture);
}

/* Goal: an upload can be sent once there is an attempt; until then send returns ERR_BUSY, and
 * on_writable follows once. */
static void test_upload_is_writable_once_there_is_an_attempt(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_upload, NULL), OK);
    fixture_run(&fixture);
    assert_int_equal(ask_send(&asked, "piece"), ERR_BUSY);
    assert_int_equal(asked.rooms, 0);
    connection = fixture_make_ready(&fixture);
    assert_int_equal(asked.rooms, 1);
    assert_int_equal(ask_send(&asked, "piece"), OK);
    fake_at(connection, 0)->busy = true;
    assert_int_equal(ask_send(&asked, "piece"), ERR_BUSY);
    fake_at(connection, 0)->busy = false;
    fake_at(connection, 0)->owes_room = true;
    fixture_run(&fixture);
    assert_int_equal(asked.rooms, 2);
    assert_int_equal(ask_send(&asked, "piece"), OK);
    assert_int_equal(ask_half_close(&asked), OK);
    assert_int_equal(ask_half_close(&asked), ERR_INVALID);
    assert_int_equal(ask_send(&asked, "piece"), ERR_INVALID);
    assert_int_equal(fake_at(connection, 0)->messages, 2);
    assert_true(fake_at(connection, 0)->half_closed);
    fake_answer(fake_at(connection, 0), "taken");
    assert_int_equal(asked.code, CLIENT_CODE_OK);
    assert_int_equal(asked.replies, 1);
    fixture_end(&fixture);
}

/* Goal: before its first message was accepted an upload is repeated, with the same key; the caller
 * is notified of room again only if it was refused before. */
static void test_upload_is_repeated_before_its_first_message(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = NULL;
    char key[FIXTURE_TEXT_BYTES];

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_upload, NULL), OK);
    fixture_run(&fixture);
    memcpy(key, fake_at(fixture_make_ready(&fixture), 0)->key, sizeof(key));
    assert_int_equal(asked.rooms, 1);
    connection = replace_connection(&fixture);
    assert_int_equal(asked.rooms, 1);
    assert_string_equal(fake_at(connection, 0)->key, key);
    fake_lose(connection, true);
    assert_int_equal(ask_send(&asked, "piece"), ERR_BUSY);
    fixture_pass(&fixture, 1000);
    connection = fixture_make_ready(&fixture);
    assert_int_equal(asked.rooms, 2);
    assert_int_equal(ask_send(&asked, "piece"), OK);
    /* The call is committed now, even if the server has not seen it. */
    fake_lose(connection, true);
    assert_int_equal(asked.ends, 1);
    assert_int_equal(asked.code, CLIENT_CODE_UNAVAILABLE);
    assert_int_equal(asked.attempts, 3);
    fixture_end(&fixture);
}

/* Goal: an upload without messages that was ended while it waited is ended in each attempt. */
static void test_half_close_is_repeated_in_each_attempt(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_upload, NULL), OK);
    assert_int_equal(ask_half_close(&asked), OK);
    assert_int_equal(ask_half_close(&asked), ERR_INVALID);
    fixture_run(&fixture);
    assert_true(fake_at(fixture_make_ready(&fixture), 0)->half_closed);
    connection = replace_connection(&fixture);
    assert_true(fake_at(connection, 0)->half_closed);
    assert_int_equal(asked.rooms, 0);
    fake_end(fake_at(connection, 0), CLIENT_CODE_UNKNOWN);
    assert_int_equal(asked.attempts, 2);
    fixture_end(&fixture);
}

/* Goal: an attempt that has ended, but whose end is not reported yet, accepts nothing; further
 * actions of the caller apply to the next attempt, unless the call is committed. */
static void test_ended_attempt_accepts_no_message(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct asked ending = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_upload, NULL), OK);
    assert_int_equal(ask(&fixture, &ending, &method_upload, NULL), OK);
    fixture_run(&fixture);
    connection = fixture_make_ready(&fixture);
    fake_at(connection, 0)->over = true;
    fake_at(connection, 1)->over = true;
    assert_int_equal(ask_send(&asked, "piece"), ERR_BUSY);
    assert_int_equal(ask_half_close(&ending), OK);
    fake_vanish(fake_at(connection, 0));
    fake_refuse(fake_at(connection, 0));
    fixture_pass(&fixture, 120);
    assert_int_equal(asked.rooms, 2);
    assert_int_equal(ask_send(&asked, "piece"), OK);
    assert_int_equal(ending.rooms, 1);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(fake_at(connection, i)->half_closed,
                         fake_at(connection, i)->messages == 0);
        fake_at(connection, i)->over = true;
    }
    assert_int_equal(ask_send(&asked, "piece"), ERR_CANCELLED);
    assert_int_equal(ask_half_close(&asked), ERR_CANCELLED);
    fake_end(fake_at(connection, 0), CLIENT_CODE_OK);
    fake_end(fake_at(connection, 0), CLIENT_CODE_OK);
    assert_int_equal(asked.attempts, 2);
    assert_int_equal(ending.attempts, 2);
    fixture_end(&fixture);
}

/* Goal: functions of uploads refuse other calls, too large messages, and ended calls. */
static void test_invalid_upload_actions_are_refused(void **state)
{
    struct fixture fixture;
    struct asked read = {0};
    struct asked upload = {0};
    char large[FIXTURE_TEXT_BYTES + 1];

    (void)state;
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &read, &method_read, NULL), OK);
    assert_int_equal(ask(&fixture, &upload, &method_upload, NULL), OK);
    assert_int_equal(ask_send(&read, "piece"), ERR_INVALID);
    assert_int_equal(ask_half_close(&read), ERR_INVALID);
    assert_int_equal(ask_send(&upload, large), ERR_TOO_LARGE);
    ask_cancel(&upload);
    assert_int_equal(ask_send(&upload, "piece"), ERR_CANCELLED);
    assert_int_equal(ask_half_close(&upload), ERR_CANCELLED);
    fixture_end(&fixture);
}

/* Goal: pause and resume apply to the call, in each attempt. */
static void test_pause_applies_to_each_attempt(void **state)
{
    struct fixture fixture;
    struct asked asked = {0};
    struct fake_connection *connection = NULL;

    (void)state;
    fixture_start(&fixture);
    assert_int_equal(ask(&fixture, &asked, &method_watch, NULL), OK);
    ask_pause(&asked);
    ask_resume(&asked);
    ask_pause(&asked);
    fixture_run(&fixture);
    assert_true(fake_at(fixture_make_ready(&fixture), 0)->paused);
    connection = replace_connection(&fixture);
    assert_true(fake_at(connection, 0)->paused);
    ask_resume(&asked);
    assert_false(fake_at(connection, 0)->paused);
    connection = replace_connection(&fixture);
    assert_false(fake_at(connection, 0)->paused);
    ask_pause(&asked);
    assert_true(fake_at(connection, 0)->paused);
    ask_cancel(&asked);
    ask_resume(&asked);
    fixture_end(&fixture);
}

int run_stream_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_reply_commits_a_stream),
        cmocka_unit_test(test_upload_is_writable_once_there_is_an_attempt),
        cmocka_unit_test(test_upload_is_repeated_before_its_first_message),
        cmocka_unit_test(test_half_close_is_repeated_in_each_attempt),
        cmocka_unit_test(test_ended_attempt_accepts_no_message),
        cmocka_unit_test(test_invalid_upload_actions_are_refused),
        cmocka_unit_test(test_pause_applies_to_each_attempt)};

    return cmocka_run_group_tests_name("channel_stream", tests, NULL, NULL);
}
