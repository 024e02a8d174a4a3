/*
 * files.h: small files in the data folder that must be whole or not there at all.
 */
#ifndef ERRATA_SERVER_APP_FILES_H
#define ERRATA_SERVER_APP_FILES_H

#include "store/base/fault.h"

/* Writes FOLDER/NAME of mode 0600: to another name, synced, renamed, and the folder synced. After
 * OK the file is there whatever happens next; after a failure (ERR_IO or ERR_DISK_FULL, which
 * `fault` explains) the old one is as it was. */
MUST_CHECK enum err files_write(const char *folder, const char *name, struct slice bytes,
                                struct fault *fault);
/* Removes FOLDER/NAME, where it is there. */
void files_remove(const char *folder, const char *name);

#endif
