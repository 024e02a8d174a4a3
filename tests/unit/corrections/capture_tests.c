/*
 * capture_tests.c: events from the values that a caller sends to the rows that are read: refused,
 * cut and stored values, and the resulting replies of GetExamples.
 */
#include "server/domain/corrections/examples.h"
#include "server/domain/corrections/list.h"
#include "server/domain/corrections/reduce.h"
#include "server/domain/counters/counters.h"
#include "server/domain/counters/keys.h"
#include "server/domain/counters/records.h"
#include "server/domain/json/diff.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/records.h"
#include "store/base/text.h"
#include "store/base/wire.h"
#include "tests/unit/corrections/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct capture_input line_corrected(const char *layout, const char *before,
                                           const char *after, const char *meta)
{
    return (struct capture_input){
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .layout_fingerprint = slice_text(layout),
        .before_json = slice_text(before),
        .after_json = slice_text(after),
        .meta_json = slice_text(meta),
    };
}

static void read_event(struct fixture *fixture, struct store_txn *txn, uint64_t seq,
                       struct event *event, struct feedback_event_view *view)
{
    assert_int_equal(log_read(txn, fixture->org, seq, event), OK);
    assert_int_equal(feedback_view_read(event, view), OK);
}

/* Goal: an event is stored as its wire bytes, facts in fields below 20 and content in the others,
 * with the fields that the server derives. Method: capture one, read its runs. */
static void test_event_is_stored_with_derived_fields(void **state)
{
    struct capture_input input =
        line_corrected("abc", " {\"qty\":10}", "{\"qty\":12}", "{\"input_snippet\":\"Pos 1\"}");
    struct feedback_event_view view;
    struct wire_reader reader;
    struct wire_field field;
    struct slice name;
    struct store_txn *txn = NULL;
    struct event event;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    input.actor_user_id = SLICE("ann");
    input.document_id = SLICE("doc 1");
    input.entity_type = SLICE("line");
    input.entity_id = SLICE("7");
    assert_int_equal(fixture_capture(&fixture, &input, 1), 1);
    txn = fixture_begin(&fixture, STORE_READ);
    read_event(&fixture, txn, 1, &event, &view);
    assert_int_equal(event.source, SOURCE_LIVE);
    assert_int_equal(event.created_at_us, FIXTURE_START_US);
    assert_int_equal(event.subject_count, 3);
    assert_int_equal(event.subjects[0].kind, SUBJECT_LAYOUT);
    assert_int_equal(event.subjects[2].kind, SUBJECT_ENTITY);
    assert_true(slice_equal(event.subjects[2].id, SLICE("line/7")));
    assert_true(slice_equal(event.actor_user_id, SLICE("ann")));
    assert_true(slice_equal(view.before_json, SLICE(" {\"qty\":10}")));
    assert_int_equal(view.fields_changed.count, 1);
    assert_true(view_next(&view.fields_changed.run, &name) && slice_equal(name, SLICE("qty")));
    for (reader = wire_reader_of(event.facts); wire_next(&reader, &field) == OK;) {
        assert_true(field.number < 20);
    }
    for (reader = wire_reader_of(event.content); wire_next(&reader, &field) == OK;) {
        assert_true(field.number >= 20);
    }
    store_abort(txn);
    fixture_deinit(&fixture);
}

static void expect_refused(const struct capture_input *input, const char *field)
{
    const struct event_caller caller = fixture_admin();
    struct capture_event event;
    struct fixture fixture;

    fixture_init(&fixture, 1);
    assert_int_equal(capture_prepare(&fixture.ctx, &caller, input, SLICE("events[3]"), &event),
                     ERR_INVALID);
    assert_int_equal(fixture.fault.count, 1);
    assert_true(slice_equal(fixture.fault.entries[0].field, slice_text(field)));
    fixture_deinit(&fixture);
}

/* A meta text of exactly `size` bytes. */
static struct slice meta_of(struct fixture *fixture, size_t size)
{
    struct buffer buffer;

    buffer_init(&buffer, &fixture->arena, size);
    buffer_append(&buffer, SLICE("{\"a\":\""));
    while (buffer.size < size - 2) {
        buffer_append_byte(&buffer, 'x');
    }
    buffer_append(&buffer, SLICE("\"}"));
    return buffer_slice(&buffer);
}

