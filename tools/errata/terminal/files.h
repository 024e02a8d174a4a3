/*
 * files.h: the PDFs that words of a command line mean: files as they are named, and folders, which
 * mean their `*.pdf` in the order of names as people count (2 before 10), with their own folders where
 * asked. One folder is in memory at a time, however many files there are. Reads no file.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_FILES_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_FILES_H

#include "store/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximum files of one command: a wrong folder (such as `/` with --recursive) ends here, not in days. */
#define FILES_MAX 1000000

struct files;

struct files_found {
    const char *path; /* borrowed until the next call */
    uint64_t size_bytes;
    const char *problem; /* reason why the file cannot be read; NULL: none found */
};

/* Borrows the words. ERR_MEMORY. */
MUST_CHECK enum err files_open(const char *const *words, size_t count, bool recursive,
                               struct files **ret_files);
/* The next one; false at the end. */
bool files_next(struct files *files, struct files_found *ret_found);
/* Takes NULL. */
void files_close(struct files *files);

#endif
