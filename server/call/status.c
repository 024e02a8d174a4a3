/*
 * status.c: converts an error and its fault to the status of a call.
 */
#include "server/call/status.h"

#include "server/call/status_details.h"
#include "store/base/text.h"

#include <google/rpc/error_details.views.h>

/* Bytes of the details besides the invalid fields: an Any, its type's URL, and both headers. */
#define BAD_REQUEST_FRAME_BYTES 80
/* `... (more than 100 fields in all)`, or a smaller number. */
#define MORE_FIELDS_BYTES 48

/* Lists the invalid fields that fit into the details; the message has the number of all. */
static void put_bad_request(struct arena *arena, struct buffer *status, const struct fault *fault)
{
    struct buffer request;

    buffer_init(&request, arena, 512);
    for (size_t i = 0; i < fault->count; i++) {
        const struct bad_request_field_violation_view violation = {
            .field = fault->entries[i].field,
            .description = fault->entries[i].description,
        };

        if (status->size + request.size + bad_request_field_violation_view_bytes(&violation) +
                BAD_REQUEST_FRAME_BYTES >
            CALL_STATUS_DETAILS_BYTES_MAX) {
            break;
        }
        bad_request_field_violation_view_put(&violation, BAD_REQUEST_FIELD_VIOLATIONS_FIELD,
                                             &request);
    }
    if (buffer_ok(&request)) {
        status_details_add(SLICE("type.googleapis.com/google.rpc.BadRequest"),
                           buffer_slice(&request), status);
    }
}

/* Adds the limit that the call would exceed. */
static void put_quota_failure(struct arena *arena, struct slice message,
                              const struct fault_quota *quota, struct buffer *status)
{
    const struct quota_failure_violation_view violation = {
        .subject = quota->subject,
        .description = message,
        .quota_metric = slice_text(quota->name),
        .quota_value = (int64_t)(quota->limit < INT64_MAX ? quota->limit : INT64_MAX),
    };
    struct buffer failure;

    buffer_init(&failure, arena, 256);
    quota_failure_violation_view_put(&violation, QUOTA_FAILURE_VIOLATIONS_FIELD, &failure);
    if (buffer_ok(&failure)) {
        status_details_add(SLICE("type.googleapis.com/google.rpc.QuotaFailure"),
                           buffer_slice(&failure), status);
    }
}

/* Returns the message: the fault's own, the list of invalid fields, or the error's default text. */
static struct slice message_of(struct arena *arena, enum err result, const struct fault *fault)
{
    struct buffer message;
    size_t written = 0;

    if (fault == NULL || (fault->message.size == 0 && fault->count == 0)) {
        return slice_text(err_text(result));
    }
    if (fault->message.size != 0) {
        return text_first_bytes(fault->message, CALL_STATUS_MESSAGE_BYTES_MAX);
    }
    buffer_init(&message, arena, 256);
    for (; written < fault->count && message.size < CALL_STATUS_MESSAGE_BYTES_MAX; written++) {
        const struct fault_entry *entry = &fault->entries[written];

        buffer_printf(&message, "%s%.*s%s%.*s", written == 0 ? "" : ". ", (int)entry->field.size,
                      (const char *)entry->field.data, entry->field.size != 0 ? ": " : "",
                      (int)entry->description.size, (const char *)entry->description.data);
    }
    if (!buffer_ok(&message)) {
        return slice_text(err_text(result));
    }
    if (message.size > CALL_STATUS_MESSAGE_BYTES_MAX || written < fault->total_count) {
        struct slice cut = text_first_bytes(buffer_slice(&message),
                                            CALL_STATUS_MESSAGE_BYTES_MAX - MORE_FIELDS_BYTES);
        /* Checks stop once there are more invalid fields than are listed. */
        bool is_more = fault->total_count > FAULT_ENTRIES_MAX;
        struct slice whole = arena_printf(arena, "%.*s... (%s%zu fields in all)", (int)cut.size,
                                          (const char *)cut.data, is_more ? "more than " : "",
                                          is_more ? (size_t)FAULT_ENTRIES_MAX : fault->total_count);

        return whole.size != 0 ? whole : cut;
    }
    return buffer_slice(&message);
}

/* Returns the fault's own code in upper case, as ErrorInfo requires; empty if it has none. */
static struct slice reason_of(struct arena *arena, const struct fault *fault)
{
    struct buffer reason;

    if (fault == NULL || fault->reason == NULL) {
        return slice_of(NULL, 0);
    }
    buffer_init(&reason, arena, strlen(fault->reason));
    for (const char *at = fault->reason; *at != '\0'; at++) {
        buffer_append_byte(&reason, (uint8_t)(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at));
    }
    return buffer_ok(&reason) ? buffer_slice(&reason) : slice_of(NULL, 0);
}

struct status status_of(struct arena *arena, enum err result, const struct fault *fault)
{
    struct status status = {.code = err_status(result)};
    bool is_quota = result == ERR_QUOTA && fault != NULL && fault->quota.subject.size != 0;
    struct buffer details;

    if (result == OK) {
        return status;
    }
    status.retry_ms = is_quota ? (int32_t)fault->quota.retry_ms : err_retry_ms(result);
    status.message = message_of(arena, result, fault);
    status_details_begin(arena, result, status.retry_ms, reason_of(arena, fault), status.message,
                         &details);
    if (result == ERR_INVALID && fault != NULL && fault->count != 0) {
        put_bad_request(arena, &details, fault);
    }
    if (is_quota) {
        put_quota_failure(arena, status.message, &fault->quota, &details);
    }
    if (buffer_ok(&details)) {
        status.details = buffer_slice(&details);
    }
    return status;
}
