/*
 * dead_letters.h: entries of a stream that could not be stored as decisions. Each is an event, with the reason and the
 * entry's fields; it waits in a list until a person retries it with success. It knows neither Redis nor decisions.
 */
#ifndef ERRATA_SERVER_DOMAIN_DEAD_LETTERS_DEAD_LETTERS_H
#define ERRATA_SERVER_DOMAIN_DEAD_LETTERS_DEAD_LETTERS_H

#include "server/domain/events/actor.h"
#include "server/domain/events/draft.h"
#include "store/page.h"

#include <errata/v1/dead_letter.views.h>

/* Limits of an entry that may be a decision: the bytes of its names and values, and its fields. */
#define STREAM_ENTRY_BYTES_MAX (4u << 20)
#define STREAM_ENTRY_FIELDS_MAX 200
/* Limits of what is stored of an entry, so that its event is a row of the store (STORE_VALUE_BYTES_MAX); a larger one is cut,
 * and can't be retried. A decision with all fields at their limits is less than half of it, unless most of its characters
 * are escaped. */
#define DEAD_LETTER_BYTES_MAX ((3u << 20) - (16u << 10))
#define DEAD_LETTER_FIELDS_MAX STREAM_ENTRY_FIELDS_MAX
/* Limit of the reason, in bytes. */
#define DEAD_LETTER_REASON_BYTES_MAX 4096

/* A field of an entry: any bytes. */
struct entry_field {
    struct slice name;
    struct slice value;
};

/* An entry of a stream. Slices are borrowed. */
struct stream_entry {
    struct slice stream; /* key of the stream: UTF-8 */
    struct slice id; /* UTF-8 */
    const struct entry_field *fields;
    size_t field_count;
    bool is_cut; /* the fields are not the whole entry, which was too large */
    bool has_sha256;
    struct sha256_digest sha256; /* stream_entry_hash, if it was computed before */
};

/* Returns the bytes of its names and values. */
size_t stream_entry_bytes(const struct stream_entry *entry);
/* Returns whether an entry is whole, and within the limits of one that may be a decision. */
bool stream_entry_is_within_limits(const struct stream_entry *entry);
/* Returns the hash of an entry's fields: of the size and the bytes of each name and value. */
struct sha256_digest stream_entry_hash(const struct stream_entry *entry);

/* Appends and applies a dead letter, or finds the one that the entry has. `actor` is the reader of the stream. */
MUST_CHECK enum err dead_letter_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                      const struct stream_entry *entry, struct slice reason,
                                      uint64_t *ret_seq);
/* Finds the dead letter of an entry. ERR_NOT_FOUND if it has none. */
MUST_CHECK enum err dead_letter_find_entry(struct store_txn *txn, struct org_id org,
                                           const struct stream_entry *entry, uint64_t *ret_seq);

/* A stored dead letter. */
struct dead_letter {
    uint64_t seq;
    uint64_t retried_seq; /* event of its retry; 0: it waits */
    bool content_removed;
    struct dead_letter_view view; /* borrowed from the transaction */
};

/* Finds a dead letter by its id. ERR_NOT_FOUND, with a message, for an id of another event. */
MUST_CHECK enum err dead_letter_find(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                     struct uuid id, struct dead_letter *ret_letter);
/* Reads the entry of a dead letter, in the arena, for a retry. ERR_PRECONDITION, with a message, if it is not stored
 * whole. */
MUST_CHECK enum err dead_letter_read_entry(struct ctx *ctx, const struct dead_letter *letter,
                                           struct stream_entry *ret_entry);
/* A retry that stored the decision `feedback_id`. */
struct dead_letter_retry {
    struct org_id org;
    struct event_caller caller;
    const struct dead_letter *letter; /* which waits */
    struct uuid feedback_id;
};

/* Appends and applies that a dead letter was retried. */
MUST_CHECK enum err dead_letter_mark_retried(struct ctx *ctx, struct store_txn *txn,
                                             const struct dead_letter_retry *retry,
                                             uint64_t *ret_seq);
/* Reads the id of the decision that a retry stored. ERR_NOT_FOUND if the event is not a retry. */
MUST_CHECK enum err dead_letter_read_retry(struct store_txn *txn, struct org_id org, uint64_t seq,
                                           struct uuid *ret_feedback_id);

/* A page of waiting dead letters, newest first. */
MUST_CHECK enum err dead_letter_list_begin(struct store_txn *txn, struct org_id org,
                                           struct page *page);
MUST_CHECK enum err dead_letter_list_next(struct store_txn *txn, struct org_id org,
                                          struct page *page, struct dead_letter_view *ret_view);

#endif
