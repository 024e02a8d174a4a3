/*
 * result.h: what the client's own functions say, in the public header's words.
 */
#ifndef ERRATA_CLIENT_LIBRARY_RESULT_H
#define ERRATA_CLIENT_LIBRARY_RESULT_H

#include "store/base/err.h"

#include <errata/client.h>

enum errata_result library_result(enum err err);
/* A status code of the wire; UNKNOWN for numbers that gRPC does not know. */
enum errata_code library_code(uint32_t code);

#endif
