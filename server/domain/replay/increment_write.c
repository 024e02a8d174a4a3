/*
 * increment_write.c: writes an increment.
 */
#include "server/domain/replay/increment.h"

#include "server/domain/replay/increment_internal.h"
#include "server/domain/replay/position.h"
#include "server/domain/replay/replay_internal.h"
#include "store/base/bytes.h"
#include "store/log_deletion.h"

#include <inttypes.h>

static enum err write_record(const struct increment_order *order, enum increment_type type,
                             struct slice start, struct slice rest)
{
    uint8_t head[INCREMENT_HEAD_BYTES];
    enum err err = OK;

    head[0] = (uint8_t)type;
    bytes_put_be32(head + 1, (uint32_t)(start.size + rest.size));
    err = order->take(order->user, slice_of(head, sizeof(head)));
    if (err == OK) {
        err = order->take(order->user, start);
    }
    return err == OK && rest.size > 0 ? order->take(order->user, rest) : err;
}

static enum err write_organization(const struct increment_order *order, struct org_id org,
                                   uint64_t after_seq, const struct log_head *head)
{
    uint8_t bytes[INCREMENT_ORGANIZATION_BYTES];

    memcpy(bytes, org.uuid.bytes, UUID_BYTES);
    bytes_put_be64(bytes + INCREMENT_AFTER_AT, after_seq);
    bytes_put_be64(bytes + INCREMENT_LAST_AT, head->last_seq);
    memcpy(bytes + INCREMENT_DIGEST_AT, head->last_envelope_sha256.bytes, SHA256_BYTES);
    return write_record(order, INCREMENT_ORGANIZATION, slice_of(bytes, sizeof(bytes)),
                        slice_of(NULL, 0));
}

/* Writes the rows of a table whose keys are those of events, after one event. */
static enum err write_rows(const struct increment_order *order, struct store_txn *source,
                           enum increment_type type, struct org_id org, uint64_t after_seq)
{
    enum store_table table = type == INCREMENT_EVENT ? TABLE_EVENT : TABLE_TURN_VECTOR;
    struct key prefix = key_org(org);
    struct key from = key_event(org, after_seq + 1);
    struct store_cursor cursor;
    enum err err = store_cursor_init(&cursor, source, table, key_slice(&prefix), key_slice(&from),
                                     STORE_ASCENDING);

    while (err == OK) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        uint8_t seq_bytes[8];
        uint64_t seq = 0;

        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK) {
            err = key_read_event(key, &seq);
        }
        if (err == OK) {
            bytes_put_be64(seq_bytes, seq);
            err = write_record(order, type, slice_of(seq_bytes, sizeof(seq_bytes)), value);
        }
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err write_log(const struct increment_order *order, struct store_txn *source,
                          struct org_id org)
{
    uint64_t after_seq = position_find(order->since, org);
    char id[UUID_TEXT_BYTES];
    struct log_head head;
    enum err err = log_read_head(source, org, &head);

    if (err == OK && after_seq > head.last_seq) {
        uuid_format(org.uuid, id);
        return fault_say(order->fault, ERR_INVALID,
                         "since: has event %" PRIu64
                         " of organisation %.*s, whose last event is %" PRIu64
                         "; expected the position of an earlier backup of this store",
                         after_seq, UUID_TEXT_BYTES, id, head.last_seq);
    }
    if (err == OK) {
        err = write_organization(order, org, after_seq, &head);
    }
    if (err == OK) {
        err = write_rows(order, source, INCREMENT_EVENT, org, after_seq);
    }
    return err != OK ? err : write_rows(order, source, INCREMENT_TURN_VECTOR, org, after_seq);
}

/* Writes which organisations are being deleted: their rows, those of the log first, go little by little. */
static enum err write_deletions(const struct increment_order *order, struct store_txn *source)
{
    struct log_deletion deletion;
    struct uuid last;
    enum err err = log_deletion_next(source, NULL, &deletion);

    while (err == OK) {
        last = deletion.org.uuid;
        err = write_record(order, INCREMENT_DELETING, slice_of(last.bytes, UUID_BYTES),
                           slice_of(NULL, 0));
        if (err == OK) {
            err = log_deletion_next(source, &last, &deletion);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err write_logs(const struct increment_order *order, struct store_txn *source)
{
    struct uuid org;
    enum err err = replay_next_log(source, NULL, &org);

    while (err == OK) {
        err = write_log(order, source, (struct org_id){org});
        if (err == OK) {
            err = replay_next_log(source, &org, &org);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err write_meta(const struct increment_order *order, struct store_txn *source)
{
    struct key prefix = key_global_prefix();
    struct store_cursor cursor;
    enum err err = store_cursor_init(&cursor, source, TABLE_META, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    while (err == OK) {
        uint8_t start[1 + STORE_KEY_BYTES_MAX];
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK && increment_has_meta(key)) {
            start[0] = (uint8_t)key.size;
            memcpy(start + 1, key.data, key.size);
            err = write_record(order, INCREMENT_META, slice_of(start, 1 + key.size), value);
        }
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err increment_write(struct store_txn *source, const struct increment_order *order)
{
    enum err err = write_deletions(order, source);

    if (err == OK) {
        err = write_logs(order, source);
    }
    return err != OK ? err : write_meta(order, source);
}
