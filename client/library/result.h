/*
 * result.h: converts results of internal functions to those of the public header.
 */
#ifndef ERRATA_CLIENT_LIBRARY_RESULT_H
#define ERRATA_CLIENT_LIBRARY_RESULT_H

#include "store/base/err.h"

#include <errata/client.h>

enum errata_result library_result(enum err err);
/* Converts a status code of the wire; UNKNOWN for numbers that gRPC does not know. */
enum errata_code library_code(uint32_t code);

#endif
