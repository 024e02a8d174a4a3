/*
 * records.h: the values of the store's own tables as plain C, and their bytes: messages of
 * proto/record/store.proto. FORMAT.md shows each with an example that a golden test reads.
 *
 * Decoding allocates and copies nothing, except for the packed parts of an event's row: slices
 * point into the given bytes (a page of the store) and are valid as long as these. Bytes that do
 * not decode, or that lack a required member, are ERR_CORRUPT. Encoding writes into the arena; it
 * fails with ERR_MEMORY, or with ERR_INTERNAL for a record that violates its own rules (a bug,
 * whose result must not reach the disk).
 */
#ifndef ERRATA_STORE_RECORDS_H
#define ERRATA_STORE_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* Maximum subjects of an event; the main one is first. */
#define RECORD_SUBJECTS_MAX 4
#define RECORD_SALT_BYTES 16

struct envelope_subject {
    uint32_t kind; /* kind of the subject, 1 to 255 */
    struct slice id; /* must not be empty */
};

struct envelope_idempotency {
    struct uuid org; /* the caller's organisation */
    uint8_t key_hash[KEY_HASH_BYTES];
    struct sha256_digest request_sha256;
};

/* The part of an event that the chain of hashes covers. */
struct envelope_record {
    struct uuid org;
    uint64_t seq; /* sequence number, from 1 */
    struct uuid id;
    uint32_t kind; /* an enum event_kind_number */
    uint32_t annotator; /* an enum annotator */
    uint32_t source; /* an enum log_source */
    int64_t recorded_at_us;
    int64_t created_at_us;
    struct slice actor_user_id; /* empty: unknown */
    struct envelope_subject subjects[RECORD_SUBJECTS_MAX];
    size_t subject_count; /* at least 1 */
    struct sha256_digest facts_sha256;
    struct sha256_digest content_sha256; /* hash of salt and content */
    struct sha256_digest previous_sha256; /* hash of the previous envelope; zeros for the first */
    uint32_t write_index;
    bool has_idempotency;
    struct envelope_idempotency idempotency;
};

/* EVENT: the value of (org, seq). */
struct event_record {
    struct slice
        envelope_bytes; /* `envelope` as encoded; never changes, since the chain is computed from it */
    struct envelope_record envelope;
    struct slice facts; /* never removed */
    struct slice content; /* empty if there was none, or after its removal */
    struct slice
        salt; /* RECORD_SALT_BYTES if there is content; empty otherwise, or after its removal */
    bool content_removed; /* retention has removed content and salt */
};

/* ORG_HEAD: the end of an organisation's log. */
struct org_head_record {
    uint64_t last_seq; /* sequence number, from 1 */
    int64_t last_recorded_at_us;
    struct sha256_digest last_envelope_sha256;
    uint64_t stored_bytes; /* facts and contents of all events, unpacked */
};

/* IDEMPOTENCY: the events that a write with a key appended. */
struct idempotency_record {
    struct sha256_digest request_sha256;
    struct uuid log_org; /* owner of the log */
    uint64_t
        first_seq; /* if nothing was appended: the earlier event that the answer is made of, or 0 */
    uint32_t count;
};

/* META: a value that belongs to this node. */
struct meta_record {
    uint64_t number;
    struct slice bytes;
};

/* Reads the row of an event of the organisation. Envelope and facts are unpacked into the arena. ERR_MEMORY. */
MUST_CHECK enum err record_decode_event(struct arena *arena, struct uuid org, struct slice bytes,
                                        struct event_record *ret_record);
/* Reads only whether content and salt were removed. */
MUST_CHECK enum err record_event_is_removed(struct slice bytes, bool *ret_is_removed);
MUST_CHECK enum err record_decode_envelope(struct slice bytes, struct envelope_record *ret_record);
MUST_CHECK enum err record_decode_org_head(struct slice bytes, struct org_head_record *ret_record);
MUST_CHECK enum err record_decode_idempotency(struct slice bytes,
                                              struct idempotency_record *ret_record);
MUST_CHECK enum err record_decode_meta(struct slice bytes, struct meta_record *ret_record);

MUST_CHECK enum err record_encode_event(struct arena *arena, const struct event_record *record,
                                        struct slice *ret_bytes);
MUST_CHECK enum err record_encode_envelope(struct arena *arena,
                                           const struct envelope_record *record,
                                           struct slice *ret_bytes);
MUST_CHECK enum err record_encode_org_head(struct arena *arena,
                                           const struct org_head_record *record,
                                           struct slice *ret_bytes);
MUST_CHECK enum err record_encode_idempotency(struct arena *arena,
                                              const struct idempotency_record *record,
                                              struct slice *ret_bytes);
MUST_CHECK enum err record_encode_meta(struct arena *arena, const struct meta_record *record,
                                       struct slice *ret_bytes);

#endif
