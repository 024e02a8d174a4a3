/*
 * fork_server_tests.c: the worker program as a server sees it: its messages, the ends of children,
 * its reaction to invalid messages, and its release of all resources. Most tests use the fake
 * measurement (fake.h), the last ones the real one.
 */
#include "tests/unit/pdf_worker/fake/fake.h"
#include "tests/unit/pdf_worker/peer/worker_peer.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOXD 0
#else
#define SANDBOXD 1
#endif

static struct slice fake_document(const char *text)
{
    return slice_text(text);
}

static const char *fake_program(void)
{
    const char *program = getenv("ERRATA_PDF_WORKER_FAKE");

    assert_non_null(program);
    return program;
}

static void start_fake(struct peer *peer, const char *const *arguments)
{
    assert_true(peer_start(peer, fake_program(), arguments));
}

static void stop(struct peer *peer)
{
    assert_int_equal(peer_stop(peer), 0);
}

static void send_job(const struct peer *peer, const char *text, struct peer_job *job)
{
    const struct pdf_control_job message = peer_message(0, "");

    assert_true(peer_send_job(peer, &message, fake_document(text), job));
}

/* Reads the answer and the end of a job; the answer is in the arena. */
static void finish_job(struct peer_job *job, struct arena *arena, struct pdf_answer *answer,
                       struct pdf_control_end *end)
{
    uint8_t *bytes = arena_alloc(arena, PDF_ANSWER_BYTES_MAX);
    ssize_t size = 0;

    assert_non_null(bytes);
    size = peer_read_answer(job, bytes, PDF_ANSWER_BYTES_MAX);
    assert_true(size >= 0);
    assert_int_equal(pdf_answer_decode(arena, slice_of(bytes, (size_t)size), answer), OK);
    assert_true(peer_read_end(job, end));
    assert_true(peer_wait_closed(job->socket));
    peer_close_job(job);
}

static void run_message(const struct peer *peer, const struct pdf_control_job *message,
                        const char *text, struct pdf_answer *answer, struct pdf_control_end *end)
{
    struct peer_job job;
    struct arena arena;

    arena_init(&arena, 4 * PDF_ANSWER_BYTES_MAX);
    assert_true(peer_send_job(peer, message, fake_document(text), &job));
    finish_job(&job, &arena, answer, end);
    /* Only plain values may be read after this. */
    arena_deinit(&arena);
}

static void run_job(const struct peer *peer, const char *text, struct pdf_answer *answer,
                    struct pdf_control_end *end)
{
    const struct pdf_control_job message = peer_message(0, "");

    run_message(peer, &message, text, answer, end);
}

static void assert_serves(const struct peer *peer)
{
    struct pdf_answer answer;
    struct pdf_control_end end;

    run_job(peer, FAKE_PLAIN, &answer, &end);
    assert_int_equal(end.end, PDF_END_EXITED);
    assert_int_equal(end.code, PDF_EXIT_ANSWERED);
    assert_int_equal(answer.reason, PDF_READ);
}

/* Goal: READY has the version, sandbox and Poppler. Method: read it. */
static void test_ready_has_version_sandbox_and_poppler(void **state)
{
    static const char *const closed[] = {"--without-landlock", NULL};
    struct peer peer;

    (void)state;
    start_fake(&peer, NULL);
    assert_int_equal(peer.ready.type, PDF_CONTROL_READY);
    assert_int_equal(peer.ready.version, PDF_CONTROL_VERSION);
    assert_true(SANDBOXD ? peer.ready.sandbox != PDF_SANDBOX_NONE
                         : peer.ready.sandbox == PDF_SANDBOX_NONE);
    assert_string_equal(peer.ready.poppler_version, FAKE_VERSION);
    stop(&peer);
    start_fake(&peer, closed);
    assert_int_equal(peer.ready.sandbox, SANDBOXD ? PDF_SANDBOX_CLOSED : PDF_SANDBOX_NONE);
    stop(&peer);
}

/* Goal: if the machine's memory runs out, the worker and its children are killed before the server,
 * whose open store counts as its memory. Method: the program's oom_score_adj. */
static void test_worker_is_killed_before_the_server(void **state)
{
    struct peer peer;
    char path[64];
    char text[16] = "";
    FILE *file = NULL;

    (void)state;
    start_fake(&peer, NULL);
    (void)snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)peer.pid);
    file = fopen(path, "r");
    if (file == NULL) {
        stop(&peer);
        skip(); /* there is no /proc */
    }
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    (void)fclose(file);
    assert_string_equal(text, "1000\n");
    stop(&peer);
}

