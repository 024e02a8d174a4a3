/*
 * server_access.c: which tokens can administer the whole server, and until when. Scans the token
 * table: there is no index by flag, since few tokens have it and this is read rarely. If every such
 * token expires, the whole table is scanned, at about 0.3 us per token.
 */
#include "server/domain/admin/admin.h"
#include "server/domain/admin/keys.h"
#include "server/domain/admin/records.h"

#include "store/scan.h"

#include <errata/v1/role.fields.h>

bool admin_token_rules_server(const struct token_record *token, int64_t now_us)
{
    return token->role == ROLE_ADMIN && token->server && token->revoked_at_us == 0 &&
           (token->expire_at_us == 0 || token->expire_at_us > now_us);
}

/* Adds one row of the scan to the result. */
static enum err take_row(struct slice key, struct slice value, int64_t now_us,
                         const uint32_t *except_key_id, struct admin_server_access *access)
{
    struct token_record token;
    uint32_t key_id = 0;
    int64_t until_us = 0;
    enum err err = key_read_token(key, &key_id);

    if (err == OK) {
        err = record_decode_token(value, &token);
    }
    if (err != OK) {
        return err;
    }
    if (!admin_token_rules_server(&token, now_us) ||
        (except_key_id != NULL && *except_key_id == key_id)) {
        return OK;
    }
    until_us = token.expire_at_us == 0 ? INT64_MAX : token.expire_at_us;
    if (until_us > access->until_us) {
        *access = (struct admin_server_access){until_us, key_id};
    }
    return OK;
}

enum err admin_read_server_access(struct store_txn *txn, int64_t now_us,
                                  const uint32_t *except_key_id, uint32_t tokens_max,
                                  struct admin_server_access *ret_access)
{
    struct admin_server_access access = {0, 0};
    const struct scan_range range = {
        .table = TABLE_TOKEN,
        .prefix = key_global_prefix(),
        .rows_max = tokens_max,
    };
    struct scan scan;
    struct slice key;
    struct slice value;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK && access.until_us != INT64_MAX) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = take_row(key, value, now_us, except_key_id, &access);
        }
    }
    scan_deinit(&scan);
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_access = access;
    return OK;
}
