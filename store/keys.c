/*
 * keys.c: the bytes of every key, appended piece by piece. See keys.h and FORMAT.md.
 */
#include "store/keys.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"

#define ORG_BYTES 16
#define HASH_BYTES 16
/* Two big-endian numbers at a key's end: inverted created_at, inverted seq. */
#define NEWEST_FIRST_BYTES 16

static void put_bytes(struct key *key, const void *bytes, size_t size)
{
    ASSERT(key->size + size <= sizeof(key->bytes));
    memcpy(key->bytes + key->size, bytes, size);
    key->size += size;
}

static void put_byte(struct key *key, uint8_t byte)
{
    put_bytes(key, &byte, 1);
}

static void put_be32(struct key *key, uint32_t value)
{
    uint8_t bytes[sizeof(value)];

    bytes_put_be32(bytes, value);
    put_bytes(key, bytes, sizeof(bytes));
}

static void put_be64(struct key *key, uint64_t value)
{
    uint8_t bytes[sizeof(value)];

    bytes_put_be64(bytes, value);
    put_bytes(key, bytes, sizeof(bytes));
}

/* Inverted: newer times sort first. The sign bit is turned, so that times before 1970 sort too. */
static uint64_t invert_time(int64_t time_us)
{
    return ~((uint64_t)time_us ^ (1ull << 63));
}

static void put_newest_first(struct key *key, int64_t created_at_us, uint64_t seq)
{
    put_be64(key, invert_time(created_at_us));
    put_be64(key, ~seq);
}

static void put_hash(struct key *key, struct slice text)
{
    struct sha256_digest digest = sha256(text);

    put_bytes(key, digest.bytes, HASH_BYTES);
}

/* The first `width` bytes of a text that keeps its order; zeros behind a shorter one. */
static void put_padded(struct key *key, struct slice text, size_t width)
{
    ASSERT(key->size + width <= sizeof(key->bytes));
    memset(key->bytes + key->size, 0, width);
    if (text.size > 0) {
        memcpy(key->bytes + key->size, text.data, text.size < width ? text.size : width);
    }
    key->size += width;
}

struct key_fingerprint key_fingerprint_of(struct slice layout_fingerprint)
{
    struct sha256_digest digest = sha256(layout_fingerprint);
    struct key_fingerprint fingerprint;

    memcpy(fingerprint.bytes, digest.bytes, sizeof(fingerprint.bytes));
    return fingerprint;
}

struct key key_global_prefix(void)
{
    struct key key = {.size = ORG_BYTES};

    return key;
}

struct key key_org(struct org_id org)
{
    static const struct uuid zero;
    struct key key;

    ASSERT(!uuid_equal(org.uuid, zero));
    memcpy(key.bytes, org.uuid.bytes, ORG_BYTES);
    key.size = ORG_BYTES;
    return key;
}

struct key key_event(struct org_id org, uint64_t seq)
{
    struct key key = key_org(org);

    put_be64(&key, seq);
    return key;
}

struct key key_event_id(struct org_id org, struct uuid id)
{
    struct key key = key_org(org);

    put_bytes(&key, id.bytes, sizeof(id.bytes));
    return key;
}

struct key key_subject_prefix(struct org_id org, enum subject_kind kind, struct slice id)
{
    struct key key = key_org(org);

    put_byte(&key, (uint8_t)kind);
    put_hash(&key, id);
    return key;
}