/* Goal: a job is answered, its end is reported with its costs, and then its socket is closed.
 * Method: one of each kind of document that is answered. */
static void test_job_is_answered_with_its_costs(void **state)
{
    const struct pdf_control_job explained = peer_message(PDF_JOB_EXPLAIN | PDF_JOB_PICTURE, "");
    const struct pdf_control_job with_text = peer_message(PDF_JOB_TEXT, "");
    struct peer peer;
    struct pdf_answer answer;
    struct pdf_control_end end;

    (void)state;
    start_fake(&peer, NULL);
    run_job(&peer, FAKE_PLAIN, &answer, &end);
    assert_int_equal(end.end, PDF_END_EXITED);
    assert_int_equal(end.code, PDF_EXIT_ANSWERED);
    assert_true(end.cpu_us > 0);
    assert_true(end.memory_bytes > 0);
    assert_int_equal(end.waited_us, 0);
    assert_int_equal(answer.reason, PDF_READ);
    assert_int_equal(answer.cut, PDF_CUT_NONE);
    assert_false(answer.explained);
    assert_int_equal(answer.picture.size, 0);
    run_job(&peer, FAKE_REFUSE, &answer, &end);
    assert_int_equal(end.code, PDF_EXIT_ANSWERED);
    assert_int_equal(answer.reason, PDF_DAMAGED);
    run_job(&peer, FAKE_CUT, &answer, &end);
    assert_int_equal(end.code, PDF_EXIT_ANSWERED);
    assert_int_equal(answer.cut, PDF_CUT_RULINGS);
    run_job(&peer, FAKE_CUT_EARLY, &answer, &end);
    assert_int_equal(end.code, PDF_EXIT_ANSWERED);
    assert_int_equal(answer.cut, PDF_CUT_PATHS);
    run_message(&peer, &explained, FAKE_PLAIN, &answer, &end);
    assert_int_equal(end.code, PDF_EXIT_ANSWERED);
    assert_true(answer.explained);
    assert_int_equal(answer.explanation.words, 7);
    assert_int_equal(answer.picture.size, sizeof(FAKE_PICTURE) - 1);
    assert_int_equal(answer.pages.count, 0);
    run_message(&peer, &with_text, FAKE_PLAIN, &answer, &end);
    assert_int_equal(answer.cut, PDF_CUT_NONE);
    assert_int_equal(answer.pages.end, PDF_PAGES_WHOLE);
    assert_int_equal(answer.pages.text.size, 10);
    /* A cut at a counted limit does not end the child: its text follows. */
    run_message(&peer, &with_text, FAKE_CUT_EARLY, &answer, &end);
    assert_int_equal(end.code, PDF_EXIT_ANSWERED);
    assert_int_equal(answer.cut, PDF_CUT_PATHS);
    assert_int_equal(answer.pages.end, PDF_PAGES_WHOLE);
    stop(&peer);
}

/* Goal: a child inherits only its document and its pipe: no other descriptors, environment, or
 * another job's password. Method: documents that report them. */
static void test_child_inherits_only_document_and_pipe(void **state)
{
    const struct pdf_control_job secret = peer_message(0, "0123456789");
    struct peer peer;
    struct peer_job other;
    struct pdf_answer answer;
    struct pdf_control_end end;

    (void)state;
    assert_int_equal(setenv("ERRATA_TEST_SECRET", "not for a child", 1), 0);
    start_fake(&peer, NULL);
    send_job(&peer, FAKE_SLEEP, &other);
    run_job(&peer, FAKE_DESCRIPTORS, &answer, &end);
    assert_int_equal(answer.text.text_chars, 5);
    run_job(&peer, FAKE_ENVIRONMENT, &answer, &end);
    assert_int_equal(answer.text.text_chars, 1); /* LC_ALL */
    run_message(&peer, &secret, FAKE_PASSWORD, &answer, &end);
    assert_int_equal(answer.text.text_chars, 10);
    run_job(&peer, FAKE_PASSWORD, &answer, &end);
    assert_int_equal(answer.text.text_chars, 0);
    peer_close_job(&other);
    stop(&peer);
}

