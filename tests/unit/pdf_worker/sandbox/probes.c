/*
 * probes.c: the attempts, by raw system calls if the C library has no function for them or a
 * different one.
 */
#include "tests/unit/pdf_worker/sandbox/probes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int reported(long result)
{
    return result < 0 ? errno : 0;
}

/* A system call with arbitrary arguments: the filter decides before the kernel reads them. */
#define CALL_PROBE(name)                                                                           \
    static int try_##name(void)                                                                    \
    {                                                                                              \
        return reported(syscall(SYS_##name, -1, 0, 0, 0, 0, 0));                                   \
    }

CALL_PROBE(socket)
CALL_PROBE(socketpair)
CALL_PROBE(connect)
CALL_PROBE(bind)
CALL_PROBE(sendto)
CALL_PROBE(sendmsg)
CALL_PROBE(recvmsg)
CALL_PROBE(execve)
CALL_PROBE(execveat)
CALL_PROBE(ptrace)
CALL_PROBE(process_vm_readv)
CALL_PROBE(process_vm_writev)
CALL_PROBE(pidfd_open)
CALL_PROBE(pidfd_getfd)
CALL_PROBE(unlinkat)
CALL_PROBE(renameat2)
CALL_PROBE(linkat)
CALL_PROBE(symlinkat)
CALL_PROBE(mkdirat)
CALL_PROBE(fchmodat)
CALL_PROBE(ftruncate)
CALL_PROBE(openat2)
CALL_PROBE(open_by_handle_at)
CALL_PROBE(name_to_handle_at)
CALL_PROBE(memfd_create)
CALL_PROBE(chdir)
CALL_PROBE(chroot)
CALL_PROBE(mount)
CALL_PROBE(unshare)
CALL_PROBE(setns)
CALL_PROBE(setuid)
CALL_PROBE(setsid)
CALL_PROBE(capset)
CALL_PROBE(prctl)
CALL_PROBE(seccomp)
CALL_PROBE(personality)
CALL_PROBE(bpf)
CALL_PROBE(perf_event_open)
CALL_PROBE(userfaultfd)
CALL_PROBE(io_uring_setup)
CALL_PROBE(io_setup)
CALL_PROBE(add_key)
CALL_PROBE(keyctl)
CALL_PROBE(shmget)
CALL_PROBE(mq_open)
CALL_PROBE(inotify_init1)
CALL_PROBE(timer_create)
CALL_PROBE(setpriority)
CALL_PROBE(sched_setscheduler)
CALL_PROBE(pkey_mprotect)
CALL_PROBE(init_module)
CALL_PROBE(reboot)

pid_t probe_parent;

static int kill_parent(void)
{
    return reported(kill(probe_parent, SIGKILL));
}

/* The process may signal only itself, so that abort works. */
static int tgkill_parent(void)
{
    return reported(syscall(SYS_tgkill, probe_parent, probe_parent, SIGKILL));
}

static int tgkill_itself(void)
{
    return reported(syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1));
}

static int abort_itself(void)
{
    abort();
}

/* The C library's fork and thread starts. */
static int clone_process(void)
{
    return reported(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static int fork_process(void)
{
    return reported(fork());
}

static int clone3_process(void)
{
    return reported(syscall(SYS_clone3, NULL, 0));
}

static int open_as(const char *path, int flags)
{
    return reported(syscall(SYS_openat, AT_FDCWD, path, flags, 0600));
}

static int open_for_writing(void)
{
    return open_as("/dev/null", O_WRONLY);
}

static int open_for_both(void)
{
    return open_as("/etc/fonts/fonts.conf", O_RDWR);
}

static int open_truncating(void)
{
    return open_as("/etc/fonts/fonts.conf", O_RDONLY | O_TRUNC);
}

static int open_unnamed(void)
{
    return open_as("/tmp", O_TMPFILE | O_RDWR);
}

static int create_file(void)
{
    return open_as("/var/cache/fontconfig/probe", O_WRONLY | O_CREAT | O_EXCL);
}

static int create_for_reading(void)
{
    return open_as("/tmp/probe", O_RDONLY | O_CREAT);
}

static int open_passwd(void)
{
    return open_as("/etc/passwd", O_RDONLY);
}

static int open_around(void)
{
    return open_as("/etc/fonts/../passwd", O_RDONLY);
}

static int open_root(void)
{
    return open_as("/", O_RDONLY | O_DIRECTORY);
}

static int open_own_memory(void)
{
    return open_as("/proc/self/mem", O_RDONLY);
}

static int open_environment(void)
{
    return open_as("/proc/self/environ", O_RDONLY);
}

static int open_descriptor(void)
{
    return open_as("/proc/self/fd/10", O_RDWR);
}

static int read_file(const char *path)
{
    char bytes[64];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return errno;
    }
    return read(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) ? 0 : EIO;
}

static int read_fonts_conf(void)
{
    return read_file("/etc/fonts/fonts.conf");
}

static int read_cmap(void)
{
    return read_file("/usr/share/poppler/cMap/Adobe-Japan1/UniJIS-UTF16-H");
}

static int map_as(int protection)
{
    return reported(
        mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
}

static int map_executable(void)
{
    return map_as(PROT_READ | PROT_EXEC);
}

static int map_plain(void)
{
    return map_as(PROT_READ | PROT_WRITE);
}

static int protect_executable(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return page == MAP_FAILED ? errno : reported(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int raise_limit(void)
{
    const struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};

    return reported(setrlimit(RLIMIT_CPU, &more));
}

static int ask_limit(void)
{
    struct rlimit limit;

    return reported(getrlimit(RLIMIT_AS, &limit));
}

static int ask_limit_of_other(void)
{
    struct rlimit limit;

    return reported(syscall(SYS_prlimit64, 1, RLIMIT_AS, NULL, &limit));
}

/* A signal to another process by way of a descriptor's owner. */
static int own_descriptor(void)
{
    return reported(fcntl(PROBE_FILE_FD, F_SETOWN, 1));
}

static int signal_by_descriptor(void)
{
    return reported(fcntl(PROBE_FILE_FD, F_SETSIG, SIGKILL));
}

static int set_descriptor_async(void)
{
    return reported(fcntl(PROBE_FILE_FD, F_SETFL, O_ASYNC));
}

/* A larger pipe uses memory that no limit of the process counts. */
static int grow_pipe(void)
{
    return reported(fcntl(PROBE_FILE_FD, F_SETPIPE_SZ, 1 << 20));
}

static int watch_folder(void)
{
    return reported(fcntl(STDIN_FILENO, F_NOTIFY, DN_ACCESS));
}

static int lease_file(void)
{
    return reported(fcntl(PROBE_FILE_FD, F_SETLEASE, F_WRLCK));
}

static int seal_file(void)
{
    return reported(fcntl(PROBE_FILE_FD, F_ADD_SEALS, F_SEAL_WRITE));
}

/* The document is sealed, and what is sealed cannot be changed through a mapping either. */
static int map_document_writable(void)
{
    return reported(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, PROBE_DOCUMENT_FD, 0) ==
                            MAP_FAILED
                        ? -1
                        : 0);
}

static int punch_document(void)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, PROBE_DOCUMENT_FD, 0);

    return page == MAP_FAILED ? ENOTSUP : reported(madvise(page, 4096, MADV_REMOVE));
}

static int open_document_for_writing(void)
{
    return open_as("/proc/self/fd/11", O_WRONLY);
}

/* Opens a file of the parent in /proc, which has the same user as a fork server's children. */
static int open_parent(const char *part)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)probe_parent, part);
    return open_as(path, O_RDONLY);
}

