/*
 * codec_tests.c: runs the groups of tests of server/codec, and contains their shared functions.
 */
#include "tests/unit/codec/codec_tests.h"

#include "server/codec/check.h"

#include <stdio.h>

int fixture_set_up(void **state)
{
    static struct fixture fixture;

    arena_init(&fixture.arena, (size_t)256 << 20);
    clock_manual_init(&fixture.clock, FIXTURE_START_US);
    fixture.ctx = (struct ctx){
        .arena = &fixture.arena,
        .clock = &fixture.clock.clock,
        .fault = &fixture.fault,
    };
    fixture_clear(&fixture);
    *state = &fixture;
    return 0;
}

int fixture_tear_down(void **state)
{
    struct fixture *fixture = *state;

    arena_deinit(&fixture->arena);
    return 0;
}

void fixture_clear(struct fixture *fixture)
{
    arena_reset(&fixture->arena);
    fault_init(&fixture->fault, &fixture->arena);
    buffer_init(&fixture->wire, &fixture->arena, 0);
}

enum err fixture_check(struct fixture *fixture, const struct message_info *message,
                       struct slice bytes)
{
    struct slice checked = {NULL, 0};

    return check_request(&fixture->ctx, message, bytes, &checked);
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

void fixture_expect_faults(struct fixture *fixture, const char *expected)
{
    struct slice rest = slice_text(expected);
    size_t count = 0;

    while (rest.size > 0) {
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        size_t size = end == NULL ? rest.size : (size_t)(end - rest.data);
        bool is_there = count < fixture->fault.count &&
                        entry_is(&fixture->fault.entries[count], slice_of(rest.data, size));

        if (!is_there) {
            show_faults(&fixture->fault);
            fail_msg("fault %zu is not %.*s", count, (int)size, (const char *)rest.data);
        }
        count++;
        rest = slice_after(rest, size < rest.size ? size + 1 : size);
    }
    if (count != fixture->fault.total_count) {
        show_faults(&fixture->fault);
        fail_msg("%zu faults, not %zu", fixture->fault.total_count, count);
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
