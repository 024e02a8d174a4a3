/*
 * details.c: see details.h. Field numbers are those of google/rpc/{status,error_details}.proto,
 * google/protobuf/{any,duration}.proto.
 */
#include "client/details.h"

#include "store/base/wire.h"

enum {
    STATUS_DETAILS = 3,
    ANY_TYPE_URL = 1,
    ANY_VALUE = 2,
    BAD_REQUEST_FIELD_VIOLATIONS = 1,
    FIELD_VIOLATION_FIELD = 1,
    FIELD_VIOLATION_DESCRIPTION = 2,
    RETRY_INFO_RETRY_DELAY = 1,
    ERROR_INFO_REASON = 1,
    DURATION_SECONDS = 1,
    DURATION_NANOS = 2
};

/* A delay of more than a day is ignored. */
#define RETRY_SECONDS_MAX 86400

/* The last values of two bytes fields of a message. */
static enum err read_pair(struct slice message, uint32_t first, struct slice *ret_first,
                          uint32_t second, struct slice *ret_second)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum err err = wire_next(&reader, &field);

    for (; err == OK; err = wire_next(&reader, &field)) {
        if (field.number == first && field.type == WIRE_BYTES) {
            *ret_first = field.bytes;
        } else if (field.number == second && field.type == WIRE_BYTES) {
            *ret_second = field.bytes;
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err read_bad_request(struct slice message, struct client_details *details)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    enum err err = wire_next(&reader, &field);

    for (; err == OK; err = wire_next(&reader, &field)) {
        struct client_violation violation = {{NULL, 0}, {NULL, 0}};

        if (field.number != BAD_REQUEST_FIELD_VIOLATIONS || field.type != WIRE_BYTES) {
            continue;
        }
        err = read_pair(field.bytes, FIELD_VIOLATION_FIELD, &violation.field,
                        FIELD_VIOLATION_DESCRIPTION, &violation.description);
        if (err != OK) {
            return err;
        }
        details->violation_total++;
        if (details->violation_count < CLIENT_VIOLATIONS_MAX) {
            details->violations[details->violation_count++] = violation;
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err read_retry_info(struct slice message, struct client_details *details)
{
    struct slice delay = {NULL, 0};
    struct slice unused = {NULL, 0};
    struct wire_reader reader;
    struct wire_field field;
    uint64_t seconds = 0;
    uint64_t nanos = 0;
    enum err err = read_pair(message, RETRY_INFO_RETRY_DELAY, &delay, 0, &unused);

    if (err != OK) {
        return err;
    }
    reader = wire_reader_of(delay);
    err = wire_next(&reader, &field);
    for (; err == OK; err = wire_next(&reader, &field)) {
        if (field.number == DURATION_SECONDS && field.type == WIRE_VARINT) {
            seconds = field.value;
        } else if (field.number == DURATION_NANOS && field.type == WIRE_VARINT) {
            nanos = field.value;
        }
    }
    if (err == ERR_NOT_FOUND && seconds <= RETRY_SECONDS_MAX && nanos < 1000000000) {
        details->retry_ms = (int64_t)(seconds * 1000 + (nanos + 999999) / 1000000);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err read_error_info(struct slice message, struct client_details *details)
{
    struct slice unused = {NULL, 0};

    return read_pair(message, ERROR_INFO_REASON, &details->reason, 0, &unused);
}

static enum err read_detail(struct slice any, struct client_details *details)
{
    struct slice type = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = read_pair(any, ANY_TYPE_URL, &type, ANY_VALUE, &value);

    if (err != OK) {
        return err;
    }
    if (slice_equal(type, SLICE("type.googleapis.com/google.rpc.BadRequest"))) {
        return read_bad_request(value, details);
    }
    if (slice_equal(type, SLICE("type.googleapis.com/google.rpc.RetryInfo"))) {
        return read_retry_info(value, details);
    }
    if (slice_equal(type, SLICE("type.googleapis.com/google.rpc.ErrorInfo"))) {
        return read_error_info(value, details);
    }
    return OK;
}

enum err client_details_read(struct slice status, struct client_details *ret_details)
{
    struct client_details details = {.retry_ms = -1};
    struct wire_reader reader = wire_reader_of(status);
    struct wire_field field;
    enum err err = wire_next(&reader, &field);

    for (; err == OK; err = wire_next(&reader, &field)) {
        if (field.number == STATUS_DETAILS && field.type == WIRE_BYTES) {
            err = read_detail(field.bytes, &details);
            if (err != OK) {
                return err;
            }
        }
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_details = details;
    return OK;
}