static int open_parent_memory(void)
{
    return open_parent("mem");
}

static int open_parent_descriptor(void)
{
    return open_parent("fd/0");
}

static int call_futex(int operation)
{
    uint32_t word = 1;

    return reported(syscall(SYS_futex, &word, operation, 0, NULL, NULL, 0));
}

static int wait_for_change(void)
{
    return call_futex(FUTEX_WAIT | FUTEX_PRIVATE_FLAG); /* the word is not 0: it has changed */
}

static int wake(void)
{
    return call_futex(FUTEX_WAKE | FUTEX_PRIVATE_FLAG);
}

static int wait_by_clock(void)
{
    return call_futex(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
}

/* Locks with priority inheritance, and requeueing: only for threads, and the part of futex with the
 * most vulnerabilities. */
static int lock_inheriting(void)
{
    return call_futex(FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG);
}

static int requeue_inheriting(void)
{
    return call_futex(FUTEX_CMP_REQUEUE_PI);
}

static int advise(int advice)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return page == MAP_FAILED ? ENOTSUP : reported(madvise(page, 4096, advice));
}

static int give_back(void)
{
    return advise(MADV_DONTNEED);
}

/* Pages that the kernel merges with equal ones of other processes reveal their content by
 * timing. */
static int merge_pages(void)
{
    return advise(MADV_MERGEABLE);
}

