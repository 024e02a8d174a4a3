/*
 * spec_set.c: see spec_set.h. A hash table with linear probing that doubles when it is half full.
 */
#include "server/domain/reviews/spec_set.h"

#include "server/domain/text/case_fold.h"
#include "store/base/view.h"

#include <stdlib.h>

#define SLOTS_FIRST 64

void spec_set_init(struct spec_set *set, struct arena *arena)
{
    *set = (struct spec_set){.arena = arena};
}

/* FNV-1a: names are chosen by callers of the organisation itself. */
static uint64_t hash_of(struct slice name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < name.size; i++) {
        hash = (hash ^ name.data[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Returns the slot of a name, or the empty slot for it. */
static struct spec_count *slot_of(const struct spec_set *set, struct slice folded)
{
    size_t at = (size_t)hash_of(folded) & (set->slot_count - 1);

    while (set->slots[at].run_count != 0 && !slice_equal(set->slots[at].folded, folded)) {
        at = (at + 1) & (set->slot_count - 1);
    }
    return &set->slots[at];
}

static enum err grow(struct spec_set *set)
{
    struct spec_set larger = *set;

    larger.slot_count = set->slot_count == 0 ? SLOTS_FIRST : 2 * set->slot_count;
    larger.slots = arena_calloc(set->arena, larger.slot_count, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < set->slot_count; i++) {
        if (set->slots[i].run_count != 0) {
            *slot_of(&larger, set->slots[i].folded) = set->slots[i];
        }
    }
    *set = larger;
    return OK;
}

static bool is_newer(const struct spec_source *source, const struct spec_count *spec)
{
    return source->created_at_us != spec->created_at_us
               ? source->created_at_us > spec->created_at_us
               : source->seq > spec->seq;
}

static enum err add_one(struct spec_set *set, const struct spec_source *source,
                        struct slice spelling)
{
    struct spec_count *spec = NULL;
    struct slice folded = {NULL, 0};
    enum err err = 2 * set->count >= set->slot_count ? grow(set) : OK;

    if (err == OK) {
        err = case_fold(set->arena, spelling, &folded);
    }
    if (err != OK) {
        return err;
    }
    spec = slot_of(set, folded);
    if (spec->run_count == 0) {
        set->count++;
        spec->folded = folded;
    }
    if (spec->run_count == 0 || is_newer(source, spec)) {
        spec->spelling = spelling;
        spec->created_at_us = source->created_at_us;
        spec->seq = source->seq;
    }
    spec->run_count += spec->last_run != source->run;
    spec->last_run = source->run;
    return OK;
}

enum err spec_set_add(struct spec_set *set, const struct spec_source *source,
                      struct slice missing_spec)
{
    struct slice name = {NULL, 0};
    enum err err = OK;

    while (err == OK && view_next(&missing_spec, &name)) {
        err = add_one(set, source, name);
    }
    return err == OK && missing_spec.size > 0 ? ERR_CORRUPT : err;
}

static int compare(const void *a, const void *b)
{
    const struct spec_count *one = a;
    const struct spec_count *other = b;

    if (one->run_count != other->run_count) {
        return one->run_count > other->run_count ? -1 : 1;
    }
    return slice_compare(one->folded, other->folded);
}

enum err spec_set_select(const struct spec_set *set, uint32_t run_count,
                         const struct spec_count **ret_specs, size_t *ret_count)
{
    struct spec_count *specs = arena_calloc(set->arena, set->count + 1, sizeof(*specs));
    size_t count = 0;

    if (specs == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < set->slot_count; i++) {
        if (set->slots[i].run_count != 0 && set->slots[i].run_count >= run_count) {
            specs[count++] = set->slots[i];
        }
    }
    qsort(specs, count, sizeof(*specs), compare);
    *ret_specs = specs;
    *ret_count = count;
    return OK;
}

enum err spec_set_canonical(struct arena *arena, struct slice missing_spec, struct slice *ret_names)
{
    const struct spec_source source = {.run = 1};
    const struct spec_count *specs = NULL;
    struct spec_set set;
    struct buffer names;
    size_t count = 0;
    enum err err = OK;

    spec_set_init(&set, arena);
    err = spec_set_add(&set, &source, missing_spec);
    if (err == OK) {
        err = spec_set_select(&set, 1, &specs, &count);
    }
    if (err != OK) {
        return err;
    }
    buffer_init(&names, arena, missing_spec.size);
    for (size_t i = 0; i < count; i++) {
        buffer_append(&names, specs[i].folded);
        buffer_append_byte(&names, '\n');
    }
    *ret_names = buffer_slice(&names);
    return buffer_ok(&names) ? OK : ERR_MEMORY;
}
