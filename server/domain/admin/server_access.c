/*
 * server_access.c: which tokens can administer the whole server, and until when. A read of the token
 * table: there is no index by flag, since a server has few tokens that carry it and the question is
 * rare. Walking the whole table, when no such token without an end is left, costs about 0.3 us a token.
 */
#include "server/domain/admin/admin.h"
#include "server/domain/admin/keys.h"
#include "server/domain/admin/records.h"

#include <errata/v1/role.fields.h>

bool admin_token_rules_server(const struct token_record *token, int64_t now_us)
{
    return token->role == ROLE_ADMIN && token->server && token->revoked_at_us == 0 &&
           (token->expire_at_us == 0 || token->expire_at_us > now_us);
}

/* Takes one row of the walk into account. */
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
                                  const uint32_t *except_key_id,
                                  struct admin_server_access *ret_access)
{
    struct admin_server_access access = {0, 0};
    struct key prefix = key_global_prefix();
    struct store_cursor cursor = {0};
    struct slice key;
    struct slice value;
    enum err err = store_cursor_init(&cursor, txn, TABLE_TOKEN, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    while (err == OK && access.until_us != INT64_MAX) {
        err = store_cursor_next(&cursor, &key, &value);
        if (err == OK) {
            err = take_row(key, value, now_us, except_key_id, &access);
        }
    }
    store_cursor_deinit(&cursor);
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_access = access;
    return OK;
}
