/*
 * rest_tests.c: aliases of methods in plain JSON: paths, queries, bodies and replies as messages. Goal:
 * each request of a route is one message of the contract, or is refused with its errors. Method: tables
 * of paths, and of queries with their JSON; messages written and read again.
 */
#include "server/codec/proto_json.h"
#include "server/rest/rest_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "errata/contract_messages.h"

struct fixture {
    struct arena arena;
    struct fault fault;
    struct ctx ctx;
};

static int set_up(void **state)
{
    static struct fixture fixture;

    arena_init(&fixture.arena, SIZE_MAX);
    fault_init(&fixture.fault, &fixture.arena);
    fixture.ctx = (struct ctx){.arena = &fixture.arena, .fault = &fixture.fault};
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    arena_deinit(&fixture->arena);
    return 0;
}

static struct rest_match match_of(const char *path, enum rest_verb verb)
{
    struct rest_match match;

    rest_find(slice_text(path), verb, &match);
    return match;
}

static void expect_method(const char *path, enum rest_verb verb, const char *method)
{
    struct rest_match match = match_of(path, verb);

    if (method == NULL) {
        assert_null(match.route);
        return;
    }
    assert_non_null(match.route);
    assert_true(slice_equal(match.route->method->name, slice_text(method)));
}

static void test_paths_have_their_routes(void **state)
{
    (void)state;
    expect_method("/feedback/stats", REST_GET, "GetVerdictStats");
    expect_method("/feedback/rules/x/toggle", REST_POST, "SetLearnedRuleEnabled");
    expect_method("/feedback/rules/a%2Fb/toggle", REST_POST, "SetLearnedRuleEnabled");
    expect_method("/reviews/triggers", REST_GET, "GetTriggers");
    expect_method("/reviews/triggers/shoes", REST_POST, "SetTriggerThresholds");
    for (size_t i = 0; i < 10; i++) {
        static const char *const unknown[] = {
            "",
            "/",
            "/feedback",
            "/feedback/stats/",
            "/feedback//stats",
            "/feedback/rules//toggle",
            "/feedback/rules/x/y/toggle",
            "/Feedback/stats",
            "/feedback/stat%73",
            "/a/b/c/d/e/f/g/h",
        };

        expect_method(unknown[i], REST_GET, NULL);
        expect_method(unknown[i], REST_POST, NULL);
    }
    assert_null(match_of("/feedback/stats", REST_POST).route);
    assert_true(match_of("/feedback/stats", REST_POST).has_other_verb);
    assert_false(match_of("/nowhere", REST_POST).has_other_verb);
}

/* The message of a request, in proto JSON; the faults as text if it is refused. */
static const char *message_of(struct fixture *fixture, const char *path, enum rest_verb verb,
                              const char *query, const char *body)
{
    const struct proto_json_style style = {.indent = 0};
    struct rest_match match = match_of(path, verb);
    struct buffer wire;
    struct buffer json;

    assert_non_null(match.route);
    fault_init(&fixture->fault, &fixture->arena);
    buffer_init(&wire, &fixture->arena, 0);
    buffer_init(&json, &fixture->arena, 64);
    if (rest_read_request(&fixture->ctx, &match, slice_text(query), slice_text(body), &wire) ==
        OK) {
        assert_int_equal(proto_json_write(&fixture->ctx, match.route->method->request,
                                          buffer_slice(&wire), &style, &json),
                         OK);
    }
    for (size_t i = 0; i < fixture->fault.count; i++) {
        const struct fault_entry *entry = &fixture->fault.entries[i];

        buffer_printf(&json, "%.*s: %.*s\n", (int)entry->field.size,
                      entry->field.size > 0 ? (const char *)entry->field.data : "",
                      (int)entry->description.size, (const char *)entry->description.data);
    }
    buffer_append_byte(&json, 0);
    return (const char *)json.data;
}

static void test_queries_are_messages(void **state)
{
    struct fixture *fixture = *state;
    static const char *const rows[][2] = {
        {"", "{}"},
        {"&&", "{}"},
        {"page_size=5", "{\"pageSize\":5}"},
        {"pageSize=5&pattern=a%20b+c%2B", "{\"pageSize\":5,\"pattern\":\"a b c+\"}"},
        {"rule_type=missed_indicator", "{\"ruleType\":\"LEARNED_RULE_TYPE_MISSED_INDICATOR\"}"},
        {"rule_type=FALSE_NEGATIVE&enabled=false",
         "{\"ruleType\":\"LEARNED_RULE_TYPE_FALSE_NEGATIVE\",\"enabled\":false}"},
        {"pattern=%C3%A9", "{\"pattern\":\"\xc3\xa9\"}"},
        {"pattern=a=b", "{\"pattern\":\"a=b\"}"},
        {"pattern", "{}"},
    };
    static const char *const faults[][2] = {
        {"nope=1", "nope: unknown parameter"},
        {"page_size=1&page_size=2", "page_size: given twice"},
        {"page_size=x", "page_size: invalid value \"x\""},
        {"enabled=1", "enabled: invalid value \"1\""},
        {"pattern=%", "invalid escape"},
        {"pattern=%zz", "invalid escape"},
        {"pattern=%ff", "pattern: invalid UTF-8"},
        {"rule_type=other", "rule_type: unknown value \"other\""},
        {"page_size=x&nope=1", "nope: unknown"},
        {"page_size=x&nope=1", "page_size: invalid"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(
            message_of(fixture, "/feedback/learned-rules", REST_GET, rows[i][0], ""), rows[i][1]);
    }
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        const char *text =
            message_of(fixture, "/feedback/learned-rules", REST_GET, faults[i][0], "");

        if (strstr(text, faults[i][1]) == NULL) {
            fail_msg("%s: %s", faults[i][0], text);
        }
    }
}

