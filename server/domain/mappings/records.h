/*
 * records.h: rows of mappings as plain C, and their bytes: messages of proto/record/mappings.proto.
 * The rules of store/records.h apply: slices are borrowed from the bytes, and bytes that do not decode are
 * ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* MAPPING: a mapping as it is now. */
struct mapping_record {
    struct uuid id; /* id of the event that created it */
    struct slice customer_id;
    struct slice customer_sku; /* customer SKU as written */
    struct slice internal_sku;
    uint32_t status; /* an errata.v1.MappingStatus; not 0 */
    double confidence; /* confidence from 0 to 1 */
    uint64_t support_count;
    uint64_t use_count;
    int64_t last_used_at_us; /* 0: never used */
    int64_t created_at_us;
    int64_t updated_at_us;
    uint64_t last_seq; /* number of the last event with a MappingChange of it */
    uint32_t version; /* number of such events, from 1 */
    uint32_t similar_block; /* its block in MAPPING_SIMILAR, from 1; 0: none */
    int64_t
        settled_at_us; /* created_at of its newest judgement, or of its suggestion if there is none */
};

/* MAPPING_CONFIRMED: the internal SKU of a customer's SKU. */
struct mapping_confirmed_record {
    uint64_t seq; /* number of the mapping's first event */
    uint32_t version; /* version of the mapping at its last confirmation */
    struct uuid id;
    struct slice internal_sku;
};

MUST_CHECK enum err record_decode_mapping(struct slice bytes, struct mapping_record *ret_record);
MUST_CHECK enum err record_decode_mapping_confirmed(struct slice bytes,
                                                    struct mapping_confirmed_record *ret_record);

MUST_CHECK enum err record_encode_mapping(struct arena *arena, const struct mapping_record *record,
                                          struct slice *ret_bytes);
MUST_CHECK enum err record_encode_mapping_confirmed(struct arena *arena,
                                                    const struct mapping_confirmed_record *record,
                                                    struct slice *ret_bytes);

#endif
