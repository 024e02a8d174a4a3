/*
 * json_sides.c: see json_sides.h.
 */
#include "tests/support/json/json_sides.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARENA_BYTES (512u << 20)

void json_sides_init(struct json_sides *sides, struct slice before, struct slice after)
{
    const struct json_rules rules = {JSON_FIELD_DEPTH_MAX, false};
    struct json_problem problem = {NULL, 0};
    struct json_value value = {JSON_NULL, {NULL, 0}};

    arena_init(&sides->arena, ARENA_BYTES);
    sides->before_json = before;
    sides->after_json = after;
    assert_int_equal(json_check(&sides->arena, before, &rules, &value, &problem), OK);
    assert_int_equal(json_check(&sides->arena, after, &rules, &value, &problem), OK);
    assert_int_equal(members_read(&sides->arena, members_value_of(before), &sides->before), OK);
    assert_int_equal(members_read(&sides->arena, members_value_of(after), &sides->after), OK);
    assert_int_equal(members_compare(&sides->arena, &sides->before, &sides->after), OK);
}
