/*
 * sandbox_tests.c: the sandbox from inside: each probe runs in its own process, in the same sandbox
 * as the worker's children. The tests are skipped under a sanitizer, since there is no sandbox.
 */
#include "server/jobs/pdf/worker/sandbox/sandbox.h"
#include "tests/unit/pdf_worker/sandbox/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ctest's code for a test that was not run. */
#define SKIPPED 77
/* The sandbox could not be entered; larger than any errno. */
#define NOT_ENTERED 250

static const struct sandbox_limits limits = {.memory_bytes = PDF_MEMORY_BYTES, .cpu_seconds = 1};

static bool has_landlock(void)
{
    struct sandbox sandbox;
    bool landlock = false;

    assert_int_equal(sandbox_init(&sandbox, true), OK);
    landlock = sandbox.kind == PDF_SANDBOX_LANDLOCK;
    sandbox_deinit(&sandbox);
    return landlock;
}

static bool open_document(void)
{
    const int fd = memfd_create("document", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    return dup2(fd, PROBE_DOCUMENT_FD) >= 0 && ftruncate(fd, 4096) == 0 &&
           fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
}

/* Returns the result of a process that entered the sandbox and ran the attempt. */
static int run_probe(bool landlock, int (*attempt)(void))
{
    struct sandbox sandbox;
    int status = 0;
    pid_t pid = 0;

    assert_int_equal(sandbox_init(&sandbox, landlock), OK);
    probe_parent = getpid();
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const int file = memfd_create("probe", MFD_CLOEXEC);

        if (dup2(file, PROBE_FILE_FD) < 0 || !open_document() ||
            sandbox_enter(&sandbox, &limits) != OK) {
            _exit(NOT_ENTERED);
        }
        _exit(attempt());
    }
    sandbox_deinit(&sandbox);
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

/* Goal: only fonts and CMaps can be reached from the sandbox. Method: each probe in a child; it
 * must get its errno or its signal. */
static void test_sandbox_reaches_only_fonts_and_cmaps(void **state)
{
    (void)state;
    if (!has_landlock()) {
        print_message("this kernel has no Landlock\n");
        skip();
    }
    assert_int_equal(run_all(true), 0);
}

/* Goal: on a kernel without Landlock no file can be opened. Method: the same, with Landlock
 * disabled. */
static void test_no_file_opens_without_landlock(void **state)
{
    (void)state;
    assert_int_equal(run_all(false), 0);
}

/* All calls that the filter allows or answers, with any arguments. */
static const long known_calls[] = {
    SYS_read,
    SYS_pread64,
    SYS_write,
    SYS_writev,
    SYS_lseek,
    SYS_close,
    SYS_dup,
    SYS_fstat,
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_futex,
    SYS_fcntl,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_rt_sigaction,
    SYS_clock_gettime,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_getrusage,
    SYS_sched_yield,
    SYS_restart_syscall,
    SYS_getpid,
    SYS_gettid,
    SYS_tgkill,
    SYS_uname,
    SYS_sysinfo,
    SYS_sched_getaffinity,
    SYS_prlimit64,
    SYS_ioctl,
    SYS_clone,
    SYS_clone3,
    SYS_openat,
    SYS_newfstatat,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_statx,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_getcwd,
#ifdef __x86_64__
    SYS_access,
    SYS_stat,
    SYS_lstat,
    SYS_readlink,
    /* uretprobe and uprobe: the kernel asks no filter, and answers outside of its own probes with a
     * signal or an error. */
    335,
    336,
#endif
};

#define KNOWN_COUNT (sizeof(known_calls) / sizeof(known_calls[0]))
/* Above the system call numbers of Linux. */
#define CALLS_MAX 640

static bool is_known(long call)
{
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (known_calls[i] == call) {
            return true;
        }
    }
    return false;
}

/* The call that try_call makes, in the child. */
static long tried_call;

static int try_call(void)
{
    return syscall(tried_call, -1, 0, 0, 0, 0, 0) < 0 ? errno : 0;
}

