/*
 * deadlines.c: see deadlines.h. Places count from 1, so that the parent of a place is its half.
 */
#include "client/deadlines.h"

#include "store/base/assert.h"

#include <stdlib.h>

#define CAPACITY_FIRST ((size_t)16)

static struct client_deadline *heap_at(const struct client_deadlines *deadlines, size_t place)
{
    return deadlines->heap[place - 1];
}

static void heap_set(struct client_deadlines *deadlines, size_t place,
                     struct client_deadline *deadline)
{
    deadlines->heap[place - 1] = deadline;
    deadline->place = place;
}

/* Moves a deadline from an empty `place` towards the first one, as far as it is earlier. */
static void heap_rise(struct client_deadlines *deadlines, size_t place,
                      struct client_deadline *deadline)
{
    while (place > 1 && deadline->at_ms < heap_at(deadlines, place / 2)->at_ms) {
        heap_set(deadlines, place, heap_at(deadlines, place / 2));
        place /= 2;
    }
    heap_set(deadlines, place, deadline);
}

/* Returns the earlier child of a place, or 0. */
static size_t heap_child(const struct client_deadlines *deadlines, size_t place)
{
    size_t child = place * 2;

    if (child > deadlines->count) {
        return 0;
    }
    if (child < deadlines->count &&
        heap_at(deadlines, child + 1)->at_ms < heap_at(deadlines, child)->at_ms) {
        child++;
    }
    return child;
}

/* Moves a deadline from an empty `place` away from the first one, as far as it is later. */
static void heap_sink(struct client_deadlines *deadlines, size_t place,
                      struct client_deadline *deadline)
{
    size_t child = heap_child(deadlines, place);

    while (child != 0 && heap_at(deadlines, child)->at_ms < deadline->at_ms) {
        heap_set(deadlines, place, heap_at(deadlines, child));
        place = child;
        child = heap_child(deadlines, place);
    }
    heap_set(deadlines, place, deadline);
}

enum err client_deadlines_add(struct client_deadlines *deadlines, struct client_deadline *deadline)
{
    ASSERT(deadline->place == 0);
    if (deadlines->count == deadlines->capacity) {
        size_t capacity = deadlines->capacity == 0 ? CAPACITY_FIRST : deadlines->capacity * 2;
        struct client_deadline **heap =
            realloc(deadlines->heap, capacity * sizeof(struct client_deadline *));

        if (heap == NULL) {
            return ERR_MEMORY;
        }
        deadlines->heap = heap;
        deadlines->capacity = capacity;
    }
    deadlines->count++;
    heap_rise(deadlines, deadlines->count, deadline);
    return OK;
}

void client_deadlines_remove(struct client_deadlines *deadlines, struct client_deadline *deadline)
{
    size_t place = deadline->place;
    struct client_deadline *last = NULL;

    if (place == 0) {
        return;
    }
    ASSERT(heap_at(deadlines, place) == deadline);
    deadline->place = 0;
    last = heap_at(deadlines, deadlines->count);
    deadlines->count--;
    if (last == deadline) {
        return;
    }
    if (place > 1 && last->at_ms < heap_at(deadlines, place / 2)->at_ms) {
        heap_rise(deadlines, place, last);
    } else {
        heap_sink(deadlines, place, last);
    }
}

struct client_deadline *client_deadlines_first(const struct client_deadlines *deadlines)
{
    return deadlines->count > 0 ? deadlines->heap[0] : NULL;
}

void client_deadlines_deinit(struct client_deadlines *deadlines)
{
    free(deadlines->heap);
    *deadlines = (struct client_deadlines){.heap = NULL};
}
