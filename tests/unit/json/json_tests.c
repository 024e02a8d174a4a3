/*
 * json_tests.c: the fields that differ between two JSON objects, and their difference by member.
 */
#include "server/domain/json/diff.h"
#include "server/domain/json/fields_changed.h"
#include "store/base/wire.h"
#include "tests/support/json/json_sides.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errata/v1/feedback_event.fields.h>

#define ARENA_BYTES (1u << 20)

static void check_fields(const char *before, const char *after, const char *meta,
                         const char *wanted)
{
    struct fields_changed fields;
    struct json_sides sides;
    struct buffer found;

    json_sides_init(&sides, slice_text(before), slice_text(after));
    assert_int_equal(fields_changed_derive(&sides.arena, &sides.before, &sides.after,
                                           members_value_of(slice_text(meta)), &fields),
                     OK);
    buffer_init(&found, &sides.arena, 64);
    for (size_t i = 0; i < fields.count; i++) {
        buffer_printf(&found, "%s%.*s", i == 0 ? "" : " ", (int)fields.names[i].size,
                      (const char *)fields.names[i].data);
    }
    if (!slice_equal(buffer_slice(&found), slice_text(wanted))) {
        print_error("came %.*s, not %s\n", (int)found.size, (const char *)found.data, wanted);
    }
    assert_true(slice_equal(buffer_slice(&found), slice_text(wanted)));
    arena_deinit(&sides.arena);
}

/* Goal: fields_changed is what the caller gave, else what differs. Method: a table of befores and afters. */
static void test_fields_changed(void **state)
{
    (void)state;
    check_fields("{\"qty\":10}", "{\"qty\":12}", "", "qty");
    check_fields("{\"qty\":10,\"sku\":\"a\"}", "{\"qty\":1e1,\"sku\":\"b\",\"uom\":\"m\"}", "",
                 "sku uom");
    check_fields("{\"a\":1,\"id\":1,\"line_no\":1}", "{\"id\":2,\"line_no\":3}", "", "a");
    check_fields("{}", "{\"field\":\"qty\",\"old_value\":1,\"new_value\":2,\"x\":1}", "", "qty");
    check_fields("{}", "{\"field_name\":\"price\"}", "{\"field\":\"qty\"}", "price");
    check_fields("{}", "{\"x\":1}", "{\"field_name\":\"u\\u006fm\"}", "uom");
    check_fields("{}", "{\"field\":7,\"x\":1}", "{}", "x");
    check_fields("{}", "{\"field\":\"id\",\"x\":1}", "{}", "x");
    check_fields("{\"lines\":[{\"line_id\":\"1\",\"qty\":1},{\"line_id\":\"2\",\"qty\":5}]}",
                 "{\"lines\":[{\"line_id\":\"2\",\"qty\":5},{\"line_id\":\"1\",\"qty\":2}]}", "",
                 "qty");
    check_fields("{\"lines\":[{\"qty\":1},{\"sku\":\"a\"}]}",
                 "{\"lines\":[{\"qty\":1},{\"sku\":\"b\"}]}", "", "sku");
    check_fields("{\"lines\":[]}", "{\"lines\":[{\"line_no\":1,\"qty\":1,\"uom\":\"m\"}]}", "",
                 "qty uom");
    check_fields("{\"lines\":[{\"line_no\":1,\"qty\":1,\"sku\":\"z\"}]}",
                 "{\"lines\":[{\"line_no\":1.0,\"qty\":2,\"sku\":\"z\"}]}", "", "qty");
    check_fields("{\"lines\":[{\"line_id\":\"a\",\"qty\":1,\"sku\":\"z\"}]}",
                 "{\"lines\":[{\"line_id\":\"\\u0061\",\"qty\":2,\"sku\":\"z\"}]}", "", "qty");
    check_fields("{\"lines\":[1,2]}", "{\"lines\":[2,1]}", "", "lines");
    check_fields("{\"lines\":{\"a\":1}}", "{\"lines\":[2,1]}", "", "lines");
    check_fields("{\"a\\u0001\":1,\"\":2}", "{}", "", "");
}

/* Goal: an event lists at most 200 names. Method: 300 members that differ. */
static void test_fields_changed_bound(void **state)
{
    struct fields_changed fields;
    struct buffer buffer;
    struct json_sides sides;
    struct arena arena;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    buffer_init(&buffer, &arena, 0);
    for (int i = 0; i < 300; i++) {
        buffer_printf(&buffer, "%s\"m%d\":1", i == 0 ? "{" : ",", i);
    }
    buffer_append_byte(&buffer, '}');
    json_sides_init(&sides, buffer_slice(&buffer), SLICE("{}"));
    assert_int_equal(fields_changed_derive(&sides.arena, &sides.before, &sides.after,
                                           members_value_of(SLICE("{}")), &fields),
                     OK);
    assert_int_equal(fields.count, FIELDS_CHANGED_MAX);
    arena_deinit(&sides.arena);
    arena_deinit(&arena);
}

/* Goal: the diff names each member that differs, with both sides as written. Method: read the wire
 * bytes again. */
static void test_diff(void **state)
{
    struct wire_reader reader;
    struct wire_field field;
    struct arena arena;
    struct buffer buffer;
    const char *wanted[] = {"1a 2[1, 2]", "1b 23 3\"x\"", "1c 3null"};
    size_t count = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    buffer_init(&buffer, &arena, 0);
    assert_int_equal(diff_append(&arena, FEEDBACK_EVENT_DIFF_FIELD,
                                 SLICE("{\"a\":[1, 2],\"b\":3,\"same\":1}"),
                                 SLICE("{\"same\":1.0,\"c\":null,\"b\":\"x\"}"), &buffer),
                     OK);
    reader = wire_reader_of(buffer_slice(&buffer));
    while (wire_next(&reader, &field) == OK) {
        struct wire_reader inner = wire_reader_of(field.bytes);
        struct wire_field part;
        struct buffer text;

        assert_int_equal(field.number, FEEDBACK_EVENT_DIFF_FIELD);
        buffer_init(&text, &arena, 64);
        while (wire_next(&inner, &part) == OK) {
            buffer_printf(&text, "%s%u%.*s", text.size == 0 ? "" : " ", part.number,
                          (int)part.bytes.size, (const char *)part.bytes.data);
        }
        assert_true(count < 3);
        assert_true(slice_equal(buffer_slice(&text), slice_text(wanted[count])));
        count++;
    }
    assert_int_equal(count, 3);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_changed),
        cmocka_unit_test(test_fields_changed_bound),
        cmocka_unit_test(test_diff),
    };

    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
