/*
 * profiles.c: see profiles.h.
 */
#include "server/domain/layouts/profiles.h"

#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/profile_rows.h"
#include "server/domain/layouts/records.h"
#include "store/base/wire.h"
#include "store/page.h"

static enum err append_one(struct arena *arena, struct store_txn *txn, struct org_id org,
                           const struct sha256_digest *measured, uint32_t field,
                           struct buffer *body)
{
    struct key head_key = profile_head_key(org, measured);
    struct profile_record profile;
    struct layout_head_record head;
    struct slice bytes = {NULL, 0};
    enum err err = profile_row_read(arena, txn, org, measured, &profile);

    if (err == OK) {
        err = layout_head_read(arena, txn, &head_key, &head);
    }
    if (err == OK) {
        err = profile_encode(arena, &profile, &head, &bytes);
    }
    if (err != OK) {
        return err;
    }
    wire_put_bytes(body, field, bytes);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err profile_append(struct arena *arena, struct store_txn *txn, struct org_id org,
                        struct slice layout_fingerprint, uint32_t field, struct buffer *body)
{
    struct sha256_digest measured;

    /* Only measured layouts have profiles. */
    if (!sha256_parse(layout_fingerprint, &measured)) {
        return ERR_NOT_FOUND;
    }
    return append_one(arena, txn, org, &measured, field, body);
}

static enum store_table table_of(enum profile_order order)
{
    switch (order) {
    case PROFILE_ORDER_MOST_SEEN:
        return TABLE_PROFILE_MOST_SEEN;
    case PROFILE_ORDER_UNSPECIFIED:
    case PROFILE_ORDER_LAST_SEEN:
        break;
    }
    return TABLE_PROFILE_LAST_SEEN;
}

/* The profile of an order's row. */
static enum err take_row(struct arena *arena, struct store_txn *txn, struct org_id org,
                         struct slice key, struct buffer *body)
{
    struct sha256_digest measured;
    enum err err = key_read_profile_order(key, &measured);

    if (err == OK) {
        err = append_one(arena, txn, org, &measured, LIST_PROFILES_RESPONSE_PROFILES_FIELD, body);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err profile_list_write(struct arena *arena, struct store_txn *txn, struct profile_list *list,
                            struct buffer *body, bool *ret_more)
{
    const struct page_request request = {
        .table = table_of(list->order),
        .prefix = key_org(list->org),
        .after = list->after,
        .page_size = list->page_size,
    };
    struct page_walk walk;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_walk_init(&walk, txn, &request, body);

    while (err == OK) {
        err = page_walk_next(&walk, &key, &value);
        if (err == OK) {
            err = take_row(arena, txn, list->org, key, body);
        }
    }
    page_walk_deinit(&walk);
    list->last = walk.last;
    *ret_more = walk.more;
    return err == ERR_NOT_FOUND ? OK : err;
}
