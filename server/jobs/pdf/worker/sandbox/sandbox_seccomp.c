/*
 * sandbox_seccomp.c: the system calls that Poppler needs to read a document from one descriptor and
 * write an answer to another; the kernel kills a child at any other. libseccomp compiles the filter
 * once, only for the machine's architecture (calls of another, such as i386 on x86_64, also kill),
 * and each child installs it as plain BPF.
 * Arguments are checked if a call could reach beyond the process: memory is never made executable,
 * files are only read, signals go only to the process itself, limits are only queried.
 */
#include "server/jobs/pdf/worker/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Placeholder in the compiled filter for the child's process id; above all ids of Linux (2^22), so
 * that a filter in which it was not replaced allows nothing more. */
#define OWN_PID_MARK 0x5e1f91d0u

/* Calls that affect nothing outside, with any arguments. The libraries need some of them:
 * sysinfo for qsort, uname and sched_getaffinity for fontconfig and glib. */
static const int harmless[] = {
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(dup),
    SCMP_SYS(fstat),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrusage),
    SCMP_SYS(sched_yield),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(sched_getaffinity),
};

/* Calls that name files without opening them; Landlock restricts them, and without Landlock no file
 * is reachable. */
static const int naming[] = {
    SCMP_SYS(access),     SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(stat),
    SCMP_SYS(lstat),      SCMP_SYS(statx),     SCMP_SYS(readlink),   SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64), SCMP_SYS(getcwd),
};

/* Operations of futex that ordinary locks and conditions need. Those with priority inheritance are
 * not needed, and had many vulnerabilities in the kernel. */
static const unsigned futex_operations[] = {
    FUTEX_WAIT,
    FUTEX_WAKE,
    FUTEX_WAIT_BITSET,
    FUTEX_WAKE_BITSET,
};

/* Commands of fcntl: a descriptor's flags, and copies of it. F_SETOWN and F_SETSIG would send
 * signals. */
static const unsigned fcntl_commands[] = {
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL,
};

struct rule {
    int call;
    uint32_t action;
    unsigned compared; /* number of `arguments` */
    struct scmp_arg_cmp arguments[2];
};

static struct scmp_arg_cmp is(unsigned argument, uint64_t value)
{
    return (struct scmp_arg_cmp){.arg = argument, .op = SCMP_CMP_EQ, .datum_a = value};
}

static struct scmp_arg_cmp at_most(unsigned argument, uint64_t value)
{
    return (struct scmp_arg_cmp){.arg = argument, .op = SCMP_CMP_LE, .datum_a = value};
}

static struct scmp_arg_cmp above(unsigned argument, uint64_t value)
{
    return (struct scmp_arg_cmp){.arg = argument, .op = SCMP_CMP_GT, .datum_a = value};
}

static struct scmp_arg_cmp has_bits(unsigned argument, uint64_t mask, uint64_t bits)
{
    return (struct scmp_arg_cmp){
        .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = bits};
}

/* Negative numbers are calls that this architecture does not have (stat on aarch64). */
static bool add_rule(scmp_filter_ctx filter, const struct rule *rule)
{
    return rule->call < 0 || seccomp_rule_add_array(filter, rule->action, rule->call,
                                                    rule->compared, rule->arguments) == 0;
}

static bool add_calls(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!add_rule(filter, &(struct rule){.call = calls[i], .action = action})) {
            return false;
        }
    }
    return true;
}

static bool add_rules(scmp_filter_ctx filter, const struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!add_rule(filter, &rules[i])) {
            return false;
        }
    }
    return true;
}

/* A call that is allowed only for some values of an argument. */
struct choice {
    int call;
    unsigned argument;
    uint32_t mask; /* bits to compare */
    const unsigned *values;
    size_t count;
};

static bool add_choice(scmp_filter_ctx filter, const struct choice *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        const struct rule rule = {choice->call,
                                  SCMP_ACT_ALLOW,
                                  1,
                                  {has_bits(choice->argument, choice->mask, choice->values[i])}};

        if (!add_rule(filter, &rule)) {
            return false;
        }
    }
    return true;
}

/* Calls that depend on their arguments, for every kind of sandbox. New processes and threads fail
 * with an error instead of killing: glib and the C library work without them. stdio queries a
 * terminal's settings for any descriptor; no other ioctl is answered. Memory may be freed, but no
 * other advice is accepted: pages merged with equal ones of other processes would reveal their
 * content by timing. */
static bool add_guarded(scmp_filter_ctx filter)
{
    const struct rule rules[] = {
        {SCMP_SYS(mmap), SCMP_ACT_ALLOW, 1, {has_bits(2, PROT_EXEC, 0)}},
        {SCMP_SYS(mprotect), SCMP_ACT_ALLOW, 1, {has_bits(2, PROT_EXEC, 0)}},
        {SCMP_SYS(tgkill), SCMP_ACT_ALLOW, 1, {is(0, OWN_PID_MARK)}},
        {SCMP_SYS(prlimit64), SCMP_ACT_ALLOW, 2, {is(0, 0), is(2, 0)}},
        {SCMP_SYS(madvise), SCMP_ACT_ALLOW, 1, {at_most(2, MADV_FREE)}},
        {SCMP_SYS(madvise), SCMP_ACT_ERRNO(EINVAL), 1, {above(2, MADV_FREE)}},
        {SCMP_SYS(ioctl), SCMP_ACT_ERRNO(ENOTTY), 0, {{0}}},
        {SCMP_SYS(clone), SCMP_ACT_ERRNO(EPERM), 0, {{0}}},
        {SCMP_SYS(clone3), SCMP_ACT_ERRNO(ENOSYS), 0, {{0}}},
    };
    const struct choice commands = {SCMP_SYS(fcntl), 1, UINT32_MAX, fcntl_commands,
                                    sizeof(fcntl_commands) / sizeof(fcntl_commands[0])};
    const struct choice operations = {
        SCMP_SYS(futex), 1, ~(uint32_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME),
        futex_operations, sizeof(futex_operations) / sizeof(futex_operations[0])};

    return add_rules(filter, rules, sizeof(rules) / sizeof(rules[0])) &&
           add_choice(filter, &commands) && add_choice(filter, &operations);
}

