/*
 * blocking_test.c: blocking calls in bytes, against a scripted server on the loopback: their
 * requests, their answers, and their errors without a server or memory.
 */
#include "tests/support/client/loopback.h"
#include "tests/unit/client_library/alloc.h"
#include "tests/unit/client_library/library_tests.h"

#include <errata/blocking.h>

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define READ "errata.v1.EventService/GetEvent"
#define WRITE "errata.v1.FeedbackService/CaptureFeedbackEvent"
#define REPLIES "errata.v1.EventService/WatchEvents"
#define UPLOAD "errata.v1.LayoutService/IngestDocumentStream"

/* More than the number of allocations of an opening or a call. */
#define ALLOCATIONS_MAX 500

static const char *const headers[] = {
    ":status", "200", "content-type", "application/grpc", "x-from", "peer", NULL};
static const char *const trailers_ok[] = {"grpc-status", "0", NULL};
static const char *const refusal[] = {":status",          "200",         "content-type",
                                      "application/grpc", "grpc-status", "3",
                                      "grpc-message",     "no%20PDF",    NULL};
static const struct peer_script answering = {
    .headers = headers, .body = SLICE("\0\0\0\0\2ok"), .trailers = trailers_ok};
static const struct peer_script refusing = {.headers = refusal};

struct fixture {
    struct loopback server;
    struct errata_blocking *blocking;
    struct errata_answer *answer;
    size_t wanted; /* number of replies to take, or of messages to send */
    size_t count; /* number of replies or messages so far */
    enum errata_upload_step last; /* result of the last message */
};

static void open_at(struct fixture *fixture, const char *address)
{
    const struct errata_channel_config config = {.struct_bytes =
                                                     sizeof(struct errata_channel_config),
                                                 .server = address,
                                                 .token = "secret",
                                                 .user_agent = "test/1",
                                                 .request_bytes_max = 100};

    assert_int_equal(errata_blocking_open(&config, NULL, 0, &fixture->blocking), ERRATA_OK);
}

static void fixture_open(struct fixture *fixture, const struct peer_script *script)
{
    memset(fixture, 0, sizeof(*fixture));
    loopback_start(&fixture->server, script, 1);
    open_at(fixture, fixture->server.address);
}

/* Ends the connection; the test may then examine the bytes that the server received. */
static void fixture_close(struct fixture *fixture)
{
    errata_blocking_close(fixture->blocking);
    loopback_wait(&fixture->server);
}

static void fixture_free(struct fixture *fixture)
{
    errata_answer_free(fixture->answer);
    loopback_free(&fixture->server);
}

static const struct errata_status *status_of(const struct fixture *fixture)
{
    return errata_answer_status(fixture->answer);
}

static void assert_sent(const struct fixture *fixture, const char *line)
{
    if (strstr(fixture->server.peers[0]->request_fields, line) == NULL) {
        print_error("not sent: %s\n%s", line, fixture->server.peers[0]->request_fields);
        fail();
    }
}

/* Goal: a call sends the configuration and the options, and its answer outlives the connection.
 * Method: a write with a key of the caller's; the server's view of it. */
static void test_call_sends_configuration_and_options(void **state)
{
    static const struct errata_metadata trace = {"x-trace", {"7", 1}};
    static const struct errata_options options = {
        .idempotency_key = "order-7", .metadata = &trace, .metadata_count = 1};
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture, &answering);
    assert_int_equal(errata_blocking_call(fixture.blocking, WRITE,
                                          (struct errata_bytes){"asked", 5}, &options,
                                          &fixture.answer),
                     ERRATA_OK);
    fixture_close(&fixture);
    assert_sent(&fixture, ":path: /" WRITE "\n");
    assert_sent(&fixture, "authorization: Bearer secret\n");
    assert_sent(&fixture, "user-agent: test/1 errata-c/" ERRATA_VERSION "\n");
    assert_sent(&fixture, "x-trace: 7\n");
    assert_sent(&fixture, "idempotency-key: order-7\n");
    assert_sent(&fixture, "grpc-timeout: ");
    assert_memory_equal(fixture.server.peers[0]->request, "\0\0\0\0\5asked", 10);
    assert_int_equal(status_of(&fixture)->code, ERRATA_CODE_OK);
    assert_true(status_of(&fixture)->from_server);
    assert_int_equal(status_of(&fixture)->attempts, 1);
    assert_string_equal(status_of(&fixture)->message, "");
    assert_string_equal(status_of(&fixture)->idempotency_key, "order-7");
    assert_int_equal(errata_answer_reply(fixture.answer).size, 2);
    assert_memory_equal(errata_answer_reply(fixture.answer).data, "ok", 2);
    assert_true(status_of(&fixture)->metadata_count >= 1);
    fixture_free(&fixture);
}