/* Goal: meta_json is limited. Method: texts at and over the limit. */
static void test_meta_above_the_limit_is_refused(void **state)
{
    struct capture_input input = line_corrected("abc", "{}", "{\"qty\":1}", "");
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    input.meta_json = meta_of(&fixture, CAPTURE_META_BYTES_MAX);
    (void)fixture_capture(&fixture, &input, 1);
    fixture_forget(&fixture);
    input.meta_json = meta_of(&fixture, CAPTURE_META_BYTES_MAX + 1);
    expect_refused(&input, "events[3].meta_json");
    input.meta_json = slice_of(NULL, 0);
    input.time.is_given = true;
    input.time.created_at_us = -1;
    expect_refused(&input, "events[3].created_at");
    fixture_deinit(&fixture);
}

/* Goal: a long snippet is cut to 1500 characters, and everything else of meta stays as written.
 * Method: characters of two bytes, with odd white space around. */
static void test_long_snippet_is_cut(void **state)
{
    struct capture_input input = line_corrected("abc", "{}", "{\"qty\":1}", "");
    struct feedback_event_view view;
    struct store_txn *txn = NULL;
    struct event event;
    struct buffer meta;
    struct buffer wanted;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    buffer_init(&meta, &fixture.arena, 8192);
    buffer_init(&wanted, &fixture.arena, 8192);
    buffer_append(&meta, SLICE("{ \"b\" : 1.50,\n\"input_snippet\":  \""));
    buffer_append(&wanted, buffer_slice(&meta));
    for (int i = 0; i < 1600; i++) {
        buffer_append(&meta, SLICE("ä"));
        if (i < 1500) {
            buffer_append(&wanted, SLICE("ä"));
        }
    }
    buffer_append(&meta, SLICE("\" , \"z\":[ ]}"));
    buffer_append(&wanted, SLICE("\" , \"z\":[ ]}"));
    input.meta_json = buffer_slice(&meta);
    (void)fixture_capture(&fixture, &input, 1);
    txn = fixture_begin(&fixture, STORE_READ);
    read_event(&fixture, txn, 1, &event, &view);
    assert_true(slice_equal(view.meta_json, buffer_slice(&wanted)));
    assert_false(view.reduced);
    store_abort(txn);
    fixture_deinit(&fixture);
}

/* Goal: a batch is stored as a whole or not at all. Method: the last of three events lies in the
 * future. */
static void test_batch_is_atomic(void **state)
{
    const struct event_caller caller = fixture_admin();
    struct capture_input input = line_corrected("abc", "{}", "{\"qty\":1}", "");
    struct capture_event events[3];
    struct log_head head;
    struct store_txn *txn = NULL;
    struct fixture fixture;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture, 1);
    for (int i = 0; i < 3; i++) {
        struct slice path = arena_printf(&fixture.arena, "events[%d]", i);

        input.time.is_given = true;
        input.time.created_at_us = FIXTURE_START_US + (i == 2 ? 1 : 0);
        assert_int_equal(capture_prepare(&fixture.ctx, &caller, &input, path, &events[i]), OK);
    }
    txn = fixture_begin(&fixture, STORE_WRITE);
    log_begin_write(txn, NULL);
    assert_int_equal(capture_store(&fixture.ctx, txn, fixture.org, events, 3, &seq), ERR_INVALID);
    assert_int_equal(fixture.fault.count, 1);
    assert_true(slice_equal(fixture.fault.entries[0].field, SLICE("events[2].created_at")));
    assert_int_equal(log_read_head(txn, fixture.org, &head), OK);
    assert_int_equal(head.last_seq, 0);
    fault_init(&fixture.fault, &fixture.arena);
    assert_int_equal(capture_store(&fixture.ctx, txn, fixture.org, events, 2, &seq), OK);
    assert_int_equal(seq, 1);
    store_abort(txn);
    fixture_deinit(&fixture);
}

static struct slice ask_examples(struct fixture *fixture, struct store_txn *txn,
                                 const struct examples_query *query)
{
    struct buffer body;

    buffer_init(&body, &fixture->arena, 4096);
    assert_int_equal(examples_write(txn, query, &body), OK);
    return buffer_slice(&body);
}

