/*
 * contexts_test.c: contexts read from text, changed, and written again.
 */
#include "tests/unit/cli_config/cli_config_tests.h"
#include "tools/errata/config/contexts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* State of a test. */
struct fixture {
    struct arena arena;
    struct fault fault;
    struct contexts contexts;
};

static void fixture_init(struct fixture *fixture)
{
    arena_init(&fixture->arena, 1 << 20);
    fault_init(&fixture->fault, &fixture->arena);
}

static void assert_text(struct slice text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.size > 0 ? text.data : (const uint8_t *)"", expected, text.size);
}

static void read_text(struct fixture *fixture, const char *text)
{
    assert_int_equal(
        contexts_read(&fixture->contexts, &fixture->arena, slice_text(text), &fixture->fault), OK);
}

static void assert_written(struct fixture *fixture, const char *expected)
{
    struct buffer text;

    buffer_init(&text, &fixture->arena, 64);
    contexts_write(&fixture->contexts, &text);
    assert_true(buffer_ok(&text));
    buffer_append_byte(&text, '\0');
    assert_string_equal((const char *)text.data, expected);
}

/* Goal: written contexts read back, in order, and members of another version are kept. Method: a
 * file with known and unknown members at each level, in another formatting. */
static void test_contexts_round_trip_with_unknown_members(void **state)
{
    static const char written[] = "{\n"
                                  "  \"current\": \"home\",\n"
                                  "  \"contexts\": {\n"
                                  "    \"home\": {\n"
                                  "      \"server\": \"127.0.0.1:7443\",\n"
                                  "      \"token_file\": \"/etc/admin.token\",\n"
                                  "      \"proxy\": {\"ca\":  [1, 2.50]}\n"
                                  "    },\n"
                                  "    \"far\": {\n"
                                  "      \"server\": \"far:1\",\n"
                                  "      \"token\": \"errata_01234567_x\"\n"
                                  "    },\n"
                                  "    \"bare\": {}\n"
                                  "  },\n"
                                  "  \"theme\": \"d\\u00e4rk\"\n"
                                  "}\n";
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    read_text(&fixture,
              "{\"theme\":\"d\\u00e4rk\", \"contexts\":{\"home\":{\"proxy\": {\"ca\":  [1, "
              "2.50]},\"token_file\":\"\\/etc/admin.token\",\"server\":\"127.0.0.1:7443\"},"
              "\"far\":{\"token\":\"errata_01234567_x\",\"server\":\"far:1\"},\"bare\":{}},"
              "\"current\":\"home\"}");
    assert_text(fixture.contexts.current, "home");
    assert_int_equal(fixture.contexts.count, 3);
    assert_text(contexts_find(&fixture.contexts, SLICE("home"))->token_file, "/etc/admin.token");
    assert_written(&fixture, written);
    read_text(&fixture, written);
    assert_written(&fixture, written);
    arena_deinit(&fixture.arena);
}

/* Goal: TLS of a context is kept, and only true and false switch it. Method: read, written, and refused. */
static void test_tls_of_contexts_is_kept(void **state)
{
    static const char written[] = "{\n"
                                  "  \"contexts\": {\n"
                                  "    \"a\": {\n"
                                  "      \"server\": \"a:1\",\n"
                                  "      \"tls\": true,\n"
                                  "      \"ca\": \"/ca.pem\",\n"
                                  "      \"client_cert\": \"/c.pem\",\n"
                                  "      \"client_key\": \"/c.key\"\n"
                                  "    },\n"
                                  "    \"b\": {\n"
                                  "      \"server\": \"b:1\"\n"
                                  "    }\n"
                                  "  }\n"
                                  "}\n";
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    read_text(&fixture, written);
    assert_true(contexts_find(&fixture.contexts, SLICE("a"))->tls.on);
    assert_text(contexts_find(&fixture.contexts, SLICE("a"))->tls.client_key, "/c.key");
    assert_false(contexts_find(&fixture.contexts, SLICE("b"))->tls.on);
    assert_written(&fixture, written);
    assert_int_equal(contexts_read(&fixture.contexts, &fixture.arena,
                                   SLICE("{\"contexts\": {\"a\": {\"tls\": \"yes\"}}}"),
                                   &fixture.fault),
                     ERR_INVALID);
    assert_text(fixture.fault.message, "tls: not true or false");
    arena_deinit(&fixture.arena);
}

/* Goal: contexts are added once, and taken out whole.
 * Method: puts and removals on three; the current one goes too. */
