/*
 * token_expiry.c: which tokens expire soon. Scans the token table instead of an index by expiry: it is
 * read for this only after a token has changed, or at the time at which the result changes by itself.
 */
#include "server/domain/admin/admin.h"
#include "server/domain/admin/token_scan.h"

/* Finds the period in which a token counts as expiring, which ends with its expiry. Returns false
 * for a token that never does. */
static bool find_warning(const struct token_record *token, int64_t *ret_from_us)
{
    *ret_from_us = token->expire_at_us - ADMIN_EXPIRY_WARN_US;
    return token->expire_at_us != 0 && token->revoked_at_us == 0 && !token->is_replaced &&
           token->created_at_us < *ret_from_us;
}

/* Adds a token to the result. */
static void take_token(const struct token_record *token, uint32_t key_id,
                       struct admin_token_expiry *expiry)
{
    int64_t end_us = token->expire_at_us;
    int64_t from_us = 0;
    int64_t change_us = 0;

    if (!find_warning(token, &from_us) || end_us <= expiry->read_at_us) {
        return;
    }
    change_us = from_us > expiry->read_at_us ? from_us : end_us;
    if (change_us < expiry->changes_at_us) {
        expiry->changes_at_us = change_us;
    }
    if (from_us > expiry->read_at_us) {
        return;
    }
    if (expiry->count == 0 || end_us < expiry->first_at_us) {
        expiry->first_at_us = end_us;
        expiry->key_id = key_id;
    }
    expiry->count++;
}

enum err admin_read_token_expiry(struct store_txn *txn, int64_t now_us, uint32_t tokens_max,
                                 struct admin_token_expiry *ret_expiry)
{
    struct admin_token_expiry expiry = {.read_at_us = now_us, .changes_at_us = INT64_MAX};
    struct token_record token;
    struct scan scan;
    uint32_t key_id = 0;
    enum err err = token_scan_init(&scan, txn, slice_of(NULL, 0), tokens_max);

    while (err == OK) {
        err = token_scan_next(&scan, &token, &key_id);
        if (err == OK) {
            take_token(&token, key_id, &expiry);
        }
    }
    scan_deinit(&scan);
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_expiry = expiry;
    return OK;
}
