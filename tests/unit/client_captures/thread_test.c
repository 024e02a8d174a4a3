/*
 * thread_test.c: a queue with a thread of its own, over real connections to a server that comes and
 * goes: nothing is lost, nothing is stored twice, and the figures add up on any thread.
 */
#include "tests/unit/client_captures/captures_tests.h"
#include "tests/unit/client_captures/server.h"

#include <errata/captures.h>
#include <errata/v1/feedback_event.set.h>
#include <errata/v1/feedback_service.pb-c.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS 4
#define ADDS 400

/* Calls of on_drop, on the queue's thread. */
struct reported {
    _Atomic unsigned drops[4];
    _Atomic int last_code;
    char message[300]; /* the last one; read it after the queue has stopped */
};

struct adder {
    struct errata_captures *captures;
    pthread_t thread;
    unsigned number;
    unsigned full; /* number of captures refused because of the limit */
    unsigned wrong; /* number of unexpected results */
};

static void on_drop(void *user, enum errata_drop why, struct errata_bytes request,
                    const struct errata_status *status)
{
    struct reported *reported = user;

    reported->drops[why]++;
    reported->last_code = status != NULL ? (int)status->code : -1;
    (void)snprintf(reported->message, sizeof(reported->message), "%s",
                   status != NULL ? status->message : "");
    if (request.size == 0) {
        reported->drops[why] += 1000; /* each includes its bytes */
    }
}

static enum errata_result add(struct errata_captures *captures, const char *draft)
{
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED;
    errata_feedback_event_set_draft_order_id(&event, draft);
    request.event = &event;
    return errata_captures_add(captures, &request);
}

static bool adds_up(struct errata_captures *captures)
{
    struct errata_captures_statistics now;

    errata_captures_read_statistics(captures, &now);
    return now.added == now.queued + now.stored + now.dropped[ERRATA_DROP_REFUSED] +
                            now.dropped[ERRATA_DROP_EXPIRED] + now.dropped[ERRATA_DROP_CLOSED];
}

static void *run_adder(void *user)
{
    struct adder *adder = user;
    char draft[40];

    for (unsigned i = 0; i < ADDS; i++) {
        enum errata_result result = ERRATA_OK;

        (void)snprintf(draft, sizeof(draft), "thread %u, capture %u", adder->number, i);
        result = add(adder->captures, draft);
        adder->full += result == ERRATA_BUSY;
        adder->wrong += result != ERRATA_OK && result != ERRATA_BUSY;
        adder->wrong += !adds_up(adder->captures);
        if (i % 2 == 0) {
            usleep(1000);
        }
    }
    return NULL;
}

static struct errata_captures *start(const struct server *server, struct reported *reported,
                                     const char *token)
{
    struct errata_channel_config channel;
    struct errata_captures_config config;
    struct errata_captures *captures = NULL;
    char problem[200] = "";

    errata_channel_config_init(&channel);
    channel.server = server_address(server);
    channel.token = token;
    channel.backoff_initial_ms = 5;
    channel.backoff_max_ms = 20;
    errata_captures_config_init(&config);
    config.events_max = 500;
    config.on_drop = on_drop;
    config.user = reported;
    assert_int_equal(errata_captures_start(&channel, &config, problem, sizeof(problem), &captures),
                     ERRATA_OK);
    assert_string_equal(problem, "");
    return captures;
}

/* Waits, for at most a minute, until this many are stored. */
static void wait_for_stored(struct errata_captures *captures, uint64_t count)
{
    struct errata_captures_statistics now = {0};

    for (unsigned i = 0; i < 12000 && now.stored < count; i++) {
        usleep(5000);
        errata_captures_read_statistics(captures, &now);
    }
    assert_true(now.stored >= count);
}

/* Goal: every accepted capture is stored exactly once, under one key, however often the server
 * restarts, returns UNAVAILABLE or closes without an answer. Method: four threads add; the server
 * is down in the beginning and five times after. */
static void test_captures_survive_server_restarts(void **state)
{
    static const struct server_habits habits = {.unavailable = 3, .hang_up = 1};
    struct server *server = server_new(&habits);
    struct reported reported = {.last_code = 0};
    struct errata_captures *captures = start(server, &reported, NULL);
    struct adder adders[THREADS] = {{NULL}};
    struct errata_captures_statistics last;
    unsigned full = 0;

    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        adders[i] = (struct adder){.captures = captures, .number = i};
        assert_int_equal(pthread_create(&adders[i].thread, NULL, run_adder, &adders[i]), 0);
    }
    for (unsigned i = 0; i < 5; i++) {
        usleep(20000);
        server_up(server);
        usleep(30000);
        server_down(server);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(adders[i].thread, NULL), 0);
        assert_int_equal(adders[i].wrong, 0);
        full += adders[i].full;
    }
    server_up(server);
    errata_captures_stop(captures, 60000, &last);
    server_down(server);
    assert_int_equal(last.added, THREADS * ADDS - full);
    assert_int_equal(last.stored, last.added);
    assert_true(last.repeats > 0); /* otherwise the test is meaningless */
    assert_int_equal(last.queued, 0);
    assert_int_equal(last.dropped[ERRATA_DROP_FULL], full);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(reported.drops[i], 0);
    }
    assert_int_equal(server_count_stored(server), last.stored);
    assert_int_equal(server_count_wrong(server), 0);
    server_free(server);
}

