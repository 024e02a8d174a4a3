/*
 * segment_file.c: the files of segments: their names, and what is read from and written to one.
 */
#include "store/journal/segment_file.h"

#include "store/base/fault_point.h"
#include "store/base/file.h"
#include "store/journal/segments.h"
#include "store/lmdb/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)16 * 1024)

struct segment_path {
    char text[SEGMENT_FOLDER_BYTES_MAX + 32];
};

static struct segment_path path_of(const char *folder, size_t index)
{
    struct segment_path path;

    (void)snprintf(path.text, sizeof(path.text), "%s/%zu", folder, index);
    return path;
}

/* The file under its temporary name while it is created. */
static struct segment_path unfinished_path_of(const char *folder, size_t index)
{
    struct segment_path path = path_of(folder, index);
    size_t used = strlen(path.text);

    (void)snprintf(path.text + used, sizeof(path.text) - used, ".new");
    return path;
}

bool segments_exist(const char *path)
{
    for (size_t i = 0; i < SEGMENTS_MAX; i++) {
        if (access(path_of(path, i).text, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

static enum err remove_file(struct segment_path path, struct fault *fault)
{
    return unlink(path.text) == 0 || errno == ENOENT
               ? OK
               : fault_say(fault, ERR_IO, "%s: cannot be removed: %m", path.text);
}

enum err segments_remove(const char *path, struct fault *fault)
{
    enum err err = OK;

    for (size_t i = 0; i < SEGMENTS_MAX && err == OK; i++) {
        err = remove_file(path_of(path, i), fault);
        if (err == OK) {
            err = remove_file(unfinished_path_of(path, i), fault);
        }
    }
    if (err != OK || access(path, F_OK) != 0) {
        return err;
    }
    err = segment_file_sync_names(path);
    if (err != OK) {
        return fault_say(fault, err, "%s: cannot be synced: %m", path);
    }
    (void)rmdir(path); /* it may have files of others */
    return OK;
}

enum err segment_file_sync_names(const char *folder)
{
    return FAULT("journal.folder") ? ERR_IO : disk_sync_folder(folder);
}

static enum err errno_to_err(void)
{
    return errno == ENOSPC || errno == EDQUOT ? ERR_DISK_FULL : ERR_IO;
}

enum err segment_file_write(int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t written = pwrite(fd, bytes, size, (off_t)offset);

        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno_to_err() : ERR_IO;
        }
        bytes += written;
        size -= (size_t)written;
        offset += (uint64_t)written;
    }
    return OK;
}

enum err segment_file_read(int fd, uint8_t *bytes, size_t size, size_t *ret_size)
{
    return file_read_at(fd, 0, bytes, size, ret_size) ? OK : ERR_IO;
}

/* Writes zeros to a file: to each block, so that later writes allocate nothing and change no metadata, or only to those that
 * have other bytes. */
static enum err fill_with_zeros(int fd, uint64_t size, bool only_used)
{
    static const uint8_t zeros[BLOCK_BYTES];
    uint8_t block[BLOCK_BYTES];
    enum err err = OK;

    for (uint64_t at = 0; at < size && err == OK; at += BLOCK_BYTES) {
        size_t bytes = size - at < BLOCK_BYTES ? (size_t)(size - at) : BLOCK_BYTES;

        if (!only_used || pread(fd, block, bytes, (off_t)at) != (ssize_t)bytes ||
            memcmp(block, zeros, bytes) != 0) {
            err = segment_file_write(fd, zeros, bytes, at);
        }
    }
    return err;
}

enum err segment_file_create(const char *folder, size_t index, uint64_t size, int *ret_fd)
{
    struct segment_path path = path_of(folder, index);
    struct segment_path unfinished = unfinished_path_of(folder, index);
    enum err err = disk_make_folder(folder);
    int fd = err != OK ? -1 : open(unfinished.text, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0) {
        return err != OK ? err : errno_to_err();
    }
    err = FAULT("journal.create") ? ERR_DISK_FULL : fill_with_zeros(fd, size, false);
    if (err == OK && fdatasync(fd) != 0) {
        err = errno_to_err();
    }
    if (err == OK && rename(unfinished.text, path.text) != 0) {
        err = errno_to_err();
    }
    if (err == OK) {
        err = disk_sync_folder(folder);
    }
    if (err != OK) {
        (void)unlink(unfinished.text);
        (void)close(fd);
        return err;
    }
    *ret_fd = fd;
    return OK;
}

enum err segment_file_overwrite(int fd, uint64_t size)
{
    enum err err = FAULT("journal.overwrite") ? ERR_IO : fill_with_zeros(fd, size, true);

    return err != OK || fdatasync(fd) == 0 ? err : errno_to_err();
}

enum err segment_file_open(const char *folder, size_t index, int *ret_fd, uint64_t *ret_size)
{
    struct stat info;
    int fd = -1;

    (void)unlink(unfinished_path_of(folder, index).text);
    fd = open(path_of(folder, index).text, O_RDWR | O_CLOEXEC);
    *ret_fd = fd;
    if (fd < 0) {
        return errno == ENOENT ? OK : ERR_IO;
    }
    if (fstat(fd, &info) != 0) {
        return ERR_IO;
    }
    *ret_size = (uint64_t)info.st_size;
    /* A killed process may have written bytes that are not on the disk yet. Bytes read now must be durable. */
    return fdatasync(fd) == 0 ? OK : errno_to_err();
}

enum err segment_file_unlink(const char *folder, size_t index)
{
    return unlink(path_of(folder, index).text) == 0 ? OK : ERR_IO;
}
