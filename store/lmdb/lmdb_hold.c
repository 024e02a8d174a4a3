/*
 * lmdb_hold.c: opens and locks the folder and its files.
 */
#include "store/lmdb/lmdb_hold.h"

#include "store/lmdb/disk.h"
#include "store/lmdb/lmdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void lmdb_hold_init(struct lmdb_hold *hold)
{
    *hold = (struct lmdb_hold){.folder = -1, .number = -1, .file = -1};
}

static enum err say_in_use(const char *path, int holder_pid, struct fault *fault)
{
    if (holder_pid > 0) {
        return fault_say(fault, ERR_PRECONDITION,
                         "%s: in use by process %d; stop it, or use another folder", path,
                         holder_pid);
    }
    return fault_say(fault, ERR_PRECONDITION,
                     "%s: in use by another process; stop it, or use another folder", path);
}

/* Opens and locks one of the three files. */
static enum err hold_one(const char *path, int flags, const char *number_path, int *ret_fd,
                         struct fault *fault)
{
    int holder_pid = 0;
    enum err err = OK;

    *ret_fd = open(path, flags | O_CLOEXEC, 0600);
    if (*ret_fd < 0) {
        return lmdb_say_reason(fault, ERR_IO, path, "cannot be opened", errno);
    }
    err = disk_lock(*ret_fd, number_path, &holder_pid);
    if (err == ERR_PRECONDITION) {
        return say_in_use(path, holder_pid, fault);
    }
    return err == OK ? OK : lmdb_say_reason(fault, err, path, "cannot be locked", errno);
}

static bool is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Returns whether the path still refers to the locked file. */
static bool is_at(int fd, const char *path)
{
    struct stat held;
    struct stat named;

    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && is_same(&held, &named);
}

enum err lmdb_hold_folder(struct lmdb_hold *hold, const char *path, const char *number_path,
                          struct fault *fault)
{
    enum err err = hold_one(path, O_RDONLY | O_DIRECTORY, number_path, &hold->folder, fault);

    if (err != OK) {
        return err;
    }
    if (!is_at(hold->folder, path)) {
        return fault_say(fault, ERR_PRECONDITION,
                         "%s: replaced while it was being opened; expected another start", path);
    }
    err = hold_one(number_path, O_RDWR | O_CREAT, number_path, &hold->number, fault);
    if (err != OK) {
        return err;
    }
    err = disk_write_number(hold->number);
    return err == OK ? OK : lmdb_say_reason(fault, err, number_path, "cannot be written", errno);
}

enum err lmdb_hold_file(struct lmdb_hold *hold, const char *path, struct fault *fault)
{
    /* The folder of the process that holds the lock is unknown here. */
    return hold_one(path, O_RDONLY | O_NONBLOCK, "", &hold->file, fault);
}

bool lmdb_hold_is_file(const struct lmdb_hold *hold, int fd)
{
    struct stat held;
    struct stat other;

    return fstat(hold->file, &held) == 0 && fstat(fd, &other) == 0 && is_same(&held, &other);
}

bool lmdb_hold_lost_file(const struct lmdb_hold *hold)
{
    return disk_is_removed(hold->file);
}

static void release_one(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd); /* also releases the lock */
        *fd = -1;
    }
}

void lmdb_hold_release(struct lmdb_hold *hold)
{
    release_one(&hold->file);
    release_one(&hold->number);
    release_one(&hold->folder);
}
