/*
 * errata/details.h: the machine-readable part of an error: the invalid fields of the request
 * (google.rpc.BadRequest), the delay before a repeat (google.rpc.RetryInfo), and the reason as one word
 * (google.rpc.ErrorInfo).
 */
#ifndef ERRATA_DETAILS_H
#define ERRATA_DETAILS_H

#include <errata/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An invalid field. */
struct errata_violation {
    const char *field; /* path of the field in the request, such as event.before_json; may be "" */
    const char *description; /* description of the error and of the expected value */
};

struct errata_details {
    const struct errata_violation *violations;
    size_t violation_count; /* number of listed violations, at most 100 */
    size_t violation_total; /* number of violations in the request */
    int64_t retry_ms; /* the delay before a repeat, in milliseconds; -1: not specified */
    const char *reason; /* reason such as "ENCRYPTED"; "": none */
};

/* Reads the details of a status. A status without details has no violations, no delay and no reason. The
 * caller frees the result by errata_details_free; it does not depend on the status. Returns
 * ERRATA_INVALID if the bytes are not a google.rpc.Status, ERRATA_MEMORY. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_details_read(const struct errata_status *status, struct errata_details **ret_details);
/* Frees details. NULL does nothing. */
ERRATA_API void errata_details_free(struct errata_details *details);

#ifdef __cplusplus
}
#endif

#endif