/* Goal: a write without a key gets one, a read gets none. Method: the key in the status. */
static void test_write_without_a_key_gets_one(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture, &answering);
    assert_int_equal(errata_blocking_call(fixture.blocking, WRITE, (struct errata_bytes){NULL, 0},
                                          NULL, &fixture.answer),
                     ERRATA_OK);
    assert_int_equal(strlen(status_of(&fixture)->idempotency_key), 36);
    errata_answer_free(fixture.answer);
    assert_int_equal(errata_blocking_call(fixture.blocking, READ, (struct errata_bytes){NULL, 0},
                                          NULL, &fixture.answer),
                     ERRATA_OK);
    assert_null(status_of(&fixture)->idempotency_key);
    fixture_close(&fixture);
    fixture_free(&fixture);
}

/* Goal: a refusal is a result without a reply. Method: only trailers. */
static void test_refusal_has_no_reply(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture, &refusing);
    assert_int_equal(errata_blocking_call(fixture.blocking, READ, (struct errata_bytes){NULL, 0},
                                          NULL, &fixture.answer),
                     ERRATA_OK);
    fixture_close(&fixture);
    assert_int_equal(status_of(&fixture)->code, ERRATA_CODE_INVALID_ARGUMENT);
    assert_string_equal(status_of(&fixture)->message, "no PDF");
    assert_int_equal(errata_answer_reply(fixture.answer).size, 0);
    fixture_free(&fixture);
}

/* Goal: a new token is sent from the next call on; without a token, none is sent. Method: calls before and
 * after. */
static void test_new_token_is_sent_from_the_next_call(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_open(&fixture, &answering);
    assert_int_equal(errata_blocking_set_token(fixture.blocking, "no token"), ERRATA_INVALID);
    assert_int_equal(errata_blocking_set_token(fixture.blocking, "renewed"), ERRATA_OK);
    assert_int_equal(errata_blocking_call(fixture.blocking, READ, (struct errata_bytes){NULL, 0},
                                          NULL, &fixture.answer),
                     ERRATA_OK);
    fixture_close(&fixture);
    assert_sent(&fixture, "authorization: Bearer renewed\n");
    fixture_free(&fixture);

    fixture_open(&fixture, &answering);
    assert_int_equal(errata_blocking_set_token(fixture.blocking, NULL), ERRATA_OK);
    assert_int_equal(errata_blocking_call(fixture.blocking, READ, (struct errata_bytes){NULL, 0},
                                          NULL, &fixture.answer),
                     ERRATA_OK);
    fixture_close(&fixture);
    assert_null(strstr(fixture.server.peers[0]->request_fields, "authorization"));
    fixture_free(&fixture);
}

static bool take(void *user, struct errata_bytes message)
{
    struct fixture *fixture = user;
    struct errata_answer *answer = NULL;

    assert_int_equal(message.size, 1);
    fixture->count++;
    assert_int_equal(errata_blocking_call(fixture->blocking, READ, (struct errata_bytes){NULL, 0},
                                          NULL, &answer),
                     ERRATA_BUSY);
    return fixture->count < fixture->wanted;
}

/* Goal: replies are read one by one, and cancelled when the caller stops; a callback cannot make a
 * call. Method: three replies, all and two of them. */
