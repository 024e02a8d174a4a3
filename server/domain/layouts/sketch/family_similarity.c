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
    struct family_similarity similarity = {.of = 0};
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

/* Counts the numbers that two ascending lists share. */
static uint32_t count_shared(const uint32_t *left, uint32_t left_count, const uint32_t *right,
                             uint32_t right_count)
{
    uint32_t shared = 0;
    uint32_t l = 0;
    uint32_t r = 0;

    while (l < left_count && r < right_count) {
        uint32_t a = left[l];
        uint32_t b = right[r];

        l += a <= b;
        r += b <= a;
        shared += a == b;
    }
    return shared;
}

/* Returns the number of words in an ascending list that are at most `last`. */
static uint32_t count_until(const uint32_t *words, uint32_t count, uint32_t last)
{
    while (count > 0 && words[count - 1] > last) {
        count--;
    }
    return count;
}

/* Returns whether the two share enough of the body's words of the page with fewer. A full sample says nothing of the words
 * above its last one, so only the range that both samples cover is compared. */
static bool shares_body(const struct family_words *left, const struct family_words *right)
{
    uint32_t last = UINT32_MAX;
    uint32_t left_count = 0;
    uint32_t right_count = 0;
    uint32_t fewer = 0;

    if (left->body_count == FAMILY_BODY_WORDS_MAX) {
        last = left->body[left->body_count - 1];
    }
    if (right->body_count == FAMILY_BODY_WORDS_MAX && right->body[right->body_count - 1] < last) {
        last = right->body[right->body_count - 1];
    }
    left_count = count_until(left->body, left->body_count, last);
    right_count = count_until(right->body, right->body_count, last);
    fewer = left_count < right_count ? left_count : right_count;
    return fewer > 0 && 10 * count_shared(left->body, left_count, right->body, right_count) >=
                            FAMILY_BODY_MIN_TENTHS * fewer;
}

/* Returns whether two pages have the same letterhead and much of the same text. */
static bool shares_letterhead(const struct family_words *left, const struct family_words *right,
                              struct family_similarity *ret_similarity)
{
    uint32_t shared = count_shared(left->letterhead, left->letterhead_count, right->letterhead,
                                   right->letterhead_count);
    uint32_t of = left->letterhead_count + right->letterhead_count - shared;

    if (shared == 0 || 10 * shared < FAMILY_LETTERHEAD_MIN_TENTHS * of ||
        !shares_body(left, right)) {
        return false;
    }
    *ret_similarity = (struct family_similarity){shared, of, true};
    return true;
}

bool family_sketch_is_family(const struct family_sketch *left, const struct family_sketch *right,
                             struct family_similarity *ret_similarity)
{
    struct family_similarity similarity = family_sketch_compare(left, right);

    *ret_similarity = similarity;
    if (similarity.of > 0 &&
        100 * similarity.shared >= FAMILY_SIMILARITY_MIN_HUNDREDTHS * similarity.of &&
        shares_words(left, right)) {
        return true;
    }
    return shares_letterhead(&left->words, &right->words, ret_similarity);
}

/* 0 / 0 is less than every other share. */
int family_similarity_order(struct family_similarity left, struct family_similarity right)
{
    uint32_t a = left.shared * right.of;
    uint32_t b = right.shared * left.of;

    if (left.of == 0 || right.of == 0) {
        return (left.of > 0) - (right.of > 0);
    }
    if (left.by_letterhead != right.by_letterhead) {
        return left.by_letterhead ? -1 : 1;
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
