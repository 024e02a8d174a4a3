/*
 * template_test.c: Goal: each request of a template is what the JSON codec would have made of the
 * text with the placeholders filled in, every placeholder draws from its declared values, and a text
 * that cannot be patched is refused with a message. Method: requests are decoded to JSON and
 * compared.
 */
#include "tests/unit/bench_load/bench_load_tests.h"

#include "server/codec/proto_json.h"
#include "store/base/bytes.h"
#include "tools/bench/load/methods.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const struct template_keys keys = {5000, 0};
static struct template_source source;

static struct slice path_of(const char *method)
{
    static char path[128];

    return slice_of(path, (size_t)snprintf(path, sizeof(path), "/errata.v1.%s", method));
}

static void compile(struct fixture *fixture, const char *method, const char *json,
                    struct template *template)
{
    if (methods_compile(&fixture->ctx, NULL, path_of(method), slice_text(json), &keys, template) !=
        OK) {
        print_error("%.*s\n", (int)fixture->fault.message.size,
                    (const char *)fixture->fault.message.data);
        fail();
    }
    template_source_init(&source, 1, 1000);
}

/* The next request as JSON, with its prefix checked. */
static const char *next_json(struct fixture *fixture, const char *method,
                             const struct template *template)
{
    const struct proto_json_style style = {0};
    uint8_t *bytes = arena_alloc(&fixture->arena, template->body.size);
    struct buffer json;

    assert_non_null(bytes);
    template_render(template, &source, bytes);
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes_get_be32(bytes + 1), template->body.size - GRPC_PREFIX_BYTES);
    buffer_init(&json, &fixture->arena, 256);
    assert_int_equal(proto_json_write(&fixture->ctx, contract_find_method(path_of(method))->request,
                                      slice_of(bytes + GRPC_PREFIX_BYTES,
                                               template->body.size - GRPC_PREFIX_BYTES),
                                      &style, &json),
                     OK);
    buffer_append_byte(&json, '\0');
    return (const char *)json.data;
}

/* Steps over `prefix` and the number after it. */
static unsigned take_number(const char **at, const char *prefix, int base)
{
    char *end = NULL;
    unsigned long number = 0;

    assert_true(slice_starts_with(slice_text(*at), slice_text(prefix)));
    number = strtoul(*at + strlen(prefix), &end, base);
    assert_ptr_not_equal(end, *at + strlen(prefix));
    *at = end;
    return (unsigned)number;
}

static void refuse(struct fixture *fixture, const char *method, const char *json, const char *start)
{
    struct template template;

    assert_int_equal(
        methods_compile(&fixture->ctx, NULL, path_of(method), slice_text(json), &keys, &template),
        ERR_INVALID);
    fixture_expect_fault(fixture, start);
}

static void test_number_in_text_has_its_width(void **state)
{
    struct fixture *fixture = *state;
    struct template template;
    unsigned low = 1000;
    unsigned high = 0;

    compile(fixture, "PromptService/GetExamples",
            "{\"layoutFingerprint\": \"x-${uniform:7..412:%06d}-${uniform:0..255:%04x}\"}",
            &template);
    for (size_t i = 0; i < 20000; i++) {
        const char *json = next_json(fixture, "PromptService/GetExamples", &template);
        size_t size = strlen(json);
        unsigned number = take_number(&json, "{\"layoutFingerprint\":\"x-", 10);
        unsigned hex = take_number(&json, "-", 16);

        assert_string_equal(json, "\"}");
        assert_int_equal(size, 37);
        assert_in_range(number, 7, 412);
        assert_in_range(hex, 0, 255);
        low = number < low ? number : low;
        high = number > high ? number : high;
        if (i % 1000 == 0) {
            arena_reset(&fixture->arena);
            compile(fixture, "PromptService/GetExamples",
                    "{\"layoutFingerprint\": \"x-${uniform:7..412:%06d}-${uniform:0..255:%04x}\"}",
                    &template);
            source.draw.state = i;
        }
    }
    assert_int_equal(low, 7);
    assert_int_equal(high, 412);
}

