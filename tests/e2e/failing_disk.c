/*
 * failing_disk.c: a disk that fails when told to, put in front of erratad by LD_PRELOAD. While the
 * file FAILING_DISK.sync is there, no fdatasync succeeds; while FAILING_DISK.meta is there, nothing
 * is written into the first two pages of a file, where LMDB commits. FAILING_DISK names a path.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define META_BYTES (2 * 4096)

typedef int sync_function(int file);
typedef ssize_t write_function(int file, const void *bytes, size_t size, off_t offset);

int fdatasync(int file);
ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset);

static bool fails(const char *what)
{
    char path[4096];
    int before = errno;
    bool told = false;

    (void)snprintf(path, sizeof(path), "%s.%s", getenv("FAILING_DISK"), what);
    told = access(path, F_OK) == 0;
    errno = told ? EIO : before;
    return told;
}

int fdatasync(int file)
{
    sync_function *next = (sync_function *)dlsym(RTLD_NEXT, "fdatasync");

    return fails("sync") ? -1 : next(file);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    write_function *next = (write_function *)dlsym(RTLD_NEXT, "pwrite");

    return offset < META_BYTES && fails("meta") ? -1 : next(file, bytes, size, offset);
}
