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
#include <errata/v1/feedback_event.views.h>

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

/* Goal: fields_changed has the given names, else those that differ. Method: a table of befores and
 * afters. */
static void test_fields_changed_is_given_or_computed(void **state)
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
    /* The members of a removed line did not change; those of an added one did. */
    check_fields("{\"lines\":[{\"line_no\":1,\"qty\":1},{\"line_no\":2,\"uom\":\"m\"}]}",
                 "{\"lines\":[{\"line_no\":1,\"qty\":2}]}", "", "qty");
    check_fields("{\"lines\":[{\"line_no\":1,\"qty\":1},{\"line_no\":2,\"uom\":\"m\"}]}",
                 "{\"lines\":[{\"line_no\":1,\"qty\":1}]}", "", "lines");
    /* `id` that only one side has does not pair; `line_no` does. */
    check_fields("{\"lines\":[{\"line_no\":1,\"qty\":1},{\"line_no\":2,\"qty\":5}]}",
                 "{\"lines\":[{\"id\":9,\"line_no\":2,\"qty\":5},{\"id\":8,\"line_no\":1,\"uom\":"
                 "\"m\",\"qty\":1}]}",
                 "", "uom");
    check_fields("{\"lines\":[1,2]}", "{\"lines\":[2,1]}", "", "lines");
    check_fields("{\"lines\":{\"a\":1}}", "{\"lines\":[2,1]}", "", "lines");
    check_fields("{\"a\\u0001\":1,\"\":2}", "{}", "", "");
}

/* Goal: an event lists at most 200 names. Method: 300 members that differ. */
static void test_fields_changed_has_at_most_200_names(void **state)
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

/* `path|name|before|after` of each entry, one per line; `-` for an absent side. */
static void check_diff(const char *before, const char *after, const char *wanted)
{
    const struct slice absent = SLICE("-");
    struct slice run = {NULL, 0};
    struct arena arena;
    struct buffer bytes;
    struct buffer found;
    struct wire_reader reader;
    struct wire_field field;

    arena_init(&arena, ARENA_BYTES);
    buffer_init(&bytes, &arena, 0);
    buffer_init(&found, &arena, 0);
    assert_int_equal(diff_append(&arena, FEEDBACK_EVENT_DIFF_FIELD, slice_text(before),
                                 slice_text(after), &bytes),
                     OK);
    run = buffer_slice(&bytes);
    reader = wire_reader_of(run);
    while (wire_next(&reader, &field) == OK) {
        struct field_diff_view diff;

        assert_int_equal(field.number, FEEDBACK_EVENT_DIFF_FIELD);
        assert_int_equal(field_diff_view_read(field.bytes, &diff), OK);
        diff.before = diff.has_before ? diff.before : absent;
        diff.after = diff.has_after ? diff.after : absent;
        buffer_printf(
            &found, "%.*s|%.*s|%.*s|%.*s\n", (int)diff.path.size, (const char *)diff.path.data,
            (int)diff.name.size, (const char *)diff.name.data, (int)diff.before.size,
            (const char *)diff.before.data, (int)diff.after.size, (const char *)diff.after.data);
    }
    if (!slice_equal(buffer_slice(&found), slice_text(wanted))) {
        print_error("came\n%.*s", (int)found.size, (const char *)found.data);
    }
    assert_true(slice_equal(buffer_slice(&found), slice_text(wanted)));
    arena_deinit(&arena);
}

/* Goal: the diff names each member that differs, with both sides as written. Method: one pair of objects
 * with each case. */
static void test_diff_names_each_changed_member(void **state)
{
    (void)state;
    check_diff("{\"a\":[1, 2],\"b\":3,\"same\":1}", "{\"same\":1.0,\"c\":null,\"b\":\"x\"}",
               "a|a|[1, 2]|-\nb|b|3|\"x\"\nc|c|-|null\n");
    check_diff("", "{\"a\":1}", "a|a|-|1\n");
    check_diff("{\"a\":1}", "{\"a\":1e0}", "");
}

