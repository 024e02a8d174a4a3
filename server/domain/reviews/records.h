/*
 * records.h: rows of reviews as plain C, and their bytes: messages of proto/record/reviews.proto. The rules of
 * store/records.h apply: slices are borrowed from the bytes, and bytes that do not decode are ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_RECORDS_H

#include "server/domain/reviews/keys.h"
#include "store/base/arena.h"

/* The flags of a review, in the order of their bits in a row. */
enum review_flag {
    REVIEW_INFORMATION_PRESENT,
    REVIEW_BAD_FORMAT,
    REVIEW_WRONG_INFORMATION,
    REVIEW_WRONG_PHYSICAL_DIMENSIONS,
    REVIEW_FLAG_COUNT
};

/* The answer to a flag. The numbers are in rows. */
enum review_answer {
    REVIEW_ABSENT = 0,
    REVIEW_FALSE = 1,
    REVIEW_TRUE = 2
};

/* REVIEW: the values of a review from which windows and runs are computed. */
struct review_record {
    uint32_t decision; /* errata.v1.ReviewDecision; not 0 */
    struct slice subcategory; /* not empty */
    enum review_answer flags[REVIEW_FLAG_COUNT];
    struct slice missing_spec; /* the encoded field of the Review; or empty */
    struct slice reviewed_by; /* empty: unknown */
    uint32_t reviews_needed; /* not 0 */
    uint64_t retracted_seq; /* seq of the retraction; 0: it was not retracted */
};

/* REVIEW_RUN: a run by its remaining reviews. */
struct review_run_record {
    struct slice run_id; /* not empty */
    uint32_t review_count; /* number of all reviews, including retracted ones */
    uint64_t newest_seq; /* 0: none remains, and the next three members are 0 or empty */
    int64_t newest_created_at_us;
    struct slice subcategory; /* subcategory of the newest one */
    bool is_reviewed; /* the run counts as reviewed */
    uint64_t item_seq; /* seq of the event that has its latest item; 0: there is none */
};

/* The thresholds of a subcategory, in the order of a row. */
enum review_threshold {
    THRESHOLD_BAD_FORMAT,
    THRESHOLD_WRONG_INFORMATION,
    THRESHOLD_WRONG_PHYSICAL_DIMENSIONS,
    THRESHOLD_MISSING_SPEC,
    THRESHOLD_INFORMATION_PRESENT_LOW,
    THRESHOLD_COUNT
};

/* Maximum of a threshold: the runs of a full window. */
#define REVIEW_WINDOW_RUNS 10
/* Maximum reviewers that a run may need. */
#define REVIEWS_NEEDED_MAX 100

/* REVIEW_THRESHOLDS: what a person set for a subcategory. */
struct review_thresholds_record {
    uint64_t seq; /* seq of the event that set them */
    uint32_t values[THRESHOLD_COUNT]; /* 1 to REVIEW_WINDOW_RUNS; 0: the default */
    uint32_t reviews_needed; /* 1 to REVIEWS_NEEDED_MAX; 0: that of the settings */
};

/* FRAGMENT_SET: a version of the wording of guidance. */
struct fragment_set_record {
    uint64_t seq; /* seq of the event that stored it */
    uint64_t approved_seq; /* seq of its last approval; 0: it was never approved */
};

/* Bytes of a REVIEW_NEWEST row: hash of the run, number of its reviews. */
#define REVIEW_NEWEST_BYTES (KEY_HASH_BYTES + sizeof(uint32_t))

MUST_CHECK enum err record_decode_review(struct slice bytes, struct review_record *ret_record);
MUST_CHECK enum err record_decode_review_run(struct slice bytes,
                                             struct review_run_record *ret_record);
MUST_CHECK enum err record_decode_review_thresholds(struct slice bytes,
                                                    struct review_thresholds_record *ret_record);
MUST_CHECK enum err record_decode_fragment_set(struct slice bytes,
                                               struct fragment_set_record *ret_record);

MUST_CHECK enum err record_encode_review(struct arena *arena, const struct review_record *record,
                                         struct slice *ret_bytes);
MUST_CHECK enum err record_encode_review_run(struct arena *arena,
                                             const struct review_run_record *record,
                                             struct slice *ret_bytes);
MUST_CHECK enum err record_encode_review_thresholds(struct arena *arena,
                                                    const struct review_thresholds_record *record,
                                                    struct slice *ret_bytes);
MUST_CHECK enum err record_encode_fragment_set(struct arena *arena,
                                               const struct fragment_set_record *record,
                                               struct slice *ret_bytes);

#endif
