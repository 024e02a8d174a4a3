/*
 * keepalive_test.c: how a session detects that the other end has failed, on a clock that the test
 * moves; and the heap of deadlines.
 */
#include "client/deadlines.h"
#include "client/header.h"
#include "client/keepalive.h"
#include "tests/unit/client/client_tests.h"
#include "tests/unit/client/peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SILENCE_MS 10000
#define TIMEOUT_MS 3000

static const struct method_info unary = {.path = SLICE("/errata.v1.PromptService/GetExamples"),
                                         .stream = METHOD_UNARY};
static const struct peer_script silent = {
    .silent = true, .keepalive_ms = SILENCE_MS, .keepalive_timeout_ms = TIMEOUT_MS};

struct ending {
    struct client_call *call;
    unsigned ends;
    uint32_t code;
    bool unseen;
    bool says_why;
};

static void on_end(void *user, const struct client_status *status)
{
    struct ending *ending = user;

    ending->ends++;
    ending->code = status->code;
    ending->unseen = status->unseen;
    ending->says_why =
        slice_starts_with(status->message, SLICE("the server does not answer: test:1 "));
}

static void start(struct peer *peer, struct ending *ending)
{
    const struct client_handlers handlers = {.user = ending, .on_end = on_end};
    const struct client_session_call call = {.method = &unary, .handlers = &handlers};

    *ending = (struct ending){.call = NULL};
    assert_int_equal(client_session_start(peer->session, &call, &ending->call), OK);
}

/* Sets the clock to `now_ms` and runs what is due. Returns when the next event is due. */
static int64_t at(struct peer *peer, int64_t now_ms)
{
    int64_t next_ms = client_session_tick(peer->session, now_ms);

    peer_pump(peer);
    return next_ms;
}

/* A peer and a session that completed the handshake at `now_ms`. */
static struct peer *meet(const struct peer_script *script, int64_t now_ms)
{
    struct peer *peer = peer_new(script, 1);

    peer_pump(peer);
    assert_int_equal(client_session_tick(peer->session, now_ms), 0);
    return peer;
}

/* Goal: a server that sends nothing during a call gets a PING after each interval of silence, not
 * earlier; one that answers counts as alive. Method: three silences, each ended by the answer to a
 * PING. */
static void test_silent_server_is_pinged_and_kept_if_it_answers(void **state)
{
    struct peer *peer = meet(&silent, 500);
    struct ending ending;
    int64_t heard_ms = 500;

    (void)state;
    start(peer, &ending);
    for (unsigned asked = 0; asked < 3; asked++) {
        assert_int_equal(at(peer, heard_ms + 1), heard_ms + SILENCE_MS);
        assert_int_equal(at(peer, heard_ms + SILENCE_MS - 1), heard_ms + SILENCE_MS);
        assert_int_equal(peer->pings, asked);
        assert_int_equal(at(peer, heard_ms + SILENCE_MS), heard_ms + SILENCE_MS + TIMEOUT_MS);
        assert_int_equal(peer->pings, asked + 1);
        heard_ms += SILENCE_MS + 2; /* the time at which the answer to the PING was received */
        assert_int_equal(at(peer, heard_ms), heard_ms + SILENCE_MS);
    }
    assert_int_equal(ending.ends, 0);
    peer_free(peer);
}

/* Goal: a server that does not answer a PING counts as lost, with its calls, soon after the
 * timeout. Method: a peer that sends nothing after it received the call. */
static void test_unanswered_ping_ends_the_connection(void **state)
{
    const int64_t over_ms = SILENCE_MS + TIMEOUT_MS;
    struct peer *peer = meet(&silent, 0);
    struct ending ending;
    struct ending late;

    (void)state;
    start(peer, &ending);
    peer_pump(peer);
    (void)at(peer, 0);
    peer->mute = true;
    assert_int_equal(at(peer, SILENCE_MS), over_ms);
    assert_int_equal(peer->pings, 1);
    assert_int_equal(at(peer, over_ms - 1), over_ms);
    assert_int_equal(at(peer, over_ms), over_ms + CLIENT_KEEPALIVE_GRACE_MS);
    assert_int_equal(ending.ends, 0);
    assert_int_equal(at(peer, over_ms + CLIENT_KEEPALIVE_GRACE_MS), 0);
    assert_int_equal(ending.ends, 1);
    assert_int_equal(ending.code, CLIENT_CODE_UNAVAILABLE);
    assert_true(ending.says_why);
    assert_false(ending.unseen);
    assert_true(client_session_is_over(peer->session));
    assert_true(slice_starts_with(client_session_reason(peer->session),
                                  SLICE("the server does not answer")));
    assert_int_equal(peer->pings, 1);
    start(peer, &late);
    client_session_report(peer->session);
    assert_int_equal(late.ends, 1);
    assert_true(late.unseen);
    peer_free(peer);
}

/* Goal: no PING is sent while there is no call; a call on a connection that was silent for long
 * sends a PING at once, since the connection may be lost. Method: an hour without calls, then
 * one. */
