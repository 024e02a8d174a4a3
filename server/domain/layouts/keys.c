/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/layouts/keys.h"

#include "store/base/bytes.h"

struct key_fingerprint key_fingerprint_of(struct slice layout_fingerprint)
{
    struct sha256_digest digest = sha256(layout_fingerprint);
    struct key_fingerprint fingerprint;

    memcpy(fingerprint.bytes, digest.bytes, sizeof(fingerprint.bytes));
    return fingerprint;
}

struct key key_layout_prefix(struct org_id org, const struct key_fingerprint *fingerprint)
{
    struct key key = key_org(org);

    key_put_bytes(&key, fingerprint->bytes, sizeof(fingerprint->bytes));
    return key;
}

struct key key_layout_head(struct org_id org, const struct key_fingerprint *fingerprint)
{
    struct key key = key_layout_prefix(org, fingerprint);

    key_put_be64(&key, UINT64_MAX);
    key_put_be64(&key, UINT64_MAX);
    return key;
}

struct key key_example(struct org_id org, const struct key_fingerprint *fingerprint,
                       int64_t created_at_us, uint64_t seq)
{
    struct key key = key_layout_prefix(org, fingerprint);

    key_put_oldest_first(&key, created_at_us, seq);
    return key;
}

enum err key_read_example(struct slice key, int64_t *ret_created_at_us, uint64_t *ret_seq)
{
    const size_t prefix = KEY_ORG_BYTES + sizeof(struct key_fingerprint);

    if (key.size != prefix + 2 * sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_created_at_us = (int64_t)(bytes_get_be64(key.data + prefix) ^ (1ull << 63));
    *ret_seq = bytes_get_be64(key.data + prefix + sizeof(uint64_t));
    return OK;
}

struct key key_document(struct org_id org, struct slice document_id)
{
    struct key key = key_org(org);

    key_put_hash(&key, document_id);
    return key;
}

struct key key_document_time(struct org_id org, int64_t created_at_us, uint64_t seq)
{
    return key_org_newest_first(org, created_at_us, seq);
}

struct key key_document_layout(struct org_id org, const struct key_fingerprint *fingerprint,
                               int64_t created_at_us, uint64_t seq)
{
    struct key key = key_layout_prefix(org, fingerprint);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_profile(struct org_id org, const struct key_fingerprint *fingerprint)
{
    return key_layout_prefix(org, fingerprint);
}

struct key key_profile_last_seen(struct org_id org, int64_t last_seen_at_us,
                                 const struct sha256_digest *measured)
{
    struct key key = key_org(org);

    key_put_be64(&key, key_invert_time(last_seen_at_us));
    key_put_bytes(&key, measured->bytes, sizeof(measured->bytes));
    return key;
}

struct key key_profile_most_seen(struct org_id org, uint64_t seen_count,
                                 const struct sha256_digest *measured)
{
    struct key key = key_org(org);

    key_put_be64(&key, ~seen_count);
    key_put_bytes(&key, measured->bytes, sizeof(measured->bytes));
    return key;
}

struct key key_family(struct org_id org, uint64_t family_seq)
{
    struct key key = key_org(org);

    key_put_be64(&key, ~family_seq);
    return key;
}

struct key key_family_sketch(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

struct key key_family_prefix(struct org_id org, uint64_t family_seq)
{
    return key_org_seq(org, family_seq);
}

struct key key_family_layout(struct org_id org, uint64_t family_seq,
                             const struct key_fingerprint *fingerprint)
{
    struct key key = key_family_prefix(org, family_seq);

    key_put_bytes(&key, fingerprint->bytes, sizeof(fingerprint->bytes));
    return key;
}

struct key key_layout_family(struct org_id org, const struct key_fingerprint *fingerprint,
                             uint64_t family_seq)
{
    struct key key = key_layout_prefix(org, fingerprint);

    key_put_be64(&key, family_seq);
    return key;
}

struct key key_family_document(struct org_id org, uint64_t family_seq, int64_t created_at_us,
                               uint64_t seq)
{
    struct key key = key_family_prefix(org, family_seq);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}

struct key key_family_example(struct org_id org, uint64_t family_seq, int64_t created_at_us,
                              uint64_t seq)
{
    return key_family_document(org, family_seq, created_at_us, seq);
}

struct key key_document_moved(struct org_id org, struct slice document_id, uint64_t split_seq)
{
    struct key key = key_document(org, document_id);

    key_put_be64(&key, split_seq);
    return key;
}

struct key key_layout_family_past(struct org_id org, const struct key_fingerprint *fingerprint,
                                  uint64_t family_seq, uint64_t split_seq)
{
    struct key key = key_layout_family(org, fingerprint, family_seq);

    key_put_be64(&key, split_seq);
    return key;
}

enum err key_read_layout_family_past(struct slice key, uint64_t *ret_family_seq,
                                     uint64_t *ret_split_seq)
{
    if (key.size < 2 * sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_split_seq = bytes_get_be64(key.data + key.size - sizeof(uint64_t));
    *ret_family_seq = bytes_get_be64(key.data + key.size - 2 * sizeof(uint64_t));
    return OK;
}

struct key key_family_change(struct org_id org, uint64_t seq)
{
    return key_family(org, seq);
}

enum err key_read_family_change(struct slice key, uint64_t *ret_seq)
{
    if (key.size != KEY_ORG_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = ~bytes_get_be64(key.data + KEY_ORG_BYTES);
    return OK;
}

enum err key_read_last_seq(struct slice key, uint64_t *ret_seq)
{
    if (key.size < KEY_ORG_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(key.data + key.size - sizeof(uint64_t));
    return OK;
}

enum err key_read_profile_order(struct slice key, struct sha256_digest *ret_measured)
{
    if (key.size != KEY_ORG_BYTES + sizeof(uint64_t) + SHA256_BYTES) {
        return ERR_CORRUPT;
    }
    memcpy(ret_measured->bytes, key.data + KEY_ORG_BYTES + sizeof(uint64_t), SHA256_BYTES);
    return OK;
}
