/*
 * result.c: see result.h; and the public texts of results, codes and the version.
 */
#include "client/library/result.h"

#include "client/header.h"

enum errata_result library_result(enum err err)
{
    switch (err) {
    case OK:
        return ERRATA_OK;
    case ERR_TOO_LARGE:
        return ERRATA_TOO_LARGE;
    case ERR_BUSY:
    case ERR_QUOTA:
        return ERRATA_BUSY;
    case ERR_MEMORY:
    case ERR_DISK_FULL:
    case ERR_IO:
        return ERRATA_MEMORY;
    case ERR_CANCELLED:
    case ERR_UNAVAILABLE:
    case ERR_DRAINING:
    case ERR_DEADLINE:
    case ERR_DEADLINE_UNKNOWN:
        return ERRATA_ENDED;
    case ERR_INVALID:
    case ERR_MALFORMED:
    case ERR_NOT_FOUND:
    case ERR_EXISTS:
    case ERR_DENIED:
    case ERR_ORGANIZATION_SUSPENDED:
    case ERR_ORGANIZATION_DELETED:
    case ERR_ORGANIZATION_IMPORTING:
    case ERR_PRECONDITION:
    case ERR_UNIMPLEMENTED:
    case ERR_INTERNAL:
    case ERR_CORRUPT:
    case ERR_UNAUTHENTICATED:
    case ERR_COUNT:
        break;
    }
    return ERRATA_INVALID;
}

enum errata_code library_code(uint32_t code)
{
    return code <= ERRATA_CODE_UNAUTHENTICATED ? (enum errata_code)code : ERRATA_CODE_UNKNOWN;
}

const char *errata_result_text(enum errata_result result)
{
    static const char *const texts[] = {
        [ERRATA_OK] = "done",
        [ERRATA_INVALID] = "an argument is invalid",
        [ERRATA_TOO_LARGE] = "a message is larger than the channel's limit",
        [ERRATA_BUSY] = "too many calls are in progress; try again later",
        [ERRATA_MEMORY] = "no memory or no file descriptor is left",
        [ERRATA_ENDED] = "the call has ended, or the channel was closed"};
    size_t index = (size_t)result;

    return index < sizeof(texts) / sizeof(texts[0]) ? texts[index] : "not a result of this library";
}

const char *errata_code_name(enum errata_code code)
{
    return client_code_name((uint32_t)code);
}

const char *errata_version(void)
{
    return ERRATA_VERSION;
}