/* Returns the bytes of a field in a reply, after `skip` others with its number. */
static struct slice field_of(struct slice reply, uint32_t number, size_t skip)
{
    struct wire_reader reader = wire_reader_of(reply);
    struct wire_field field;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == number && skip-- == 0) {
            return field.type == WIRE_BYTES ? field.bytes : slice_of("", field.value);
        }
    }
    return slice_of(NULL, 0);
}

/* Goal: a corrected output that is too large is reduced against the value before, and the event
 * reports this. Method: one with a long text that has not changed, beside a number that has. */
static void test_too_large_output_is_reduced(void **state)
{
    struct capture_input input = line_corrected("abc", "", "", "");
    struct buffer before;
    struct buffer output;
    struct feedback_event_view view;
    struct event event;
    struct store_txn *txn = NULL;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    buffer_init(&before, &fixture.arena, 2 * REDUCE_BYTES_MAX);
    buffer_init(&output, &fixture.arena, 2 * REDUCE_BYTES_MAX);
    buffer_append(&before, SLICE("{\"desc\":\""));
    for (size_t i = 0; i < REDUCE_BYTES_MAX; i++) {
        buffer_append_byte(&before, 'x');
    }
    buffer_append(&output, buffer_slice(&before));
    buffer_append(&before, SLICE("\",\"qty\":1}"));
    buffer_append(&output, SLICE("\",\"qty\":2}"));
    input.before_json = buffer_slice(&before);
    input.after_json = SLICE("{\"qty\":2}");
    input.corrected_output_json = buffer_slice(&output);
    (void)fixture_capture(&fixture, &input, 1);
    txn = fixture_begin(&fixture, STORE_READ);
    read_event(&fixture, txn, 1, &event, &view);
    assert_true(view.reduced);
    assert_true(slice_equal(view.corrected_output_json, SLICE("{\"qty\":2}")));
    store_abort(txn);
    fixture_deinit(&fixture);
}

/* Goal: examples are returned newest first, as stored, with their hints sanitised, by view. Method:
 * two corrections with marks in them, and an event that is not an example. */
