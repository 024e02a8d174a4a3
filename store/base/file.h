/*
 * file.h: reads and writes all bytes of a request, of which a system call may do a part.
 */
#ifndef ERRATA_STORE_BASE_FILE_H
#define ERRATA_STORE_BASE_FILE_H

#include "store/base/attributes.h"
#include "store/base/slice.h"

/* Writes all bytes to a file, pipe or socket that blocks, repeating after short or interrupted writes; returns false, with
 * errno, on failure. */
MUST_CHECK bool file_write_all(int file, struct slice bytes);
/* Reads `size` bytes of a file at an offset, or fewer at its end; returns false, with errno, on failure. */
MUST_CHECK bool file_read_at(int file, uint64_t at, uint8_t *bytes, size_t size, size_t *ret_size);

#endif
