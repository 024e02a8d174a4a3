/*
 * keys.h: the bytes of every key, built in one file. All big-endian; newest first by inverted time,
 * ties by inverted seq. Long texts stand as the first 16 (or 32) bytes of their SHA-256. Every
 * builder takes the organisation first; the zero organisation is reachable by the *_global builders
 * alone. FORMAT.md shows each with an example that a golden test reads.
 */
#ifndef ERRATA_STORE_KEYS_H
#define ERRATA_STORE_KEYS_H

#include "store/backend.h"
#include "store/base/sha256.h"
#include "store/base/uuid.h"

/* An organisation. Made by the auth layer alone, from a token (or by the code that creates one). */
struct org_id {
    struct uuid uuid;
};

struct key {
    uint8_t bytes[STORE_KEY_BYTES_MAX];
    size_t size;
};

static inline struct slice key_slice(const struct key *key)
{
    return slice_of(key->bytes, key->size);
}

/* A fingerprint in a key: SHA-256 of its text, whatever the text looks like. */
struct key_fingerprint {
    uint8_t bytes[32];
};

struct key_fingerprint key_fingerprint_of(struct slice layout_fingerprint);

/* What an event is about; the numbers are in stored keys and never change. */
enum subject_kind {
    SUBJECT_LAYOUT = 1,
    SUBJECT_DOCUMENT = 2,
    SUBJECT_DRAFT_ORDER = 3,
    SUBJECT_ENTITY = 4,
    SUBJECT_ORGANIZATION = 5,
    SUBJECT_TOKEN = 6,
    SUBJECT_EXPOSURE = 7,
    SUBJECT_PROMPT_TEMPLATE = 8
};

/* The last of them: a stored event with one above it does not decode. */
#define SUBJECT_KIND_MAX SUBJECT_PROMPT_TEMPLATE

/* What a counter counts by; the numbers are in stored keys and never change. */
enum counter_dimension {
    COUNTER_EVENT_TYPE = 1, /* name: the event type's number as text */
    COUNTER_LINE_FIELD = 2, /* name: a field of EXTRACTION_LINE_CORRECTED */
    COUNTER_FIELD_FIELD = 3, /* name: a field of EXTRACTION_FIELD_CORRECTED */
    COUNTER_FIELD_NAMES = 4, /* one row: how many distinct field names the day has */
    COUNTER_EXTRACTIONS = 5, /* one row: extractions */
    COUNTER_CONFIDENCE = 6, /* one row: the sum of their confidences in millionths */
    COUNTER_CORRECTED = 7, /* one row: those of the day's extractions that were corrected since */
    COUNTER_MAPPING_APPLIED = 8 /* one row: lines that mappings were applied to */
};

/* The last of them: a key with one above it is of another shape. */
#define COUNTER_DIMENSION_MAX COUNTER_MAPPING_APPLIED

struct key
key_org(struct org_id org); /* prefix of everything of an organisation; key of ORG_HEAD */
struct key key_event(struct org_id org, uint64_t seq);
struct key key_event_id(struct org_id org, struct uuid id);
/* Prefix of a subject's rows, and a whole row. */
struct key key_subject_prefix(struct org_id org, enum subject_kind kind, struct slice id);
struct key key_subject(struct org_id org, enum subject_kind kind, struct slice id,
                       int64_t created_at_us, uint64_t seq);
struct key key_backfill(struct org_id org, int64_t created_at_us, uint64_t seq);
/* Prefix of a layout's cluster: its head row, then its examples. */
struct key key_layout_prefix(struct org_id org, const struct key_fingerprint *fingerprint);
struct key key_layout_head(struct org_id org, const struct key_fingerprint *fingerprint);
struct key key_example(struct org_id org, const struct key_fingerprint *fingerprint,
                       int64_t created_at_us, uint64_t seq);
struct key key_example_mark(struct org_id org, uint64_t seq);
/* Prefix of an entity's rows, and a whole row. */
struct key key_entity_prefix(struct org_id org, struct slice entity_type, struct slice entity_id);
struct key key_entity(struct org_id org, struct slice entity_type, struct slice entity_id,
                      uint64_t seq);
/* A document by the caller's id. */
struct key key_document(struct org_id org, struct slice document_id);
/* All documents of an organisation (prefix: key_org), and those of a layout (prefix:
 * key_layout_prefix), newest first. */
struct key key_document_time(struct org_id org, int64_t created_at_us, uint64_t seq);
struct key key_document_layout(struct org_id org, const struct key_fingerprint *fingerprint,
                               int64_t created_at_us, uint64_t seq);
struct key key_profile(struct org_id org, const struct key_fingerprint *fingerprint);
/* The two orders of profiles (prefix: key_org). `measured` is the digest that a measured fingerprint
 * is the hex digits of: so ties stand in the order of their fingerprints. */
