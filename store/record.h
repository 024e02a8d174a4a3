/*
 * record.h: the values of the tables as plain C, and their bytes. The bytes are protobuf messages
 * (proto/record/record.proto); FORMAT.md shows each with an example that a golden test reads.
 *
 * Decoding allocates and copies nothing: slices point into the bytes that were given (a page of the
 * store: they die as those do). What does not decode, or misses what it must have, is ERR_CORRUPT.
 * Encoding writes into the arena; it fails with ERR_MEMORY, or with ERR_INTERNAL for a record that
 * breaks its own rules (a mistake of ours that must not reach the disk).
 */
#ifndef ERRATA_STORE_RECORD_H
#define ERRATA_STORE_RECORD_H

#include "store/base/arena.h"
#include "store/base/err.h"
#include "store/base/sha256.h"
#include "store/base/uuid.h"

/* Names in one list of a row: as many as an event has `fields_changed`. */
#define RECORD_NAMES_MAX 200
/* Examples whose marks stand in the layout's head row; older ones have a row each. */
#define RECORD_MARKS_MAX 32
/* Subjects of an event, the main one first. */
#define RECORD_SUBJECTS_MAX 4
#define RECORD_SALT_BYTES 16
#define RECORD_HASH_BYTES 16

/* EVENT: what stands under (org, seq). */
struct event_record {
    struct slice envelope; /* an encoded envelope_record; never changes, the chain is over it */
    struct slice facts; /* kept for ever */
    struct slice content; /* empty where there was none, or once it is removed */
    struct slice salt; /* RECORD_SALT_BYTES with content; empty without, or once it is removed */
    bool content_removed; /* retention took content and salt */
};

struct envelope_subject {
    uint32_t kind; /* enum subject_kind */
    struct slice id; /* not empty */
};

struct envelope_idempotency {
    struct uuid org; /* the caller's organisation */
    uint8_t key_hash[RECORD_HASH_BYTES];
    struct sha256_digest request_sha256;
};

/* The part of an event that the chain of hashes is over. */
struct envelope_record {
    struct uuid org;
    uint64_t seq; /* from 1 */
    struct uuid id;
    uint32_t kind; /* enum event_kind_number */
    uint32_t annotator; /* enum annotator */
    uint32_t source; /* enum event_source */
    int64_t recorded_at_us;
    int64_t created_at_us;
    struct slice actor_user_id; /* empty: unknown */
    struct envelope_subject subjects[RECORD_SUBJECTS_MAX];
    size_t subject_count; /* at least 1 */
    struct sha256_digest facts_sha256;
    struct sha256_digest content_sha256; /* of salt and content */
    struct sha256_digest previous_sha256; /* of the previous envelope; zeros for the first */
    uint32_t write_index;
    bool has_idempotency;
    struct envelope_idempotency idempotency;
};

/* ORG_HEAD: where an organisation's log stands. */
struct org_head_record {
    uint64_t last_seq; /* from 1 */
    int64_t last_recorded_at_us;
    struct sha256_digest last_envelope_sha256;
};

/* What changes about one example. */
struct layout_mark {
    uint64_t seq; /* the example's event */
    int64_t created_at_us; /* of the example: the marks keep the order of the examples */
    uint64_t superseded_by_seq; /* 0: it is not superseded */
    uint64_t carried_count; /* extractions of its layout that carried it */
    uint64_t carried_sum; /* of their confidences, in millionths */
};

/* EXAMPLE, key_layout_head: all that changes about a layout. */
struct layout_head_record {
    struct slice family_id; /* 16 bytes, or empty: none known */
    uint64_t feedback_count; /* events that name the layout */
    uint64_t example_count; /* those of them that count as examples */
    struct layout_mark marks[RECORD_MARKS_MAX]; /* of the newest examples, newest first */
    size_t mark_count;
    uint64_t first_document_seq; /* of the first document of the layout; 0: none was ingested */
    uint64_t first_text_seq; /* of the first of them with text on page 1; 0: all are scans */
    int64_t updated_at_us; /* when the last event that names the layout was written; 0: none */
    uint64_t bare_count; /* extractions of the layout that carried no example */
    uint64_t bare_sum; /* of their confidences, in millionths */
};