/* Goal: a queue that stops without a server drops its captures at the end of the drain, and reports
 * that the server is unreachable, with its address and the system's reason, and not that its own calls
 * were cancelled. Method: more captures than calls in flight, at a port that refuses connections. */
static void test_stop_without_a_server_drops_captures(void **state)
{
    static const struct server_habits habits = {0};
    struct server *server = server_new(&habits);
    struct reported reported = {.last_code = 0};
    struct errata_captures *captures = start(server, &reported, NULL);
    struct errata_captures_statistics last;
    char expected[300];

    (void)state;
    (void)snprintf(expected, sizeof(expected), "cannot connect to %s: connection refused",
                   server_address(server));
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(add(captures, "d"), ERRATA_OK);
    }
    errata_captures_stop(captures, 200, &last);
    assert_int_equal(last.dropped[ERRATA_DROP_CLOSED], 40);
    assert_int_equal(reported.drops[ERRATA_DROP_CLOSED], 40);
    assert_int_equal(reported.last_code, ERRATA_CODE_UNAVAILABLE);
    assert_string_equal(reported.message, expected);
    assert_int_equal(last.last_code, ERRATA_CODE_UNAVAILABLE);
    captures = start(server, &reported, NULL);
    errata_captures_stop(captures, 0, NULL);
    server_free(server);
}

/* Goal: captures outlive a refused token, and continue with the next. Method: a wrong token,
 * replaced when the server has refused it. */
static void test_captures_continue_with_a_replaced_token(void **state)
{
    static const struct server_habits habits = {.token = "Bearer right"};
    struct server *server = server_new(&habits);
    struct reported reported = {.last_code = 0};
    struct errata_captures *captures = start(server, &reported, "wrong");
    struct errata_captures_statistics now = {0};

    (void)state;
    server_up(server);
    assert_int_equal(add(captures, "1"), ERRATA_OK);
    assert_int_equal(add(captures, "2"), ERRATA_OK);
    while (now.last_code != ERRATA_CODE_UNAUTHENTICATED) {
        usleep(1000);
        errata_captures_read_statistics(captures, &now);
    }
    assert_int_equal(errata_captures_set_token(captures, "not a token"), ERRATA_INVALID);
    assert_int_equal(errata_captures_set_token(captures, "right"), ERRATA_OK);
    wait_for_stored(captures, 2);
    assert_int_equal(errata_captures_set_token(captures, NULL), ERRATA_OK);
    errata_captures_stop(captures, 1000, &now);
    assert_int_equal(now.stored, 2);
    assert_int_equal(reported.drops[ERRATA_DROP_REFUSED], 0);
    server_free(server);
}

/* Log lines of the channel; read them after the queue has stopped. */
struct logged {
    char lines[8000];
};

