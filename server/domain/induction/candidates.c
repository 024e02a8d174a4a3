/*
 * candidates.c: see candidates.h.
 */
#include "server/domain/induction/candidates.h"

#include "store/base/bytes_hash.h"

#include <string.h>

/* Places and buckets of a new table. A power of two, like all later sizes. */
#define ROOM_MIN 1024

enum err candidates_init(struct candidates *candidates, struct arena *arena, uint64_t seed)
{
    *candidates = (struct candidates){.arena = arena, .seed = seed, .room = ROOM_MIN};
    candidates->items = arena_calloc(arena, ROOM_MIN, sizeof(*candidates->items));
    candidates->buckets = arena_calloc(arena, ROOM_MIN, sizeof(*candidates->buckets));
    return candidates->items != NULL && candidates->buckets != NULL ? OK : ERR_MEMORY;
}

static uint32_t *bucket_of(const struct candidates *candidates, struct slice pattern)
{
    return &candidates->buckets[bytes_hash(pattern, candidates->seed) & (candidates->room - 1)];
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

/* Puts the candidate of a place, from 0, into its bucket. */
static void link_candidate(struct candidates *candidates, uint32_t at)
{
    struct candidate *candidate = &candidates->items[at];
    uint32_t *bucket = bucket_of(candidates, candidate->pattern);

    candidate->next = *bucket;
    *bucket = at + 1;
}

/* Doubles the table, which is full. */
static enum err grow(struct candidates *candidates)
{
    uint32_t room = candidates->room * 2;
    struct candidate *items = arena_calloc(candidates->arena, room, sizeof(*items));
    uint32_t *buckets = arena_calloc(candidates->arena, room, sizeof(*buckets));

    if (items == NULL || buckets == NULL) {
        return ERR_MEMORY;
    }
    memcpy(items, candidates->items, candidates->count * sizeof(*items));
    candidates->items = items;
    candidates->buckets = buckets;
    candidates->room = room;
    for (uint32_t at = 0; at < candidates->count; at++) {
        link_candidate(candidates, at);
    }
    return OK;
}

enum err candidates_add(struct candidates *candidates, struct slice pattern)
{
    if (pattern.size == 0 || pattern.size > CANDIDATE_BYTES_MAX ||
        find(candidates, pattern) != NULL) {
        return OK;
    }
    if (candidates->count == CANDIDATES_MAX) {
        candidates->is_full = true;
        return OK;
    }
    if (candidates->count == candidates->room && grow(candidates) != OK) {
        return ERR_MEMORY;
    }
    if (!arena_copy(candidates->arena, pattern, &candidates->items[candidates->count].pattern)) {
        return ERR_MEMORY;
    }
    link_candidate(candidates, candidates->count);
    candidates->count++;
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
