/*
 * files.h: lists the PDFs that the words of a command line name: files with any name, and the `*.pdf`
 * of folders with numbers in numeric order (2 before 10), on request with those of their folders. Only
 * one folder is in memory at a time. Reads no file.
 */
#ifndef ERRATA_TOOLS_ERRATA_TERMINAL_FILES_H
#define ERRATA_TOOLS_ERRATA_TERMINAL_FILES_H

#include "store/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximum files of one command: this bounds the walk of a wrong folder, such as `/` with --recursive. */
#define FILES_MAX 1000000

struct files;

struct files_found {
    const char *path; /* borrowed until the next call */
    uint64_t size_bytes;
    const char *problem; /* reason why the file cannot be read; NULL: none found */
};

/* Starts the walk; borrows the words. Returns OK or ERR_MEMORY. */
MUST_CHECK enum err files_open(const char *const *words, size_t count, bool recursive,
                               struct files **ret_files);
/* Returns the next file; false at the end. */
bool files_next(struct files *files, struct files_found *ret_found);
/* Accepts NULL. */
void files_close(struct files *files);

#endif