struct key key_profile_last_seen(struct org_id org, int64_t last_seen_at_us,
                                 const struct sha256_digest *measured);
struct key key_profile_most_seen(struct org_id org, uint64_t seen_count,
                                 const struct sha256_digest *measured);
/* `day` counts days since 1970 in UTC. */
struct key key_counter(struct org_id org, uint32_t day, enum counter_dimension dimension,
                       struct slice name);
/* Prefix of a day's counters; days stand in ascending order. Prefix of all: key_org. */
struct key key_counter_day_prefix(struct org_id org, uint32_t day);
/* Sums of a layout, or (of the zero fingerprint) of the organisation. Prefix of all: key_org. */
struct key key_layout_stats(struct org_id org, const struct key_fingerprint *fingerprint);
struct key key_extraction(struct org_id org, uint64_t seq);
/* The newest extraction of a document (SUBJECT_DOCUMENT) or draft order (SUBJECT_DRAFT_ORDER). */
struct key key_extraction_subject(struct org_id org, enum subject_kind kind, struct slice id);
struct key key_exposure(struct org_id org, const uint8_t reference_hash[16]);
/* The outcome of an exposure for a subject; `outcome_kind` is the outcome's event kind. The empty
 * subject stands for none. */
struct key key_outcome(struct org_id org, uint64_t exposure_seq, uint8_t outcome_kind,
                       struct slice subject);
struct key key_mapping(struct org_id org, uint64_t seq);
/* Customers stand as the hash of their ids. `folded_sku` is a folded SKU, or the beginning of one: its
 * first KEY_SKU_BYTES stand in the key, behind a shorter one zeros. */
#define KEY_SKU_BYTES 24
/* Prefix of a customer's rows in MAPPING_SKU, MAPPING_PAIR, MAPPING_CONFIRMED and MAPPING_SIMILAR. */
struct key key_mapping_customer_prefix(struct org_id org, struct slice customer_id);
/* Prefix of the customer's SKUs that begin so, as far as the key knows. */
struct key key_mapping_sku_prefix(struct org_id org, struct slice customer_id,
                                  struct slice folded_sku);
struct key key_mapping_sku(struct org_id org, struct slice customer_id, struct slice folded_sku,
                           uint64_t seq);
/* Prefix of the mappings of one SKU of the customer's in MAPPING_PAIR. */
struct key key_mapping_pair_prefix(struct org_id org, struct slice customer_id,
                                   struct slice folded_customer_sku);
struct key key_mapping_pair(struct org_id org, struct slice customer_id,
                            struct slice folded_customer_sku, struct slice folded_internal_sku);
struct key key_mapping_confirmed(struct org_id org, struct slice customer_id,
                                 struct slice folded_customer_sku);
struct key key_mapping_similar(struct org_id org, struct slice customer_id, uint32_t block);
/* The versions of a template stand newest first: organisation, first KEY_NAME_BYTES of the name
 * (zeros behind a shorter one), hash of the whole name 16, inverted version 4. */
#define KEY_NAME_BYTES 24
struct key key_prompt_template_prefix(struct org_id org, struct slice name);
struct key key_prompt_template(struct org_id org, struct slice name, uint32_t version);
struct key key_settings(struct org_id org);
struct key key_organization_global(struct uuid organization);
struct key key_organization_name_global(struct slice name);
struct key key_token_global(uint32_t key_id);
struct key key_token_by_org(struct org_id org, uint32_t key_id);
struct key key_idempotency(struct org_id org, uint32_t hour, const uint8_t hash[16]);
struct key key_meta_global(struct slice name);
/* Names of what is of one store alone: its format, and the row that is written to see whether writing
 * works. */
#define KEY_META_FORMAT "format"
#define KEY_META_PROBE "probe"
/* The 16 zero bytes under which what belongs to no organisation stands, as a prefix. */
struct key key_global_prefix(void);

/* What a key tells. ERR_CORRUPT for a key of another shape. */
MUST_CHECK enum err key_read_event(struct slice key, uint64_t *ret_seq);
MUST_CHECK enum err key_read_newest_first(struct slice key, int64_t *ret_created_at_us,
                                          uint64_t *ret_seq); /* subject, backfill, example,
                                                                documents' lists */
MUST_CHECK enum err key_read_profile_order(struct slice key, struct sha256_digest *ret_measured);
/* The day and dimension of a counter's key. */
MUST_CHECK enum err key_read_counter(struct slice key, uint32_t *ret_day,
                                     enum counter_dimension *ret_dimension);
MUST_CHECK enum err key_read_mapping_sku(struct slice key, uint64_t *ret_seq);
/* Of both token tables. */
MUST_CHECK enum err key_read_token(struct slice key, uint32_t *ret_key_id);

#endif
