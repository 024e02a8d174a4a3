/*
 * preview.c: what retention would remove; see retention.h. One walk over the log, from the lowest floor on, counts for all
 * classes.
 */
#include "server/domain/retention/retention.h"

/* Sets what the settings say of each class. Returns from where on the log is to be read, and until when. */
static enum err read_classes(struct store_txn *txn, struct org_id org,
                             const struct content_retention_view *retention, int64_t from_us,
                             struct retention_preview previews[RETENTION_CLASSES])
{
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
    }
    return err;
}

/* Counts an event of its class. */
static void count(const struct event *event, struct retention_preview previews[RETENTION_CLASSES])
{
    for (int i = 0; i < RETENTION_CLASSES; i++) {
        struct retention_preview *preview = &previews[i];

        if (removal_class_of(event->kind) == preview->class && event->content.size > 0 &&
            event->recorded_at_us <= preview->recorded_until_us) {
            preview->event_count++;
            preview->content_bytes += event->content.size;
        }
    }
}

enum err retention_preview(struct store_txn *txn, struct org_id org,
                           const struct content_retention_view *retention, int64_t from_us,
                           struct retention_preview ret_previews[RETENTION_CLASSES],
                           bool *ret_is_partial)
{
    struct log_walk walk = {.org = org};
    int64_t until_us = INT64_MIN;
    uint64_t floor_seq = UINT64_MAX;
    size_t examined = 0;
    enum err err = read_classes(txn, org, retention, from_us, ret_previews);

    *ret_is_partial = false;
    for (int i = 0; i < RETENTION_CLASSES && err == OK; i++) {
        if (ret_previews[i].days > 0) {
            floor_seq =
                ret_previews[i].floor_seq < floor_seq ? ret_previews[i].floor_seq : floor_seq;
            until_us = ret_previews[i].recorded_until_us > until_us
                           ? ret_previews[i].recorded_until_us
                           : until_us;
        }
    }
    if (err != OK || floor_seq == UINT64_MAX) {
        return err;
    }
    err = log_walk_init(&walk, txn, org, floor_seq + 1, STORE_ASCENDING);
    while (err == OK && !*ret_is_partial) {
        struct event event;

        err = log_walk_next(&walk, &event);
        if (err == OK && event.recorded_at_us > until_us) {
            break;
        }
        *ret_is_partial = err == OK && examined == RETENTION_PREVIEW_MAX;
        if (err == OK && !*ret_is_partial) {
            count(&event, ret_previews);
            examined++;
        }
    }
    log_walk_deinit(&walk);
    return err == ERR_NOT_FOUND ? OK : err;
}
