/*
 * settings_test.c: the precedence of settings: command line, environment, context, default.
 */
#include "tests/unit/cli_config/cli_config_tests.h"
#include "tools/errata/config/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char file[] = "{\"current\": \"home\", \"contexts\": {"
                           "\"home\": {\"server\": \"home:1\", \"token_file\": \"/home\"},"
                           "\"far\": {\"server\": \"far:1\", \"token\": \"secret\"},"
                           "\"local\": {\"token_file\": \"/local\"},"
                           "\"open\": {\"server\": \"open:1\"}}}";
static const char ports[] = "{\"contexts\": {"
                            "\"short\": {\"server\": \"short\", \"token\": \"a\"},"
                            "\"long\": {\"server\": \"long:7443\", \"token\": \"b\"},"
                            "\"bare\": {\"server\": \"::1\", \"token\": \"c\"},"
                            "\"bad\": {\"server\": \"bad:port\", \"token\": \"d\"}}}";
static const char no_current[] = "{\"contexts\": {\"home\": {\"server\": \"home:1\"}}}";

struct expected {
    const char *server;
    enum settings_source server_source;
    const char *token; /* path of its file, or its text after a colon */
    enum settings_source token_source;
    bool withheld;
};

static void assert_text(struct slice text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.size > 0 ? text.data : (const uint8_t *)"", expected, text.size);
}

static void assert_settings(const char *text, const struct settings_given *given,
                            const struct expected *expected)
{
    struct arena arena;
    struct fault fault;
    struct contexts contexts;
    struct settings settings;

    arena_init(&arena, 1 << 20);
    fault_init(&fault, &arena);
    assert_int_equal(contexts_read(&contexts, &arena, slice_text(text), &fault), OK);
    assert_int_equal(settings_resolve(given, &contexts, &fault, &settings), OK);
    assert_text(settings.server, expected->server);
    assert_int_equal(settings.server_source, expected->server_source);
    assert_text(settings.token_file, expected->token[0] == ':' ? "" : expected->token);
    assert_text(settings.token, expected->token[0] == ':' ? expected->token + 1 : "");
    assert_int_equal(settings.token_source, expected->token_source);
    assert_int_equal(settings.token_withheld, expected->withheld);
    arena_deinit(&arena);
}

/* Goal: the source closest to the user wins; and a token of a context is sent only to its own
 * server. Method: each combination whose result is not obvious. */
