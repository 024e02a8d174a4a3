/*
 * records.h: rows of extractions as plain C, and their bytes: messages of proto/record/extractions.proto. The
 * rules of store/records.h apply: slices are borrowed from the bytes, and bytes that cannot be decoded are
 * ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* Maximum distinct corrected fields of one extraction; further ones are not counted. */
#define RECORD_CORRECTED_FIELDS_MAX 256
/* Maximum corrections that mark one extraction; further ones have no effect on it. */
#define RECORD_CORRECTIONS_MAX 256

/* EXTRACTION */
struct extraction_record {
    uint64_t seq;
    int64_t created_at_us;
    struct slice layout_fingerprint; /* text */
    uint32_t arm; /* errata.v1.ExperimentArm */
    uint32_t exclusion; /* errata.v1.ExperimentExclusion; 0: it counts in its arm */
    uint32_t field_count; /* 0: not reported */
    bool cites_exposures; /* the extraction's event names some */
    uint64_t corrected_by_seq; /* the first correction; 0: not corrected */
    uint64_t
        corrected_fields[RECORD_CORRECTED_FIELDS_MAX]; /* hashes of entity and field, each once */
    size_t corrected_field_count;
    uint64_t correction_seqs[RECORD_CORRECTIONS_MAX]; /* the corrections that mark it */
    size_t correction_count;
};

/* EXTRACTION_KEY */
struct extraction_key_record {
    uint64_t seq;
};

MUST_CHECK enum err record_decode_extraction(struct slice bytes,
                                             struct extraction_record *ret_record);
MUST_CHECK enum err record_decode_extraction_key(struct slice bytes,
                                                 struct extraction_key_record *ret_record);

MUST_CHECK enum err record_encode_extraction(struct arena *arena,
                                             const struct extraction_record *record,
                                             struct slice *ret_bytes);
MUST_CHECK enum err record_encode_extraction_key(struct arena *arena,
                                                 const struct extraction_key_record *record,
                                                 struct slice *ret_bytes);

#endif
