/*
 * resolve.c: see resolve.h. The texts are built from parts; while they are too long together, a part is cut and they are
 * built again: the notes, then the example item, then focus fields from the last on.
 */
#include "server/domain/reviews/resolve.h"

#include "server/domain/reviews/redaction.h"
#include "server/domain/text/case_fold.h"
#include "server/domain/text/quote.h"
#include "store/base/text.h"

/* Focus fields of one prompt: those of a review, and those of a trigger that fit. */
#define FOCUS_FIELDS_MAX 500

struct parts {
    struct arena *arena;
    const struct resolve_request *request;
    bool active[SIGNAL_COUNT + 1];
    struct slice note; /* sanitised, in quote marks */
    struct slice fields[FOCUS_FIELDS_MAX]; /* the same, most important first */
    size_t field_count;
    struct slice example;
    enum placeholder_source example_source;
};

struct slice placeholder_name(enum review_placeholder placeholder)
{
    switch (placeholder) {
    case REVIEW_PLACEHOLDER_CATEGORIZER_REVIEW:
        return SLICE("CATEGORIZER_REVIEW");
    case REVIEW_PLACEHOLDER_EXTRACTION_REVIEW:
        return SLICE("EXTRACTION_REVIEW");
    case REVIEW_PLACEHOLDER_SUPERVISOR_REVIEW:
        return SLICE("SUPERVISOR_REVIEW");
    case REVIEW_PLACEHOLDER_EXAMPLE_ITEM:
        return SLICE("EXAMPLE_ITEM");
    case REVIEW_PLACEHOLDER_UNSPECIFIED:
        break;
    }
    return slice_of(NULL, 0);
}

static size_t count_characters(struct slice text)
{
    size_t count = 0;

    for (size_t at = 0; at < text.size; count++) {
        (void)text_next(text, &at);
    }
    return count;
}

/* Sanitises and quotes a text; empty if nothing is left. Also returns its number of characters. */
static enum err quote_one(struct arena *arena, struct slice text, struct slice *ret_quoted,
                          size_t *ret_characters)
{
    struct quote quote;
    enum err err = OK;

    quote_init(&quote, arena);
    quote.left_characters = RESOLVE_NOTE_CHARACTERS_MAX;
    err = quote_add(&quote, text);
    *ret_quoted = buffer_slice(&quote.text);
    *ret_characters = RESOLVE_NOTE_CHARACTERS_MAX - quote.left_characters;
    return err;
}

static enum err add_note(struct parts *parts, struct resolved *resolved)
{
    struct quote quote;
    enum err err = OK;

    quote_init(&quote, parts->arena);
    quote.left_characters = RESOLVE_NOTE_CHARACTERS_MAX;
    err = quote_add(&quote, parts->request->review.notes);
    parts->note = buffer_slice(&quote.text);
    resolved->cuts[CUT_PART_NOTES] = quote.is_cut && parts->note.size > 0;
    return err;
}

/* The folded names of the fields so far, and the remaining room. */
struct focus {
    struct slice folded[FOCUS_FIELDS_MAX];
    size_t count;
    size_t left_characters;
    bool is_full;
};

static bool has_field(const struct focus *focus, struct slice folded)
{
    for (size_t i = 0; i < focus->count; i++) {
        if (slice_equal(focus->folded[i], folded)) {
            return true;
        }
    }
    return false;
}

/* Adds a field once; the first one that does not fit ends the list. */
static enum err add_field(struct parts *parts, struct focus *focus, struct slice name)
{
    struct slice folded = {NULL, 0};
    struct slice quoted = {NULL, 0};
    size_t characters = 0;
    enum err err = case_fold(parts->arena, name, &folded);

    if (err != OK || focus->is_full || has_field(focus, folded)) {
        return err;
    }
    err = quote_one(parts->arena, name, &quoted, &characters);
    if (err != OK || quoted.size == 0) {
        return err;
    }
    if (characters > focus->left_characters || focus->count == FOCUS_FIELDS_MAX) {
        focus->is_full = true;
        return OK;
    }
    focus->left_characters -= characters;
    focus->folded[focus->count++] = folded;
    parts->fields[parts->field_count++] = quoted;
    return OK;
}

