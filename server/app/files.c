/*
 * files.c: writes small files atomically.
 */
#include "server/app/files.h"

#include "store/base/fault_point.h"
#include "store/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* File names of this program are short. */
#define NAME_BYTES_MAX 64

static enum err say_failed(struct fault *fault, const char *what, const char *folder,
                           const char *name)
{
    enum err err = errno == ENOSPC || errno == EDQUOT ? ERR_DISK_FULL : ERR_IO;

    return fault_say(fault, err, "%s/%s cannot be %s: %m", folder, name, what);
}

/* Writes the new content under another name, and syncs it. */
static enum err write_aside(int folder_file, const char *folder, const char *name,
                            struct slice bytes, struct fault *fault)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int file = -1;
    bool written = false;

    (void)unlinkat(folder_file, name, 0); /* a file left by an interrupted start */
    file = openat(folder_file, name, flags, S_IRUSR | S_IWUSR);
    if (file < 0) {
        return say_failed(fault, "made", folder, name);
    }
    written = !FAULT("files.write") && file_write_all(file, bytes) && fsync(file) == 0;
    if (close(file) != 0 || !written) {
        return say_failed(fault, "written", folder, name);
    }
    return OK;
}

static int open_folder(const char *folder, struct fault *fault, enum err *ret_err)
{
    int folder_file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *ret_err = folder_file < 0 ? say_failed(fault, "reached", folder, "") : OK;
    return folder_file;
}

enum err files_write_aside(const char *folder, const char *name, struct slice bytes,
                           struct fault *fault)
{
    char aside[NAME_BYTES_MAX];
    enum err err = OK;
    int folder_file = open_folder(folder, fault, &err);

    if (err != OK) {
        return err;
    }
    (void)snprintf(aside, sizeof(aside), "%s" FILES_ASIDE, name);
    err = write_aside(folder_file, folder, aside, bytes, fault);
    if (err == OK && fsync(folder_file) != 0) {
        err = say_failed(fault, "synced", folder, aside);
    }
    (void)close(folder_file);
    return err;
}

enum err files_put_in_place(const char *folder, const char *name, struct fault *fault)
{
    char aside[NAME_BYTES_MAX];
    enum err err = OK;
    int folder_file = open_folder(folder, fault, &err);

    if (err != OK) {
        return err;
    }
    (void)snprintf(aside, sizeof(aside), "%s" FILES_ASIDE, name);
    if (renameat(folder_file, aside, folder_file, name) != 0) {
        err = say_failed(fault, "renamed", folder, name);
    }
    if (err == OK && fsync(folder_file) != 0) {
        err = say_failed(fault, "synced", folder, name);
    }
    (void)close(folder_file);
    return err;
}

enum err files_write(const char *folder, const char *name, struct slice bytes, struct fault *fault)
{
    enum err err = files_write_aside(folder, name, bytes, fault);

    return err != OK ? err : files_put_in_place(folder, name, fault);
}

void files_remove(const char *folder, const char *name)
{
    int folder_file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder_file >= 0) {
        (void)unlinkat(folder_file, name, 0);
        (void)close(folder_file);
    }
}