struct key key_subject(struct org_id org, enum subject_kind kind, struct slice id,
                       int64_t created_at_us, uint64_t seq)
{
    struct key key = key_subject_prefix(org, kind, id);

    put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_backfill(struct org_id org, int64_t created_at_us, uint64_t seq)
{
    struct key key = key_org(org);

    put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_layout_prefix(struct org_id org, const struct key_fingerprint *fingerprint)
{
    struct key key = key_org(org);

    put_bytes(&key, fingerprint->bytes, sizeof(fingerprint->bytes));
    return key;
}

struct key key_layout_head(struct org_id org, const struct key_fingerprint *fingerprint)
{
    static const uint8_t zeros[NEWEST_FIRST_BYTES];
    struct key key = key_layout_prefix(org, fingerprint);

    put_bytes(&key, zeros, sizeof(zeros));
    return key;
}

struct key key_example(struct org_id org, const struct key_fingerprint *fingerprint,
                       int64_t created_at_us, uint64_t seq)
{
    struct key key = key_layout_prefix(org, fingerprint);

    put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_example_mark(struct org_id org, uint64_t seq)
{
    return key_event(org, seq);
}

struct key key_entity_prefix(struct org_id org, struct slice entity_type, struct slice entity_id)
{
    struct key key = key_org(org);
    /* Neither text has a NUL, so no two pairs give the same bytes. */
    struct slice pieces[] = {entity_type, slice_of("", 1), entity_id};
    struct sha256_digest digest = sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));

    put_bytes(&key, digest.bytes, HASH_BYTES);
    return key;
}

struct key key_entity(struct org_id org, struct slice entity_type, struct slice entity_id,
                      uint64_t seq)
{
    struct key key = key_entity_prefix(org, entity_type, entity_id);

    put_be64(&key, ~seq);
    return key;
}

struct key key_document(struct org_id org, struct slice document_id)
{
    struct key key = key_org(org);

    put_hash(&key, document_id);
    return key;
}

struct key key_document_time(struct org_id org, int64_t created_at_us, uint64_t seq)
{
    return key_backfill(org, created_at_us, seq);
}

struct key key_document_layout(struct org_id org, const struct key_fingerprint *fingerprint,
                               int64_t created_at_us, uint64_t seq)
{
    return key_example(org, fingerprint, created_at_us, seq);
}

struct key key_profile(struct org_id org, const struct key_fingerprint *fingerprint)
{
    return key_layout_prefix(org, fingerprint);
}

struct key key_profile_last_seen(struct org_id org, int64_t last_seen_at_us,
                                 const struct sha256_digest *measured)
{
    struct key key = key_org(org);

    put_be64(&key, invert_time(last_seen_at_us));
    put_bytes(&key, measured->bytes, sizeof(measured->bytes));
    return key;
}

struct key key_profile_most_seen(struct org_id org, uint64_t seen_count,
                                 const struct sha256_digest *measured)
{
    struct key key = key_org(org);

    put_be64(&key, ~seen_count);
    put_bytes(&key, measured->bytes, sizeof(measured->bytes));
    return key;
}

struct key key_counter_day_prefix(struct org_id org, uint32_t day)
{
    struct key key = key_org(org);

    put_be32(&key, day);
    return key;
}

struct key key_counter(struct org_id org, uint32_t day, enum counter_dimension dimension,
                       struct slice name)
{
    struct key key = key_counter_day_prefix(org, day);

    put_byte(&key, (uint8_t)dimension);
    put_hash(&key, name);
    return key;
}

struct key key_layout_stats(struct org_id org, const struct key_fingerprint *fingerprint)
{
    return key_layout_prefix(org, fingerprint);
}

struct key key_extraction(struct org_id org, uint64_t seq)
{
    return key_event(org, seq);
}

struct key key_extraction_subject(struct org_id org, enum subject_kind kind, struct slice id)
{
    return key_subject_prefix(org, kind, id);
}

struct key key_exposure(struct org_id org, const uint8_t reference_hash[16])
{
    struct key key = key_org(org);

    put_bytes(&key, reference_hash, HASH_BYTES);
    return key;
}

struct key key_outcome(struct org_id org, uint64_t exposure_seq, uint8_t outcome_kind,
                       struct slice subject)
{
    struct key key = key_event(org, exposure_seq);

    put_byte(&key, outcome_kind);
    put_hash(&key, subject);
    return key;
}

struct key key_mapping(struct org_id org, uint64_t seq)
{
    return key_event(org, seq);
}

struct key key_mapping_customer_prefix(struct org_id org, struct slice customer_id)
{
    struct key key = key_org(org);

    put_hash(&key, customer_id);
    return key;
}

struct key key_mapping_sku_prefix(struct org_id org, struct slice customer_id,
                                  struct slice folded_sku)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    if (folded_sku.size > 0) {
        put_bytes(&key, folded_sku.data,
                  folded_sku.size < KEY_SKU_BYTES ? folded_sku.size : KEY_SKU_BYTES);
    }
    return key;
}

struct key key_mapping_sku(struct org_id org, struct slice customer_id, struct slice folded_sku,
                           uint64_t seq)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    put_padded(&key, folded_sku, KEY_SKU_BYTES);
    put_be64(&key, seq);
    return key;
}

struct key key_mapping_pair_prefix(struct org_id org, struct slice customer_id,
                                   struct slice folded_customer_sku)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    put_hash(&key, folded_customer_sku);
    return key;
}