/* Goal: jobs run concurrently. Method: one is answered while two others sleep. */
static void test_jobs_run_side_by_side(void **state)
{
    struct peer peer;
    struct peer_job sleeping[2];

    (void)state;
    start_fake(&peer, NULL);
    send_job(&peer, FAKE_SLEEP, &sleeping[0]);
    send_job(&peer, FAKE_SLEEP_LATER, &sleeping[1]);
    assert_serves(&peer);
    for (size_t i = 0; i < 2; i++) {
        peer_close_job(&sleeping[i]);
    }
    stop(&peer);
}

/* Goal: closing the job socket kills the child, and the server continues. Method: the answer's pipe
 * of a sleeping child closes once its socket is closed. */
static void test_closed_job_socket_kills_the_child(void **state)
{
    struct peer peer;
    struct peer_job job;

    (void)state;
    start_fake(&peer, NULL);
    send_job(&peer, FAKE_SLEEP, &job);
    assert_serves(&peer);
    assert_false(peer_wait_readable(job.answer, 0));
    (void)close(job.socket);
    job.socket = -1;
    assert_true(peer_wait_closed(job.answer));
    assert_serves(&peer);
    peer_close_job(&job);
    stop(&peer);
}

/* Goal: a child is killed at the wall limit, its output until then is kept, and one that waits for
 * its reader is killed, too. Method: a short limit; children that sleep, sleep later, and flood. */
static void test_child_is_killed_at_the_wall_limit(void **state)
{
    static const char *const brief[] = {"--wall-ms", "200", NULL};
    const struct pdf_control_job with_text = peer_message(PDF_JOB_TEXT, "");
    struct peer peer;
    struct peer_job flooding;
    struct pdf_answer answer;
    struct pdf_control_end end;

    (void)state;
    start_fake(&peer, brief);
    send_job(&peer, FAKE_FLOOD, &flooding);
    run_job(&peer, FAKE_SLEEP, &answer, &end);
    assert_int_equal(end.end, PDF_END_WALL);
    assert_int_equal(end.code, SIGKILL);
    assert_int_equal(answer.reason, PDF_CRASHED);
    run_job(&peer, FAKE_SLEEP_LATER, &answer, &end);
    assert_int_equal(end.end, PDF_END_WALL);
    assert_int_equal(answer.reason, PDF_READ);
    assert_int_equal(answer.cut, PDF_CUT_LIMIT);
    run_message(&peer, &with_text, FAKE_SLEEP_PAGES, &answer, &end);
    assert_int_equal(end.end, PDF_END_WALL);
    assert_int_equal(answer.cut, PDF_CUT_NONE);
    assert_int_equal(answer.pages.count, 1);
    assert_int_equal(answer.pages.end, PDF_PAGES_STOPPED);
    assert_true(peer_read_end(&flooding, &end));
    assert_int_equal(end.end, PDF_END_WALL);
    peer_close_job(&flooding);
    assert_serves(&peer);
    stop(&peer);
}

/* Processes that use a whole processor, until they are killed. */
static void start_hogs(pid_t *hogs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hogs[i] = fork();
        assert_true(hogs[i] >= 0);
        while (hogs[i] == 0) {
        }
    }
}

static void stop_hogs(const pid_t *hogs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)kill(hogs[i], SIGKILL);
        (void)waitpid(hogs[i], NULL, 0);
    }
}

#define STARVED_WALL_MS 1500
#define HOGS_MAX 24

/* Starts a worker on one processor, beside other processes that use all of it. */
static void start_starved(struct peer *peer, pid_t *hogs, size_t hog_count)
{
    static const char *const brief[] = {"--wall-ms", "1500", NULL};
    cpu_set_t usual;
    cpu_set_t one;
    size_t cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof(usual), &usual), 0);
    while (!CPU_ISSET(cpu, &usual)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    start_fake(peer, brief);
    start_hogs(hogs, hog_count);
    assert_int_equal(sched_setaffinity(0, sizeof(usual), &usual), 0);
}

static void assert_waited(const struct pdf_control_end *end)
{
    assert_int_equal(end->end, PDF_END_WALL);
    assert_int_equal(end->code, SIGKILL);
    assert_true(end->waited_us != PDF_WAITED_UNKNOWN);
    if (end->waited_us < STARVED_WALL_MS * 500 ||
        end->waited_us + end->cpu_us > STARVED_WALL_MS * 2000) {
        fail_msg("waited %" PRIu64 " us, ran %" PRIu64, end->waited_us, end->cpu_us);
    }
}