static enum err add_fields(struct parts *parts, struct resolved *resolved)
{
    const struct review_triggers *triggers = parts->request->triggers;
    struct focus *focus = arena_calloc(parts->arena, 1, sizeof(*focus));
    struct slice run = parts->request->review.missing_spec;
    struct slice name = {NULL, 0};
    enum err err = focus != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        focus->left_characters = RESOLVE_FOCUS_CHARACTERS_MAX;
    }
    while (err == OK && view_next(&run, &name)) {
        err = add_field(parts, focus, name);
    }
    for (size_t i = 0; i < triggers->spec_count && err == OK; i++) {
        err = add_field(parts, focus, triggers->specs[i].spelling);
    }
    if (err == OK) {
        resolved->cuts[CUT_PART_FOCUS_FIELDS] = focus->is_full;
    }
    return err;
}

/* Builds the example: the item, else the static one. */
static enum err add_example(struct parts *parts, struct resolved *resolved)
{
    const struct resolve_request *request = parts->request;
    struct slice whole = {NULL, 0};
    enum err err = OK;

    parts->example_source = PLACEHOLDER_SOURCE_EMPTY;
    if (request->item_json.size > 0) {
        parts->example_source = PLACEHOLDER_SOURCE_INJECTED;
        err = redact_item(parts->arena, request->redacted_members, request->item_json,
                          RESOLVE_EXAMPLE_CHARACTERS_MAX, &whole);
    } else if (request->has_static_example) {
        parts->example_source = PLACEHOLDER_SOURCE_STATIC_FALLBACK;
        whole = request->static_example;
    }
    if (err == OK) {
        parts->example = text_first_characters(whole, RESOLVE_EXAMPLE_CHARACTERS_MAX);
        resolved->cuts[CUT_PART_EXAMPLE_ITEM] = parts->example.size < whole.size;
    }
    return err;
}

/* Determines which signals the current review and the triggers give. */
static void activate(struct parts *parts)
{
    const enum review_answer *flags = parts->request->review.flags;
    const bool *states = parts->request->triggers->states;
    bool is_present = flags[REVIEW_INFORMATION_PRESENT] == REVIEW_TRUE;
    bool *active = parts->active;

    active[REVIEW_SIGNAL_INFORMATION_PRESENT] = is_present;
    active[REVIEW_SIGNAL_INFORMATION_PRESENT_LOW] =
        !is_present && states[THRESHOLD_INFORMATION_PRESENT_LOW];
    active[REVIEW_SIGNAL_MISSING_SPEC] = parts->field_count > 0;
    active[REVIEW_SIGNAL_BAD_FORMAT] =
        flags[REVIEW_BAD_FORMAT] == REVIEW_TRUE || states[THRESHOLD_BAD_FORMAT];
    active[REVIEW_SIGNAL_WRONG_INFORMATION] =
        flags[REVIEW_WRONG_INFORMATION] == REVIEW_TRUE || states[THRESHOLD_WRONG_INFORMATION];
    active[REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS] =
        flags[REVIEW_WRONG_PHYSICAL_DIMENSIONS] == REVIEW_TRUE ||
        states[THRESHOLD_WRONG_PHYSICAL_DIMENSIONS];
    active[REVIEW_SIGNAL_NOTES] = parts->note.size > 0;
}

/* Appends a fragment, with the fields or the note that it introduces. */
static void append_fragment(const struct parts *parts, const struct fragment *fragment,
                            struct buffer *text)
{
    if (text->size > 0) {
        buffer_append_byte(text, '\n');
    }
    buffer_append(text, fragment->text);
    if (fragment->signal == REVIEW_SIGNAL_NOTES) {
        buffer_append_byte(text, '\n');
        buffer_append(text, parts->note);
    }
    if (fragment->signal == REVIEW_SIGNAL_MISSING_SPEC) {
        buffer_append_byte(text, '\n');
        buffer_append(text, parts->request->fragments->label_focus_fields);
        buffer_append_byte(text, ':');
        for (size_t i = 0; i < parts->field_count; i++) {
            buffer_append_byte(text, '\n');
            buffer_append(text, parts->fields[i]);
        }
    }
}

static enum err build_one(const struct parts *parts, enum review_placeholder placeholder,
                          struct resolved_text *ret_text)
{
    struct resolved_text resolved = {.source = PLACEHOLDER_SOURCE_EMPTY};
    const struct fragment *fragments = parts->request->fragments->fragments;
    struct buffer text;

