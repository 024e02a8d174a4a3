/*
 * rule_export.h: writes all rules of an organisation as a document (rule_file.h), a rule on each line, oldest first,
 * in pieces: each piece may be read in a transaction of its own. Rules that are created after the first piece are left
 * out; all others are written in their current state.
 */
#ifndef ERRATA_SERVER_DOMAIN_RULE_FILES_RULE_EXPORT_H
#define ERRATA_SERVER_DOMAIN_RULE_FILES_RULE_EXPORT_H

#include "store/base/buffer.h"
#include "store/log.h"

/* The size at which a piece ends: 150 typical rules, which take well below a millisecond. */
#define RULE_EXPORT_PIECE_BYTES (48u << 10)

/* Zeroed before the first piece. */
struct rule_export {
    bool has_begun;
    bool has_ended; /* the document is complete */
    uint64_t last_seq; /* the last event before the first piece */
    uint64_t after_seq; /* the event that created the last rule of the previous piece */
};

/* Appends the next piece: whole lines. ERR_CORRUPT for rows that are not valid, ERR_MEMORY. */
MUST_CHECK enum err rule_export_next(struct store_txn *txn, struct org_id org,
                                     struct rule_export *rule_export, struct buffer *piece);

#endif
