/*
 * file.h: writes bytes to an open file, pipe or socket that blocks.
 */
#ifndef ERRATA_STORE_BASE_FILE_H
#define ERRATA_STORE_BASE_FILE_H

#include "store/base/attributes.h"
#include "store/base/slice.h"

/* Writes all bytes, repeating after short or interrupted writes; returns false, with errno, on failure. */
MUST_CHECK bool file_write_all(int file, struct slice bytes);

#endif
