/*
 * lmdb_folder.c: renames and removes folders and files; opens no store.
 */
#include "store/lmdb/lmdb_folder.h"

#include "store/base/fault_point.h"
#include "store/lmdb/disk.h"
#include "store/lmdb/lmdb_internal.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct name {
    char text[LMDB_PATH_BYTES_MAX + 64];
};

static struct name name_in(const char *path, const char *name)
{
    struct name whole;

    if (snprintf(whole.text, sizeof(whole.text), "%s/%s", path, name) >= (int)sizeof(whole.text)) {
        whole.text[0] = '\0'; /* a path that is too long names nothing */
    }
    return whole;
}

static bool is_there(const char *path, const char *name)
{
    struct stat info;

    return lstat(name_in(path, name).text, &info) == 0;
}

enum err store_lmdb_free_bytes(const char *path, uint64_t *ret_bytes)
{
    struct statvfs info;

    if (statvfs(path, &info) != 0) {
        return ERR_IO;
    }
    *ret_bytes = (uint64_t)info.f_bavail * info.f_frsize;
    return OK;
}

static enum err move_folder(const char *path, const char *from, const char *to)
{
    struct name old = name_in(path, from);
    struct name new = name_in(path, to);

    return !FAULT("store.replace") && rename(old.text, new.text) == 0 ? OK : ERR_IO;
}

/* Removes one of LMDB's two folders with its files. */
static void remove_files(const char *path, const char *folder)
{
    struct name whole = name_in(path, folder);

    (void)unlink(name_in(whole.text, "data.mdb").text);
    (void)unlink(name_in(whole.text, "lock.mdb").text);
    (void)unlink(name_in(whole.text, "state").text);
    (void)rmdir(whole.text);
}

void store_lmdb_remove_folder(const char *path)
{
    remove_files(path, "db");
    remove_files(path, "db.new");
    remove_files(path, "db.old");
    (void)unlink(name_in(path, "reserve").text);
    (void)unlink(name_in(path, "errata.pid").text);
    (void)rmdir(path);
}

enum err store_lmdb_replace(const char *path)
{
    enum err err = move_folder(path, "db", "db.old");

    if (err != OK) {
        return err;
    }
    err = move_folder(path, STORE_LMDB_REBUILD_FOLDER "/db", "db");
    if (err != OK) {
        enum err back =
            move_folder(path, "db.old", "db"); /* if this fails, the next start repeats it */

        return back != OK ? back : err;
    }
    err = disk_sync_folder(path);
    if (err == OK) {
        remove_files(path, "db.old");
        store_lmdb_remove_folder(name_in(path, STORE_LMDB_REBUILD_FOLDER).text);
    }
    return err;
}

enum err lmdb_folder_recover(const char *path)
{
    enum err err = OK;

    if (is_there(path, "db.old")) {
        if (!is_there(path, "db")) {
            err = move_folder(path, "db.old", "db");
        }
        if (err == OK) {
            err = disk_sync_folder(path); /* before anything is removed */
        }
    }
    if (err == OK && is_there(path, STORE_LMDB_REBUILD_FOLDER)) {
        store_lmdb_remove_folder(name_in(path, STORE_LMDB_REBUILD_FOLDER).text);
    }
    return err;
}

void lmdb_folder_forget_old(const char *path)
{
    if (is_there(path, "db.old")) {
        remove_files(path, "db.old");
    }
}
