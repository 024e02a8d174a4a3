/*
 * crossings.c: finds connected rulings. One sweep down the page keeps the vertical rulings at the
 * sweep line in a tree by their x; a horizontal ruling is joined to all of a range. A subtree whose
 * rulings are already joined is handled as a whole, so that the work grows with the rulings and not
 * with their crossings, of which there may be 400 million.
 */
#include "server/jobs/pdf/measure/parts.h"

#include <math.h>
#include <stdlib.h>

/* Lines whose ends are this close cross. */
#define CROSSING_MAX 3.0
/* More than twice the depth of a tree over the largest number of rulings. */
#define TREE_STACK_MAX 128

enum event_kind {
    EVENT_START, /* a vertical ruling begins */
    EVENT_ACROSS,
    EVENT_END /* a vertical ruling ends */
};

struct event {
    double y;
    enum event_kind kind;
    uint32_t index; /* index in its list */
};

struct node {
    uint32_t live; /* number of vertical rulings below this node that cross the sweep line */
    uint32_t member; /* a member of their common set, if `joined` */
    bool joined;
};

struct sweep {
    const struct ruling_list *across;
    const struct ruling_list *down;
    uint32_t *parents; /* parents of the union-find; the root is the least index of its set */
    struct node *nodes; /* the root is 1; the children of i are 2i and 2i + 1 */
    size_t leaves; /* a power of two */
};

static uint32_t find_root(uint32_t *parents, uint32_t index)
{
    while (parents[index] != index) {
        parents[index] = parents[parents[index]];
        index = parents[index];
    }
    return index;
}

static void join_sets(uint32_t *parents, uint32_t a, uint32_t b)
{
    a = find_root(parents, a);
    b = find_root(parents, b);
    if (a < b) {
        parents[b] = a;
    } else {
        parents[a] = b;
    }
}

static int compare_events(const void *left, const void *right)
{
    const struct event *a = left;
    const struct event *b = right;

    if (a->y != b->y) {
        return a->y < b->y ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

static void start_down(struct sweep *sweep, uint32_t index)
{
    uint32_t member = (uint32_t)sweep->across->count + index;
    size_t node = sweep->leaves + index;

    sweep->nodes[node] = (struct node){.live = 1, .member = member, .joined = true};
    for (node /= 2; node > 0; node /= 2) {
        sweep->nodes[node].live++;
        sweep->nodes[node].joined = false;
    }
}

static void end_down(struct sweep *sweep, uint32_t index)
{
    for (size_t node = sweep->leaves + index; node > 0; node /= 2) {
        sweep->nodes[node].live--;
    }
}

/* Returns the first vertical ruling at or right of x. */
static size_t find_place(const struct ruling_list *down, double x)
{
    size_t low = 0;
    size_t high = down->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (down->items[middle].at < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct span {
    size_t node;
    size_t first; /* leaf */
    size_t end;
};

static void join_across(struct sweep *sweep, uint32_t index)
{
    const struct ruling *across = &sweep->across->items[index];
    size_t first = find_place(sweep->down, across->from - CROSSING_MAX);
    size_t end = find_place(sweep->down, nextafter(across->to + CROSSING_MAX, INFINITY));
    struct span stack[TREE_STACK_MAX];
    size_t depth = 1;

    stack[0] = (struct span){.node = 1, .first = 0, .end = sweep->leaves};
    while (depth > 0) {
        struct span span = stack[--depth];
        struct node *node = &sweep->nodes[span.node];
        size_t middle = span.first + (span.end - span.first) / 2;
        bool inside = first <= span.first && span.end <= end;

        if (node->live == 0 || span.end <= first || end <= span.first) {
            continue;
        }
        if (inside && node->joined) {
            join_sets(sweep->parents, index, node->member);
            continue;
        }
        if (inside) {
            node->joined = true;
            node->member = index;
        }
        stack[depth++] = (struct span){span.node * 2, span.first, middle};
        stack[depth++] = (struct span){span.node * 2 + 1, middle, span.end};
    }
}

static struct event *list_events(struct arena *arena, const struct sweep *sweep, size_t *ret_count)
{
    size_t count = 0;
    struct event *events =
        arena_calloc(arena, sweep->across->count + 2 * sweep->down->count + 1, sizeof *events);

    if (events == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < sweep->across->count; i++) {
        events[count++] = (struct event){sweep->across->items[i].at, EVENT_ACROSS, i};
    }
    for (uint32_t i = 0; i < sweep->down->count; i++) {
        const struct ruling *down = &sweep->down->items[i];

        events[count++] = (struct event){down->from - CROSSING_MAX, EVENT_START, i};
        events[count++] = (struct event){down->to + CROSSING_MAX, EVENT_END, i};
    }
    qsort(events, count, sizeof *events, compare_events);
    *ret_count = count;
    return events;
}

static void handle_event(struct sweep *sweep, const struct event *event)
{
    switch (event->kind) {
    case EVENT_START:
        start_down(sweep, event->index);
        break;
    case EVENT_ACROSS:
        join_across(sweep, event->index);
        break;
    case EVENT_END:
        end_down(sweep, event->index);
        break;
    }
}

bool rulings_find_groups(struct arena *arena, const struct ruling_list *across,
                         const struct ruling_list *down, uint32_t **ret_groups)
{
    size_t count = across->count + down->count;
    size_t events_count = 0;
    struct sweep sweep = {.across = across, .down = down, .leaves = 1};
    struct event *events = list_events(arena, &sweep, &events_count);

    while (sweep.leaves < down->count) {
        sweep.leaves *= 2;
    }
    sweep.nodes = arena_calloc(arena, sweep.leaves * 2, sizeof *sweep.nodes);
    sweep.parents = arena_calloc(arena, count + 1, sizeof *sweep.parents);
    if (events == NULL || sweep.nodes == NULL || sweep.parents == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        sweep.parents[i] = i;
    }
    for (size_t i = 0; i < events_count; i++) {
        handle_event(&sweep, &events[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        sweep.parents[i] = find_root(sweep.parents, i);
    }
    *ret_groups = sweep.parents;
    return true;
}
