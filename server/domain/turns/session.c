/*
 * session.c: see session.h.
 */
#include "server/domain/turns/session.h"

#include "store/scan.h"

/* The runs of rejected turns, newest first. */
struct runs {
    uint32_t current;
    bool is_over; /* the newest run was ended by a turn that was not rejected */
};

/* Counts one turn, older than those before. The newest turn does not end a run until a message has judged it. */
static void count_turn(const struct turn_record *record, struct runs *runs,
                       struct session_counts *counts)
{
    bool is_rejected = record->status == TURN_STATUS_REJECTED;
    bool is_open = counts->turns == 0 && record->marked_seq == 0 && record->set_seq == 0;

    if (counts->turns == 0) {
        counts->last_turn_at_us = record->created_at_us;
    }
    counts->started_at_us = record->created_at_us;
    counts->turns++;
    counts->rejected += is_rejected;
    counts->accepted += record->status == TURN_STATUS_ACCEPTED;
    counts->neutral += record->status == TURN_STATUS_NEUTRAL;
    runs->current = is_rejected ? runs->current + 1 : 0;
    runs->is_over = runs->is_over || (!is_rejected && !is_open);
    counts->consecutive += is_rejected && !runs->is_over;
    counts->longest = runs->current > counts->longest ? runs->current : counts->longest;
}

enum err session_count(struct store_txn *txn, struct org_id org, struct slice session_id,
                       struct session_counts *ret_counts)
{
    struct turn_hash hash = turn_hash_of(session_id, slice_of(NULL, 0));
    const struct scan_range range = {
        .table = TABLE_TURN_SESSION,
        .prefix = key_turn_session_prefix(org, &hash),
        .rows_max = SESSION_TURNS_MAX,
    };
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct scan scan;
    struct runs runs = {0};
    enum err err = scan_init(&scan, txn, &range);

    *ret_counts = (struct session_counts){.turns = 0};
    while (err == OK) {
        struct turn_record record;

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = turn_read_listed(txn, org, value, &record);
        }
        if (err == OK && ret_counts->turns > 0 &&
            ret_counts->started_at_us - record.created_at_us > TURN_SILENCE_US) {
            break;
        }
        if (err == OK) {
            count_turn(&record, &runs, ret_counts);
        }
    }
    scan_deinit(&scan);
    if (err == ERR_NOT_FOUND && ret_counts->turns > 0) {
        err = OK;
    }
    return err;
}
