/*
 * details.h: the machine-readable details of a failed call: the invalid fields of
 * google.rpc.BadRequest, the delay of google.rpc.RetryInfo and the reason of google.rpc.ErrorInfo.
 * Other details are ignored.
 */
#ifndef ERRATA_CLIENT_DETAILS_H
#define ERRATA_CLIENT_DETAILS_H

#include "store/base/err.h"
#include "store/base/slice.h"

/* Maximum listed invalid fields; further ones are only counted. */
#define CLIENT_VIOLATIONS_MAX 100

struct client_violation {
    struct slice
        field; /* path of the field in the request, such as events[3].before_json; may be empty */
    struct slice description;
};

struct client_details {
    struct client_violation violations[CLIENT_VIOLATIONS_MAX];
    size_t violation_count; /* listed */
    size_t violation_total; /* seen */
    int64_t retry_ms; /* recommended wait before a retry; -1: not specified */
    struct slice reason; /* one word, such as ENCRYPTED; may be empty */
};

/* Reads google.rpc.Status from its wire bytes, from which the texts are borrowed. ERR_MALFORMED for
 * bytes that are not a google.rpc.Status; the empty slice has no details. */
MUST_CHECK enum err client_details_read(struct slice status, struct client_details *ret_details);

#endif
