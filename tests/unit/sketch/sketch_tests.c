/*
 * sketch_tests.c: sketches and their similarity, on synthetic features, and beside a brute-force model
 * on sets of features.
 */
#include "tests/unit/sketch/sketch_tests.h"

#include "server/domain/layouts/sketch/family_sketch.h"
#include "store/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MODEL_MAX 4096
#define ROUNDS 3000
#define FEATURES_BYTES ((size_t)4 * FAMILY_SKETCH_FEATURES_MAX)

/* A sketch of the features from `first` to before `end`, all of one kind, with even numbers. */
static struct family_sketch range(uint32_t first, uint32_t end, enum family_feature_kind kind)
{
    struct family_sketch sketch = {.count = 0};

    for (uint32_t i = first; i < end; i++) {
        sketch.features[sketch.count++] = 16 * i + (uint32_t)kind;
    }
    return sketch;
}

static struct family_sketch sketch_of_words(const char *const *words, size_t count)
{
    struct family_sketch_builder builder;
    struct family_sketch sketch;

    family_sketch_begin(&builder);
    for (size_t i = 0; i < count; i++) {
        family_sketch_add(&builder, FAMILY_FEATURE_WORD, slice_text(words[i]));
    }
    family_sketch_finish(&builder, &sketch);
    return sketch;
}

/* Goal: the hash of a feature never changes, since sketches are stored. Method: values computed by a
 * second implementation (Python: FNV-1a 64, MurmurHash3's finaliser, low 32 bits, of which 3 are the kind). */
static void test_hash_of_a_feature_never_changes(void **state)
{
    static const char *const words[] = {"tinvoice|6|9", "ttotal|60|100", "v12", "h9|130",
                                        "h4|120",       "fHelvetica/90", "",    "p595|842"};
    static const uint32_t hashes[] = {0x07f30ad8, 0x24d71fc0, 0x28cbf860, 0x526c5c80,
                                      0xba992920, 0xcf1e1148, 0xd2e7d350, 0xeaf5b488};
    struct family_sketch sketch = sketch_of_words(words, 8);

    (void)state;
    assert_int_equal(sketch.count, 8);
    assert_memory_equal(sketch.features, hashes, sizeof(hashes));
}

/* Goal: order and repetitions do not matter, and few features are not a sketch. Method: eight words
 * forwards, backwards and twice; seven of them. */
static void test_few_features_are_not_a_sketch(void **state)
{
    static const char *const words[] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                        "h", "g", "f", "e", "d", "c", "b", "a"};
    struct family_sketch forwards = sketch_of_words(words, 8);
    struct family_sketch backwards = sketch_of_words(words + 8, 8);
    struct family_sketch twice = sketch_of_words(words, 16);

    (void)state;
    assert_int_equal(forwards.count, 8);
    assert_int_equal(backwards.count, 8);
    assert_memory_equal(forwards.features, backwards.features, 8 * sizeof(uint32_t));
    assert_int_equal(twice.count, 8);
    assert_memory_equal(forwards.features, twice.features, 8 * sizeof(uint32_t));
    assert_int_equal(sketch_of_words(words, 7).count, 0);
    assert_int_equal(sketch_of_words(words, 0).count, 0);
}

