/*
 * increment.h: the events after an earlier backup, as the data of a file: written from a store, and applied to
 * another one that ends where they begin. A store to which all of them were applied has the same logs and
 * the same tables as the one they are from. Of class LOCAL it has the values of table META, the vectors of
 * turns and the keys of the last writes.
 *
 * The data are records: type 1, size 4, payload; numbers are big-endian. FORMAT.md documents the
 * payloads. An organisation's record is followed by those of its events.
 */
#ifndef ERRATA_SERVER_DOMAIN_REPLAY_INCREMENT_H
#define ERRATA_SERVER_DOMAIN_REPLAY_INCREMENT_H

#include "server/domain/replay/replay.h"
#include "store/base/fault.h"

enum increment_type {
    INCREMENT_ORGANIZATION =
        1, /* org 16, seq before its events 8, last seq 8, digest of the last envelope 32 */
    INCREMENT_EVENT = 2, /* seq 8, row of the table EVENT */
    INCREMENT_DELETING = 3, /* org 16: it is being deleted */
    INCREMENT_META = 4, /* size of the key 1, key, value: a row of the table META */
    INCREMENT_TURN_VECTOR =
        5 /* seq 8, row of the table TURN_VECTOR; after the events of its organisation */
};

#define INCREMENT_HEAD_BYTES 5
#define INCREMENT_PAYLOAD_BYTES_MAX (STORE_VALUE_BYTES_MAX + 64)

/* --- writing --- */

struct increment_order {
    struct slice since; /* a position (position.h) of the same store */
    /* Receives the bytes in order; an error ends the work with that error. */
    enum err (*take)(void *user, struct slice bytes);
    void *user;
    struct fault *fault;
};

/* Writes what the logs have after `since`. ERR_INVALID if the position is later than a log, so that it is not
 * of this store; `fault` names it. */
MUST_CHECK enum err increment_write(struct store_txn *source, const struct increment_order *order);

/* --- reading --- */

struct increment_source {
    /* Reads exactly `size` bytes at an offset. */
    enum err (*read)(void *user, uint64_t at, uint8_t *bytes, size_t size);
    void *user;
    const char *name; /* of the file, for messages */
    uint64_t begin; /* the data's place */
    uint64_t end;
    int64_t created_at_us; /* time of the file: keys of writes before it by 25 hours are left out */
};

/* What a file has, and what was applied of it. */
struct increment_report {
    uint64_t organizations; /* in the file, without those that are being deleted */
    uint64_t deleted; /* organisations of the store that were deleted */
    uint64_t events; /* events of the file that the store did not have */
};

struct increment_target {
    struct store_backend *backend;
    /* Called after each batch with the place in the file. May be NULL. */
    void (*on_progress)(void *user, bool applying, uint64_t at, uint64_t end);
    void *user;
    struct fault *fault;
};

/* Checks that the file continues the store, changing nothing, then applies it. Interrupted, it leaves a mark
 * (KEY_META_RESTORE) with which no server starts; then it continues when it is called again. ERR_PRECONDITION
 * if the file does not begin where the store ends, ERR_CORRUPT for a damaged file, errors of the store. */
MUST_CHECK enum err increment_apply(const struct increment_source *source,
                                    const struct increment_target *target,
                                    struct increment_report *ret_report);
/* Returns whether an increment was applied in part. */
MUST_CHECK enum err increment_is_unfinished(struct store_txn *txn, bool *ret_is_unfinished);

#endif