static void test_closest_setting_wins_and_token_stays_with_its_server(void **state)
{
    static const struct {
        const char *file;
        struct settings_given given;
        struct expected expected;
    } cases[] = {
        {"{}", {0}, {"127.0.0.1:7443", SETTINGS_DEFAULT, "", SETTINGS_NOWHERE, false}},
        {no_current, {0}, {"127.0.0.1:7443", SETTINGS_DEFAULT, "", SETTINGS_NOWHERE, false}},
        {file, {0}, {"home:1", SETTINGS_CONTEXT, "/home", SETTINGS_CONTEXT, false}},
        {file,
         {.context_option = "far"},
         {"far:1", SETTINGS_CONTEXT, ":secret", SETTINGS_CONTEXT, false}},
        {file,
         {.context_option = "local"},
         {"127.0.0.1:7443", SETTINGS_DEFAULT, "/local", SETTINGS_CONTEXT, false}},
        {file,
         {.context_variable = "far", .token_file_variable = ""},
         {"far:1", SETTINGS_CONTEXT, ":secret", SETTINGS_CONTEXT, false}},
        {file,
         {.context_option = "far", .context_variable = "home"},
         {"far:1", SETTINGS_CONTEXT, ":secret", SETTINGS_CONTEXT, false}},
        /* The environment goes before the current context ... */
        {file,
         {.server_variable = "env:1", .token_file_variable = "/env"},
         {"env:1", SETTINGS_ENVIRONMENT, "/env", SETTINGS_ENVIRONMENT, false}},
        {file,
         {.server_variable = "env:1"},
         {"env:1", SETTINGS_ENVIRONMENT, "", SETTINGS_NOWHERE, false}},
        {file,
         {.server_variable = "env:1", .context_variable = "far"},
         {"env:1", SETTINGS_ENVIRONMENT, "", SETTINGS_NOWHERE, false}},
        {file,
         {.token_file_variable = "/env"},
         {"home:1", SETTINGS_CONTEXT, "/env", SETTINGS_ENVIRONMENT, false}},
        /* ... and after one that the command line names. */
        {file,
         {.context_option = "far", .server_variable = "env:1", .token_file_variable = "/env"},
         {"far:1", SETTINGS_CONTEXT, ":secret", SETTINGS_CONTEXT, false}},
        {file,
         {.context_option = "open", .server_variable = "env:1", .token_file_variable = "/env"},
         {"open:1", SETTINGS_CONTEXT, "/env", SETTINGS_ENVIRONMENT, false}},
        {file,
         {.server_option = "opt:1", .server_variable = "env:1", .token_file_option = "/opt"},
         {"opt:1", SETTINGS_OPTION, "/opt", SETTINGS_OPTION, false}},
        /* A server other than the context's does not get its token. */
        {file, {.server_option = "opt:1"}, {"opt:1", SETTINGS_OPTION, "", SETTINGS_NOWHERE, false}},
        {file,
         {.server_option = "opt:1", .context_option = "far"},
         {"opt:1", SETTINGS_OPTION, "", SETTINGS_NOWHERE, true}},
        {file,
         {.server_option = "opt:1", .context_option = "far", .token_file_option = "/opt"},
         {"opt:1", SETTINGS_OPTION, "/opt", SETTINGS_OPTION, false}},
        {file,
         {.server_option = "far:1", .context_option = "far"},
         {"far:1", SETTINGS_OPTION, ":secret", SETTINGS_CONTEXT, false}},
        /* The context's server may be given in any form: with or without the default port, in any
         * case. */
        {file,
         {.server_option = "127.0.0.1", .context_option = "local"},
         {"127.0.0.1", SETTINGS_OPTION, "/local", SETTINGS_CONTEXT, false}},
        {ports,
         {.server_option = "Short:7443", .context_option = "short"},
         {"Short:7443", SETTINGS_OPTION, ":a", SETTINGS_CONTEXT, false}},
        {ports,
         {.server_option = "long", .context_option = "long"},
         {"long", SETTINGS_OPTION, ":b", SETTINGS_CONTEXT, false}},
        {ports,
         {.server_option = "[::1]:07443", .context_option = "bare"},
         {"[::1]:07443", SETTINGS_OPTION, ":c", SETTINGS_CONTEXT, false}},
        {ports,
         {.server_option = "long:7444", .context_option = "long"},
         {"long:7444", SETTINGS_OPTION, "", SETTINGS_NOWHERE, true}},
        {ports,
         {.server_option = "longer", .context_option = "long"},
         {"longer", SETTINGS_OPTION, "", SETTINGS_NOWHERE, true}},
        {ports,
         {.server_option = "bad:port", .context_option = "bad"},
         {"bad:port", SETTINGS_OPTION, "", SETTINGS_NOWHERE, true}}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_settings(cases[i].file, &cases[i].given, &cases[i].expected);
    }
}

/* Goal: the closest source of TLS wins, and a token of a context with TLS is never sent without it. Method: each
 * source, with the others; a server of another name. */
