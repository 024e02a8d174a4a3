/*
 * prompt_template_tests.c: prompt templates through calls: versions, the shipped template, lists, the
 * view of a VIEWER, and isolation of organisations.
 */
#include "tests/rpc/ingest.h"
#include "tests/rpc/prompts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* Goal: versions count from 1 for each name and are kept; a prompt uses the newest, a given one, or
 * that of a time; a repeat under a key creates none. Method: two names, three versions. */
static void test_versions_count_from_one(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = PUT, .idempotency_key = "again"};
    Errata__V1__PromptTemplate *template = NULL;
    Errata__V1__PreparePromptRequest request = prompts_of_stored("order");
    Errata__V1__PreparePromptResponse *response = NULL;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    assert_int_equal(prompts_put(&fixture, &start, "order", "one {{B}} {{ A }} {{B}}", &template),
                     STATUS_OK);
    assert_int_equal(template->version, 1);
    assert_int_equal(template->n_tokens, 2);
    assert_string_equal(template->tokens[0], "B");
    assert_string_equal(template->tokens[1], "A");
    assert_string_equal(template->text, "one {{B}} {{ A }} {{B}}");
    assert_string_equal(template->comment, "why");
    assert_int_equal(strlen(template->id), UUID_TEXT_BYTES);
    assert_non_null(template->created_at);
    prompts_put_version(&fixture, fixture.admin, "order", "two", 2);
    prompts_put_version(&fixture, fixture.admin, "offer", "offer", 1);
    prompts_put_version(&fixture, fixture.admin, "order", "three", 3);
    assert_int_equal(prompts_put(&fixture, &start, "order", "one {{B}} {{ A }} {{B}}", &template),
                     STATUS_OK);
    assert_int_equal(template->version, 1);
    assert_string_equal(prompts_get(&fixture, fixture.admin, "order", -1)->text, "three");
    assert_string_equal(prompts_get(&fixture, fixture.admin, "order", 2)->text, "two");
    assert_null(prompts_get(&fixture, fixture.admin, "order", 4));
    assert_null(prompts_get(&fixture, fixture.admin, "order", 0));
    assert_null(prompts_get(&fixture, fixture.admin, "nothing", -1));

    response = prompts_prepare(&fixture, fixture.admin, &request);
    assert_string_equal(response->prompt, "three");
    assert_int_equal(response->template_version, 3);
    assert_string_equal(response->template_name, "order");
    request._template_version_case =
        ERRATA__V1__PREPARE_PROMPT_REQUEST___TEMPLATE_VERSION_TEMPLATE_VERSION;
    request.template_version = 2;
    assert_string_equal(prompts_prepare(&fixture, fixture.admin, &request)->prompt, "two");
    request._template_version_case = 0;
    request.as_of_case = ERRATA__V1__PREPARE_PROMPT_REQUEST__AS_OF_AS_OF_SEQ;
    request.as_of_seq = 5; /* the organisation, its token, three templates */
    assert_string_equal(prompts_prepare(&fixture, fixture.admin, &request)->prompt, "two");
    request.as_of_seq = 2;
    start = (struct exchange_start){.path = PREPARE, .authorization = fixture.admin};
    assert_int_equal(fixture_call(&fixture, &start, &request.base, NULL), STATUS_NOT_FOUND);
    fixture_deinit(&fixture);
}

