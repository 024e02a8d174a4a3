/*
 * check.c: walks the wire bytes. Open messages are on an explicit stack of frames, each with a word
 * per field; small requests need only the C stack. Fields usually come in the order of their
 * numbers, so each is first looked for after the one before it. check_rules.c judges the values.
 *
 * A message field that arrives in several pieces stops the walk: the pieces are joined (join.h), and
 * the walk starts again over the joined bytes.
 */
#include "server/codec/check_internal.h"
#include "server/codec/join.h"
#include "store/base/assert.h"

#define PATH_BYTES_MAX 512

static enum err malformed(struct checker *checker, struct slice path)
{
    return fault_say(checker->ctx->fault, ERR_MALFORMED,
                     "request: cannot be decoded at `%.*s`; expected a %.*s", (int)path.size,
                     (const char *)path.data, (int)checker->frames[0].message->full_name.size,
                     (const char *)checker->frames[0].message->full_name.data);
}

static bool push_frame(struct checker *checker, const struct message_info *message,
                       struct slice bytes)
{
    struct frame *frame = &checker->frames[checker->depth];

    *frame = (struct frame){
        .message = message,
        .reader = {bytes},
        .seen = checker->seen_room + checker->seen_used,
        .seen_before = checker->seen_used,
    };
    if (message->count <= CHECK_SEEN_WORDS - checker->seen_used) {
        checker->seen_used += message->count;
        memset(frame->seen, 0, message->count * sizeof(*frame->seen));
    } else {
        frame->seen = arena_calloc(checker->ctx->arena, message->count, sizeof(*frame->seen));
        if (frame->seen == NULL) {
            return false;
        }
    }
    checker->depth++;
    return true;
}

static const struct field_info *find_field(struct frame *frame, uint32_t number)
{
    const struct message_info *message = frame->message;
    const struct field_info *field = NULL;

    for (uint32_t at = frame->likely; at < message->count && message->fields[at].number <= number;
         at++) {
        if (message->fields[at].number == number) {
            frame->likely = at;
            return &message->fields[at];
        }
    }
    field = contract_find_field(message, number);
    if (field != NULL) {
        frame->likely = (uint32_t)(field - message->fields);
    }
    return field;
}

/* Opens a message field; one that is nested too deep becomes a fault and is not read. */
static enum err enter_message(struct checker *checker, const struct checked_value *value)
{
    struct frame *parent = &checker->frames[checker->depth - 1];
    struct frame *frame = NULL;

    if (checker->depth == CHECK_DEPTH_MAX) {
        fault_add(checker->ctx->fault, check_path(checker, value->field, value->index),
                  "nested too deeply; expected at most %d messages", CHECK_DEPTH_MAX);
        return OK;
    }
    if (!push_frame(checker, value->field->message, value->bytes)) {
        return ERR_MEMORY;
    }
    frame = &checker->frames[checker->depth - 1];
    frame->field = value->field;
    frame->index = value->index;
    frame->no_rules = parent->no_rules || (value->field->rules.output_only && !checker->is_stored);
    return OK;
}

static void note_scalar(struct checker *checker, const struct checked_value *value)
{
    struct frame *frame = &checker->frames[checker->depth - 1];

    if (frame->message->well_known == MESSAGE_TIMESTAMP) {
        int64_t number = scalar_signed(value->field->type, value->raw);

        *(value->field->number == 1 ? &frame->seconds : &frame->nanos) = number;
    }
    if (!frame->no_rules) {
        check_scalar(checker, value);
    }
}

/* Counts an element, or records that a value is present. */
static void note_seen(uint32_t *seen, struct checked_value *value, bool is_default)
{
    if (value->field->repeated) {
        value->index = (*seen)++;
    } else {
        *seen = is_default ? SEEN_EMPTY : SEEN_VALUE;
    }
}

enum err check_too_many(struct ctx *ctx)
{
    return fault_say(ctx->fault, ERR_TOO_LARGE,
                     "request: more than %d fields and elements; expected several smaller requests",
                     CHECK_ELEMENTS_MAX);
}

static enum err handle_packed(struct checker *checker, struct checked_value *value, uint32_t *seen)
{
    struct slice rest = value->bytes;

    while (rest.size > 0) {
        if (++checker->elements > CHECK_ELEMENTS_MAX) {
            return check_too_many(checker->ctx);
        }
        if (!wire_take_packed(&rest, scalar_wire_type(value->field->type), &value->raw)) {
            return malformed(checker, check_path(checker, value->field, *seen));
        }
        note_seen(seen, value, false);
        note_scalar(checker, value);
    }
    return OK;
}

static enum err handle_field(struct checker *checker, const struct field_info *field,
                             const struct wire_field *wire)
{
    struct frame *frame = &checker->frames[checker->depth - 1];
    uint32_t *seen = &frame->seen[field - frame->message->fields];
    struct checked_value value = {field, 0, wire->value, wire->bytes};
    bool is_message = field->type == FIELD_MESSAGE;

    if (wire->type != scalar_wire_type(field->type)) {
        if (wire->type == WIRE_BYTES && field->repeated && scalar_is_packable(field->type)) {
            return handle_packed(checker, &value, seen);
        }
        return malformed(checker, check_path(checker, field, *seen));
    }
    switch (wire->type) {
    case WIRE_BYTES:
        if (is_message && !field->repeated && *seen != SEEN_NOTHING) {
            checker->in_pieces = true;
            return OK;
        }
        note_seen(seen, &value, !is_message && wire->bytes.size == 0);
        return is_message ? enter_message(checker, &value) : check_text(checker, &value);
    case WIRE_VARINT:
    case WIRE_FIXED64:
    case WIRE_FIXED32:
        note_seen(seen, &value, wire->value == 0);
        note_scalar(checker, &value);
        return OK;
    }
    return OK;
}

