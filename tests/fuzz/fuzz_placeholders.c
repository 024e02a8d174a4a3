/*
 * fuzz_placeholders.c: any bytes as the note, the focus fields and the item of placeholders, with any signals. The texts
 * stay within their total, contain no template marks of the input, guidance is never cut, and a second redaction of an
 * item changes nothing.
 */
#include "server/domain/reviews/redaction.h"
#include "server/domain/reviews/resolve.h"
#include "server/domain/reviews/specs.h"
#include "server/domain/settings/redacted_members.h"
#include "store/base/assert.h"
#include "store/base/json.h"
#include "store/base/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#include <errata/v1/review.views.h>

#define ARENA_BYTES ((size_t)64 << 20)
#define FIELD_BYTES_MAX 16
#define FIELDS 3

static enum review_answer answer_of(uint8_t byte)
{
    static const enum review_answer answers[] = {REVIEW_ABSENT, REVIEW_FALSE, REVIEW_TRUE};

    return answers[byte % 3];
}

/* Returns the bytes as UTF-8; the empty text if they are not. */
static struct slice text_of(struct slice bytes)
{
    return text_is_utf8(bytes) ? bytes : slice_of(NULL, 0);
}

static bool has(struct slice text, const char *part)
{
    return text.size > 0 && memmem(text.data, text.size, part, strlen(part)) != NULL;
}

static size_t count_characters(struct slice text)
{
    size_t count = 0;

    for (size_t at = 0; at < text.size; count++) {
        (void)text_next(text, &at);
    }
    return count;
}

/* An item whose strings have the text. */
static struct slice item_of(struct arena *arena, struct slice text)
{
    struct buffer item;

    buffer_init(&item, arena, text.size + 64);
    buffer_append(&item, SLICE("{\"name\":"));
    json_write_string(&item, text, false);
    buffer_append(&item, SLICE(",\"deep\":[{\"EMAIL\":{\"a\":1},\"text\":"));
    json_write_string(&item, text, false);
    buffer_append(&item, SLICE("}]}"));
    ASSERT(buffer_ok(&item));
    return buffer_slice(&item);
}

static void check_redaction(struct arena *arena, struct slice item)
{
    struct slice once = {NULL, 0};
    struct slice twice = {NULL, 0};

    ASSERT(redact_item(arena, redacted_members_default(), item, ARENA_BYTES, &once) == OK);
    ASSERT(redact_item(arena, redacted_members_default(), once, ARENA_BYTES, &twice) == OK);
    ASSERT(slice_equal(once, twice));
    ASSERT(has(once, "\"EMAIL\":\"" REDACTED "\""));
}

static void check_texts(const struct resolve_request *request, const struct resolved *resolved)
{
    size_t characters = 0;

    for (int32_t i = 1; i <= PLACEHOLDER_COUNT; i++) {
        characters += count_characters(resolved->texts[i].text);
        ASSERT(text_is_utf8(resolved->texts[i].text));
        ASSERT(!has(resolved->texts[i].text, "{{"));
    }
    ASSERT(characters <= RESOLVE_TOTAL_CHARACTERS_MAX);
    for (size_t i = 0; i < FRAGMENT_PAIRS; i++) {
        const struct fragment *fragment = &request->fragments->fragments[i];
        const struct resolved_text *text = &resolved->texts[fragment->placeholder];

        if (text->signals[fragment->signal]) {
            ASSERT(memmem(text->text.data, text->text.size, fragment->text.data,
                          fragment->text.size) != NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    struct review_triggers triggers = {.run_count = 10};
    struct resolve_request request = {.triggers = &triggers, .fragments = fragment_set_default()};
    struct resolved resolved;
    struct buffer fields;
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    buffer_init(&fields, &arena, 0);
    for (size_t i = 0; i < REVIEW_FLAG_COUNT; i++) {
        request.review.flags[i] = answer_of(fuzz_take_byte(&input));
    }
    for (size_t i = 0; i < THRESHOLD_COUNT; i++) {
        triggers.states[i] = (fuzz_take_byte(&input) & 1) != 0;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        size_t bytes = fuzz_take_choice(&input, FIELD_BYTES_MAX);
        struct slice field = text_of(fuzz_take_bytes(&input, bytes));

        if (field.size > 0) {
            review_view_add_missing_spec(&fields, field);
        }
    }
    request.review.missing_spec = buffer_slice(&fields);
    request.review.notes = text_of(input.rest);
    request.item_json = item_of(&arena, request.review.notes);
    request.redacted_members = redacted_members_default();
    ASSERT(buffer_ok(&fields));
    check_redaction(&arena, request.item_json);
    ASSERT(resolve_placeholders(&arena, &request, &resolved) == OK);
    check_texts(&request, &resolved);
    arena_deinit(&arena);
    return 0;
}
