/*
 * field_counts.c: see field_counts.h. The most frequent names are selected with a min-heap of the
 * requested size: even with a third of a million names, almost all are rejected by one comparison with its root.
 */
#include "server/domain/analytics/field_counts.h"

#include "store/base/bytes.h"

#include <stdlib.h>

/* A selected field and its sort keys. */
struct heap {
    const struct field_count **items;
    size_t count;
    enum field_kind kind;
};

enum err field_counts_init(struct field_counts *counts, struct arena *arena, struct random *random,
                           size_t count_max)
{
    unsigned bits = 4;

    while ((size_t)1 << bits < 2 * count_max) {
        bits++;
    }
    *counts = (struct field_counts){.count_max = count_max, .place_bits = bits};
    counts->items = arena_alloc(arena, (count_max + 1) * sizeof(*counts->items));
    counts->places = arena_calloc(arena, (size_t)1 << bits, sizeof(*counts->places));
    if (counts->items == NULL || counts->places == NULL) {
        return ERR_MEMORY;
    }
    random_fill(random, &counts->seed, sizeof(counts->seed));
    return OK;
}

static size_t first_place(const struct field_counts *counts, const uint8_t hash[FIELD_HASH_BYTES])
{
    uint64_t mixed = (bytes_get_be64(hash) ^ counts->seed) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)((mixed ^ bytes_get_be64(hash + 8)) * (counts->seed | 1) >>
                    (64 - counts->place_bits));
}

enum err field_counts_add(struct field_counts *counts, enum field_kind kind,
                          const uint8_t hash[FIELD_HASH_BYTES], struct slice name, uint64_t amount)
{
    size_t mask = ((size_t)1 << counts->place_bits) - 1;
    size_t place = first_place(counts, hash);
    struct field_count *item = NULL;

    /* At least half of the slots are empty. */
    while (counts->places[place] != 0 &&
           memcmp(counts->items[counts->places[place] - 1].hash, hash, FIELD_HASH_BYTES) != 0) {
        place = (place + 1) & mask;
    }
    if (counts->places[place] == 0) {
        if (counts->count == counts->count_max) {
            return ERR_CORRUPT;
        }
        item = &counts->items[counts->count++];
        *item = (struct field_count){.name = name};
        memcpy(item->hash, hash, FIELD_HASH_BYTES);
        counts->places[place] = (uint32_t)counts->count;
    }
    item = &counts->items[counts->places[place] - 1];
    if (__builtin_add_overflow(item->counts[kind], amount, &item->counts[kind])) {
        item->counts[kind] = UINT64_MAX;
    }
    return OK;
}

uint64_t field_count_of(const struct field_count *item, enum field_kind kind)
{
    uint64_t sum = 0;

    if (kind != FIELD_OF_BOTH) {
        return item->counts[kind];
    }
    return __builtin_add_overflow(item->counts[0], item->counts[1], &sum) ? UINT64_MAX : sum;
}

static int compare_names(struct slice a, struct slice b)
{
    size_t shorter = a.size < b.size ? a.size : b.size;
    int order = shorter == 0 ? 0 : memcmp(a.data, b.data, shorter);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* Returns whether `a` precedes `b` in the response. */
static bool is_before(enum field_kind kind, const struct field_count *a,
                      const struct field_count *b)
{
    uint64_t a_count = field_count_of(a, kind);
    uint64_t b_count = field_count_of(b, kind);

    return a_count != b_count ? a_count > b_count : compare_names(a->name, b->name) < 0;
}

static void sink(struct heap *heap, size_t at)
{
    const struct field_count *item = heap->items[at];

    for (size_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count &&
            is_before(heap->kind, heap->items[child], heap->items[child + 1])) {
            child++;
        }
        if (!is_before(heap->kind, item, heap->items[child])) {
            break;
        }
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = item;
}

static void rise(struct heap *heap, size_t at)
{
    const struct field_count *item = heap->items[at];

    while (at > 0 && is_before(heap->kind, heap->items[(at - 1) / 2], item)) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = item;
}

size_t field_counts_top(const struct field_counts *counts, enum field_kind kind, size_t max,
                        const struct field_count **ret_top)
{
    struct heap heap = {.items = ret_top, .kind = kind};
    size_t total = 0;

    for (size_t i = 0; i < counts->count; i++) {
        const struct field_count *item = &counts->items[i];

        if (field_count_of(item, kind) == 0) {
            continue;
        }
        if (heap.count < max) {
            heap.items[heap.count++] = item;
            rise(&heap, heap.count - 1);
        } else if (is_before(kind, item, heap.items[0])) {
            heap.items[0] = item;
            sink(&heap, 0);
        }
    }
    total = heap.count;
    /* The least frequent of the remaining fields is placed after them. */
    while (heap.count > 1) {
        const struct field_count *least = heap.items[0];

        heap.items[0] = heap.items[--heap.count];
        heap.items[heap.count] = least;
        sink(&heap, 0);
    }
    return total;
}
