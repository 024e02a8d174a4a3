/*
 * file.h: a whole file in memory.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_FILE_H
#define ERRATA_TOOLS_BENCH_LOAD_FILE_H

#include "store/base/fault.h"

/* Maximum size of a file: ready-made bodies of a long run of documents. */
#define FILE_BYTES_MAX ((size_t)4 << 30)

/* Reads a file into memory that the caller frees, followed by a NUL. ERR_INVALID with a message, ERR_MEMORY. */
MUST_CHECK enum err file_read(const char *path, struct fault *fault, uint8_t **ret_bytes,
                              size_t *ret_size);

#endif
