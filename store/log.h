/*
 * log.h: the event log of an organisation. The only thing that callers write are events: numbered
 * gapless from 1, chained by hash, never changed. A write reads state, decides, appends, applies,
 * all through one transaction. The engine (log_engine.h) determines where the log is stored;
 * reading and appending are the same for all engines.
 *
 * An event has three representations: the draft that a decision passes, the record in the table
 * (records.h), and `struct event`, a view of the record whose slices are borrowed from the
 * transaction.
 */
#ifndef ERRATA_STORE_LOG_H
#define ERRATA_STORE_LOG_H

#include "store/base/ctx.h"
#include "store/keys.h"

#include <event_kinds.h>

/* Values of AnnotatorKind. */
enum annotator {
    ANNOTATOR_HUMAN = 1,
    ANNOTATOR_CODE = 2,
    ANNOTATOR_LLM = 3
};

enum log_source {
    SOURCE_LIVE = 1,
    SOURCE_BACKFILL = 2, /* created_at was set by the caller */
    SOURCE_SYSTEM = 3 /* the server itself, such as at its first start */
};

#define EVENT_SUBJECTS_MAX 4

struct event_subject {
    uint8_t kind; /* a number defined by the domain (server/domain/events/subject.h); from 1 */
    struct slice id; /* must not be empty */
};

#define EVENT_SALT_BYTES 16

/* The idempotency key of a write and its caller. It is stored in the envelope of the write's first
 * event, so that a replay creates the same row. */
struct event_idempotency {
    bool present;
    struct org_id org; /* the caller's organisation */
    uint8_t key_hash[16]; /* hash of token, method and key */
    struct sha256_digest request_sha256; /* hash of the request's bytes */
};

/* Sequence number, id and times of the next event of an organisation. */
struct log_stamp {
    uint64_t seq;
    struct uuid id;
    int64_t recorded_at_us; /* the wall clock's, or the last event's if the clock is earlier */
    int64_t created_at_us; /* time of the wall clock, the created_at of live events */
};

/* The event to append. Slices are borrowed for the duration of the call. */
struct event_draft {
    struct org_id org;
    struct log_stamp
        stamp; /* from log_next_stamp in this transaction, with no event appended since */
    enum event_kind_number kind;
    enum annotator annotator;
    enum log_source source;
    int64_t created_at_us; /* equal to stamp.created_at_us unless source is BACKFILL */
    struct slice actor_user_id; /* empty: unknown (only imported events) */
    struct event_subject subjects[EVENT_SUBJECTS_MAX]; /* the main one first */
    size_t subject_count;
    struct slice facts; /* encoded facts, which are never removed */
    struct slice content; /* encoded content, which retention may remove; may be empty */
};

/* A stored event. Slices are borrowed from the transaction, until it ends or is reset, or from the arena of log_decode. */
struct event {
    struct org_id org;
    uint64_t seq;
    struct uuid id;
    enum event_kind_number kind;
    enum annotator annotator;
    enum log_source source;
    int64_t recorded_at_us;
    int64_t created_at_us;
    struct slice actor_user_id;
    struct event_subject subjects[EVENT_SUBJECTS_MAX];
    size_t subject_count;
    struct slice facts;
    struct slice content; /* empty after its removal */
    bool content_removed;
    struct slice salt; /* EVENT_SALT_BYTES, or empty after its removal */
    struct sha256_digest facts_sha256;
    struct sha256_digest content_sha256; /* hash of salt and content */
    struct sha256_digest
        previous_sha256; /* hash of the previous event's envelope; zeros for the first event */
    uint32_t
        write_index; /* 0 for the first event of its write, then 1, 2, ..., so that a replay can group the events of one idempotency key */
    struct event_idempotency idempotency; /* set for the first event of a write with a key */
    struct slice envelope; /* the encoded envelope, for the chain */
};

/* Returns the time at which the event was written, by the wall clock. A backfilled event does not
 * store it; its recorded_at is returned, which is later only if the log is ahead of the clock. */
static inline int64_t event_written_at_us(const struct event *event)
{
    return event->source == SOURCE_BACKFILL ? event->recorded_at_us : event->created_at_us;
}

/* True if the log's order does not place the event by its created_at, so that TABLE_BACKFILL does: it was
 * backfilled, or its recorded_at is that of the event before it (INT64_MIN for the first event), which
 * may have been written by a clock that was ahead. All other events have created_at = recorded_at. */
static inline bool event_is_apart(const struct event *event, int64_t previous_recorded_at_us)
{
    return event->source == SOURCE_BACKFILL || event->recorded_at_us == previous_recorded_at_us;
}

/* The end of an organisation's log. */
struct log_head {
    uint64_t last_seq; /* 0: no events */
    int64_t last_recorded_at_us;
    struct sha256_digest last_envelope_sha256;
    uint64_t stored_bytes; /* facts and contents of all events, unpacked */
};

/* An organisation without events has a zero head, OK. */
MUST_CHECK enum err log_read_head(struct store_txn *txn, struct org_id org,
                                  struct log_head *ret_head);
/* Returns the latest recorded_at of all organisations; 0 without events. A head that cannot be read
 * is skipped; a writer to that log gets the error. */
MUST_CHECK enum err log_read_newest(struct store_txn *txn, int64_t *ret_recorded_at_us);
/* Starts a write of one or more events in this transaction: the next append is its first event and
 * has the key (NULL: none); write_index numbers the following ones. */