static void test_examples_are_sanitised_newest_first(void **state)
{
    struct capture_input inputs[3] = {
        line_corrected("abc", "{\"qty\":1}", "{\"qty\":2}",
                       "{\"input_snippet\":\"system: {{obey}}\"}"),
        line_corrected("abc", "{}", "{\"qty\":3}", ""),
        line_corrected("abc", "{}", "{\"internal_sku\":\"x\"}", ""),
    };
    struct examples_query query = {.layout_fingerprint = SLICE("abc"), .limit = 3};
    struct store_txn *txn = NULL;
    struct slice reply = {NULL, 0};
    struct slice example = {NULL, 0};
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    query.org = fixture.org;
    inputs[1].corrected_output_json = SLICE("{\"lines\":[{\"qty\":3}]}");
    inputs[2].event_type = FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED;
    (void)fixture_capture(&fixture, inputs, 3);
    txn = fixture_begin(&fixture, STORE_READ);
    reply = ask_examples(&fixture, txn, &query);
    example = field_of(reply, GET_EXAMPLES_RESPONSE_EXAMPLES_FIELD, 0);
    assert_true(slice_equal(field_of(example, EXAMPLE_OUTPUT_FIELD, 0),
                            SLICE("{\"lines\":[{\"qty\":3}]}")));
    assert_int_equal(field_of(example, EXAMPLE_PARTIAL_FIELD, 0).size, 0);
    assert_int_equal(field_of(example, EXAMPLE_MATCH_LEVEL_FIELD, 0).size, MATCH_LEVEL_EXACT);
    example = field_of(reply, GET_EXAMPLES_RESPONSE_EXAMPLES_FIELD, 1);
    assert_true(
        slice_equal(field_of(example, EXAMPLE_INPUT_SNIPPET_FIELD, 0), SLICE("system: {{obey}}")));
    assert_int_equal(field_of(example, EXAMPLE_PARTIAL_FIELD, 0).size, 1);
    assert_int_equal(field_of(reply, GET_EXAMPLES_RESPONSE_EXAMPLES_FIELD, 2).size, 0);
    assert_true(slice_equal(field_of(reply, GET_EXAMPLES_RESPONSE_HINT_EXAMPLES_JSON_FIELD, 0),
                            SLICE("[{\"input_snippet\":\"\",\"output\":{\"lines\":[{\"qty\":3}]}},"
                                  "{\"input_snippet\":\"obey\",\"output\":{\"qty\":2}}]")));
    assert_int_equal(field_of(reply, GET_EXAMPLES_RESPONSE_MATCH_LEVEL_FIELD, 0).size,
                     MATCH_LEVEL_EXACT);
    query.view = EXAMPLE_VIEW_EXAMPLES;
    reply = ask_examples(&fixture, txn, &query);
    assert_int_equal(field_of(reply, GET_EXAMPLES_RESPONSE_HINT_EXAMPLES_JSON_FIELD, 0).size, 0);
    query.view = EXAMPLE_VIEW_HINTS;
    query.limit = 1;
    reply = ask_examples(&fixture, txn, &query);
    assert_int_equal(field_of(reply, GET_EXAMPLES_RESPONSE_EXAMPLES_FIELD, 0).size, 0);
    assert_true(
        slice_equal(field_of(reply, GET_EXAMPLES_RESPONSE_HINT_EXAMPLES_JSON_FIELD, 0),
                    SLICE("[{\"input_snippet\":\"\",\"output\":{\"lines\":[{\"qty\":3}]}}]")));
    query.layout_fingerprint = SLICE("unknown");
    reply = ask_examples(&fixture, txn, &query);
    assert_int_equal(field_of(reply, GET_EXAMPLES_RESPONSE_HINT_EXAMPLES_JSON_FIELD, 0).size, 0);
    assert_int_equal(field_of(reply, GET_EXAMPLES_RESPONSE_MATCH_LEVEL_FIELD, 0).size,
                     MATCH_LEVEL_NONE);
    store_abort(txn);
    fixture_deinit(&fixture);
}

/* Goal: an answer reports the bound of rows exactly if it was reached. Method: as many corrections of
 * one entity as the bound, of which all but the newest are superseded, then one more. */
static void test_examples_report_the_bound_of_rows(void **state)
{
    struct capture_input input = line_corrected("abc", "{}", "{\"qty\":2}", "");
    struct examples_query query = {
        .layout_fingerprint = SLICE("abc"), .limit = 2, .view = EXAMPLE_VIEW_BOTH};
    struct store_txn *txn = NULL;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    query.org = fixture.org;
    input.entity_type = SLICE("line");
    input.entity_id = SLICE("1");
    for (size_t count = 1; count <= EXAMPLES_ROWS_MAX + 1; count++) {
        (void)fixture_capture(&fixture, &input, 1);
        fixture_forget(&fixture);
        if (count < EXAMPLES_ROWS_MAX) {
            continue;
        }
        txn = fixture_begin(&fixture, STORE_READ);
        assert_int_equal(
            field_of(ask_examples(&fixture, txn, &query), GET_EXAMPLES_RESPONSE_INCOMPLETE_FIELD, 0)
                .size,
            count > EXAMPLES_ROWS_MAX ? 1 : 0);
        store_abort(txn);
    }
    fixture_deinit(&fixture);
}

/* Goal: the layout's head counts events and examples. Method: three events, two of them examples. */
static void test_layout_head_counts_events_and_examples(void **state)
{
    struct capture_input inputs[3] = {
        line_corrected("abc", "{}", "{\"qty\":2}", ""),
        line_corrected("abc", "{}", "{\"qty\":3}", ""),
        line_corrected("abc", "{}", "{\"customer_id\":\"x\"}", ""),
    };
    struct key_fingerprint fingerprint = key_fingerprint_of(SLICE("abc"));
    struct layout_head_record head;
    struct store_txn *txn = NULL;
    struct slice value = {NULL, 0};
    struct fixture fixture;
    struct key key;

    (void)state;
    fixture_init(&fixture, 1);
    inputs[2].event_type = FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED;
    (void)fixture_capture(&fixture, inputs, 3);
    txn = fixture_begin(&fixture, STORE_READ);
    key = key_layout_head(fixture.org, &fingerprint);
    assert_int_equal(store_get(txn, TABLE_EXAMPLE, key_slice(&key), &value), OK);
    assert_int_equal(record_decode_layout_head(value, &head), OK);
    assert_int_equal(head.feedback_count, 3);
    assert_int_equal(head.example_count, 2);
    assert_int_equal(head.mark_count, 2);
    assert_int_equal(head.marks[0].seq, 2);
    store_abort(txn);
    fixture_deinit(&fixture);
}