/* Goal: similarities at the limits are exact. Method: sketches that share a known number. */
static void test_similarity_at_the_limits_is_exact(void **state)
{
    struct family_sketch ten = range(0, 10, FAMILY_FEATURE_WORD);
    struct family_sketch none = {.count = 0};
    struct family_sketch apart = range(10, 20, FAMILY_FEATURE_WORD);
    struct family_sketch full = range(0, 128, FAMILY_FEATURE_WORD);
    struct family_sketch high = range(100, 228, FAMILY_FEATURE_WORD);
    struct family_similarity similarity;
    struct family_sketch three = range(7, 17, FAMILY_FEATURE_WORD); /* shares 3 of 17 with `ten` */
    struct family_sketch six = range(4, 20, FAMILY_FEATURE_WORD); /* shares 6 of 20 with `ten` */
    struct family_sketch five = range(5, 17, FAMILY_FEATURE_WORD); /* shares 5 of 17 with `ten` */

    (void)state;
    assert_int_equal(family_sketch_compare(&ten, &ten).shared, 10);
    assert_int_equal(family_sketch_compare(&ten, &ten).of, 10);
    assert_int_equal(family_sketch_compare(&ten, &none).of, 0);
    assert_int_equal(family_sketch_compare(&none, &none).of, 0);
    assert_int_equal(family_sketch_compare(&ten, &apart).shared, 0);
    assert_int_equal(family_sketch_compare(&ten, &apart).of, 20);
    assert_int_equal(family_sketch_compare(&full, &ten).shared, 10);
    assert_int_equal(family_sketch_compare(&full, &ten).of, 128);
    /* The smallest 128 of 228 are those of `full`. */
    assert_int_equal(family_sketch_compare(&full, &high).shared, 28);
    assert_int_equal(family_sketch_compare(&full, &high).of, 128);
    assert_true(family_sketch_is_family(&ten, &six, &similarity));
    assert_int_equal(similarity.shared, 6);
    assert_int_equal(similarity.of, 20);
    assert_false(family_sketch_is_family(&ten, &five, &similarity));
    assert_false(family_sketch_is_family(&ten, &three, &similarity));
    assert_false(family_sketch_is_family(&none, &none, &similarity));
    assert_int_equal(similarity.of, 0);
    assert_int_equal(family_similarity_order((struct family_similarity){.shared = 1, .of = 3},
                                             (struct family_similarity){.shared = 2, .of = 6}),
                     0);
    assert_true(family_similarity_order((struct family_similarity){.shared = 3, .of = 10},
                                        (struct family_similarity){.shared = 38, .of = 128}) > 0);
    assert_true(family_similarity_order((struct family_similarity){.shared = 0, .of = 0},
                                        (struct family_similarity){.shared = 0, .of = 9}) < 0);
    assert_int_equal(family_similarity_order((struct family_similarity){.shared = 0, .of = 0},
                                             (struct family_similarity){.shared = 0, .of = 0}),
                     0);
}

/* A sketch of `shared` words and `fonts` fonts that all such sketches share, and `own` words of its
 * own. */
static struct family_sketch page_of(uint32_t shared, uint32_t fonts, uint32_t own, uint32_t number)
{
    struct family_sketch sketch = range(0, shared, FAMILY_FEATURE_WORD);

    for (uint32_t i = 100; i < 100 + fonts; i++) {
        sketch.features[sketch.count++] = 16 * i + (uint32_t)FAMILY_FEATURE_FONT;
    }
    for (uint32_t i = 1000 * number; i < 1000 * number + own; i++) {
        sketch.features[sketch.count++] = 16 * i + (uint32_t)FAMILY_FEATURE_WORD;
    }
    return sketch;
}

static bool are_family(struct family_sketch left, struct family_sketch right)
{
    struct family_similarity similarity;

    return family_sketch_is_family(&left, &right, &similarity);
}

/* Goal: fonts and rulings do not suffice for a family of pages with words. Method: equally similar
 * pages with and without the required shared words: six, or half of those of the page with fewer
 * words. */
static void test_words_are_required_for_a_family(void **state)
{
    (void)state;
    assert_true(are_family(page_of(6, 20, 10, 1), page_of(6, 20, 10, 2)));
    assert_false(are_family(page_of(5, 21, 10, 1), page_of(5, 21, 10, 2)));
    assert_true(are_family(page_of(5, 21, 5, 1), page_of(5, 21, 15, 2)));
    assert_false(are_family(page_of(5, 21, 6, 1), page_of(5, 21, 15, 2)));
    assert_false(are_family(page_of(0, 21, 1, 1), page_of(0, 21, 1, 2)));
    assert_true(are_family(page_of(0, 21, 0, 1), page_of(0, 21, 5, 2)));
}

/* Goal: the best match does not depend on the order of offers; the newest of equals wins. Method: all
 * orders of three candidates, two of which are as similar. */
