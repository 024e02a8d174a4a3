/*
 * labels.h: submissions as lines of JSON, for training: one line for each submission that was not retracted, in the
 * order of the log, in pieces: each piece may be read in a transaction of its own. Submissions
 * stored after the first piece are left out.
 */
#ifndef ERRATA_SERVER_DOMAIN_RULE_FILES_LABELS_H
#define ERRATA_SERVER_DOMAIN_RULE_FILES_LABELS_H

#include "store/base/buffer.h"
#include "store/log.h"

/* The size at which a piece ends; its last line may be longer. */
#define LABELS_PIECE_BYTES (64u << 10)
/* Maximum events that one piece examines: well below a millisecond if none is a submission. */
#define LABELS_EVENTS_MAX 256

struct labels {
    uint64_t
        next_seq; /* the first event that was not examined; before the first piece: the event to start at, or 0 */
    bool only_corrected; /* leaves out submissions without corrections */
    bool has_begun;
    bool has_ended;
    uint64_t last_seq; /* the last event before the first piece */
};

/* Appends the next piece: whole lines, or nothing if none of the examined events is a submission. ERR_CORRUPT for events that are not valid, ERR_MEMORY. */
MUST_CHECK enum err labels_next(struct store_txn *txn, struct org_id org, struct labels *labels,
                                struct buffer *piece);

#endif
