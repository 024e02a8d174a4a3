/*
 * proto_json_read.c: converts JSON text to wire bytes, in one pass. Open containers are on a stack
 * of frames; each knows its members (fields of a message, elements, entries of a map). Lengths of
 * messages that are still being written are on a second stack: one byte is reserved for each, and
 * the content is moved if the length needs more. An invalid value becomes a fault with its path,
 * and reading continues, so that all faults are reported at once; the wire bytes are then
 * meaningless.
 */
#include "server/codec/proto_json_internal.h"

#include "store/base/assert.h"

/* Lengths that can be open at once: for each JSON level a map's entry, its value and the content of
 * a Value. */
#define LENGTHS_MAX (3 * JSON_DEPTH_MAX + 8)
#define PATH_BYTES_MAX 512
#define NAMES_BYTES_MAX 400
#define SEEN_BYTES_FIRST 256

/* Fields of Value, Struct, ListValue, Any and of the entry of a map. */
#define VALUE_NULL 1
#define VALUE_NUMBER 2
#define VALUE_STRING 3
#define VALUE_BOOL 4
#define VALUE_STRUCT 5
#define VALUE_LIST 6
#define ANY_TYPE_URL 1
#define ANY_VALUE 2

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data

enum frame_kind {
    FRAME_MESSAGE, /* a JSON object whose members are fields */
    FRAME_ARRAY,
    FRAME_MAP, /* a JSON object whose members are entries */
    FRAME_ANY_VALUE /* the object around the `value` of an Any whose content has its own JSON
                     * form */
};

struct frame {
    enum frame_kind kind;
    const struct message_info *message; /* message type of FRAME_MESSAGE and FRAME_ANY_VALUE */
    const struct field_info *field; /* repeated or map field; in a message, the field being read */
    struct slice key; /* quoted key of the entry being read */
    uint32_t count; /* number of elements or entries begun */
    size_t lengths_before; /* number of lengths that stay open after this frame */
    size_t wire_before; /* size of the wire at the start of this frame */
    size_t seen; /* start of its bytes in the reader's `seen`: one for each field and each oneof */
    bool is_any; /* the object of the fields has an @type member */
    bool is_started; /* its path segment has been added */
};

struct reader_form {
    bool strict; /* unknown members are refused */
    bool plain;
};

struct reader {
    struct ctx *ctx;
    struct buffer *wire;
    struct slice text;
    size_t at;
    bool strict;
    bool plain;
    bool no_memory;
    size_t depth;
    size_t length_count;
    uint8_t *seen;
    size_t seen_used;
    size_t seen_capacity;
    struct frame frames[JSON_DEPTH_MAX];
    size_t lengths[LENGTHS_MAX];
};

static struct frame *top_frame(struct reader *reader)
{
    return &reader->frames[reader->depth - 1];
}

static void skip_to_token(struct reader *reader)
{
    while (reader->at < reader->text.size) {
        uint8_t byte = reader->text.data[reader->at];

        if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r' && byte != ',' &&
            byte != ':') {
            return;
        }
        reader->at++;
    }
}

static uint8_t peek(struct reader *reader)
{
    skip_to_token(reader);
    return reader->at < reader->text.size ? reader->text.data[reader->at] : 0;
}

/* Skips the next value without reading a container's content. */
static struct json_value take_value(struct reader *reader)
{
    uint8_t first = peek(reader);
    size_t end = json_skip_value(reader->text, reader->at);
    struct json_value value = {json_kind_of(first),
                               slice_of(reader->text.data + reader->at, end - reader->at)};

    reader->at = end;
    return value;
}

static void put_segment(struct buffer *path, const struct frame *frame)
{
    switch (frame->kind) {
    case FRAME_MESSAGE:
        if (frame->field != NULL) {
            buffer_append(path, path->size > 0 ? SLICE(".") : SLICE(""));
            buffer_append(path, frame->field->name);
        }
        return;
    case FRAME_ARRAY:
        buffer_printf(path, "[%u]", frame->count - 1);
        return;
    case FRAME_MAP:
        buffer_printf(path, "[%.*s]", SHOWN(frame->key));
        return;
    case FRAME_ANY_VALUE:
        buffer_append(path, path->size > 0 ? SLICE(".value") : SLICE("value"));
        return;
    }
}

