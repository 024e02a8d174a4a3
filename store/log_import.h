/*
 * log_import.h: organisations that are being imported. Their events arrive in many transactions, so a mark in the table META
 * comes with the first one: until it is removed, only the import appends to the log. A replay includes the log, which is
 * whole up to its last event. The mark is not in any log; a rebuild carries it over, and a backup has it.
 */
#ifndef ERRATA_STORE_LOG_IMPORT_H
#define ERRATA_STORE_LOG_IMPORT_H

#include "store/log.h"

/* Returns whether an organisation is being imported. */
MUST_CHECK enum err log_import_is_marked(struct store_txn *txn, struct org_id org,
                                         bool *ret_is_marked);
/* Reads which export is imported as an organisation. ERR_NOT_FOUND if it is not being imported. */
MUST_CHECK enum err log_import_read(struct store_txn *txn, struct org_id org,
                                    struct uuid *ret_export_id);
/* Puts the mark. */
MUST_CHECK enum err log_import_begin(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     struct uuid export_id);
/* Removes the mark, if there is one: after the last event, or when the deletion of the organisation ends. */
MUST_CHECK enum err log_import_end(struct store_txn *txn, struct org_id org);

#endif
