/*
 * candidates.c: see candidates.h.
 */
#include "server/domain/induction/candidates.h"

#include <string.h>

/* A power of two, so that most buckets have at most one pattern. */
#define BUCKETS (1u << 18)

enum err candidates_init(struct candidates *candidates, struct arena *arena, uint64_t seed)
{
    *candidates = (struct candidates){.arena = arena, .seed = seed};
    candidates->items = arena_calloc(arena, CANDIDATES_MAX, sizeof(*candidates->items));
    candidates->buckets = arena_calloc(arena, BUCKETS, sizeof(*candidates->buckets));
    return candidates->items != NULL && candidates->buckets != NULL ? OK : ERR_MEMORY;
}

/* Returns the bucket of a pattern: multiplication and shift of its 8-byte words, with the seed. */
static uint32_t *bucket_of(const struct candidates *candidates, struct slice pattern)
{
    uint64_t hash = candidates->seed ^ (pattern.size * UINT64_C(0x9e3779b97f4a7c15));

    for (size_t at = 0; at < pattern.size; at += sizeof(uint64_t)) {
        size_t left = pattern.size - at;
        uint64_t word = 0;

        memcpy(&word, pattern.data + at, left < sizeof(word) ? left : sizeof(word));
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    hash *= candidates->seed | 1;
    return &candidates->buckets[(hash >> 32) & (BUCKETS - 1)];
}

static struct candidate *find(const struct candidates *candidates, struct slice pattern)
{
    uint32_t at = *bucket_of(candidates, pattern);

    while (at != 0) {
        struct candidate *candidate = &candidates->items[at - 1];

        if (slice_equal(candidate->pattern, pattern)) {
            return candidate;
        }
        at = candidate->next;
    }
    return NULL;
}

enum err candidates_add(struct candidates *candidates, struct slice pattern)
{
    struct candidate *candidate = NULL;
    uint32_t *bucket = NULL;

    if (pattern.size == 0 || pattern.size > CANDIDATE_BYTES_MAX ||
        find(candidates, pattern) != NULL) {
        return OK;
    }
    if (candidates->count == CANDIDATES_MAX) {
        candidates->is_full = true;
        return OK;
    }
    candidate = &candidates->items[candidates->count];
    if (!arena_copy(candidates->arena, pattern, &candidate->pattern)) {
        return ERR_MEMORY;
    }
    bucket = bucket_of(candidates, pattern);
    candidate->next = *bucket;
    candidates->count++;
    *bucket = candidates->count;
    return OK;
}

void candidates_count(struct candidates *candidates, struct slice pattern, uint32_t submission,
                      const bool targets[TARGET_COUNT])
{
    struct candidate *candidate = find(candidates, pattern);

    if (candidate == NULL || candidate->last_submission == submission + 1) {
        return;
    }
    candidate->last_submission = submission + 1;
    candidate->hits++;
    for (int target = 0; target < TARGET_COUNT; target++) {
        candidate->targets[target] += targets[target];
    }
}
