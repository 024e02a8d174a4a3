/*
 * records.h: rows of decisions as plain C, and their bytes: messages of proto/record/decisions.proto. The rules of
 * store/records.h apply: slices are borrowed from the bytes, and bytes that do not decode are ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_DECISIONS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_DECISIONS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* EVALUATOR: counts of decisions by how people judged the evaluator's class. */
struct evaluator_record {
    struct slice evaluator_id; /* not empty */
    uint64_t evaluations; /* number of decisions that it classified */
    uint64_t judged; /* number of these whose class a person set */
    uint64_t overridden; /* number of those that got another class */
};

MUST_CHECK enum err record_decode_evaluator(struct slice bytes,
                                            struct evaluator_record *ret_record);

MUST_CHECK enum err record_encode_evaluator(struct arena *arena,
                                            const struct evaluator_record *record,
                                            struct slice *ret_bytes);

#endif
