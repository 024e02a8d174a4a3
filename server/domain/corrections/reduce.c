/*
 * reduce.c: see reduce.h. A member larger than the limit of the whole text is never written, and its size is
 * counted only up to the limit. So 10 MB need one pass and no memory.
 */
#include "server/domain/corrections/reduce.h"

#include "server/domain/json/list_items.h"
#include "server/domain/text/json_tokens.h"
#include "store/base/assert.h"
#include "store/base/text.h"

#include <stdlib.h>

/* Members that identify the object of the others; kept even if they are equal. */
static const char *const context_names[] = {"id",    "line_id",      "line_no",     "entity_id",
                                            "field", "field_name",   "old_value",   "new_value",
                                            "sku",   "customer_sku", "internal_sku"};

/* A reduced list of this size may still fit once its strings are cut. */
#define REDUCED_LIST_BYTES_MAX (16 * REDUCE_BYTES_MAX)
/* Length of `{"truncated_bytes":`, 20 digits and a brace. */
#define REPLACEMENT_BYTES_MAX 40

/* A kept member, in one of three forms. */
struct kept {
    const struct member *member;
    struct json_value value; /* or a list of objects with only the items that differ */
    size_t bytes; /* size of its value in its present form; REDUCE_BYTES_MAX + 1: over the limit */
    bool context;
    bool replaced; /* replaced by {"truncated_bytes":N} */
    bool left_out;
};

struct reduction {
    struct arena *arena;
    struct buffer value; /* buffer for one value, reused */
    struct kept *kept;
    size_t count;
    bool cuts_strings;
};

bool reduce_is_context(struct slice name)
{
    for (size_t i = 0; i < sizeof(context_names) / sizeof(context_names[0]); i++) {
        if (slice_equal(name, slice_text(context_names[i]))) {
            return true;
        }
    }
    return false;
}

/* Appends a string as written, or cut. */
static enum err append_string(struct reduction *reduction, struct slice quoted)
{
    struct slice text = {NULL, 0};
    struct slice cut = {NULL, 0};
    enum err err = OK;

    if (!reduction->cuts_strings || quoted.size <= REDUCE_STRING_CHARACTERS_MAX) {
        buffer_append(&reduction->value, quoted);
        return OK;
    }
    err = json_string(reduction->arena, quoted, &text);
    if (err != OK) {
        return err;
    }
    cut = text_first_characters(text, REDUCE_STRING_CHARACTERS_MAX);
    if (cut.size == text.size) {
        buffer_append(&reduction->value, quoted);
    } else {
        json_write_string(&reduction->value, cut, false);
    }
    return OK;
}

/* Writes a value without white space into reduction->value, but stops once it is over the limit, since such a
 * value is replaced in any case. A string that is over the limit by itself is not copied. */
static enum err write_value(struct reduction *reduction, struct json_value value)
{
    struct json_tokens tokens = json_tokens_of(value.text);
    struct json_token token = {JSON_TOKEN_SCALAR, {NULL, 0}};
    enum err err = OK;

    reduction->value.size = 0;
    while (err == OK && reduction->value.size <= REDUCE_BYTES_MAX &&
           json_tokens_next(&tokens, &token)) {
        if (token.kind == JSON_TOKEN_STRING) {
            bool too_long = !reduction->cuts_strings && token.text.size > REDUCE_BYTES_MAX;

            token.text.size = too_long ? REDUCE_BYTES_MAX + 1 : token.text.size;
            err = append_string(reduction, token.text);
            continue;
        }
        if (token.text.size > REDUCE_BYTES_MAX) {
            token.text.size = REDUCE_BYTES_MAX + 1;
        }
        buffer_append(&reduction->value, token.text);
    }
    return err != OK || buffer_ok(&reduction->value) ? err : ERR_MEMORY;
}

static size_t replacement_text(const struct member *member, char text[REPLACEMENT_BYTES_MAX])
{
    size_t digits = 1;
    size_t size = sizeof("{\"" REDUCE_OMITTED_NAME "\":") - 1;

    memcpy(text, "{\"" REDUCE_OMITTED_NAME "\":", size);
    for (size_t rest = member->value.text.size; rest >= 10; rest /= 10) {
        digits++;
    }
    for (size_t i = digits, rest = member->value.text.size; i > 0; i--, rest /= 10) {
        text[size + i - 1] = (char)('0' + rest % 10);
    }
    text[size + digits] = '}';
    return size + digits + 1;
}

static size_t replacement_bytes(const struct member *member)
{
    char text[REPLACEMENT_BYTES_MAX];

    return replacement_text(member, text);
}

/* Returns the bytes of a member: its name, a colon, a comma or a brace, and its present value. */
static size_t entry_bytes(const struct kept *kept)
{
    size_t value = kept->replaced ? replacement_bytes(kept->member) : kept->bytes;

    return kept->left_out ? 0 : kept->member->quoted.size + 2 + value;
}