static void test_stream_is_read_until_the_caller_stops(void **state)
{
    const struct peer_script script = {.headers = headers,
                                       .body = SLICE("\0\0\0\0\1a\0\0\0\0\1b\0\0\0\0\1c"),
                                       .trailers = trailers_ok};

    (void)state;
    for (size_t wanted = 2; wanted <= 9; wanted += 7) {
        struct fixture fixture;
        const struct errata_taker taker = {&fixture, take};

        fixture_open(&fixture, &script);
        fixture.wanted = wanted;
        assert_int_equal(errata_blocking_stream(fixture.blocking, REPLIES,
                                                (struct errata_bytes){NULL, 0}, NULL, &taker,
                                                &fixture.answer),
                         ERRATA_OK);
        fixture_close(&fixture);
        assert_int_equal(fixture.count, wanted == 2 ? 2 : 3);
        assert_int_equal(status_of(&fixture)->code,
                         wanted == 2 ? ERRATA_CODE_CANCELLED : ERRATA_CODE_OK);
        fixture_free(&fixture);
    }
}

static enum errata_upload_step next(void *user, struct errata_bytes *ret_message)
{
    static const char large[101];
    struct fixture *fixture = user;

    if (fixture->count == fixture->wanted) {
        if (fixture->last != ERRATA_UPLOAD_MESSAGE) {
            return fixture->last;
        }
        *ret_message = (struct errata_bytes){large, sizeof(large)};
        return ERRATA_UPLOAD_MESSAGE;
    }
    fixture->count++;
    *ret_message = (struct errata_bytes){"part", 4};
    return ERRATA_UPLOAD_MESSAGE;
}

static enum errata_result upload(struct fixture *fixture, enum errata_upload_step last)
{
    const struct errata_giver giver = {fixture, next};
    enum errata_result result = ERRATA_OK;

    fixture_open(fixture, &answering);
    fixture->wanted = 2;
    fixture->last = last;
    result = errata_blocking_upload(fixture->blocking, UPLOAD, NULL, &giver, &fixture->answer);
    fixture_close(fixture);
    return result;
}

/* Goal: messages are sent to their end; the caller may stop, and a too large one is reported.
 * Method: two messages and each of the three. */
static void test_upload_sends_messages_until_the_caller_stops(void **state)
{
    struct fixture fixture;

    (void)state;
    assert_int_equal(upload(&fixture, ERRATA_UPLOAD_END), ERRATA_OK);
    assert_int_equal(status_of(&fixture)->code, ERRATA_CODE_OK);
    assert_memory_equal(errata_answer_reply(fixture.answer).data, "ok", 2);
    assert_memory_equal(fixture.server.peers[0]->request, "\0\0\0\0\4part\0\0\0\0\4part", 18);
    fixture_free(&fixture);
    assert_int_equal(upload(&fixture, ERRATA_UPLOAD_STOP), ERRATA_OK);
    assert_int_equal(status_of(&fixture)->code, ERRATA_CODE_CANCELLED);
    fixture_free(&fixture);
    assert_int_equal(upload(&fixture, ERRATA_UPLOAD_MESSAGE), ERRATA_TOO_LARGE);
    assert_null(fixture.answer);
    fixture_free(&fixture);
}

/* Goal: an invalid call is refused before anything is sent. Method: methods of another kind,
 * missing callbacks, options, a request that is too large. */
