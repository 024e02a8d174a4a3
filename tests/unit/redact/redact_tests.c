/*
 * redact_tests.c: redacted replies equal, byte for byte, replies that were written without content.
 */
#include "server/codec/redact.h"

#include "store/base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errata/v1/event.views.h>
#include <errata/v1/event_service.fields.h>
#include <errata/v1/feedback_event.views.h>
#include <errata/v1/layout_service.views.h>

#define ARENA_BYTES (1u << 20)

static const struct message_info *message_named(const char *name)
{
    const struct message_info *message = contract_find_message(slice_text(name));

    assert_non_null(message);
    return message;
}

static struct slice long_text(struct arena *arena, size_t size)
{
    uint8_t *text = arena_alloc(arena, size);

    assert_non_null(text);
    memset(text, 'x', size);
    return slice_of(text, size);
}

/* An event of a document with `snippet` as its text, as field 1 of a GetEventResponse. */
static void put_document(struct arena *arena, struct slice snippet, struct buffer *body)
{
    const struct document_view document = {
        .id = {{1}},
        .document_id = SLICE("d"),
        .page_count = 1,
        .sha256 = SLICE("digits"),
        .input_snippet = snippet,
    };
    struct document_ingested_view ingested = {.has_document = true, .internal = SLICE("i")};
    struct event_view event = {.id = {{2}}, .seq = 7, .has_document_ingested = true};

    assert_true(view_encode(&document_view_type, &document, arena, &ingested.document));
    assert_true(
        view_encode(&document_ingested_view_type, &ingested, arena, &event.document_ingested));
    event_view_put(&event, GET_EVENT_RESPONSE_EVENT_FIELD, body);
}

/* Goal: content is removed at any depth, and the lengths around it fit the remainder, with fewer
 * bytes if they need fewer; bytes before the reply stay. Method: a text of each size around the
 * powers at which lengths grow, in a document in a payload in an event, beside the same event
 * without it. */
static void test_nested_content_is_removed_with_its_lengths(void **state)
{
    static const size_t sizes[] = {0, 1, 60, 100, 127, 128, 200, 16000, 16384, 20000};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct arena arena;
        struct buffer whole;
        struct buffer wanted;

        arena_init(&arena, ARENA_BYTES);
        buffer_init(&whole, &arena, 0);
        buffer_init(&wanted, &arena, 0);
        buffer_append(&whole, SLICE("before"));
        buffer_append(&wanted, SLICE("before"));
        put_document(&arena, long_text(&arena, sizes[i] + 1), &whole);
        put_document(&arena, slice_of(NULL, 0), &wanted);
        assert_int_equal(
            redact_content(message_named("errata.v1.GetEventResponse"), &whole, strlen("before")),
            OK);
        assert_true(slice_equal(buffer_slice(&whole), buffer_slice(&wanted)));
        arena_deinit(&arena);
    }
}

/* Goal: the facts of a feedback event stay, and fields that the contract does not have are removed.
 * Method: an event with both, an unknown field last. */
static void test_facts_stay_and_unknown_fields_are_removed(void **state)
{
    struct feedback_event_view event = {
        .id = {{3}},
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .layout_fingerprint = SLICE("layout"),
        .has_layout_fingerprint = true,
        .before_json = SLICE("{\"a\":1}"),
        .after_json = SLICE("{\"a\":2}"),
        .meta_json = SLICE("{}"),
    };
    struct arena arena;
    struct buffer whole;
    struct buffer wanted;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    buffer_init(&whole, &arena, 0);
    buffer_init(&wanted, &arena, 0);
    feedback_event_view_write(&event, &whole);
    wire_put_bytes(&whole, 900, SLICE("of a later version"));
    event.before_json = event.after_json = event.meta_json = slice_of(NULL, 0);
    feedback_event_view_write(&event, &wanted);
    assert_int_equal(redact_content(message_named("errata.v1.FeedbackEvent"), &whole, 0), OK);
    assert_true(slice_equal(buffer_slice(&whole), buffer_slice(&wanted)));
    arena_deinit(&arena);
}

/* Goal: bytes that are not such a message are not sent. Method: each prefix of an event either is a
 * message or yields nothing. */
static void test_damaged_message_is_not_sent(void **state)
{
    struct arena arena;
    struct buffer whole;
    unsigned refused = 0;

    (void)state;
    arena_init(&arena, ARENA_BYTES);
    buffer_init(&whole, &arena, 0);
    put_document(&arena, SLICE("text"), &whole);
    for (size_t size = 1; size < whole.size; size++) {
        struct buffer cut;

        buffer_init(&cut, &arena, size);
        buffer_append(&cut, slice_of(whole.data, size));
        if (redact_content(message_named("errata.v1.GetEventResponse"), &cut, 0) != OK) {
            assert_int_equal(cut.size, 0);
            refused++;
        }
    }
    assert_int_equal(refused, whole.size - 1);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested_content_is_removed_with_its_lengths),
        cmocka_unit_test(test_facts_stay_and_unknown_fields_are_removed),
        cmocka_unit_test(test_damaged_message_is_not_sent),
    };

    return cmocka_run_group_tests_name("redact", tests, NULL, NULL);
}
