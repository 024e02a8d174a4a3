/*
 * segment_file.h: one file of the journal, FOLDER/INDEX, which segments.c has open; private to the journal.
 */
#ifndef ERRATA_STORE_JOURNAL_SEGMENT_FILE_H
#define ERRATA_STORE_JOURNAL_SEGMENT_FILE_H

#include "store/base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Limit of a folder's path, including its end. */
#define SEGMENT_FOLDER_BYTES_MAX 1100

/* Creates a file of zeros under another name, so that one with its name is complete, and makes it durable. */
MUST_CHECK enum err segment_file_create(const char *folder, size_t index, uint64_t size,
                                        int *ret_fd);
/* Opens a file, and makes durable what an earlier process wrote to it; `ret_fd` is -1 if there is none, and `ret_size` is
 * set if there is one. Removes the rest of one that was being created. */
MUST_CHECK enum err segment_file_open(const char *folder, size_t index, int *ret_fd,
                                      uint64_t *ret_size);
/* Makes durable which files the folder has. */
MUST_CHECK enum err segment_file_sync_names(const char *folder);
MUST_CHECK enum err segment_file_unlink(const char *folder, size_t index);
MUST_CHECK enum err segment_file_write(int fd, const uint8_t *bytes, size_t size, uint64_t offset);
/* Reads up to `size` bytes from the file's start; fewer at the end of the file. */
MUST_CHECK enum err segment_file_read(int fd, uint8_t *bytes, size_t size, size_t *ret_size);
/* Writes zeros to the blocks that have other bytes, up to `size`, and makes them durable. */
MUST_CHECK enum err segment_file_overwrite(int fd, uint64_t size);

#endif
