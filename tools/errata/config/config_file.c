/*
 * config_file.c: see config_file.h. The lock is on the file's folder, since the file itself is
 * replaced. A symbolic link is followed: its target is replaced.
 */
#include "tools/errata/config/config_file.h"

#include "store/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Pause between two attempts to get the lock. */
#define LOCK_STEP_MS 20

enum err config_file_path(struct arena *arena, const char *xdg_config_home, const char *home,
                          const char **ret_path)
{
    struct slice path = {NULL, 0};

    /* Relative paths are ignored, as required by the XDG specification. */
    if (xdg_config_home != NULL && xdg_config_home[0] == '/') {
        path = arena_printf(arena, "%s/errata/config.json", xdg_config_home);
    } else if (home != NULL && home[0] == '/') {
        path = arena_printf(arena, "%s/.config/errata/config.json", home);
    } else {
        return ERR_NOT_FOUND;
    }
    *ret_path = (const char *)path.data;
    return path.size > 0 ? OK : ERR_MEMORY;
}

static enum err say_io(struct fault *fault, const char *path, const char *what)
{
    return fault_say(fault, ERR_IO, "%s can't be %s: %s", path, what, strerror(errno));
}

/* --- reading --- */

static enum err check_owner(const char *path, const struct stat *status, struct fault *fault)
{
    if (!S_ISREG(status->st_mode)) {
        return fault_say(fault, ERR_DENIED, "%s: not a regular file", path);
    }
    if (status->st_uid != geteuid()) {
        return fault_say(fault, ERR_DENIED,
                         "%s: owned by another user (id %u); expected your own file; use --server, "
                         "or set XDG_CONFIG_HOME to another folder",
                         path, (unsigned)status->st_uid);
    }
    if ((status->st_mode & 077) != 0) {
        return fault_say(fault, ERR_DENIED,
                         "%s: other users have access (mode %04o), and the file contains tokens; "
                         "expected mode 0600: `chmod 600 %s`",
                         path, (unsigned)(status->st_mode & 07777), path);
    }
    if ((uintmax_t)status->st_size > CONFIG_BYTES_MAX) {
        return fault_say(fault, ERR_INVALID, "%s: too large; expected at most %zu bytes", path,
                         CONFIG_BYTES_MAX);
    }
    return OK;
}

static enum err read_text(const char *path, int fd, struct arena *arena, struct fault *fault,
                          struct slice *ret_text)
{
    struct buffer text;
    ssize_t size = 1;

    buffer_init(&text, arena, 4096);
    while (size > 0 && text.size <= CONFIG_BYTES_MAX && buffer_reserve(&text, 4096)) {
        size = read(fd, text.data + text.size, 4096);
        text.size += size > 0 ? (size_t)size : 0;
    }
    if (size < 0) {
        return say_io(fault, path, "read");
    }
    if (!buffer_ok(&text)) {
        return ERR_MEMORY;
    }
    *ret_text = buffer_slice(&text);
    return OK;
}

static enum err read_open(const char *path, int fd, struct arena *arena, struct fault *fault,
                          struct contexts *contexts)
{
    struct slice text = {NULL, 0};
    struct stat status;
    enum err err = OK;

    if (fstat(fd, &status) != 0) {
        return say_io(fault, path, "read");
    }
    err = check_owner(path, &status, fault);
    if (err == OK) {
        err = read_text(path, fd, arena, fault, &text);
    }
    if (err != OK) {
        return err;
    }
    if (text.size == 0) {
        return contexts_init(contexts, arena);
    }
    err = contexts_read(contexts, arena, text, fault);
    if (err == ERR_INVALID) {
        struct slice why = fault->message;

        return fault_say(fault, ERR_INVALID, "%s can't be used: %.*s", path, (int)why.size,
                         (const char *)why.data);
    }
    return err;
}

enum err config_file_read(const char *path, struct arena *arena, struct fault *fault,
                          struct contexts *ret_contexts)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    enum err err = OK;

    if (fd < 0) {
        return errno == ENOENT || errno == ENOTDIR ? contexts_init(ret_contexts, arena)
                                                   : say_io(fault, path, "read");
    }
    err = read_open(path, fd, arena, fault, ret_contexts);
    (void)close(fd);
    return err;
}

/* --- changing --- */

/* Creates the missing folders of a path, readable only by the user. */
static enum err make_folders(const char *path, struct arena *arena, struct fault *fault)
{
    struct slice copy = {NULL, 0};
    char *folders = NULL;