static void test_best_match_does_not_depend_on_order(void **state)
{
    static const unsigned orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct family_sketch document = range(0, 20, FAMILY_FEATURE_WORD);
    struct family_sketch candidates[3] = {range(5, 25, FAMILY_FEATURE_WORD),
                                          range(3, 23, FAMILY_FEATURE_WORD),
                                          range(0, 20, FAMILY_FEATURE_WORD)};
    struct family_sketch stranger = range(15, 35, FAMILY_FEATURE_WORD);
    struct family_match best = {.seq = 0};

    (void)state;
    candidates[2].features[19] += 16 * 100; /* shares 19 of 21 features */
    candidates[1] = candidates[2];
    candidates[1].features[19] += 16; /* equally similar, and newer */
    assert_false(family_match_offer(&best, &document, &stranger, 9));
    assert_int_equal(best.similarity.of, 0);
    for (size_t i = 0; i < 6; i++) {
        static const uint64_t seqs[3] = {30, 20, 10};

        best = (struct family_match){.seq = 0};
        for (size_t j = 0; j < 3; j++) {
            bool taken =
                family_match_offer(&best, &document, &candidates[orders[i][j]], seqs[orders[i][j]]);

            assert_true(taken == (best.seq == seqs[orders[i][j]]));
        }
        assert_int_equal(best.seq, 20);
        assert_int_equal(best.similarity.shared, 19);
        assert_int_equal(best.similarity.of, 21);
    }
}

/* Goal: the difference of two sketches names the kinds. Method: fonts are shared, words are not. */
static void test_difference_names_the_kinds(void **state)
{
    struct family_sketch left = range(0, 8, FAMILY_FEATURE_FONT);
    struct family_sketch right = range(0, 8, FAMILY_FEATURE_FONT);
    struct family_difference difference;
    uint32_t counts[FAMILY_FEATURE_KINDS];

    (void)state;
    for (uint32_t i = 8; i < 12; i++) {
        left.features[left.count++] = 16 * i + FAMILY_FEATURE_WORD;
    }
    right.features[right.count++] = 16 * 9 + FAMILY_FEATURE_PAGE;
    family_sketch_difference(&left, &right, &difference);
    assert_int_equal(difference.similarity.shared, 8);
    assert_int_equal(difference.similarity.of, 13);
    assert_int_equal(difference.shared[FAMILY_FEATURE_FONT], 8);
    assert_int_equal(difference.only_left[FAMILY_FEATURE_WORD], 4);
    assert_int_equal(difference.only_right[FAMILY_FEATURE_PAGE], 1);
    assert_int_equal(difference.only_left[FAMILY_FEATURE_FONT], 0);
    family_sketch_count(&left, counts);
    assert_int_equal(counts[FAMILY_FEATURE_FONT], 8);
    assert_int_equal(counts[FAMILY_FEATURE_WORD], 4);
    assert_int_equal(counts[FAMILY_FEATURE_PAGE], 0);
}

/* Goal: the written features are read back, and others are refused. Method: all lengths, and each rule
 * broken. */
static void test_bytes_round_trip(void **state)
{
    struct family_sketch full = range(0, 128, FAMILY_FEATURE_WORD);
    struct family_sketch read;
    uint8_t bytes[FAMILY_SKETCH_BYTES_MAX] = {0};

    (void)state;
    assert_int_equal(family_sketch_encode(&full, bytes), FEATURES_BYTES);
    assert_int_equal(bytes[7], 16);
    for (size_t size = 0; size <= FEATURES_BYTES; size++) {
        bool right = size % 4 == 0 && (size == 0 || size >= 4 * FAMILY_SKETCH_FEATURES_MIN);

        assert_int_equal(family_sketch_decode(slice_of(bytes, size), &read),
                         right ? OK : ERR_CORRUPT);
        assert_true(!right || read.count == size / 4);
    }
    memset(bytes + FEATURES_BYTES, 0xf0, 4);
    assert_int_equal(family_sketch_decode(slice_of(bytes, FEATURES_BYTES + 4), &read), ERR_CORRUPT);
    bytes[7] = 0; /* 0, 0, 32 ... */
    assert_int_equal(family_sketch_decode(slice_of(bytes, 64), &read), ERR_CORRUPT);
    bytes[7] = 16 + FAMILY_FEATURE_KINDS;
    assert_int_equal(family_sketch_decode(slice_of(bytes, 64), &read), ERR_CORRUPT);
    bytes[7] = 33; /* 0, 33, 32 ... */
    assert_int_equal(family_sketch_decode(slice_of(bytes, 64), &read), ERR_CORRUPT);
    assert_int_equal(read.count, 128);
}

/* A sketch of ten features at `place`, with words of a letterhead and of a body, both numbered from a
 * first word. */
