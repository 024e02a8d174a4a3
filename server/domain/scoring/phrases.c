/*
 * phrases.c: see phrases.h. Phrases are sorted; each state is a range of sorted phrases that share a prefix, so that
 * the states of one depth follow from those of the depth before it, and no list of children is needed.
 */
#include "server/domain/scoring/phrases.h"

#include "store/base/assert.h"

#include <stdlib.h>
#include <string.h>

/* A phrase while the automaton is built. */
struct phrase {
    struct slice text;
    uint32_t index;
};

/* The sorted phrases, from `from` to before `to`, whose first bytes lead to a state. */
struct range {
    uint32_t from;
    uint32_t to;
};

struct building {
    struct phrases *phrases;
    const struct phrase *sorted;
    struct range *ranges; /* indexed by state */
};

static int compare_phrases(const void *a, const void *b)
{
    const struct phrase *left = a;
    const struct phrase *right = b;
    int order = slice_compare(left->text, right->text);

    if (order == 0) {
        order = left->index < right->index ? -1 : 1;
    }
    return order;
}

/* Sorts the phrases; records their order and which of them are equal. */
static enum err sort(struct arena *scratch, struct arena *arena, const struct slice *items,
                     struct building *building)
{
    struct phrases *phrases = building->phrases;
    struct phrase *sorted = arena_calloc(scratch, phrases->phrase_count + 1, sizeof(*sorted));

    phrases->order = arena_calloc(arena, phrases->phrase_count + 1, sizeof(*phrases->order));
    phrases->is_repeated =
        arena_calloc(arena, phrases->phrase_count + 1, sizeof(*phrases->is_repeated));
    if (sorted == NULL || phrases->order == NULL || phrases->is_repeated == NULL) {
        return ERR_MEMORY;
    }
    for (uint32_t i = 0; i < phrases->phrase_count; i++) {
        ASSERT(items[i].size > 0);
        sorted[i] = (struct phrase){items[i], i};
    }
    qsort(sorted, phrases->phrase_count, sizeof(*sorted), compare_phrases);
    for (uint32_t i = 0; i < phrases->phrase_count; i++) {
        phrases->order[i] = sorted[i].index;
        phrases->is_repeated[i] = i > 0 && slice_equal(sorted[i].text, sorted[i - 1].text);
    }
    building->sorted = sorted;
    return OK;
}

/* Returns how many bytes a sorted phrase shares with the previous one. */
static size_t shared_bytes(const struct phrase *sorted, uint32_t place)
{
    size_t shared = 0;

    while (place > 0 && shared < sorted[place].text.size && shared < sorted[place - 1].text.size &&
           sorted[place].text.data[shared] == sorted[place - 1].text.data[shared]) {
        shared++;
    }
    return shared;
}

static enum err make_states(struct arena *scratch, struct arena *arena, struct building *building)
{
    struct phrases *phrases = building->phrases;
    size_t count = 1;

    for (uint32_t i = 0; i < phrases->phrase_count; i++) {
        count += building->sorted[i].text.size - shared_bytes(building->sorted, i);
    }
    if (count >= UINT32_MAX) {
        return ERR_MEMORY;
    }
    phrases->state_count = (uint32_t)count;
    phrases->first_child = arena_calloc(arena, count + 1, sizeof(*phrases->first_child));
    phrases->suffix = arena_calloc(arena, count, sizeof(*phrases->suffix));
    phrases->ending = arena_calloc(arena, count, sizeof(*phrases->ending));
    phrases->place = arena_calloc(arena, count, sizeof(*phrases->place));
    phrases->byte = arena_calloc(arena, count, sizeof(*phrases->byte));
    building->ranges = arena_calloc(scratch, count, sizeof(*building->ranges));
    return phrases->first_child != NULL && phrases->suffix != NULL && phrases->ending != NULL &&
                   phrases->place != NULL && phrases->byte != NULL && building->ranges != NULL
               ? OK
               : ERR_MEMORY;
}