/* Goal: only the listed system calls pass. Method: each number, in a child. */
static void test_only_listed_system_calls_pass(void **state)
{
    (void)state;
    for (int landlock = 0; landlock < 2; landlock++) {
        for (tried_call = 0; tried_call < CALLS_MAX; tried_call++) {
            if (!is_known(tried_call) && run_probe(landlock != 0, try_call) != KILLED(SIGSYS)) {
                fail_msg("system call %ld passes", tried_call);
            }
        }
    }
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

/* Goal: the process has the state that pdf_control.h and the sandbox document: limits, class, no
 * new rights, filter. Method: a child that waits in the sandbox, examined from outside. */
static void test_process_has_its_limits_and_filter(void **state)
{
    struct sandbox sandbox;
    int entered[2];
    int leave[2];
    char byte = 0;
    int status = 0;
    pid_t pid = 0;

    (void)state;
    assert_int_equal(sandbox_init(&sandbox, false), OK);
    assert_int_equal(pipe(entered), 0);
    assert_int_equal(pipe(leave), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (sandbox_enter(&sandbox, &limits) != OK || write(entered[1], "x", 1) != 1) {
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
    sandbox_deinit(&sandbox);
}

/* Root can become `nobody`: but not in a user namespace with only one user. */
static bool can_become_unprivileged(void)
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

/* Goal: rights are dropped permanently, and fonts stay readable. Method: a child drops them, tries
 * to regain or use them, and reads. */
static void test_rights_are_dropped_for_good(void **state)
{
    const bool was_root = can_become_unprivileged();
    int status = 0;
    pid_t pid = fork();

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0) {
        sandbox_give_up_rights();
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

/* Goal: a limit that is already lower is kept. Method: a child under a lower one enters. */
static void test_lower_limit_is_kept(void **state)
{
    const struct rlimit low = {8, 8};
    struct sandbox sandbox;
    struct rlimit after;
    int status = 0;
    pid_t pid = 0;

    (void)state;
    assert_int_equal(sandbox_init(&sandbox, false), OK);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (setrlimit(RLIMIT_NOFILE, &low) != 0 || sandbox_enter(&sandbox, &limits) != OK) {
            _exit(NOT_ENTERED);
        }
        _exit(getrlimit(RLIMIT_NOFILE, &after) == 0 && after.rlim_max == 8 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    sandbox_deinit(&sandbox);
}

/* The calling process may not filter its calls any more. */
static bool forbid_filters(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    const struct scmp_arg_cmp sets = {
        .arg = 0, .op = SCMP_CMP_EQ, .datum_a = (scmp_datum_t)PR_SET_SECCOMP};

    return filter != NULL &&
           seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1, &sets) == 0 &&
           seccomp_load(filter) == 0;
}

/* Returns the result of trying the sandbox in a separate process; `forbidden`: the process is not
 * allowed to enter it. */
static int try_sandbox(bool landlock, bool forbidden)
{
    struct sandbox sandbox;
    int status = 0;
    pid_t pid = 0;

    assert_int_equal(sandbox_init(&sandbox, landlock), OK);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(forbidden && !forbid_filters() ? NOT_ENTERED : (int)sandbox_try(&sandbox, &limits));
    }
    sandbox_deinit(&sandbox);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Goal: a system that accepts rules but cannot enforce them is detected before the first document.
 * Method: each kind of sandbox is tried as it is, and under a filter that forbids filters. */
static void test_unusable_sandbox_is_detected_before_the_first_document(void **state)
{
    (void)state;
    assert_int_equal(try_sandbox(false, false), OK);
    assert_int_equal(try_sandbox(true, false), OK);
    assert_int_equal(try_sandbox(false, true), ERR_UNAVAILABLE);
    assert_int_equal(try_sandbox(true, true), ERR_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sandbox_reaches_only_fonts_and_cmaps),
        cmocka_unit_test(test_no_file_opens_without_landlock),
        cmocka_unit_test(test_process_has_its_limits_and_filter),
        cmocka_unit_test(test_rights_are_dropped_for_good),
        cmocka_unit_test(test_lower_limit_is_kept),
        cmocka_unit_test(test_only_listed_system_calls_pass),
        cmocka_unit_test(test_unusable_sandbox_is_detected_before_the_first_document),
    };

    if (SANDBOX_SANITIZED) {
        (void)puts(
            "skipped: built with a sanitizer, there is no sandbox; run it on the release build");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
