/*
 * status.c: an error and its fault as a gRPC status.
 */
#include "server/services/status.h"

#include "store/base/text.h"
#include "store/base/wire.h"

/* Field numbers of google.protobuf.Any, google.protobuf.Duration and google/rpc/{status,
 * error_details}.proto. */
enum {
    ANY_TYPE_URL = 1,
    ANY_VALUE = 2,
    DURATION_SECONDS = 1,
    DURATION_NANOS = 2,
    STATUS_CODE = 1,
    STATUS_MESSAGE = 2,
    STATUS_DETAILS = 3,
    BAD_REQUEST_FIELD_VIOLATIONS = 1,
    FIELD_VIOLATION_FIELD = 1,
    FIELD_VIOLATION_DESCRIPTION = 2,
    RETRY_INFO_RETRY_DELAY = 1,
    ERROR_INFO_REASON = 1,
    ERROR_INFO_DOMAIN = 2
};

/* What stands around the bad fields: an Any, its type's URL, and the heads of both. */
#define BAD_REQUEST_FRAME_BYTES 80
/* `... (N fields in all)` with the digits of any N. */
#define MORE_FIELDS_BYTES 48

/* Appends one detail: an Any of the type with the message's bytes. */
static void put_detail(struct arena *arena, struct buffer *status, struct slice type_url,
                       const struct buffer *message)
{
    struct buffer any;

    if (!buffer_ok(message)) {
        return;
    }
    buffer_init(&any, arena, type_url.size + message->size + 16);
    wire_put_bytes(&any, ANY_TYPE_URL, type_url);
    wire_put_bytes(&any, ANY_VALUE, buffer_slice(message));
    if (buffer_ok(&any)) {
        wire_put_bytes(status, STATUS_DETAILS, buffer_slice(&any));
    }
}

static void put_error_info(struct arena *arena, struct buffer *status, enum err result)
{
    struct buffer info;

    buffer_init(&info, arena, 64);
    wire_put_bytes(&info, ERROR_INFO_REASON, slice_text(err_name(result)));
    wire_put_bytes(&info, ERROR_INFO_DOMAIN, SLICE("errata"));
    put_detail(arena, status, SLICE("type.googleapis.com/google.rpc.ErrorInfo"), &info);
}

static void put_retry_info(struct arena *arena, struct buffer *status, uint32_t retry_ms)
{
    struct buffer delay;
    struct buffer info;

    buffer_init(&delay, arena, 16);
    wire_put_varint(&delay, DURATION_SECONDS, retry_ms / 1000);
    wire_put_varint(&delay, DURATION_NANOS, (uint64_t)(retry_ms % 1000) * 1000000);
    if (!buffer_ok(&delay)) {
        return;
    }
    buffer_init(&info, arena, 24);
    wire_put_bytes(&info, RETRY_INFO_RETRY_DELAY, buffer_slice(&delay));
    put_detail(arena, status, SLICE("type.googleapis.com/google.rpc.RetryInfo"), &info);
}

/* All bad fields that the details have room for; the message counts them all. */
static void put_bad_request(struct arena *arena, struct buffer *status, const struct fault *fault)
{
    struct buffer request;

    buffer_init(&request, arena, 512);
    for (size_t i = 0; i < fault->count; i++) {
        const struct fault_entry *entry = &fault->entries[i];
        struct buffer violation;

        buffer_init(&violation, arena, entry->field.size + entry->description.size + 16);
        wire_put_bytes(&violation, FIELD_VIOLATION_FIELD, entry->field);
        wire_put_bytes(&violation, FIELD_VIOLATION_DESCRIPTION, entry->description);
        if (!buffer_ok(&violation) ||
            status->size + request.size + violation.size + BAD_REQUEST_FRAME_BYTES >
                CALL_STATUS_DETAILS_BYTES_MAX) {
            break;
        }
        wire_put_bytes(&request, BAD_REQUEST_FIELD_VIOLATIONS, buffer_slice(&violation));
    }
    put_detail(arena, status, SLICE("type.googleapis.com/google.rpc.BadRequest"), &request);
}

/* The sentence for people: the fault's own, the bad fields, or the error's text. */
static struct slice message_of(struct arena *arena, enum err result, const struct fault *fault)
{
    struct buffer message;
    size_t told = 0;

    if (fault == NULL || (fault->message.size == 0 && fault->count == 0)) {
        return slice_text(err_text(result));
    }
    if (fault->message.size != 0) {
        return text_first_bytes(fault->message, CALL_STATUS_MESSAGE_BYTES_MAX);
    }
    buffer_init(&message, arena, 256);
    buffer_append(&message, slice_text(err_text(result)));
    for (; told < fault->count && message.size < CALL_STATUS_MESSAGE_BYTES_MAX; told++) {
        const struct fault_entry *entry = &fault->entries[told];

        buffer_printf(&message, "%s%.*s%s%.*s", told == 0 ? ": " : "; ", (int)entry->field.size,
                      (const char *)entry->field.data, entry->field.size != 0 ? " " : "",
                      (int)entry->description.size, (const char *)entry->description.data);
    }
    if (!buffer_ok(&message)) {
        return slice_text(err_text(result));
    }
    if (message.size > CALL_STATUS_MESSAGE_BYTES_MAX || told < fault->total_count) {
        struct slice cut = text_first_bytes(buffer_slice(&message),
                                            CALL_STATUS_MESSAGE_BYTES_MAX - MORE_FIELDS_BYTES);
        struct slice whole = arena_printf(arena, "%.*s... (%zu fields in all)", (int)cut.size,
                                          (const char *)cut.data, fault->total_count);

        return whole.size != 0 ? whole : cut;
    }
    return buffer_slice(&message);
}

struct status status_of(struct arena *arena, enum err result, const struct fault *fault)
{
    struct status status = {.code = (enum grpc_code)err_grpc_code(result)};
    struct buffer details;

    if (result == OK) {
        return status;
    }
    status.message = message_of(arena, result, fault);
    buffer_init(&details, arena, 512);
    wire_put_varint(&details, STATUS_CODE, (uint64_t)status.code);
    wire_put_bytes(&details, STATUS_MESSAGE, status.message);
    put_error_info(arena, &details, result);
    if (err_retry_ms(result) != 0) {
        put_retry_info(arena, &details, err_retry_ms(result));
    }
    if (result == ERR_INVALID && fault != NULL && fault->count != 0) {
        put_bad_request(arena, &details, fault);
    }
    if (buffer_ok(&details)) {
        status.details = buffer_slice(&details);
    }
    return status;
}