/* Numbers become varints of one width, for any value. */
static void test_number_member_has_one_varint_width(void **state)
{
    struct fixture *fixture = *state;
    struct template template;
    bool seen[4] = {false};

    compile(fixture, "EventService/GetEvent", "{\"seq\": ${uniform:1..100000}}", &template);
    assert_int_equal(template.body.size, GRPC_PREFIX_BYTES + 1 + 3);
    for (size_t i = 0; i < 3000; i++) {
        const char *json = next_json(fixture, "EventService/GetEvent", &template);
        unsigned number = take_number(&json, "{\"seq\":\"", 10);

        assert_in_range(number, 1, 100000);
        seen[number < 128 ? 1 : number < 16384 ? 2 : 3] = true;
    }
    assert_true(seen[1] && seen[2] && seen[3]);
    compile(fixture, "EventService/GetEvent", "{\"seq\": \"${uniform:5..5}\"}", &template);
    assert_string_equal(next_json(fixture, "EventService/GetEvent", &template), "{\"seq\":\"5\"}");
    compile(fixture, "PromptService/GetExamples",
            "{\"layoutFingerprint\":\"a\",\"max_examples\":${uniform:0..1},\"view\":\"HINTS\"}",
            &template);
    assert_int_equal(template.place_count, 1);
}

static void test_serials_count_up(void **state)
{
    struct fixture *fixture = *state;
    struct template template;

    compile(fixture, "FeedbackService/CaptureFeedbackEvent",
            "{\"event\":{\"entityId\":\"${serial}\",\"documentId\":\"${serial:%05d}\"}}",
            &template);
    assert_string_equal(next_json(fixture, "FeedbackService/CaptureFeedbackEvent", &template),
                        "{\"event\":{\"entityId\":\"0000000000001000\",\"documentId\":\"01001\"}}");
    assert_string_equal(next_json(fixture, "FeedbackService/CaptureFeedbackEvent", &template),
                        "{\"event\":{\"entityId\":\"0000000000001002\",\"documentId\":\"01003\"}}");
}

static void expect_uuid(const char *text)
{
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        assert_true(dash ? text[i] == '-' : isxdigit((unsigned char)text[i]) != 0);
    }
    assert_int_equal(text[14], '4');
    assert_non_null(strchr("89ab", text[19]));
}

static void test_random_texts_have_their_length(void **state)
{
    struct fixture *fixture = *state;
    struct template template;
    char first[256];
    const char *json = NULL;

    compile(fixture, "FeedbackService/CaptureFeedbackEvent",
            "{\"event\":{\"entityId\":\"${uuid}\",\"documentId\":\"${hex:21}\","
            "\"afterJson\":\"{\\\"t\\\":\\\"${text:60}\\\"}\"}}",
            &template);
    json = next_json(fixture, "FeedbackService/CaptureFeedbackEvent", &template);
    expect_uuid(json + strlen("{\"event\":{\"entityId\":\""));
    assert_int_equal(strspn(strstr(json, "documentId\":\"") + 13, "0123456789abcdef"), 21);
    assert_int_equal(strspn(strstr(json, "\\\"t\\\":\\\"") + 8, "abcdefghijklmnopqrstuvwxyz "), 60);
    (void)snprintf(first, sizeof(first), "%s", json);
    json = next_json(fixture, "FeedbackService/CaptureFeedbackEvent", &template);
    assert_string_not_equal(json, first);
}

static void test_layout_placeholder_is_drawn_by_skew(void **state)
{
    static const struct template_keys skewed = {100, 1.2};
    struct fixture *fixture = *state;
    struct template template;
    unsigned often = 0;

    assert_int_equal(methods_compile(&fixture->ctx, NULL, path_of("PromptService/GetExamples"),
                                     SLICE("{\"layoutFingerprint\":\"bench-layout-${layout}\"}"),
                                     &skewed, &template),
                     OK);
    template_source_init(&source, 1, 0);
    for (size_t i = 0; i < 1000; i++) {
        const char *json = next_json(fixture, "PromptService/GetExamples", &template);
        unsigned number = take_number(&json, "{\"layoutFingerprint\":\"bench-layout-", 10);

        assert_in_range(number, 0, 99);
        often += number == 0 ? 1 : 0;
    }
    assert_in_range(often, 200, 350); /* 1 / sum of k^-1.2 is 0.28 */
}

static void test_escaped_placeholder_is_text(void **state)
{
    struct fixture *fixture = *state;
    struct template template;

    compile(fixture, "PromptService/GetExamples", "{\"layoutFingerprint\":\"$${layout} $ {\"}",
            &template);
    assert_int_equal(template.place_count, 0);
    assert_string_equal(next_json(fixture, "PromptService/GetExamples", &template),
                        "{\"layoutFingerprint\":\"${layout} $ {\"}");
    compile(fixture, "AdminService/GetServerInfo", "{}", &template);
    assert_int_equal(template.body.size, GRPC_PREFIX_BYTES);
}

