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

struct key key_mapping_sku_prefix(struct org_id org, struct slice customer_id,
                                  struct slice folded_sku)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    if (folded_sku.size > 0) {
        key_put_bytes(&key, folded_sku.data,
                      folded_sku.size < KEY_SKU_BYTES ? folded_sku.size : KEY_SKU_BYTES);
    }
    return key;
}

struct key key_mapping_sku(struct org_id org, struct slice customer_id, struct slice folded_sku,
                           uint64_t seq)
{
    struct key key = key_mapping_customer_prefix(org, customer_id);

    key_put_padded(&key, folded_sku, KEY_SKU_BYTES);
    key_put_be64(&key, seq);
    return key;
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

enum err key_read_mapping_sku(struct slice key, uint64_t *ret_seq)
{
    if (key.size != KEY_ORG_BYTES + KEY_HASH_BYTES + KEY_SKU_BYTES + sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(key.data + KEY_ORG_BYTES + KEY_HASH_BYTES + KEY_SKU_BYTES);
    return OK;
}