/* Returns the child of a state by a byte; 0 if there is none. */
static uint32_t find_child(const struct phrases *phrases, uint32_t state, uint8_t byte)
{
    uint32_t low = phrases->first_child[state];
    uint32_t end = phrases->first_child[state + 1];
    uint32_t high = end;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (phrases->byte[middle] < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && phrases->byte[low] == byte ? low : 0;
}

/* Returns the state after one more byte. */
static uint32_t step(const struct phrases *phrases, uint32_t state, uint8_t byte)
{
    uint32_t child = find_child(phrases, state, byte);

    while (child == 0 && state != 0) {
        state = phrases->suffix[state];
        child = find_child(phrases, state, byte);
    }
    return child;
}

/* Assigns numbers to the children of a state, from `next` on; returns the next free number. */
static uint32_t add_children(struct building *building, uint32_t state, uint32_t depth,
                             uint32_t next)
{
    struct phrases *phrases = building->phrases;
    struct range range = building->ranges[state];

    phrases->first_child[state] = next;
    while (range.from < range.to && building->sorted[range.from].text.size == depth) {
        if (phrases->ending[state] != state) {
            phrases->ending[state] = state;
            phrases->place[state] = range.from;
        }
        range.from++;
    }
    while (range.from < range.to) {
        uint8_t byte = building->sorted[range.from].text.data[depth];
        uint32_t from = range.from;

        while (range.from < range.to && building->sorted[range.from].text.data[depth] == byte) {
            range.from++;
        }
        building->ranges[next] = (struct range){from, range.from};
        phrases->byte[next] = byte;
        next++;
    }
    return next;
}

/* Links the children of a state to their longest suffixes; the state's own link must be set. */
static void link_children(struct phrases *phrases, uint32_t state)
{
    for (uint32_t child = phrases->first_child[state]; child < phrases->first_child[state + 1];
         child++) {
        phrases->suffix[child] =
            state == 0 ? 0 : step(phrases, phrases->suffix[state], phrases->byte[child]);
    }
}

enum err phrases_build(struct arena *arena, const struct slice *items, size_t count,
                       struct phrases *ret_phrases)
{
    struct building building = {.phrases = ret_phrases};
    struct arena scratch;
    uint32_t next = 1;
    uint32_t depth_end = 1; /* the first state of the next depth */
    uint32_t depth = 0;
    enum err err = OK;

    ASSERT(count < UINT32_MAX);
    *ret_phrases = (struct phrases){.phrase_count = (uint32_t)count};
    arena_init(&scratch, arena->limit_bytes);
    err = sort(&scratch, arena, items, &building);
    if (err == OK) {
        err = make_states(&scratch, arena, &building);
    }
    if (err == OK) {
        building.ranges[0] = (struct range){0, ret_phrases->phrase_count};
    }
    for (uint32_t state = 0; err == OK && state < ret_phrases->state_count; state++) {
        if (state == depth_end) {
            depth++;
            depth_end = next;
        }
        next = add_children(&building, state, depth, next);
        ret_phrases->first_child[state + 1] = next;
    }
    for (uint32_t state = 0; err == OK && state < ret_phrases->state_count; state++) {
        if (ret_phrases->ending[state] == 0) {
            ret_phrases->ending[state] = ret_phrases->ending[ret_phrases->suffix[state]];
        }
        link_children(ret_phrases, state);
    }
    arena_deinit(&scratch);
    return err;
}

/* Sets `found` for the phrases that end in a state, and for those that are suffixes of them. If the longest is found
 * already, so are the others. */
static void note_endings(const struct phrases *phrases, uint32_t state, bool *found)
{
    uint32_t ending = phrases->ending[state];

    while (ending != 0 && !found[phrases->order[phrases->place[ending]]]) {
        uint32_t place = phrases->place[ending];

        do {
            found[phrases->order[place]] = true;
            place++;
        } while (place < phrases->phrase_count && phrases->is_repeated[place]);
        ending = phrases->ending[phrases->suffix[ending]];
    }
}

void phrases_find(const struct phrases *phrases, struct slice text, bool *found)
{
    uint32_t state = 0;

    if (phrases->phrase_count == 0) {
        return;
    }
    for (size_t i = 0; i < text.size; i++) {
        state = step(phrases, state, text.data[i]);
        note_endings(phrases, state, found);
    }
}