static void test_invalid_call_is_refused_before_sending(void **state)
{
    static const struct errata_taker no_taker = {NULL, NULL};
    static const struct errata_giver no_giver = {NULL, NULL};
    static const struct errata_taker taker = {NULL, take};
    static const struct errata_options hurried = {.timeout_ms = -7};
    static const char large[101];
    const struct errata_bytes none = {NULL, 0};
    struct fixture fixture = {.count = 0};

    (void)state;
    open_at(&fixture, NULL);
    assert_int_equal(errata_blocking_call(fixture.blocking, REPLIES, none, NULL, &fixture.answer),
                     ERRATA_INVALID);
    assert_int_equal(
        errata_blocking_call(fixture.blocking, "no/method", none, NULL, &fixture.answer),
        ERRATA_INVALID);
    assert_int_equal(errata_blocking_call(fixture.blocking, READ, none, &hurried, &fixture.answer),
                     ERRATA_INVALID);
    assert_int_equal(errata_blocking_call(fixture.blocking, READ, (struct errata_bytes){NULL, 1},
                                          NULL, &fixture.answer),
                     ERRATA_INVALID);
    assert_int_equal(errata_blocking_call(fixture.blocking, READ,
                                          (struct errata_bytes){large, sizeof(large)}, NULL,
                                          &fixture.answer),
                     ERRATA_TOO_LARGE);
    assert_int_equal(
        errata_blocking_stream(fixture.blocking, READ, none, NULL, &taker, &fixture.answer),
        ERRATA_INVALID);
    assert_int_equal(
        errata_blocking_stream(fixture.blocking, REPLIES, none, NULL, NULL, &fixture.answer),
        ERRATA_INVALID);
    assert_int_equal(
        errata_blocking_stream(fixture.blocking, REPLIES, none, NULL, &no_taker, &fixture.answer),
        ERRATA_INVALID);
    assert_int_equal(errata_blocking_upload(fixture.blocking, UPLOAD, NULL, NULL, &fixture.answer),
                     ERRATA_INVALID);
    assert_int_equal(
        errata_blocking_upload(fixture.blocking, UPLOAD, NULL, &no_giver, &fixture.answer),
        ERRATA_INVALID);
    assert_null(fixture.answer);
    errata_blocking_close(fixture.blocking);
    errata_blocking_close(NULL);
    errata_answer_free(NULL);
}

/* Goal: if no server listens, the answer reports it, after as many attempts as the configuration
 * allows. Method: a port that is not in use. */
static void test_unreachable_server_is_reported_after_its_attempts(void **state)
{
    struct errata_channel_config config = {.struct_bytes = sizeof(struct errata_channel_config),
                                           .attempts_max = 2,
                                           .backoff_initial_ms = 1};
    struct fixture fixture = {.count = 0};
    char address[32];

    (void)state;
    loopback_nowhere(address);
    config.server = address;
    assert_int_equal(errata_blocking_open(&config, NULL, 0, &fixture.blocking), ERRATA_OK);
    assert_int_equal(errata_blocking_call(fixture.blocking, READ, (struct errata_bytes){NULL, 0},
                                          NULL, &fixture.answer),
                     ERRATA_OK);
    assert_int_equal(status_of(&fixture)->code, ERRATA_CODE_UNAVAILABLE);
    assert_false(status_of(&fixture)->from_server);
    assert_non_null(strstr(status_of(&fixture)->message, address));
    errata_answer_free(fixture.answer);
    errata_blocking_close(fixture.blocking);
}

/* Goal: an invalid configuration is described in a sentence. Method: one, with room for it and
 * without. */
static void test_invalid_configuration_is_described(void **state)
{
    const struct errata_channel_config config = {
        .struct_bytes = sizeof(struct errata_channel_config), .server = "https://errata"};
    struct errata_blocking *blocking = NULL;
    char problem[200] = "";

    (void)state;
    assert_int_equal(errata_blocking_open(&config, problem, sizeof(problem), &blocking),
                     ERRATA_INVALID);
    assert_non_null(strstr(problem, "TLS"));
    assert_int_equal(errata_blocking_open(&config, NULL, 0, &blocking), ERRATA_INVALID);
    assert_null(blocking);
}

/* Writes to a socket that no one reads any more, which raises SIGPIPE. */
static bool take_and_break(void *user, struct errata_bytes message)
{
    unsigned *broken = user;
    int ends[2] = {-1, -1};

    (void)message;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(write(ends[1], "x", 1), -1);
    assert_int_equal(close(ends[1]), 0);
    (*broken)++;
    return true;
}

/* Goal: a lost connection does not affect a program that does not handle SIGPIPE, and leaves its
 * signals unchanged. Method: a write that raises it within a call, under the default action, which
 * would end this program. */
