/*
 * prompts_tests.c: prompt templates in the store: versions by number and as of a time, pages of
 * lists whose names begin alike, damaged events; and the guarantees of the shipped text.
 */
#include "server/domain/prompts/keys.h"
#include "server/domain/prompts/prompt_templates.h"
#include "server/domain/prompts/shipped.h"
#include "store/base/text.h"
#include "store/base/wire.h"
#include "tests/support/store/store_fixture.h"

#include <event_apply.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/prompt_template.fields.h>

#define LIST_FIELD 7

static struct store_txn *begin(struct store_fixture *fixture)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    log_begin_write(txn, NULL);
    return txn;
}

static uint64_t put(struct store_fixture *fixture, struct store_txn *txn, const char *name,
                    struct slice text)
{
    struct prompt_template_draft draft = {.name = slice_text(name),
                                          .text = text,
                                          .comment = SLICE("why"),
                                          .actor_user_id = SLICE("anna")};
    uint64_t seq = 0;

    assert_int_equal(prompt_template_prepare(&fixture->ctx, &draft), OK);
    assert_int_equal(prompt_template_put(&fixture->ctx, txn, store_fixture_org(1), &draft, &seq),
                     OK);
    return seq;
}

static enum err find(struct store_fixture *fixture, struct store_txn *txn, const char *name,
                     int64_t version, uint64_t as_of_seq, struct prompt_template *ret_template)
{
    const struct prompt_template_query query = {
        .org = store_fixture_org(1),
        .name = slice_text(name),
        .has_version = version >= 0,
        .version = (uint32_t)(version >= 0 ? version : 0),
        .as_of_seq = as_of_seq,
    };

    return prompt_template_find(&fixture->ctx, txn, &query, ret_template);
}

/* Goal: the newest version as of any event is the last put before it. Method: 40 versions of two names
 * in turn, each asked for as of each event. */
static void test_newest_version_as_of_an_event_is_found(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct prompt_template template;

    for (uint64_t i = 1; i <= 40; i++) {
        struct slice text = arena_printf(&fixture->arena, "text %llu", (unsigned long long)i);

        assert_int_equal(put(fixture, txn, i % 2 == 0 ? "even" : "odd", text), i);
    }
    assert_int_equal(find(fixture, txn, "odd", -1, 0, &template), ERR_NOT_FOUND);
    assert_int_equal(find(fixture, txn, "even", -1, 1, &template), ERR_NOT_FOUND);
    for (uint64_t seq = 2; seq <= 45; seq++) {
        uint64_t last = seq < 40 ? seq : 40;

        assert_int_equal(find(fixture, txn, "even", -1, seq, &template), OK);
        assert_int_equal(template.seq, last / 2 * 2);
        assert_int_equal(template.view.version, last / 2);
        assert_int_equal(find(fixture, txn, "odd", -1, seq, &template), OK);
        assert_int_equal(template.seq, (last - 1) / 2 * 2 + 1);
    }
    assert_int_equal(find(fixture, txn, "odd", 3, 5, &template), OK);
    assert_int_equal(template.seq, 5);
    assert_int_equal(find(fixture, txn, "odd", 3, 4, &template), ERR_NOT_FOUND);
    assert_int_equal(find(fixture, txn, "odd", 21, UINT64_MAX, &template), ERR_NOT_FOUND);
    assert_int_equal(find(fixture, txn, "odd", UINT32_MAX, UINT64_MAX, &template), ERR_NOT_FOUND);
    store_abort(txn);
}

/* The names of a page. */
static size_t count_items(struct slice page, struct buffer *names)
{
    struct wire_reader reader = wire_reader_of(page);
    struct wire_field field;
    size_t count = 0;

    while (wire_next(&reader, &field) == OK) {
        struct wire_reader inner = wire_reader_of(field.bytes);
        struct wire_field member;

        assert_int_equal(field.number, LIST_FIELD);
        while (wire_next(&inner, &member) == OK) {
            if (member.number == PROMPT_TEMPLATE_NAME_FIELD) {
                buffer_append(names, member.bytes);
                buffer_append_byte(names, ',');
            }
        }
        count++;
    }
    return count;
}

