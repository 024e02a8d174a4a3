/*
 * document_output.c: see document_output.h. A group is a set of parts whose members are merged: the header's,
 * or those of one line.
 */
#include "server/domain/corrections/document_output.h"

#include "server/domain/corrections/reduce.h"
#include "server/domain/json/members.h"
#include "store/base/assert.h"

#include <stdlib.h>

/* Maximum bytes of a context member's value: the length to which reduction cuts strings. */
#define CONTEXT_BYTES_MAX 512

/* The members of a part. */
struct read_part {
    const struct document_part *part;
    struct members before;
    struct members output;
};

struct group {
    const struct read_part *parts[DOCUMENT_PARTS_MAX]; /* newest first; a line has at least one */
    size_t count;
    size_t first_part; /* index of its oldest part; a larger index is an older part */
    bool has_number;
    bool is_negative; /* the sign and magnitude of line_no */
    uint64_t number;
};

struct merge {
    struct read_part parts[DOCUMENT_PARTS_MAX];
    struct group header;
    struct group lines[DOCUMENT_PARTS_MAX];
    size_t line_count;
};

static bool is_same_entity(const struct document_part *a, const struct document_part *b)
{
    return a->entity_type.size > 0 && a->entity_id.size > 0 &&
           slice_equal(a->entity_type, b->entity_type) && slice_equal(a->entity_id, b->entity_id);
}

/* Returns the group of a part. A line of a new entity starts a new group. */
static struct group *group_of(struct merge *merge, const struct document_part *part)
{
    if (!part->is_line) {
        return &merge->header;
    }
    for (size_t i = 0; i < merge->line_count; i++) {
        if (is_same_entity(merge->lines[i].parts[0]->part, part)) {
            return &merge->lines[i];
        }
    }
    merge->line_count++;
    return &merge->lines[merge->line_count - 1];
}

/* Returns whether an output of the group, or the `before` of a part newer than part `at`, has the member. */
static bool is_shown(const struct group *group, size_t at, struct slice name)
{
    for (size_t i = 0; i < group->count; i++) {
        if (members_find(&group->parts[i]->output, name) != NULL ||
            (i < at && members_find(&group->parts[i]->before, name) != NULL)) {
            return true;
        }
    }
    return false;
}

/* Returns whether the output of a part newer than part `at` has the member. */
static bool is_overridden(const struct group *group, size_t at, struct slice name)
{
    for (size_t i = 0; i < at; i++) {
        if (members_find(&group->parts[i]->output, name) != NULL) {
            return true;
        }
    }
    return false;
}

/* Appends a member to an open object. */
static void append_member(struct buffer *buffer, const struct member *member)
{
    if (buffer->size > 0 && buffer->data[buffer->size - 1] != '{') {
        buffer_append_byte(buffer, ',');
    }
    buffer_append(buffer, member->quoted);
    buffer_append_byte(buffer, ':');
    buffer_append(buffer, member->value.text);
}

/* Appends the corrected members of a group. */
static void append_outputs(const struct group *group, bool drops_lines, struct buffer *buffer)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct members *members = &group->parts[i]->output;

        for (size_t j = 0; j < members->count; j++) {
            const struct member *member = &members->items[j];

            if (!is_overridden(group, i, member->name) &&
                !(drops_lines && slice_equal(member->name, SLICE("lines")))) {
                append_member(buffer, member);
            }
        }
    }
}

/* Appends the context members of the `before` texts that no output has. */
static void append_context(const struct group *group, struct buffer *buffer)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct members *members = &group->parts[i]->before;

        for (size_t j = 0; j < members->count; j++) {
            const struct member *member = &members->items[j];

            if (reduce_is_context(member->name) && member->value.text.size <= CONTEXT_BYTES_MAX &&
                !is_shown(group, i, member->name)) {
                append_member(buffer, member);
            }
        }
    }
}

