/*
 * read.c: reads turns, the feedback on them, and the turns before a message.
 */
#include "server/domain/turns/turns.h"
#include "store/base/bytes.h"
#include "store/scan.h"

enum err turn_read(struct store_txn *txn, struct org_id org, const struct turn_hash *hash,
                   struct turn_record *ret_record)
{
    struct key key = key_turn(org, hash);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_TURN, key_slice(&key), &value);

    return err != OK ? err : record_decode_turn(value, ret_record);
}

enum err turn_read_as_of(struct store_txn *txn, const struct event *recorded, uint64_t as_of_seq,
                         struct turn_record *ret_record)
{
    struct turn_feedback_set_view set;
    struct turn_record record;
    struct turn_hash hash;
    struct turn_view turn;
    struct event event;
    enum err err = recorded->kind == EVENT_TURN_RECORDED ? turn_view_read(recorded->facts, &turn)
                                                         : ERR_CORRUPT;

    if (err == OK) {
        hash = turn_hash_of(turn.session_id, turn.turn_id);
        err = turn_read(txn, recorded->org, &hash, &record);
    }
    while (err == OK && record.set_seq > as_of_seq) {
        err = log_read(txn, recorded->org, record.set_seq, &event);
        if (err == OK) {
            err = turn_feedback_set_view_read(event.facts, &set);
        }
        if (err == OK && set.previous_set_seq >= record.set_seq) {
            err = ERR_CORRUPT;
        }
        record.set_seq = err == OK ? set.previous_set_seq : 0;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    record.marked_seq = record.marked_seq > as_of_seq ? 0 : record.marked_seq;
    *ret_record = record;
    return OK;
}

enum err turn_read_listed(struct store_txn *txn, struct org_id org, struct slice value,
                          struct turn_record *ret_record)
{
    struct turn_hash hash;
    enum err err = turn_hash_read(value, &hash);

    if (err == OK) {
        err = turn_read(txn, org, &hash, ret_record);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Reads the next turn of a scan of a list; the hash is borrowed from the transaction. */
static enum err next(struct scan *scan, struct store_txn *txn, struct org_id org,
                     struct slice *ret_hash, struct turn_record *ret_record)
{
    struct slice key = {NULL, 0};
    enum err err = scan_next(scan, &key, ret_hash);

    return err != OK ? err : turn_read_listed(txn, org, *ret_hash, ret_record);
}

enum err turn_find_previous(struct store_txn *txn, struct org_id org, const struct turn_hash *hash,
                            int64_t at_us, struct turn_record *ret_record)
{
    struct key from = key_turn_session(org, hash, at_us, UINT64_MAX);
    const struct scan_range range = {
        .table = TABLE_TURN_SESSION,
        .prefix = key_turn_session_prefix(org, hash),
        .after = key_slice(&from),
        .rows_max = 2,
    };
    struct slice found = {NULL, 0};
    struct scan scan;
    enum err err = scan_init(&scan, txn, &range);

    if (err == OK) {
        err = next(&scan, txn, org, &found, ret_record);
    }
    if (err == OK && slice_equal(found, turn_hash_slice(hash))) {
        err = next(&scan, txn, org, &found, ret_record);
    }
    scan_deinit(&scan);
    return err;
}

enum err turn_count_rejections(struct store_txn *txn, struct org_id org,
                               const struct turn_hash *hash, const struct turn_record *last,
                               uint32_t *ret_count)
{
    struct key from = key_turn_session(org, hash, last->created_at_us, last->seq);
    const struct scan_range range = {
        .table = TABLE_TURN_SESSION,
        .prefix = key_turn_session_prefix(org, hash),
        .after = key_slice(&from),
        .rows_max = TURN_STREAK_MAX,
    };
    int64_t later_us = last->created_at_us;
    struct turn_record record;
    struct slice found = {NULL, 0};
    struct scan scan;
    uint32_t count = 1;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = next(&scan, txn, org, &found, &record);
        if (err != OK || record.status != TURN_STATUS_REJECTED ||
            later_us - record.created_at_us > TURN_SILENCE_US) {
            break;
        }
        later_us = record.created_at_us;
        count++;
    }
    scan_deinit(&scan);
    *ret_count = count;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err turn_view_of_event(const struct event *event, struct turn_view *ret_view)
{
    return event->kind != EVENT_TURN_RECORDED
               ? ERR_CORRUPT
               : view_read_parts(&turn_view_type, event->facts, event->content, ret_view);
}

/* Reads the detection that marked a turn. */
static enum err read_detected(struct store_txn *txn, struct org_id org, uint64_t seq,
                              struct user_feedback_view *ret_feedback)
{
    struct feedback_detected_view view;
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK) {
        err =
            event.kind != EVENT_FEEDBACK_DETECTED
                ? ERR_CORRUPT
                : view_read_parts(&feedback_detected_view_type, event.facts, event.content, &view);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *ret_feedback = (struct user_feedback_view){
        .status = view.feedback_type,
        .confidence = view.confidence,
        .correction_type = view.correction_type,
        .has_detected_at = true,
        .detected_at_us = view.created_at_us,
        .has_detected_in_turn = true,
        .detected_in_turn = view.turn_id,
        .user_said = view.user_said,
    };
    return OK;
}

/* Replaces the detected feedback by a person's judgement. */
static enum err read_judged(struct store_txn *txn, struct org_id org, uint64_t seq,
                            struct user_feedback_view *feedback)
{
    struct turn_feedback_set_view view;
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK) {
        err = event.kind != EVENT_TURN_FEEDBACK_SET
                  ? ERR_CORRUPT
                  : turn_feedback_set_view_read(event.facts, &view);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (view.status != feedback->status) {
        feedback->correction_type = CORRECTION_TYPE_UNSPECIFIED;
        feedback->user_said = slice_of(NULL, 0);
    }
    feedback->status = view.status;
    feedback->confidence = 1;
    feedback->has_detected_at = true;
    feedback->detected_at_us = view.created_at_us;
    feedback->has_set_by = event.actor_user_id.size > 0;
    feedback->set_by = event.actor_user_id;
    return OK;
}

enum err turn_feedback_read(struct store_txn *txn, struct org_id org,
                            const struct turn_record *record,
                            struct user_feedback_view *ret_feedback)
{
    enum err err = OK;

    *ret_feedback = (struct user_feedback_view){
        .status = TURN_STATUS_NEUTRAL,
        .confidence = DETECT_NOTHING_HUNDREDTHS / 100.0,
    };
    if (record->marked_seq != 0) {
        err = read_detected(txn, org, record->marked_seq, ret_feedback);
    }
    if (err == OK && record->set_seq != 0) {
        err = read_judged(txn, org, record->set_seq, ret_feedback);
    }
    return err;
}
