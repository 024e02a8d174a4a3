/*
 * codec_tests.c: runs the groups of tests of server/codec, and holds what they share.
 */
#include "tests/unit/codec/codec_tests.h"

#include "server/codec/check.h"

#include <stdio.h>

int world_set_up(void **state)
{
    static struct world world;

    arena_init(&world.arena, (size_t)256 << 20);
    clock_manual_init(&world.clock, WORLD_START_US);
    world.ctx = (struct ctx){
        .arena = &world.arena,
        .clock = &world.clock.clock,
        .fault = &world.fault,
    };
    world_clear(&world);
    *state = &world;
    return 0;
}

int world_tear_down(void **state)
{
    struct world *world = *state;

    arena_deinit(&world->arena);
    return 0;
}

void world_clear(struct world *world)
{
    arena_reset(&world->arena);
    fault_init(&world->fault, &world->arena);
    buffer_init(&world->wire, &world->arena, 0);
}

enum err world_check(struct world *world, const struct message_info *message, struct slice bytes)
{
    struct slice checked = {NULL, 0};

    return check_request(&world->ctx, message, bytes, &checked);
}

static bool entry_is(const struct fault_entry *entry, struct slice line)
{
    size_t head = entry->field.size;

    return line.size >= head + 2 && slice_starts_with(line, entry->field) &&
           memcmp(line.data + head, ": ", 2) == 0 &&
           slice_starts_with(entry->description, slice_after(line, head + 2));
}

static void show_faults(const struct fault *fault)
{
    for (size_t i = 0; i < fault->count; i++) {
        print_error("%.*s: %.*s\n", (int)fault->entries[i].field.size,
                    (const char *)fault->entries[i].field.data,
                    (int)fault->entries[i].description.size,
                    (const char *)fault->entries[i].description.data);
    }
}

void world_expect_faults(struct world *world, const char *expected)
{
    struct slice rest = slice_text(expected);
    size_t count = 0;

    while (rest.size > 0) {
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        size_t size = end == NULL ? rest.size : (size_t)(end - rest.data);
        bool is_there = count < world->fault.count &&
                        entry_is(&world->fault.entries[count], slice_of(rest.data, size));

        if (!is_there) {
            show_faults(&world->fault);
            fail_msg("fault %zu is not %.*s", count, (int)size, (const char *)rest.data);
        }
        count++;
        rest = slice_after(rest, size < rest.size ? size + 1 : size);
    }
    if (count != world->fault.total_count) {
        show_faults(&world->fault);
        fail_msg("%zu faults, not %zu", world->fault.total_count, count);
    }
}

int main(void)
{
    int failed = 0;

    failed += run_check_tests();
    failed += run_rules_tests();
    failed += run_join_tests();
    failed += run_proto_json_tests();
    return failed == 0 ? 0 : 1;
}