static void test_lost_connection_raises_no_sigpipe(void **state)
{
    unsigned broken = 0;
    const struct errata_taker taker = {&broken, take_and_break};
    struct fixture fixture;
    sigset_t set;

    (void)state;
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    fixture_open(&fixture, &answering);
    assert_int_equal(errata_blocking_stream(fixture.blocking, REPLIES,
                                            (struct errata_bytes){NULL, 0}, NULL, &taker,
                                            &fixture.answer),
                     ERRATA_OK);
    fixture_close(&fixture);
    assert_int_equal(broken, 1);
    assert_int_equal(sigpending(&set), 0);
    assert_int_equal(sigismember(&set, SIGPIPE), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &set), 0);
    assert_int_equal(sigismember(&set, SIGPIPE), 0);
    fixture_free(&fixture);
}

/* Goal: a signal that the program itself blocks stays pending. Method: one that is raised before
 * the call, with another in it. */
static void test_pending_sigpipe_of_the_program_stays(void **state)
{
    unsigned broken = 0;
    const struct errata_taker taker = {&broken, take_and_break};
    struct timespec at_once = {0, 0};
    struct fixture fixture;
    sigset_t pipe;
    sigset_t pending;

    (void)state;
    assert_int_equal(sigemptyset(&pipe), 0);
    assert_int_equal(sigaddset(&pipe, SIGPIPE), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &pipe, NULL), 0);
    assert_true(take_and_break(&broken, (struct errata_bytes){NULL, 0}));
    fixture_open(&fixture, &answering);
    assert_int_equal(errata_blocking_stream(fixture.blocking, REPLIES,
                                            (struct errata_bytes){NULL, 0}, NULL, &taker,
                                            &fixture.answer),
                     ERRATA_OK);
    fixture_close(&fixture);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGPIPE), 1);
    assert_int_equal(sigtimedwait(&pipe, NULL, &at_once), SIGPIPE);
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &pipe, NULL), 0);
    fixture_free(&fixture);
}

/* Makes one call with the allocation number `place` failing; returns whether it occurred. */
static bool call_without_memory(size_t place)
{
    struct errata_channel_config config = {.struct_bytes = sizeof(struct errata_channel_config),
                                           .attempts_max = 1};
    struct errata_blocking *blocking = NULL;
    struct errata_answer *answer = NULL;
    enum errata_result result = ERRATA_OK;
    struct loopback server;
    bool failed = false;

    loopback_start(&server, &answering, 1);
    config.server = server.address;
    alloc_fail(place);
    result = errata_blocking_open(&config, NULL, 0, &blocking);
    if (result == ERRATA_OK) {
        result =
            errata_blocking_call(blocking, WRITE, (struct errata_bytes){"asked", 5}, NULL, &answer);
    }
    failed = alloc_has_failed();
    assert_true(result == ERRATA_MEMORY || (result == ERRATA_OK && answer != NULL));
    assert_true(failed || errata_answer_status(answer)->code == ERRATA_CODE_OK);
    errata_answer_free(answer);
    errata_blocking_close(blocking);
    loopback_knock(&server);
    loopback_wait(&server);
    loopback_free(&server);
    return failed;
}

/* Goal: wherever malloc fails, opening reports it or the call ends, and nothing leaks (as the asan
 * preset checks). Method: each allocation of this thread fails once, until none is left. */
static void test_failed_allocation_fails_only_the_call(void **state)
{
    size_t place = 1;

    (void)state;
    while (call_without_memory(place)) {
        place++;
        assert_true(place < ALLOCATIONS_MAX);
    }
    assert_true(place > 10);
}

int run_blocking_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_sends_configuration_and_options),
        cmocka_unit_test(test_write_without_a_key_gets_one),
        cmocka_unit_test(test_refusal_has_no_reply),
        cmocka_unit_test(test_new_token_is_sent_from_the_next_call),
        cmocka_unit_test(test_stream_is_read_until_the_caller_stops),
        cmocka_unit_test(test_upload_sends_messages_until_the_caller_stops),
        cmocka_unit_test(test_invalid_call_is_refused_before_sending),
        cmocka_unit_test(test_unreachable_server_is_reported_after_its_attempts),
        cmocka_unit_test(test_invalid_configuration_is_described),
        cmocka_unit_test(test_lost_connection_raises_no_sigpipe),
        cmocka_unit_test(test_pending_sigpipe_of_the_program_stays),
        cmocka_unit_test(test_failed_allocation_fails_only_the_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
