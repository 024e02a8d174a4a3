/*
 * hint.c: see hint.h. The output is written token by token; commas are written separately, so that
 * any member can be omitted.
 */
#include "server/domain/text/hint.h"

#include "server/domain/text/json_tokens.h"
#include "server/domain/text/sanitise.h"
#include "store/base/assert.h"
#include "store/base/json.h"
#include "store/base/pack.h"

/* The constant text of a piece: before the snippet, between snippet and output, and after the output. */
#define HEAD "{\"input_snippet\":"
#define MIDDLE ",\"output\":"
#define END "}"
#define HEAD_BYTES (sizeof(HEAD) - 1)
#define MIDDLE_BYTES (sizeof(MIDDLE) - 1)
#define END_BYTES (sizeof(END) - 1)

/* The output of a piece that is being written. */
struct hint_writer {
    struct arena *arena;
    struct buffer *buffer;
    bool wants_comma; /* the next value is preceded by another one, and needs a comma */
    bool drops_changed; /* members with a changed name are omitted */
    bool changed_name; /* a name was changed */
};

static enum err clean_string(struct hint_writer *writer, struct slice quoted, struct slice *ret_raw,
                             struct slice *ret_clean)
{
    enum err err = json_string(writer->arena, quoted, ret_raw);

    return err != OK ? err : sanitise_example(writer->arena, *ret_raw, ret_clean);
}

static void write_comma(struct hint_writer *writer)
{
    if (writer->wants_comma) {
        buffer_append_byte(writer->buffer, ',');
    }
}

static enum err write_leaf(struct hint_writer *writer, struct slice quoted)
{
    struct slice raw = {NULL, 0};
    struct slice clean = {NULL, 0};
    enum err err = clean_string(writer, quoted, &raw, &clean);

    if (err != OK) {
        return err;
    }
    write_comma(writer);
    json_write_string(writer->buffer, clean, false);
    writer->wants_comma = true;
    return OK;
}

/* Writes a member's name and its colon, or skips the whole member. */
static enum err write_name(struct hint_writer *writer, struct json_tokens *tokens,
                           struct slice quoted)
{
    struct json_token colon = {JSON_TOKEN_COLON, {NULL, 0}};
    struct slice raw = {NULL, 0};
    struct slice clean = {NULL, 0};
    enum err err = clean_string(writer, quoted, &raw, &clean);
    bool changed = false;

    if (err != OK) {
        return err;
    }
    changed = !slice_equal(raw, clean);
    writer->changed_name = writer->changed_name || changed;
    if (!json_tokens_next(tokens, &colon)) {
        return OK;
    }
    if (changed && writer->drops_changed) {
        json_tokens_skip_value(tokens);
        return OK;
    }
    write_comma(writer);
    json_write_string(writer->buffer, clean, false);
    buffer_append_byte(writer->buffer, ':');
    writer->wants_comma = false;
    return OK;
}

static void write_plain(struct hint_writer *writer, struct json_token token)
{
    if (token.kind != JSON_TOKEN_CLOSE) {
        write_comma(writer);
    }
    buffer_append(writer->buffer, token.text);
    writer->wants_comma = token.kind != JSON_TOKEN_OPEN;
}

static enum err write_output(struct hint_writer *writer, struct slice output_json)
{
    struct json_tokens tokens = json_tokens_of(output_json);
    struct json_token token = {JSON_TOKEN_SCALAR, {NULL, 0}};
    enum err err = OK;

    writer->wants_comma = false;
    while (err == OK && json_tokens_next(&tokens, &token)) {
        switch (token.kind) {
        case JSON_TOKEN_NAME:
            err = write_name(writer, &tokens, token.text);
            break;
        case JSON_TOKEN_STRING:
            err = write_leaf(writer, token.text);
            break;
        case JSON_TOKEN_OPEN:
        case JSON_TOKEN_CLOSE:
        case JSON_TOKEN_SCALAR:
            write_plain(writer, token);
            break;
        case JSON_TOKEN_COMMA:
        case JSON_TOKEN_COLON:
            break;
        }
    }
    return err;
}

