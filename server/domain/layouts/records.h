/*
 * records.h: rows of layouts as plain C, and their bytes: messages of proto/record/layouts.proto. The rules of
 * store/records.h apply: slices are borrowed from the bytes, and bytes that cannot be decoded are ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* Number of newest examples whose marks are in the layout's head row; older ones have a row each. */
#define RECORD_MARKS_MAX 32

/* The changing values of one example. */
struct layout_mark {
    uint64_t seq; /* the example's event */
    int64_t created_at_us; /* of the example; the marks have the order of the examples */
    uint64_t superseded_by_seq; /* 0: it is not superseded */
    uint64_t carried_count; /* number of extractions of its layout that carried it */
    uint64_t carried_sum; /* sum of their confidences, in millionths */
};

/* EXAMPLE, key_layout_head: all changing values of a layout. */
struct layout_head_record {
    /* The fingerprint, SHA256_BYTES, of which the row's key only has a hash; empty: no document of it was ingested. */
    struct slice measured;
    uint64_t feedback_count; /* number of events that name the layout */
    uint64_t example_count; /* number of them that are examples */
    struct layout_mark marks[RECORD_MARKS_MAX]; /* marks of the newest examples, newest first */
    size_t mark_count;
    uint64_t first_document_seq; /* seq of the first document of the layout; 0: none was ingested */
    uint64_t first_text_seq; /* seq of the first document with text on page 1; 0: all are scans */
    int64_t updated_at_us; /* when the last event that names the layout was recorded; 0: none */
    uint64_t bare_count; /* number of extractions of the layout that carried no example */
    uint64_t bare_sum; /* sum of their confidences, in millionths */
};

/* The values of a head row that a lookup needs: the marks, as lists of equal length in the bytes of the
 * row, and which of the layout's documents are scans. */
struct layout_marks {
    const uint8_t *seq; /* 8 bytes each, little-endian, unaligned */
    const uint8_t *superseded_by_seq; /* NULL: none is superseded */
    const uint8_t *carried_count; /* NULL if no extraction carried any of them */
    const uint8_t *carried_sum;
    size_t count;
    uint64_t bare_count; /* as in the head */
    uint64_t bare_sum;
    uint64_t first_document_seq; /* as in the head */
    uint64_t first_text_seq;
};

/* DOCUMENT: the values of a document that other modules read; the others are in its event. */
struct document_record {
    uint64_t seq; /* seq of the event with its measured values */
    uint64_t first_seq; /* seq of its first event; differs if the first one had no fingerprint */
    int64_t created_at_us; /* creation time of event `seq` */
    struct sha256_digest sha256; /* sha256 of the PDF's bytes */
    struct slice layout_fingerprint; /* text, or empty: none */
    bool scan; /* page 1 has no text */
    uint64_t family_seq; /* seq of the event that created its layout family; 0: none */
};

/* PROFILE: the sums over the documents of a layout. */
struct profile_record {
    struct sha256_digest measured; /* the digest whose hex form is its fingerprint */
    struct uuid id; /* id of the event that made it */
    uint64_t seen_count; /* documents; from 1 */
    int64_t first_seen_at_us;
    int64_t last_seen_at_us;
    uint64_t page_count_sum;
    uint64_t table_count_sum;
    uint64_t text_coverage_sum; /* hundredths */
    uint64_t text_density_sum; /* ten-thousandths */
    struct slice fp_version; /* version of its last document */
};

MUST_CHECK enum err record_decode_layout_head(struct slice bytes,
                                              struct layout_head_record *ret_record);
/* Returns only `measured`. Accepts the same heads. */
MUST_CHECK enum err record_decode_layout_measured(struct slice bytes, struct slice *ret_measured);
/* Accepts the same heads as record_decode_layout_head. */
MUST_CHECK enum err record_decode_layout_marks(struct slice bytes, struct layout_marks *ret_marks);
/* Finds an example's mark from `*place` on and advances `*place` past it; false if there is none. */
bool record_find_mark(const struct layout_marks *marks, uint64_t seq, size_t *place,
                      uint64_t *ret_superseded_by_seq);
/* Returns the extractions that carried the example whose mark is at `place` (0: the newest). */
void record_read_carried(const struct layout_marks *marks, size_t place, uint64_t *ret_count,
                         uint64_t *ret_sum);
MUST_CHECK enum err record_decode_document(struct slice bytes, struct document_record *ret_record);
MUST_CHECK enum err record_decode_profile(struct slice bytes, struct profile_record *ret_record);

MUST_CHECK enum err record_encode_layout_head(struct arena *arena,
                                              const struct layout_head_record *record,
                                              struct slice *ret_bytes);
MUST_CHECK enum err record_encode_document(struct arena *arena,
                                           const struct document_record *record,
                                           struct slice *ret_bytes);
MUST_CHECK enum err record_encode_profile(struct arena *arena, const struct profile_record *record,
                                          struct slice *ret_bytes);

#endif
