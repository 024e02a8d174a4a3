/*
 * address_file.h: the file in the data folder with the server's address, for programs that start this one. A full disk does
 * not prevent the start: the file is written once there is room.
 */
#ifndef ERRATA_SERVER_APP_ADDRESS_FILE_H
#define ERRATA_SERVER_APP_ADDRESS_FILE_H

#include "store/base/fault.h"

#include <stdbool.h>

struct address_file {
    const char *data; /* the data folder; borrowed */
    const char *address; /* borrowed */
    bool missing; /* the disk had no room for the file */
    bool failed; /* a retry failed for another reason, which was logged */
};

/* Writes the file. If the disk is full, it is `missing` after OK, and `fault` is unchanged; otherwise `fault` has the
 * reason of a failure. */
MUST_CHECK enum err address_file_write(struct address_file *file, struct fault *fault);
/* Writes a missing file, if possible; any other failure than a full disk is logged, once. */
void address_file_retry(struct address_file *file);

#endif