static struct slice path_of(struct reader *reader)
{
    struct buffer path;

    buffer_init(&path, reader->ctx->arena, 64);
    for (size_t i = 0; i < reader->depth && path.size < PATH_BYTES_MAX; i++) {
        if (reader->frames[i].is_started) {
            put_segment(&path, &reader->frames[i]);
        }
    }
    return buffer_slice(&path);
}

static void add_fault(struct reader *reader, const char *expected, struct json_value value)
{
    struct slice shown = fault_shorten(reader->ctx->fault, value.text);

    fault_add(reader->ctx->fault, path_of(reader), "invalid value %.*s; expected %s", SHOWN(shown),
              expected);
}

static void add_refusal(struct reader *reader, const struct field_info *field,
                        struct json_value value, const struct refusal *refusal)
{
    struct slice words = {NULL, 0};
    struct slice shown = {NULL, 0};

    reader->no_memory = reader->no_memory || refusal->no_memory;
    if (field->type != FIELD_ENUM) {
        add_fault(reader, refusal->expected, value);
        return;
    }
    words = contract_enum_words(reader->ctx->arena, field->enumeration);
    shown = fault_shorten(reader->ctx->fault, value.text);
    fault_add(reader->ctx->fault, path_of(reader), "unknown value %.*s; expected %.*s",
              SHOWN(shown), SHOWN(words));
}

/* Starts a message (or packed field) whose length is not known yet. */
static void open_length(struct reader *reader, uint32_t number)
{
    ASSERT(reader->length_count < LENGTHS_MAX); /* the depth of JSON is checked */
    wire_put_header(reader->wire, number, 0);
    reader->lengths[reader->length_count++] = reader->wire->size;
}

static void close_length(struct reader *reader)
{
    struct buffer *wire = reader->wire;
    size_t start = reader->lengths[--reader->length_count];
    size_t size = wire->size - start;
    size_t more = wire_varint_bytes(size) - 1;

    if (!buffer_ok(wire) || !buffer_reserve(wire, more)) {
        return;
    }
    memmove(wire->data + start + more, wire->data + start, size);
    for (size_t i = 0; i < more; i++) {
        wire->data[start - 1 + i] = (uint8_t)(size >> (7 * i) | 0x80);
    }
    wire->data[start - 1 + more] = (uint8_t)(size >> (7 * more));
    wire->size += more;
}

static void close_lengths(struct reader *reader, size_t lengths_before)
{
    while (reader->length_count > lengths_before) {
        close_length(reader);
    }
}

/* Reserves one zeroed byte for each field of the message. */
static size_t take_seen(struct reader *reader, size_t count)
{
    size_t start = reader->seen_used;
    size_t capacity = reader->seen_capacity == 0 ? SEEN_BYTES_FIRST : reader->seen_capacity;

    while (capacity < start + count) {
        capacity *= 2;
    }
    if (capacity != reader->seen_capacity) {
        uint8_t *seen = arena_alloc(reader->ctx->arena, capacity);

        if (seen == NULL) {
            reader->no_memory = true;
            return start;
        }
        if (start > 0) {
            memcpy(seen, reader->seen, start);
        }
        reader->seen = seen;
        reader->seen_capacity = capacity;
    }
    memset(reader->seen + start, 0, count);
    reader->seen_used += count;
    return start;
}

/* Opens the container at the cursor, which has the right kind. */
static struct frame *push_frame(struct reader *reader, enum frame_kind kind, size_t lengths_before)
{
    struct frame *frame = &reader->frames[reader->depth++];

    reader->at++;
    *frame = (struct frame){
        .kind = kind,
        .lengths_before = lengths_before,
        .wire_before = reader->wire->size,
        .seen = reader->seen_used,
    };
    return frame;
}

static void pop_frame(struct reader *reader)
{
    struct frame *frame = top_frame(reader);

    reader->at++;
    reader->seen_used = frame->seen;
    reader->depth--;
    if (frame->kind == FRAME_ARRAY && frame->field->packed && frame->count == 0) {
        reader->length_count--; /* an empty packed field is omitted */
        reader->wire->size = frame->wire_before;
    }
    close_lengths(reader, frame->lengths_before);
}

