/*
 * status_details.c: writes google.rpc.Status by field numbers, so that no user of it needs the
 * generated messages.
 */
#include "server/call/status_details.h"

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
    RETRY_INFO_RETRY_DELAY = 1,
    ERROR_INFO_REASON = 1,
    ERROR_INFO_DOMAIN = 2
};

void status_details_add(struct arena *arena, struct slice type_url, const struct buffer *message,
                        struct buffer *details)
{
    struct buffer any;

    if (!buffer_ok(message)) {
        return;
    }
    buffer_init(&any, arena, type_url.size + message->size + 16);
    wire_put_bytes(&any, ANY_TYPE_URL, type_url);
    wire_put_bytes(&any, ANY_VALUE, buffer_slice(message));
    if (buffer_ok(&any)) {
        wire_put_bytes(details, STATUS_DETAILS, buffer_slice(&any));
    }
}

static void add_error_info(struct arena *arena, struct slice reason, struct buffer *details)
{
    struct buffer info;

    buffer_init(&info, arena, 64);
    wire_put_bytes(&info, ERROR_INFO_REASON, reason);
    wire_put_bytes(&info, ERROR_INFO_DOMAIN, SLICE("errata"));
    status_details_add(arena, SLICE("type.googleapis.com/google.rpc.ErrorInfo"), &info, details);
}

static void add_retry_info(struct arena *arena, uint32_t retry_ms, struct buffer *details)
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
    status_details_add(arena, SLICE("type.googleapis.com/google.rpc.RetryInfo"), &info, details);
}

void status_details_begin(struct arena *arena, enum err err, struct slice reason,
                          struct slice message, struct buffer *details)
{
    buffer_init(details, arena, 256 + message.size);
    wire_put_varint(details, STATUS_CODE, (uint64_t)err_status(err));
    wire_put_bytes(details, STATUS_MESSAGE, message);
    add_error_info(arena, reason.size != 0 ? reason : slice_text(err_name(err)), details);
    if (err_retry_ms(err) > 0) {
        add_retry_info(arena, (uint32_t)err_retry_ms(err), details);
    }
}
