/*
 * records.h: rows of counters as plain C, and their bytes: messages of proto/record/counters.proto.
 * The rules of store/records.h apply: slices are borrowed from the bytes, and bytes that do not decode are
 * ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_COUNTERS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_COUNTERS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* COUNTER */
struct counter_record {
    uint64_t count; /* must not be 0 */
    struct slice name; /* name, of which the key contains the hash */
};

MUST_CHECK enum err record_decode_counter(struct slice bytes, struct counter_record *ret_record);

MUST_CHECK enum err record_encode_counter(struct arena *arena, const struct counter_record *record,
                                          struct slice *ret_bytes);

#endif