static void push_message(struct reader *reader, const struct message_info *message,
                         size_t lengths_before)
{
    struct frame *frame = push_frame(reader, FRAME_MESSAGE, lengths_before);

    frame->message = message;
    frame->seen = take_seen(reader, 2 * (size_t)message->count);
}

static void push_elements(struct reader *reader, enum frame_kind kind,
                          const struct field_info *field, size_t lengths_before)
{
    struct frame *frame = push_frame(reader, kind, lengths_before);

    frame->field = field;
    if (kind == FRAME_ARRAY && field->packed) {
        open_length(reader, field->number);
    }
}

static void put_scalar(struct reader *reader, const struct field_info *field,
                       const struct scalar *scalar)
{
    enum wire_type type = scalar_wire_type(field->type);

    if (type == WIRE_BYTES) {
        wire_put_bytes(reader->wire, field->number, scalar->bytes);
    } else {
        wire_put_raw(reader->wire, field->number, type, scalar->raw);
    }
}

static bool is_default(const struct scalar *scalar)
{
    return scalar->raw == 0 && scalar->bytes.size == 0;
}

/* Converts a value that is not a message. */
static bool convert_scalar(struct reader *reader, const struct field_info *field,
                           struct json_value value, struct scalar *ret_scalar)
{
    struct refusal refusal = {NULL, false};

    if (reader->plain && plain_read_scalar(field, value, ret_scalar)) {
        return true;
    }
    if (proto_json_scalar(reader->ctx->arena, field, value, ret_scalar, &refusal)) {
        return true;
    }
    add_refusal(reader, field, value, &refusal);
    return false;
}

/* Reads the value at the cursor for a field that is not a message. */
static void read_scalar(struct reader *reader, const struct field_info *field, bool keep_default)
{
    struct json_value value = take_value(reader);
    struct scalar scalar = {0};

    if (convert_scalar(reader, field, value, &scalar) && (keep_default || !is_default(&scalar))) {
        put_scalar(reader, field, &scalar);
    }
}

typedef bool known_read_fn(struct slice text, struct buffer *wire);

/* Reads a well-known type that is one string. */
static void read_known(struct reader *reader, known_read_fn *read, const char *expected)
{
    struct json_value value = take_value(reader);
    struct slice text = {NULL, 0};

    if (value.kind == JSON_STRING && json_string(reader->ctx->arena, value.text, &text) != OK) {
        reader->no_memory = true;
        return;
    }
    if (value.kind != JSON_STRING || !read(text, reader->wire)) {
        add_fault(reader, expected, value);
    }
}

/* Reads a google.protobuf.Value: any JSON. Struct and ListValue are one message deeper. */
static void read_value(struct reader *reader, const struct message_info *message,
                       size_t lengths_before)
{
    static const uint8_t number_by_kind[] = {
        [JSON_NULL] = VALUE_NULL,     [JSON_FALSE] = VALUE_BOOL,    [JSON_TRUE] = VALUE_BOOL,
        [JSON_NUMBER] = VALUE_NUMBER, [JSON_STRING] = VALUE_STRING, [JSON_ARRAY] = VALUE_LIST,
        [JSON_OBJECT] = VALUE_STRUCT,
    };
    enum json_kind kind = json_kind_of(peek(reader));
    const struct field_info *field = contract_find_field(message, number_by_kind[kind]);

    ASSERT(field != NULL);
    if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
        open_length(reader, field->number);
        push_elements(reader, kind == JSON_OBJECT ? FRAME_MAP : FRAME_ARRAY,
                      &field->message->fields[0], lengths_before);
        return;
    }
    read_scalar(reader, field, true);
    close_lengths(reader, lengths_before);
}

static bool has_json_of_its_own(const struct message_info *message)
{
    return message->well_known != MESSAGE_PLAIN && message->well_known != MESSAGE_EMPTY;
}

/* Returns the message that `@type` of the object at the cursor names; NULL, with a fault, if there
 * is none. */