/* What a lookup needs of a head row: the marks of the few rows that it wants, as two lists of one
 * length that stay where they stand in the row, and which of the layout's documents are scans. Not
 * to be copied: lists that came in pieces are joined in it. */
struct layout_marks {
    const uint8_t *seq; /* 8 bytes each, little-endian, unaligned */
    const uint8_t *superseded_by_seq;
    const uint8_t *carried_count; /* NULL where no extraction carried any of them */
    const uint8_t *carried_sum;
    size_t count;
    uint64_t bare_count; /* as in the head */
    uint64_t bare_sum;
    uint64_t first_document_seq; /* as in the head */
    uint64_t first_text_seq;
    uint64_t joined_seq[RECORD_MARKS_MAX];
    uint64_t joined_superseded_by_seq[RECORD_MARKS_MAX];
    uint64_t joined_carried_count[RECORD_MARKS_MAX];
    uint64_t joined_carried_sum[RECORD_MARKS_MAX];
};

/* EXAMPLE, key_example: what never changes about an example. */
struct example_record {
    uint64_t seq;
    int64_t created_at_us;
    struct slice document_hash; /* RECORD_HASH_BYTES, or empty: no document was named */
    struct slice example; /* wire bytes of what never changes in errata.v1.Example */
    struct slice hint; /* `{"input_snippet":...,"output":...}`, sanitised; empty: none */
    uint8_t hint_hash[RECORD_HASH_BYTES]; /* the first bytes of its SHA-256 */
};

/* EXAMPLE_MARK: the mark of an example that is too old for the head. One that would say nothing has
 * no row. */
struct example_mark_record {
    uint64_t superseded_by_seq; /* 0: it is not superseded */
    uint64_t carried_count; /* as in struct layout_mark */
    uint64_t carried_sum;
};

struct record_names {
    struct slice items[RECORD_NAMES_MAX];
    size_t count;
};

/* ENTITY: one correction of an entity, so that a later one can mark its example. */
struct entity_record {
    uint64_t seq;
    int64_t created_at_us;
    struct slice fingerprint; /* 32 bytes (struct key_fingerprint), or empty: no layout */
    struct record_names fields; /* all that the event changed */
    struct record_names remaining; /* those not corrected again later; none: superseded */
};

/* DOCUMENT: what others ask about a document; the rest stands in its event. */
struct document_record {
    uint64_t seq; /* of the event that its measures stand in */
    uint64_t first_seq; /* of its first event: an earlier one where that gave no fingerprint */
    int64_t created_at_us; /* of event `seq` */
    struct sha256_digest sha256; /* of the PDF's bytes */
    struct slice layout_fingerprint; /* text, or empty: none */
    bool scan; /* no text on page 1 */
};

/* PROFILE: what was added up over the documents of a layout. */
struct profile_record {
    struct sha256_digest measured; /* its fingerprint is the hex digits of this */
    struct uuid id; /* of the event that made it */
    uint64_t seen_count; /* documents; from 1 */
    int64_t first_seen_at_us;
    int64_t last_seen_at_us;
    uint64_t page_count_sum;
    uint64_t table_count_sum;
    uint64_t text_coverage_sum; /* hundredths */
    uint64_t text_density_sum; /* ten-thousandths */
    struct slice fp_version; /* of its last document */
};

/* COUNTER */
struct counter_record {
    uint64_t count; /* not 0 */
    struct slice name; /* what the key has as a hash, as text */
};

/* What is added up over the extractions of one arm of an experiment. */
struct arm_sums {
    uint64_t extraction_count;
    uint64_t corrected_count; /* of them */
    uint64_t field_count; /* of those that told theirs */
    uint64_t corrected_field_count; /* of those fields */
};

/* LAYOUT_STATS: what is added up over the extractions of a layout, or of an organisation. */
struct layout_stats_record {
    struct slice layout_fingerprint; /* text; empty: of the organisation */
    uint64_t extraction_count;
    uint64_t corrected_count;
    struct arm_sums treatment; /* of extractions made when the layout had 3 examples */
    struct arm_sums control;
};

/* Corrected fields of one extraction that are told apart; those above count no more. */
#define RECORD_CORRECTED_FIELDS_MAX 256

