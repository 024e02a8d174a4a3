/*
 * disk.c: plain system calls, with every result checked.
 */
#include "store/lmdb/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* A commit writes at most about 16 MiB: with less than this free, a failed write was caused by a
 * full disk. */
#define FULL_BELOW_BYTES (16ull << 20)
#define NUMBER_TEXT_BYTES 32
/* Attempts to get a lock: 2 s in all if its holder has died, 500 ms if it is unknown. */
#define LOCK_TRIES_MAX 200
#define LOCK_TRIES_UNKNOWN_MAX 50
#define LOCK_PAUSE_MS 10

struct network {
    unsigned long magic; /* statfs(2) */
    const char *name;
};

static const struct network networks[] = {
    {0x6969, "nfs"},        {0x517b, "smb"},      {0xff534d42, "cifs"},  {0xfe534d42, "smb2"},
    {0x5346414f, "afs"},    {0x00c36400, "ceph"}, {0x73757245, "coda"},  {0x01021997, "9p"},
    {0x0bd00bd0, "lustre"}, {0x01161970, "gfs2"}, {0x7461636f, "ocfs2"}, {0x47504653, "gpfs"},
};

enum err disk_find_network(const char *path, const char **ret_name)
{
    struct statfs info;

    if (statfs(path, &info) != 0) {
        return ERR_IO;
    }
    *ret_name = NULL;
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        if (networks[i].magic == ((unsigned long)info.f_type & 0xffffffff)) {
            *ret_name = networks[i].name;
        }
    }
    return OK;
}

bool disk_is_full(const char *path)
{
    struct statvfs info;

    if (statvfs(path, &info) != 0) {
        return false;
    }
    return (uint64_t)info.f_bavail * info.f_frsize < FULL_BELOW_BYTES;
}

static enum err translate_errno(int code)
{
    return code == ENOSPC || code == EDQUOT ? ERR_DISK_FULL : ERR_IO;
}

static void close_keeping_errno(int fd)
{
    int reason = errno;

    (void)close(fd);
    errno = reason;
}

enum err disk_sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum err err = OK;

    if (fd < 0) {
        return ERR_IO;
    }
    if (fsync(fd) != 0) {
        err = translate_errno(errno);
    }
    close_keeping_errno(fd);
    return err;
}

enum err disk_make_folder(const char *path)
{
    char parent[PATH_MAX];
    bool was_there = mkdir(path, 0700) != 0;

    if (was_there && errno != EEXIST) {
        return translate_errno(errno);
    }
    if (snprintf(parent, sizeof(parent), "%s/..", path) >= (int)sizeof(parent)) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    /* An earlier process may have been killed before the sync. A parent folder that is not readable
     * belongs to others, who sync it. */
    if (was_there && access(parent, R_OK) != 0) {
        return OK;
    }
    return disk_sync_folder(parent);
}

enum err disk_reserve(const char *path, uint64_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int code = 0;

    if (fd < 0) {
        return translate_errno(errno);
    }
    code = posix_fallocate(fd, 0, (off_t)bytes);
    if (close(fd) != 0 && code == 0) {
        code = errno;
    }
    if (code != 0) {
        disk_give_up_reserve(path);
        errno = code;
        return translate_errno(code);
    }
    return OK;
}

void disk_give_up_reserve(const char *path)
{
    (void)unlink(path); /* if this fails, the disk stays as full as before */
}

/* Returns the process id in a file; 0 if it has none. */
static int read_number(const char *path)
{
    char text[NUMBER_TEXT_BYTES];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0) {
        (void)close(fd);
    }
    if (size <= 0) {
        return 0;
    }
    text[size] = '\0';
    return (int)strtol(text, NULL, 10);
}

static bool is_running(int pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}

enum err disk_lock(int fd, const char *number_path, int *ret_holder_pid)
{
    const struct timespec pause = {0, LOCK_PAUSE_MS * 1000000L};

    *ret_holder_pid = 0;
    for (unsigned tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK) {
            return ERR_IO;
        }
        *ret_holder_pid = read_number(number_path);
        if (is_running(*ret_holder_pid) ||
            tries >= (*ret_holder_pid > 0 ? LOCK_TRIES_MAX : LOCK_TRIES_UNKNOWN_MAX)) {
            errno = EWOULDBLOCK;
            return ERR_PRECONDITION;
        }
        (void)nanosleep(&pause, NULL);
    }
    return OK;
}

bool disk_is_removed(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && info.st_nlink == 0;
}

enum err disk_write_number(int fd)
{
    char text[NUMBER_TEXT_BYTES];
    int size = snprintf(text, sizeof(text), "%d\n", (int)getpid());

    /* Written in place first: a full disk has no block for a file that was emptied. */
    if (pwrite(fd, text, (size_t)size, 0) != (ssize_t)size || ftruncate(fd, size) != 0) {
        return translate_errno(errno);
    }
    return OK;
}
