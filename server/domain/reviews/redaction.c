/*
 * redaction.c: see redaction.h.
 */
#include "server/domain/reviews/redaction.h"

#include "server/domain/text/case_fold.h"
#include "server/domain/text/json_tokens.h"
#include "server/domain/text/sanitise.h"
#include "store/base/buffer.h"
#include "store/base/json.h"

#include <errata/v1/organization_settings.views.h>

/* Maximum names of members; the contract allows fewer. */
#define MEMBERS_MAX 64
/* Maximum bytes of a character in UTF-8. */
#define CHARACTER_BYTES_MAX 4

/* State of writing the item. */
struct writer {
    struct arena *arena;
    struct slice members[MEMBERS_MAX]; /* folded names of the members to redact */
    size_t member_count;
    struct buffer buffer;
    size_t bytes_max; /* a longer item may end early */
    bool wants_comma; /* the next value is preceded by another one, and needs a comma */
};

static void write_comma(struct writer *writer)
{
    if (writer->wants_comma) {
        buffer_append_byte(&writer->buffer, ',');
    }
}

static enum err write_leaf(struct writer *writer, struct slice quoted)
{
    struct slice text = {NULL, 0};
    enum err err = json_string(writer->arena, quoted, &text);

    if (err == OK) {
        err = sanitise_example(writer->arena, text, &text);
    }
    if (err == OK) {
        err = redact_text(writer->arena, text, writer->bytes_max, &text);
    }
    if (err == OK) {
        write_comma(writer);
        json_write_string(&writer->buffer, text, false);
        writer->wants_comma = true;
    }
    return err;
}

/* Reads the names of the members to redact. */
static enum err read_members(struct writer *writer, struct slice message)
{
    struct redacted_members_view members;
    struct slice name = {NULL, 0};
    struct slice run = {NULL, 0};
    enum err err = redacted_members_view_read(message, &members);

    run = err == OK ? members.names.run : run;
    while (err == OK && view_next(&run, &name)) {
        if (writer->member_count == MEMBERS_MAX) {
            return ERR_CORRUPT;
        }
        err = case_fold(writer->arena, name, &writer->members[writer->member_count++]);
    }
    return err;
}

static enum err is_private(const struct writer *writer, struct slice name, bool *ret_is_private)
{
    struct slice folded = {NULL, 0};
    enum err err = case_fold(writer->arena, name, &folded);

    *ret_is_private = false;
    for (size_t i = 0; i < writer->member_count && err == OK; i++) {
        *ret_is_private |= slice_equal(folded, writer->members[i]);
    }
    return err;
}

/* Writes a member's name, which may be private data itself. */
static enum err write_name_text(struct writer *writer, struct slice name)
{
    struct slice shown = {NULL, 0};
    enum err err = redact_text(writer->arena, name, writer->bytes_max, &shown);

    if (err == OK) {
        write_comma(writer);
        json_write_string(&writer->buffer, shown, false);
        buffer_append_byte(&writer->buffer, ':');
    }
    return err;
}

/* Writes a member's name and colon; for a private or renamed member, also handles or skips its value. */
static enum err write_name(struct writer *writer, struct json_tokens *tokens, struct slice quoted)
{
    struct json_token colon = {JSON_TOKEN_COLON, {NULL, 0}};
    struct slice raw = {NULL, 0};
    struct slice clean = {NULL, 0};
    bool is_hidden = false;
    enum err err = json_string(writer->arena, quoted, &raw);

    if (err == OK) {
        err = sanitise_example(writer->arena, raw, &clean);
    }
    if (err == OK) {
        err = is_private(writer, raw, &is_hidden);
    }
    if (err != OK || !json_tokens_next(tokens, &colon)) {
        return err;
    }
    if (!slice_equal(raw, clean)) {
        json_tokens_skip_value(tokens);
        return OK;
    }
    err = write_name_text(writer, clean);
    writer->wants_comma = is_hidden;
    if (is_hidden) {
        json_tokens_skip_value(tokens);
        buffer_append(&writer->buffer, SLICE("\"" REDACTED "\""));
    }
    return err;
}

static void write_plain(struct writer *writer, struct json_token token)
{
    if (token.kind != JSON_TOKEN_CLOSE) {
        write_comma(writer);
    }
    buffer_append(&writer->buffer, token.text);
    writer->wants_comma = token.kind != JSON_TOKEN_OPEN;
}

enum err redact_item(struct arena *arena, struct slice members, struct slice item_json,
                     size_t characters_max, struct slice *ret_json)
{
    struct writer writer = {.arena = arena, .bytes_max = characters_max * CHARACTER_BYTES_MAX};
    struct json_tokens tokens = json_tokens_of(item_json);
    struct json_token token = {JSON_TOKEN_SCALAR, {NULL, 0}};
    enum err err = read_members(&writer, members);

    buffer_init(&writer.buffer, arena, item_json.size);
    while (err == OK && writer.buffer.size <= writer.bytes_max &&
           json_tokens_next(&tokens, &token)) {
        if (token.kind == JSON_TOKEN_NAME) {
            err = write_name(&writer, &tokens, token.text);
        } else if (token.kind == JSON_TOKEN_STRING) {
            err = write_leaf(&writer, token.text);
        } else if (token.kind != JSON_TOKEN_COMMA && token.kind != JSON_TOKEN_COLON) {
            write_plain(&writer, token);
        }
    }
    *ret_json = buffer_slice(&writer.buffer);
    return err == OK && !buffer_ok(&writer.buffer) ? ERR_MEMORY : err;
}