/* All names of a list, page by page. */
static size_t list_all(struct store_fixture *fixture, struct store_txn *txn, uint32_t page_size,
                       struct buffer *names, size_t *ret_pages)
{
    struct key after = {.size = 0};
    size_t count = 0;
    bool more = true;

    buffer_init(names, &fixture->arena, 1024);
    for (*ret_pages = 0; more; (*ret_pages)++) {
        struct prompt_template_view template;
        struct buffer body;
        struct page page;
        struct prompt_template_list list = {.org = store_fixture_org(1), .page = &page};

        buffer_init(&body, &fixture->arena, 1024);
        page_init(&page, page_size, key_slice(&after), &body);
        prompt_template_list_begin(&list);
        while (prompt_template_list_next(&fixture->ctx, txn, &list, &template) == OK) {
            prompt_template_view_put(&template, LIST_FIELD, &body);
        }
        page_deinit(&page);
        assert_true(body.size <= PAGE_BYTES_MAX);
        count += count_items(buffer_slice(&body), names);
        after = page.last;
        more = page.more;
    }
    return count;
}

/* Goal: each name is listed once for any pages, also if names share a prefix that is longer than
 * the part in a key. Method: such names, versions of each, pages of each size. */
static void test_similar_names_are_listed_once(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct buffer whole;
    struct buffer names;
    size_t pages = 0;

    for (int i = 0; i < 6; i++) {
        struct slice name = arena_printf(&fixture->arena, "orders of all our customers %d", i);

        (void)put(fixture, txn, (const char *)name.data, SLICE("one"));
        (void)put(fixture, txn, (const char *)name.data, SLICE("two"));
    }
    assert_int_equal(list_all(fixture, txn, 100, &whole, &pages), 7);
    assert_int_equal(pages, 1);
    for (uint32_t size = 1; size <= 8; size++) {
        assert_int_equal(list_all(fixture, txn, size, &names, &pages), 7);
        assert_true(slice_equal(buffer_slice(&names), buffer_slice(&whole)));
        assert_int_equal(pages, (7 + size - 1) / size);
    }
    store_abort(txn);
}

/* Goal: a page ends before it is too large, and no template is lost. Method: 40 templates with one token of
 * nearly 64 KiB each. */
static void test_large_templates_end_a_page(void **state)
{
    static char text[65536];
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct buffer names;
    size_t pages = 0;

    memset(text, 'n', sizeof(text));
    memcpy(text, "{{", 2);
    memcpy(text + sizeof(text) - 2, "}}", 2);
    for (int i = 0; i < 40; i++) {
        struct slice name = arena_printf(&fixture->arena, "t%02d", i);

        (void)put(fixture, txn, (const char *)name.data, slice_of(text, sizeof(text)));
    }
    assert_int_equal(list_all(fixture, txn, 1000, &names, &pages), 41);
    assert_int_equal(pages, 3);
    store_abort(txn);
}

/* Goal: an event that no put can have written is refused. Method: each defect, for its row and for
 * its answer. */
static void test_event_that_no_put_wrote_is_corrupt(void **state)
{
    static const struct slice bad[] = {
        {(const uint8_t *)"", 0}, /* nothing */
        {(const uint8_t *)"\x12\x01n", 3}, /* no version */
        {(const uint8_t *)"\x18\x01", 2}, /* no name */
        {(const uint8_t *)"\x12\x01n\x18\x00", 5}, /* version 0 */
        {(const uint8_t *)"\x12\x01n\x18\x01\x12", 6}, /* cut */
    };
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct event event = {.org = store_fixture_org(1), .seq = 1, .kind = EVENT_PROMPT_TEMPLATE_PUT};
    struct prompt_template template;
    struct buffer body;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        event.facts = bad[i];
        assert_int_equal(prompts_apply(&fixture->ctx, txn, &event), ERR_CORRUPT);
    }
    event.facts = SLICE("\x12\x01n\x18\x01");
    assert_int_equal(prompts_apply(&fixture->ctx, txn, &event), OK);
    /* An event without its text. */
    assert_int_equal(prompt_template_of_event(&event, &template), ERR_CORRUPT);
    event.content = SLICE("\xa2\x01\x01t");
    event.kind = EVENT_FEEDBACK;
    assert_int_equal(prompt_template_of_event(&event, &template), ERR_CORRUPT);
    event.kind = EVENT_PROMPT_TEMPLATE_PUT;
    assert_int_equal(prompt_template_of_event(&event, &template), OK);
    buffer_init(&body, &fixture->arena, 64);
    prompt_template_view_put(&template.view, 1, &body);
    assert_true(slice_equal(buffer_slice(&body), SLICE("\x0a\x09\x12\x01n\x18\x01\xa2\x01\x01t")));
    store_abort(txn);
}