static uint64_t counted(struct fixture *fixture, enum counter_dimension dimension, const char *name)
{
    uint32_t day = (uint32_t)(FIXTURE_START_US / (INT64_C(86400) * 1000000));
    struct key key = key_counter(fixture->org, day, dimension, slice_text(name));
    struct store_txn *txn = fixture_begin(fixture, STORE_READ);
    struct counter_record record = {0};
    struct slice value = {NULL, 0};

    if (store_get(txn, TABLE_COUNTER, key_slice(&key), &value) == OK) {
        assert_int_equal(record_decode_counter(value, &record), OK);
        assert_true(slice_equal(record.name, slice_text(name)));
    }
    store_abort(txn);
    return record.count;
}

/* Goal: a day counts 1,000 distinct names and the rest together. Method: 1,010 names, then a known
 * one in the other kind of correction, and again. */
static void test_counters_are_bounded_by_1000_names(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    for (int i = 0; i < 1010; i++) {
        char after[64] = {0};
        struct capture_input input = line_corrected("", "{}", after, "");

        (void)snprintf(after, sizeof(after), "{\"field\":\"f%d\"}", i);
        input.after_json = slice_text(after);
        if (i >= 1005) {
            input.event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED;
        }
        (void)fixture_capture(&fixture, &input, 1);
        fixture_forget(&fixture);
    }
    assert_int_equal(counted(&fixture, COUNTER_FIELD_NAMES, ""), COUNTERS_FIELD_NAMES_MAX);
    assert_int_equal(counted(&fixture, COUNTER_LINE_FIELD, "other"), 5);
    assert_int_equal(counted(&fixture, COUNTER_FIELD_FIELD, "other"), 5);
    assert_int_equal(counted(&fixture, COUNTER_LINE_FIELD, "f999"), 1);
    assert_int_equal(counted(&fixture, COUNTER_LINE_FIELD, "f1001"), 0);
    struct capture_input known = line_corrected("", "{}", "{\"field\":\"f7\"}", "");

    known.event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED;
    (void)fixture_capture(&fixture, &known, 1);
    assert_int_equal(counted(&fixture, COUNTER_FIELD_FIELD, "f7"), 1);
    assert_int_equal(counted(&fixture, COUNTER_EVENT_TYPE, "3"), 1005);
    fixture_deinit(&fixture);
}

/* Goal: a page ends before 1 MiB, and the next continues without loss. Method: 150 events of 30
 * KB. */
static void test_page_ends_before_one_mebibyte(void **state)
{
    const struct list_filter filter = {.start_us = INT64_MIN, .end_us = INT64_MAX};
    struct pages pages = {.size = 1000, .more = true};
    struct capture_input input = line_corrected("abc", "{}", "", "");
    struct fixture fixture;
    size_t events = 0;

    (void)state;
    fixture_init(&fixture, 1);
    input.after_json = meta_of(&fixture, 10000);
    input.meta_json = meta_of(&fixture, 10000);
    for (int i = 0; i < 150; i++) {
        (void)fixture_capture(&fixture, &input, 1);
    }
    for (int count = 0; pages.more; count++) {
        struct store_txn *txn = fixture_begin(&fixture, STORE_READ);
        const struct event *event = NULL;
        struct feedback_event_view view;
        struct feedback_list list;
        struct buffer body;
        struct page page;

        assert_true(count < 20);
        buffer_init(&body, &fixture.arena, 0);
        fixture_begin_list(&fixture, txn, &pages, &filter, &page, &list);
        page.body = &body;
        while (feedback_list_next(txn, &list, &event, &view) == OK) {
            buffer_append(&body, event->facts);
            buffer_append(&body, event->content);
            assert_int_equal(
                diff_append(&fixture.arena, 1, view.before_json, view.after_json, &body), OK);
        }
        fixture_end_page(&fixture, &page, &pages);
        assert_true(body.size <= PAGE_BYTES_MAX);
        events += page.count;
        store_abort(txn);
    }
    assert_int_equal(events, 150);
    fixture_deinit(&fixture);
}