/* EXTRACTION */
struct extraction_record {
    uint64_t seq;
    int64_t created_at_us;
    struct slice layout_fingerprint; /* text */
    uint32_t arm; /* errata.v1.ExperimentArm */
    bool layout_ready; /* the layout had 3 examples when it was made */
    uint32_t field_count; /* 0: not told */
    uint64_t corrected_by_seq; /* the first correction; 0: not corrected */
    uint64_t
        corrected_fields[RECORD_CORRECTED_FIELDS_MAX]; /* hashes of entity and field, each once;
                                                               where field_count is told */
    size_t corrected_field_count;
};

/* EXTRACTION_SUBJECT: the newest extraction of a document or draft order, by created_at, then seq. */
struct extraction_subject_record {
    uint64_t seq;
    int64_t created_at_us;
};

/* MAPPING: a mapping as it stands. */
struct mapping_record {
    struct uuid id; /* of the event that made it */
    struct slice customer_id;
    struct slice customer_sku; /* as written */
    struct slice internal_sku;
    uint32_t status; /* errata.v1.MappingStatus; not 0 */
    double confidence; /* 0 to 1 */
    uint64_t support_count;
    uint64_t use_count;
    int64_t last_used_at_us; /* 0: never */
    int64_t created_at_us;
    int64_t updated_at_us;
    uint64_t last_seq; /* of the last event that has a MappingChange of it */
    uint32_t version; /* events that have one; from 1 */
    uint32_t similar_block; /* of MAPPING_SIMILAR, from 1; 0: it stands in none */
    int64_t settled_at_us; /* created_at of the newest judgement of it, else of its suggestion */
};

/* MAPPING_CONFIRMED: what a customer's SKU stands for. */
struct mapping_confirmed_record {
    uint64_t seq; /* of the mapping's first event */
    uint32_t version; /* of the mapping when it was confirmed last */
    struct uuid id;
    struct slice internal_sku;
};

/* PROMPT_TEMPLATE: where a version of a template stands; its text is in the event. */
struct prompt_template_record {
    uint64_t seq;
    uint32_t version; /* from 1 */
    struct slice name;
};

/* SETTINGS */
struct settings_record {
    uint64_t seq; /* of the event that set them */
    uint32_t holdout_percent; /* 0 to 100 */
    uint32_t match_mode; /* errata.v1.MatchMode; 0: not set */
};

/* ORGANIZATION */
struct organization_record {
    struct uuid id;
    struct slice name; /* not empty */
    int64_t created_at_us;
};

/* TOKEN */
struct token_record {
    struct uuid org;
    struct sha256_digest secret_sha256;
    uint32_t role; /* errata.v1.Role; not 0 */
    bool server; /* may name other organisations */
    struct slice user_id; /* the user it is bound to, or empty */
    struct slice created_by; /* actor_user_id of its creation, or empty */
    int64_t created_at_us;
    int64_t expire_at_us; /* 0: never */
    int64_t revoked_at_us; /* 0: not revoked */
};

/* IDEMPOTENCY: what a write under a key appended. */
struct idempotency_record {
    struct sha256_digest request_sha256;
    struct uuid log_org; /* whose log */
    uint64_t first_seq; /* 0 where nothing was appended */
    uint32_t count;
};

/* META: one of this node's own values. */
struct meta_record {
    uint64_t number;
    struct slice bytes;
};

MUST_CHECK enum err record_decode_event(struct slice bytes, struct event_record *ret_record);
MUST_CHECK enum err record_decode_envelope(struct slice bytes, struct envelope_record *ret_record);
MUST_CHECK enum err record_decode_org_head(struct slice bytes, struct org_head_record *ret_record);
MUST_CHECK enum err record_decode_layout_head(struct slice bytes,
                                              struct layout_head_record *ret_record);
/* As record_decode_layout_head for which heads are right. */
MUST_CHECK enum err record_decode_layout_marks(struct slice bytes, struct layout_marks *ret_marks);
/* Looks for an example's mark from `*place` on and moves `*place` behind it; false: it has none. */
bool record_find_mark(const struct layout_marks *marks, uint64_t seq, size_t *place,
                      uint64_t *ret_superseded_by_seq);
/* What extractions carried the example whose mark stands at `place` (0 is the newest). */
void record_read_carried(const struct layout_marks *marks, size_t place, uint64_t *ret_count,
                         uint64_t *ret_sum);