static struct family_sketch with_words(uint32_t place, uint32_t letterhead,
                                       uint32_t letterhead_count, uint32_t body,
                                       uint32_t body_count)
{
    struct family_sketch sketch = range(place, place + 10, FAMILY_FEATURE_WORD);

    for (uint32_t i = 0; i < letterhead_count; i++) {
        sketch.words.letterhead[i] = 8 * (letterhead + i) + (uint32_t)FAMILY_SECTION_LETTERHEAD;
    }
    for (uint32_t i = 0; i < body_count; i++) {
        sketch.words.body[i] = 8 * (body + i) + (uint32_t)FAMILY_SECTION_BODY;
    }
    sketch.words.letterhead_count = letterhead_count;
    sketch.words.body_count = body_count;
    return sketch;
}

/* Goal: the sections of words are read back, and invalid ones are refused. Method: a full sketch truncated at each
 * number, in which only whole bodies of enough words are valid; and sections in the wrong order, or without
 * features. */
static void test_sections_of_words_round_trip(void **state)
{
    struct family_sketch full =
        with_words(0, 5, FAMILY_LETTERHEAD_WORDS_MAX, 100, FAMILY_BODY_WORDS_MAX);
    size_t first = (size_t)4 * (full.count + full.words.letterhead_count);
    uint8_t bytes[FAMILY_SKETCH_BYTES_MAX];
    uint8_t again[FAMILY_SKETCH_BYTES_MAX];
    struct family_sketch read;
    size_t size = family_sketch_encode(&full, bytes);

    (void)state;
    assert_int_equal(size, first + (size_t)4 * FAMILY_BODY_WORDS_MAX);
    for (size_t cut = (size_t)4 * full.count; cut <= size; cut += 4) {
        bool right =
            cut == (size_t)4 * full.count || cut >= first + (size_t)4 * FAMILY_BODY_WORDS_MIN;

        assert_int_equal(family_sketch_decode(slice_of(bytes, cut), &read),
                         right ? OK : ERR_CORRUPT);
        if (right) {
            assert_int_equal(family_sketch_encode(&read, again), cut);
            assert_memory_equal(again, bytes, cut);
        }
    }
    assert_int_equal(family_sketch_decode(slice_of(bytes + 40, size - 40), &read), ERR_CORRUPT);
    full = with_words(0, 5, FAMILY_LETTERHEAD_WORDS_MIN - 1, 100, FAMILY_BODY_WORDS_MIN);
    assert_false(family_sketch_is_valid(&full));
    full = with_words(0, 5, FAMILY_LETTERHEAD_WORDS_MIN, 100, FAMILY_BODY_WORDS_MIN);
    assert_true(family_sketch_is_valid(&full));
    full.words.body[1] = full.words.body[0];
    assert_false(family_sketch_is_valid(&full));
}

static bool is_by_letterhead(const struct family_sketch *left, const struct family_sketch *right)
{
    struct family_similarity one;
    struct family_similarity other;
    bool is = family_sketch_is_family(left, right, &one);

    assert_true(family_sketch_is_family(right, left, &other) == is);
    assert_true(one.shared == other.shared && one.of == other.of);
    assert_true(is == one.by_letterhead);
    return is;
}

/* Goal: pages with words at other places are of one family with 60% of the letterheads' words and half of the body
 * of the page with fewer, and not with one word less of either. Method: sketches without common features. */
static void test_letterhead_and_body_make_a_family(void **state)
{
    struct family_sketch page = with_words(0, 0, 12, 0, 40);
    struct family_sketch half =
        with_words(50, 3, 12, 30, 20); /* shares 9 of 15 words, and 10 of 20 */
    struct family_sketch less = with_words(50, 4, 12, 30, 20);
    struct family_sketch body = with_words(50, 3, 12, 31, 20);
    struct family_sketch none = range(50, 60, FAMILY_FEATURE_WORD);
    struct family_similarity similarity;

    (void)state;
    assert_true(is_by_letterhead(&page, &half));
    assert_true(family_sketch_is_family(&page, &half, &similarity));
    assert_int_equal(similarity.shared, 9);
    assert_int_equal(similarity.of, 15);
    assert_false(is_by_letterhead(&page, &less));
    assert_false(is_by_letterhead(&page, &body));
    assert_false(is_by_letterhead(&page, &none));
}

