/*
 * family_sketch.c: building, checking and storing a sketch.
 */
#include "server/domain/layouts/sketch/family_sketch.h"

#include "server/domain/layouts/sketch/family_sketch_internal.h"

#include "store/base/bytes.h"

#include <stdlib.h>

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t hash_bytes(struct slice bytes)
{
    uint64_t hash = FNV_OFFSET;

    for (size_t i = 0; i < bytes.size; i++) {
        hash = (hash ^ bytes.data[i]) * FNV_PRIME;
    }
    return hash;
}

/* The finaliser of MurmurHash3 (Appleby): all bits of its input affect the low ones, by which features are
 * selected. */
static uint64_t mix(uint64_t hash)
{
    hash = (hash ^ (hash >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ (hash >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ (hash >> 33);
}

int family_feature_order(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Sorts the features, removes duplicates, and keeps the smallest. */
static void keep_smallest(struct family_sketch_builder *builder)
{
    uint32_t kept = 0;

    qsort(builder->features, builder->count, sizeof(builder->features[0]), family_feature_order);
    for (uint32_t i = 0; i < builder->count && kept < FAMILY_SKETCH_FEATURES_MAX; i++) {
        if (kept == 0 || builder->features[i] != builder->features[kept - 1]) {
            builder->features[kept++] = builder->features[i];
        }
    }
    builder->count = kept;
    if (kept == FAMILY_SKETCH_FEATURES_MAX) {
        builder->limit = builder->features[kept - 1];
    }
}

void family_sketch_begin(struct family_sketch_builder *builder)
{
    builder->count = 0;
    builder->limit = UINT32_MAX;
}

uint32_t family_feature_of(struct slice text, uint32_t kind)
{
    return ((uint32_t)mix(hash_bytes(text)) & ~FEATURE_KIND_MASK) | kind;
}

void family_sketch_add(struct family_sketch_builder *builder, enum family_feature_kind kind,
                       struct slice text)
{
    uint32_t feature = family_feature_of(text, (uint32_t)kind);

    if (feature > builder->limit) {
        return;
    }
    if (builder->count == 2 * FAMILY_SKETCH_FEATURES_MAX) {
        keep_smallest(builder);
    }
    builder->features[builder->count++] = feature;
}

void family_sketch_finish(struct family_sketch_builder *builder, struct family_sketch *ret_sketch)
{
    keep_smallest(builder);
    ret_sketch->count = builder->count < FAMILY_SKETCH_FEATURES_MIN ? 0 : builder->count;
    ret_sketch->words = (struct family_words){.letterhead_count = 0};
    memcpy(ret_sketch->features, builder->features,
           ret_sketch->count * sizeof(ret_sketch->features[0]));
}

/* Returns whether words are ascending, distinct, and of one section. */
static bool is_section(const uint32_t *words, uint32_t count, enum family_word_section section)
{
    for (uint32_t i = 0; i < count; i++) {
        if ((words[i] & FEATURE_KIND_MASK) != (uint32_t)section ||
            (i > 0 && words[i - 1] >= words[i])) {
            return false;
        }
    }
    return true;
}

static bool are_words_valid(const struct family_words *words)
{
    if (words->letterhead_count == 0) {
        return words->body_count == 0;
    }
    return words->letterhead_count >= FAMILY_LETTERHEAD_WORDS_MIN &&
           words->letterhead_count <= FAMILY_LETTERHEAD_WORDS_MAX &&
           words->body_count >= FAMILY_BODY_WORDS_MIN &&
           words->body_count <= FAMILY_BODY_WORDS_MAX &&
           is_section(words->letterhead, words->letterhead_count, FAMILY_SECTION_LETTERHEAD) &&
           is_section(words->body, words->body_count, FAMILY_SECTION_BODY);
}

bool family_sketch_is_valid(const struct family_sketch *sketch)
{
    if (sketch->count > FAMILY_SKETCH_FEATURES_MAX ||
        (sketch->count != 0 && sketch->count < FAMILY_SKETCH_FEATURES_MIN) ||
        (sketch->count == 0 && sketch->words.letterhead_count != 0)) {
        return false;
    }
    for (uint32_t i = 0; i < sketch->count; i++) {
        if ((sketch->features[i] & FEATURE_KIND_MASK) >= FAMILY_FEATURE_KINDS ||
            (i > 0 && sketch->features[i - 1] >= sketch->features[i])) {
            return false;
        }
    }
    return are_words_valid(&sketch->words);
}

void family_sketch_count(const struct family_sketch *sketch,
                         uint32_t ret_counts[FAMILY_FEATURE_KINDS])
{
    memset(ret_counts, 0, FAMILY_FEATURE_KINDS * sizeof(ret_counts[0]));
    for (uint32_t i = 0; i < sketch->count; i++) {
        ret_counts[sketch->features[i] & FEATURE_KIND_MASK]++;
    }
}

/* Writes numbers from `at` on; returns the place after them. */
static size_t put_all(const uint32_t *numbers, uint32_t count, uint8_t *bytes, size_t at)
{
    for (uint32_t i = 0; i < count; i++) {
        bytes_put_be32(bytes + at + (size_t)4 * i, numbers[i]);
    }
    return at + (size_t)4 * count;
}

size_t family_sketch_encode(const struct family_sketch *sketch,
                            uint8_t bytes[FAMILY_SKETCH_BYTES_MAX])
{
    size_t size = put_all(sketch->features, sketch->count, bytes, 0);

    size = put_all(sketch->words.letterhead, sketch->words.letterhead_count, bytes, size);
    return put_all(sketch->words.body, sketch->words.body_count, bytes, size);
}

/* Reads numbers while they are of kinds below `kind_end` and there is room for them; returns their number. */
static uint32_t take_section(struct slice *bytes, uint32_t kind_end, uint32_t max,
                             uint32_t *ret_numbers)
{
    uint32_t count = 0;

    while (count < max && bytes->size >= 4) {
        uint32_t number = bytes_get_be32(bytes->data);

        if ((number & FEATURE_KIND_MASK) >= kind_end) {
            break;
        }
        ret_numbers[count++] = number;
        *bytes = slice_after(*bytes, 4);
    }
    return count;
}

enum err family_sketch_decode(struct slice bytes, struct family_sketch *ret_sketch)
{
    struct family_sketch sketch;

    sketch.count =
        take_section(&bytes, FAMILY_FEATURE_KINDS, FAMILY_SKETCH_FEATURES_MAX, sketch.features);
    sketch.words.letterhead_count =
        take_section(&bytes, FAMILY_SECTION_LETTERHEAD + 1, FAMILY_LETTERHEAD_WORDS_MAX,
                     sketch.words.letterhead);
    sketch.words.body_count =
        take_section(&bytes, FAMILY_SECTION_BODY + 1, FAMILY_BODY_WORDS_MAX, sketch.words.body);
    if (bytes.size > 0 || !family_sketch_is_valid(&sketch)) {
        return ERR_CORRUPT;
    }
    *ret_sketch = sketch;
    return OK;
}
