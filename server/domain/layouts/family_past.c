/*
 * family_past.c: see family_past.h. A row of FAMILY_CHANGE is the number of members of the first family, then the seqs of
 * the members of both, 8 bytes each.
 */
#include "server/domain/layouts/family_past.h"

#include "server/domain/layouts/family_rows.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/scan.h"

#define NUMBER_BYTES sizeof(uint64_t)
/* A merged family has at most FAMILY_MEMBERS_MAX members. */
#define CHANGE_BYTES_MAX (NUMBER_BYTES * (1 + FAMILY_MEMBERS_MAX))

static void put_number(uint8_t *row, size_t *size, uint64_t number)
{
    bytes_put_be64(row + *size, number);
    *size += NUMBER_BYTES;
}

enum err family_past_note(struct store_txn *txn, const struct event *event,
                          const struct family_members *changed, const struct family_members *other)
{
    struct key key = key_family_change(event->org, event->seq);
    size_t other_count = other != NULL ? other->count : 0;
    uint8_t row[CHANGE_BYTES_MAX];
    size_t size = 0;

    if (UNEXPECTED(changed->count + other_count > FAMILY_MEMBERS_MAX)) {
        return ERR_CORRUPT;
    }
    put_number(row, &size, changed->count);
    for (size_t i = 0; i < changed->count; i++) {
        put_number(row, &size, changed->seqs[i]);
    }
    for (size_t i = 0; i < other_count; i++) {
        put_number(row, &size, other->seqs[i]);
    }
    return store_put(txn, TABLE_FAMILY_CHANGE, key_slice(&key), slice_of(row, size));
}

/* Reads a row into the families before the change. */
static enum err read_change(struct slice value, struct family_members ret_before[2])
{
    size_t total = value.size / NUMBER_BYTES;
    uint64_t first_count = 0;

    if (value.size % NUMBER_BYTES != 0 || total < 2 || total > 1 + FAMILY_MEMBERS_MAX) {
        return ERR_CORRUPT;
    }
    total--;
    first_count = bytes_get_be64(value.data);
    if (first_count < 1 || first_count > total) {
        return ERR_CORRUPT;
    }
    ret_before[0].count = (size_t)first_count;
    ret_before[1].count = total - (size_t)first_count;
    for (size_t i = 0; i < total; i++) {
        bool is_second = i >= ret_before[0].count;

        ret_before[is_second].seqs[is_second ? i - ret_before[0].count : i] =
            bytes_get_be64(value.data + (1 + i) * NUMBER_BYTES);
    }
    return OK;
}

/* Undoes one change, if it changed the family of `family_seq`. */
static enum err undo(struct slice value, uint64_t family_seq, struct family_members *members)
{
    struct family_members before[2];
    enum err err = read_change(value, before);

    for (size_t i = 0; i < 2 && err == OK; i++) {
        if (family_members_have(&before[i], family_seq)) {
            *members = before[i];
            break;
        }
    }
    return err;
}

/* Undoes the changes since the event `as_of_seq`. */
static enum err undo_since(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                           uint64_t as_of_seq, struct family_members *members)
{
    const struct scan_range range = {
        .table = TABLE_FAMILY_CHANGE,
        .prefix = key_org(org),
        .rows_max = FAMILY_PAST_ROWS_MAX,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seq = UINT64_MAX;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_family_change(key, &seq);
        }
        if (err != OK || seq <= as_of_seq) {
            break;
        }
        err = undo(value, family_seq, members);
    }
    if (err == ERR_NOT_FOUND) {
        err = scan.is_cut ? ERR_PRECONDITION : OK;
    }
    scan_deinit(&scan);
    return err;
}

enum err family_past_members(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                             uint64_t as_of_seq, struct family_members *ret_members)
{
    enum err err = family_members(txn, org, family_seq, ret_members);

    return err != OK || as_of_seq == UINT64_MAX
               ? err
               : undo_since(txn, org, family_seq, as_of_seq, ret_members);
}

