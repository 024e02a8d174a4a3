/*
 * family_sketch.h: the sketch of a document's page 1, and the similarity of two sketches. Documents
 * of one layout family have similar sketches. Pure functions over integers, so that replaying an
 * event gives the same result on every machine.
 *
 * A sketch is a sample of the page's features: each feature (a word at its place, a ruling, a font)
 * is hashed to 32 bits, and the 128 smallest hashes are kept (a bottom-k sketch: Cohen and Kaplan,
 * "Summarizing data using bottom-k sketches", PODC 2007). The lowest 3 bits of a hash hold the
 * feature's kind, so that a person can see which kinds two documents share.
 *
 * A page with little text has a second section, of words without their places (struct family_words).
 *
 * All functions except family_sketch_is_valid and family_sketch_decode expect valid sketches.
 *
 * The features are chosen in server/jobs/pdf/measure/family.c; this module knows only their kinds.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_SKETCH_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_SKETCH_H

#include "store/base/attributes.h"
#include "store/base/err.h"
#include "store/base/slice.h"

/* A page with fewer features, such as a scan, has no sketch: two such pages are similar by chance. */
#define FAMILY_SKETCH_FEATURES_MIN 8
/* Maximum features of a sketch: more would not make the similarity noticeably more precise, and 128 fit into
 * 512 bytes. */
#define FAMILY_SKETCH_FEATURES_MAX 128
/* Maximum words of a letterhead; fewer than the minimum have none: two such pages are similar by chance. */
#define FAMILY_LETTERHEAD_WORDS_MIN 4
#define FAMILY_LETTERHEAD_WORDS_MAX 12
/* The sample of the other words. */
#define FAMILY_BODY_WORDS_MIN 4
#define FAMILY_BODY_WORDS_MAX 48
/* 4 bytes each. */
#define FAMILY_SKETCH_BYTES_MAX                                                                    \
    (4 * (FAMILY_SKETCH_FEATURES_MAX + FAMILY_LETTERHEAD_WORDS_MAX + FAMILY_BODY_WORDS_MAX))
/* Two documents belong to one family if their similarity is at least this, in hundredths, */
#define FAMILY_SIMILARITY_MIN_HUNDREDTHS 30
/* and they share this many words, or half the words of the one with fewer: pages that the same program created
 * share fonts and rulings, even from different senders. */
#define FAMILY_SHARED_WORDS_MIN 6
/* or, if not, they share at least this share of the words of both letterheads, in tenths, */
#define FAMILY_LETTERHEAD_MIN_TENTHS 6
/* and of the other words of the page with fewer. */
#define FAMILY_BODY_MIN_TENTHS 5

/* The numbers are part of stored sketches. */
enum family_feature_kind {
    FAMILY_FEATURE_WORD = 0, /* a word without digits at its place, near the top or the bottom */
    FAMILY_FEATURE_VERTICAL = 1, /* the x position of a vertical ruling */
    FAMILY_FEATURE_HORIZONTAL = 2, /* the extent of a horizontal ruling */
    FAMILY_FEATURE_FONT = 3, /* a font and its size */
    FAMILY_FEATURE_PAGE = 4, /* the size of the page */
    FAMILY_FEATURE_KINDS
};

/* Words of a page with little text, without digits and without their places: scanned and cropped pages of one sender have
 * the same words at other places. A letterhead is not enough, since letters to one recipient may begin with that
 * recipient's address. Hashed as features are; ascending, distinct; the lowest 3 bits are those
 * of the sections, which follow the features in stored sketches. */
enum family_word_section {
    FAMILY_SECTION_LETTERHEAD = FAMILY_FEATURE_KINDS,
    FAMILY_SECTION_BODY
};

struct family_words {
    uint32_t letterhead_count; /* FAMILY_LETTERHEAD_WORDS_MIN to _MAX; 0: none, and then no body */
    uint32_t letterhead[FAMILY_LETTERHEAD_WORDS_MAX];
    uint32_t body_count; /* FAMILY_BODY_WORDS_MIN to _MAX */
    uint32_t body
        [FAMILY_BODY_WORDS_MAX]; /* the smallest hashes of words that are not in the letterhead */
};

