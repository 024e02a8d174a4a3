/*
 * example_make.c: see example_make.h. The bytes of an example are written field by field, and examples.c
 * appends the other fields. No generated view writes this message, since GetExamples serves the stored bytes
 * unchanged.
 */
#include "server/domain/corrections/example_make.h"

#include "store/base/bytes.h"
#include "store/base/sha256.h"
#include "store/base/wire.h"

#include <errata/v1/prompt_service.fields.h>

enum err example_read_snippet(struct arena *arena, struct slice meta_json,
                              struct slice *ret_snippet)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};

    *ret_snippet = slice_of(NULL, 0);
    if (!json_member(members_value_of(meta_json), SLICE("input_snippet"), &value) ||
        value.kind != JSON_STRING) {
        return OK;
    }
    return json_string(arena, value.text, ret_snippet);
}

/* Writes the bytes of an Example that its row stores. */
static enum err encode(struct arena *arena, const struct example_text *text,
                       struct slice *ret_bytes)
{
    struct buffer buffer = {0};

    buffer_init(&buffer, arena,
                4 * WIRE_OVERHEAD_BYTES + text->snippet.size + text->output.text.size +
                    text->event_ids.size);
    wire_put_bytes_given(&buffer, EXAMPLE_INPUT_SNIPPET_FIELD, text->snippet);
    wire_put_bytes_given(&buffer, EXAMPLE_OUTPUT_FIELD, text->output.text);
    if (text->partial) {
        wire_put_varint(&buffer, EXAMPLE_PARTIAL_FIELD, 1);
    }
    if (text->reduced) {
        wire_put_varint(&buffer, EXAMPLE_REDUCED_FIELD, 1);
    }
    buffer_append(&buffer, text->event_ids);
    *ret_bytes = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

/* Writes the prompt piece. Most of its text is in the example, which is therefore used as the dictionary. */
static enum err write_hint(struct arena *arena, const struct example_text *text,
                           struct example_record *record)
{
    struct slice piece = {NULL, 0};
    struct sha256_digest digest;
    enum err err = hint_make_piece(arena, text->snippet, text->output.text, &piece);

    if (err != OK) {
        return err;
    }
    digest = sha256(piece);
    memcpy(record->hint_hash, digest.bytes, KEY_HASH_BYTES);
    return hint_pack(arena, record->example, piece, &record->hint);
}

enum err example_make(struct arena *arena, const struct example_text *text,
                      struct example_record *record)
{
    struct sha256_digest snippet = sha256(text->snippet);
    enum err err = encode(arena, text, &record->example);

    if (err != OK) {
        return err;
    }
    record->copy_hash = json_hash(text->output, bytes_get_be64(snippet.bytes));
    return write_hint(arena, text, record);
}