/* Goal: the end of a child that was starved of CPU until the wall limit reports its waiting time.
 * Method: one processor for a worker and for a process that uses all of it. */
static void test_starved_child_reports_its_waiting_time(void **state)
{
    struct peer peer;
    struct pdf_answer answer;
    struct pdf_control_end end;
    pid_t hog = 0;

    (void)state;
    if (!peer_counts_waiting()) {
        print_message("this kernel does not count how long a process waits\n");
        skip();
    }
    start_starved(&peer, &hog, 1);
    run_job(&peer, FAKE_SPIN, &answer, &end);
    stop_hogs(&hog, 1);
    assert_waited(&end);
    stop(&peer);
}

/* Goal: the end of a killed child that gets no CPU to exit is reported in time. Method: so many
 * other processes that the child runs only after several times the limit. */
static void test_killed_child_without_cpu_does_not_delay_its_end(void **state)
{
    const int most_ms =
        STARVED_WALL_MS + 2000; /* with a margin of half a second for this process */
    pid_t hogs[HOGS_MAX];
    struct peer peer;
    struct peer_job job;
    struct pdf_control_end end;
    bool reported = false;

    (void)state;
    if (!peer_counts_waiting()) {
        print_message("this kernel does not count how long a process waits\n");
        skip();
    }
    start_starved(&peer, hogs, HOGS_MAX);
    send_job(&peer, FAKE_SPIN, &job);
    reported = peer_wait_readable(job.socket, most_ms);
    stop_hogs(hogs, HOGS_MAX);
    assert_true(reported);
    assert_true(peer_read_end(&job, &end));
    assert_waited(&end);
    assert_true(peer_wait_closed(job.socket));
    assert_true(peer_wait_closed(job.answer));
    peer_close_job(&job);
    assert_serves(&peer);
    stop(&peer);
}

static void assert_signalled(const struct peer *peer, const char *text, int signal)
{
    struct pdf_answer answer;
    struct pdf_control_end end;

    run_job(peer, text, &answer, &end);
    assert_int_equal(end.end, PDF_END_SIGNALLED);
    assert_int_equal(end.code, signal);
}

/* Goal: a child's death is reported with its cause, and only its job fails. Method: children that
 * abort, trap, and call forbidden system calls. */
static void test_death_of_a_child_fails_only_its_job(void **state)
{
    struct peer peer;
    struct pdf_answer answer;
    struct pdf_control_end end;

    (void)state;
    start_fake(&peer, NULL);
    assert_signalled(&peer, FAKE_ABORT, SIGABRT);
    assert_signalled(&peer, FAKE_TRAP, SIGILL);
    if (SANDBOXD) {
        assert_signalled(&peer, FAKE_SOCKET, SIGSYS);
    }
    run_job(&peer, FAKE_TRAP_LATER, &answer, &end);
    assert_int_equal(end.code, SIGILL);
    assert_int_equal(answer.reason, PDF_READ);
    assert_int_equal(answer.cut, PDF_CUT_LIMIT);
    assert_serves(&peer);
    stop(&peer);
}

/* Goal: an answer that no one reads counts as a failure of the child, not as a crash. Method: the
 * pipe's read end is closed while the child blocks in it. */
static void test_unread_answer_is_a_failure_of_the_child(void **state)
{
    struct peer peer;
    struct peer_job job;
    struct pdf_control_end end;

    (void)state;
    start_fake(&peer, NULL);
    send_job(&peer, FAKE_FLOOD, &job);
    assert_true(peer_wait_readable(job.answer, PEER_WAIT_MS));
    (void)close(job.answer);
    job.answer = -1;
    assert_true(peer_read_end(&job, &end));
    assert_int_equal(end.end, PDF_END_EXITED);
    assert_int_equal(end.code, PDF_EXIT_FAILED);
    peer_close_job(&job);
    stop(&peer);
}

/* Sends a datagram with `count` pipes' write ends, or, as the third, a job socket. All must be closed
 * by the worker; if `not_forked` is set, the socket must report it first. */
