/*
 * preview.c: what retention would remove; see retention.h. One walk over the log, from the lowest floor on, counts for all
 * classes.
 */
#include "server/domain/retention/retention.h"

/* Maximum memory for one event. */
#define EVENT_BYTES_MAX (4u << 20)

/* The part of the log that has events to count. */
struct extent {
    uint64_t floor_seq; /* the lowest floor; UINT64_MAX: all classes are kept for ever */
    int64_t until_us;
};

/* Adds what is to be read for a class. */
static void extend(struct extent *extent, const struct retention_preview *preview)
{
    if (preview->days == 0) {
        return;
    }
    if (preview->floor_seq < extent->floor_seq) {
        extent->floor_seq = preview->floor_seq;
    }
    if (preview->recorded_until_us > extent->until_us) {
        extent->until_us = preview->recorded_until_us;
    }
}

/* Sets time and floor of each class. Returns the part of the log that is to be read for them. */
static enum err read_classes(struct store_txn *txn, struct org_id org,
                             const struct content_retention_view *retention, int64_t from_us,
                             struct retention_preview previews[RETENTION_CLASSES],
                             struct extent *ret_extent)
{
    struct extent extent = {.floor_seq = UINT64_MAX, .until_us = INT64_MIN};
    enum err err = OK;

    for (int i = 0; i < RETENTION_CLASSES && err == OK; i++) {
        enum content_class class = (enum content_class)(CONTENT_CLASS_CORRECTIONS + i);
        uint32_t days = content_retention_days(retention, class);

        previews[i] = (struct retention_preview){
            .class = class,
            .days = days,
            .recorded_until_us = days == 0 ? INT64_MIN : from_us - (int64_t)days * RETENTION_DAY_US,
        };
        err = removal_floor(txn, org, class, &previews[i].floor_seq);
        if (err == OK) {
            extend(&extent, &previews[i]);
        }
    }
    *ret_extent = extent;
    return err;
}

/* Counts an event of its class. */
static void count(const struct event *event, struct retention_preview previews[RETENTION_CLASSES])
{
    for (int i = 0; i < RETENTION_CLASSES; i++) {
        struct retention_preview *preview = &previews[i];

        if (removal_class_of(event->kind) == preview->class && event->seq > preview->floor_seq &&
            event->content.size > 0 && event->recorded_at_us <= preview->recorded_until_us) {
            preview->event_count++;
            preview->content_bytes += event->content.size;
        }
    }
}

static enum err count_events(struct log_walk *walk, int64_t until_us,
                             struct retention_preview previews[RETENTION_CLASSES],
                             bool *ret_is_partial)
{
    size_t examined = 0;
    enum err err = OK;

    while (err == OK && !*ret_is_partial) {
        struct event event;

        err = log_walk_next(walk, &event);
        if (err == OK && event.recorded_at_us > until_us) {
            break;
        }
        *ret_is_partial = err == OK && examined == RETENTION_PREVIEW_MAX;
        if (err == OK && !*ret_is_partial) {
            count(&event, previews);
            examined++;
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err retention_preview(struct store_txn *txn, struct org_id org,
                           const struct content_retention_view *retention, int64_t from_us,
                           struct retention_preview ret_previews[RETENTION_CLASSES],
                           bool *ret_is_partial)
{
    struct log_walk walk = {.org = org};
    struct extent extent;
    struct arena arena;
    enum err err = read_classes(txn, org, retention, from_us, ret_previews, &extent);

    *ret_is_partial = false;
    if (err != OK || extent.floor_seq == UINT64_MAX) {
        return err;
    }
    arena_init(&arena, EVENT_BYTES_MAX);
    err = log_walk_init(&walk, txn, org, extent.floor_seq + 1, STORE_ASCENDING);
    walk.memory = &arena;
    if (err == OK) {
        err = count_events(&walk, extent.until_us, ret_previews, ret_is_partial);
    }
    log_walk_deinit(&walk);
    arena_deinit(&arena);
    return err;
}