static void test_contexts_are_added_once_and_removed(void **state)
{
    struct fixture fixture;
    struct context *context = NULL;
    struct context *again = NULL;

    (void)state;
    fixture_init(&fixture);
    read_text(&fixture, "{\"current\": \"b\", \"contexts\": {\"a\": {}, \"b\": {}}}");
    assert_int_equal(contexts_put(&fixture.contexts, SLICE("c"), &context), OK);
    context->server = SLICE("c:1");
    assert_int_equal(contexts_put(&fixture.contexts, SLICE("c"), &again), OK);
    assert_ptr_equal(context, again);
    contexts_remove(&fixture.contexts, contexts_find(&fixture.contexts, SLICE("a")));
    assert_text(fixture.contexts.current, "b");
    contexts_remove(&fixture.contexts, contexts_find(&fixture.contexts, SLICE("b")));
    assert_text(fixture.contexts.current, "");
    assert_null(contexts_find(&fixture.contexts, SLICE("b")));
    assert_int_equal(fixture.contexts.count, 1);
    assert_text(fixture.contexts.list[0].server, "c:1");
    arena_deinit(&fixture.arena);
}

/* Goal: an invalid file is refused with the reason. Method: a text for each reason. */
static void test_invalid_file_is_refused_with_the_reason(void **state)
{
    static const struct {
        const char *text;
        const char *why;
    } cases[] = {{"{", "invalid JSON: "},
                 {"[]", "not a JSON object"},
                 {"{\"current\": 1}", "\"current\": not a JSON string"},
                 {"{\"contexts\": []}", "contexts: not a JSON object"},
                 {"{\"contexts\": {\"a\": 1}}", "context \"a\": not a JSON object"},
                 {"{\"contexts\": {\"a b\": {}}}", "\"a b\": invalid context name"},
                 {"{\"contexts\": {\"a\": {\"server\": null}}}", "\"server\": not a JSON string"},
                 {"{\"contexts\": {\"a\": {\"token\": \"a\\nb\"}}}", "token: invalid"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture fixture;

        fixture_init(&fixture);
        assert_int_equal(contexts_read(&fixture.contexts, &fixture.arena, slice_text(cases[i].text),
                                       &fixture.fault),
                         ERR_INVALID);
        assert_true(slice_starts_with(fixture.fault.message, slice_text(cases[i].why)));
        arena_deinit(&fixture.arena);
    }
}

/* Goal: names that cannot be typed, tokens that cannot be sent, and contexts above the limit are
 * refused. Method: both sides of each rule. */
static void test_names_tokens_and_contexts_are_limited(void **state)
{
    char name[CONTEXT_NAME_BYTES_MAX + 1];
    struct fixture fixture;
    struct context *context = NULL;

    (void)state;
    memset(name, 'n', sizeof(name));
    assert_true(context_name_valid(SLICE("prod-1.eu_x")));
    assert_true(context_name_valid(slice_of(name, CONTEXT_NAME_BYTES_MAX)));
    assert_false(context_name_valid(slice_of(name, CONTEXT_NAME_BYTES_MAX + 1)));
    assert_false(context_name_valid(SLICE("")));
    assert_false(context_name_valid(SLICE("-a")));
    assert_false(context_name_valid(SLICE("a/b")));
    assert_false(context_name_valid(SLICE("\xc3\xa4")));
    assert_true(context_token_valid(SLICE("errata_x")));
    assert_false(context_token_valid(SLICE("a b")));
    assert_false(context_token_valid(SLICE("")));
    assert_text(context_token_key_id(SLICE("errata_0123abcd_secret")), "0123abcd");
    assert_text(context_token_key_id(SLICE("errata_0123abcd")), "");
    assert_text(context_token_key_id(SLICE("another_0123abcd_secret")), "");
    fixture_init(&fixture);
    assert_int_equal(contexts_init(&fixture.contexts, &fixture.arena), OK);
    for (int i = 0; i < CONTEXTS_MAX; i++) {
        assert_int_equal(
            contexts_put(&fixture.contexts, arena_printf(&fixture.arena, "c%d", i), &context), OK);
    }
    assert_int_equal(contexts_put(&fixture.contexts, SLICE("more"), &context), ERR_TOO_LARGE);
    arena_deinit(&fixture.arena);
}

int run_contexts_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contexts_round_trip_with_unknown_members),
        cmocka_unit_test(test_tls_of_contexts_is_kept),
        cmocka_unit_test(test_contexts_are_added_once_and_removed),
        cmocka_unit_test(test_invalid_file_is_refused_with_the_reason),
        cmocka_unit_test(test_names_tokens_and_contexts_are_limited)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