/* With Landlock, files may be opened for reading. O_CREAT fails with an error, since fontconfig
 * tries to write its caches; any other opening for writing kills the process. */
static bool add_files_landlock(scmp_filter_ctx filter)
{
    const uint64_t writing = O_ACCMODE | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
    const struct rule rules[] = {
        {SCMP_SYS(openat), SCMP_ACT_ALLOW, 1, {has_bits(2, writing | O_CREAT, O_RDONLY)}},
        {SCMP_SYS(openat), SCMP_ACT_ERRNO(EACCES), 1, {has_bits(2, O_CREAT, O_CREAT)}},
        {SCMP_SYS(newfstatat), SCMP_ACT_ALLOW, 0, {{0}}},
    };

    return add_calls(filter, SCMP_ACT_ALLOW, naming, sizeof(naming) / sizeof(naming[0])) &&
           add_rules(filter, rules, sizeof(rules) / sizeof(rules[0]));
}

/* Without Landlock, no file may be opened. The C library implements fstat as newfstatat with
 * AT_EMPTY_PATH. */
static bool add_files_closed(scmp_filter_ctx filter)
{
    const struct rule rules[] = {
        {SCMP_SYS(openat), SCMP_ACT_ERRNO(ENOENT), 0, {{0}}},
        {SCMP_SYS(newfstatat), SCMP_ACT_ALLOW, 1, {has_bits(3, AT_EMPTY_PATH, AT_EMPTY_PATH)}},
        {SCMP_SYS(newfstatat), SCMP_ACT_ERRNO(ENOENT), 1, {has_bits(3, AT_EMPTY_PATH, 0)}},
    };

    return add_calls(filter, SCMP_ACT_ERRNO(ENOENT), naming, sizeof(naming) / sizeof(naming[0])) &&
           add_rules(filter, rules, sizeof(rules) / sizeof(rules[0]));
}

static bool add_all(scmp_filter_ctx filter, enum pdf_sandbox kind)
{
    return seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
           add_calls(filter, SCMP_ACT_ALLOW, harmless, sizeof(harmless) / sizeof(harmless[0])) &&
           add_guarded(filter) &&
           (kind == PDF_SANDBOX_LANDLOCK ? add_files_landlock(filter) : add_files_closed(filter));
}

/* libseccomp writes its program only to a descriptor: a file in memory. */
static enum err export_filter(scmp_filter_ctx filter, struct sandbox *sandbox)
{
    const int fd = memfd_create("errata-filter", MFD_CLOEXEC);
    enum err err = ERR_UNAVAILABLE;
    ssize_t size = 0;

    if (fd < 0) {
        return ERR_UNAVAILABLE;
    }
    if (seccomp_export_bpf(filter, fd) == 0) {
        size = lseek(fd, 0, SEEK_CUR);
        err = ERR_INTERNAL;
    }
    if (size > 0 && (size_t)size <= sizeof(sandbox->instructions) &&
        (size_t)size % sizeof(sandbox->instructions[0]) == 0 &&
        pread(fd, sandbox->instructions, (size_t)size, 0) == size) {
        sandbox->instruction_count =
            (unsigned short)((size_t)size / sizeof(sandbox->instructions[0]));
        err = OK;
    }
    (void)close(fd);
    return err;
}

/* Replaces the placeholder by a process id; false if it is missing. */
static bool replace_mark(struct sock_filter *instructions, size_t count, uint32_t pid)
{
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        if (instructions[i].code == (BPF_JMP | BPF_JEQ | BPF_K) &&
            instructions[i].k == OWN_PID_MARK) {
            instructions[i].k = pid;
            found = true;
        }
    }
    return found;
}

enum err sandbox_seccomp_init(struct sandbox *sandbox)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    enum err err = ERR_INTERNAL;

    if (filter == NULL) {
        return ERR_UNAVAILABLE;
    }
    if (add_all(filter, sandbox->kind)) {
        err = export_filter(filter, sandbox);
    }
    seccomp_release(filter);
    return err;
}

/* The filter is the child's copy, so it may be changed in place. */
enum err sandbox_seccomp_enter(struct sandbox *sandbox)
{
    const struct sock_fprog program = {.len = sandbox->instruction_count,
                                       .filter = sandbox->instructions};

    if (!replace_mark(sandbox->instructions, sandbox->instruction_count, (uint32_t)getpid())) {
        return ERR_INTERNAL;
    }
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? OK : ERR_UNAVAILABLE;
}