static int type_into_terminal(void)
{
    return reported(ioctl(STDIN_FILENO, TIOCSTI, "x"));
}

static int duplicate(void)
{
    return reported(dup(PROBE_FILE_FD));
}

/* Opens more descriptors than the sandbox allows. */
static int duplicate_many(void)
{
    for (int i = 0; i < 100; i++) {
        if (dup(PROBE_FILE_FD) < 0) {
            return errno;
        }
    }
    return 0;
}

static int stat_descriptor(void)
{
    struct stat stat;

    return reported(fstat(PROBE_FILE_FD, &stat));
}

static int write_file(void)
{
    return reported(write(PROBE_FILE_FD, "x", 1));
}

static int allocate(size_t bytes)
{
    volatile char *memory = malloc(bytes);

    if (memory == NULL) {
        return errno;
    }
    memory[bytes - 1] = 1;
    return 0;
}

static int allocate_600_mib(void)
{
    return allocate((size_t)600 << 20);
}

static int allocate_64_mib(void)
{
    return allocate((size_t)64 << 20);
}

static int spin(void)
{
    volatile uint64_t turns = 1;

    while (turns != 0) {
        turns++;
    }
    return 0;
}

/* Ignores the warning, so that the hard limit applies. */
static int spin_on(void)
{
    (void)signal(SIGXCPU, SIG_IGN);
    return spin();
}

#ifdef __x86_64__
/* Calls of two other architectures of the same processor. */
static int call_x32(void)
{
    return reported(syscall(0x40000000 | SYS_getpid));
}

static int call_i386(void)
{
    long result = 20; /* getpid */

    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result < 0 ? (int)-result : 0;
}

CALL_PROBE(open)
CALL_PROBE(fork)
CALL_PROBE(vfork)
CALL_PROBE(kill)
CALL_PROBE(arch_prctl)
#endif

#define FORBIDDEN(name)                                                                            \
    {                                                                                              \
#name, try_##name, KILLED(SIGSYS), KILLED(SIGSYS)                                          \
    }

