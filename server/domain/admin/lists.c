/*
 * lists.c: lists of organisations, by id, and of an organisation's tokens, by key id.
 */
#include "server/domain/admin/admin.h"
#include "server/domain/admin/keys.h"

enum err admin_organization_list_begin(struct store_txn *txn, struct page *page)
{
    const struct scan_range range = {
        .table = TABLE_ORGANIZATION,
        .prefix = key_global_prefix(),
        .after = page->after,
    };

    return page_open(page, txn, &range);
}

enum err admin_organization_list_next(struct page *page,
                                      struct organization_record *ret_organization)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_next(page, &key, &value);

    return err != OK ? err : record_decode_organization(value, ret_organization);
}

enum err admin_token_list_begin(struct store_txn *txn, struct org_id org, struct page *page)
{
    const struct scan_range range = {
        .table = TABLE_TOKEN_BY_ORG,
        .prefix = key_org(org),
        .after = page->after,
    };

    return page_open(page, txn, &range);
}

enum err admin_token_list_next(struct store_txn *txn, struct page *page, uint32_t *ret_key_id,
                               struct token_record *ret_token)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_next(page, &key, &value);

    if (err != OK) {
        return err;
    }
    err = key_read_token(key, ret_key_id);
    if (err == OK) {
        err = admin_read_token(txn, *ret_key_id, ret_token);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