struct family_sketch {
    uint32_t count; /* FAMILY_SKETCH_FEATURES_MIN to _MAX; 0: no sketch */
    uint32_t features[FAMILY_SKETCH_FEATURES_MAX]; /* `count` of them, ascending, distinct */
    struct family_words words; /* none without a sketch */
};

/* ---- building a sketch ---- */

/* Collects features in bounded memory, however many are added. */
struct family_sketch_builder {
    uint32_t count;
    uint32_t limit; /* features above it are not among the smallest */
    uint32_t features[2 * FAMILY_SKETCH_FEATURES_MAX];
};

void family_sketch_begin(struct family_sketch_builder *builder);
/* Adds a feature by its text, in any order and any number of times. */
void family_sketch_add(struct family_sketch_builder *builder, enum family_feature_kind kind,
                       struct slice text);
/* Returns the smallest features, without words; no sketch if there are fewer than FAMILY_SKETCH_FEATURES_MIN. */
void family_sketch_finish(struct family_sketch_builder *builder, struct family_sketch *ret_sketch);

/* Returns whether the counts are valid, and the features and words ascending, distinct and of known kinds. */
bool family_sketch_is_valid(const struct family_sketch *sketch);
/* Counts the features by kind. */
void family_sketch_count(const struct family_sketch *sketch,
                         uint32_t ret_counts[FAMILY_FEATURE_KINDS]);

/* ---- bytes ---- */

/* Writes the features, the letterhead and the body, 4 bytes each, big-endian; returns the number of bytes, 0 for no
 * sketch. */
size_t family_sketch_encode(const struct family_sketch *sketch,
                            uint8_t bytes[FAMILY_SKETCH_BYTES_MAX]);
/* ERR_CORRUPT unless the bytes are those of a valid sketch, or empty. */
MUST_CHECK enum err family_sketch_decode(struct slice bytes, struct family_sketch *ret_sketch);

/* ---- similarity ---- */

/* The share `shared` / `of`: of the `of` smallest features of the union of two sketches, at most
 * FAMILY_SKETCH_FEATURES_MAX, `shared` are in both. 0 / 0 if one of them is empty. */
struct family_similarity {
    uint32_t shared;
    uint32_t of;
    bool by_letterhead; /* a share of the words of both letterheads, not of the features */
};

struct family_similarity family_sketch_compare(const struct family_sketch *left,
                                               const struct family_sketch *right);
/* Negative, 0 or positive, as `left` is less than, equal to or more than `right`. Any share of features is more than a
 * share of the letterheads' words. */
int family_similarity_order(struct family_similarity left, struct family_similarity right);

/* Returns whether documents with these sketches are of one family, and their similarity: of the letterheads if the
 * documents are of one family only by these. */
bool family_sketch_is_family(const struct family_sketch *left, const struct family_sketch *right,
                             struct family_similarity *ret_similarity);

/* The most similar sketch so far; zeroed before the first offer. */
struct family_match {
    struct family_similarity similarity; /* 0 / 0: no match */
    uint64_t seq; /* seq of the matching document */
};

/* Compares a document with a candidate, the sketch of the document `seq`. Returns whether the
 * candidate is the best match so far: similar enough to be of the document's family, and more similar
 * than the best before, or as similar and newer. The order of offers does not change the result. */
bool family_match_offer(struct family_match *best, const struct family_sketch *document,
                        const struct family_sketch *candidate, uint64_t seq);

/* The features that two sketches share, and those of only one of them, by kind. */
struct family_difference {
    struct family_similarity similarity;
    uint32_t shared[FAMILY_FEATURE_KINDS];
    uint32_t only_left[FAMILY_FEATURE_KINDS];
    uint32_t only_right[FAMILY_FEATURE_KINDS];
};

/* Counts the features of the union that family_sketch_compare examines; all three counts add up to
 * `similarity.of`. */
void family_sketch_difference(const struct family_sketch *left, const struct family_sketch *right,
                              struct family_difference *ret_difference);

#endif