static void write_log(void *user, enum errata_log_level level, const char *message)
{
    struct logged *logged = user;
    size_t size = strlen(logged->lines);

    (void)snprintf(logged->lines + size, sizeof(logged->lines) - size, "%d %s\n", (int)level,
                   message);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Goal: a token file that was rewritten is read when the server refuses the old token. Method:
 * another token in the same file; then a file without a token. */
static void test_rewritten_token_file_is_read_again(void **state)
{
    static const struct server_habits habits = {.token = "Bearer right"};
    struct server *server = server_new(&habits);
    struct errata_channel_config channel;
    struct errata_captures *captures = NULL;
    struct errata_captures_statistics now = {0};
    static struct logged logged;
    char path[] = "/tmp/errata-token-XXXXXX";
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    close(file);
    write_file(path, "wrong\n");
    errata_channel_config_init(&channel);
    channel.server = server_address(server);
    channel.token_file = path;
    channel.log.user = &logged;
    channel.log.write = write_log;
    assert_int_equal(errata_captures_start(&channel, NULL, NULL, 0, &captures), ERRATA_OK);
    server_up(server);
    assert_int_equal(add(captures, "1"), ERRATA_OK);
    while (now.last_code != ERRATA_CODE_UNAUTHENTICATED) {
        usleep(1000);
        errata_captures_read_statistics(captures, &now);
    }
    write_file(path, "no token at all\n");
    usleep(200000);
    write_file(path, "right\n");
    wait_for_stored(captures, 1);
    errata_captures_stop(captures, 0, NULL);
    assert_non_null(strstr(logged.lines, "1 connected to 127.0.0.1:"));
    assert_non_null(strstr(logged.lines, "2 the server refused the token; the token file has no"));
    assert_non_null(strstr(logged.lines, "holds no valid token"));
    assert_non_null(
        strstr(logged.lines, "1 the server refused the token; read another from the token file"));
    assert_null(strstr(logged.lines, "wrong")); /* a token */
    assert_int_equal(unlink(path), 0);
    server_free(server);
}

/* Goal: an invalid configuration is described in a sentence, and starts nothing. Method: an
 * address, a limit, a missing token file. */
static void test_invalid_configuration_starts_nothing(void **state)
{
    struct errata_channel_config channel;
    struct errata_captures_config config;
    struct errata_captures *captures = NULL;
    char problem[200] = "";

    (void)state;
    errata_channel_config_init(&channel);
    errata_captures_config_init(&config);
    channel.server = "no port:at all";
    assert_int_equal(errata_captures_start(&channel, &config, problem, sizeof(problem), &captures),
                     ERRATA_INVALID);
    assert_true(strlen(problem) > 10);
    channel.server = NULL;
    channel.token_file = "/nowhere/at/all";
    assert_int_equal(errata_captures_start(&channel, &config, NULL, 0, &captures), ERRATA_INVALID);
    channel.token_file = NULL;
    config.age_ms_max = 86400000;
    assert_int_equal(errata_captures_start(&channel, &config, problem, sizeof(problem), &captures),
                     ERRATA_INVALID);
    assert_non_null(strstr(problem, "age_ms_max"));
    assert_null(captures);
}

static _Atomic int handled_on_main;
static pthread_t main_thread;

static void on_signal(int signal)
{
    (void)signal;
    handled_on_main = pthread_equal(pthread_self(), main_thread) != 0 ? 1 : -1;
}

/* Goal: signals are handled by the program's own threads. Method: a signal to the process while the
 * main thread blocks it stays pending until that thread takes it. */
static void test_signals_are_left_to_the_program(void **state)
{
    static const struct server_habits habits = {0};
    struct server *server = server_new(&habits);
    struct reported reported = {.last_code = 0};
    struct errata_captures *captures = start(server, &reported, NULL);
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t one;

    (void)state;
    main_thread = pthread_self();
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(sigemptyset(&one), 0);
    assert_int_equal(sigaddset(&one, SIGUSR1), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    usleep(20000);
    assert_int_equal(handled_on_main, 0);
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &one, NULL), 0);
    assert_int_equal(handled_on_main, 1);
    errata_captures_stop(captures, 0, NULL);
    server_free(server);
}

/* Runs a queue of the child; returns its exit code. */
static int run_child(const struct server *server, struct reported *reported)
{
    struct errata_captures *captures = start(server, reported, NULL);
    struct errata_captures_statistics last;

    if (add(captures, "child") != ERRATA_OK) {
        return 1;
    }
    errata_captures_stop(captures, 60000, &last);
    return last.stored == 1 && last.queued == 0 ? 0 : 2;
}

/* Goal: a process that forks keeps its queue, and its child may have a separate one; they share no
 * key. Method: a capture that is queued at the fork, and one of the child's. The thread sanitizer
 * has no threads after a fork. */
static void test_forked_processes_share_no_key(void **state)
{
    static const struct server_habits habits = {0};
    struct server *server = NULL;
    struct reported reported = {.last_code = 0};
    struct errata_captures *captures = NULL;
    struct errata_captures_statistics last;
    int status = -1;
    pid_t child = -1;

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    server = server_new(&habits);
    captures = start(server, &reported, NULL);
    assert_int_equal(add(captures, "parent"), ERRATA_OK);
    child = fork();
    if (child == 0) {
        _exit(run_child(server, &reported));
    }
    assert_true(child > 0);
    server_up(server);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    errata_captures_stop(captures, 60000, &last);
    assert_int_equal(last.stored, 1);
    server_down(server);
    assert_int_equal(server_count_stored(server), 2);
    assert_int_equal(server_count_wrong(server), 0);
    server_free(server);
}

int run_thread_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures_survive_server_restarts),
        cmocka_unit_test(test_stop_without_a_server_drops_captures),
        cmocka_unit_test(test_captures_continue_with_a_replaced_token),
        cmocka_unit_test(test_rewritten_token_file_is_read_again),
        cmocka_unit_test(test_invalid_configuration_starts_nothing),
        cmocka_unit_test(test_signals_are_left_to_the_program),
        cmocka_unit_test(test_forked_processes_share_no_key),
    };

    return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}