static void send_wrong(const struct peer *peer, struct slice datagram, size_t count,
                       bool not_forked)
{
    int ours[20] = {0};
    int theirs[20] = {0};
    struct pdf_control_end end;

    for (size_t i = 0; i < count; i++) {
        int pair[2];

        assert_int_equal(
            i == PDF_JOB_SOCKET ? socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) : pipe(pair), 0);
        ours[i] = pair[0];
        theirs[i] = pair[1];
    }
    assert_true(peer_send(peer, datagram, theirs, count));
    for (size_t i = 0; i < count; i++) {
        (void)close(theirs[i]);
    }
    if (not_forked) {
        struct peer_job job = {.socket = ours[PDF_JOB_SOCKET], .answer = -1};

        assert_true(peer_read_end(&job, &end));
        assert_int_equal(end.end, PDF_END_NOT_FORKED);
    }
    for (size_t i = 0; i < count; i++) {
        assert_true(peer_wait_closed(ours[i]));
        (void)close(ours[i]);
    }
}

/* Goal: an invalid message starts nothing, is answered if it has a socket, leaves no descriptor
 * open and does not end the program. Method: each kind of wrong datagram. */
static void test_invalid_message_starts_nothing(void **state)
{
    const struct slice nothing = {(const uint8_t *)"", 0};
    const struct pdf_control_job right = peer_message(0, "");
    const struct slice whole = slice_of(&right, sizeof(right));
    struct pdf_control_job wrong = right;
    uint8_t longer[sizeof(right) + 100];
    struct peer peer;

    (void)state;
    start_fake(&peer, NULL);
    memset(longer, 0, sizeof(longer));
    memcpy(longer, &right, sizeof(right));
    send_wrong(&peer, nothing, 0, false);
    send_wrong(&peer, nothing, 2, false);
    send_wrong(&peer, SLICE("x"), 0, false);
    send_wrong(&peer, SLICE("x"), 1, false);
    send_wrong(&peer, whole, 0, false);
    send_wrong(&peer, whole, 1, false);
    send_wrong(&peer, whole, 2, false);
    send_wrong(&peer, whole, 4, false);
    send_wrong(&peer, whole, 16, false);
    send_wrong(&peer, whole, 20, false);
    send_wrong(&peer, slice_of(longer, sizeof(longer)), 3, true);
    send_wrong(&peer, slice_of(&right, sizeof(right) - 1), 3, true);
    send_wrong(&peer, SLICE("garbage"), 3, true);
    wrong.type = PDF_CONTROL_END;
    send_wrong(&peer, slice_of(&wrong, sizeof(wrong)), 3, true);
    wrong = right;
    wrong.version = PDF_CONTROL_VERSION + 1;
    send_wrong(&peer, slice_of(&wrong, sizeof(wrong)), 3, true);
    wrong = right;
    wrong.flags = PDF_JOB_FLAGS + 1;
    send_wrong(&peer, slice_of(&wrong, sizeof(wrong)), 3, true);
    wrong = right;
    wrong.password_bytes = PDF_PASSWORD_BYTES_MAX + 1;
    send_wrong(&peer, slice_of(&wrong, sizeof(wrong)), 3, true);
    assert_serves(&peer);
    stop(&peer);
}