static const struct message_info *find_any_type(struct reader *reader, struct slice *ret_url)
{
    size_t end = json_skip_value(reader->text, reader->at);
    struct json_value object = {JSON_OBJECT,
                                slice_of(reader->text.data + reader->at, end - reader->at)};
    struct json_value type = {0};
    const struct message_info *message = NULL;
    const uint8_t *slash = NULL;

    if (!json_member(object, SLICE("@type"), &type) || type.kind != JSON_STRING) {
        add_fault(reader, "an object with a member \"@type\" that names its type", object);
        return NULL;
    }
    if (json_string(reader->ctx->arena, type.text, ret_url) != OK) {
        reader->no_memory = true;
        return NULL;
    }
    slash = ret_url->size > 0 ? memrchr(ret_url->data, '/', ret_url->size) : NULL;
    if (slash != NULL) {
        message = contract_find_message(slice_after(*ret_url, (size_t)(slash + 1 - ret_url->data)));
    }
    if (message == NULL) {
        add_fault(reader,
                  "a message of this server, such as type.googleapis.com/google.rpc.ErrorInfo",
                  type);
    }
    return message;
}

static void read_any(struct reader *reader, size_t lengths_before)
{
    const struct message_info *message = NULL;
    struct slice url = {NULL, 0};
    size_t start = reader->at;

    reader->at++;
    if (peek(reader) == '}') { /* an empty Any */
        reader->at++;
        close_lengths(reader, lengths_before);
        return;
    }
    reader->at = start;
    message = find_any_type(reader, &url);
    if (message == NULL) {
        (void)take_value(reader);
        close_lengths(reader, lengths_before);
        return;
    }
    wire_put_bytes(reader->wire, ANY_TYPE_URL, url);
    open_length(reader, ANY_VALUE);
    if (has_json_of_its_own(message)) {
        push_frame(reader, FRAME_ANY_VALUE, lengths_before)->message = message;
    } else {
        push_message(reader, message, lengths_before);
        top_frame(reader)->is_any = true;
    }
}

static bool wants(struct reader *reader, uint8_t bracket)
{
    if (peek(reader) == bracket) {
        return true;
    }
    add_fault(reader, bracket == '{' ? "a JSON object" : "a JSON array", take_value(reader));
    return false;
}

/* Reads the value at the cursor for a message whose lengths are open down to `lengths_before`;
 * closes them, or leaves that to the frame it opens. */
static void read_message_value(struct reader *reader, const struct message_info *message,
                               size_t lengths_before)
{
    switch (message->well_known) {
    case MESSAGE_PLAIN:
    case MESSAGE_EMPTY:
        if (wants(reader, '{')) {
            push_message(reader, message, lengths_before);
            return;
        }
        break;
    case MESSAGE_ANY:
        if (wants(reader, '{')) {
            read_any(reader, lengths_before);
            return;
        }
        break;
    case MESSAGE_STRUCT:
        if (wants(reader, '{')) {
            push_elements(reader, FRAME_MAP, &message->fields[0], lengths_before);
            return;
        }
        break;
    case MESSAGE_LIST_VALUE:
        if (wants(reader, '[')) {
            push_elements(reader, FRAME_ARRAY, &message->fields[0], lengths_before);
            return;
        }
        break;
    case MESSAGE_VALUE:
        read_value(reader, message, lengths_before);
        return;
    case MESSAGE_WRAPPER:
        read_scalar(reader, &message->fields[0], false);
        break;
    case MESSAGE_TIMESTAMP:
        read_known(reader, known_read_timestamp,
                   "an RFC 3339 time in the years 1 to 9999, such as \"2026-01-02T03:04:05.678Z\"");
        break;
    case MESSAGE_DURATION:
        read_known(reader, known_read_duration,
                   "seconds up to 315576000000 followed by `s`, such as \"1.5s\"");
        break;
    case MESSAGE_FIELD_MASK:
        read_known(reader, known_read_field_mask,
                   "names of fields in lowerCamelCase, separated by commas");
        break;
    }
    close_lengths(reader, lengths_before);
}

/* Reads the value at the cursor for one field, element or entry; `number` is the field number in
 * the container. */
static void read_field_value(struct reader *reader, const struct field_info *field,
                             size_t lengths_before, bool keep_default)
{
    if (field->type == FIELD_MESSAGE) {
        open_length(reader, field->number);
        read_message_value(reader, field->message, lengths_before);
        return;
    }
    read_scalar(reader, field, keep_default);
    close_lengths(reader, lengths_before);
}

