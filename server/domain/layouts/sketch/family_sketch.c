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

static int compare_features(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Sorts the features, removes duplicates, and keeps the smallest. */
static void keep_smallest(struct family_sketch_builder *builder)
{
    uint32_t kept = 0;

    qsort(builder->features, builder->count, sizeof(builder->features[0]), compare_features);
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

void family_sketch_add(struct family_sketch_builder *builder, enum family_feature_kind kind,
                       struct slice text)
{
    uint32_t feature = ((uint32_t)mix(hash_bytes(text)) & ~FEATURE_KIND_MASK) | (uint32_t)kind;

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
    memcpy(ret_sketch->features, builder->features,
           ret_sketch->count * sizeof(ret_sketch->features[0]));
}

bool family_sketch_is_valid(const struct family_sketch *sketch)
{
    if (sketch->count > FAMILY_SKETCH_FEATURES_MAX ||
        (sketch->count != 0 && sketch->count < FAMILY_SKETCH_FEATURES_MIN)) {
        return false;
    }
    for (uint32_t i = 0; i < sketch->count; i++) {
        if ((sketch->features[i] & FEATURE_KIND_MASK) >= FAMILY_FEATURE_KINDS ||
            (i > 0 && sketch->features[i - 1] >= sketch->features[i])) {
            return false;
        }
    }
    return true;
}

void family_sketch_count(const struct family_sketch *sketch,
                         uint32_t ret_counts[FAMILY_FEATURE_KINDS])
{
    memset(ret_counts, 0, FAMILY_FEATURE_KINDS * sizeof(ret_counts[0]));
    for (uint32_t i = 0; i < sketch->count; i++) {
        ret_counts[sketch->features[i] & FEATURE_KIND_MASK]++;
    }
}

size_t family_sketch_encode(const struct family_sketch *sketch,
                            uint8_t bytes[FAMILY_SKETCH_BYTES_MAX])
{
    for (uint32_t i = 0; i < sketch->count; i++) {
        bytes_put_be32(bytes + (size_t)4 * i, sketch->features[i]);
    }
    return (size_t)4 * sketch->count;
}

enum err family_sketch_decode(struct slice bytes, struct family_sketch *ret_sketch)
{
    struct family_sketch sketch = {.count = (uint32_t)(bytes.size / 4)};

    if (bytes.size % 4 != 0 || bytes.size > FAMILY_SKETCH_BYTES_MAX) {
        return ERR_CORRUPT;
    }
    for (uint32_t i = 0; i < sketch.count; i++) {
        sketch.features[i] = bytes_get_be32(bytes.data + (size_t)4 * i);
    }
    if (!family_sketch_is_valid(&sketch)) {
        return ERR_CORRUPT;
    }
    *ret_sketch = sketch;
    return OK;
}