/* Returns the number of descriptors of the process; -1 if it is not permitted. */
static int count_descriptors(pid_t pid)
{
    char path[64];
    DIR *folder = NULL;
    int count = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    folder = opendir(path);
    if (folder == NULL) {
        return -1;
    }
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

/* Goal: jobs leave no descriptor open. Method: many of them; descriptors are counted. */
static void test_jobs_leave_no_descriptor(void **state)
{
    struct peer peer;
    int before = 0;

    (void)state;
    start_fake(&peer, NULL);
    assert_serves(&peer);
    before = count_descriptors(peer.pid);
    for (int i = 0; i < 20; i++) {
        struct peer_job job;

        send_job(&peer, FAKE_SLEEP, &job);
        peer_close_job(&job);
        send_wrong(&peer, SLICE("garbage"), 3, true);
        assert_serves(&peer);
        assert_signalled(&peer, FAKE_TRAP, SIGILL);
    }
    assert_serves(&peer);
    assert_int_equal(count_descriptors(peer.pid), before);
    stop(&peer);
}

/* Goal: there are at most PDF_CHILDREN_MAX children, one more is refused, and when the control
 * socket closes all of them end, and the program too. Method: fill it with children, then close. */
static void test_children_are_bounded_and_end_with_the_program(void **state)
{
    struct peer peer;
    struct peer_job jobs[PDF_CHILDREN_MAX];
    struct pdf_answer answer;
    struct pdf_control_end end;

    (void)state;
    start_fake(&peer, NULL);
    for (size_t i = 0; i < PDF_CHILDREN_MAX; i++) {
        send_job(&peer, FAKE_SLEEP, &jobs[i]);
    }
    run_job(&peer, FAKE_PLAIN, &answer, &end);
    assert_int_equal(end.end, PDF_END_NOT_FORKED);
    peer_close_job(&jobs[0]);
    for (int tries = 0; end.end == PDF_END_NOT_FORKED && tries < 1000; tries++) {
        (void)usleep(5000);
        run_job(&peer, FAKE_PLAIN, &answer, &end);
    }
    assert_int_equal(end.end, PDF_END_EXITED);
    stop(&peer);
    for (size_t i = 1; i < PDF_CHILDREN_MAX; i++) {
        assert_true(peer_wait_closed(jobs[i].answer));
        peer_close_job(&jobs[i]);
    }
}

/* Goal: signals to a whole group of processes do not end the program: a server that drains still has
 * jobs. Method: send them, then a job. */
static void test_signals_to_the_group_do_not_end_the_program(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    struct peer peer;

    (void)state;
    start_fake(&peer, NULL);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        assert_int_equal(kill(peer.pid, signals[i]), 0);
    }
    assert_serves(&peer);
    stop(&peer);
}

/* A server that starts a worker with a sleeping child and dies. Its control socket stays open, in a
 * datagram to the test that is never received. */
static NORETURN void die_as_server(int test, int job_socket, int answer)
{
    const struct pdf_control_job message = peer_message(0, "");
    const struct peer to_test = {.control = test};
    struct peer peer;
    int fds[PDF_JOB_FDS];

    if (!peer_start(&peer, getenv("ERRATA_PDF_WORKER_FAKE"), NULL)) {
        _exit(1);
    }
    fds[PDF_JOB_DOCUMENT] = peer_document(fake_document(FAKE_SLEEP));
    fds[PDF_JOB_ANSWER] = answer;
    fds[PDF_JOB_SOCKET] = job_socket;
    if (!peer_send(&peer, slice_of(&message, sizeof(message)), fds, PDF_JOB_FDS) ||
        !peer_send(&to_test, SLICE("x"), &peer.control, 1)) {
        _exit(1);
    }
    (void)kill(getpid(), SIGKILL);
    _exit(1);
}

/* Goal: the program and its children do not outlive the server, even if its control socket stays
 * open in another process. Method: a process that starts it dies by itself; its pipe and socket
 * close. */
static void test_program_ends_with_the_server(void **state)
{
    int job[2];
    int answer[2];
    int reported[2];
    int status = 0;
    pid_t server = 0;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, job), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, reported), 0);
    assert_int_equal(pipe2(answer, O_CLOEXEC), 0);
    server = fork();
    assert_true(server >= 0);
    if (server == 0) {
        die_as_server(reported[1], job[1], answer[1]);
    }
    (void)close(job[1]);
    (void)close(answer[1]);
    assert_int_equal(waitpid(server, &status, 0), server);
    assert_true(WIFSIGNALED(status));
    assert_true(peer_wait_readable(reported[0], 0));
    assert_true(peer_wait_closed(answer[0]));
    assert_true(peer_wait_closed(job[0]));
    (void)close(job[0]);
    (void)close(answer[0]);
    (void)close(reported[0]);
    (void)close(reported[1]);
}

/* Runs the program with an argument, or NULL, and without its descriptor; expects `code`, and
 * `says` in standard error. */
