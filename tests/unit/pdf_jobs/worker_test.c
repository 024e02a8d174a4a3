/*
 * worker_test.c: the fork server's start and end, and every end of a job, blocking as
 * `errata layouts explain` uses them.
 */
#include "tests/unit/pdf_jobs/pdf_jobs_tests.h"

#include "store/base/assert.h"
#include "store/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)64 << 20)

static struct pdf_worker start(void)
{
    struct pdf_worker worker;
    struct arena arena;
    struct fault fault;

    arena_init(&arena, 4096);
    fault_init(&fault, &arena);
    assert_int_equal(pdf_worker_start_ready(FAKE_WORKER, TEST_WAIT_MS, &fault, &worker), OK);
    assert_int_equal(fault.message.size, 0);
    arena_deinit(&arena);
    return worker;
}

/* Goal: a fork server starts with a clean environment (which it checks itself) and leaves nothing
 * when it ends. Method: one, by hand; stopping twice equals stopping once. */
static void test_fork_server_starts_clean_and_leaves_nothing(void **state)
{
    size_t before = open_descriptors();
    struct pdf_worker worker = start();
    pid_t pid = worker.pid;

    (void)state;
    assert_int_equal(worker.sandbox, PDF_SANDBOX_LANDLOCK);
    assert_string_equal(worker.poppler_version, "0.0.0");
    assert_int_equal(fcntl(worker.control, F_GETFD), FD_CLOEXEC);
    pdf_worker_stop(&worker);
    assert_int_equal(worker.pid, 0);
    assert_false(worker.killed);
    assert_true(WIFEXITED(worker.status) && WEXITSTATUS(worker.status) == 0);
    pdf_worker_stop(&worker);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(open_descriptors(), before);
}

/* Goal: a program that is not a matching worker is refused with a reason, and leaves nothing.
 * Method: one of each kind. */
static void test_program_that_is_not_the_worker_is_refused(void **state)
{
    static const struct {
        const char *name;
        const char *message;
    } cases[] = {
        {"dies-at-start", "exited with status 13"},
        {"never-ready", "was not ready within 300 ms"},
        {"other-version", "has protocol version 4, this program has 3"},
        {"other-type", "first message of the PDF worker is not"},
        {"odd-sandbox", "is malformed"},
        {"odd-text", "is malformed"},
        {"short", "first message of the PDF worker is not READY"},
    };
    size_t before = open_descriptors();
    struct programs programs;
    struct pdf_worker worker;
    struct arena arena;
    struct fault fault;

    (void)state;
    programs_init(&programs);
    arena_init(&arena, 65536);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *path = programs_make(&programs, cases[i].name);
        unsigned timeout_ms = strcmp(cases[i].name, "never-ready") == 0 ? 300 : TEST_WAIT_MS;

        fault_init(&fault, &arena);
        assert_int_equal(pdf_worker_start_ready(path, timeout_ms, &fault, &worker),
                         ERR_UNAVAILABLE);
        assert_non_null(memmem(fault.message.data, fault.message.size, cases[i].message,
                               strlen(cases[i].message)));
    }
    fault_init(&fault, &arena);
    assert_int_equal(pdf_worker_start_ready("/nowhere/worker", 1000, &fault, &worker),
                     ERR_UNAVAILABLE);
    assert_non_null(memmem(fault.message.data, fault.message.size, "No such file", 12));
    fault_init(&fault, &arena);
    assert_int_equal(pdf_worker_start_ready("/etc/passwd", 1000, &fault, &worker), ERR_UNAVAILABLE);
    assert_non_null(memmem(fault.message.data, fault.message.size, "Permission denied", 17));
    arena_deinit(&arena);
    programs_deinit(&programs);
    assert_int_equal(open_descriptors(), before);
}

/* Goal: only silence is waited for: a worker that ended, or a descriptor that fails, ends the wait
 * at once, with any earlier errno. Method: a socket pair in the worker's place. */
static void test_ended_worker_is_not_waited_for(void **state)
{
    struct pdf_worker worker = {.pid = 0};
    struct arena arena;
    struct fault fault;
    int ends[2];

    (void)state;
    arena_init(&arena, 4096);
    fault_init(&fault, &arena);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    worker.control = ends[0];
    assert_int_equal(pdf_worker_read_ready(&worker, &fault), ERR_NOT_FOUND);
    assert_int_equal(close(ends[1]), 0);
    errno = EAGAIN;
    assert_int_equal(pdf_worker_read_ready(&worker, &fault), ERR_UNAVAILABLE);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(pdf_worker_read_ready(&worker, &fault), ERR_UNAVAILABLE);
    arena_deinit(&arena);
}