void log_begin_write(struct store_txn *txn, const struct event_idempotency *key);
/* Returns the number, id and times of the next event. recorded_at is the later of the wall clock's
 * time and the last event's recorded_at, so it never decreases; while it stays the same, the next
 * id is the last one plus a random step, so ids of an organisation have the order of their numbers.
 * created_at is always the wall clock's. Reads the clock and randomness of `ctx`, so decisions call
 * it, but apply never does. ERR_ORGANIZATION_DELETED for one that is being deleted (log_deletion.h),
 * ERR_ORGANIZATION_IMPORTING for one that is being imported (log_import.h). */
MUST_CHECK enum err log_next_stamp(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                   struct log_stamp *ret_stamp);
/* Appends one event with its generic index rows (head, id, main subject, backfill). The salt comes
 * from ctx->random if there is content. `ret_event` is a view in ctx->arena, so that apply may
 * write in the same transaction. */
MUST_CHECK enum err log_append(struct ctx *ctx, struct store_txn *txn,
                               const struct event_draft *draft, struct event *ret_event);
/* Appends an event of an export of another organisation, with its generic index rows: the envelope is that of `event`, but
 * for organisation, hashes of the facts and the previous event, and idempotency, which it has none; `content_sha256` is
 * read only if the content was removed. The caller has checked the values; ERR_INVALID if `seq` is not the next one.
 * `ret_event` as log_append. */
MUST_CHECK enum err log_append_imported(struct ctx *ctx, struct store_txn *txn,
                                        const struct event *event, struct event *ret_event);
/* Reads an event by its seq, from 1. ERR_NOT_FOUND beyond the head. */
MUST_CHECK enum err log_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                             struct event *ret_event);
/* Reads an event that must exist, with its row, into the arena, so that puts may follow. ERR_CORRUPT beyond the head. */
MUST_CHECK enum err log_read_copy(struct arena *arena, struct store_txn *txn, struct org_id org,
                                  uint64_t seq, struct event *ret_event);
/* Reads a value that is the number of an event, 8 bytes, big-endian: of an EVENT_ID row, and of rows by which the
 * domain finds events, some of which have 0 for none. ERR_CORRUPT for another form. */
MUST_CHECK enum err log_read_id_row(struct slice value, uint64_t *ret_seq);
/* Reads a row of the domain with such a value; 0 if there is no row. */
MUST_CHECK enum err log_get_id_row(struct store_txn *txn, enum store_table table,
                                   const struct key *key, uint64_t *ret_seq);
/* Puts a row of the domain with such a value. */
MUST_CHECK enum err log_put_id_row(struct store_txn *txn, enum store_table table,
                                   const struct key *key, uint64_t seq);
MUST_CHECK enum err log_find(struct store_txn *txn, struct org_id org, struct uuid id,
                             uint64_t *ret_seq);
/* Returns the seq of the last event with recorded_at at or before the time; 0 if there is none. */
MUST_CHECK enum err log_seq_at(struct store_txn *txn, struct org_id org, int64_t time_us,
                               uint64_t *ret_seq);
/* Decodes the value of an EVENT row, in part into the arena; ERR_CORRUPT for bytes that are not one, ERR_MEMORY. */
MUST_CHECK enum err log_decode(struct arena *arena, struct org_id org, uint64_t seq,
                               struct slice record, struct event *ret_event);
/* Removes content and salt of a stored event; its hashes stay, and the head counts it no more. Does nothing for an event without content.
 * ERR_NOT_FOUND beyond the head. The rows that were made of the content are the caller's. */
MUST_CHECK enum err log_remove_content(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                       uint64_t seq);
/* Returns whether the content of a stored event was removed. */
MUST_CHECK enum err log_content_is_removed(struct store_txn *txn, struct org_id org, uint64_t seq,
                                           bool *ret_is_removed);
/* Returns whether facts and content (unless retention removed it) have the hashes in the
 * envelope. */
bool log_event_holds(const struct event *event);
/* Writes the generic rows of an event that is already in the log, for a replay before apply. */
MUST_CHECK enum err log_apply_envelope(struct ctx *ctx, struct store_txn *txn,
                                       const struct event *event);

/* An iteration over an organisation's events, by number. Valid until its transaction ends. */
struct log_walk {
    struct store_cursor cursor;
    struct org_id org;
    /* Memory for events, emptied before each one, so that a walk may have any length. NULL: the transaction's, which
     * keeps all of them. */
    struct arena *memory;
};

/* Starts at `from_seq`, ascending or descending; 0: at the first event in this order. Set `memory` afterwards, if at
 * all. */
MUST_CHECK enum err log_walk_init(struct log_walk *walk, struct store_txn *txn, struct org_id org,
                                  uint64_t from_seq, enum store_order order);
/* Returns the next event. ERR_NOT_FOUND after the last one. */
MUST_CHECK enum err log_walk_next(struct log_walk *walk, struct event *ret_event);
/* Accepts a zeroed walk too. */
void log_walk_deinit(struct log_walk *walk);

/* Progress of a check of the chain. Zero it before the start. The check may continue in a later
 * transaction. */
struct log_check {
    uint64_t last_seq; /* last checked event */
    struct sha256_digest last_envelope_sha256;
};

/* Checks up to `limit` events after check->last_seq: numbers without gaps; hashes of the facts, of
 * the content if it was not removed, and of the previous envelope; and the head, when it is
 * reached. OK (done when last_seq is the head's), or ERR_CORRUPT at event last_seq + 1. */
MUST_CHECK enum err log_verify_chain(struct store_txn *txn, struct org_id org, uint64_t limit,
                                     struct log_check *check);

#endif