struct key key_mapping_pair(struct org_id org, struct slice customer_id,
                            struct slice folded_customer_sku, struct slice folded_internal_sku)
{
    struct key key = key_mapping_pair_prefix(org, customer_id, folded_customer_sku);

    put_hash(&key, folded_internal_sku);
    return key;
}

struct key key_mapping_confirmed(struct org_id org, struct slice customer_id,
                                 struct slice folded_customer_sku)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    put_hash(&key, folded_customer_sku);
    return key;
}

struct key key_mapping_similar(struct org_id org, struct slice customer_id, uint32_t block)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    put_be32(&key, block);
    return key;
}

struct key key_prompt_template_prefix(struct org_id org, struct slice name)
{
    struct key key = key_org(org);

    put_padded(&key, name, KEY_NAME_BYTES);
    put_hash(&key, name);
    return key;
}

struct key key_prompt_template(struct org_id org, struct slice name, uint32_t version)
{
    struct key key = key_prompt_template_prefix(org, name);

    put_be32(&key, ~version);
    return key;
}

struct key key_settings(struct org_id org)
{
    return key_org(org);
}

struct key key_organization_global(struct uuid organization)
{
    struct key key = key_global_prefix();

    put_bytes(&key, organization.bytes, sizeof(organization.bytes));
    return key;
}

struct key key_organization_name_global(struct slice name)
{
    struct key key = key_global_prefix();

    put_hash(&key, name);
    return key;
}

struct key key_token_global(uint32_t key_id)
{
    struct key key = key_global_prefix();

    put_be32(&key, key_id);
    return key;
}

struct key key_token_by_org(struct org_id org, uint32_t key_id)
{
    struct key key = key_org(org);

    put_be32(&key, key_id);
    return key;
}

struct key key_idempotency(struct org_id org, uint32_t hour, const uint8_t hash[16])
{
    struct key key = key_org(org);

    put_be32(&key, hour);
    put_bytes(&key, hash, HASH_BYTES);
    return key;
}

struct key key_meta_global(struct slice name)
{
    struct key key = key_global_prefix();

    put_bytes(&key, name.data, name.size);
    return key;
}

enum err key_read_event(struct slice key, uint64_t *ret_seq)
{
    if (key.size != ORG_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(key.data + ORG_BYTES);
    return OK;
}

enum err key_read_newest_first(struct slice key, int64_t *ret_created_at_us, uint64_t *ret_seq)
{
    const uint8_t *tail = NULL;

    if (key.size < ORG_BYTES + NEWEST_FIRST_BYTES) {
        return ERR_CORRUPT;
    }
    tail = key.data + key.size - NEWEST_FIRST_BYTES;
    *ret_created_at_us = (int64_t)(~bytes_get_be64(tail) ^ (1ull << 63));
    *ret_seq = ~bytes_get_be64(tail + sizeof(uint64_t));
    return OK;
}

enum err key_read_profile_order(struct slice key, struct sha256_digest *ret_measured)
{
    if (key.size != ORG_BYTES + sizeof(uint64_t) + SHA256_BYTES) {
        return ERR_CORRUPT;
    }
    memcpy(ret_measured->bytes, key.data + ORG_BYTES + sizeof(uint64_t), SHA256_BYTES);
    return OK;
}

enum err key_read_counter(struct slice key, uint32_t *ret_day,
                          enum counter_dimension *ret_dimension)
{
    uint8_t dimension = 0;

    if (key.size != ORG_BYTES + sizeof(uint32_t) + 1 + HASH_BYTES) {
        return ERR_CORRUPT;
    }
    dimension = key.data[ORG_BYTES + sizeof(uint32_t)];
    if (dimension == 0 || dimension > COUNTER_DIMENSION_MAX) {
        return ERR_CORRUPT;
    }
    *ret_day = bytes_get_be32(key.data + ORG_BYTES);
    *ret_dimension = (enum counter_dimension)dimension;
    return OK;
}

enum err key_read_mapping_sku(struct slice key, uint64_t *ret_seq)
{
    if (key.size != ORG_BYTES + HASH_BYTES + KEY_SKU_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(key.data + ORG_BYTES + HASH_BYTES + KEY_SKU_BYTES);
    return OK;
}

enum err key_read_token(struct slice key, uint32_t *ret_key_id)
{
    if (key.size != ORG_BYTES + sizeof(uint32_t)) {
        return ERR_CORRUPT;
    }
    *ret_key_id = bytes_get_be32(key.data + ORG_BYTES);
    return OK;
}
