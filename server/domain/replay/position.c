/*
 * position.c: see position.h.
 */
#include "server/domain/replay/position.h"

#include "server/domain/replay/replay_internal.h"
#include "store/base/bytes.h"

static void append_row(struct buffer *position, struct uuid org, uint64_t last_seq)
{
    uint8_t row[POSITION_ROW_BYTES];

    memcpy(row, org.bytes, sizeof(org.bytes));
    bytes_put_be64(row + sizeof(org.bytes), last_seq);
    buffer_append(position, slice_of(row, sizeof(row)));
}

enum err position_write(struct store_txn *txn, struct buffer *position)
{
    size_t begin = position->size;
    struct uuid org;
    enum err err = replay_next_log(txn, NULL, &org);

    while (err == OK) {
        struct log_head head;

        err = log_read_head(txn, (struct org_id){org}, &head);
        if (err == OK) {
            append_row(position, org, head.last_seq);
            err = replay_next_log(txn, &org, &org);
        }
        if (position->size - begin > POSITION_BYTES_MAX) {
            position->size = begin;
            return OK;
        }
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    return buffer_ok(position) ? OK : ERR_MEMORY;
}

static const uint8_t *row_at(struct slice position, size_t index)
{
    return position.data + index * POSITION_ROW_BYTES;
}

static int compare_org(const uint8_t *row, const uint8_t *org)
{
    return memcmp(row, org, sizeof(struct uuid));
}

bool position_is_valid(struct slice position)
{
    size_t count = position.size / POSITION_ROW_BYTES;

    if (position.size % POSITION_ROW_BYTES != 0 || position.size > POSITION_BYTES_MAX) {
        return false;
    }
    for (size_t i = 1; i < count; i++) {
        if (compare_org(row_at(position, i - 1), row_at(position, i)) >= 0) {
            return false;
        }
    }
    return true;
}

uint64_t position_find(struct slice position, struct org_id org)
{
    size_t low = 0;
    size_t high = position.size / POSITION_ROW_BYTES;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const uint8_t *row = row_at(position, middle);
        int order = compare_org(row, org.uuid.bytes);

        if (order == 0) {
            return bytes_get_be64(row + sizeof(struct uuid));
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}