static size_t total_bytes(const struct reduction *reduction)
{
    size_t total = 1; /* the opening brace; the closing one replaces the last comma */

    for (size_t i = 0; i < reduction->count; i++) {
        total += entry_bytes(&reduction->kept[i]);
    }
    return total;
}

static enum err measure(struct reduction *reduction)
{
    for (size_t i = 0; i < reduction->count; i++) {
        struct kept *kept = &reduction->kept[i];
        enum err err = write_value(reduction, kept->value);

        if (err != OK) {
            return err;
        }
        kept->bytes = reduction->value.size <= REDUCE_BYTES_MAX ? reduction->value.size
                                                                : REDUCE_BYTES_MAX + 1;
    }
    return OK;
}

/* Compares by size, largest first; members of equal size by position, first in the text first. */
static int compare_sizes(const void *a, const void *b)
{
    const struct kept *const *left = a;
    const struct kept *const *right = b;

    if ((*left)->bytes != (*right)->bytes) {
        return (*left)->bytes > (*right)->bytes ? -1 : 1;
    }
    return *left < *right ? -1 : *left > *right;
}

static enum err replace_largest(struct reduction *reduction)
{
    struct kept **by_size =
        arena_calloc(reduction->arena, reduction->count + 1, sizeof(struct kept *));
    size_t total = total_bytes(reduction);

    if (by_size == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < reduction->count; i++) {
        by_size[i] = &reduction->kept[i];
    }
    qsort(by_size, reduction->count, sizeof(struct kept *), compare_sizes);
    for (size_t i = 0; i < reduction->count && total > REDUCE_BYTES_MAX; i++) {
        size_t replacement = replacement_bytes(by_size[i]->member);

        if (by_size[i]->bytes > replacement) {
            by_size[i]->replaced = true;
            total -= by_size[i]->bytes - replacement;
        }
    }
    return OK;
}

/* Keeps the members that fit, context members first, and omits the others. */
static void leave_out(struct reduction *reduction)
{
    /* Room for both braces and for the member with the count of omitted bytes. */
    size_t room = REDUCE_BYTES_MAX - 2 - REPLACEMENT_BYTES_MAX;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < reduction->count; i++) {
            struct kept *kept = &reduction->kept[i];
            size_t bytes = entry_bytes(kept);

            if (kept->context != (pass == 0)) {
                continue;
            }
            if (bytes > room || slice_equal(kept->member->name, SLICE(REDUCE_OMITTED_NAME))) {
                kept->left_out = true;
            } else {
                room -= bytes;
            }
        }
    }
}

static enum err write_entry(struct reduction *reduction, const struct kept *kept,
                            struct buffer *buffer)
{
    char replacement[REPLACEMENT_BYTES_MAX];
    enum err err = OK;

    if (buffer->size > 1) {
        buffer_append_byte(buffer, ',');
    }
    buffer_append(buffer, kept->member->quoted);
    buffer_append_byte(buffer, ':');
    if (kept->replaced) {
        buffer_append(buffer, slice_of(replacement, replacement_text(kept->member, replacement)));
        return OK;
    }
    err = write_value(reduction, kept->value);
    if (err == OK) {
        buffer_append(buffer, buffer_slice(&reduction->value));
    }
    return err;
}

static enum err write_object(struct reduction *reduction, struct buffer *buffer)
{
    uint64_t left_out_bytes = 0;
    enum err err = OK;

    buffer_append_byte(buffer, '{');
    for (size_t i = 0; i < reduction->count && err == OK; i++) {
        const struct kept *kept = &reduction->kept[i];

        if (kept->left_out) {
            left_out_bytes += kept->member->quoted.size + kept->member->value.text.size;
        } else {
            err = write_entry(reduction, kept, buffer);
        }
    }
    if (left_out_bytes > 0) {
        buffer_printf(buffer, "%s\"" REDUCE_OMITTED_NAME "\":%llu", buffer->size > 1 ? "," : "",
                      (unsigned long long)left_out_bytes);
    }
    buffer_append_byte(buffer, '}');
    if (err == OK && !buffer_ok(buffer)) {
        err = ERR_MEMORY;
    }
    return err;
}

/* Appends the members of an item that differ from those of its partner, and its context members; nothing if the
 * items are equal. */
static enum err append_item(struct arena *scratch, const struct list_item *item,
                            struct buffer *buffer)
{
    struct members sides[2] = {{NULL, NULL, 0}, {NULL, NULL, 0}};
    bool differs = false;
    bool first = true;
    enum err err = list_item_compare(scratch, item, sides);

    for (size_t i = 0; i < sides[0].count; i++) {
        differs = differs || sides[0].items[i].differs;
    }
    for (size_t i = 0; i < sides[1].count; i++) {
        differs = differs || sides[1].items[i].differs;
    }
    if (err != OK || (!differs && item->partner != NULL)) {
        return err;
    }
    buffer_append(buffer, buffer->size > 1 ? SLICE(",{") : SLICE("{"));
    for (size_t i = 0; i < sides[0].count; i++) {
        const struct member *member = &sides[0].items[i];

        if (member->differs || reduce_is_context(member->name)) {
            buffer_append(buffer, first ? slice_of(NULL, 0) : SLICE(","));
            buffer_append(buffer, member->quoted);
            buffer_append_byte(buffer, ':');
            buffer_append(buffer, member->value.text);
            first = false;
        }
    }
    buffer_append_byte(buffer, '}');
    return OK;
}

