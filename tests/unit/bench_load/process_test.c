/*
 * process_test.c: Goal: the CPU of a process is counted with its threads and its children, living and
 * ended, and the process that listens at a port is found. Method: this process, and children that
 * compute for a while.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tools/bench/load/process.h"
#include "tools/bench/load/target.h"

#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURN_NS UINT64_C(60000000)

/* Computes until this process has used so much CPU time. */
static void burn(void)
{
    struct process_usage start;
    struct process_usage now;
    volatile uint64_t sum = 0;

    process_read_own(&start);
    do {
        for (uint64_t i = 0; i < 100000; i++) {
            sum += i;
        }
        process_read_own(&now);
    } while (now.cpu_ns < start.cpu_ns + BURN_NS);
}

static void test_own_process_reports_cpu_and_memory(void **state)
{
    struct process_list list = {.pids = {getpid()}, .count = 1};
    struct process_usage before;
    struct process_usage after;

    (void)state;
    assert_true(process_read(&list, &before));
    burn();
    assert_true(process_read(&list, &after));
    assert_in_range(after.cpu_ns - before.cpu_ns, BURN_NS * 9 / 10, BURN_NS * 4);
    assert_int_equal(after.process_count, 1);
    assert_true(after.rss_anon_bytes > 100000);
    assert_true(after.rss_peak_bytes >= after.rss_anon_bytes);
}

/* Goal: time spent waiting for a core is counted. Method: a child that computes on the same
 * core. */
static void test_wait_for_a_core_is_counted(void **state)
{
    struct process_usage before;
    struct process_usage after;
    cpu_set_t all;
    cpu_set_t one;
    size_t core = 0;
    pid_t child = 0;

    (void)state;
    if (access("/proc/thread-self/schedstat", R_OK) != 0) {
        skip();
    }
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    while (!CPU_ISSET(core, &all)) {
        core++;
    }
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    child = fork();
    if (child == 0) {
        for (;;) {
            burn();
        }
    }
    process_read_own(&before);
    burn();
    process_read_own(&after);
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    assert_true(after.waited_ns > before.waited_ns);
}

/* Goal: a running child is found beside its parent, and its usage is kept after its end. */
static void test_usage_of_an_ended_child_is_kept(void **state)
{
    struct process_list list = {.pids = {getpid()}, .count = 1};
    struct process_usage before;
    struct process_usage after;
    int ready[2];
    int done[2];
    char byte = 0;
    pid_t child = 0;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(done), 0);
    assert_true(process_read(&list, &before));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        burn();
        _exit(write(ready[1], "x", 1) == 1 && read(done[0], &byte, 1) == 1 ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    process_add_children(&list);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.pids[1], child);
    assert_true(process_read(&list, &after));
    assert_true(after.cpu_ns - before.cpu_ns >= BURN_NS * 9 / 10);
    assert_int_equal(write(done[1], "x", 1), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(process_read(&list, &after));
    assert_int_equal(after.process_count, 1);
    assert_true(after.cpu_ns - before.cpu_ns >= BURN_NS * 8 / 10);
    for (size_t i = 0; i < 2; i++) {
        close(ready[i]);
        close(done[i]);
    }
}

static void test_listener_is_found_by_its_port(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    struct process_list list = {.count = 0};
    struct fixture *fixture = *state;
    struct target target;
    char text[32];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int client = -1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    process_find_listeners(ntohs(address.sin_port), &list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.pids[0], getpid());
    (void)snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(address.sin_port));
    assert_int_equal(target_find(text, &fixture->fault, &target), OK);
    assert_int_equal(target_connect(&target, text, &fixture->fault, &client), OK);
    assert_true(target.local);
    close(client);
    close(fd);
    assert_int_equal(target_connect(&target, text, &fixture->fault, &client), ERR_UNAVAILABLE);
    fixture_expect_fault(fixture, "cannot reach 127.0.0.1:");
}

static void test_malformed_target_is_refused(void **state)
{
    static const char *const bad[] = {"",       "host",       ":80",   "host:",   "host:0",
                                      "host:x", "host:65536", "[::1]", "[::1]80", "[]:80"};
    struct fixture *fixture = *state;
    struct target target;

    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(target_find(bad[i], &fixture->fault, &target), ERR_INVALID);
        fixture_expect_fault(fixture, "--server: malformed \"");
    }
    assert_int_equal(target_find("127.0.0.1:7443", &fixture->fault, &target), OK);
    assert_int_equal(target.port, 7443);
}

static void test_ended_process_is_not_read(void **state)
{
    struct process_list list = {.pids = {INT32_MAX}, .count = 1};
    struct process_usage usage;

    (void)state;
    assert_false(process_read(&list, &usage));
}

int run_process_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_process_reports_cpu_and_memory),
        cmocka_unit_test(test_usage_of_an_ended_child_is_kept),
        cmocka_unit_test(test_wait_for_a_core_is_counted),
        cmocka_unit_test_setup_teardown(test_listener_is_found_by_its_port, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_malformed_target_is_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test(test_ended_process_is_not_read)};

    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
