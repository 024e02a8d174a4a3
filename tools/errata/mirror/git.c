/*
 * git.c: see git.h. Input, output and errors are files in memory, so that no full pipe can block both sides.
 */
#include "tools/errata/mirror/git.h"

#include "store/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 64
#define LOCK_FD 3
/* Maximum bytes of git's message that are printed. */
#define ERROR_BYTES_MAX 500

/* Options before the subcommand: git runs no other program, and files have exactly the written
 * bytes. */
static const char *const settings[] = {
    "git",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.autocrlf=false",
    "-c",
    "core.safecrlf=false",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.excludesFile=/dev/null",
    "-c",
    "core.sparseCheckout=false",
    "-c",
    "core.splitIndex=false",
    "-c",
    "core.logAllRefUpdates=false",
    "-c",
    "core.fsync=committed,loose-object,reference",
    "-c",
    "i18n.logOutputEncoding=UTF-8",
    "-c",
    "gc.auto=0",
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

/* A process of git. */
struct process {
    const char *arguments[ARGUMENTS_MAX + 1];
    int files[3]; /* standard input, output and errors; -1: none */
    pid_t pid;
};

int git_input_new(void)
{
    return memfd_create("errata-mirror", MFD_CLOEXEC);
}

static enum cli_exit read_all(const struct git *git, int file, struct arena *arena,
                              struct slice *ret_bytes)
{
    struct stat info;
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (fstat(file, &info) != 0) {
        return cli_local(git->cli, "the output of git can't be read: %s", strerror(errno));
    }
    bytes = arena_alloc(arena, (size_t)info.st_size + 1);
    if (bytes == NULL) {
        return cli_local(git->cli, "out of memory");
    }
    if (!file_read_at(file, 0, bytes, (size_t)info.st_size, &size) ||
        size != (size_t)info.st_size) {
        return cli_local(git->cli, "the output of git can't be read");
    }
    *ret_bytes = slice_of(bytes, size);
    return CLI_OK;
}

static bool set_arguments(struct process *process, const char *const *arguments)
{
    size_t count = SETTINGS;

    memcpy(process->arguments, settings, sizeof(settings));
    for (size_t i = 0; arguments[i] != NULL; i++) {
        if (count == ARGUMENTS_MAX) {
            return false;
        }
        process->arguments[count++] = arguments[i];
    }
    process->arguments[count] = NULL;
    return true;
}

static int set_actions(const struct git *git, const struct process *process,
                       posix_spawn_file_actions_t *actions)
{
    int failed = posix_spawn_file_actions_addfchdir_np(actions, git->folder);

    for (int fd = 0; fd < 3 && failed == 0; fd++) {
        failed = process->files[fd] < 0
                     ? posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0)
                     : posix_spawn_file_actions_adddup2(actions, process->files[fd], fd);
    }
    if (failed == 0) {
        failed = posix_spawn_file_actions_adddup2(actions, git->folder, LOCK_FD);
    }
    return failed != 0 ? failed : posix_spawn_file_actions_addclosefrom_np(actions, LOCK_FD + 1);
}

/* Returns 0, or an errno. */
static int spawn(const struct git *git, struct process *process)
{
    char path[PATH_MAX];
    const char *environment[] = {path,
                                 "LC_ALL=C",
                                 "GIT_DIR=.git",
                                 "GIT_WORK_TREE=.",
                                 "GIT_CONFIG_NOSYSTEM=1",
                                 "GIT_CONFIG_GLOBAL=/dev/null",
                                 "GIT_ATTR_NOSYSTEM=1",
                                 "GIT_NO_REPLACE_OBJECTS=1",
                                 "GIT_OPTIONAL_LOCKS=0",
                                 "GIT_TERMINAL_PROMPT=0",
                                 NULL};
    const char *own = getenv("PATH");
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);

    (void)snprintf(path, sizeof(path), "PATH=%s", own != NULL ? own : "/usr/bin:/bin");
    if (failed != 0) {
        return failed;
    }
    failed = set_actions(git, process, &actions);
    if (failed == 0) {
        failed = posix_spawnp(&process->pid, "git", &actions, NULL,
                              (char *const *)(uintptr_t)process->arguments,
                              (char *const *)(uintptr_t)environment);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Runs the process to its end; returns its exit status, or -1 if a signal ended it. */
static enum cli_exit run(const struct git *git, struct process *process, int *ret_status)
{
    int failed = spawn(git, process);
    int status = 0;

    if (failed != 0) {
        return cli_local(git->cli, "git can't be started: %s; expected the program git in PATH",
                         strerror(failed));
    }
    while (waitpid(process->pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return cli_local(git->cli, "git can't be waited for: %s", strerror(errno));
        }
    }
    *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return CLI_OK;
}

static enum cli_exit report(const struct git *git, const char *subcommand,
                            const struct process *process)
{
    struct arena arena;
    struct slice words = {NULL, 0};
    enum cli_exit result = CLI_OK;

    arena_init(&arena, 1u << 20);
    result = read_all(git, process->files[2], &arena, &words);
    if (result == CLI_OK) {
        words.size = words.size < ERROR_BYTES_MAX ? words.size : ERROR_BYTES_MAX;
        result = cli_local(git->cli, "git %s failed: %.*s", subcommand,
                           SLICE_ARGS(print_clean(&arena, words)));
    }
    arena_deinit(&arena);
    return result;
}

/* With `ret_succeeded`, a failure of git is returned instead of reported. */
static enum cli_exit call(const struct git *git, const struct git_call *call, bool *ret_succeeded,
                          struct slice *ret_output)
{
    struct process process = {.files = {call->input, git_input_new(), git_input_new()}};
    enum cli_exit result = CLI_OK;
    int status = 0;

    if (process.files[1] < 0 || process.files[2] < 0 || !set_arguments(&process, call->arguments) ||
        (call->input >= 0 && lseek(call->input, 0, SEEK_SET) != 0)) {
        result = cli_local(git->cli, "git can't be started: out of memory or file descriptors");
    }
    if (result == CLI_OK) {
        result = run(git, &process, &status);
    }
    if (result == CLI_OK && ret_succeeded != NULL) {
        *ret_succeeded = status == 0;
    } else if (result == CLI_OK && status != 0) {
        result = report(git, call->arguments[0], &process);
    }
    if (result == CLI_OK && call->arena != NULL) {
        result = read_all(git, process.files[1], call->arena, ret_output);
    }
    for (int fd = 1; fd < 3; fd++) {
        if (process.files[fd] >= 0) {
            (void)close(process.files[fd]);
        }
    }
    return result;
}

enum cli_exit git_run(const struct git *git, const struct git_call *to_run,
                      struct slice *ret_output)
{
    return call(git, to_run, NULL, ret_output);
}

enum cli_exit git_ask(const struct git *git, const struct git_call *to_run, bool *ret_succeeded,
                      struct slice *ret_output)
{
    return call(git, to_run, ret_succeeded, ret_output);
}