/* Goal: a full sample of the body does not determine the words above its last one. Method: two samples of 48
 * words, one of which covers half the range of the other; then one word less in that range. */
static void test_samples_of_bodies_are_compared_in_their_common_range(void **state)
{
    struct family_sketch dense = with_words(0, 0, 12, 0, FAMILY_BODY_WORDS_MAX);
    struct family_sketch sparse = with_words(50, 0, 12, 0, FAMILY_BODY_WORDS_MAX);

    (void)state;
    /* 12 shared words, and 36 above the last one of `dense`, in whose range are 12 of 12. */
    for (uint32_t i = 12; i < FAMILY_BODY_WORDS_MAX; i++) {
        sparse.words.body[i] += 8 * FAMILY_BODY_WORDS_MAX;
    }
    assert_true(is_by_letterhead(&dense, &sparse));
    /* Without a full sample on either side, 12 of 47 are too few. */
    dense.words.body_count--;
    sparse.words.body_count--;
    assert_false(is_by_letterhead(&dense, &sparse));
}

/* Goal: a match by features is better than any by letterheads. Method: both are offered, in either order. */
static void test_features_are_better_than_letterheads(void **state)
{
    struct family_sketch page = with_words(0, 0, 12, 0, 40);
    struct family_sketch same_words = with_words(50, 0, 12, 0, 40);
    struct family_sketch same_places = range(4, 14, FAMILY_FEATURE_WORD); /* shares 6 of 14 */
    struct family_match best = {.seq = 0};

    (void)state;
    assert_true(family_match_offer(&best, &page, &same_words, 2));
    assert_true(family_match_offer(&best, &page, &same_places, 1));
    assert_int_equal(best.seq, 1);
    assert_false(family_match_offer(&best, &page, &same_words, 3));
    assert_false(best.similarity.by_letterhead);
}

/* A set of features, without hashes of texts: the builder's own hash of each is used. */
struct model {
    uint32_t features[MODEL_MAX]; /* all features, sorted and distinct */
    size_t count;
    struct family_sketch sketch;
};

static int compare_features(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

static uint32_t draw(struct random *random, uint32_t below)
{
    uint32_t value = 0;

    random_fill(random, &value, sizeof(value));
    return value % below;
}

/* Returns the feature of a text and a kind: the only one that a builder has after eight
 * additions. */
static uint32_t feature_of(uint32_t number, enum family_feature_kind kind)
{
    struct family_sketch_builder builder;
    char text[16];

    snprintf(text, sizeof(text), "%u", (unsigned)number);
    family_sketch_begin(&builder);
    family_sketch_add(&builder, kind, slice_text(text));
    return builder.features[0];
}

/* Features with numbers below `range`, some of them several times. */
static void model_draw(struct model *model, struct random *random, uint32_t count, uint32_t range)
{
    struct family_sketch_builder builder;
    size_t kept = 0;

    family_sketch_begin(&builder);
    model->count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = draw(random, range);
        enum family_feature_kind kind = (enum family_feature_kind)(number % FAMILY_FEATURE_KINDS);
        char text[16];

        snprintf(text, sizeof(text), "%u", (unsigned)number);
        family_sketch_add(&builder, kind, slice_text(text));
        model->features[i] = feature_of(number, kind);
    }
    qsort(model->features, model->count, sizeof(uint32_t), compare_features);
    for (size_t i = 0; i < model->count; i++) {
        if (kept == 0 || model->features[kept - 1] != model->features[i]) {
            model->features[kept++] = model->features[i];
        }
    }
    model->count = kept;
    family_sketch_finish(&builder, &model->sketch);
}

static bool model_has(const struct model *model, uint32_t feature)
{
    for (size_t i = 0; i < model->count; i++) {
        if (model->features[i] == feature) {
            return true;
        }
    }
    return false;
}

/* Checks that the sketch has the smallest features of the set, or none. */
static void check_sketch(const struct model *model)
{
    size_t expected =
        model->count < FAMILY_SKETCH_FEATURES_MAX ? model->count : FAMILY_SKETCH_FEATURES_MAX;

    assert_true(family_sketch_is_valid(&model->sketch));
    if (model->count < FAMILY_SKETCH_FEATURES_MIN) {
        expected = 0;
    }
    assert_int_equal(model->sketch.count, expected);
    assert_memory_equal(model->sketch.features, model->features, expected * sizeof(uint32_t));
}