/* Goal: an invalid row is reported, and no list loops. Method: a row with a truncated key, and one
 * under another name. */
static void test_damaged_row_is_reported(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);
    struct page page;
    struct prompt_template_list list = {.org = store_fixture_org(1), .page = &page};
    struct prompt_template_view template;
    struct key key = key_prompt_template(list.org, SLICE("order"), 1);
    struct buffer names;
    struct slice row;
    size_t pages = 0;
    enum err err = OK;

    (void)put(fixture, txn, "order", SLICE("text"));
    assert_int_equal(store_get(txn, TABLE_PROMPT_TEMPLATE, key_slice(&key), &row), OK);
    assert_true(arena_copy(&fixture->arena, row, &row));
    key = key_prompt_template(list.org, SLICE("zebra"), 7);
    assert_int_equal(store_put(txn, TABLE_PROMPT_TEMPLATE, key_slice(&key), row), OK);
    assert_int_equal(list_all(fixture, txn, 1, &names, &pages), 3);

    key.size -= 4;
    assert_int_equal(store_put(txn, TABLE_PROMPT_TEMPLATE, key_slice(&key), row), OK);
    page_init(&page, 10, slice_of(NULL, 0), NULL);
    prompt_template_list_begin(&list);
    while (err == OK) {
        err = prompt_template_list_next(&fixture->ctx, txn, &list, &template);
    }
    assert_int_equal(err, ERR_CORRUPT);
    page_deinit(&page);
    store_abort(txn);
}

/* Goal: the shipped text separates instructions from data: the schema, the examples in a line of
 * their own, and the document last. Method: read like any template. */
static void test_shipped_text_separates_instructions_from_data(void **state)
{
    static const char *const names[] = {"output_schema", "hint_examples", "document_text"};
    struct store_fixture *fixture = *state;
    struct slice text = shipped_text();
    struct template template;

    assert_true(text_is_utf8(text));
    assert_true(text.size < 65536);
    assert_int_equal(template_read(&fixture->arena, text, &template), OK);
    assert_int_equal(template.place_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(slice_equal(template.names[i], slice_text(names[i])));
        assert_int_equal(text.data[template.places[i].begin - 1], '\n');
    }
    assert_int_equal(template.places[2].end, text.size);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(text.data[template.places[i].end], '\n');
    }
}

/* Goal: a draft with more tokens than a template may have is refused, naming the field. Method: 257
 * tokens. */
static void test_draft_with_too_many_tokens_is_refused(void **state)
{
    struct store_fixture *fixture = *state;
    struct prompt_template_draft draft = {.name = SLICE("n")};
    struct buffer text;

    buffer_init(&text, &fixture->arena, 4096);
    for (int i = 0; i <= TEMPLATE_NAMES_MAX; i++) {
        buffer_printf(&text, "{{n%d}}", i);
    }
    draft.text = buffer_slice(&text);
    assert_int_equal(prompt_template_prepare(&fixture->ctx, &draft), ERR_INVALID);
    assert_int_equal(fixture->fault.count, 1);
    assert_true(slice_equal(fixture->fault.entries[0].field, SLICE("prompt_template.text")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_newest_version_as_of_an_event_is_found,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_similar_names_are_listed_once, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_large_templates_end_a_page, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_event_that_no_put_wrote_is_corrupt,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_row_is_reported, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_shipped_text_separates_instructions_from_data,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_draft_with_too_many_tokens_is_refused,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("prompts", tests, NULL, NULL);
}
