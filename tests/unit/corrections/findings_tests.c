/*
 * findings_tests.c: the findings of a capture about an event: whether it is an example, and its warnings,
 * in the facts and in the replies of GetExamples.
 */
#include "server/domain/corrections/examples.h"
#include "server/domain/corrections/reduce.h"
#include "server/domain/experiment/sums.h"
#include "server/domain/extractions/rows/extraction_rows.h"
#include "store/base/wire.h"
#include "tests/unit/corrections/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/extraction.fields.h>
#include <errata/v1/warning.views.h>
#include <event_apply.h>

#define LINE FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
#define FIELD FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED
#define CODES_MAX 3

/* A capture, and its expected findings. */
struct finding_case {
    enum feedback_event_type event_type;
    const char *layout;
    const char *document;
    const char *before;
    const char *after;
    const char *output;
    bool is_example;
    enum warning_code codes[CODES_MAX]; /* in order, terminated by UNSPECIFIED */
};

static const struct finding_case cases[] = {
    {LINE, "abc", "", "{\"qty\":1}", "{\"qty\":2}", "", true, {0}},
    {LINE, "abc", "", "", "{\"qty\":2}", "", true, {0}},
    {FIELD, "abc", "", "{\"a\":1}", "", "{\"a\":2}", true, {0}},
    {LINE, "abc", "", "{\"qty\":1}", "", "", false, {WARNING_CODE_NO_OUTPUT}},
    {LINE, "abc", "", "{\"qty\":1}", " { } ", "", false, {WARNING_CODE_NO_OUTPUT}},
    {LINE, "abc", "", "{\"qty\":1}", "{\"qty\":2}", "{}", false, {WARNING_CODE_NO_OUTPUT}},
    {LINE,
     "abc",
     "",
     "{\"a\":1, \"b\":\"x\"}",
     "{\"b\":\"\\u0078\",\"a\":1.0}",
     "",
     false,
     {WARNING_CODE_OUTPUT_UNCHANGED}},
    {LINE,
     "abc",
     "",
     "{\"a\":1}",
     "{\"a\":2}",
     "{\"a\":1}",
     false,
     {WARNING_CODE_OUTPUT_UNCHANGED}},
    {LINE,
     "abc",
     "",
     "{\"a\":{\"b\":1}}",
     "{\"a\":{\"truncated_bytes\":90}}",
     "",
     false,
     {WARNING_CODE_OUTPUT_LOST}},
    {LINE, "", "", "{\"qty\":1}", "{\"qty\":2}", "", false, {WARNING_CODE_NO_LAYOUT}},
    {LINE,
     "",
     "unknown",
     "{\"qty\":1}",
     "{\"qty\":2}",
     "",
     false,
     {WARNING_CODE_UNKNOWN_DOCUMENT, WARNING_CODE_NO_LAYOUT}},
    {LINE, "", "extracted", "{\"qty\":1}", "{\"qty\":2}", "", true, {0}},
    {LINE, "abc", "unknown", "{\"qty\":1}", "{\"qty\":2}", "", true, {0}},
    {FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED,
     "abc",
     "",
     "",
     "{\"customer_id\":\"4\"}",
     "",
     false,
     {0}},
    {FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED,
     "",
     "unknown",
     "",
     "{\"customer_id\":\"4\"}",
     "",
     false,
     {WARNING_CODE_UNKNOWN_DOCUMENT}},
    {FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED,
     "abc",
     "",
     "",
     "{\"sku\":\"4\"}",
     "",
     false,
     {WARNING_CODE_MAPPING_UNCHANGED}},
    {FEEDBACK_EVENT_TYPE_MAPPING_REJECTED,
     "abc",
     "",
     "",
     "{\"sku\":\"4\"}",
     "",
     false,
     {WARNING_CODE_MAPPING_UNCHANGED}},
};

