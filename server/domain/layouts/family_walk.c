/*
 * family_walk.c: see family_walk.h. A family has at most FAMILY_MEMBERS_MAX members, so the next row is found by
 * comparing the first row of each.
 */
#include "server/domain/layouts/family_walk.h"

#include "server/domain/layouts/keys.h"

/* The rows of one member in one table. */
struct family_walk_member {
    struct scan scan;
    struct slice key; /* key of its next row; empty: it has no more rows */
    struct slice value;
    bool is_due; /* the next row has not been read yet */
};

static const uint8_t *tail_of(struct slice key)
{
    return key.data + key.size - FAMILY_WALK_TAIL_BYTES;
}

static enum err open_member(struct family_walk_member *member, struct store_txn *txn,
                            const struct family_range *range, enum store_table table,
                            uint64_t family_seq)
{
    struct key prefix = key_family_prefix(range->org, family_seq);
    struct key after = prefix;
    struct scan_range rows = {.table = table, .prefix = prefix, .rows_max = UINT32_MAX};

    if (range->after.size > 0) {
        key_put_bytes(&after, tail_of(range->after), FAMILY_WALK_TAIL_BYTES);
        rows.after = key_slice(&after);
    }
    member->is_due = true;
    return scan_init(&member->scan, txn, &rows);
}

enum err family_walk_init(struct family_walk *walk, struct arena *arena, struct store_txn *txn,
                          const struct family_range *range)
{
    const struct family_members *members = range->members;
    size_t tables = range->has_past ? 2 : 1;
    struct key key = key_family_prefix(range->org, members->seqs[0]);
    enum err err = OK;

    *walk = (struct family_walk){.count = 0};
    if (range->after.size != 0 && range->after.size != key.size + FAMILY_WALK_TAIL_BYTES) {
        return ERR_INTERNAL;
    }
    walk->members = arena_calloc(arena, members->count * tables, sizeof(*walk->members));
    if (walk->members == NULL) {
        return ERR_MEMORY;
    }
    for (; walk->count < members->count * tables && err == OK; walk->count++) {
        err = open_member(&walk->members[walk->count], txn, range,
                          walk->count < members->count ? range->table : range->past_table,
                          members->seqs[walk->count % members->count]);
    }
    return err;
}

/* Reads a member's next row, unless it was read before. */
static enum err read_due(struct family_walk_member *member)
{
    enum err err = OK;

    if (!member->is_due) {
        return OK;
    }
    member->is_due = false;
    err = scan_next(&member->scan, &member->key, &member->value);
    if (err == ERR_NOT_FOUND) {
        member->key.size = 0;
        return OK;
    }
    if (err == OK && member->key.size < FAMILY_WALK_TAIL_BYTES) {
        err = ERR_CORRUPT;
    }
    return err;
}

enum err family_walk_next(struct family_walk *walk, struct slice *ret_key, struct slice *ret_value)
{
    struct family_walk_member *first = NULL;

    for (size_t i = 0; i < walk->count; i++) {
        struct family_walk_member *member = &walk->members[i];
        enum err err = read_due(member);

        if (err != OK) {
            return err;
        }
        if (member->key.size > 0 &&
            (first == NULL ||
             memcmp(tail_of(member->key), tail_of(first->key), FAMILY_WALK_TAIL_BYTES) < 0)) {
            first = member;
        }
    }
    if (first == NULL) {
        return ERR_NOT_FOUND;
    }
    first->is_due = true;
    *ret_key = first->key;
    *ret_value = first->value;
    return OK;
}

void family_walk_deinit(struct family_walk *walk)
{
    for (size_t i = 0; i < walk->count; i++) {
        scan_deinit(&walk->members[i].scan);
    }
    walk->count = 0;
}
