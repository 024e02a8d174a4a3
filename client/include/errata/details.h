/*
 * errata/details.h: what an error says beyond its text, for a program to act on: which fields of the
 * request were wrong (google.rpc.BadRequest), when a repeat makes sense (google.rpc.RetryInfo), and
 * the reason as one word (google.rpc.ErrorInfo).
 */
#ifndef ERRATA_DETAILS_H
#define ERRATA_DETAILS_H

#include <errata/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct errata_violation {
    const char *field; /* path in the request, such as event.before_json; may be "" */
    const char *description; /* what is wrong, and what would be right */
};

struct errata_details {
    const struct errata_violation *violations;
    size_t violation_count; /* at most 100 are listed, */
    size_t violation_total; /* of so many */
    int64_t retry_ms; /* after which a repeat makes sense; -1: not said */
    const char *reason; /* such as "ENCRYPTED"; "" where there is none */
};

/* Reads a status's details; free them with errata_details_free. A status without details has none of
 * the above. ERRATA_INVALID for bytes that are no google.rpc.Status, ERRATA_MEMORY. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_details_read(const struct errata_status *status, struct errata_details **ret_details);
/* NULL does nothing. */
ERRATA_API void errata_details_free(struct errata_details *details);

#ifdef __cplusplus
}
#endif

#endif
