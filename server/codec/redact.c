/*
 * redact.c: redaction in place: the output is never longer than the input read for it, so both
 * share the bytes. Fields move down, and so does the content of a message whose length needs fewer
 * bytes at its end.
 */
#include "server/codec/redact.h"

#include "store/base/wire.h"

/* A message that was not read to its end. */
struct open_message {
    const struct message_info *info;
    const uint8_t *end; /* end in the input */
    uint8_t *length; /* position of its length in the output */
    size_t length_bytes; /* size of that length in the input */
};

struct redaction {
    struct open_message open[REDACT_DEPTH_MAX]; /* the outermost first */
    size_t depth;
    const uint8_t *in; /* the next field to read */
    uint8_t *out;
};

static void copy_bytes(struct redaction *redaction, size_t size)
{
    memmove(redaction->out, redaction->in, size);
    redaction->in += size;
    redaction->out += size;
}

/* Copies a field's tag and length, and continues within it. */
static bool enter_message(struct redaction *redaction, const struct message_info *info,
                          struct slice message)
{
    struct open_message *open = &redaction->open[redaction->depth];
    size_t length_bytes = wire_varint_bytes(message.size);
    size_t header_bytes = (size_t)(message.data - redaction->in);

    if (redaction->depth == REDACT_DEPTH_MAX || header_bytes < length_bytes) {
        return false;
    }
    copy_bytes(redaction, header_bytes);
    *open = (struct open_message){info, message.data + message.size, redaction->out - length_bytes,
                                  length_bytes};
    redaction->depth++;
    return true;
}

/* Writes the remaining length, and closes the gap after it. */
static void leave_message(struct redaction *redaction)
{
    const struct open_message *open = &redaction->open[--redaction->depth];
    uint8_t *content = open->length + open->length_bytes;
    size_t size = (size_t)(redaction->out - content);
    size_t length_bytes = wire_varint_bytes(size);
    uint64_t rest = size;

    for (size_t i = 0; i < length_bytes; i++) {
        open->length[i] = (uint8_t)(rest | (i + 1 < length_bytes ? 0x80 : 0));
        rest >>= 7;
    }
    memmove(open->length + length_bytes, content, size);
    redaction->out = open->length + length_bytes + size;
}

/* Copies one field, or omits it. */
static bool take_field(struct redaction *redaction)
{
    const struct open_message *open = &redaction->open[redaction->depth - 1];
    struct wire_reader reader =
        wire_reader_of(slice_of(redaction->in, (size_t)(open->end - redaction->in)));
    const struct field_info *info = NULL;
    struct wire_field field;
    size_t size = 0;

    if (wire_next(&reader, &field) != OK) {
        return false;
    }
    size = (size_t)(open->end - redaction->in) - reader.rest.size;
    info = contract_find_field(open->info, field.number);
    if (info == NULL || info->rules.content) {
        redaction->in += size; /* an unknown field may be content */
        return true;
    }
    if (info->type == FIELD_MESSAGE) {
        return field.type == WIRE_BYTES && enter_message(redaction, info->message, field.bytes);
    }
    copy_bytes(redaction, size);
    return true;
}

enum err redact_content(const struct message_info *message, struct buffer *body, size_t start)
{
    struct redaction redaction = {.depth = 1};

    if (!buffer_ok(body) || body->size == start) {
        return OK;
    }
    redaction.in = body->data + start;
    redaction.out = body->data + start;
    redaction.open[0] = (struct open_message){message, body->data + body->size, NULL, 0};
    while (redaction.depth > 1 || redaction.in < redaction.open[0].end) {
        if (redaction.in == redaction.open[redaction.depth - 1].end) {
            leave_message(&redaction);
        } else if (!take_field(&redaction)) {
            body->size = start;
            return ERR_INTERNAL;
        }
    }
    body->size = (size_t)(redaction.out - body->data);
    return OK;
}
