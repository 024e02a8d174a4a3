/*
 * join.c: see join.h. The result is written from its end to its beginning, so that the length of an
 * inner message is known when its header is written. Each byte is read once. Open messages and their
 * fields are on explicit stacks.
 */
#include "server/codec/join.h"

#include "server/codec/check_internal.h"
#include "store/base/assert.h"

/* The end of a chain of pieces; also an empty chain. */
#define NO_FIELD UINT32_MAX
#define FIELDS_FIRST 64

/* A field of an open message. The pieces of one message are a chain; its last one represents it. */
struct join_field {
    const struct field_info
        *message; /* type of a message field; NULL: the field is copied unread */
    struct slice raw; /* the whole field */
    struct slice content; /* content of a message field */
    uint32_t first; /* first piece of the chain; valid in the last piece */
    uint32_t next; /* next piece; NO_FIELD in the last one */
    bool is_replaced; /* replaced by a later member of its oneof */
};

/* A message whose fields are being written. They are the last ones of `fields`. */
struct join_open {
    uint32_t begin; /* first of its fields */
    size_t end; /* end of its bytes in the result */
};

struct joiner {
    struct ctx *ctx;
    struct arena scratch; /* memory of `fields` */
    struct join_field *fields; /* a stack */
    uint32_t count;
    uint32_t capacity;
    uint32_t elements; /* number of fields read so far */
    uint8_t *to; /* the result */
    size_t at; /* start of the part that is written */
    size_t depth;
    struct join_open open[CHECK_DEPTH_MAX];
};

static enum err push_field(struct joiner *joiner, const struct join_field *field)
{
    if (joiner->count == joiner->capacity) {
        uint32_t capacity = joiner->capacity == 0 ? FIELDS_FIRST : 2 * joiner->capacity;
        struct join_field *fields = arena_alloc(&joiner->scratch, capacity * sizeof(*fields));

        if (fields == NULL) {
            return ERR_MEMORY;
        }
        if (joiner->count > 0) {
            memcpy(fields, joiner->fields, joiner->count * sizeof(*fields));
        }
        joiner->fields = fields;
        joiner->capacity = capacity;
    }
    joiner->fields[joiner->count++] = *field;
    return OK;
}

/* A member of a oneof replaces the others. */
static void replace_others(struct joiner *joiner, const struct message_info *message,
                           const struct field_info *member, uint32_t *latest)
{
    for (uint32_t i = 0; i < message->count; i++) {
        const struct field_info *other = &message->fields[i];

        if (other->oneof == member->oneof && other != member && latest[i] != NO_FIELD) {
            joiner->fields[latest[i]].is_replaced = true;
            latest[i] = NO_FIELD;
        }
    }
}

/* `latest` has the newest piece of each field of `message`. */
static enum err take_field(struct joiner *joiner, const struct message_info *message,
                           uint32_t *latest, const struct wire_field *wire, struct slice raw)
{
    const struct field_info *info = contract_find_field(message, wire->number);
    struct join_field field = {.raw = raw, .first = joiner->count, .next = NO_FIELD};
    uint32_t *newest = NULL;

    if (info != NULL && info->oneof >= 0) {
        replace_others(joiner, message, info, latest);
    }
    if (info == NULL || info->type != FIELD_MESSAGE || wire->type != WIRE_BYTES) {
        return push_field(joiner, &field);
    }
    field.message = info;
    field.content = wire->bytes;
    if (!info->repeated) {
        newest = &latest[info - message->fields];
        if (*newest != NO_FIELD) {
            joiner->fields[*newest].next = joiner->count;
            field.first = joiner->fields[*newest].first;
        }
        *newest = joiner->count;
    }
    return push_field(joiner, &field);
}