/* A text that is not gRPC is sent unchanged. */
static void test_plain_template_is_sent_unchanged(void **state)
{
    struct fixture *fixture = *state;
    struct template template;
    uint8_t bytes[16];

    assert_int_equal(
        methods_compile_plain(&fixture->ctx, SLICE("id=${serial:%03d}&x"), &keys, &template), OK);
    template_source_init(&source, 1, 41);
    assert_int_equal(template.body.size, 8);
    template_render(&template, &source, bytes);
    assert_memory_equal(bytes, "id=041&x", 8);
}

static void test_invalid_placeholder_is_refused(void **state)
{
    static const char *const unknown[] = {"${}",
                                          "${nothing}",
                                          "${uniform}",
                                          "${uniform:5}",
                                          "${uniform:5..4}",
                                          "${uniform:1..2:%d}",
                                          "${uniform:1..200:%02d}",
                                          "${uniform:1..2:%05f}",
                                          "${zipf:0..9}",
                                          "${zipf:0..9:0}",
                                          "${zipf:0..9:x}",
                                          "${hex:0}",
                                          "${hex:99999}",
                                          "${hex}",
                                          "${uuid:3}",
                                          "${layout:%09d}",
                                          "${serial:5}",
                                          "${uniform:-1..5}",
                                          "${uniform: 1..5}"};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < COUNT(unknown); i++) {
        char json[128];
        char start[64];

        (void)snprintf(json, sizeof(json), "{\"layoutFingerprint\":\"%s\"}", unknown[i]);
        (void)snprintf(start, sizeof(start), "%s: unknown placeholder; expected uniform",
                       unknown[i]);
        refuse(fixture, "PromptService/GetExamples", json, start);
    }
    refuse(fixture, "PromptService/GetExamples", "{\"layoutFingerprint\":\"${uniform:1..2\"}",
           "unterminated placeholder \"${uniform:1..2\"}\"; write $${");
}

/* Placeholders at positions where they would be encoded differently. */
static void test_placeholder_in_an_encoded_place_is_refused(void **state)
{
    struct fixture *fixture = *state;

    refuse(fixture, "FeedbackService/ListFeedbackEvents",
           "{\"startTime\":\"2026-01-01T00:00:${uniform:10..59}Z\"}",
           "${uniform:10..59}: cannot be used in this position");
    refuse(fixture, "LayoutService/IngestDocument",
           "{\"documentId\":\"a\",\"content\":\"${hex:8}\"}",
           "${hex:8}: cannot be used in this position");
    refuse(fixture, "PromptService/GetExamples", "{\"layout${uniform:1..9}\":\"a\"}",
           "unknown field \"layout9\"");
    refuse(fixture, "PromptService/GetExamples", "{\"max_examples\":${uniform:0..9999999999}}",
           "max_examples: ");
    refuse(fixture, "PromptService/GetExamples", "{\"max_examples\":", "");
    refuse(fixture, "PromptService/GetExamples", "{\"layout_fingerprint\": 5}",
           "layout_fingerprint: ");
    refuse(fixture, "EventService/WatchEvents", "{}", "errata.v1.EventService/WatchEvents streams");
}

static void test_unknown_method_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct template template;
    struct slice path = {NULL, 0};

    assert_int_equal(methods_compile(&fixture->ctx, NULL, path_of("EventService/GetEvents"),
                                     SLICE("{}"), &keys, &template),
                     ERR_NOT_FOUND);
    fixture_expect_fault(fixture, "unknown method errata.v1.EventService/GetEvents");
    assert_int_equal(methods_make_path(&fixture->ctx, "", &path), ERR_INVALID);
    assert_int_equal(methods_make_path(&fixture->ctx, "a b", &path), ERR_INVALID);
    assert_int_equal(methods_make_path(&fixture->ctx, "/a.B/C", &path), OK);
    assert_true(slice_equal(path, SLICE("/a.B/C")));
    assert_int_equal(methods_make_path(&fixture->ctx, "a.B/C", &path), OK);
    assert_true(slice_equal(path, SLICE("/a.B/C")));
}

int run_template_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_number_in_text_has_its_width, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_number_member_has_one_varint_width, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_serials_count_up, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_random_texts_have_their_length, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_layout_placeholder_is_drawn_by_skew, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_escaped_placeholder_is_text, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_plain_template_is_sent_unchanged, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_invalid_placeholder_is_refused, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_placeholder_in_an_encoded_place_is_refused,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_method_is_refused, fixture_set_up,
                                        fixture_tear_down)};

    return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}
