/*
 * repository.c: see repository.h.
 */
#include "tools/errata/mirror/repository.h"

#include "store/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PENDING GIT_FOLDER "/errata-mirror.pending"
#define ARENA_BYTES_MAX ((size_t)16 << 20)

/* Locks of git that a killed process leaves. */
static const char *const stale_locks[] = {GIT_FOLDER "/config.lock", GIT_FOLDER "/index.lock",
                                          GIT_FOLDER "/HEAD.lock",
                                          GIT_FOLDER "/" REPOSITORY_BRANCH ".lock"};

static enum cli_exit say_errno(const struct repository *repository, const char *what)
{
    return cli_local(repository->git.cli, "%s: %s: %s", repository->path, what, strerror(errno));
}

/* --- the folder --- */

/* Returns whether the folder is empty or has only a repository. */
static bool is_empty(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry = NULL;
    bool empty = list != NULL;

    if (list == NULL && copy >= 0) {
        (void)close(copy);
    }
    while (empty && (entry = readdir(list)) != NULL) {
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                strcmp(entry->d_name, GIT_FOLDER) == 0;
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return empty;
}

/* Refuses what belongs to another user: git runs programs that a repository's own configuration names, and does not look at
 * its owner where the repository is given to it. */
static enum cli_exit check_owner(const struct repository *repository)
{
    struct stat folder;
    struct stat inner;
    bool has_inner = fstatat(repository->git.folder, GIT_FOLDER, &inner, AT_SYMLINK_NOFOLLOW) == 0;

    if (fstat(repository->git.folder, &folder) != 0 || (!has_inner && errno != ENOENT)) {
        return say_errno(repository, "its owner can't be read");
    }
    if (folder.st_uid != geteuid() || (has_inner && inner.st_uid != geteuid())) {
        return cli_local(repository->git.cli,
                         "%s: belongs to another user, whose configuration of git may run "
                         "programs; expected a new folder, or one of your own",
                         repository->path);
    }
    return !has_inner || S_ISDIR(inner.st_mode)
               ? CLI_OK
               : cli_local(repository->git.cli, "%s: " GIT_FOLDER " is not a folder; expected one",
                           repository->path);
}

static enum cli_exit open_folder(struct repository *repository)
{
    if (mkdir(repository->path, S_IRWXU) != 0 && errno != EEXIST) {
        return say_errno(repository, "can't be made");
    }
    repository->git.folder = open(repository->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return repository->git.folder >= 0 ? check_owner(repository)
                                       : say_errno(repository, "can't be opened");
}

/* Locks the folder itself, so that a refused folder is unchanged. */
static enum cli_exit lock(const struct repository *repository)
{
    return flock(repository->git.folder, LOCK_EX | LOCK_NB) == 0
               ? CLI_OK
               : cli_local(repository->git.cli,
                           "%s: another mirror writes to it; expected one at a time",
                           repository->path);
}

/* --- the state after a killed run --- */

/* Reads the commit before the one whose files may be incomplete. ERR_NOT_FOUND: they are complete. */
static enum err read_pending(const struct repository *repository,
                             char before[GIT_NAME_BYTES_MAX + 1])
{
    int file = openat(repository->git.folder, PENDING, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t size = 0;

    if (file < 0) {
        return errno == ENOENT ? ERR_NOT_FOUND : ERR_IO;
    }
    size = read(file, before, GIT_NAME_BYTES_MAX);
    (void)close(file);
    if (size < 0) {
        return ERR_IO;
    }
    before[size] = '\0';
    return OK;
}

/* Writes the file durably under another name first, so that it is never incomplete. */
static enum cli_exit write_pending(const struct repository *repository)
{
    int folder = repository->git.folder;
    int file = openat(folder, PENDING ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                      S_IRUSR | S_IWUSR);
    bool written =
        file >= 0 && file_write_all(file, slice_text(repository->head)) && fsync(file) == 0;

    if (file >= 0) {
        (void)close(file);
    }
    return written && renameat(folder, PENDING ".new", folder, PENDING) == 0
               ? CLI_OK
               : say_errno(repository, PENDING " can't be written");
}

/* Ends the work that write_pending began, after all files are on disk. */
static enum cli_exit remove_pending(const struct repository *repository)
{
    return syncfs(repository->git.folder) == 0 && unlinkat(repository->git.folder, PENDING, 0) == 0
               ? CLI_OK
               : say_errno(repository, PENDING " can't be removed");
}

static enum cli_exit remove_locks(const struct repository *repository)
{
    for (size_t i = 0; i < sizeof(stale_locks) / sizeof(stale_locks[0]); i++) {
        if (unlinkat(repository->git.folder, stale_locks[i], 0) != 0 && errno != ENOENT) {
            return say_errno(repository, "a lock that a killed git left can't be removed");
        }
    }
    return CLI_OK;
}

/* --- the last commit --- */

static enum cli_exit read_head(struct repository *repository, struct arena *arena)
{
    static const char *const branch[] = {"symbolic-ref", "-q", "HEAD", NULL};
    static const char *const commit[] = {"rev-parse", "-q", "--verify", "HEAD^{commit}", NULL};
    struct slice output = {NULL, 0};
    bool found = false;
    enum cli_exit result =
        git_ask(&repository->git, &(struct git_call){branch, -1, arena}, &found, &output);

    if (result != CLI_OK) {
        return result;
    }
    if (!found || !slice_equal(output, SLICE(REPOSITORY_BRANCH "\n"))) {
        return cli_local(repository->git.cli,
                         "%s: HEAD is not the branch main; expected the branch that the mirror "
                         "writes to be checked out",
                         repository->path);
    }
    result = git_ask(&repository->git, &(struct git_call){commit, -1, arena}, &found, &output);
    if (result == CLI_OK && found && output.size > 0 && output.size - 1 <= GIT_NAME_BYTES_MAX) {
        memcpy(repository->head, output.data, output.size - 1);
        repository->head[output.size - 1] = '\0';
    }
    return result;
}

/* Reads `SEQ ID` at the end of a commit's message. */
static bool parse_position(struct repository *repository, struct slice message)
{
    struct slice name = SLICE("\n" REPOSITORY_POSITION);
    struct slice rest = message;
    size_t at = 0;
    char *end = NULL;

    while (rest.size > 0 && rest.data[rest.size - 1] == '\n') {
        rest.size--;
    }
    for (at = rest.size; at > 0 && rest.data[at - 1] != '\n';) {
        at--;
    }
    if (at == 0 || rest.size - at + 1 <= name.size ||
        memcmp(rest.data + at - 1, name.data, name.size) != 0) {
        return false;
    }
    rest = slice_after(rest, at - 1 + name.size);
    errno = 0;
    repository->seq = strtoull((const char *)rest.data, &end, 10);
    rest = slice_after(rest, (size_t)((const uint8_t *)end - rest.data));
    if (errno != 0 || repository->seq == 0 || rest.size != 1 + UUID_TEXT_BYTES ||
        rest.data[0] != ' ') {
        return false;
    }
    memcpy(repository->event_id, rest.data + 1, UUID_TEXT_BYTES);
    repository->event_id[UUID_TEXT_BYTES] = '\0';
    return true;
}

static enum cli_exit read_position(struct repository *repository, struct arena *arena)
{
    static const char *const message[] = {"log", "-1", "--format=%B", "HEAD", NULL};
    struct slice output = {NULL, 0};
    struct slice copy = {NULL, 0};
    enum cli_exit result = CLI_OK;

    if (repository->head[0] == '\0') {
        return is_empty(repository->git.folder)
                   ? CLI_OK
                   : cli_local(repository->git.cli,
                               "%s: has files, and no commit of a mirror; expected a new or empty "
                               "folder, or one that `errata decisions mirror` made",
                               repository->path);
    }
    result = git_run(&repository->git, &(struct git_call){message, -1, arena}, &output);
    if (result == CLI_OK && !arena_copy(arena, output, &copy)) {
        result = cli_local(repository->git.cli, "out of memory");
    }
    if (result == CLI_OK && !parse_position(repository, copy)) {
        result = cli_local(repository->git.cli,
                           "%s: its last commit was not made by `errata decisions mirror`; "
                           "expected a folder to which nothing else writes commits",
                           repository->path);
    }
    return result;
}

/* --- opening --- */

/* Completes the work of a killed run. */
static enum cli_exit recover(struct repository *repository, struct arena *arena)
{
    char before[GIT_NAME_BYTES_MAX + 1];
    enum err err = read_pending(repository, before);
    enum cli_exit result = CLI_OK;

    if (err != OK) {
        result = err == ERR_NOT_FOUND ? CLI_OK : say_errno(repository, PENDING " can't be read");
        return result == CLI_OK ? read_head(repository, arena) : result;
    }
    result = remove_locks(repository);
    if (result == CLI_OK) {
        result = read_head(repository, arena);
    }
    if (result == CLI_OK && repository->head[0] != '\0') {
        result = work_tree_update(repository, before);
    }
    return result == CLI_OK ? remove_pending(repository) : result;
}

static enum cli_exit prepare(struct repository *repository, struct arena *arena)
{
    static const char *const init[] = {"init", "-q", "--template=", "--initial-branch=main", NULL};
    static const char *const check[] = {"rev-parse", "-q", "--verify", "HEAD^{commit}", NULL};
    struct slice output = {NULL, 0};
    bool has_commit = false;
    enum cli_exit result = lock(repository);

    if (result == CLI_OK) {
        result =
            git_ask(&repository->git, &(struct git_call){check, -1, NULL}, &has_commit, &output);
    }
    if (result == CLI_OK && !has_commit && is_empty(repository->git.folder)) {
        result = remove_locks(repository); /* files of a killed `git init` */
    }
    if (result == CLI_OK && !has_commit) {
        result = git_run(&repository->git, &(struct git_call){init, -1, NULL}, &output);
    }
    if (result == CLI_OK) {
        result = recover(repository, arena);
    }
    if (result == CLI_OK) {
        result = read_position(repository, arena);
    }
    return result == CLI_OK && repository->head[0] != '\0' ? work_tree_check(repository) : result;
}

enum cli_exit repository_open(struct repository *repository, struct cli *cli, const char *path)
{
    struct arena arena;
    struct stat info;
    enum cli_exit result = CLI_OK;

    *repository = (struct repository){.git = {cli, -1}, .path = path};
    (void)umask(S_IRWXG | S_IRWXO); /* what people wrote is for the owner; also of git's files */
    result = open_folder(repository);
    if (result == CLI_OK && !is_empty(repository->git.folder) &&
        fstatat(repository->git.folder, GIT_FOLDER "/HEAD", &info, AT_SYMLINK_NOFOLLOW) != 0) {
        result = cli_local(cli,
                           "%s: has files, and is not a git repository; expected a new or empty "
                           "folder, or one that `errata decisions mirror` made",
                           path);
    }
    if (result != CLI_OK) {
        return result;
    }
    arena_init(&arena, ARENA_BYTES_MAX);
    result = prepare(repository, &arena);
    arena_deinit(&arena);
    return result;
}

enum cli_exit repository_commit(struct repository *repository, int stream)
{
    static const char *const import[] = {"fast-import", "--quiet", "--done", "--date-format=raw",
                                         NULL};
    char before[GIT_NAME_BYTES_MAX + 1];
    struct slice output = {NULL, 0};
    struct arena arena;
    enum cli_exit result = write_pending(repository);

    memcpy(before, repository->head, sizeof(before));
    arena_init(&arena, ARENA_BYTES_MAX);
    if (result == CLI_OK) {
        result = git_run(&repository->git, &(struct git_call){import, stream, NULL}, &output);
    }
    if (result == CLI_OK) {
        result = read_head(repository, &arena);
    }
    if (result == CLI_OK) {
        result = read_position(repository, &arena);
    }
    if (result == CLI_OK) {
        result = work_tree_update(repository, before);
    }
    arena_deinit(&arena);
    return result == CLI_OK ? remove_pending(repository) : result;
}

enum cli_exit repository_check(struct repository *repository)
{
    char before[GIT_NAME_BYTES_MAX + 1];
    struct arena arena;
    enum cli_exit result = CLI_OK;

    memcpy(before, repository->head, sizeof(before));
    arena_init(&arena, ARENA_BYTES_MAX);
    result = read_head(repository, &arena);
    arena_deinit(&arena);
    if (result == CLI_OK && strcmp(before, repository->head) != 0) {
        result = cli_local(repository->git.cli,
                           "%s: the branch main was moved while the mirror followed the log; "
                           "expected a folder to which nothing else writes commits",
                           repository->path);
    }
    return result == CLI_OK && before[0] != '\0' ? work_tree_check(repository) : result;
}

void repository_close(struct repository *repository)
{
    if (repository->git.folder >= 0) {
        (void)close(repository->git.folder);
    }
}
