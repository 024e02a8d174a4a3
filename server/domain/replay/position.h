/*
 * position.h: how far the log of each organisation is, as bytes: a backup ends with its position, and an
 * increment begins after that of an earlier backup. 24 bytes for each organisation: its id, and the number
 * of its last event, big-endian; ascending by the id. Organisations that are being deleted are left out.
 */
#ifndef ERRATA_SERVER_DOMAIN_REPLAY_POSITION_H
#define ERRATA_SERVER_DOMAIN_REPLAY_POSITION_H

#include "store/base/buffer.h"
#include "store/log.h"

#define POSITION_ROW_BYTES ((size_t)24)
/* Limit: so many organisations fit into a request. */
#define POSITION_ORGANIZATIONS_MAX 100000
#define POSITION_BYTES_MAX (POSITION_ROW_BYTES * POSITION_ORGANIZATIONS_MAX)

/* Appends the position of a store; nothing if it has more organisations than the limit. */
MUST_CHECK enum err position_write(struct store_txn *txn, struct buffer *position);
/* Returns whether the bytes have the form of a position. */
bool position_is_valid(struct slice position);
/* Returns the number of an organisation's last event in a valid position; 0 if it is not there. */
uint64_t position_find(struct slice position, struct org_id org);

#endif