/* Computes the similarity from the whole sets: of their union, sorted, the first 128. */
static void check_similarity(const struct model *left, const struct model *right)
{
    static uint32_t both[2 * MODEL_MAX];
    struct family_similarity similarity = family_sketch_compare(&left->sketch, &right->sketch);
    struct family_difference difference;
    uint32_t sums[3] = {0, 0, 0};
    uint32_t shared = 0;
    uint32_t of = 0;

    memcpy(both, left->features, left->count * sizeof(uint32_t));
    memcpy(both + left->count, right->features, right->count * sizeof(uint32_t));
    qsort(both, left->count + right->count, sizeof(uint32_t), compare_features);
    for (size_t i = 0; i < left->count + right->count && of < FAMILY_SKETCH_FEATURES_MAX; i++) {
        if (i > 0 && both[i] == both[i - 1]) {
            continue;
        }
        of++;
        shared += model_has(left, both[i]) && model_has(right, both[i]);
    }
    if (left->sketch.count == 0 || right->sketch.count == 0) {
        shared = of = 0;
    }
    assert_int_equal(similarity.shared, shared);
    assert_int_equal(similarity.of, of);
    family_sketch_difference(&left->sketch, &right->sketch, &difference);
    for (size_t i = 0; i < FAMILY_FEATURE_KINDS; i++) {
        sums[0] += difference.shared[i];
        sums[1] += difference.only_left[i];
        sums[2] += difference.only_right[i];
    }
    assert_int_equal(sums[0], shared);
    assert_int_equal(sums[0] + sums[1] + sums[2], of);
}

/* Goal: sketches equal those of a model that keeps all features. Method: random sets of all sizes,
 * with many, few and no common features; symmetric, and round trips as bytes. */
static void test_sketches_equal_the_model(void **state)
{
    static struct model left;
    static struct model right;
    struct random_seeded seeded;

    (void)state;
    random_seeded_init(&seeded, 7);
    for (int round = 0; round < ROUNDS; round++) {
        static const uint32_t sizes[] = {0, 7, 8, 12, 60, 127, 128, 129, 257, 600};
        struct random *random = &seeded.random;
        uint32_t numbers = 1 + draw(random, 500);
        uint8_t bytes[FAMILY_SKETCH_BYTES_MAX];
        struct family_sketch read;
        struct family_similarity forwards;
        struct family_similarity backwards;

        model_draw(&left, random, sizes[draw(random, 10)], numbers);
        model_draw(&right, random, sizes[draw(random, 10)], numbers + draw(random, 300));
        check_sketch(&left);
        check_sketch(&right);
        check_similarity(&left, &right);
        forwards = family_sketch_compare(&left.sketch, &right.sketch);
        backwards = family_sketch_compare(&right.sketch, &left.sketch);
        assert_memory_equal(&forwards, &backwards, sizeof(forwards));
        assert_int_equal(
            family_sketch_decode(slice_of(bytes, family_sketch_encode(&left.sketch, bytes)), &read),
            OK);
        assert_int_equal(read.count, left.sketch.count);
        assert_memory_equal(read.features, left.sketch.features, read.count * sizeof(uint32_t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_of_a_feature_never_changes),
        cmocka_unit_test(test_few_features_are_not_a_sketch),
        cmocka_unit_test(test_similarity_at_the_limits_is_exact),
        cmocka_unit_test(test_words_are_required_for_a_family),
        cmocka_unit_test(test_best_match_does_not_depend_on_order),
        cmocka_unit_test(test_difference_names_the_kinds),
        cmocka_unit_test(test_bytes_round_trip),
        cmocka_unit_test(test_sections_of_words_round_trip),
        cmocka_unit_test(test_letterhead_and_body_make_a_family),
        cmocka_unit_test(test_samples_of_bodies_are_compared_in_their_common_range),
        cmocka_unit_test(test_features_are_better_than_letterheads),
        cmocka_unit_test(test_sketches_equal_the_model),
    };

    return cmocka_run_group_tests_name("sketch", tests, NULL, NULL) + run_words_tests();
}
