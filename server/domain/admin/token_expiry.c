/*
 * token_expiry.c: which tokens end soon. Scans the token table: there is no index by expiry, since this is read only
 * after a token has changed, or at the time at which the result changes by itself.
 */
#include "server/domain/admin/admin.h"
#include "server/domain/admin/keys.h"
#include "server/domain/admin/records.h"

#include "store/scan.h"

bool admin_token_is_expiring(const struct token_record *token, int64_t now_us)
{
    return token->expire_at_us > now_us && token->revoked_at_us == 0 && !token->is_replaced &&
           token->expire_at_us - token->created_at_us > ADMIN_EXPIRY_WARN_US &&
           token->expire_at_us - ADMIN_EXPIRY_WARN_US <= now_us;
}

/* Returns when the token begins or ends to be an expiring one, after `now_us`; INT64_MAX: it does not by itself. */
static int64_t next_change_us(const struct token_record *token, int64_t now_us)
{
    int64_t warn_at_us = token->expire_at_us - ADMIN_EXPIRY_WARN_US;

    if (token->expire_at_us <= now_us || token->revoked_at_us != 0 || token->is_replaced ||
        token->created_at_us >= warn_at_us) {
        return INT64_MAX;
    }
    return warn_at_us > now_us ? warn_at_us : token->expire_at_us;
}

/* Adds one row of the scan to the result. */
static enum err take_row(struct slice key, struct slice value, int64_t now_us,
                         struct admin_token_expiry *expiry)
{
    struct token_record token;
    uint32_t key_id = 0;
    int64_t change_us = 0;
    enum err err = key_read_token(key, &key_id);

    if (err == OK) {
        err = record_decode_token(value, &token);
    }
    if (err != OK) {
        return err;
    }
    change_us = next_change_us(&token, now_us);
    if (change_us < expiry->changes_at_us) {
        expiry->changes_at_us = change_us;
    }
    if (!admin_token_is_expiring(&token, now_us)) {
        return OK;
    }
    if (expiry->count == 0 || token.expire_at_us < expiry->first_at_us) {
        expiry->first_at_us = token.expire_at_us;
        expiry->key_id = key_id;
    }
    expiry->count++;
    return OK;
}

enum err admin_read_token_expiry(struct store_txn *txn, int64_t now_us, uint32_t tokens_max,
                                 struct admin_token_expiry *ret_expiry)
{
    struct admin_token_expiry expiry = {.read_at_us = now_us, .changes_at_us = INT64_MAX};
    const struct scan_range range = {
        .table = TABLE_TOKEN,
        .prefix = key_global_prefix(),
        .rows_max = tokens_max,
    };
    struct scan scan;
    struct slice key;
    struct slice value;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = take_row(key, value, now_us, &expiry);
        }
    }
    scan_deinit(&scan);
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_expiry = expiry;
    return OK;
}
