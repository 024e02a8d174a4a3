/*
 * token_scan.h: the tokens of all organisations, one after the other. Only admin/ reads its table as a whole.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_TOKEN_SCAN_H
#define ERRATA_SERVER_DOMAIN_ADMIN_TOKEN_SCAN_H

#include "server/domain/admin/records.h"
#include "store/scan.h"

/* Starts a scan of at most `tokens_max` tokens after this key (empty: from the first one); scan_deinit must end it, also
 * after a failure. */
MUST_CHECK enum err token_scan_init(struct scan *scan, struct store_txn *txn, struct slice after,
                                    uint32_t tokens_max);
/* Reads the next token; its slices are borrowed from the transaction. ERR_NOT_FOUND after the last. */
MUST_CHECK enum err token_scan_next(struct scan *scan, struct token_record *ret_token,
                                    uint32_t *ret_key_id);

#endif
