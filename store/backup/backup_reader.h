/*
 * backup_reader.h: an open backup (backup_file.h): checks the whole file, and reads its parts.
 */
#ifndef ERRATA_STORE_BACKUP_BACKUP_READER_H
#define ERRATA_STORE_BACKUP_BACKUP_READER_H

#include "store/backup/backup_file.h"

/* The function that receives the file's data piece by piece; an error ends the reading. */
typedef enum err backup_take_fn(void *user, struct slice bytes);
/* Reports how many bytes of the file were read. */
typedef void backup_read_fn(void *user, uint64_t bytes, uint64_t bytes_total);

struct backup_reader {
    const char *name; /* path of the file, borrowed */
    struct fault *fault; /* has the reason of a failure; borrowed */
    int file; /* -1: not open */
    uint8_t *piece;
    struct backup_info info; /* complete after backup_reader_open, but not checked */
    uint64_t position_bytes; /* size of the position, in front of the end */
};

/* Opens the file, and reads head and end. ERR_INVALID for a file that is not a backup or is of a later
 * program, ERR_CORRUPT for one without an end; ERR_IO, ERR_MEMORY. Call backup_reader_close in
 * either case. */
MUST_CHECK enum err backup_reader_open(struct backup_reader *reader, const char *name,
                                       struct fault *fault);
/* Reads the whole file, passes its data on (`take` may be NULL), and compares the digest. ERR_CORRUPT
 * for a modified file; ERR_IO; errors of `take`. */
MUST_CHECK enum err backup_reader_check(struct backup_reader *reader, backup_take_fn *take,
                                        backup_read_fn *on_read, void *user);
/* The offset in the file at which the data end; they begin at BACKUP_HEAD_BYTES. */
uint64_t backup_reader_data_end(const struct backup_reader *reader);
/* Reads `size` bytes at an offset of the file; ERR_IO also beyond its end. */
MUST_CHECK enum err backup_reader_read(const struct backup_reader *reader, uint64_t at,
                                       uint8_t *bytes, size_t size);
void backup_reader_close(struct backup_reader *reader);

#endif