static void test_idle_connection_is_not_pinged(void **state)
{
    const int64_t hour_ms = 3600000;
    struct peer *peer = meet(&silent, 0);
    struct ending ending;

    (void)state;
    assert_int_equal(at(peer, SILENCE_MS * 5), 0);
    assert_int_equal(peer->pings, 0);
    peer->mute = true;
    start(peer, &ending);
    assert_int_equal(at(peer, hour_ms), hour_ms + TIMEOUT_MS);
    assert_int_equal(peer->pings, 1);
    assert_int_equal(peer->requests, 1);
    peer->mute = false;
    peer_pump(peer);
    assert_int_equal(at(peer, hour_ms + 5), hour_ms + 5 + SILENCE_MS);
    assert_int_equal(ending.ends, 0);
    peer_free(peer);
}

/* Goal: a program that was stopped, or does not run its loop, does not report a server as lost that
 * has answered meanwhile. Method: the answer to a PING is read long after its time, but before the
 * clock is read again. */
static void test_stopped_program_does_not_end_the_connection(void **state)
{
    const int64_t woke_ms = SILENCE_MS + TIMEOUT_MS * 100;
    struct peer *peer = meet(&silent, 0);
    struct ending ending;

    (void)state;
    start(peer, &ending);
    (void)at(peer, 0);
    peer->mute = true;
    (void)at(peer, SILENCE_MS);
    assert_int_equal(at(peer, woke_ms), woke_ms + CLIENT_KEEPALIVE_GRACE_MS);
    peer->mute = false;
    peer_pump(peer);
    assert_int_equal(at(peer, woke_ms + CLIENT_KEEPALIVE_GRACE_MS),
                     woke_ms + CLIENT_KEEPALIVE_GRACE_MS + SILENCE_MS);
    assert_int_equal(ending.ends, 0);
    peer_free(peer);
}

/* Goal: a cancelled call does not prevent the next one from detecting that the server has failed.
 * Method: the call is cancelled while the answer to a PING is due. */
static void test_cancelled_call_does_not_hide_a_lost_server(void **state)
{
    const int64_t over_ms = SILENCE_MS + TIMEOUT_MS;
    struct peer *peer = meet(&silent, 0);
    struct ending ending;

    (void)state;
    start(peer, &ending);
    (void)at(peer, 0);
    peer->mute = true;
    (void)at(peer, SILENCE_MS);
    client_session_end(peer->session, ending.call, CLIENT_CODE_CANCELLED, "enough");
    assert_int_equal(at(peer, SILENCE_MS + 1), over_ms);
    assert_int_equal(ending.ends, 1);
    (void)at(peer, over_ms);
    (void)at(peer, over_ms + CLIENT_KEEPALIVE_GRACE_MS);
    assert_true(client_session_is_over(peer->session));
    peer_free(peer);
}

/* Goal: if keepalive is disabled, no PING is sent and no server counts as lost. Method: a day of
 * silence. */
static void test_disabled_keepalive_sends_no_ping(void **state)
{
    static const struct peer_script off = {.silent = true};
    struct peer *peer = meet(&off, 0);
    struct ending ending;

    (void)state;
    start(peer, &ending);
    assert_int_equal(at(peer, 86400000), 0);
    assert_int_equal(peer->pings, 0);
    assert_int_equal(ending.ends, 0);
    peer_free(peer);
}

/* Goal: the heap returns deadlines in order, even if some are removed meanwhile. Method: 1,000 in
 * random order, some equal; every fourth is removed, then the rest one by one. */
static void test_deadlines_are_returned_in_order(void **state)
{
    enum {
        COUNT = 1000
    };
    static struct client_deadline list[COUNT];
    struct client_deadlines heap = {.heap = NULL};
    int64_t before_ms = 0;
    size_t left = 0;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        list[i] = (struct client_deadline){.at_ms = (int64_t)(i * 617 % 331)};
        assert_int_equal(client_deadlines_add(&heap, &list[i]), OK);
    }
    for (size_t i = 0; i < COUNT; i += 4) {
        client_deadlines_remove(&heap, &list[i]);
        client_deadlines_remove(&heap, &list[i]);
    }
    for (left = heap.count; left > 0; left--) {
        struct client_deadline *first = client_deadlines_first(&heap);

        assert_true(first->at_ms >= before_ms);
        before_ms = first->at_ms;
        client_deadlines_remove(&heap, first);
        assert_int_equal(first->place, 0);
    }
    assert_null(client_deadlines_first(&heap));
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(list[i].place, 0);
    }
    client_deadlines_deinit(&heap);
}

int run_keepalive_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent_server_is_pinged_and_kept_if_it_answers),
        cmocka_unit_test(test_unanswered_ping_ends_the_connection),
        cmocka_unit_test(test_idle_connection_is_not_pinged),
        cmocka_unit_test(test_stopped_program_does_not_end_the_connection),
        cmocka_unit_test(test_cancelled_call_does_not_hide_a_lost_server),
        cmocka_unit_test(test_disabled_keepalive_sends_no_ping),
        cmocka_unit_test(test_deadlines_are_returned_in_order)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
