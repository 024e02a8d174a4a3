/*
 * retraction.c: see retraction.h.
 */
#include "server/domain/events/retraction.h"

#include <errata/v1/event.views.h>

struct key key_retracted(struct org_id org, uint64_t event_seq)
{
    return key_org_seq(org, event_seq);
}

enum err retraction_put(struct store_txn *txn, struct org_id org, uint64_t event_seq,
                        uint64_t retraction_seq)
{
    struct key key = key_retracted(org, event_seq);

    return log_put_id_row(txn, TABLE_RETRACTED, &key, retraction_seq);
}

enum err retraction_find(struct store_txn *txn, struct org_id org, uint64_t event_seq,
                         uint64_t *ret_seq)
{
    struct key key = key_retracted(org, event_seq);

    return log_get_id_row(txn, TABLE_RETRACTED, &key, ret_seq);
}

enum err retraction_of_event(const struct event *event, struct retraction *ret_retraction)
{
    struct event_retracted_view view;
    enum err err = ERR_CORRUPT;

    if (event->kind == EVENT_RETRACTED) {
        err = view_read_parts(&event_retracted_view_type, event->facts, event->content, &view);
    }
    if (err == OK) {
        *ret_retraction = (struct retraction){
            .seq = event->seq,
            .id = event->id,
            .retracted_at_us = event->created_at_us,
            .retracted_by = event->actor_user_id,
            .reason = view.reason,
            .event_id = view.retracted_event_id,
            .event_seq = view.retracted_seq,
        };
    }
    return err;
}

enum err retraction_read(struct store_txn *txn, struct org_id org, uint64_t event_seq,
                         struct retraction *ret_retraction)
{
    struct event event;
    uint64_t seq = 0;
    enum err err = retraction_find(txn, org, event_seq, &seq);

    ret_retraction->seq = 0;
    if (err != OK || seq == 0) {
        return err;
    }
    err = log_read(txn, org, seq, &event);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return retraction_of_event(&event, ret_retraction);
}