static enum err read_piece(struct joiner *joiner, const struct message_info *message,
                           uint32_t *latest, struct slice content)
{
    struct wire_reader reader = wire_reader_of(content);

    while (reader.rest.size > 0) {
        struct slice rest = reader.rest;
        struct wire_field wire;
        enum err err = wire_next(&reader, &wire);

        if (err != OK) {
            return ERR_MALFORMED;
        }
        if (++joiner->elements > CHECK_ELEMENTS_MAX) {
            return check_too_many(joiner->ctx);
        }
        err = take_field(joiner, message, latest, &wire,
                         slice_of(rest.data, rest.size - reader.rest.size));
        if (err != OK) {
            return err;
        }
    }
    return OK;
}

/* Opens the message whose last piece is the top of the stack, and reads all its pieces. */
static enum err open_message(struct joiner *joiner, const struct message_info *message)
{
    uint32_t piece = joiner->fields[joiner->count - 1].first;
    uint32_t *latest = arena_alloc(&joiner->scratch, (message->count + 1) * sizeof(*latest));

    if (latest == NULL) {
        return ERR_MEMORY;
    }
    memset(latest, 0xff, message->count * sizeof(*latest)); /* NO_FIELD */
    joiner->open[joiner->depth++] = (struct join_open){joiner->count, joiner->at};
    while (piece != NO_FIELD) {
        enum err err = read_piece(joiner, message, latest, joiner->fields[piece].content);

        if (err != OK) {
            return err;
        }
        piece = joiner->fields[piece].next;
    }
    return OK;
}

/* Writes in front of the bytes written so far. */
static enum err put_front(struct joiner *joiner, struct slice bytes)
{
    if (UNEXPECTED(bytes.size > joiner->at)) {
        return ERR_INTERNAL; /* a joined message is never longer than its pieces */
    }
    joiner->at -= bytes.size;
    if (bytes.size > 0) {
        memcpy(joiner->to + joiner->at, bytes.data, bytes.size);
    }
    return OK;
}

/* Completes the innermost message, all of whose fields are written: writes its header, except for
 * the request, which has none. */
static enum err close_message(struct joiner *joiner)
{
    const struct join_open *open = &joiner->open[--joiner->depth];
    const struct join_field *field = &joiner->fields[--joiner->count];
    uint8_t room[WIRE_OVERHEAD_BYTES];
    struct buffer header = {.data = room, .capacity = sizeof(room)};

    if (joiner->depth == 0) {
        return OK;
    }
    wire_put_header(&header, field->message->number, open->end - joiner->at);
    return put_front(joiner, buffer_slice(&header));
}

/* Writes the last field of the innermost message that is not written yet. */
static enum err step(struct joiner *joiner)
{
    const struct join_field *field = &joiner->fields[joiner->count - 1];
    bool is_written_elsewhere = field->next != NO_FIELD || field->is_replaced;

    if (joiner->count == joiner->open[joiner->depth - 1].begin) {
        return close_message(joiner);
    }
    /* A message that is too deep is copied: check_request refuses it. */
    if (field->message != NULL && !is_written_elsewhere && joiner->depth < CHECK_DEPTH_MAX) {
        return open_message(joiner, field->message->message);
    }
    joiner->count--;
    return is_written_elsewhere ? OK : put_front(joiner, field->raw);
}

static enum err join_all(struct joiner *joiner, const struct message_info *message,
                         struct slice bytes)
{
    const struct join_field request = {.content = bytes, .next = NO_FIELD};
    enum err err = push_field(joiner, &request);

    if (err == OK) {
        err = open_message(joiner, message);
    }
    while (err == OK && joiner->depth > 0) {
        err = step(joiner);
    }
    return err;
}

enum err join_pieces(struct ctx *ctx, const struct message_info *message, struct slice bytes,
                     struct slice *ret_joined)
{
    struct joiner joiner = {.ctx = ctx, .at = bytes.size};
    enum err err = OK;

    joiner.to = arena_alloc(ctx->arena, bytes.size + 1);
    if (joiner.to == NULL) {
        return ERR_MEMORY;
    }
    arena_init(&joiner.scratch, ctx->arena->limit_bytes);
    err = join_all(&joiner, message, bytes);
    arena_deinit(&joiner.scratch);
    if (err == OK) {
        *ret_joined = slice_of(joiner.to + joiner.at, bytes.size - joiner.at);
    }
    return err;
}
