/*
 * grpc_status.h: the names of gRPC's status codes, as in its documentation.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_GRPC_STATUS_H
#define ERRATA_TOOLS_BENCH_LOAD_GRPC_STATUS_H

#include "store/base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

/* Number of codes that gRPC defines; a peer may send others. */
#define GRPC_STATUS_COUNT 17

/* "NOT_FOUND" for 5; NULL for an unknown number. */
const char *grpc_status_name(uint32_t code);
/* Finds the code of a name, or of its number; returns false if it is unknown. */
MUST_CHECK bool grpc_status_find(const char *text, uint32_t *ret_code);

#endif