/* Writes the piece into an empty buffer. */
static enum err write_piece(struct hint_writer *writer, struct slice input_snippet,
                            struct slice output_json)
{
    struct slice clean = {NULL, 0};
    enum err err = sanitise_example(writer->arena, input_snippet, &clean);

    if (err != OK) {
        return err;
    }
    buffer_append(writer->buffer, SLICE(HEAD));
    json_write_string(writer->buffer, clean, false);
    buffer_append(writer->buffer, SLICE(MIDDLE));
    err = write_output(writer, output_json);
    if (err != OK) {
        return err;
    }
    buffer_append(writer->buffer, SLICE(END));
    return buffer_ok(writer->buffer) ? OK : ERR_MEMORY;
}

/* Returns whether all names of each object are still distinct. */
static enum err check_names(struct arena *arena, struct slice piece, bool *ret_distinct)
{
    const struct json_rules rules = {JSON_DEPTH_MAX, false};
    struct json_problem problem = {NULL, 0};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    enum err err = json_check(arena, piece, &rules, &value, &problem);

    *ret_distinct = err == OK;
    return err == ERR_INVALID ? OK : err;
}

enum err hint_make_piece(struct arena *arena, struct slice input_snippet, struct slice output_json,
                         struct slice *ret_piece)
{
    struct buffer buffer = {0};
    struct hint_writer writer = {arena, &buffer, false, false, false};
    bool distinct = true;
    enum err err = OK;

    buffer_init(&buffer, arena, input_snippet.size + output_json.size + 64);
    err = write_piece(&writer, input_snippet, output_json);
    if (err == OK && writer.changed_name) {
        err = check_names(arena, buffer_slice(&buffer), &distinct);
    }
    if (err == OK && !distinct) {
        writer.drops_changed = true;
        buffer.size = 0;
        err = write_piece(&writer, input_snippet, output_json);
    }
    if (err == OK) {
        *ret_piece = buffer_slice(&buffer);
    }
    return err;
}

enum err hint_pack(struct arena *arena, struct slice dictionary, struct slice piece,
                   struct hint_packed *ret_packed)
{
    struct slice quoted = slice_after(piece, HEAD_BYTES);
    size_t snippet = json_skip_value(quoted, 0);
    struct buffer buffer = {0};

    ASSERT(piece.size > HEAD_BYTES + snippet + MIDDLE_BYTES + END_BYTES);
    buffer_init(&buffer, arena, piece.size);
    buffer_append(&buffer, slice_of(quoted.data, snippet));
    buffer_append(&buffer, slice_of(quoted.data + snippet + MIDDLE_BYTES,
                                    quoted.size - snippet - MIDDLE_BYTES - END_BYTES));
    if (!buffer_ok(&buffer)) {
        return ERR_MEMORY;
    }
    ret_packed->snippet_bytes = (uint32_t)snippet;
    return pack_write(arena, dictionary, buffer_slice(&buffer), &ret_packed->packed);
}

bool hint_unpacked_size(const struct hint_packed *packed, size_t *ret_size)
{
    size_t size = 0;

    if (!pack_read_size(packed->packed, &size) || packed->snippet_bytes > size) {
        return false;
    }
    *ret_size = HEAD_BYTES + MIDDLE_BYTES + END_BYTES + size;
    return true;
}

bool hint_unpack(struct slice dictionary, const struct hint_packed *packed, uint8_t *out,
                 size_t *ret_size)
{
    uint8_t *middle = out + HEAD_BYTES + packed->snippet_bytes;
    size_t size = 0;

    if (!hint_unpacked_size(packed, &size) ||
        !pack_read(dictionary, packed->packed, out + HEAD_BYTES)) {
        return false;
    }
    size -= END_BYTES;
    memmove(middle + MIDDLE_BYTES, middle, (size_t)(out + size - middle) - MIDDLE_BYTES);
    memcpy(out, HEAD, HEAD_BYTES);
    memcpy(middle, MIDDLE, MIDDLE_BYTES);
    memcpy(out + size, END, END_BYTES);
    *ret_size = size + END_BYTES;
    return true;
}
