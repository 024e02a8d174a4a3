/*
 * lmdb_restore.c: checks a backup, and creates a store from it.
 */
#include "store/lmdb/lmdb_restore.h"

#include "store/backup/backup_reader.h"
#include "store/base/fault_point.h"
#include "store/lmdb/disk.h"
#include "store/lmdb/lmdb_check.h"
#include "store/lmdb/lmdb_folder.h"
#include "store/lmdb/lmdb_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)
/* Left by an interrupted restore. */
#define UNFINISHED "db.new"

struct restoring {
    const struct store_restore *restore;
    struct fault *fault;
    struct backup_reader reader;
    int folder; /* the data folder, locked; -1: not open */
    bool made_folder;
    bool made_unfinished; /* DIR/db.new was created and must be removed */
    int copy; /* DIR/db.new/data.mdb; -1: not open */
};

struct name {
    char text[LMDB_PATH_BYTES_MAX + 64];
};

static struct name name_in(const struct restoring *restoring, const char *name)
{
    struct name whole;

    (void)snprintf(whole.text, sizeof(whole.text), "%s/%s", restoring->restore->path, name);
    return whole;
}

/* Reports why a system call failed, by errno. */
static enum err say_failed(const struct restoring *restoring, const char *name, const char *what)
{
    enum err err = errno == ENOSPC || errno == EDQUOT ? ERR_DISK_FULL : ERR_IO;

    return fault_say(restoring->fault, err, "%s: cannot be %s: %m", name, what);
}

/* --- the backup --- */

static enum err open_backup(struct restoring *restoring)
{
    enum err err =
        backup_reader_open(&restoring->reader, restoring->restore->file, restoring->fault);

    if (err == OK && restoring->reader.info.kind != BACKUP_WHOLE) {
        return fault_say(restoring->fault, ERR_INVALID, "%s: an increment; expected a whole backup",
                         restoring->restore->file);
    }
    return err;
}

static enum err write_data(void *user, struct slice bytes)
{
    struct restoring *restoring = (struct restoring *)user;

    while (bytes.size > 0) {
        ssize_t count =
            FAULT("backup.restore") ? -1 : write(restoring->copy, bytes.data, bytes.size);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return say_failed(restoring, name_in(restoring, UNFINISHED "/data.mdb").text,
                              "written");
        }
        bytes = slice_after(bytes, (size_t)count);
    }
    return OK;
}

static void on_read(void *user, uint64_t bytes, uint64_t bytes_total)
{
    const struct restoring *restoring = (const struct restoring *)user;

    if (restoring->restore->on_progress != NULL) {
        restoring->restore->on_progress(restoring->restore->user, restoring->copy >= 0, bytes,
                                        bytes_total);
    }
}

static enum err check_backup(struct restoring *restoring)
{
    return backup_reader_check(&restoring->reader, NULL, on_read, restoring);
}

/* --- the data folder --- */

/* Checks that the folder has no files other than a restore's leftovers. */
static enum err check_empty(struct restoring *restoring)
{
    DIR *folder = opendir(restoring->restore->path);
    const struct dirent *entry = NULL;
    char found[sizeof(entry->d_name)] = "";

    if (folder == NULL && errno == ENOENT) {
        return OK;
    }
    if (folder == NULL) {
        return say_failed(restoring, restoring->restore->path, "read");
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): only this thread uses this stream of the folder
    while (found[0] == '\0' && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, UNFINISHED) != 0) {
            (void)snprintf(found, sizeof(found), "%s", entry->d_name);
        }
    }
    (void)closedir(folder);
    if (found[0] == '\0') {
        return OK;
    }
    return fault_say(restoring->fault, ERR_PRECONDITION,
                     "%s: not empty (contains %s); expected an empty or missing folder",
                     restoring->restore->path, found);
}

/* Locks the folder as a server does (lmdb_hold.h). */
static enum err lock_folder(struct restoring *restoring)
{
    const char *path = restoring->restore->path;
    const char *network = NULL;
    enum err err = OK;

    restoring->made_folder = mkdir(path, 0700) == 0;
    if (!restoring->made_folder && errno != EEXIST) {
        return say_failed(restoring, path, "made");
    }
    err = disk_make_folder(path); /* also syncs the parent folder */
    if (err == OK) {
        err = disk_find_network(path, &network);
    }
    if (err != OK) {
        return say_failed(restoring, path, "made");
    }
    if (network != NULL) {
        return fault_say(restoring->fault, ERR_PRECONDITION,
                         "%s: is on a network file system (%s); expected a local disk", path,
                         network);
    }
    restoring->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (restoring->folder < 0) {
        return say_failed(restoring, path, "read");
    }
    if (flock(restoring->folder, LOCK_EX | LOCK_NB) != 0) {
        return fault_say(restoring->fault, ERR_PRECONDITION, "%s: is in use by another process",
                         path);
    }
    return check_empty(restoring);
}