MUST_CHECK enum err record_decode_example(struct slice bytes, struct example_record *ret_record);
MUST_CHECK enum err record_decode_example_mark(struct slice bytes,
                                               struct example_mark_record *ret_record);
MUST_CHECK enum err record_decode_entity(struct slice bytes, struct entity_record *ret_record);
MUST_CHECK enum err record_decode_document(struct slice bytes, struct document_record *ret_record);
MUST_CHECK enum err record_decode_profile(struct slice bytes, struct profile_record *ret_record);
MUST_CHECK enum err record_decode_counter(struct slice bytes, struct counter_record *ret_record);
MUST_CHECK enum err record_decode_layout_stats(struct slice bytes,
                                               struct layout_stats_record *ret_record);
MUST_CHECK enum err record_decode_extraction(struct slice bytes,
                                             struct extraction_record *ret_record);
MUST_CHECK enum err record_decode_extraction_subject(struct slice bytes,
                                                     struct extraction_subject_record *ret_record);
MUST_CHECK enum err record_decode_mapping(struct slice bytes, struct mapping_record *ret_record);
MUST_CHECK enum err record_decode_mapping_confirmed(struct slice bytes,
                                                    struct mapping_confirmed_record *ret_record);
MUST_CHECK enum err record_decode_prompt_template(struct slice bytes,
                                                  struct prompt_template_record *ret_record);
MUST_CHECK enum err record_decode_settings(struct slice bytes, struct settings_record *ret_record);
MUST_CHECK enum err record_decode_organization(struct slice bytes,
                                               struct organization_record *ret_record);
MUST_CHECK enum err record_decode_token(struct slice bytes, struct token_record *ret_record);
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
MUST_CHECK enum err record_encode_layout_head(struct arena *arena,
                                              const struct layout_head_record *record,
                                              struct slice *ret_bytes);
MUST_CHECK enum err record_encode_example(struct arena *arena, const struct example_record *record,
                                          struct slice *ret_bytes);
MUST_CHECK enum err record_encode_example_mark(struct arena *arena,
                                               const struct example_mark_record *record,
                                               struct slice *ret_bytes);
MUST_CHECK enum err record_encode_entity(struct arena *arena, const struct entity_record *record,
                                         struct slice *ret_bytes);
MUST_CHECK enum err record_encode_document(struct arena *arena,
                                           const struct document_record *record,
                                           struct slice *ret_bytes);
MUST_CHECK enum err record_encode_profile(struct arena *arena, const struct profile_record *record,
                                          struct slice *ret_bytes);
MUST_CHECK enum err record_encode_counter(struct arena *arena, const struct counter_record *record,
                                          struct slice *ret_bytes);
MUST_CHECK enum err record_encode_layout_stats(struct arena *arena,
                                               const struct layout_stats_record *record,
                                               struct slice *ret_bytes);
MUST_CHECK enum err record_encode_extraction(struct arena *arena,
                                             const struct extraction_record *record,
                                             struct slice *ret_bytes);
MUST_CHECK enum err record_encode_extraction_subject(struct arena *arena,
                                                     const struct extraction_subject_record *record,
                                                     struct slice *ret_bytes);
MUST_CHECK enum err record_encode_mapping(struct arena *arena, const struct mapping_record *record,
                                          struct slice *ret_bytes);
MUST_CHECK enum err record_encode_mapping_confirmed(struct arena *arena,
                                                    const struct mapping_confirmed_record *record,
                                                    struct slice *ret_bytes);
MUST_CHECK enum err record_encode_prompt_template(struct arena *arena,
                                                  const struct prompt_template_record *record,
                                                  struct slice *ret_bytes);
MUST_CHECK enum err record_encode_settings(struct arena *arena,
                                           const struct settings_record *record,
                                           struct slice *ret_bytes);
MUST_CHECK enum err record_encode_organization(struct arena *arena,
                                               const struct organization_record *record,
                                               struct slice *ret_bytes);
MUST_CHECK enum err record_encode_token(struct arena *arena, const struct token_record *record,
                                        struct slice *ret_bytes);
MUST_CHECK enum err record_encode_idempotency(struct arena *arena,
                                              const struct idempotency_record *record,
                                              struct slice *ret_bytes);
MUST_CHECK enum err record_encode_meta(struct arena *arena, const struct meta_record *record,
                                       struct slice *ret_bytes);

#endif
