/*
 * cage_tests.c: the cage from inside: each probe in a process of its own that is shut in as the
 * worker's children are. Not under a sanitizer, where there is no cage.
 */
#include "server/jobs/pdf/worker/cage/cage.h"
#include "tests/unit/pdf_worker/cage/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ctest's code for a test that was not run. */
#define SKIPPED 77
/* The cage could not be entered; no errno is as great. */
#define NOT_ENTERED 250

static const struct cage_limits limits = {.memory_bytes = PDF_MEMORY_BYTES, .cpu_seconds = 1};

static bool has_landlock(void)
{
    struct cage cage;
    bool landlock = false;

    assert_int_equal(cage_init(&cage, true), OK);
    landlock = cage.kind == PDF_CAGE_LANDLOCK;
    cage_deinit(&cage);
    return landlock;
}

/* What became of a process that entered the cage and made an attempt. */
static int run_probe(bool landlock, int (*attempt)(void))
{
    struct cage cage;
    int status = 0;
    pid_t pid = 0;

    assert_int_equal(cage_init(&cage, landlock), OK);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const int file = memfd_create("probe", MFD_CLOEXEC);

        if (dup2(file, PROBE_FILE_FD) < 0 || cage_enter(&cage, &limits) != OK) {
            _exit(NOT_ENTERED);
        }
        _exit(attempt());
    }
    cage_deinit(&cage);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED(WTERMSIG(status));
}

static int run_all(bool landlock)
{
    int failed = 0;

    for (size_t i = 0; i < probe_count; i++) {
        const struct probe *probe = &probes[i];
        const int expected = landlock ? probe->with_landlock : probe->closed;
        const int became = run_probe(landlock, probe->attempt);

        if (became != expected && !(expected == KILLED_SOMEHOW && became < 0)) {
            print_error("%s: expected %d, became %d\n", probe->name, expected, became);
            failed++;
        }
    }
    return failed;
}

/* Goal: from the cage nothing can be reached but fonts and CMaps. Method: each probe in a child; it
 * must meet its errno or its signal. */
static void test_landlock(void **state)
{
    (void)state;
    if (!has_landlock()) {
        print_message("this kernel has no Landlock\n");
        skip();
    }
    assert_int_equal(run_all(true), 0);
}

/* Goal: on a kernel without Landlock nothing can be opened at all. Method: the same, told to do
 * without it. */
static void test_closed(void **state)
{
    (void)state;
    assert_int_equal(run_all(false), 0);
}

static void assert_limit(pid_t pid, __rlimit_resource_t resource, rlim_t soft, rlim_t hard)
{
    struct rlimit limit;

    assert_int_equal(prlimit(pid, resource, NULL, &limit), 0);
    assert_int_equal(limit.rlim_cur, soft);
    assert_int_equal(limit.rlim_max, hard);
}

static void assert_status(pid_t pid, const char *line)
{
    char path[64];
    char text[8192];
    FILE *file = NULL;
    size_t size = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "r");
    assert_non_null(file);
    size = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[size] = '\0';
    assert_non_null(strstr(text, line));
}

/* Goal: the process is as pdf_control.h and the cage say: limits, class, no new rights, filter.
 * Method: a child that waits in the cage, looked at from outside. */
static void test_process(void **state)
{
    struct cage cage;
    int entered[2];
    int leave[2];
    char byte = 0;
    int status = 0;
    pid_t pid = 0;

    (void)state;
    assert_int_equal(cage_init(&cage, false), OK);
    assert_int_equal(pipe(entered), 0);
    assert_int_equal(pipe(leave), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (cage_enter(&cage, &limits) != OK || write(entered[1], "x", 1) != 1) {
            _exit(NOT_ENTERED);
        }
        _exit(read(leave[0], &byte, 1) == 1 ? 0 : 1);
    }
    assert_int_equal(read(entered[0], &byte, 1), 1);
    assert_int_equal(sched_getscheduler(pid), SCHED_IDLE);
    assert_status(pid, "NoNewPrivs:\t1\n");
    assert_status(pid, "Seccomp:\t2\n");
    assert_limit(pid, RLIMIT_AS, PDF_MEMORY_BYTES, PDF_MEMORY_BYTES);
    assert_limit(pid, RLIMIT_CPU, 1, 2);
    assert_limit(pid, RLIMIT_FSIZE, 0, 0);
    assert_limit(pid, RLIMIT_CORE, 0, 0);
    assert_limit(pid, RLIMIT_NPROC, 0, 0);
    assert_limit(pid, RLIMIT_MEMLOCK, 0, 0);
    assert_limit(pid, RLIMIT_NOFILE, 16, 16);
    assert_int_equal(write(leave[1], "x", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (int i = 0; i < 2; i++) {
        (void)close(entered[i]);
        (void)close(leave[i]);
    }
    cage_deinit(&cage);
}

/* Root can become `nobody`: not in a user namespace that has but one user. */
static bool can_become_nobody(void)
{
    int status = 0;
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(geteuid() == 0 && setuid(65534) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status == 0;
}

/* Goal: rights are gone for good, and fonts stay readable. Method: a child gives them up, tries to
 * take them back or to use them, and reads. */
static void test_rights(void **state)
{
    const bool was_root = can_become_nobody();
    int status = 0;
    pid_t pid = fork();

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0) {
        cage_give_up_rights();
        if (was_root && (getuid() == 0 || getegid() == 0 || getgroups(0, NULL) != 0)) {
            _exit(1);
        }
        if ((was_root && setuid(0) == 0) || chroot("/") == 0 || setgroups(0, NULL) == 0) {
            _exit(2);
        }
        _exit(access("/etc/fonts/fonts.conf", R_OK) == 0 ? 0 : 3);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Goal: a limit that is lower already stays. Method: a child under a lower one enters. */
static void test_lower_limit(void **state)
{
    const struct rlimit low = {8, 8};
    struct cage cage;
    struct rlimit after;
    int status = 0;
    pid_t pid = 0;

    (void)state;
    assert_int_equal(cage_init(&cage, false), OK);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (setrlimit(RLIMIT_NOFILE, &low) != 0 || cage_enter(&cage, &limits) != OK) {
            _exit(NOT_ENTERED);
        }
        _exit(getrlimit(RLIMIT_NOFILE, &after) == 0 && after.rlim_max == 8 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    cage_deinit(&cage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_landlock),    cmocka_unit_test(test_closed),
        cmocka_unit_test(test_process),     cmocka_unit_test(test_rights),
        cmocka_unit_test(test_lower_limit),
    };

    if (CAGE_SANITIZED) {
        (void)puts(
            "skipped: built with a sanitizer, there is no cage; run it on the release build");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
