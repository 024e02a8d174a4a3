/*
 * lists.c: lists of organisations, by id, and of an organisation's tokens, by key id.
 */
#include "server/domain/admin/admin.h"
#include "server/domain/admin/keys.h"

enum err admin_organization_list_begin(struct store_txn *txn, const struct id_prefix *prefix,
                                       struct page *page)
{
    return id_prefix_open_page(prefix, txn, TABLE_ORGANIZATION, key_global_prefix(), page);
}

enum err admin_organization_list_next(const struct id_prefix *prefix, struct page *page,
                                      struct organization_record *ret_organization)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = id_prefix_next_row(prefix, page, &key, &value);

    return err != OK ? err : record_decode_organization(value, ret_organization);
}

enum err admin_token_list_begin(struct store_txn *txn, struct org_id org,
                                const struct id_prefix *prefix, struct page *page)
{
    return id_prefix_open_page(prefix, txn, TABLE_TOKEN_BY_ORG, key_org(org), page);
}

enum err admin_token_list_next(struct store_txn *txn, const struct id_prefix *prefix,
                               struct page *page, uint32_t *ret_key_id,
                               struct token_record *ret_token)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = id_prefix_next_row(prefix, page, &key, &value);

    if (err != OK) {
        return err;
    }
    err = key_read_token(key, ret_key_id);
    if (err == OK) {
        err = admin_read_token(txn, *ret_key_id, ret_token);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
