/*
 * verdict.c: see verdict.h.
 */
#include "client/captures/verdict.h"

#include "client/details.h"

/* Returns the retry delay, or -1 if the server gave none. */
static int64_t read_retry_ms(const struct errata_status *status)
{
    struct client_details details = {.retry_ms = -1};

    if (client_details_read(slice_of(status->details.data, status->details.size), &details) != OK) {
        return -1; /* damaged details are ignored */
    }
    return details.retry_ms;
}

/* Judges a code that came without a retry delay. */
static enum captures_verdict judge_code(enum errata_code code)
{
    switch (code) {
    case ERRATA_CODE_OK:
        return CAPTURES_VERDICT_STORED;
    case ERRATA_CODE_UNAVAILABLE:
    case ERRATA_CODE_DEADLINE_EXCEEDED:
    case ERRATA_CODE_UNAUTHENTICATED: /* a token is replaced more easily than a correction */
        return CAPTURES_VERDICT_HOLD;
    case ERRATA_CODE_CANCELLED:
    case ERRATA_CODE_UNKNOWN:
    case ERRATA_CODE_ABORTED:
    case ERRATA_CODE_INTERNAL:
    case ERRATA_CODE_DATA_LOSS:
        return CAPTURES_VERDICT_FAULT;
    case ERRATA_CODE_INVALID_ARGUMENT:
    case ERRATA_CODE_NOT_FOUND:
    case ERRATA_CODE_ALREADY_EXISTS:
    case ERRATA_CODE_PERMISSION_DENIED:
    case ERRATA_CODE_RESOURCE_EXHAUSTED: /* a message too large, since no RetryInfo is with it */
    case ERRATA_CODE_FAILED_PRECONDITION:
    case ERRATA_CODE_OUT_OF_RANGE:
    case ERRATA_CODE_UNIMPLEMENTED:
        break;
    }
    return CAPTURES_VERDICT_REFUSED;
}

enum captures_verdict captures_judge(const struct errata_status *status, int64_t *ret_retry_ms)
{
    int64_t retry_ms = status->code == ERRATA_CODE_OK ? -1 : read_retry_ms(status);

    *ret_retry_ms = retry_ms;
    if (retry_ms >= 0 || (status->code == ERRATA_CODE_CANCELLED && !status->from_server)) {
        return CAPTURES_VERDICT_HOLD;
    }
    return judge_code(status->code);
}
