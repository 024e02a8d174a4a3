/*
 * err.h: results. 0 is success; every other value is in errors.def with its status code, its retry
 * hint and its public text. Foreign codes (LMDB, nghttp2, libuv, OpenSSL) are translated in one
 * function each, at the boundary.
 */
#ifndef ERRATA_STORE_BASE_ERR_H
#define ERRATA_STORE_BASE_ERR_H

#include "store/base/attributes.h"

#include <stdint.h>

/* The retry hint of an error that a repeated request would cause again. */
#define RETRY_NEVER (-1)

/* Status codes of gRPC, the second column of errors.def. */
enum status_code {
#define STATUS(name, number) STATUS_##name = (number),
#include "store/base/status_codes.def"
#undef STATUS
};

enum err {
    OK = 0,
#define ERROR(name, code, retry_ms, text) ERR_##name,
#include "store/base/errors.def"
#undef ERROR
    ERR_COUNT
};

/* Returns the error's name without its prefix, such as "NOT_FOUND"; "OK" for 0. */
const char *err_name(enum err err);
/* Returns the text that a caller may see. */
const char *err_text(enum err err);
/* Returns the gRPC status code. */
enum status_code err_status(enum err err);
/* Returns after how many milliseconds a retry makes sense; 0: unknown; RETRY_NEVER. */
int32_t err_retry_ms(enum err err);

#endif
