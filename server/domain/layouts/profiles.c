/*
 * profiles.c: see profiles.h.
 */
#include "server/domain/layouts/profiles.h"

#include "server/domain/layouts/family_rows.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/layout_head.h"
#include "server/domain/layouts/records.h"

/* Sets the family to which all documents of a layout belong. */
static enum err add_family(struct store_txn *txn, struct org_id org, struct profile *profile)
{
    struct key_fingerprint fingerprint =
        key_fingerprint_of(slice_of(profile->fingerprint, sizeof(profile->fingerprint)));
    struct family_of_layout of_layout;
    struct family_record family;
    enum err err = family_of_layout_read(txn, org, &fingerprint, &of_layout);

    if (err != OK || of_layout.family_seq == 0) {
        return err;
    }
    err = family_row_read(txn, org, of_layout.family_seq, &family);
    if (err == OK) {
        profile->view.has_layout_family_id = true;
        profile->view.layout_family_id = family.id;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err read_profile(struct arena *arena, struct store_txn *txn, struct org_id org,
                             const struct sha256_digest *measured, struct profile *ret_profile)
{
    struct key head_key = profile_head_key(org, measured);
    struct profile_record record;
    struct layout_head_record head;
    enum err err = profile_row_read(arena, txn, org, measured, &record);

    if (err == OK) {
        err = layout_head_read(arena, txn, &head_key, &head);
    }
    if (err == OK) {
        profile_of(&record, &head, ret_profile);
        err = add_family(txn, org, ret_profile);
    }
    return err;
}

enum err profile_find(struct arena *arena, struct store_txn *txn, struct org_id org,
                      struct slice layout_fingerprint, struct profile *ret_profile)
{
    struct sha256_digest measured;

    /* Only measured layouts have profiles. */
    if (!sha256_parse(layout_fingerprint, &measured)) {
        return ERR_NOT_FOUND;
    }
    return read_profile(arena, txn, org, &measured, ret_profile);
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

enum err profile_list_begin(struct store_txn *txn, const struct profile_list *list)
{
    const struct scan_range range = {
        .table = table_of(list->order),
        .prefix = key_org(list->org),
        .after = list->page->after,
    };

    return page_open(list->page, txn, &range);
}

/* Returns whether a layout passes the filters of a list. */
static enum err passes_filters(struct store_txn *txn, const struct profile_list *list,
                               const struct sha256_digest *measured, bool *ret_passes)
{
    struct slice digest = slice_of(measured->bytes, sizeof(measured->bytes));
    struct key_fingerprint fingerprint;
    char text[2 * SHA256_BYTES];

    *ret_passes = id_prefix_matches(&list->fingerprint_prefix, digest);
    if (!*ret_passes || list->family == NULL) {
        return OK;
    }
    sha256_format(measured, text);
    fingerprint = key_fingerprint_of(slice_of(text, sizeof(text)));
    return layout_is_of_family(txn, list->org, &fingerprint, list->family, ret_passes);
}

enum err profile_list_next(struct arena *arena, struct store_txn *txn,
                           const struct profile_list *list, struct profile *ret_profile)
{
    struct sha256_digest measured;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    bool passes = false;
    enum err err = OK;

    do {
        err = page_next(list->page, &key, &value);
        if (err != OK) {
            return err;
        }
        err = key_read_profile_order(key, &measured);
        if (err == OK) {
            err = passes_filters(txn, list, &measured, &passes);
        }
    } while (err == OK && !passes);
    if (err == OK) {
        err = read_profile(arena, txn, list->org, &measured, ret_profile);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