static const struct field_info *find_named(const struct reader *reader,
                                           const struct message_info *message, struct slice quoted,
                                           uint32_t likely)
{
    for (uint32_t i = 0; i < message->count; i++) {
        uint32_t at = (likely + i) % message->count;
        const struct field_info *field = &message->fields[at];

        if (json_key_is(quoted, field->json_name) || json_key_is(quoted, field->name) ||
            (reader->plain && plain_key_is(quoted, field))) {
            return field;
        }
    }
    return NULL;
}

static void add_unknown(struct reader *reader, const struct message_info *message,
                        struct slice quoted)
{
    struct slice shown = fault_shorten(reader->ctx->fault, quoted);
    struct buffer names;

    buffer_init(&names, reader->ctx->arena, NAMES_BYTES_MAX);
    for (uint32_t i = 0; i < message->count && names.size < NAMES_BYTES_MAX; i++) {
        buffer_append(&names, names.size > 0 ? SLICE(", ") : SLICE(""));
        buffer_append(&names, message->fields[i].json_name);
    }
    fault_add(reader->ctx->fault, path_of(reader), "unknown field %.*s; expected %.*s of %.*s",
              SHOWN(shown), names.size > 0 ? (int)names.size : 6,
              names.size > 0 ? (const char *)names.data : "no one", SHOWN(message->full_name));
}

/* Checks that each field comes once, and each oneof once; null counts only for the field. */
static bool is_first(struct reader *reader, const struct field_info *field, bool is_absent)
{
    struct frame *frame = top_frame(reader);
    uint8_t *seen = reader->seen + frame->seen;
    uint8_t *oneof = field->oneof >= 0 && !is_absent
                         ? &seen[(size_t)frame->message->count + (size_t)field->oneof]
                         : NULL;
    size_t index = (size_t)(field - frame->message->fields);

    if (seen[index] != 0) {
        fault_add(reader->ctx->fault, path_of(reader),
                  "given twice, as %.*s and %.*s; expected once", SHOWN(field->json_name),
                  SHOWN(field->name));
        return false;
    }
    seen[index] = 1;
    if (oneof == NULL) {
        return true;
    }
    if (*oneof != 0) {
        fault_add(reader->ctx->fault, path_of(reader),
                  "given together with another field of its oneof; expected only one of them");
        return false;
    }
    *oneof = 1;
    return true;
}

/* Returns whether null is a value of this type, rather than an absent one. */
static bool takes_null(const struct field_info *field)
{
    if (field->type == FIELD_MESSAGE) {
        return field->message->well_known == MESSAGE_VALUE;
    }
    return field->type == FIELD_ENUM && proto_json_is_null_value(field->enumeration);
}

static void read_known_member(struct reader *reader, const struct field_info *field)
{
    bool is_absent =
        json_kind_of(peek(reader)) == JSON_NULL && (field->repeated || !takes_null(field));

    if (!is_first(reader, field, is_absent) || is_absent) {
        (void)take_value(reader);
    } else if (!field->repeated) {
        read_field_value(reader, field, reader->length_count, field->optional);
    } else if (wants(reader, field->map ? '{' : '[')) {
        push_elements(reader, field->map ? FRAME_MAP : FRAME_ARRAY, field, reader->length_count);
    }
}

static void read_member(struct reader *reader)
{
    struct frame *frame = top_frame(reader);
    struct json_value key = take_value(reader);
    const struct field_info *field = NULL;
    uint32_t likely = frame->field == NULL ? 0 : (uint32_t)(frame->field - frame->message->fields);

    if (frame->is_any && json_key_is(key.text, SLICE("@type"))) {
        (void)take_value(reader);
        return;
    }
    field = find_named(reader, frame->message, key.text, likely);
    if (field == NULL) {
        frame->is_started = false;
        if (reader->strict) {
            add_unknown(reader, frame->message, key.text);
        }
        (void)take_value(reader);
        return;
    }
    frame->field = field;
    frame->is_started = true;
    read_known_member(reader, field);
}

static bool is_null_element(struct reader *reader, const struct field_info *field)
{
    if (json_kind_of(peek(reader)) != JSON_NULL || takes_null(field)) {
        return false;
    }
    add_fault(reader, "a value", take_value(reader));
    return true;
}