static void expect_with(const char *argument, int code, const char *says)
{
    char said[256] = "";
    int status = 0;
    int pipes[2];
    pid_t pid = 0;

    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL || dup2(pipes[1], STDERR_FILENO) < 0) {
            _exit(127);
        }
        (void)close(PDF_CONTROL_FD);
        (void)execl(fake_program(), "errata-pdf-worker", argument, (char *)NULL);
        _exit(127);
    }
    (void)close(pipes[1]);
    assert_true(read(pipes[0], said, sizeof(said) - 1) >= 0);
    (void)close(pipes[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
    assert_non_null(strstr(said, says));
}

/* Goal: a program started by hand prints its description and serves no client; a wrong argument is
 * named. Method: the exit code and text of each case. */
static void test_program_started_by_hand_explains_itself(void **state)
{
    (void)state;
    expect_with("--help", 0, "");
    expect_with("--version", 0, "");
    expect_with(NULL, 64, "");
    expect_with("--nonsense", 64, "nonsense");
    expect_with("a-file.pdf", 64, "unexpected argument 'a-file.pdf'");
    expect_with("--wall-ms=0", 64, "--wall-ms: invalid value '0'; expected 1 to 600000");
    expect_with("--wall-ms=600001", 64, "--wall-ms: invalid value '600001'; expected 1 to 600000");
    expect_with("--wall-ms=1x", 64, "--wall-ms: invalid value '1x'; expected 1 to 600000");
}

/* A page with text and a table of 2x2 cells; Poppler rebuilds the cross-reference table. */
static const char real_document[] =
    "%PDF-1.4\n"
    "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R"
    "/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    "4 0 obj<</Length 60>>stream\n"
    "BT /F 12 Tf 20 150 Td (Invoice 4711) Tj ET                 \n"
    "endstream endobj\n"
    "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
    "trailer<</Root 1 0 R>>\n"
    "%%EOF\n";

static void measure_really(const char *const *arguments, bool closed)
{
    const struct pdf_control_job message = peer_message(PDF_JOB_EXPLAIN, "");
    struct peer peer;
    struct peer_job job;
    struct pdf_answer answer;
    struct pdf_control_end end;
    struct arena arena;

    arena_init(&arena, 4 * PDF_ANSWER_BYTES_MAX);
    assert_true(peer_start(&peer, getenv("ERRATA_PDF_WORKER"), arguments));
    assert_true(peer_send_job(&peer, &message, slice_text(real_document), &job));
    finish_job(&job, &arena, &answer, &end);
    assert_int_equal(end.end, PDF_END_EXITED);
    assert_int_equal(end.code, PDF_EXIT_ANSWERED);
    assert_int_equal(answer.reason, PDF_READ);
    assert_int_equal(answer.text.page_count, 1);
    assert_true(answer.text.pages[0].width == 300.0);
    assert_true(answer.text.pages[0].height == 200.0);
    assert_true(slice_starts_with(answer.text.snippet, SLICE("Invoice 4711")));
    assert_true(answer.text.covered_cells > 0);
    assert_int_equal(answer.cut, PDF_CUT_NONE);
    assert_int_equal(answer.tables.table_count, 0);
    assert_true(answer.explained);
    assert_int_equal(answer.explanation.words, 2);
    assert_true(!closed || answer.text.cmaps_unavailable);
    arena_deinit(&arena);
    stop(&peer);
}

/* Goal: the real program measures a real document in either sandbox. Method: one page. */
static void test_real_program_measures_a_document(void **state)
{
    static const char *const without[] = {"--without-landlock", NULL};

    (void)state;
    measure_really(NULL, false);
    measure_really(without, SANDBOXD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready_has_version_sandbox_and_poppler),
        cmocka_unit_test(test_worker_is_killed_before_the_server),
        cmocka_unit_test(test_job_is_answered_with_its_costs),
        cmocka_unit_test(test_child_inherits_only_document_and_pipe),
        cmocka_unit_test(test_jobs_run_side_by_side),
        cmocka_unit_test(test_closed_job_socket_kills_the_child),
        cmocka_unit_test(test_child_is_killed_at_the_wall_limit),
        cmocka_unit_test(test_starved_child_reports_its_waiting_time),
        cmocka_unit_test(test_killed_child_without_cpu_does_not_delay_its_end),
        cmocka_unit_test(test_death_of_a_child_fails_only_its_job),
        cmocka_unit_test(test_unread_answer_is_a_failure_of_the_child),
        cmocka_unit_test(test_invalid_message_starts_nothing),
        cmocka_unit_test(test_jobs_leave_no_descriptor),
        cmocka_unit_test(test_children_are_bounded_and_end_with_the_program),
        cmocka_unit_test(test_signals_to_the_group_do_not_end_the_program),
        cmocka_unit_test(test_program_ends_with_the_server),
        cmocka_unit_test(test_program_started_by_hand_explains_itself),
        cmocka_unit_test(test_real_program_measures_a_document),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
