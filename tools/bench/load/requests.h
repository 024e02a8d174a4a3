/*
 * requests.h: prepared bodies, for requests that a template cannot express. A file is a sequence of:
 * a group (4 bytes, big-endian), a length (4 bytes), and as many bytes, which are the body as it goes
 * over the wire, gRPC's prefix with it. A group is an organisation: connection k draws from group k
 * modulo their number.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_REQUESTS_H
#define ERRATA_TOOLS_BENCH_LOAD_REQUESTS_H

#include "store/base/fault.h"

#define REQUESTS_GROUPS_MAX 1000

struct requests_group {
    struct slice *bodies; /* owned; their bytes are those of the file */
    size_t count;
};

struct requests {
    uint8_t *bytes; /* the file; owned */
    struct requests_group groups[REQUESTS_GROUPS_MAX];
    size_t group_count;
};

/* Reads a file. Returns ERR_INVALID with a message, or ERR_MEMORY. */
MUST_CHECK enum err requests_read(const char *path, struct fault *fault, struct requests **ret);
/* Accepts NULL. */
void requests_free(struct requests *take_requests);

#endif