    if (!arena_copy(arena, slice_text(path), &copy)) {
        return ERR_MEMORY;
    }
    folders = (char *)(uintptr_t)copy.data; /* a private copy, which may be changed */
    for (char *slash = strchr(folders + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folders, 0700) != 0 && errno != EEXIST) {
            return say_io(fault, folders, "made");
        }
        *slash = '/';
    }
    return OK;
}

/* Returns the target of a symbolic link; the path itself if there is no file yet. */
static enum err follow_link(const char *path, struct arena *arena, const char **ret_path)
{
    char real[PATH_MAX];
    struct slice copy = {NULL, 0};

    if (realpath(path, real) == NULL) {
        *ret_path = path;
        return OK;
    }
    if (!arena_copy(arena, slice_text(real), &copy)) {
        return ERR_MEMORY;
    }
    *ret_path = (const char *)copy.data;
    return OK;
}

static void rest_ms(long span_ms)
{
    struct timespec span = {0, span_ms * 1000000};

    (void)nanosleep(&span, NULL);
}

/* Opens the folder and locks it; closing the descriptor releases the lock. */
static enum err lock_folder(const char *folder, struct fault *fault, int *ret_fd)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    long waited_ms = 0;

    if (fd < 0) {
        return say_io(fault, folder, "opened");
    }
    if (fstat(fd, &status) == 0 && (status.st_mode & 022) != 0) {
        (void)close(fd);
        return fault_say(fault, ERR_DENIED,
                         "%s: other users may write to this folder (mode %04o) and replace its "
                         "files; expected mode 0700: `chmod 700 %s`",
                         folder, (unsigned)(status.st_mode & 07777), folder);
    }
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        enum err err =
            errno != EWOULDBLOCK && errno != EINTR ? say_io(fault, folder, "locked") : OK;

        if (err == OK && waited_ms >= CONFIG_LOCK_MS) {
            err =
                fault_say(fault, ERR_BUSY,
                          "%s: locked by another program; expected another attempt later", folder);
        }
        if (err != OK) {
            (void)close(fd);
            return err;
        }
        rest_ms(LOCK_STEP_MS);
        waited_ms += LOCK_STEP_MS;
    }
    *ret_fd = fd;
    return OK;
}

/* Writes a new file beside the old one, and renames it to the old name. */
static enum err replace(const char *path, int folder, struct slice text, struct arena *arena,
                        struct fault *fault)
{
    struct slice name = arena_printf(arena, "%s.XXXXXX", path);
    char *new_path = (char *)(uintptr_t)name.data; /* a private copy, which mkostemp changes */
    int fd = -1;
    bool written = false;

    if (name.size == 0) {
        return ERR_MEMORY;
    }
    fd = mkostemp(new_path, O_CLOEXEC); /* created with mode 0600 */
    if (fd < 0) {
        return say_io(fault, path, "written");
    }
    written = file_write_all(fd, text) && fsync(fd) == 0;
    written = close(fd) == 0 && written;
    if (!written || rename(new_path, path) != 0) {
        enum err err = say_io(fault, path, "written");

        (void)unlink(new_path);
        return err;
    }
    return fsync(folder) == 0 ? OK : say_io(fault, path, "written");
}

static enum err change_locked(const char *path, int folder, struct arena *arena,
                              struct fault *fault, config_file_change_function change, void *user)
{
    struct contexts contexts;
    struct buffer text;
    enum err err = config_file_read(path, arena, fault, &contexts);

    if (err == OK) {
        err = change(user, &contexts, fault);
    }
    if (err != OK) {
        return err;
    }
    buffer_init(&text, arena, 4096);
    contexts_write(&contexts, &text);
    return buffer_ok(&text) ? replace(path, folder, buffer_slice(&text), arena, fault) : ERR_MEMORY;
}

enum err config_file_change(const char *path, struct arena *arena, struct fault *fault,
                            config_file_change_function change, void *user)
{
    struct slice folder = {NULL, 0};
    int fd = -1;
    enum err err = make_folders(path, arena, fault);

    if (err == OK) {
        err = follow_link(path, arena, &path);
    }
    if (err != OK) {
        return err;
    }
    folder = arena_printf(arena, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (folder.size == 0) {
        return ERR_MEMORY;
    }
    err = lock_folder((const char *)folder.data, fault, &fd);
    if (err == OK) {
        err = change_locked(path, fd, arena, fault, change, user);
        (void)close(fd);
    }
    return err;
}