static enum err check_next_field(struct checker *checker)
{
    struct frame *frame = &checker->frames[checker->depth - 1];
    const struct field_info *field = NULL;
    struct wire_field wire;
    enum err err = wire_next(&frame->reader, &wire);

    if (err == ERR_NOT_FOUND) {
        if (!frame->no_rules) {
            check_message_end(checker);
        }
        checker->seen_used = frame->seen_before;
        checker->depth--;
        return OK;
    }
    if (err != OK) {
        return malformed(checker, check_frame_path(checker));
    }
    if (++checker->elements > CHECK_ELEMENTS_MAX) {
        return check_too_many(checker->ctx);
    }
    field = find_field(frame, wire.number);
    return field == NULL ? OK : handle_field(checker, field, &wire);
}

/* The rules that apply. */
enum check_rules {
    CHECK_OF_READ,
    CHECK_OF_WRITE,
    CHECK_OF_STORED
};

/* Walks once. Stops at the second piece of a message (`ret_in_pieces`), and once a request's faults fill
 * the list. */
static enum err walk_request(struct ctx *ctx, const struct message_info *message,
                             enum check_rules rules, struct slice bytes, bool *ret_in_pieces)
{
    struct checker checker;
    enum err err = OK;

    checker.ctx = ctx;
    checker.elements = 0;
    checker.depth = 0;
    checker.seen_used = 0;
    checker.in_pieces = false;
    checker.is_write = rules == CHECK_OF_WRITE;
    checker.is_stored = rules == CHECK_OF_STORED;
    arena_init(&checker.scratch, ctx->arena->limit_bytes);
    if (!push_frame(&checker, message, bytes)) {
        return ERR_MEMORY;
    }
    while (err == OK && checker.depth > 0 && !checker.in_pieces &&
           ctx->fault->total_count <= FAULT_ENTRIES_MAX) {
        err = check_next_field(&checker);
    }
    arena_deinit(&checker.scratch);
    *ret_in_pieces = checker.in_pieces;
    return err;
}

static enum err check_bytes(struct ctx *ctx, const struct message_info *message,
                            enum check_rules rules, struct slice bytes, struct slice *ret_bytes)
{
    bool in_pieces = false;
    enum err err = walk_request(ctx, message, rules, bytes, &in_pieces);

    if (err == OK && in_pieces) {
        fault_init(ctx->fault,
                   ctx->fault->arena); /* a single piece may lack what another one has */
        err = join_pieces(ctx, message, bytes, &bytes);
        if (err == OK) {
            err = walk_request(ctx, message, rules, bytes, &in_pieces);
        }
        if (UNEXPECTED(err == OK && in_pieces)) {
            return ERR_INTERNAL;
        }
    }
    if (err == OK) {
        err = fault_result(ctx->fault);
    }
    if (err == OK) {
        *ret_bytes = bytes;
    }
    return err;
}

enum err check_request(struct ctx *ctx, const struct message_info *message, struct slice bytes,
                       struct slice *ret_bytes)
{
    return check_bytes(ctx, message, CHECK_OF_READ, bytes, ret_bytes);
}

enum err check_write_request(struct ctx *ctx, const struct message_info *message,
                             struct slice bytes, struct slice *ret_bytes)
{
    return check_bytes(ctx, message, CHECK_OF_WRITE, bytes, ret_bytes);
}

enum err check_stored_message(struct ctx *ctx, const struct message_info *message,
                              struct slice bytes)
{
    bool in_pieces = false;
    enum err err = walk_request(ctx, message, CHECK_OF_STORED, bytes, &in_pieces);

    if (err == OK && in_pieces) {
        err = ERR_MALFORMED;
    }
    return err == OK ? fault_result(ctx->fault) : err;
}

static void put_segment(struct buffer *path, const struct field_info *field, uint32_t index)
{
    if (path->size > 0) {
        buffer_append_byte(path, '.');
    }
    buffer_append(path, field->name);
    if (field->repeated) {
        buffer_printf(path, "[%u]", index);
    }
}

struct slice check_frame_path(struct checker *checker)
{
    struct buffer path;

    buffer_init(&path, checker->ctx->arena, 64);
    for (size_t i = 1; i < checker->depth && path.size < PATH_BYTES_MAX; i++) {
        put_segment(&path, checker->frames[i].field, checker->frames[i].index);
    }
    return buffer_slice(&path);
}

struct slice check_path(struct checker *checker, const struct field_info *field, uint32_t index)
{
    struct buffer path;

    buffer_init(&path, checker->ctx->arena, 64);
    buffer_append(&path, check_frame_path(checker));
    put_segment(&path, field, index);
    return buffer_slice(&path);
}
