/*
 * reviewers.c: see reviewers.h. A hash table with linear probing that is at most half full.
 */
#include "server/domain/reviews/reviewers.h"

#include "store/base/assert.h"

#define SLOTS_MIN 8

/* The slot of the empty name. */
static const uint8_t unknown[1];

enum err reviewers_init(struct reviewers *reviewers, struct arena *arena, size_t count)
{
    size_t slot_count = SLOTS_MIN;

    while (slot_count < 2 * count) {
        slot_count *= 2;
    }
    reviewers->slots = arena_calloc(arena, slot_count, sizeof(*reviewers->slots));
    reviewers->slot_count = slot_count;
    return reviewers->slots != NULL ? OK : ERR_MEMORY;
}

/* FNV-1a: names are chosen by callers of the organisation itself, and a run has at most a thousand. */
static uint64_t hash_of(struct slice name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < name.size; i++) {
        hash = (hash ^ name.data[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

bool reviewers_add(struct reviewers *reviewers, struct slice name)
{
    size_t at = (size_t)hash_of(name) & (reviewers->slot_count - 1);
    size_t looked = 0;

    if (name.size == 0) {
        name = slice_of(unknown, 0);
    }
    while (reviewers->slots[at].data != NULL) {
        ASSERT(looked++ < reviewers->slot_count / 2);
        if (slice_equal(reviewers->slots[at], name)) {
            return false;
        }
        at = (at + 1) & (reviewers->slot_count - 1);
    }
    reviewers->slots[at] = name;
    return true;
}
