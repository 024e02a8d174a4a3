/*
 * server_access.c: which tokens can administer the whole server, and until when: those of suspended
 * organisations cannot. Scans the token
 * table, instead of an index by flag, since there are few such tokens and the scan is rare. If
 * every such token expires, the whole table is scanned, at about 0.3 us per token.
 */
#include "server/domain/admin/organization_state.h"
#include "server/domain/admin/token_scan.h"

#include <errata/v1/role.fields.h>

bool admin_token_rules_server(const struct token_record *token, int64_t now_us)
{
    return token->role == ROLE_ADMIN && token->server && token->revoked_at_us == 0 &&
           (token->expire_at_us == 0 || token->expire_at_us > now_us);
}

/* Adds a token that can administer the server to the result, unless its organisation is suspended. */
static enum err take_token(struct store_txn *txn, const struct token_record *token, uint32_t key_id,
                           struct admin_server_access *access)
{
    int64_t until_us = token->expire_at_us == 0 ? INT64_MAX : token->expire_at_us;
    bool is_suspended = false;
    enum err err =
        organization_state_is_suspended(txn, (struct org_id){.uuid = token->org}, &is_suspended);

    if (err == OK && !is_suspended && until_us > access->until_us) {
        *access = (struct admin_server_access){until_us, key_id};
    }
    return err;
}

enum err admin_read_server_access(struct store_txn *txn, int64_t now_us,
                                  const uint32_t *except_key_id, uint32_t tokens_max,
                                  struct admin_server_access *ret_access)
{
    struct admin_server_access access = {0, 0};
    struct token_record token;
    struct scan scan;
    uint32_t key_id = 0;
    enum err err = token_scan_init(&scan, txn, slice_of(NULL, 0), tokens_max);

    while (err == OK && access.until_us != INT64_MAX) {
        err = token_scan_next(&scan, &token, &key_id);
        if (err == OK && admin_token_rules_server(&token, now_us) &&
            (except_key_id == NULL || *except_key_id != key_id)) {
            err = take_token(txn, &token, key_id, &access);
        }
    }
    scan_deinit(&scan);
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_access = access;
    return OK;
}