static void test_lists_and_times_are_parameters(void **state)
{
    struct fixture *fixture = *state;

    assert_string_equal(message_of(fixture, "/analytics/learning", REST_GET,
                                   "annotator_kinds=HUMAN&top_fields=2&annotator_kinds=code", ""),
                        "{\"topFields\":2,\"annotatorKinds\":[\"ANNOTATOR_KIND_HUMAN\","
                        "\"ANNOTATOR_KIND_CODE\"]}");
    assert_string_equal(
        message_of(fixture, "/feedback-events", REST_GET, "start_time=2026-01-02T03:04:05Z", ""),
        "{\"startTime\":\"2026-01-02T03:04:05Z\"}");
}

static void test_bodies_are_messages(void **state)
{
    struct fixture *fixture = *state;

    assert_string_equal(message_of(fixture, "/feedback/rules/x%20y/toggle", REST_POST, "", ""),
                        "{\"id\":\"x y\"}");
    assert_string_equal(message_of(fixture, "/feedback/rules/x/toggle", REST_POST, "",
                                   "{\"id\":\"other\",\"enabled\":true,\"new\":1}"),
                        "{\"id\":\"x\",\"enabled\":true}");
    assert_string_equal(
        message_of(fixture, "/feedback-events", REST_POST, "",
                   "{\"event_type\":\"mapping_rejected\",\"details_json\":{\"a\": 1},"
                   "\"beforeJson\":\"{}\",\"after_json\":null}"),
        "{\"event\":{\"eventType\":\"FEEDBACK_EVENT_TYPE_MAPPING_REJECTED\","
        "\"beforeJson\":\"{}\",\"metaJson\":\"{\\\"a\\\": 1}\"}}");
    assert_string_equal(
        message_of(fixture, "/feedback/import", REST_POST, "replace=true", "{\"rules\":[]}"),
        "{\"documentJson\":\"{\\\"rules\\\":[]}\",\"replace\":true}");
    assert_non_null(strstr(message_of(fixture, "/feedback-events", REST_POST, "", "[]"),
                           "expected a JSON object"));
    assert_non_null(
        strstr(message_of(fixture, "/feedback-events", REST_POST, "", "{"), "invalid JSON"));
    assert_non_null(strstr(message_of(fixture, "/feedback-events", REST_POST, "",
                                      "{\"meta_json\":{},\"details_json\":{}}"),
                           "given twice"));
}

/* The plain JSON of a message that is given in proto JSON. */
static const char *plain_of(struct fixture *fixture, const struct message_info *message,
                            const char *text, const struct proto_json_style *style)
{
    struct buffer wire;
    struct buffer json;

    buffer_init(&wire, &fixture->arena, 0);
    buffer_init(&json, &fixture->arena, 0);
    assert_int_equal(proto_json_read(&fixture->ctx, message, slice_text(text), true, &wire), OK);
    assert_int_equal(proto_json_write(&fixture->ctx, message, buffer_slice(&wire), style, &json),
                     OK);
    buffer_append_byte(&json, 0);
    return (const char *)json.data;
}

static void test_replies_have_every_member(void **state)
{
    const struct proto_json_style style = {.plain = true};
    const struct slice members[] = {SLICE("id"), SLICE("rule_type")};
    const struct proto_json_style some = {.plain = true, .members = members, .member_count = 2};
    struct fixture *fixture = *state;

    assert_string_equal(plain_of(fixture, &contract_errata_v1_get_verdict_stats_response,
                                 "{\"totalFeedback\":\"9007199254740993\"}", &style),
                        "{\"total_feedback\":9007199254740993,\"accuracy\":null,"
                        "\"false_positives\":0,\"false_negatives\":0,\"real_receipts\":0,"
                        "\"fake_receipts\":0,\"suspicious_receipts\":0,"
                        "\"common_missed_indicators\":[],\"incomplete\":false}");
    assert_string_equal(
        plain_of(fixture, &contract_errata_v1_example, "{\"output\":\"{\\\"qty\\\":12}\"}", &style),
        "{\"id\":\"\",\"layout_fingerprint\":\"\",\"input_snippet\":\"\","
        "\"output\":{\"qty\":12},\"expected_output\":{\"qty\":12},"
        "\"partial\":false,\"created_at\":null,\"match_level\":null,"
        "\"superseded\":false,\"confidence_improvement\":null,\"reduced\":false,"
        "\"event_ids\":[]}");
    assert_string_equal(plain_of(fixture, &contract_errata_v1_learned_rule,
                                 "{\"id\":\"x\",\"ruleType\":\"FALSE_POSITIVE\"}", &some),
                        "{\"rule_id\":\"x\",\"rule_type\":\"false_positive\"}");
    assert_string_equal(
        plain_of(fixture, &contract_errata_v1_verdict_submission, "{\"corrections\":{\"a\":\"b\"}}",
                 &(struct proto_json_style){.plain = true,
                                            .members =
                                                &(struct slice){(const uint8_t *)"corrections", 11},
                                            .member_count = 1}),
        "{\"corrections\":{\"a\":\"b\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_have_their_routes),
        cmocka_unit_test_setup_teardown(test_queries_are_messages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lists_and_times_are_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bodies_are_messages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replies_have_every_member, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("rest", tests, NULL, NULL);
}
