/*
 * apply.c: applies the events of turns: rows of turns, their lists by time, session and status, detections, and
 * judgements of detections.
 */
#include "server/domain/turns/citations.h"
#include "store/base/assert.h"

#include <event_apply.h>

static enum err put_row(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                        const struct turn_hash *hash, const struct turn_record *record)
{
    struct key key = key_turn(event->org, hash);
    struct slice value = {NULL, 0};
    enum err err = record_encode_turn(ctx->arena, record, &value);

    return err != OK ? err : store_put(txn, TABLE_TURN, key_slice(&key), value);
}

static enum err put_status(struct store_txn *txn, struct org_id org, const struct turn_hash *hash,
                           const struct turn_record *record)
{
    struct key key = key_turn_status(org, record->status, record->created_at_us, record->seq);

    return store_put(txn, TABLE_TURN_STATUS, key_slice(&key), turn_hash_slice(hash));
}

/* Changes the status of a turn, its list, and its outcomes of exposures. */
static enum err change(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                       const struct turn_hash *hash, struct turn_record *record, uint32_t status)
{
    struct key key =
        key_turn_status(event->org, record->status, record->created_at_us, record->seq);
    int bad = (status == TURN_STATUS_REJECTED) - (record->status == TURN_STATUS_REJECTED);
    enum err err = store_del(txn, TABLE_TURN_STATUS, key_slice(&key));

    record->status = status;
    if (err == OK && bad != 0) {
        err = turn_citations_turn_bad(ctx, txn, event->org, record, bad);
    }
    if (err == OK) {
        err = put_status(txn, event->org, hash, record);
    }
    if (err == OK) {
        err = put_row(ctx, txn, event, hash, record);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err apply_recorded(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct turn_record record = {
        .seq = event->seq,
        .created_at_us = event->created_at_us,
        .status = TURN_STATUS_NEUTRAL,
    };
    struct turn_hash hash;
    struct turn_view view;
    struct key key;
    enum err err = turn_view_read(event->facts, &view);

    if (err != OK) {
        return err;
    }
    hash = turn_hash_of(view.session_id, view.turn_id);
    err = put_row(ctx, txn, event, &hash, &record);
    if (err == OK) {
        err = put_status(txn, event->org, &hash, &record);
    }
    if (err == OK) {
        key = key_turn_time(event->org, event->created_at_us, event->seq);
        err = store_put(txn, TABLE_TURN_TIME, key_slice(&key), turn_hash_slice(&hash));
    }
    if (err == OK) {
        key = key_turn_session(event->org, &hash, event->created_at_us, event->seq);
        err = store_put(txn, TABLE_TURN_SESSION, key_slice(&key), turn_hash_slice(&hash));
    }
    return err != OK ? err
                     : turn_citations_count(ctx, txn, event->org, &hash, event->seq,
                                            view.exposure_seqs.run);
}

static enum err apply_detected(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct feedback_detected_view view;
    struct turn_record record;
    struct turn_hash hash;
    struct key key;
    enum err err = feedback_detected_view_read(event->facts, &view);

    if (err != OK) {
        return err;
    }
    hash = turn_hash_of(view.session_id, view.turn_id);
    key = key_turn(event->org, &hash);
    err = log_put_id_row(txn, TABLE_TURN_DETECTION, &key, event->seq);
    if (err != OK || !view.marked) {
        return err;
    }
    hash = turn_hash_of(view.session_id, view.previous_turn_id);
    err = turn_read(txn, event->org, &hash, &record);
    if (err == OK) {
        err = turn_citations_count(ctx, txn, event->org, &hash, record.seq, view.exposure_seqs.run);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    record.marked_seq = event->seq;
    return change(ctx, txn, event, &hash, &record, (uint32_t)view.feedback_type);
}

static enum err apply_judged(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct turn_feedback_set_view view;
    struct turn_record record;
    struct turn_hash hash;
    enum err err = turn_feedback_set_view_read(event->facts, &view);

    if (err != OK) {
        return err;
    }
    hash = turn_hash_of(view.session_id, view.turn_id);
    err = turn_read(txn, event->org, &hash, &record);
    if (err == OK && view.detection_seq != 0) {
        struct key key = key_turn_judged(event->org, view.detection_seq);
        uint8_t status = (uint8_t)view.status;

        err = store_put(txn, TABLE_TURN_JUDGED, key_slice(&key), slice_of(&status, 1));
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    record.set_seq = event->seq;
    return change(ctx, txn, event, &hash, &record, (uint32_t)view.status);
}

enum err turns_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    ASSERT(turns_applies(event->kind));
    if (event->kind == EVENT_TURN_RECORDED) {
        return apply_recorded(ctx, txn, event);
    }
    return event->kind == EVENT_FEEDBACK_DETECTED ? apply_detected(ctx, txn, event)
                                                  : apply_judged(ctx, txn, event);
}