static void read_element(struct reader *reader)
{
    struct frame *frame = top_frame(reader);
    const struct field_info *field = frame->field;
    struct json_value value;
    struct scalar scalar = {0};

    frame->count++;
    frame->is_started = true;
    if (is_null_element(reader, field)) {
        return;
    }
    if (!field->packed) {
        read_field_value(reader, field, reader->length_count, true);
        return;
    }
    value = take_value(reader);
    if (convert_scalar(reader, field, value, &scalar)) {
        wire_put_packed(reader->wire, scalar_wire_type(field->type), scalar.raw);
    }
}

static void read_entry(struct reader *reader)
{
    struct frame *frame = top_frame(reader);
    const struct message_info *entry = frame->field->message;
    struct json_value key = take_value(reader);
    struct scalar scalar = {0};
    struct refusal refusal = {NULL, false};
    size_t lengths_before = reader->length_count;

    frame->key = key.text;
    frame->count++;
    frame->is_started = true;
    if (is_null_element(reader, &entry->fields[1])) {
        return;
    }
    if (!proto_json_key(reader->ctx->arena, &entry->fields[0], key.text, &scalar, &refusal)) {
        add_refusal(reader, &entry->fields[0], key, &refusal);
        (void)take_value(reader);
        return;
    }
    open_length(reader, frame->field->number);
    put_scalar(reader, &entry->fields[0], &scalar);
    read_field_value(reader, &entry->fields[1], lengths_before, true);
}

/* Reads a member of the object around an Any's `value`. */
static void read_any_member(struct reader *reader)
{
    struct frame *frame = top_frame(reader);
    struct json_value key = take_value(reader);

    if (json_key_is(key.text, SLICE("value"))) {
        frame->is_started = true;
        read_message_value(reader, frame->message, reader->length_count);
        return;
    }
    frame->is_started = false;
    if (!json_key_is(key.text, SLICE("@type")) && reader->strict) {
        add_fault(reader, "only the members \"@type\" and \"value\"", key);
    }
    (void)take_value(reader);
}

static void read_next(struct reader *reader)
{
    uint8_t next = peek(reader);

    if (next == '}' || next == ']') {
        pop_frame(reader);
        return;
    }
    switch (top_frame(reader)->kind) {
    case FRAME_MESSAGE:
        read_member(reader);
        return;
    case FRAME_ARRAY:
        read_element(reader);
        return;
    case FRAME_MAP:
        read_entry(reader);
        return;
    case FRAME_ANY_VALUE:
        read_any_member(reader);
        return;
    }
}

/* `form` has the flags of the reader. */
static enum err read_json(struct ctx *ctx, const struct message_info *message, struct slice json,
                          const struct reader_form *form, struct buffer *wire)
{
    const struct json_rules rules = {JSON_DEPTH_MAX, false};
    struct json_value value = {0};
    struct json_problem problem = {NULL, 0};
    struct reader reader;
    enum err err = json_check(ctx->arena, json, &rules, &value, &problem);

    if (err == ERR_INVALID) {
        fault_add(ctx->fault, slice_of(NULL, 0), "invalid JSON, %s at byte %zu; expected RFC 8259",
                  problem.what, problem.at);
    }
    if (err != OK) {
        return err;
    }
    memset(&reader, 0, offsetof(struct reader, frames));
    reader.ctx = ctx;
    reader.wire = wire;
    reader.text = value.text;
    reader.strict = form->strict;
    reader.plain = form->plain;
    read_message_value(&reader, message, 0);
    while (reader.depth > 0 && !reader.no_memory && buffer_ok(wire) &&
           ctx->fault->total_count <= FAULT_ENTRIES_MAX) {
        read_next(&reader);
    }
    if (reader.no_memory || !buffer_ok(wire)) {
        return ERR_MEMORY;
    }
    return fault_result(ctx->fault);
}

enum err proto_json_read(struct ctx *ctx, const struct message_info *message, struct slice json,
                         bool strict, struct buffer *wire)
{
    return read_json(ctx, message, json, &(struct reader_form){.strict = strict}, wire);
}

enum err proto_json_read_plain(struct ctx *ctx, const struct message_info *message,
                               struct slice json, bool strict, struct buffer *wire)
{
    return read_json(ctx, message, json, &(struct reader_form){.strict = strict, .plain = true},
                     wire);
}
