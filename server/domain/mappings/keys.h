/*
 * keys.h: keys of mappings, built from the parts of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_KEYS_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_KEYS_H

#include "store/key.h"

struct key key_mapping(struct org_id org, uint64_t seq);
/* A customer is the hash of its id. `folded_sku` is a folded SKU, or the beginning of one: its
 * first KEY_SKU_BYTES are in the key, then zeros. */
#define KEY_SKU_BYTES 24
/* Prefix of a customer's rows in MAPPING_SKU, MAPPING_PAIR, MAPPING_CONFIRMED and MAPPING_SIMILAR. */
struct key key_mapping_customer_prefix(struct org_id org, struct slice customer_id);
/* Three orders of mappings, each by the beginning of the folded customer SKU, then by the seq of the event that
 * created the mapping: of one customer, of one folded internal SKU, and of all. */
struct key key_mapping_sku(struct org_id org, struct slice customer_id, struct slice folded_sku,
                           uint64_t seq);
struct key key_mapping_internal(struct org_id org, struct slice folded_internal_sku,
                                struct slice folded_sku, uint64_t seq);
struct key key_mapping_all(struct org_id org, struct slice folded_sku, uint64_t seq);
/* Prefixes of their rows whose SKU begins with the part of `folded_sku` that the key contains. */
struct key key_mapping_sku_prefix(struct org_id org, struct slice customer_id,
                                  struct slice folded_sku);
struct key key_mapping_internal_prefix(struct org_id org, struct slice folded_internal_sku,
                                       struct slice folded_sku);
struct key key_mapping_all_prefix(struct org_id org, struct slice folded_sku);
/* Prefix of the mappings of one customer SKU in MAPPING_PAIR. */
struct key key_mapping_pair_prefix(struct org_id org, struct slice customer_id,
                                   struct slice folded_customer_sku);
struct key key_mapping_pair(struct org_id org, struct slice customer_id,
                            struct slice folded_customer_sku, struct slice folded_internal_sku);
struct key key_mapping_confirmed(struct org_id org, struct slice customer_id,
                                 struct slice folded_customer_sku);
struct key key_mapping_similar(struct org_id org, struct slice customer_id, uint32_t block);
/* Reads the seq of a key of one of the three orders. ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_mapping_order(struct slice key, uint64_t *ret_seq);

#endif
