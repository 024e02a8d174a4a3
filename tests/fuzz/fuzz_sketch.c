/*
 * fuzz_sketch.c: any bytes as stored sketches. Bytes that are read are those of a valid sketch, and are
 * written again as they were; others do not change the result. Two sketches, the halves of the input,
 * have one similarity in either order, and a difference that adds up to it.
 */
#include "server/domain/layouts/sketch/family_sketch.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"

static bool read_sketch(struct slice bytes, struct family_sketch *sketch)
{
    uint8_t again[FAMILY_SKETCH_BYTES_MAX];
    size_t size = 0;

    sketch->count = 77;
    if (family_sketch_decode(bytes, sketch) != OK) {
        ASSERT(sketch->count == 77);
        return false;
    }
    ASSERT(family_sketch_is_valid(sketch));
    size = family_sketch_encode(sketch, again);
    ASSERT(slice_equal(slice_of(again, size), bytes));
    return true;
}

static void check_pair(const struct family_sketch *left, const struct family_sketch *right)
{
    struct family_similarity one = family_sketch_compare(left, right);
    struct family_similarity other = family_sketch_compare(right, left);
    struct family_match best = {.seq = 0};
    struct family_difference difference;
    uint32_t shared = 0;
    uint32_t of = 0;

    family_sketch_difference(left, right, &difference);
    for (size_t i = 0; i < FAMILY_FEATURE_KINDS; i++) {
        shared += difference.shared[i];
        of += difference.shared[i] + difference.only_left[i] + difference.only_right[i];
    }
    ASSERT(one.shared == other.shared && one.of == other.of);
    ASSERT(one.shared <= one.of && one.of <= FAMILY_SKETCH_FEATURES_MAX);
    ASSERT(shared == one.shared && of == one.of);
    ASSERT(family_match_offer(&best, left, right, 1) ==
           family_sketch_is_family(left, right, &other));
    ASSERT(other.shared == one.shared && other.of == one.of);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice whole = slice_of(data, size);
    size_t half = size / 8 * 4;
    struct family_sketch left;
    struct family_sketch right;

    if (read_sketch(whole, &left)) {
        check_pair(&left, &left);
    }
    if (read_sketch(slice_of(data, half), &left) && read_sketch(slice_after(whole, half), &right)) {
        check_pair(&left, &right);
    }
    return 0;
}