    buffer_init(&text, parts->arena, 0);
    for (size_t i = 0; i < FRAGMENT_PAIRS; i++) {
        if (fragments[i].placeholder == placeholder && fragments[i].text.size > 0 &&
            parts->active[fragments[i].signal]) {
            append_fragment(parts, &fragments[i], &text);
            resolved.signals[fragments[i].signal] = true;
            resolved.source = PLACEHOLDER_SOURCE_INJECTED;
        }
    }
    resolved.text = buffer_slice(&text);
    if (placeholder == REVIEW_PLACEHOLDER_EXAMPLE_ITEM) {
        resolved.text = parts->example;
        resolved.source = parts->example_source;
        resolved.signals[REVIEW_SIGNAL_EXAMPLE_ITEM] =
            parts->example_source == PLACEHOLDER_SOURCE_INJECTED;
    }
    *ret_text = resolved;
    return buffer_ok(&text) ? OK : ERR_MEMORY;
}

/* Builds all texts; returns their number of characters. */
static enum err build_all(const struct parts *parts, struct resolved *resolved,
                          size_t *ret_characters)
{
    enum err err = OK;

    *ret_characters = 0;
    for (int32_t i = REVIEW_PLACEHOLDER_CATEGORIZER_REVIEW;
         i <= REVIEW_PLACEHOLDER_EXAMPLE_ITEM && err == OK; i++) {
        err = build_one(parts, (enum review_placeholder)i, &resolved->texts[i]);
        *ret_characters += err == OK ? count_characters(resolved->texts[i].text) : 0;
    }
    return err;
}

/* Cuts the next part by at least `excess` characters, or all of it; false if nothing is left to cut. */
static bool cut(struct parts *parts, size_t excess, struct resolved *resolved)
{
    size_t characters = count_characters(parts->example);

    if (parts->active[REVIEW_SIGNAL_NOTES]) {
        parts->active[REVIEW_SIGNAL_NOTES] = false;
        resolved->cuts[CUT_PART_NOTES] = true;
        return true;
    }
    if (characters > 0) {
        parts->example =
            text_first_characters(parts->example, characters > excess ? characters - excess : 0);
        parts->example_source =
            parts->example.size > 0 ? parts->example_source : PLACEHOLDER_SOURCE_EMPTY;
        resolved->cuts[CUT_PART_EXAMPLE_ITEM] = true;
        return true;
    }
    if (parts->field_count > 0) {
        parts->field_count--;
        parts->active[REVIEW_SIGNAL_MISSING_SPEC] = parts->field_count > 0;
        resolved->cuts[CUT_PART_FOCUS_FIELDS] = true;
        return true;
    }
    return false;
}

static enum err collect(struct parts *parts, struct resolved *resolved)
{
    enum err err = add_note(parts, resolved);

    if (err == OK) {
        err = add_fields(parts, resolved);
    }
    if (err == OK) {
        err = add_example(parts, resolved);
    }
    if (err == OK) {
        activate(parts);
    }
    return err;
}

enum err resolve_placeholders(struct arena *arena, const struct resolve_request *request,
                              struct resolved *ret_resolved)
{
    struct parts *parts = arena_calloc(arena, 1, sizeof(*parts));
    struct resolved resolved = {.broad_search_allowed = true};
    size_t characters = 0;
    enum err err = parts != NULL ? OK : ERR_MEMORY;

    if (err != OK) {
        return err;
    }
    parts->arena = arena;
    parts->request = request;
    err = collect(parts, &resolved);
    if (err == OK) {
        err = build_all(parts, &resolved, &characters);
    }
    while (err == OK && characters > RESOLVE_TOTAL_CHARACTERS_MAX &&
           cut(parts, characters - RESOLVE_TOTAL_CHARACTERS_MAX, &resolved)) {
        err = build_all(parts, &resolved, &characters);
    }
    if (err == OK) {
        resolved.broad_search_allowed = !parts->active[REVIEW_SIGNAL_INFORMATION_PRESENT];
        resolved.prefer_json_correction = parts->active[REVIEW_SIGNAL_BAD_FORMAT];
        *ret_resolved = resolved;
    }
    return err;
}