/* Adds an extraction of the document `extracted`, which was not ingested; it names the layout abc. */
static void add_extraction(struct fixture *fixture)
{
    struct extraction_entry entry = {
        .org = fixture->org,
        .record = {.seq = 1,
                   .created_at_us = FIXTURE_START_US,
                   .layout_fingerprint = SLICE("abc"),
                   .arm = EXPERIMENT_ARM_NONE,
                   .exclusion = EXPERIMENT_EXCLUSION_NO_HOLDOUT},
        .document_id = SLICE("extracted"),
    };
    struct store_txn *txn = fixture_begin(fixture, STORE_WRITE);

    assert_int_equal(extraction_rows_add(&fixture->ctx, txn, &entry), OK);
    assert_int_equal(store_commit(txn), OK);
}

static void check_warnings(const struct finding_case *wanted, struct slice run)
{
    struct slice bytes = {NULL, 0};
    size_t count = 0;

    while (view_next(&run, &bytes)) {
        struct warning_view warning;

        assert_int_equal(warning_view_read(bytes, &warning), OK);
        assert_true(count < CODES_MAX);
        assert_int_equal(warning.code, wanted->codes[count]);
        assert_true(warning.message.size > 0);
        count++;
    }
    assert_true(count == CODES_MAX || wanted->codes[count] == WARNING_CODE_UNSPECIFIED);
}

/* Returns the number of examples of the layout abc. */
static size_t count_examples(struct fixture *fixture, struct store_txn *txn)
{
    const struct examples_query query = {
        .org = fixture->org, .layout_fingerprint = SLICE("abc"), .limit = EXAMPLES_LIMIT_MAX};
    struct examples_found found;

    assert_int_equal(examples_find(&fixture->arena, txn, &query, &found), OK);
    return found.count;
}

static void check_case(const struct finding_case *wanted)
{
    const struct capture_input input = {
        .event_type = wanted->event_type,
        .layout_fingerprint = slice_text(wanted->layout),
        .document_id = slice_text(wanted->document),
        .before_json = slice_text(wanted->before),
        .after_json = slice_text(wanted->after),
        .corrected_output_json = slice_text(wanted->output),
    };
    struct feedback_event_view view;
    struct store_txn *txn = NULL;
    struct fixture fixture;
    struct event event;

    fixture_init(&fixture, 1);
    add_extraction(&fixture);
    assert_int_equal(fixture_capture(&fixture, &input, 1), 1);
    txn = fixture_begin(&fixture, STORE_READ);
    assert_int_equal(log_read(txn, fixture.org, 1, &event), OK);
    assert_int_equal(feedback_view_read(&event, &view), OK);
    assert_true(view.has_is_example);
    assert_int_equal(view.is_example, wanted->is_example);
    check_warnings(wanted, view.warnings.run);
    assert_int_equal(count_examples(&fixture, txn), wanted->is_example ? 1 : 0);
    store_abort(txn);
    fixture_deinit(&fixture);
}

/* Goal: a capture records whether an event is an example and why not, warns of probable mistakes, and only
 * examples are served. Method: a table of captures, each in a store of its own. */
static void test_decision_and_warnings_are_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_case(&cases[i]);
    }
}

/* Appends `"name":[0,0,...]`, a value of at least `bytes` bytes. */
static void append_long(struct buffer *buffer, const char *name, size_t bytes, char digit)
{
    buffer_printf(buffer, "\"%s\":[%c", name, digit);
    for (size_t size = 0; size < bytes; size += 2) {
        buffer_append_byte(buffer, ',');
        buffer_append_byte(buffer, (uint8_t)digit);
    }
    buffer_append_byte(buffer, ']');
}

/* Goal: of a reduced output only the changed members that were kept are served, never `truncated_bytes`; if
 * none is left it is not an example. Method: two corrections of a long list, one of them of a number, too. */
