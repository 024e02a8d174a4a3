/*
 * files.h: writes small files in the data folder atomically.
 */
#ifndef ERRATA_SERVER_APP_FILES_H
#define ERRATA_SERVER_APP_FILES_H

#include "store/base/fault.h"

/* Writes FOLDER/NAME with mode 0600: under another name, synced, renamed, and the folder synced.
 * After OK the file is durable; after a failure (ERR_IO or ERR_DISK_FULL, explained in `fault`) the
 * old one is unchanged. */
MUST_CHECK enum err files_write(const char *folder, const char *name, struct slice bytes,
                                struct fault *fault);
/* The two halves of files_write, for steps that must happen between them: the first makes the
 * content durable as FOLDER/NAME.new (overwriting a leftover), the second renames it to
 * FOLDER/NAME. */
#define FILES_ASIDE ".new"
MUST_CHECK enum err files_write_aside(const char *folder, const char *name, struct slice bytes,
                                      struct fault *fault);
MUST_CHECK enum err files_put_in_place(const char *folder, const char *name, struct fault *fault);
/* Removes FOLDER/NAME, if it exists. */
void files_remove(const char *folder, const char *name);

#endif