static enum err measure(struct pdf_worker *worker, const char *document, uint32_t flags,
                        struct arena *arena, struct pdf_answer *ret_answer)
{
    struct pdf_bytes bytes;
    const struct pdf_request request = {
        .control = worker->control, .bytes = &bytes, .flags = flags, .timeout_ms = TEST_WAIT_MS};
    enum err err = OK;

    make_bytes(&bytes, document);
    err = pdf_worker_measure(&request, arena, ret_answer);
    pdf_bytes_close(&bytes);
    return err;
}

static const struct ending {
    const char *document;
    enum err err;
    enum pdf_reason reason;
    enum pdf_cut cut;
    uint32_t flags;
} endings[] = {
    {"text tables", OK, PDF_READ, PDF_CUT_NONE, 0},
    {"slowly text tables", OK, PDF_READ, PDF_CUT_NONE, 0},
    {"text cut", OK, PDF_READ, PDF_CUT_RULINGS, 0},
    {"refuse", OK, PDF_NO_PAGES, PDF_CUT_LIMIT, 0},
    {"password", OK, PDF_ENCRYPTED, PDF_CUT_LIMIT, 0},
    /* Ends before the text. */
    {"signal=24", OK, PDF_TEXT_LIMIT, PDF_CUT_LIMIT, 0}, /* SIGXCPU */
    {"half signal=24", OK, PDF_TEXT_LIMIT, PDF_CUT_LIMIT, 0},
    {"signal=9", ERR_UNAVAILABLE, PDF_READ, PDF_CUT_NONE,
     0}, /* killed from outside for lack of memory */
    {"exit=2", OK, PDF_TEXT_LIMIT, PDF_CUT_LIMIT, 0}, /* PDF_EXIT_MEMORY */
    {"memory signal=6", OK, PDF_TEXT_LIMIT, PDF_CUT_LIMIT, 0}, /* SIGABRT */
    {"memory signal=5", OK, PDF_TEXT_LIMIT, PDF_CUT_LIMIT, 0}, /* SIGTRAP */
    {"server-wall", OK, PDF_TEXT_LIMIT, PDF_CUT_LIMIT, 0},
    {"half server-wall", OK, PDF_TEXT_LIMIT, PDF_CUT_LIMIT, 0},
    {"server-wall-untold", OK, PDF_TEXT_LIMIT, PDF_CUT_LIMIT, 0},
    {"signal=6", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"signal=11", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0}, /* SIGSEGV */
    {"memory signal=11", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"signal=31", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0}, /* SIGSYS */
    {"exit=1", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"exit=7", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"half", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    /* Breaks rules, after any earlier frames. */
    {"lie", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"text lie", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"text text", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"tables", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"lie signal=24", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"lie server-starved", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"flood", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"text tables flood", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"text unasked", OK, PDF_CRASHED, PDF_CUT_LIMIT, 0},
    {"text unasked", OK, PDF_CRASHED, PDF_CUT_LIMIT, PDF_JOB_PICTURE},
    {"text unasked", OK, PDF_CRASHED, PDF_CUT_LIMIT, PDF_JOB_EXPLAIN},
    {"text pages tables", OK, PDF_CRASHED, PDF_CUT_LIMIT, PDF_JOB_EXPLAIN | PDF_JOB_PICTURE},
    {"text tables flood", OK, PDF_CRASHED, PDF_CUT_LIMIT, PDF_JOB_TEXT},
    /* the worker fails after the text */
    {"text", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    {"text signal=9", ERR_UNAVAILABLE, PDF_READ, PDF_CUT_NONE, 0},
    {"text tables signal=9", OK, PDF_READ, PDF_CUT_NONE, 0},
    {"text signal=24", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    {"text half signal=11", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    {"text memory signal=6", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    {"text exit=2", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    {"text tables signal=11", OK, PDF_READ, PDF_CUT_NONE, 0},
    {"refuse signal=24", OK, PDF_NO_PAGES, PDF_CUT_LIMIT, 0},
    {"text server-wall", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    {"text server-wall-untold", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    {"text server-starved-untold", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    /* Complete answers. */
    {"text cut server-starved", OK, PDF_READ, PDF_CUT_RULINGS, 0},
    {"text tables server-starved", OK, PDF_READ, PDF_CUT_NONE, 0},
    {"refuse server-starved", OK, PDF_NO_PAGES, PDF_CUT_LIMIT, 0},
    /* Ends that are not caused by the document. */
    {"exit=3", ERR_UNAVAILABLE, PDF_READ, PDF_CUT_NONE, 0}, /* PDF_EXIT_SANDBOX */
    {"server-not-forked", ERR_UNAVAILABLE, PDF_READ, PDF_CUT_NONE, 0},
    {"server-closes", ERR_INTERNAL, PDF_READ, PDF_CUT_NONE, 0},
    {"server-lies", ERR_INTERNAL, PDF_READ, PDF_CUT_NONE, 0},
};

/* The child got no CPU time: the partial answer, marked as such. */
static const struct ending starved_endings[] = {
    {"server-starved", OK, PDF_WALL_LIMIT, PDF_CUT_LIMIT, 0},
    {"half server-starved", OK, PDF_WALL_LIMIT, PDF_CUT_LIMIT, 0},
    {"text server-starved", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    {"text half server-starved", OK, PDF_READ, PDF_CUT_LIMIT, 0},
    {"server-starved-untold", OK, PDF_WALL_LIMIT, PDF_CUT_LIMIT, 0},
};

/* Measures a document, compares the result, and measures a valid one afterwards. */
static void expect_ending(struct pdf_worker *worker, const struct ending *ending, bool starved)
{
    struct pdf_answer answer = {.reason = PDF_READ, .cut = PDF_CUT_NONE};
    size_t before = open_descriptors();
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, ARENA_BYTES);
    err = measure(worker, ending->document, ending->flags, &arena, &answer);
    if (err != ending->err || answer.reason != ending->reason || answer.cut != ending->cut ||
        answer.starved != starved) {
        fail_msg("'%s': %s, %s, cut %d, starved %d", ending->document, err_name(err),
                 pdf_reason_code(answer.reason), (int)answer.cut, answer.starved);
    }
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(measure(worker, "text tables", 0, &arena, &answer), OK);
    assert_int_equal(answer.reason, PDF_READ);
    assert_int_equal(answer.cpu_us, 1234);
    assert_int_equal(answer.memory_bytes, 4096);
    arena_deinit(&arena);
}

/* Goal: each end of a job gives the result of pdf_worker.h, fails only that job, and leaves
 * nothing. Method: all of them, one after the other, on one fork server; each followed by a good
 * document. */
static void test_each_end_fails_only_its_job(void **state)
{
    struct pdf_worker worker = start();

    (void)state;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        expect_ending(&worker, &endings[i], false);
    }
    for (size_t i = 0; i < sizeof(starved_endings) / sizeof(starved_endings[0]); i++) {
        expect_ending(&worker, &starved_endings[i], true);
    }
    pdf_worker_stop(&worker);
}

/* Goal: requested extras arrive, and a password reaches the worker. Method: both flags; the right
 * password. */
static void test_requested_extras_and_password_arrive(void **state)
{
    struct pdf_worker worker = start();
    struct pdf_bytes bytes;
    struct pdf_request request = {
        .control = worker.control, .bytes = &bytes, .password = SLICE("secret")};
    struct pdf_answer answer;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(
        measure(&worker, "text asked", PDF_JOB_EXPLAIN | PDF_JOB_PICTURE, &arena, &answer), OK);
    assert_int_equal(answer.reason, PDF_READ);
    assert_true(answer.explained);
    assert_int_equal(answer.explanation.table_count, 1);
    assert_int_equal(answer.picture.size, 24);
    assert_int_equal(measure(&worker, "text asked", PDF_JOB_PICTURE, &arena, &answer), OK);
    assert_false(answer.explained);
    assert_int_equal(answer.picture.size, 24);
    assert_int_equal(measure(&worker, "text tables pages", PDF_JOB_TEXT, &arena, &answer), OK);
    assert_true(slice_equal(answer.pages.text, SLICE("Invoice 2024-0001\n")));
    assert_int_equal(answer.pages.end, PDF_PAGES_WHOLE);
    assert_int_equal(measure(&worker, "text tables signal=24", PDF_JOB_TEXT, &arena, &answer), OK);
    assert_int_equal(answer.reason, PDF_READ);
    assert_int_equal(answer.pages.count, 0);
    make_bytes(&bytes, "password tables");
    assert_int_equal(pdf_worker_measure(&request, &arena, &answer), OK);
    assert_int_equal(answer.reason, PDF_READ);
    pdf_bytes_close(&bytes);
    arena_deinit(&arena);
    pdf_worker_stop(&worker);
}

/* Goal: an arena without room fails the job with its own error. Method: an arena of a few bytes. */
static void test_arena_without_room_fails_the_job(void **state)
{
    struct pdf_worker worker = start();
    struct pdf_answer answer;
    struct arena arena;

    (void)state;
    arena_init(&arena, 64);
    assert_int_equal(measure(&worker, "text tables", 0, &arena, &answer), ERR_MEMORY);
    arena_deinit(&arena);
    pdf_worker_stop(&worker);
}

/* Goal: a fork server that has died, dies during a job, or hangs is distinguished from a document's
 * faults, in time. Method: one of each; the one that hangs has 300 ms, and is killed in the end. */
static void test_failed_fork_server_is_not_the_documents_fault(void **state)
{
    struct pdf_worker worker = start();
    size_t before = open_descriptors();
    struct pdf_bytes bytes;
    struct pdf_request request = {.bytes = &bytes, .timeout_ms = 300};
    struct pdf_answer answer;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    assert_int_equal(measure(&worker, "server-dies", 0, &arena, &answer), ERR_INTERNAL);
    assert_int_equal(measure(&worker, "text tables", 0, &arena, &answer), ERR_INTERNAL);
    pdf_worker_stop(&worker);
    assert_false(worker.killed);
    assert_true(
        slice_equal(pdf_worker_end_text(&worker, &arena), SLICE("it exited with status 9")));
    worker = start();
    make_bytes(&bytes, "server-hangs");
    request.control = worker.control;
    assert_int_equal(pdf_worker_measure(&request, &arena, &answer), ERR_INTERNAL);
    pdf_bytes_close(&bytes);
    assert_int_equal(open_descriptors(), before);
    pdf_worker_stop_within(&worker, 50);
    assert_true(worker.killed);
    arena_deinit(&arena);
}

/* Goal: a process that has no descriptors left fails only the job, and leaves none open. Method: a
 * limit that leaves none, one, two, ... until there are enough. */
static void test_process_without_descriptors_fails_only_the_job(void **state)
{
    struct pdf_worker worker = start();
    size_t before = open_descriptors();
    struct pdf_bytes bytes;
    const struct pdf_request request = {.control = worker.control, .bytes = &bytes};
    struct pdf_answer answer;
    struct rlimit usual;
    struct arena arena;
    enum err err = ERR_UNAVAILABLE;
    rlim_t limit = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    make_bytes(&bytes, "text tables");
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    while (err != OK) {
        const struct rlimit few = {++limit, usual.rlim_max};

        assert_int_equal(err, ERR_UNAVAILABLE);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        err = pdf_worker_measure(&request, &arena, &answer);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
        assert_int_equal(open_descriptors(), before + 1);
    }
    /* Standard ones, the control socket, the document, then a pipe and a pair of sockets. */
    assert_true(limit >= 3 + 2 + 4);
    pdf_bytes_close(&bytes);
    arena_deinit(&arena);
    pdf_worker_stop(&worker);
}

static void *cancel_soon(void *data)
{
    (void)usleep(50000);
    pdf_cancel_set(data);
    pdf_cancel_set(data);
    return NULL;
}

/* Goal: a job is stopped from another thread, before or while it runs, and its child with it. Method: a
 * document that hangs forever; the fork server answers the next one. */
static void test_cancelled_job_is_killed_with_its_child(void **state)
{
    struct pdf_worker worker = start();
    size_t before = open_descriptors();
    struct pdf_bytes bytes;
    struct pdf_cancel cancel;
    const struct pdf_request request = {
        .control = worker.control, .bytes = &bytes, .cancel = &cancel};
    struct pdf_answer answer;
    struct arena arena;
    pthread_t thread = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    make_bytes(&bytes, "text hang");
    assert_int_equal(pdf_cancel_open(&cancel), OK);
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancel), 0);
    assert_int_equal(pdf_worker_measure(&request, &arena, &answer), ERR_CANCELLED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pdf_worker_measure(&request, &arena, &answer), ERR_CANCELLED);
    pdf_cancel_close(&cancel);
    pdf_cancel_close(&cancel);
    pdf_bytes_close(&bytes);
    assert_int_equal(measure(&worker, "text tables", 0, &arena, &answer), OK);
    assert_int_equal(open_descriptors(), before);
    arena_deinit(&arena);
    pdf_worker_stop(&worker);
    assert_false(worker.killed);
}

/* Goal: sealed bytes cannot be changed, by this process or any other one, and their hash is that of
 * the written bytes. Method: each way to change them; an empty document, too. */
static void test_sealed_bytes_can_not_be_changed(void **state)
{
    size_t before = open_descriptors();
    struct pdf_bytes bytes;
    struct sha256_digest digest;
    struct sha256_digest expected = sha256(SLICE("one two"));
    int duplicate = -1;

    (void)state;
    assert_int_equal(pdf_bytes_open(&bytes), OK);
    assert_int_equal(pdf_bytes_append(&bytes, SLICE("one ")), OK);
    assert_int_equal(pdf_bytes_append(&bytes, SLICE("")), OK);
    assert_int_equal(pdf_bytes_append(&bytes, SLICE("two")), OK);
    assert_int_equal(pdf_bytes_seal(&bytes), OK);
    assert_int_equal(bytes.size, 7);
    assert_int_equal(pdf_bytes_hash(&bytes, &digest), OK);
    assert_memory_equal(digest.bytes, expected.bytes, SHA256_BYTES);
    assert_int_not_equal(pdf_bytes_append(&bytes, SLICE("!")), OK);
    duplicate = dup(bytes.fd);
    assert_int_equal(ftruncate(duplicate, 3), -1);
    assert_int_equal(pwrite(duplicate, "x", 1, 0), -1);
    assert_int_equal(fcntl(duplicate, F_ADD_SEALS, 0), -1);
    assert_int_equal(close(duplicate), 0);
    pdf_bytes_close(&bytes);
    pdf_bytes_close(&bytes);
    assert_int_equal(bytes.fd, -1);
    make_bytes(&bytes, "");
    expected = sha256(slice_of(NULL, 0));
    assert_int_equal(pdf_bytes_hash(&bytes, &digest), OK);
    assert_memory_equal(digest.bytes, expected.bytes, SHA256_BYTES);
    pdf_bytes_close(&bytes);
    assert_int_equal(open_descriptors(), before);
}

/* Goal: bytes whose pages are held are not sealed, which is not an error of the program; they are
 * sealed once they are free. Method: a shared mapping that may be written, which the kernel answers
 * with EBUSY. */
static void test_sealing_waits_for_held_pages(void **state)
{
    struct pdf_bytes bytes;
    uint64_t unexpected_count = assert_unexpected_count();
    void *held = NULL;

    (void)state;
    assert_int_equal(pdf_bytes_open(&bytes), OK);
    assert_int_equal(pdf_bytes_append(&bytes, SLICE("held")), OK);
    held = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, bytes.fd, 0);
    assert_ptr_not_equal(held, MAP_FAILED);
    assert_int_equal(pdf_bytes_seal(&bytes), ERR_UNAVAILABLE);
    assert_int_equal(munmap(held, 4), 0);
    assert_int_equal(pdf_bytes_seal(&bytes), OK);
    assert_true(assert_unexpected_count() == unexpected_count);
    pdf_bytes_close(&bytes);
}

int run_worker_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sealed_bytes_can_not_be_changed),
        cmocka_unit_test(test_sealing_waits_for_held_pages),
        cmocka_unit_test(test_fork_server_starts_clean_and_leaves_nothing),
        cmocka_unit_test(test_ended_worker_is_not_waited_for),
        cmocka_unit_test(test_program_that_is_not_the_worker_is_refused),
        cmocka_unit_test(test_each_end_fails_only_its_job),
        cmocka_unit_test(test_requested_extras_and_password_arrive),
        cmocka_unit_test(test_arena_without_room_fails_the_job),
        cmocka_unit_test(test_process_without_descriptors_fails_only_the_job),
        cmocka_unit_test(test_failed_fork_server_is_not_the_documents_fault),
        cmocka_unit_test(test_cancelled_job_is_killed_with_its_child),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
