/*
 * temp_folder.c: mkdtemp, and a walk that removes files before their folders.
 */
#include "tests/support/store/temp_folder.h"

#include "store/base/assert.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#define OPEN_FOLDERS_MAX 8

void temp_folder_init(struct temp_folder *folder)
{
    const char *parent = getenv("TMPDIR");
    int size = snprintf(folder->path, sizeof(folder->path), "%s/errata-test-XXXXXX",
                        parent != NULL ? parent : "/tmp");

    ASSERT(size > 0 && (size_t)size < sizeof(folder->path));
    ASSERT(mkdtemp(folder->path) != NULL);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

void temp_folder_deinit(struct temp_folder *folder)
{
    if (folder->path[0] != '\0') {
        (void)nftw(folder->path, remove_entry, OPEN_FOLDERS_MAX, FTW_DEPTH | FTW_PHYS);
        folder->path[0] = '\0';
    }
}