static void test_reduced_example_has_only_changed_members(void **state)
{
    struct capture_input inputs[2] = {{.event_type = LINE, .layout_fingerprint = SLICE("abc")},
                                      {.event_type = LINE, .layout_fingerprint = SLICE("abc")}};
    struct examples_query query = {.layout_fingerprint = SLICE("abc"), .limit = 3};
    struct feedback_event_view view;
    struct examples_found found;
    struct store_txn *txn = NULL;
    struct buffer texts[4];
    struct fixture fixture;
    struct event event;

    (void)state;
    fixture_init(&fixture, 1);
    query.org = fixture.org;
    for (size_t i = 0; i < 4; i++) {
        buffer_init(&texts[i], &fixture.arena, 0);
        buffer_append(&texts[i], SLICE("{\"id\":\"7\","));
        append_long(&texts[i], "long", 2 * REDUCE_BYTES_MAX, (char)('0' + i % 2));
        buffer_append(&texts[i], i == 1 ? SLICE(",\"qty\":2}") : SLICE("}"));
    }
    for (size_t i = 0; i < 2; i++) {
        inputs[i].before_json = buffer_slice(&texts[2 * i]);
        inputs[i].after_json = buffer_slice(&texts[2 * i + 1]);
    }
    (void)fixture_capture(&fixture, inputs, 2);
    txn = fixture_begin(&fixture, STORE_READ);
    assert_int_equal(log_read(txn, fixture.org, 1, &event), OK);
    assert_int_equal(feedback_view_read(&event, &view), OK);
    assert_true(view.is_example && view.output_reduced);
    assert_true(fixture_has(view.after_json, REDUCE_OMITTED_NAME));
    assert_int_equal(log_read(txn, fixture.org, 2, &event), OK);
    assert_int_equal(feedback_view_read(&event, &view), OK);
    assert_true(!view.is_example && view.warnings.count == 1);
    assert_int_equal(examples_find(&fixture.arena, txn, &query, &found), OK);
    assert_int_equal(found.count, 1);
    assert_true(
        slice_equal(found.hint_examples_json,
                    SLICE("[{\"input_snippet\":\"\",\"output\":{\"id\":\"7\",\"qty\":2}}]")));
    store_abort(txn);
    fixture_deinit(&fixture);
}

/* Goal: an event of an earlier format, whose facts do not have the decision, gets it when it is applied.
 * Method: facts without those fields, applied to a store of their own. */
static void test_event_of_an_earlier_format_is_decided_by_apply(void **state)
{
    static const char *const afters[] = {"{\"qty\":2}", "{}", "{\"qty\":1}"};
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture, 1);
    for (size_t i = 0; i < sizeof(afters) / sizeof(afters[0]); i++) {
        const struct feedback_event_view view = {
            .id = uuid_v7(FIXTURE_START_US, &fixture.random.random),
            .org_id = fixture.org.uuid,
            .event_type = LINE,
            .layout_fingerprint = SLICE("abc"),
            .has_layout_fingerprint = true,
            .before_json = SLICE("{\"qty\":1}"),
            .after_json = slice_text(afters[i]),
        };
        struct event event = {.org = fixture.org,
                              .id = view.id,
                              .seq = 1 + i,
                              .kind = EVENT_FEEDBACK,
                              .annotator = ANNOTATOR_HUMAN,
                              .created_at_us = FIXTURE_START_US,
                              .recorded_at_us = FIXTURE_START_US};
        struct store_txn *txn = fixture_begin(&fixture, STORE_WRITE);

        assert_true(view_encode_parts(&feedback_event_view_type, &view, &fixture.arena,
                                      &event.facts, &event.content));
        assert_int_equal(corrections_apply(&fixture.ctx, txn, &event), OK);
        assert_int_equal(count_examples(&fixture, txn), 1);
        assert_int_equal(store_commit(txn), OK);
    }
    fixture_deinit(&fixture);
}

int run_findings_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decision_and_warnings_are_recorded),
        cmocka_unit_test(test_reduced_example_has_only_changed_members),
        cmocka_unit_test(test_event_of_an_earlier_format_is_decided_by_apply),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