static void test_closest_tls_wins(void **state)
{
    static const char text[] =
        "{\"current\": \"safe\", \"contexts\": {"
        "\"safe\": {\"server\": \"safe:1\", \"tls\": true, \"ca\": \"/context\"},"
        "\"plain\": {\"server\": \"plain:1\"}}}";
    static const struct {
        struct settings_given given;
        enum settings_source source;
        const char *ca;
    } cases[] = {
        {{0}, SETTINGS_CONTEXT, "/context"},
        {{.tls_options = {.tls = "true"}}, SETTINGS_OPTION, ""},
        {{.tls_options = {.ca = "/option"}}, SETTINGS_OPTION, "/option"},
        {{.tls_variables = {.ca = "/variable"}}, SETTINGS_CONTEXT, "/context"},
        {{.context_option = "safe", .server_option = "SAFE:1"}, SETTINGS_CONTEXT, "/context"},
        {{.context_option = "safe", .server_option = "other:1"}, SETTINGS_NOWHERE, ""},
        {{.context_option = "plain"}, SETTINGS_NOWHERE, ""},
        {{.context_option = "plain", .tls_variables = {.ca = "/variable"}},
         SETTINGS_ENVIRONMENT,
         "/variable"},
        {{.server_option = "other:1", .tls_variables = {.tls = "1"}}, SETTINGS_ENVIRONMENT, ""},
        {{.server_option = "other:1", .tls_variables = {.tls = ""}}, SETTINGS_NOWHERE, ""},
        {{.server_option = "o:1", .tls_options = {.client_cert = "/c", .client_key = "/k"}},
         SETTINGS_OPTION,
         ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena;
        struct fault fault;
        struct contexts contexts;
        struct settings settings;

        arena_init(&arena, 1 << 20);
        fault_init(&fault, &arena);
        assert_int_equal(contexts_read(&contexts, &arena, slice_text(text), &fault), OK);
        assert_int_equal(settings_resolve(&cases[i].given, &contexts, &fault, &settings), OK);
        assert_int_equal(settings.tls_source, cases[i].source);
        assert_int_equal(settings.tls.on, cases[i].source != SETTINGS_NOWHERE);
        assert_text(settings.tls.ca, cases[i].ca);
        arena_deinit(&arena);
    }
}

/* Goal: a requested context that does not exist is an error, never replaced by another server.
 * Method: names by option, by variable and as the current one. */
static void test_unknown_context_is_refused(void **state)
{
    static const struct settings_given given[] = {
        {.context_option = "none"}, {.context_variable = "none"}, {.server_option = NULL}};
    struct arena arena;
    struct fault fault;
    struct contexts contexts;
    struct settings settings;

    (void)state;
    arena_init(&arena, 1 << 20);
    fault_init(&fault, &arena);
    assert_int_equal(contexts_read(&contexts, &arena, SLICE("{\"current\": \"none\"}"), &fault),
                     OK);
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        assert_int_equal(settings_resolve(&given[i], &contexts, &fault, &settings), ERR_NOT_FOUND);
        assert_text(fault.message, "unknown context \"none\"");
    }
    arena_deinit(&arena);
}

/* Goal: the file is not read if it makes no difference. Method: given settings, and whether it is
 * needed. */
static void test_unneeded_file_is_not_read(void **state)
{
    (void)state;
    assert_true(settings_need_contexts(&(struct settings_given){.token_file_option = "f"}));
    assert_true(settings_need_contexts(&(struct settings_given){.server_variable = ""}));
    assert_false(settings_need_contexts(&(struct settings_given){.server_variable = "a:1"}));
    assert_false(settings_need_contexts(&(struct settings_given){.server_option = "a:1"}));
    assert_true(settings_need_contexts(
        &(struct settings_given){.server_option = "a:1", .context_option = "home"}));
}

/* Goal: a server's address is split as people write it. Method: each form, and malformed ones. */
static void test_address_is_split_into_host_and_port(void **state)
{
    static const struct {
        const char *server;
        const char *host; /* NULL: malformed */
        uint16_t port;
    } cases[] = {{"a", "a", 7443},
                 {"a:1", "a", 1},
                 {"a:65535", "a", 65535},
                 {"::1", "::1", 7443},
                 {"[::1]", "::1", 7443},
                 {"[::1]:8", "::1", 8},
                 {"", NULL, 0},
                 {":1", NULL, 0},
                 {"[]:1", NULL, 0},
                 {"a:", NULL, 0},
                 {"a:0", NULL, 0},
                 {"a:65536", NULL, 0},
                 {"a:99999999999999999999", NULL, 0},
                 {"a:1x", NULL, 0},
                 {"a:-1", NULL, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct settings_address address = {{NULL, 0}, 0};
        bool valid = settings_split_server(slice_text(cases[i].server), &address);

        assert_int_equal(valid, cases[i].host != NULL);
        assert_text(address.host, valid ? cases[i].host : "");
        assert_int_equal(address.port, cases[i].port);
    }
}

int run_settings_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closest_setting_wins_and_token_stays_with_its_server),
        cmocka_unit_test(test_address_is_split_into_host_and_port),
        cmocka_unit_test(test_closest_tls_wins), cmocka_unit_test(test_unknown_context_is_refused),
        cmocka_unit_test(test_unneeded_file_is_not_read)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