static enum err check_room(struct restoring *restoring)
{
    uint64_t needed_bytes = restoring->reader.info.file_bytes + STORE_RESTORE_ROOM_BYTES;
    uint64_t free_bytes = 0;
    enum err err = store_lmdb_free_bytes(restoring->restore->path, &free_bytes);

    if (err == OK && free_bytes < needed_bytes) {
        return fault_say(restoring->fault, ERR_DISK_FULL,
                         "%s: no room to restore: it needs %" PRIu64 " MiB, and %" PRIu64
                         " MiB are free",
                         restoring->restore->path, needed_bytes / MIB, free_bytes / MIB);
    }
    return err;
}

static void remove_unfinished(const struct restoring *restoring)
{
    (void)unlink(name_in(restoring, UNFINISHED "/data.mdb").text);
    (void)unlink(name_in(restoring, UNFINISHED "/lock.mdb").text);
    (void)rmdir(name_in(restoring, UNFINISHED).text);
}

static enum err make_copy(struct restoring *restoring)
{
    struct name name = name_in(restoring, UNFINISHED "/data.mdb");
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    enum err err = OK;

    remove_unfinished(restoring);
    restoring->made_unfinished = true;
    if (mkdir(name_in(restoring, UNFINISHED).text, 0700) != 0) {
        return say_failed(restoring, name_in(restoring, UNFINISHED).text, "made");
    }
    restoring->copy = open(name.text, flags, 0600);
    if (restoring->copy < 0) {
        return say_failed(restoring, name.text, "made");
    }
    err = backup_reader_check(&restoring->reader, write_data, on_read, restoring);
    if (err == OK && fsync(restoring->copy) != 0) {
        err = say_failed(restoring, name.text, "synced");
    }
    if (close(restoring->copy) != 0 && err == OK) {
        err = say_failed(restoring, name.text, "written");
    }
    restoring->copy = -1;
    return err;
}

/* Checks the pages of the file: the original may have been damaged before. */
static enum err check_copy(struct restoring *restoring)
{
    const struct store_lmdb_check_limits all = {0};
    struct name name = name_in(restoring, UNFINISHED "/data.mdb");
    enum err err = store_lmdb_check(name.text, &all, restoring->fault, NULL);
    struct slice why = restoring->fault->message;

    if (err != ERR_CORRUPT) {
        return err;
    }
    return fault_say(restoring->fault, err,
                     "%s: backup of a damaged store; expected an older backup (%.*s)",
                     restoring->restore->file, (int)why.size, (const char *)why.data);
}

static enum err take_place(struct restoring *restoring)
{
    struct name from = name_in(restoring, UNFINISHED);
    struct name to = name_in(restoring, "db");

    if (disk_sync_folder(from.text) != OK) {
        return say_failed(restoring, from.text, "synced");
    }
    if (rename(from.text, to.text) != 0) {
        return say_failed(restoring, to.text, "made");
    }
    restoring->made_unfinished = false;
    restoring->made_folder = false; /* the folder contains a store now */
    return disk_sync_folder(restoring->restore->path) == OK
               ? OK
               : say_failed(restoring, restoring->restore->path, "synced");
}

static enum err restore_all(struct restoring *restoring)
{
    static enum err (*const steps[])(struct restoring *) = {
        check_empty, /* checked before reading for minutes; lock_folder checks it again */
        open_backup, check_backup, lock_folder, check_room, make_copy, check_copy, take_place,
    };

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        enum err err = steps[i](restoring);

        if (err != OK) {
            return err;
        }
    }
    return OK;
}

enum err store_lmdb_restore(const struct store_restore *restore, struct fault *fault,
                            struct backup_info *ret_info)
{
    struct restoring restoring = {
        .restore = restore, .fault = fault, .reader = {.file = -1}, .folder = -1, .copy = -1};
    size_t path_bytes = strlen(restore->path);
    enum err err = OK;

    if (path_bytes == 0 || path_bytes >= LMDB_PATH_BYTES_MAX) {
        return fault_say(fault, ERR_INVALID, "the data folder's path must have 1 to %d bytes",
                         LMDB_PATH_BYTES_MAX - 1);
    }
    err = restore_all(&restoring);
    if (restoring.made_unfinished) {
        remove_unfinished(&restoring);
    }
    if (restoring.made_folder) {
        (void)rmdir(restore->path);
    }
    if (restoring.folder >= 0) {
        (void)close(restoring.folder);
    }
    backup_reader_close(&restoring.reader);
    if (err == OK) {
        *ret_info = restoring.reader.info;
    }
    return err;
}