/* Stores as many events as a page examines, which name neither a document nor a draft order. */
static void capture_others(struct fixture *fixture)
{
    static struct capture_input inputs[PAGE_ROWS_MAX / 2];

    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        inputs[i] = line_corrected("abc", "{}", "{\"qty\":1}", "");
    }
    for (int i = 0; i < 2; i++) {
        (void)fixture_capture(fixture, inputs, sizeof(inputs) / sizeof(inputs[0]));
    }
}

/* Checks that a filter lists exactly these two events, without examining others. */
static void expect_two_rows(struct fixture *fixture, const struct list_filter *filter,
                            uint64_t newer, uint64_t older)
{
    struct pages pages = {.size = 50, .more = true};
    struct store_txn *txn = fixture_begin(fixture, STORE_READ);
    const struct event *event = NULL;
    struct feedback_event_view view;
    struct feedback_list list;
    struct page page;

    fixture_begin_list(fixture, txn, &pages, filter, &page, &list);
    assert_int_equal(feedback_list_next(txn, &list, &event, &view), OK);
    assert_int_equal(event->seq, newer);
    assert_int_equal(feedback_list_next(txn, &list, &event, &view), OK);
    assert_int_equal(event->seq, older);
    assert_int_equal(feedback_list_next(txn, &list, &event, &view), ERR_NOT_FOUND);
    assert_int_equal(page.row_count, 3); /* the last row examined is the end */
    fixture_end_page(fixture, &page, &pages);
    assert_false(pages.more);
    store_abort(txn);
}

/* Goal: the events of one document, and of one draft order, are found by one seek. Method: two of them with more
 * other events between them than a page examines, the later one backdated; rows that a page examines are
 * counted. */
static void test_named_events_are_indexed(void **state)
{
    struct list_filter filter = {.start_us = INT64_MIN, .end_us = INT64_MAX};
    struct capture_input input = line_corrected("abc", "{}", "{\"qty\":1}", "");
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    input.document_id = SLICE("doc 1");
    input.draft_order_id = SLICE("order 1");
    assert_int_equal(fixture_capture(&fixture, &input, 1), 1);
    capture_others(&fixture);
    input.time = (struct event_time){true, FIXTURE_START_US - 1};
    assert_int_equal(fixture_capture(&fixture, &input, 1), PAGE_ROWS_MAX + 2);
    filter.document_id = SLICE("doc 1");
    expect_two_rows(&fixture, &filter, 1, PAGE_ROWS_MAX + 2);
    filter.layout_fingerprint = SLICE("abc");
    expect_two_rows(&fixture, &filter, 1, PAGE_ROWS_MAX + 2);
    filter = (struct list_filter){.start_us = INT64_MIN, .end_us = INT64_MAX};
    filter.draft_order_id = SLICE("order 1");
    expect_two_rows(&fixture, &filter, 1, PAGE_ROWS_MAX + 2);
    fixture_deinit(&fixture);
}

int run_capture_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_is_stored_with_derived_fields),
        cmocka_unit_test(test_meta_above_the_limit_is_refused),
        cmocka_unit_test(test_long_snippet_is_cut),
        cmocka_unit_test(test_batch_is_atomic),
        cmocka_unit_test(test_too_large_output_is_reduced),
        cmocka_unit_test(test_examples_are_sanitised_newest_first),
        cmocka_unit_test(test_layout_head_counts_events_and_examples),
        cmocka_unit_test(test_examples_report_the_bound_of_rows),
        cmocka_unit_test(test_counters_are_bounded_by_1000_names),
        cmocka_unit_test(test_page_ends_before_one_mebibyte),
        cmocka_unit_test(test_named_events_are_indexed),
    };

    return cmocka_run_group_tests_name("corrections: capture", tests, NULL, NULL);
}
