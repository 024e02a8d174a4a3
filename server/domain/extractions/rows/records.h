/*
 * records.h: rows of extractions as plain C, and their bytes: messages of proto/record/extractions.proto.
 * The rules of store/records.h hold: slices are borrowed from the bytes, and what does not decode is
 * ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_ROWS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* Corrected fields of one extraction that are distinguished; further ones are not counted. */
#define RECORD_CORRECTED_FIELDS_MAX 256

/* EXTRACTION */
struct extraction_record {
    uint64_t seq;
    int64_t created_at_us;
    struct slice layout_fingerprint; /* text */
    uint32_t arm; /* errata.v1.ExperimentArm */
    bool layout_ready; /* the layout had 3 examples when it was made */
    uint32_t field_count; /* 0: not reported */
    uint64_t corrected_by_seq; /* the first correction; 0: not corrected */
    uint64_t
        corrected_fields[RECORD_CORRECTED_FIELDS_MAX]; /* hashes of entity and field, each once;
                                                               where field_count is reported */
    size_t corrected_field_count;
};

/* EXTRACTION_SUBJECT: the newest extraction of a document or draft order, by created_at, then seq. */
struct extraction_subject_record {
    uint64_t seq;
    int64_t created_at_us;
};

MUST_CHECK enum err record_decode_extraction(struct slice bytes,
                                             struct extraction_record *ret_record);
MUST_CHECK enum err record_decode_extraction_subject(struct slice bytes,
                                                     struct extraction_subject_record *ret_record);

MUST_CHECK enum err record_encode_extraction(struct arena *arena,
                                             const struct extraction_record *record,
                                             struct slice *ret_bytes);
MUST_CHECK enum err record_encode_extraction_subject(struct arena *arena,
                                                     const struct extraction_subject_record *record,
                                                     struct slice *ret_bytes);

#endif
