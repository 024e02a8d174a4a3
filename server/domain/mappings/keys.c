/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/mappings/keys.h"

#include "store/base/bytes.h"

struct key key_mapping(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

struct key key_mapping_customer_prefix(struct org_id org, struct slice customer_id)
{
    struct key key = key_org(org);

    key_put_hash(&key, customer_id);
    return key;
}

/* Appends the part of a folded SKU that a key contains: its beginning. */
static struct key with_sku_prefix(struct key key, struct slice folded_sku)
{
    if (folded_sku.size > 0) {
        key_put_bytes(&key, folded_sku.data,
                      folded_sku.size < KEY_SKU_BYTES ? folded_sku.size : KEY_SKU_BYTES);
    }
    return key;
}

/* Appends a whole folded SKU, and the mapping. */
static struct key with_sku(struct key key, struct slice folded_sku, uint64_t seq)
{
    key_put_padded(&key, folded_sku, KEY_SKU_BYTES);
    key_put_be64(&key, seq);
    return key;
}

struct key key_mapping_sku_prefix(struct org_id org, struct slice customer_id,
                                  struct slice folded_sku)
{
    return with_sku_prefix(key_mapping_customer_prefix(org, customer_id), folded_sku);
}

struct key key_mapping_sku(struct org_id org, struct slice customer_id, struct slice folded_sku,
                           uint64_t seq)
{
    return with_sku(key_mapping_customer_prefix(org, customer_id), folded_sku, seq);
}

/* Returns the prefix of an internal SKU's rows. */
static struct key internal_prefix(struct org_id org, struct slice folded_internal_sku)
{
    struct key key = key_org(org);

    key_put_hash(&key, folded_internal_sku);
    return key;
}

struct key key_mapping_internal_prefix(struct org_id org, struct slice folded_internal_sku,
                                       struct slice folded_sku)
{
    return with_sku_prefix(internal_prefix(org, folded_internal_sku), folded_sku);
}

struct key key_mapping_internal(struct org_id org, struct slice folded_internal_sku,
                                struct slice folded_sku, uint64_t seq)
{
    return with_sku(internal_prefix(org, folded_internal_sku), folded_sku, seq);
}

struct key key_mapping_all_prefix(struct org_id org, struct slice folded_sku)
{
    return with_sku_prefix(key_org(org), folded_sku);
}

struct key key_mapping_all(struct org_id org, struct slice folded_sku, uint64_t seq)
{
    return with_sku(key_org(org), folded_sku, seq);
}

struct key key_mapping_pair_prefix(struct org_id org, struct slice customer_id,
                                   struct slice folded_customer_sku)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    key_put_hash(&key, folded_customer_sku);
    return key;
}

struct key key_mapping_pair(struct org_id org, struct slice customer_id,
                            struct slice folded_customer_sku, struct slice folded_internal_sku)
{
    struct key key = key_mapping_pair_prefix(org, customer_id, folded_customer_sku);

    key_put_hash(&key, folded_internal_sku);
    return key;
}

struct key key_mapping_confirmed(struct org_id org, struct slice customer_id,
                                 struct slice folded_customer_sku)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    key_put_hash(&key, folded_customer_sku);
    return key;
}

struct key key_mapping_similar(struct org_id org, struct slice customer_id, uint32_t block)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    key_put_be32(&key, block);
    return key;
}

enum err key_read_mapping_order(struct slice key, uint64_t *ret_seq)
{
    const size_t bytes = KEY_ORG_BYTES + KEY_SKU_BYTES + sizeof(uint64_t);

    if (key.size != bytes && key.size != bytes + KEY_HASH_BYTES) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(key.data + key.size - sizeof(uint64_t));
    return OK;
}
