/*
 * files.h: small files in the data folder that must be whole or not there at all, and writing bytes
 * to an open file until it has them all.
 */
#ifndef ERRATA_SERVER_APP_FILES_H
#define ERRATA_SERVER_APP_FILES_H

#include "store/base/fault.h"

/* Writes FOLDER/NAME of mode 0600: to another name, synced, renamed, and the folder synced. After
 * OK the file is there whatever happens next; after a failure (ERR_IO or ERR_DISK_FULL, which
 * `fault` explains) the old one is as it was. */
MUST_CHECK enum err files_write(const char *folder, const char *name, struct slice bytes,
                                struct fault *fault);
/* The two halves of files_write, for what must happen between them: the content is durable as
 * FOLDER/NAME.new (one that an earlier run left is overwritten); it takes the place of FOLDER/NAME. */
#define FILES_ASIDE ".new"
MUST_CHECK enum err files_write_aside(const char *folder, const char *name, struct slice bytes,
                                      struct fault *fault);
MUST_CHECK enum err files_put_in_place(const char *folder, const char *name, struct fault *fault);
/* Removes FOLDER/NAME, where it is there. */
void files_remove(const char *folder, const char *name);
/* Writes all of it, however often that is cut short or interrupted; false, with errno, where it can't. */
bool files_write_whole(int file, struct slice bytes);

#endif
