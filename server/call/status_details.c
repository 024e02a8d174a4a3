/*
 * status_details.c: see status_details.h.
 */
#include "server/call/status_details.h"

#include <google/protobuf/any.views.h>
#include <google/protobuf/duration.views.h>
#include <google/rpc/error_details.views.h>
#include <google/rpc/status.views.h>

void status_details_add(struct slice type_url, struct slice message, struct buffer *details)
{
    const struct any_view any = {.type_url = type_url, .value = message};

    any_view_put(&any, STATUS_DETAILS_FIELD, details);
}

static void add_error_info(struct arena *arena, struct slice reason, struct buffer *details)
{
    const struct error_info_view info = {.reason = reason, .domain = SLICE("errata")};
    struct slice message = {NULL, 0};

    if (view_encode(&error_info_view_type, &info, arena, &message)) {
        status_details_add(SLICE("type.googleapis.com/google.rpc.ErrorInfo"), message, details);
    }
}

static void add_retry_info(struct arena *arena, uint32_t retry_ms, struct buffer *details)
{
    const struct duration_view delay = {
        .seconds = retry_ms / 1000,
        .nanos = (int32_t)(retry_ms % 1000) * 1000000,
    };
    struct retry_info_view info = {.has_retry_delay = true};
    struct slice message = {NULL, 0};

    if (view_encode(&duration_view_type, &delay, arena, &info.retry_delay) &&
        view_encode(&retry_info_view_type, &info, arena, &message)) {
        status_details_add(SLICE("type.googleapis.com/google.rpc.RetryInfo"), message, details);
    }
}

void status_details_begin(struct arena *arena, enum err err, int32_t retry_ms, struct slice reason,
                          struct slice message, struct buffer *details)
{
    const struct status_view status = {.code = (int32_t)err_status(err), .message = message};

    buffer_init(details, arena, 256 + message.size);
    status_view_write(&status, details);
    add_error_info(arena, reason.size != 0 ? reason : slice_text(err_name(err)), details);
    if (retry_ms > 0) {
        add_retry_info(arena, (uint32_t)retry_ms, details);
    }
}
