/*
 * cage.c: the cage put together: rights, limits, scheduling class, then Landlock, then seccomp, in the
 * order in which none keeps the next from being set.
 */
#include "server/jobs/pdf/worker/cage/cage.h"

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

/* `nobody`, the kernel's own overflow id; no name service is asked. */
#define NOBODY_ID 65534
/* Descriptors of a child that can open nothing, and of one that opens fonts and CMaps. */
#define FILES_CLOSED 16
#define FILES_LANDLOCK 64
#define STACK_BYTES ((rlim_t)8 << 20)

struct limit {
    __rlimit_resource_t resource;
    rlim_t soft;
    rlim_t hard;
};

enum err cage_init(struct cage *cage, bool landlock)
{
    enum err err = OK;

    cage->ruleset = -1;
    cage->instruction_count = 0;
    cage->kind = PDF_CAGE_NONE;
    if (CAGE_SANITIZED) {
        return OK;
    }
    cage->kind = PDF_CAGE_CLOSED;
    if (landlock) {
        err = cage_landlock_open(&cage->ruleset);
        if (err == OK) {
            cage->kind = PDF_CAGE_LANDLOCK;
        } else if (err != ERR_NOT_FOUND) {
            return err;
        }
    }
    err = cage_seccomp_init(cage);
    if (err != OK) {
        cage_deinit(cage);
    }
    return err;
}

void cage_deinit(struct cage *cage)
{
    if (cage->ruleset > 0) {
        (void)close(cage->ruleset);
    }
    cage->ruleset = -1;
}

/* A system that has no such id (a user namespace with one user), or a root without the right to
 * change, refuses; the rest of the cage does not build on this. */
void cage_give_up_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}, {0, 0, 0}};

    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (geteuid() == 0) {
        (void)!setgroups(0, NULL);
        (void)!setresgid(NOBODY_ID, NOBODY_ID, NOBODY_ID);
        (void)!setresuid(NOBODY_ID, NOBODY_ID, NOBODY_ID);
    }
    (void)syscall(SYS_capset, &header, none);
}

/* What the process may not exceed already stays as it is. */
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

/* A system that knows no idle class (a container's own kernel) has the weakest of the ordinary one. */
static bool enter_idle_class(void)
{
    const struct sched_param idle = {.sched_priority = 0};

    return sched_setscheduler(0, SCHED_IDLE, &idle) == 0 || setpriority(PRIO_PROCESS, 0, 19) == 0;
}

/* What holds with a sanitizer too. */
static bool enter_always(const struct cage_limits *limits)
{
    const struct limit both[] = {
        {RLIMIT_CPU, limits->cpu_seconds, limits->cpu_seconds + 1},
        {RLIMIT_CORE, 0, 0},
    };

    return set_limits(both, sizeof(both) / sizeof(both[0])) && enter_idle_class();
}

/* RLIMIT_NPROC does nothing to root; there the filter alone forbids new processes. */
static bool enter_limits(const struct cage *cage, const struct cage_limits *limits)
{
    const rlim_t files = cage->kind == PDF_CAGE_LANDLOCK ? FILES_LANDLOCK : FILES_CLOSED;
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

enum err cage_enter(struct cage *cage, const struct cage_limits *limits)
{
    enum err err = OK;

    if (!enter_always(limits)) {
        return ERR_UNAVAILABLE;
    }
    if (cage->kind == PDF_CAGE_NONE) {
        return OK;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
        !enter_limits(cage, limits)) {
        return ERR_UNAVAILABLE;
    }
    if (cage->kind == PDF_CAGE_LANDLOCK) {
        err = cage_landlock_enter(cage->ruleset);
        cage_deinit(cage);
        if (err != OK) {
            return err;
        }
    }
    return cage_seccomp_enter(cage);
}

enum err cage_try(struct cage *cage, const struct cage_limits *limits)
{
    const pid_t pid = fork();
    pid_t waited = -1;
    int status = 0;

    if (pid == 0) {
        _exit(cage_enter(cage, limits) == OK ? 0 : 1);
    }
    if (pid < 0) {
        return ERR_UNAVAILABLE;
    }
    do {
        waited = waitpid(pid, &status, 0);
    } while (waited < 0 && errno == EINTR);
    return waited == pid && status == 0 ? OK : ERR_UNAVAILABLE;
}