/* Writes the items of the first list that differ: `[{...},{...}]`; with `unpaired` also those without partner.
 * Stops once the text is longer than REDUCED_LIST_BYTES_MAX. */
static enum err write_list(struct arena *arena, const struct list_pair *pair, bool unpaired,
                           struct buffer *buffer)
{
    struct arena scratch;
    enum err err = OK;

    buffer_init(buffer, arena, 0);
    buffer_append_byte(buffer, '[');
    arena_init(&scratch, arena->limit_bytes);
    for (size_t i = 0; i < pair->before.count && err == OK; i++) {
        const struct list_item *item = &pair->before.items[i];

        if (item->partner != NULL ? !slice_equal(item->value.text, item->partner->value.text)
                                  : unpaired) {
            err = append_item(&scratch, item, buffer);
            arena_reset(&scratch);
        }
        if (buffer->size > REDUCED_LIST_BYTES_MAX) {
            break;
        }
    }
    arena_deinit(&scratch);
    buffer_append_byte(buffer, ']');
    return err != OK || buffer_ok(buffer) ? err : ERR_MEMORY;
}

/* Replaces the value of a list of objects by one with only the items that differ. The value is unchanged if the
 * other side has no list of objects, or if the reduced list is too long. Items that only this side has are
 * omitted if they do not fit, since the other side is then most likely a fragment. */
static enum err reduce_list(struct arena *arena, const struct member *other, struct kept *kept)
{
    struct list_pair pair;
    struct buffer buffer;
    bool paired = false;
    enum err err = list_items_pair(arena, kept->value, other->value, &pair, &paired);

    if (err != OK || !paired) {
        return err;
    }
    err = write_list(arena, &pair, true, &buffer);
    if (err == OK && buffer.size > REDUCE_BYTES_MAX) {
        err = write_list(arena, &pair, false, &buffer);
    }
    if (err == OK && buffer.size > sizeof("[]") - 1 && buffer.size <= REDUCED_LIST_BYTES_MAX) {
        kept->value.text = buffer_slice(&buffer);
    }
    return err;
}

static enum err choose_members(struct reduction *reduction, const struct members *members,
                               const struct members *others)
{
    reduction->kept = arena_calloc(reduction->arena, members->count + 1, sizeof(struct kept));
    if (reduction->kept == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < members->count; i++) {
        const struct member *member = &members->items[i];
        const struct member *other = members_find(others, member->name);
        struct kept *kept = &reduction->kept[reduction->count];
        enum err err = OK;

        if (!reduce_is_context(member->name) && !member->differs) {
            continue;
        }
        *kept = (struct kept){
            .member = member, .value = member->value, .context = reduce_is_context(member->name)};
        reduction->count++;
        if (member->differs && other != NULL && member->value.kind == JSON_ARRAY) {
            err = reduce_list(reduction->arena, other, kept);
        }
        if (err != OK) {
            return err;
        }
    }
    return OK;
}

/* Each step runs only if the previous ones were not sufficient. */
static enum err shrink(struct reduction *reduction)
{
    enum err err = measure(reduction);

    if (err != OK || total_bytes(reduction) <= REDUCE_BYTES_MAX) {
        return err;
    }
    reduction->cuts_strings = true;
    err = measure(reduction);
    if (err != OK || total_bytes(reduction) <= REDUCE_BYTES_MAX) {
        return err;
    }
    err = replace_largest(reduction);
    if (err == OK && total_bytes(reduction) > REDUCE_BYTES_MAX) {
        leave_out(reduction);
    }
    return err;
}

enum err reduce_object(struct arena *arena, struct slice json, const struct members *members,
                       const struct members *others, struct slice *ret_json, bool *ret_reduced)
{
    struct reduction reduction = {.arena = arena};
    struct buffer buffer = {0};
    enum err err = OK;

    if (json.size <= REDUCE_BYTES_MAX) {
        *ret_json = json;
        *ret_reduced = false;
        return OK;
    }
    buffer_init(&reduction.value, arena, 2 * (REDUCE_BYTES_MAX + 1));
    buffer_init(&buffer, arena, REDUCE_BYTES_MAX + 1);
    err = choose_members(&reduction, members, others);
    if (err == OK) {
        err = shrink(&reduction);
    }
    if (err == OK) {
        err = write_object(&reduction, &buffer);
    }
    if (err != OK) {
        return err;
    }
    ASSERT(buffer.size <= REDUCE_BYTES_MAX);
    *ret_json = buffer_slice(&buffer);
    *ret_reduced = true;
    return OK;
}
