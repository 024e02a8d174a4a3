/*
 * rows_test.c: outcomes that become decisions, and rows that become requests.
 */
#include "tests/unit/cli_import/cli_import_tests.h"
#include "tools/errata/import/import_request.h"
#include "tools/errata/import/mapping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct seen {
    struct arena arena;
    char text[128]; /* text of the last row */
};

static void take_row(void *user, const struct import_row *row)
{
    struct seen *seen = user;

    (void)snprintf(seen->text, sizeof(seen->text), "%.*s", (int)row->text[IMPORT_DECISION].size,
                   (const char *)row->text[IMPORT_DECISION].data);
}

static void take_skip(void *user, const char *reason, struct slice id)
{
    struct seen *seen = user;

    (void)id;
    (void)snprintf(seen->text, sizeof(seen->text), "skip: %.12s", reason);
}

static void take_damaged(void *user, struct slice problem)
{
    struct seen *seen = user;

    (void)snprintf(seen->text, sizeof(seen->text), "damaged: %.*s",
                   (int)(problem.size < 40 ? problem.size : 40), (const char *)problem.data);
}

static void assert_outcome(const char *metric, const char *value, const char *notes,
                           const char *expected)
{
    static const struct import_threshold thresholds[] = {{SLICE("special"), 10}, {SLICE(""), 0.5}};
    static const struct import_label labels[] = {{SLICE("rude"), false}, {SLICE("wrong"), true}};
    const struct import_choices choices = {
        .thresholds = thresholds, .threshold_count = 2, .labels = labels, .label_count = 2};
    struct seen seen = {.text = ""};
    const struct import_sink sink = {&seen, take_row, take_skip, take_damaged, NULL};
    struct import_call call = {&seen.arena, &choices, &sink, &import_csv};
    struct import_row row = {.kind = IMPORT_REVIEW, .type = "row"};

    arena_init(&seen.arena, (size_t)1024 * 1024);
    row.text[IMPORT_ID] = SLICE("1");
    row.text[IMPORT_SUBJECT] = SLICE("run");
    row.text[IMPORT_METRIC] = slice_text(metric);
    row.text[IMPORT_VALUE] = slice_text(value);
    row.text[IMPORT_NOTES] = slice_text(notes);
    import_put(&call, &row);
    assert_string_equal(seen.text, expected);
    arena_deinit(&seen.arena);
}

/* Goal: words, numbers and labels have the meaning that the command line gives them, else their default one.
 * Method: each. */
static void test_outcomes_become_decisions(void **state)
{
    (void)state;
    assert_outcome("m", "true", "", "REVIEWED");
    assert_outcome("m", "Correct", "", "REVIEWED");
    assert_outcome("m", "false", "", "REJECTED");
    assert_outcome("m", "0.5", "", "REVIEWED");
    assert_outcome("m", "0.49", "", "REJECTED");
    assert_outcome("special", "9.9", "", "REJECTED");
    assert_outcome("special", "1e1", "", "REVIEWED");
    assert_outcome("m", "rude", "", "REJECTED");
    assert_outcome("m", "wrong", "", "REVIEWED"); /* the command line decides */
    assert_outcome("m", "meh", "", "skip: a label with");
    assert_outcome("m", "", "please shorten", "CHANGES_REQUESTED");
    assert_outcome("m", "", "", "skip: an outcome w");
}

/* Goal: ids that the contract does not allow are replaced, and valid ones are kept. Method: a correction with
 * an ordinary id and one that is too long. */
static void test_long_ids_become_digests(void **state)
{
    const struct import_choices choices = {.layout = {NULL, 0}};
    struct import_row row = {.kind = IMPORT_CORRECTION, .type = "row"};
    struct import_request request;
    struct arena arena;
    char longer[200];

    (void)state;
    memset(longer, 'i', sizeof(longer));
    arena_init(&arena, (size_t)1024 * 1024);
    row.text[IMPORT_ID] = SLICE("7");
    row.after = fields_quoted(&arena, SLICE("right"));
    assert_true(import_request_make(&arena, &import_csv, &choices, &row, &request));
    assert_true(slice_equal(request.ref, SLICE("csv:row:7")));
    assert_true(slice_equal(
        request.json,
        SLICE(
            "{\"event\":{\"event_type\":\"EXTRACTION_FIELD_CORRECTED\",\"entity_type\":\"csv.row\","
            "\"entity_id\":\"7\",\"document_id\":\"7\",\"layout_fingerprint\":\"csv\","
            "\"after_json\":\"{\\\"text\\\":\\\"right\\\"}\","
            "\"meta_json\":\"{\\\"source_ref\\\":\\\"csv:row:7\\\"}\",\"annotator_kind\":\"HUMAN\"}"
            "}")));
    row.text[IMPORT_ID] = slice_of(longer, sizeof(longer));
    assert_true(import_request_make(&arena, &import_csv, &choices, &row, &request));
    assert_int_equal(request.ref.size, strlen("sha256:") + 64);
    arena_deinit(&arena);
}

