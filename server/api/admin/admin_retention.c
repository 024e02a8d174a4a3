/*
 * admin_retention.c: AdminService's PreviewRetention, and times of retention in requests.
 */
#include "server/api/admin/admin_retention.h"

#include "server/domain/retention/retention.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"

#include <errata/v1/admin_service.fields.h>
#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/admin_service.views.h>

/* Checks for how many days content is kept. */
static void check_days(struct ctx *ctx, const char *path, const char *name, uint32_t days)
{
    if (days != 0 && days < RETENTION_DAYS_MIN) {
        fault_add(
            ctx->fault, arena_printf(ctx->arena, "%s.%s", path, name),
            "%u day; expected at least %d days, so that a repeated write finds its response, or "
            "0 forever",
            days, RETENTION_DAYS_MIN);
    }
}

void admin_retention_read(struct ctx *ctx, const char *path,
                          const Errata__V1__ContentRetention *given,
                          struct content_retention_view *ret_retention)
{
    *ret_retention = (struct content_retention_view){
        .corrections_days = given->corrections_days,
        .has_corrections_days = given->_corrections_days_case != 0,
        .verdicts_days = given->verdicts_days,
        .has_verdicts_days = given->_verdicts_days_case != 0,
        .reviews_days = given->reviews_days,
        .has_reviews_days = given->_reviews_days_case != 0,
    };
    check_days(ctx, path, "corrections_days", given->corrections_days);
    check_days(ctx, path, "verdicts_days", given->verdicts_days);
    check_days(ctx, path, "reviews_days", given->reviews_days);
}

/* Reads the times of the settings, and those of the request in their place. */
static enum err read_times(struct admin_service_preview_retention_call *call, struct org_id org,
                           struct content_retention_view *ret_retention)
{
    const Errata__V1__ContentRetention *given = call->request->content_retention;
    struct content_retention_view change;
    enum err err = retention_settings_read(call->txn, org, ret_retention);

    if (err == OK && given != NULL) {
        admin_retention_read(call->ctx, "content_retention", given, &change);
        content_retention_change(ret_retention, &change);
        err = fault_result(call->ctx->fault);
    }
    return err;
}

/* Appends the preview of a class. */
static void put_preview(const struct retention_preview *preview, struct buffer *body)
{
    const struct retention_preview_view view = {
        .content_class = preview->class,
        .days = preview->days,
        .recorded_until_us = preview->days == 0 ? 0 : preview->recorded_until_us,
        .has_recorded_until = preview->days != 0,
        .floor_seq = preview->floor_seq,
        .event_count = preview->event_count,
        .content_bytes = preview->content_bytes,
    };

    retention_preview_view_put(&view, PREVIEW_RETENTION_RESPONSE_PREVIEWS_FIELD, body);
}

enum err admin_service_preview_retention_read(struct admin_service_preview_retention_call *call)
{
    struct retention_preview previews[RETENTION_CLASSES];
    struct content_retention_view retention;
    struct org_id org;
    /* Not the newest time of all logs, by which the sweeper counts: that shows when others write. */
    int64_t now_us = clock_wall_us(call->ctx->clock);
    bool is_partial = false;
    enum err err = caller_resolve_org(call->service, call->txn, call->request->org_id, &org);

    if (err == OK) {
        err = read_times(call, org, &retention);
    }
    if (err == OK) {
        err = retention_preview(call->txn, org, &retention, now_us, previews, &is_partial);
    }
    for (size_t i = 0; i < RETENTION_CLASSES && err == OK; i++) {
        put_preview(&previews[i], call->body);
    }
    if (err == OK && is_partial) {
        wire_put_varint(call->body, PREVIEW_RETENTION_RESPONSE_PARTIAL_FIELD, 1);
    }
    return err;
}
