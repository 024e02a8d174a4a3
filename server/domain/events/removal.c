/*
 * removal.c: see removal.h.
 */
#include "server/domain/events/removal.h"

/* Distinguishes the number of an erased event from a class, whose numbers are small. */
#define ERASED_BIT (UINT64_C(1) << 63)

enum content_class removal_class_of(enum event_kind_number kind)
{
    if (kind == EVENT_FEEDBACK || kind == EVENT_DOCUMENT_INGESTED || kind == EVENT_RETRACTED) {
        return CONTENT_CLASS_CORRECTIONS;
    }
    if (kind == EVENT_VERDICT_SUBMITTED) {
        return CONTENT_CLASS_VERDICTS;
    }
    return kind == EVENT_REVIEW_SUBMITTED || kind == EVENT_RUN_ITEM_PUT ? CONTENT_CLASS_REVIEWS
                                                                        : CONTENT_CLASS_UNSPECIFIED;
}

struct key key_removal_floor(struct org_id org, enum content_class class)
{
    return key_org_seq(org, (uint64_t) class);
}

enum err removal_floor(struct store_txn *txn, struct org_id org, enum content_class class,
                       uint64_t *ret_seq)
{
    struct key key = key_removal_floor(org, class);

    return log_get_id_row(txn, TABLE_REMOVAL_FLOOR, &key, ret_seq);
}

enum err removal_put_floor(struct store_txn *txn, struct org_id org, enum content_class class,
                           uint64_t seq)
{
    struct key key = key_removal_floor(org, class);

    return log_put_id_row(txn, TABLE_REMOVAL_FLOOR, &key, seq);
}

struct key key_removal_erased(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, ERASED_BIT | seq);
}

enum err removal_put_erased(struct store_txn *txn, struct org_id org, uint64_t seq,
                            uint64_t erased_by_seq)
{
    struct key key = key_removal_erased(org, seq);

    return log_put_id_row(txn, TABLE_REMOVAL_FLOOR, &key, erased_by_seq);
}

enum err removal_erased_by(struct store_txn *txn, struct org_id org, uint64_t seq,
                           uint64_t *ret_seq)
{
    struct key key = key_removal_erased(org, seq);

    return log_get_id_row(txn, TABLE_REMOVAL_FLOOR, &key, ret_seq);
}

enum err removal_has_erased(struct store_txn *txn, struct org_id org, bool *ret_has)
{
    struct key prefix = key_org(org);
    struct key from = key_removal_erased(org, 0);
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct store_cursor cursor;
    enum err err = store_cursor_init(&cursor, txn, TABLE_REMOVAL_FLOOR, key_slice(&prefix),
                                     key_slice(&from), STORE_ASCENDING);

    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    store_cursor_deinit(&cursor);
    *ret_has = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err removal_precedes(struct store_txn *txn, const struct event *event, bool *ret_precedes)
{
    uint64_t floor_seq = 0;
    uint64_t erased_by_seq = 0;
    enum err err = removal_floor(txn, event->org, removal_class_of(event->kind), &floor_seq);

    if (err == OK && event->seq > floor_seq) {
        err = removal_erased_by(txn, event->org, event->seq, &erased_by_seq);
    }
    *ret_precedes = event->seq <= floor_seq || erased_by_seq != 0;
    return err;
}