/* Goal: the last time that can be written has a lookup, too, without an end. Method: a correction of that time. */
static void test_lookup_at_the_end_of_time_has_no_end(void **state)
{
    const struct import_choices choices = {.layout = {NULL, 0}};
    struct import_row row = {.kind = IMPORT_CORRECTION, .type = "row"};
    struct import_request request;
    struct arena arena;

    (void)state;
    arena_init(&arena, (size_t)1024 * 1024);
    row.text[IMPORT_ID] = SLICE("7");
    row.text[IMPORT_AT] = SLICE("9999-12-31T23:59:59.999999Z");
    row.after = fields_quoted(&arena, SLICE("right"));
    assert_true(import_request_make(&arena, &import_csv, &choices, &row, &request));
    assert_null(memmem(request.lookup.data, request.lookup.size, "end_time", 8));
    row.text[IMPORT_AT] = SLICE("9999-12-31T23:59:59.999998Z");
    assert_true(import_request_make(&arena, &import_csv, &choices, &row, &request));
    assert_non_null(memmem(request.lookup.data, request.lookup.size, "end_time", 8));
    arena_deinit(&arena);
}

/* Goal: a decision on an agent's output keeps its own id, by which it is found again. Method: a row, its requests,
 * and the reply to its lookup. */
static void test_decisions_are_found_by_their_ids(void **state)
{
    const struct import_choices choices = {.layout = {NULL, 0}};
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct import_row row = {.kind = IMPORT_AGENT_DECISION, .type = "row"};
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    struct import_request request;
    struct arena arena;

    (void)state;
    arena_init(&arena, (size_t)1024 * 1024);
    row.text[IMPORT_ID] = SLICE("d-1");
    row.text[IMPORT_GATE] = SLICE("HITL-1");
    row.text[IMPORT_DECISION] = SLICE("APPROVED");
    row.text[IMPORT_TAGS] = SLICE("a; b");
    assert_true(import_request_make(&arena, &import_csv, &choices, &row, &request));
    assert_true(
        slice_equal(request.json, SLICE("{\"decision\":{\"decision_id\":\"d-1\",\"gate_id\":"
                                        "\"HITL-1\",\"decision\":\"APPROVED\",\"tags\":"
                                        "[\"a\",\"b\"]}}")));
    assert_true(slice_equal(request.lookup, SLICE("{\"decision_id\":\"d-1\"}")));
    assert_int_equal(json_check(&arena, SLICE("{\"decision\":{}}"), &rules, &reply, &problem), OK);
    assert_true(import_request_is_stored(&arena, &row, &request, reply));
    assert_int_equal(json_check(&arena, SLICE("{}"), &rules, &reply, &problem), OK);
    assert_false(import_request_is_stored(&arena, &row, &request, reply));
    arena_deinit(&arena);
}

/* Goal: a stored row is known by its time, and a changed one is new. Method: replies with both. */
static void test_stored_rows_are_recognised(void **state)
{
    static const char reply[] = "{\"events\":[{\"createdAt\":\"2025-01-01T00:00:00.000001Z\"}]}";
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct import_row row = {.kind = IMPORT_CORRECTION, .type = "row"};
    struct import_request request = {.ref = SLICE("r")};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};
    struct arena arena;

    (void)state;
    arena_init(&arena, (size_t)1024 * 1024);
    assert_int_equal(json_check(&arena, slice_text(reply), &rules, &value, &problem), OK);
    assert_true(import_request_is_stored(&arena, &row, &request, value)); /* no time: any matches */
    row.text[IMPORT_AT] = SLICE("2025-01-01T00:00:00.000001Z");
    assert_true(import_request_is_stored(&arena, &row, &request, value));
    row.text[IMPORT_AT] = SLICE("2025-01-01T00:00:00.000002Z");
    assert_false(import_request_is_stored(&arena, &row, &request, value));
    arena_deinit(&arena);
}

int run_rows_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_outcomes_become_decisions),
                                       cmocka_unit_test(test_long_ids_become_digests),
                                       cmocka_unit_test(test_decisions_are_found_by_their_ids),
                                       cmocka_unit_test(test_lookup_at_the_end_of_time_has_no_end),
                                       cmocka_unit_test(test_stored_rows_are_recognised)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
