/*
 * sandbox.c: enters the sandbox: rights, limits, scheduling class, then Landlock, then seccomp, in an
 * order in which no step prevents the next.
 */
#include "server/jobs/pdf/worker/sandbox/sandbox.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* `nobody`, the kernel's overflow id; no name service is needed. */
#define OVERFLOW_ID 65534
/* Limits of descriptors: for a child that can open nothing, and for one that opens fonts and
 * CMaps. */
#define FILES_CLOSED 16
#define FILES_LANDLOCK 64
#define STACK_BYTES ((rlim_t)8 << 20)

struct limit {
    __rlimit_resource_t resource;
    rlim_t soft;
    rlim_t hard;
};

enum err sandbox_init(struct sandbox *sandbox, bool landlock)
{
    enum err err = OK;

    sandbox->ruleset = -1;
    sandbox->instruction_count = 0;
    sandbox->kind = PDF_SANDBOX_NONE;
    if (SANDBOX_SANITIZED) {
        return OK;
    }
    sandbox->kind = PDF_SANDBOX_CLOSED;
    if (landlock) {
        err = sandbox_landlock_open(&sandbox->ruleset);
        if (err == OK) {
            sandbox->kind = PDF_SANDBOX_LANDLOCK;
        } else if (err != ERR_NOT_FOUND) {
            return err;
        }
    }
    err = sandbox_seccomp_init(sandbox);
    if (err != OK) {
        sandbox_deinit(sandbox);
    }
    return err;
}

void sandbox_deinit(struct sandbox *sandbox)
{
    if (sandbox->ruleset > 0) {
        (void)close(sandbox->ruleset);
    }
    sandbox->ruleset = -1;
}

/* Fails in a user namespace without this id, or for a root without the right to change it; the rest
 * of the sandbox does not depend on it. */
void sandbox_give_up_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}, {0, 0, 0}};

    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (geteuid() == 0) {
        (void)!setgroups(0, NULL);
        (void)!setresgid(OVERFLOW_ID, OVERFLOW_ID, OVERFLOW_ID);
        (void)!setresuid(OVERFLOW_ID, OVERFLOW_ID, OVERFLOW_ID);
    }
    (void)syscall(SYS_capset, &header, none);
}

/* A limit that is already lower is kept. */
static bool set_limit(const struct limit *limit)
{
    struct rlimit now;
    struct rlimit wanted = {.rlim_cur = limit->soft, .rlim_max = limit->hard};

    if (getrlimit(limit->resource, &now) != 0) {
        return false;
    }
    if (wanted.rlim_max > now.rlim_max) {
        wanted.rlim_max = now.rlim_max;
    }
    if (wanted.rlim_cur > wanted.rlim_max) {
        wanted.rlim_cur = wanted.rlim_max;
    }
    return setrlimit(limit->resource, &wanted) == 0;
}

static bool set_limits(const struct limit *limits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!set_limit(&limits[i])) {
            return false;
        }
    }
    return true;
}

/* A kernel without the idle class (such as a container's own) gets the lowest ordinary priority. */
static bool enter_idle_class(void)
{
    const struct sched_param idle = {.sched_priority = 0};

    return sched_setscheduler(0, SCHED_IDLE, &idle) == 0 || setpriority(PRIO_PROCESS, 0, 19) == 0;
}

/* Applies what works with a sanitizer, too. */
static bool enter_always(const struct sandbox_limits *limits)
{
    const struct limit both[] = {
        {RLIMIT_CPU, limits->cpu_seconds, limits->cpu_seconds + 1},
        {RLIMIT_CORE, 0, 0},
    };

    return set_limits(both, sizeof(both) / sizeof(both[0])) && enter_idle_class();
}

/* RLIMIT_NPROC has no effect on root; there only the filter forbids new processes. */
static bool enter_limits(const struct sandbox *sandbox, const struct sandbox_limits *limits)
{
    const rlim_t files = sandbox->kind == PDF_SANDBOX_LANDLOCK ? FILES_LANDLOCK : FILES_CLOSED;
    const struct limit all[] = {
        {RLIMIT_AS, limits->memory_bytes, limits->memory_bytes},
        {RLIMIT_FSIZE, 0, 0},
        {RLIMIT_NOFILE, files, files},
        {RLIMIT_NPROC, 0, 0},
        {RLIMIT_MEMLOCK, 0, 0},
        {RLIMIT_STACK, STACK_BYTES, STACK_BYTES},
    };

    return set_limits(all, sizeof(all) / sizeof(all[0]));
}

enum err sandbox_enter(struct sandbox *sandbox, const struct sandbox_limits *limits)
{
    enum err err = OK;

    if (!enter_always(limits)) {
        return ERR_UNAVAILABLE;
    }
    if (sandbox->kind == PDF_SANDBOX_NONE) {
        return OK;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
        !enter_limits(sandbox, limits)) {
        return ERR_UNAVAILABLE;
    }
    if (sandbox->kind == PDF_SANDBOX_LANDLOCK) {
        err = sandbox_landlock_enter(sandbox->ruleset);
        sandbox_deinit(sandbox);
        if (err != OK) {
            return err;
        }
    }
    return sandbox_seccomp_enter(sandbox);
}

enum err sandbox_try(struct sandbox *sandbox, const struct sandbox_limits *limits)
{
    const pid_t pid = fork();
    pid_t waited = -1;
    int status = 0;

    if (pid == 0) {
        _exit(sandbox_enter(sandbox, limits) == OK ? 0 : 1);
    }
    if (pid < 0) {
        return ERR_UNAVAILABLE;
    }
    do {
        waited = waitpid(pid, &status, 0);
    } while (waited < 0 && errno == EINTR);
    return waited == pid && status == 0 ? OK : ERR_UNAVAILABLE;
}
