/*
 * trigrams.c: see trigrams.h.
 */
#include "server/domain/mappings/trigrams.h"

#include "store/base/assert.h"
#include "store/base/compare.h"
#include "store/base/text.h"

#include <stdlib.h>

/* Sets up to this size are sorted in place: most SKUs have about ten. */
#define SMALL_COUNT 32
#define CODE_POINT_BITS 21

static void add(struct trigrams *trigrams, uint64_t trigram)
{
    ASSERT(trigrams->count < TRIGRAMS_MAX);
    trigrams->items[trigrams->count] = trigram;
    trigrams->count++;
}

static uint64_t shift_in(uint64_t window, uint32_t code_point)
{
    return (window << CODE_POINT_BITS | code_point) & ((UINT64_C(1) << 3 * CODE_POINT_BITS) - 1);
}

static void sort(struct trigrams *trigrams)
{
    uint64_t *items = trigrams->items;

    if (trigrams->count > SMALL_COUNT) {
        qsort(items, trigrams->count, sizeof(items[0]), compare_uint64);
        return;
    }
    for (size_t i = 1; i < trigrams->count; i++) {
        uint64_t item = items[i];
        size_t at = i;

        for (; at > 0 && items[at - 1] > item; at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

static void drop_doubles(struct trigrams *trigrams)
{
    size_t kept = 0;

    for (size_t i = 0; i < trigrams->count; i++) {
        if (i == 0 || trigrams->items[i] != trigrams->items[i - 1]) {
            trigrams->items[kept] = trigrams->items[i];
            kept++;
        }
    }
    trigrams->count = kept;
}

void trigrams_read(struct slice folded, struct trigrams *ret_trigrams)
{
    const uint64_t blank = (uint64_t)' ' << CODE_POINT_BITS | ' ';
    uint64_t window = blank;
    bool in_word = false;

    ASSERT(folded.size <= SKU_FOLDED_BYTES_MAX);
    ret_trigrams->count = 0;
    for (size_t at = 0; at < folded.size;) {
        uint32_t code_point = text_next(folded, &at);

        if (sku_is_word(code_point)) {
            window = shift_in(window, code_point);
            add(ret_trigrams, window);
            in_word = true;
        } else if (in_word) {
            add(ret_trigrams, shift_in(window, ' '));
            window = blank;
            in_word = false;
        }
    }
    if (in_word) {
        add(ret_trigrams, shift_in(window, ' '));
    }
    sort(ret_trigrams);
    drop_doubles(ret_trigrams);
}

size_t trigrams_count_shared(const struct trigrams *a, const struct trigrams *b)
{
    size_t shared = 0;
    size_t left = 0;
    size_t right = 0;

    while (left < a->count && right < b->count) {
        uint64_t x = a->items[left];
        uint64_t y = b->items[right];

        shared += x == y;
        left += x <= y;
        right += y <= x;
    }
    return shared;
}