/* Goal: an invalid template is refused. Method: no name, no text, too long, too many tokens. */
static void test_invalid_template_is_refused(void **state)
{
    static char large[65538];
    static char many[300 * 9];
    struct fixture fixture;
    struct exchange_start start = {.path = PUT};
    size_t size = 0;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    memset(large, 'x', sizeof(large) - 1);
    for (int i = 0; i < 257; i++) {
        size += (size_t)snprintf(many + size, sizeof(many) - size, "{{n%d}}", i);
    }
    assert_int_equal(prompts_put(&fixture, &start, "", "text", NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(prompts_put(&fixture, &start, " name", "text", NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(prompts_put(&fixture, &start, "name", "", NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(prompts_put(&fixture, &start, "name", "\xff", NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(prompts_put(&fixture, &start, "name", large, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(prompts_put(&fixture, &start, "name", many, NULL), STATUS_INVALID_ARGUMENT);
    large[65536] = '\0';
    prompts_put_version(&fixture, fixture.admin, "name", large, 1);
    fixture_deinit(&fixture);
}

/* Goal: the template that ships is every organisation's version 0, makes a prompt with and without
 * examples, and is replaced by the organisation's own. Method: reads, a prompt, and a put of its
 * name. */
static void test_shipped_template_is_version_0(void **state)
{
    struct fixture fixture;
    struct prompts_entries entries;
    Errata__V1__PromptTemplate *template = NULL;
    Errata__V1__PreparePromptRequest request = prompts_of_stored(SHIPPED);
    Errata__V1__PreparePromptResponse *response = NULL;

    (void)state;
    fixture_init(&fixture);
    template = prompts_get(&fixture, fixture.admin, SHIPPED, -1);
    assert_int_equal(template->version, 0);
    assert_string_equal(template->id, "");
    assert_null(template->created_at);
    assert_int_equal(template->n_tokens, 3);
    assert_string_equal(template->tokens[0], "output_schema");
    assert_string_equal(template->tokens[1], "hint_examples");
    assert_string_equal(template->tokens[2], "document_text");

    prompts_set_context(&request, &entries, "document_text", "Order 4711");
    prompts_set_trusted(&request, &entries, "output_schema", "{\"type\":\"object\"}");
    response = prompts_prepare(&fixture, fixture.admin, &request);
    assert_int_equal(response->n_other_tokens, 0);
    assert_false(is_inside(response->prompt, "{{"));
    assert_true(is_inside(response->prompt, "\nOrder 4711"));
    assert_int_equal(response->_template_version_case,
                     ERRATA__V1__PREPARE_PROMPT_RESPONSE___TEMPLATE_VERSION_TEMPLATE_VERSION);
    assert_int_equal(response->template_version, 0);
    (void)prompts_capture(&fixture, fixture.admin, "layout", "{\"qty\":5}", "");
    prompts_set_layout(&request, "layout");
    assert_true(
        is_inside(prompts_prepare(&fixture, fixture.admin, &request)->prompt, "{\"qty\":5}}]\n"));

    prompts_put_version(&fixture, fixture.admin, SHIPPED, "ours", 1);
    assert_string_equal(prompts_get(&fixture, fixture.admin, SHIPPED, -1)->text, "ours");
    assert_int_equal(prompts_get(&fixture, fixture.admin, SHIPPED, 0)->n_tokens, 3);
    assert_string_equal(prompts_prepare(&fixture, fixture.admin, &request)->prompt, "ours");
    fixture_deinit(&fixture);
}

/* Returns all items of a list, page by page, as `name version,`. */
static void list(struct fixture *fixture, const char *token, const char *name, int32_t page_size,
                 char text[256])
{
    Errata__V1__ListPromptTemplatesRequest request =
        ERRATA__V1__LIST_PROMPT_TEMPLATES_REQUEST__INIT;
    Errata__V1__ListPromptTemplatesResponse *response = NULL;
    const struct exchange_start start = {.path = LIST, .authorization = token};
    size_t size = 0;

    request.name = text_of(name);
    request.page_size = page_size;
    text[0] = '\0';
    do {
        assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
        assert_in_range(response->n_prompt_templates, 0, page_size);
        for (size_t i = 0; i < response->n_prompt_templates; i++) {
            const Errata__V1__PromptTemplate *template = response->prompt_templates[i];

            assert_string_equal(template->text, "");
            size += (size_t)snprintf(text + size, 256 - size, "%s %u,", template->name,
                                     template->version);
        }
        request.page_token = response->next_page_token;
    } while (request.page_token[0] != '\0');
}

/* Goal: lists have the newest of each name in order, the shipped one in its place, and all versions of
 * one name; in pages of any size. Method: names around the shipped one, then of its name too. */
static void test_lists_have_the_newest_of_each_name(void **state)
{
    struct fixture fixture;
    char text[256];

    (void)state;
    fixture_init(&fixture);
    list(&fixture, fixture.admin, "", 3, text);
    assert_string_equal(text, SHIPPED " 0,");
    prompts_put_version(&fixture, fixture.admin, "zebra", "z", 1);
    prompts_put_version(&fixture, fixture.admin, "apple", "a", 1);
    prompts_put_version(&fixture, fixture.admin, "apple", "aa", 2);
    prompts_put_version(&fixture, fixture.admin, "apple pie", "ap", 1);
    for (int32_t page_size = 1; page_size <= 5; page_size++) {
        list(&fixture, fixture.admin, "", page_size, text);
        assert_string_equal(text, "apple 2,apple pie 1," SHIPPED " 0,zebra 1,");
        list(&fixture, fixture.admin, "apple", page_size, text);
        assert_string_equal(text, "apple 2,apple 1,");
        list(&fixture, fixture.admin, SHIPPED, page_size, text);
        assert_string_equal(text, SHIPPED " 0,");
        list(&fixture, fixture.admin, "nothing", page_size, text);
        assert_string_equal(text, "");
    }
    prompts_put_version(&fixture, fixture.admin, SHIPPED, "ours", 1);
    prompts_put_version(&fixture, fixture.admin, SHIPPED, "ours again", 2);
    for (int32_t page_size = 1; page_size <= 5; page_size++) {
        list(&fixture, fixture.admin, "", page_size, text);
        assert_string_equal(text, "apple 2,apple pie 1," SHIPPED " 2,zebra 1,");
        list(&fixture, fixture.admin, SHIPPED, page_size, text);
        assert_string_equal(text, SHIPPED " 2," SHIPPED " 1," SHIPPED " 0,");
    }
    fixture_deinit(&fixture);
}

/* Goal: a VIEWER sees the list of templates, but never their texts. Method: reads, the list and the
 * event. */
static void test_viewer_sees_templates_without_text(void **state)
{
    struct fixture fixture;
    char viewer[FIXTURE_TOKEN_BYTES];
    Errata__V1__PromptTemplate *template = NULL;
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    Errata__V1__GetEventResponse *response = NULL;
    struct exchange_start start = {.path = "errata.v1.EventService/GetEvent"};
    char text[256];

    (void)state;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    prompts_put_version(&fixture, fixture.admin, "order", "secret {{A}}", 1);
    template = prompts_get(&fixture, viewer, "order", -1);
    assert_string_equal(template->name, "order");
    assert_int_equal(template->n_tokens, 1);
    assert_string_equal(template->text, "");
    assert_string_equal(template->comment, "");
    assert_string_equal(prompts_get(&fixture, viewer, SHIPPED, -1)->text, "");
    list(&fixture, viewer, "", 10, text);
    assert_string_equal(text, "order 1," SHIPPED " 0,");

    start.authorization = viewer;
    request.key_case = ERRATA__V1__GET_EVENT_REQUEST__KEY_SEQ;
    request.seq = 4;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_string_equal(response->event->prompt_template->name, "order");
    assert_string_equal(response->event->prompt_template->text, "");
    start.authorization = fixture.admin;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_string_equal(response->event->prompt_template->text, "secret {{A}}");
    fixture_deinit(&fixture);
}

/* Goal: US3.5: nothing of another organisation appears: no template, no example, no layout of a
 * document. Method: the same names, layouts and documents, with a token of another organisation. */
static void test_us3_5_foreign_content_is_invisible(void **state)
{
    struct fixture fixture;
    char owner[FIXTURE_TOKEN_BYTES];
    char stranger[FIXTURE_TOKEN_BYTES];
    struct exchange_start start = {.path = INGEST_UNARY};
    Errata__V1__Document *document = NULL;
    Errata__V1__PreparePromptRequest request = prompts_of_template("{{hint_examples}}");
    Errata__V1__PreparePromptResponse *response = NULL;
    char text[256];

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "owner", owner);
    (void)fixture_make_org(&fixture, "stranger", stranger);
    prompts_put_version(&fixture, owner, "order", "secret", 1);
    start.authorization = owner;
    assert_int_equal(ingest(&fixture, &start, "shared", SLICE("%PDF-1.4 one"), &document),
                     STATUS_OK);
    (void)prompts_capture(&fixture, owner, document->layout_fingerprint, "{\"qty\":66}", "");

    assert_null(prompts_get(&fixture, stranger, "order", -1));
    list(&fixture, stranger, "", 10, text);
    assert_string_equal(text, SHIPPED " 0,");
    prompts_set_document(&request, "shared");
    response = prompts_prepare(&fixture, stranger, &request);
    assert_string_equal(response->prompt, "");
    assert_string_equal(response->layout_fingerprint, "");
    prompts_set_layout(&request, document->layout_fingerprint);
    assert_string_equal(prompts_prepare(&fixture, stranger, &request)->prompt, "");
    assert_true(is_inside(prompts_prepare(&fixture, owner, &request)->prompt, "66"));
    prompts_put_version(&fixture, stranger, "order", "mine", 1);
    assert_string_equal(prompts_get(&fixture, owner, "order", -1)->text, "secret");
    fixture_deinit(&fixture);
}

int run_prompt_template_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions_count_from_one),
        cmocka_unit_test(test_invalid_template_is_refused),
        cmocka_unit_test(test_shipped_template_is_version_0),
        cmocka_unit_test(test_lists_have_the_newest_of_each_name),
        cmocka_unit_test(test_viewer_sees_templates_without_text),
        cmocka_unit_test(test_us3_5_foreign_content_is_invisible),
    };

    return cmocka_run_group_tests_name("prompt templates", tests, NULL, NULL);
}