/* Finds the line_no of a line: from its newest output that has one, else from its `before`. */
static void find_number(struct group *group)
{
    const struct member *found = NULL;

    for (size_t i = 0; i < group->count && found == NULL; i++) {
        found = members_find(&group->parts[i]->output, SLICE("line_no"));
    }
    for (size_t i = 0; i < group->count && found == NULL; i++) {
        found = members_find(&group->parts[i]->before, SLICE("line_no"));
    }
    group->has_number = found != NULL && found->value.kind == JSON_NUMBER &&
                        json_integer(found->value.text, &group->is_negative, &group->number);
}

/* Compares line_no a with b: returns a negative number, zero or a positive number. */
static int compare_numbers(const struct group *a, const struct group *b)
{
    int order = a->number < b->number ? -1 : a->number > b->number;

    if (a->is_negative != b->is_negative) {
        return a->is_negative ? -1 : 1;
    }
    return a->is_negative ? -order : order;
}

static int compare_lines(const void *left, const void *right)
{
    const struct group *a = left;
    const struct group *b = right;
    int order = 0;

    if (a->has_number != b->has_number) {
        return a->has_number ? -1 : 1;
    }
    order = a->has_number ? compare_numbers(a, b) : 0;
    return order != 0 ? order : (a->first_part > b->first_part ? -1 : 1);
}

static enum err read_parts(struct arena *arena, const struct document_part *parts, size_t count,
                           struct merge *merge)
{
    enum err err = OK;

    for (size_t i = 0; i < count && err == OK; i++) {
        struct read_part *read = &merge->parts[i];
        struct group *group = group_of(merge, &parts[i]);

        read->part = &parts[i];
        err = members_read(arena, members_value_of(parts[i].before), &read->before);
        if (err == OK) {
            err = members_read(arena, members_value_of(parts[i].output), &read->output);
        }
        group->parts[group->count] = read;
        group->count++;
        group->first_part = i;
    }
    return err;
}

static enum err write_merged(struct arena *arena, struct merge *merge, struct slice *ret_json)
{
    struct buffer buffer = {0};

    for (size_t i = 0; i < merge->line_count; i++) {
        find_number(&merge->lines[i]);
    }
    qsort(merge->lines, merge->line_count, sizeof(merge->lines[0]), compare_lines);
    buffer_init(&buffer, arena, 1024);
    buffer_append_byte(&buffer, '{');
    append_outputs(&merge->header, merge->line_count > 0, &buffer);
    if (merge->line_count > 0) {
        buffer_append(&buffer, buffer.size > 1 ? SLICE(",\"lines\":[") : SLICE("\"lines\":["));
    }
    for (size_t i = 0; i < merge->line_count; i++) {
        buffer_append(&buffer, i > 0 ? SLICE(",{") : SLICE("{"));
        append_outputs(&merge->lines[i], false, &buffer);
        append_context(&merge->lines[i], &buffer);
        buffer_append_byte(&buffer, '}');
    }
    buffer_append(&buffer, merge->line_count > 0 ? SLICE("]}") : SLICE("}"));
    *ret_json = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

enum err document_output_merge(struct arena *arena, const struct document_part *parts, size_t count,
                               struct document_output *ret_output)
{
    struct merge *merge = NULL;
    bool reduced = false;
    enum err err = OK;

    ASSERT(count > 0 && count <= DOCUMENT_PARTS_MAX);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].is_whole) {
            *ret_output = (struct document_output){
                .json = parts[i].output, .partial = parts[i].reduced, .reduced = parts[i].reduced};
            return OK;
        }
        reduced = reduced || parts[i].reduced;
    }
    merge = arena_calloc(arena, 1, sizeof(*merge));
    if (merge == NULL) {
        return ERR_MEMORY;
    }
    err = read_parts(arena, parts, count, merge);
    *ret_output = (struct document_output){.partial = true, .reduced = reduced};
    return err != OK ? err : write_merged(arena, merge, &ret_output->json);
}