enum err family_past_document(struct store_txn *txn, struct org_id org, struct slice document_id,
                              uint64_t now_seq, uint64_t as_of_seq, uint64_t *ret_family_seq)
{
    struct key after = key_document_moved(org, document_id, as_of_seq);
    const struct scan_range range = {
        .table = TABLE_DOCUMENT_MOVED,
        .prefix = key_document(org, document_id),
        .after = key_slice(&after),
        .rows_max = 1,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = OK;

    *ret_family_seq = now_seq;
    if (as_of_seq == UINT64_MAX) {
        return OK;
    }
    err = scan_init(&scan, txn, &range);
    if (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    if (err == OK && value.size != NUMBER_BYTES) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_family_seq = bytes_get_be64(value.data);
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Adds a family that had documents of a layout; ERR_NOT_FOUND if it is not the one of the rows before. */
static enum err add_of_layout(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                              uint64_t as_of_seq, struct family_members *members)
{
    enum err err = OK;

    if (family_seq == 0) {
        return ERR_NOT_FOUND;
    }
    if (members->count > 0) {
        return family_members_have(members, family_seq) ? OK : ERR_NOT_FOUND;
    }
    err = family_past_members(txn, org, family_seq, as_of_seq, members);
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Reads a row of LAYOUT_FAMILY. `ret_had`: the family had documents of the layout after the event `as_of_seq`. */
static enum err read_present(struct slice key, struct slice value, uint64_t as_of_seq,
                             uint64_t *ret_family_seq, bool *ret_had)
{
    if (value.size != LAYOUT_FAMILY_BYTES) {
        return ERR_CORRUPT;
    }
    *ret_had = bytes_get_be64(value.data + NUMBER_BYTES) <= as_of_seq;
    return key_read_last_seq(key, ret_family_seq);
}

/* Does the same for a row of LAYOUT_FAMILY_PAST. */
static enum err read_past(struct slice key, struct slice value, uint64_t as_of_seq,
                          uint64_t *ret_family_seq, bool *ret_had)
{
    uint64_t end_seq = 0;
    enum err err = key_read_layout_family_past(key, ret_family_seq, &end_seq);

    if (err != OK || value.size != NUMBER_BYTES) {
        return ERR_CORRUPT;
    }
    *ret_had = bytes_get_be64(value.data) <= as_of_seq && as_of_seq < end_seq;
    return OK;
}

/* Adds the families of a layout that one table has. ERR_NOT_FOUND if they are not one family. */
static enum err add_table(struct store_txn *txn, const struct scan_range *range, struct org_id org,
                          uint64_t as_of_seq, struct family_members *members)
{
    bool is_past = range->table == TABLE_LAYOUT_FAMILY_PAST;
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t family_seq = 0;
    bool at_end = false;
    bool had = false;
    enum err err = scan_init(&scan, txn, range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        at_end = err == ERR_NOT_FOUND;
        if (err == OK) {
            err = is_past ? read_past(key, value, as_of_seq, &family_seq, &had)
                          : read_present(key, value, as_of_seq, &family_seq, &had);
        }
        if (err == OK && had) {
            err = add_of_layout(txn, org, family_seq, as_of_seq, members);
        }
    }
    scan_deinit(&scan);
    return at_end ? OK : err;
}

enum err family_past_of_layout(struct store_txn *txn, struct org_id org,
                               const struct key_fingerprint *fingerprint, uint64_t as_of_seq,
                               struct family_members *ret_members)
{
    struct scan_range range = {
        .table = TABLE_LAYOUT_FAMILY,
        .prefix = key_layout_prefix(org, fingerprint),
        .rows_max = FAMILY_PAST_ROWS_MAX,
    };
    enum err err = OK;

    ret_members->count = 0;
    err = add_table(txn, &range, org, as_of_seq, ret_members);
    if (err == OK && as_of_seq != UINT64_MAX) {
        range.table = TABLE_LAYOUT_FAMILY_PAST;
        err = add_table(txn, &range, org, as_of_seq, ret_members);
    }
    return err == OK && ret_members->count == 0 ? ERR_NOT_FOUND : err;
}
