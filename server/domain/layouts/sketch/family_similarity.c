/*
 * family_similarity.c: comparing sketches. Shares are compared by cross-multiplication; there are no
 * floats.
 */
#include "server/domain/layouts/sketch/family_sketch_internal.h"

/* A document without a sketch is not similar to any other. */
static bool is_comparable(const struct family_sketch *left, const struct family_sketch *right)
{
    return left->count >= FAMILY_SKETCH_FEATURES_MIN && right->count >= FAMILY_SKETCH_FEATURES_MIN;
}

struct family_similarity family_sketch_compare(const struct family_sketch *left,
                                               const struct family_sketch *right)
{
    struct family_similarity similarity = {0, 0};
    uint32_t l = 0;
    uint32_t r = 0;

    if (!is_comparable(left, right)) {
        return similarity;
    }
    /* Advances without branches, because the processor cannot predict which sketch has the next
     * feature. */
    while (l < left->count && r < right->count && similarity.of < FAMILY_SKETCH_FEATURES_MAX) {
        uint32_t a = left->features[l];
        uint32_t b = right->features[r];

        l += a <= b;
        r += b <= a;
        similarity.shared += a == b;
        similarity.of++;
    }
    /* One of the two has ended; the other's remaining features are not shared. */
    similarity.of += (left->count - l) + (right->count - r);
    if (similarity.of > FAMILY_SKETCH_FEATURES_MAX) {
        similarity.of = FAMILY_SKETCH_FEATURES_MAX;
    }
    return similarity;
}

/* Returns whether the two share enough words. Called only for pairs that are otherwise similar, since most
 * comparisons need no count of words. */
static bool shares_words(const struct family_sketch *left, const struct family_sketch *right)
{
    struct family_difference difference;
    uint32_t shared = 0;
    uint32_t fewer = 0;

    family_sketch_difference(left, right, &difference);
    shared = difference.shared[FAMILY_FEATURE_WORD];
    fewer = difference.only_left[FAMILY_FEATURE_WORD];
    if (difference.only_right[FAMILY_FEATURE_WORD] < fewer) {
        fewer = difference.only_right[FAMILY_FEATURE_WORD];
    }
    return shared >= FAMILY_SHARED_WORDS_MIN || 2 * shared >= shared + fewer;
}

bool family_sketch_is_family(const struct family_sketch *left, const struct family_sketch *right,
                             struct family_similarity *ret_similarity)
{
    struct family_similarity similarity = family_sketch_compare(left, right);

    *ret_similarity = similarity;
    return similarity.of > 0 &&
           100 * similarity.shared >= FAMILY_SIMILARITY_MIN_HUNDREDTHS * similarity.of &&
           shares_words(left, right);
}

/* 0 / 0 is less than every other share. */
int family_similarity_order(struct family_similarity left, struct family_similarity right)
{
    uint32_t a = left.shared * right.of;
    uint32_t b = right.shared * left.of;

    if (left.of == 0 || right.of == 0) {
        return (left.of > 0) - (right.of > 0);
    }
    return (a > b) - (a < b);
}

bool family_match_offer(struct family_match *best, const struct family_sketch *document,
                        const struct family_sketch *candidate, uint64_t seq)
{
    struct family_similarity similarity;
    int order = 0;

    if (!family_sketch_is_family(document, candidate, &similarity)) {
        return false;
    }
    order = family_similarity_order(similarity, best->similarity);
    if (order < 0 || (order == 0 && seq <= best->seq)) {
        return false;
    }
    *best = (struct family_match){.similarity = similarity, .seq = seq};
    return true;
}

void family_sketch_difference(const struct family_sketch *left, const struct family_sketch *right,
                              struct family_difference *ret_difference)
{
    struct family_difference difference = {.similarity = family_sketch_compare(left, right)};
    uint32_t l = 0;
    uint32_t r = 0;

    for (uint32_t i = 0; i < difference.similarity.of; i++) {
        /* No feature is UINT32_MAX, since its kind is unknown. */
        uint32_t a = l < left->count ? left->features[l] : UINT32_MAX;
        uint32_t b = r < right->count ? right->features[r] : UINT32_MAX;
        uint32_t *counts = a == b  ? difference.shared
                           : a < b ? difference.only_left
                                   : difference.only_right;

        counts[(a < b ? a : b) & FEATURE_KIND_MASK]++;
        l += a <= b;
        r += b <= a;
    }
    *ret_difference = difference;
}
