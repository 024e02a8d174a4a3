/*
 * place_set.c: see place_set.h.
 */
#include "server/domain/induction/place_set.h"

#include "store/base/assert.h"

#define WORD_BITS 64

enum err place_set_init(struct place_set *set, struct arena *arena, size_t places)
{
    set->word_count = (places + WORD_BITS - 1) / WORD_BITS;
    set->words = arena_calloc(arena, set->word_count, sizeof(*set->words));
    return set->words != NULL || set->word_count == 0 ? OK : ERR_MEMORY;
}

void place_set_add(struct place_set *set, size_t place)
{
    ASSERT(place / WORD_BITS < set->word_count);
    set->words[place / WORD_BITS] |= UINT64_C(1) << (place % WORD_BITS);
}

void place_set_add_all(struct place_set *set, const struct place_set *added)
{
    ASSERT(set->word_count == added->word_count);
    for (size_t i = 0; i < set->word_count; i++) {
        set->words[i] |= added->words[i];
    }
}

uint64_t place_set_count_new(const struct place_set *set, const struct place_set *explained,
                             uint64_t targets)
{
    uint64_t count = 0;

    ASSERT(set->word_count == explained->word_count);
    for (size_t i = 0; i < set->word_count; i++) {
        count += (uint64_t)__builtin_popcountll(set->words[i] & ~explained->words[i]);
    }
    return count * 100 >= targets * INDUCTION_NEW_SHARE_PERCENT ? count : 0;
}