const struct probe probes[] = {
    FORBIDDEN(socket),
    FORBIDDEN(socketpair),
    FORBIDDEN(connect),
    FORBIDDEN(bind),
    FORBIDDEN(sendto),
    FORBIDDEN(sendmsg),
    FORBIDDEN(recvmsg),
    FORBIDDEN(execve),
    FORBIDDEN(execveat),
    FORBIDDEN(ptrace),
    FORBIDDEN(process_vm_readv),
    FORBIDDEN(process_vm_writev),
    FORBIDDEN(pidfd_open),
    FORBIDDEN(pidfd_getfd),
    FORBIDDEN(unlinkat),
    FORBIDDEN(renameat2),
    FORBIDDEN(linkat),
    FORBIDDEN(symlinkat),
    FORBIDDEN(mkdirat),
    FORBIDDEN(fchmodat),
    FORBIDDEN(ftruncate),
    FORBIDDEN(openat2),
    FORBIDDEN(open_by_handle_at),
    FORBIDDEN(name_to_handle_at),
    FORBIDDEN(memfd_create),
    FORBIDDEN(chdir),
    FORBIDDEN(chroot),
    FORBIDDEN(mount),
    FORBIDDEN(unshare),
    FORBIDDEN(setns),
    FORBIDDEN(setuid),
    FORBIDDEN(setsid),
    FORBIDDEN(capset),
    FORBIDDEN(prctl),
    FORBIDDEN(seccomp),
    FORBIDDEN(personality),
    FORBIDDEN(bpf),
    FORBIDDEN(perf_event_open),
    FORBIDDEN(userfaultfd),
    FORBIDDEN(io_uring_setup),
    FORBIDDEN(io_setup),
    FORBIDDEN(add_key),
    FORBIDDEN(keyctl),
    FORBIDDEN(shmget),
    FORBIDDEN(mq_open),
    FORBIDDEN(inotify_init1),
    FORBIDDEN(timer_create),
    FORBIDDEN(setpriority),
    FORBIDDEN(sched_setscheduler),
    FORBIDDEN(pkey_mprotect),
    FORBIDDEN(init_module),
    FORBIDDEN(reboot),
    {"kill the parent", kill_parent, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"tgkill another", tgkill_parent, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"tgkill itself", tgkill_itself, KILLED(SIGUSR1), KILLED(SIGUSR1)},
    {"abort", abort_itself, KILLED(SIGABRT), KILLED(SIGABRT)},
    {"clone", clone_process, EPERM, EPERM},
    {"fork", fork_process, EPERM, EPERM},
    {"clone3", clone3_process, ENOSYS, ENOSYS},
    {"open for writing", open_for_writing, KILLED(SIGSYS), ENOENT},
    {"open for reading and writing", open_for_both, KILLED(SIGSYS), ENOENT},
    {"open truncating", open_truncating, KILLED(SIGSYS), ENOENT},
    {"open without a name", open_unnamed, KILLED(SIGSYS), ENOENT},
    {"create a file", create_file, EACCES, ENOENT},
    {"create a file for reading", create_for_reading, EACCES, ENOENT},
    {"read /etc/passwd", open_passwd, EACCES, ENOENT},
    {"read /etc/passwd around a folder", open_around, EACCES, ENOENT},
    {"read the root", open_root, EACCES, ENOENT},
    {"read /proc/self/mem", open_own_memory, EACCES, ENOENT},
    {"read /proc/self/environ", open_environment, EACCES, ENOENT},
    {"open a descriptor again", open_descriptor, KILLED(SIGSYS), ENOENT},
    {"read fonts.conf", read_fonts_conf, 0, ENOENT},
    {"read a CMap", read_cmap, 0, ENOENT},
    {"map executable", map_executable, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"map", map_plain, 0, 0},
    {"make executable", protect_executable, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"raise a limit", raise_limit, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"ask for a limit", ask_limit, 0, 0},
    {"ask for another's limit", ask_limit_of_other, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"F_SETOWN", own_descriptor, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"F_SETSIG", signal_by_descriptor, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"F_SETFL", set_descriptor_async, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"F_SETPIPE_SZ", grow_pipe, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"F_NOTIFY", watch_folder, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"F_SETLEASE", lease_file, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"F_ADD_SEALS", seal_file, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"map the document to write it", map_document_writable, EPERM, EPERM},
    {"punch a hole into the document", punch_document, EINVAL, EINVAL},
    {"open the document for writing", open_document_for_writing, KILLED(SIGSYS), ENOENT},
    {"open the parent's memory", open_parent_memory, EACCES, ENOENT},
    {"open the parent's descriptor", open_parent_descriptor, EACCES, ENOENT},
    {"FUTEX_WAIT", wait_for_change, EAGAIN, EAGAIN},
    {"FUTEX_WAKE", wake, 0, 0},
    {"FUTEX_WAIT_BITSET", wait_by_clock, EINVAL, EINVAL},
    {"FUTEX_LOCK_PI", lock_inheriting, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"FUTEX_CMP_REQUEUE_PI", requeue_inheriting, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"MADV_DONTNEED", give_back, 0, 0},
    {"MADV_MERGEABLE", merge_pages, EINVAL, EINVAL},
    {"TIOCSTI", type_into_terminal, ENOTTY, ENOTTY},
    {"dup", duplicate, 0, 0},
    {"many descriptors", duplicate_many, EMFILE, EMFILE},
    {"fstat", stat_descriptor, 0, 0},
    {"write a file", write_file, KILLED(SIGXFSZ), KILLED(SIGXFSZ)},
    {"600 MiB", allocate_600_mib, ENOMEM, ENOMEM},
    {"64 MiB", allocate_64_mib, 0, 0},
    {"spin", spin, KILLED(SIGXCPU), KILLED(SIGXCPU)},
    {"spin on", spin_on, KILLED(SIGKILL), KILLED(SIGKILL)},
#ifdef __x86_64__
    {"a call of x32", call_x32, KILLED(SIGSYS), KILLED(SIGSYS)},
    {"a call of i386", call_i386, KILLED_SOMEHOW, KILLED_SOMEHOW},
    FORBIDDEN(open),
    FORBIDDEN(fork),
    FORBIDDEN(vfork),
    FORBIDDEN(kill),
    FORBIDDEN(arch_prctl),
#endif
};

const size_t probe_count = sizeof(probes) / sizeof(probes[0]);
