/*
 * disk_room.c: a part of the library of disk_shim.c: a disk that reports little free space.
 *   DISK_ROOM  FOLDER:BYTES: for this folder of the data folder, statvfs reports at most so many free bytes
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Returns whether the path is that of the folder, and the bytes. */
static bool has_limit(const char *path, unsigned long long *ret_bytes)
{
    const char *data = getenv("DISK_FOLDER");
    const char *room = getenv("DISK_ROOM");
    char whole[PATH_MAX];
    char folder[32] = "";

    if (data == NULL || room == NULL || sscanf(room, "%30[^:]:%llu", folder, ret_bytes) != 2) {
        return false;
    }
    (void)snprintf(whole, sizeof(whole), "%s/%s", data, folder);
    return strcmp(path, whole) == 0;
}

int statvfs(const char *path, struct statvfs *info)
{
    int result = ((__typeof__(&statvfs))dlsym(RTLD_NEXT, "statvfs"))(path, info);
    unsigned long long bytes = 0;

    if (result == 0 && has_limit(path, &bytes) && info->f_bavail > bytes / info->f_frsize) {
        info->f_bavail = bytes / info->f_frsize;
        info->f_bfree = info->f_bavail;
    }
    return result;
}