/* Goal: the diff of a list of objects has an entry for each member of an item, and for each item that was
 * added or removed; other lists differ as a whole. Method: a table. */
static void test_diff_of_a_list_has_an_entry_for_each_changed_item(void **state)
{
    (void)state;
    check_diff("{\"lines\":[{\"line_no\":1,\"qty\":1},{\"line_no\":2,\"qty\":5,\"uom\":\"m\"}]}",
               "{\"lines\":[{\"line_no\":2,\"qty\":6,\"sku\":\"a\"},{\"line_no\":1,\"qty\":1}]}",
               "lines[line_no=2].qty|qty|5|6\nlines[line_no=2].uom|uom|\"m\"|-\n"
               "lines[line_no=2].sku|sku|-|\"a\"\n");
    check_diff("{\"lines\":[{\"id\":\"x\",\"qty\":1},{\"id\":\"y\",\"qty\":2}]}",
               "{\"lines\":[{\"id\":\"y\",\"qty\":2},{\"id\":\"z\",\"qty\":3}]}",
               "lines[id=\"z\"]|lines|-|{\"id\":\"z\",\"qty\":3}\n"
               "lines[id=\"x\"]|lines|{\"id\":\"x\",\"qty\":1}|-\n");
    check_diff("{\"lines\":[{\"qty\":1},{\"qty\":2}]}", "{\"lines\":[{\"qty\":1},{\"qty\":3}]}",
               "lines[1].qty|qty|2|3\n");
    check_diff("{\"lines\":[{\"id\":1},{\"id\":2}]}", "{\"lines\":[{\"id\":2},{\"id\":1}]}",
               "lines|lines|[{\"id\":1},{\"id\":2}]|[{\"id\":2},{\"id\":1}]\n");
    check_diff("{\"lines\":[{\"id\":1},7]}", "{\"lines\":[{\"id\":2}]}",
               "lines|lines|[{\"id\":1},7]|[{\"id\":2}]\n");
    check_diff("{\"lines\":[{\"id\":1,\"qty\":1},{\"id\":1,\"qty\":2}]}",
               "{\"lines\":[{\"id\":1,\"qty\":1},{\"id\":1,\"qty\":3}]}",
               "lines[id=1].qty|qty|2|3\n");
}

/* Goal: a diff has at most 200 entries. Method: a list of 300 items that all differ. */
static void test_diff_is_bounded(void **state)
{
    struct buffer sides[2];
    struct buffer bytes;
    struct arena arena;
    struct wire_reader reader;
    struct wire_field field;
    size_t count = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    for (int side = 0; side < 2; side++) {
        buffer_init(&sides[side], &arena, 0);
        for (int i = 0; i < 300; i++) {
            buffer_printf(&sides[side], "%s{\"id\":%d,\"qty\":%d}", i == 0 ? "{\"l\":[" : ",", i,
                          side);
        }
        buffer_append(&sides[side], SLICE("]}"));
    }
    buffer_init(&bytes, &arena, 0);
    assert_int_equal(diff_append(&arena, FEEDBACK_EVENT_DIFF_FIELD, buffer_slice(&sides[0]),
                                 buffer_slice(&sides[1]), &bytes),
                     OK);
    reader = wire_reader_of(buffer_slice(&bytes));
    while (wire_next(&reader, &field) == OK) {
        count++;
    }
    assert_int_equal(count, DIFF_ENTRIES_MAX);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_changed_is_given_or_computed),
        cmocka_unit_test(test_fields_changed_has_at_most_200_names),
        cmocka_unit_test(test_diff_names_each_changed_member),
        cmocka_unit_test(test_diff_of_a_list_has_an_entry_for_each_changed_item),
        cmocka_unit_test(test_diff_is_bounded),
    };

    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
