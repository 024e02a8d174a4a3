/*
 * proto_json_write.c: converts wire bytes to JSON text. On the wire, fields come in any order,
 * elements of a list apart from each other, and messages in pieces; JSON has each name once. So the
 * fields of an open message are first listed, and sorted if necessary, in one vector that open
 * messages share as a stack; frames on a second stack hold the state of writing. Of several values
 * of a singular field or a oneof the last counts; pieces of a message are joined.
 */
#include "server/codec/proto_json_internal.h"

#include "server/codec/check.h"
#include "store/base/text.h"

#include <inttypes.h>
#include <math.h>

#define ENTRIES_FIRST 64

/* Fields of Any. */
#define ANY_TYPE_URL 1
#define ANY_VALUE 2

/* A field on the wire, with its sort keys. */
struct entry {
    const struct field_info *field;
    struct wire_field wire;
    struct wire_field key; /* key of a map entry */
    uint32_t order; /* position on the wire */
};

struct frame {
    const struct message_info *message;
    size_t first; /* first of its entries */
    size_t end;
    size_t next;
    size_t list_end; /* end of the list or map that is being written */
    uint32_t passed; /* in plain JSON: fields of the message that are written or absent */
    bool in_list;
    bool is_bare; /* a Struct or ListValue, written as its only field */
    bool has_members; /* a member was written */
    bool has_elements; /* an element was written */
};

struct writer {
    struct ctx *ctx;
    struct buffer *json;
    const struct proto_json_style *style;
    unsigned indent;
    size_t level; /* number of open brackets */
    bool no_memory;
    bool malformed;
    size_t depth;
    struct entry *entries;
    size_t entry_count;
    size_t entry_capacity;
    struct frame frames[CHECK_DEPTH_MAX];
};

static struct frame *top_frame(struct writer *writer)
{
    return &writer->frames[writer->depth - 1];
}

static void fail_write(struct writer *writer)
{
    writer->malformed = true;
}

static void put_text(struct writer *writer, struct slice text)
{
    buffer_append(writer->json, text);
}

static void put_line(struct writer *writer)
{
    if (writer->indent > 0) {
        buffer_append_byte(writer->json, '\n');
        for (size_t i = 0; i < writer->level * writer->indent; i++) {
            buffer_append_byte(writer->json, ' ');
        }
    }
}

/* Writes the separator of a member or element: a comma if it is not the first, and a new line. */
static void put_separator(struct writer *writer, bool *has_some)
{
    if (*has_some) {
        put_text(writer, SLICE(","));
    }
    *has_some = true;
    put_line(writer);
}

static void put_open(struct writer *writer, uint8_t bracket)
{
    buffer_append_byte(writer->json, bracket);
    writer->level++;
}

static void put_close(struct writer *writer, uint8_t bracket, bool has_some)
{
    writer->level--;
    if (has_some) {
        put_line(writer);
    }
    buffer_append_byte(writer->json, bracket);
}

static void put_colon(struct writer *writer)
{
    put_text(writer, writer->indent > 0 ? SLICE(": ") : SLICE(":"));
}

static void put_enum(struct writer *writer, const struct enum_info *enumeration, int64_t number)
{
    if (proto_json_is_null_value(enumeration)) {
        put_text(writer, SLICE("null"));
        return;
    }
    for (uint32_t i = 0; i < enumeration->count; i++) {
        if (enumeration->values[i].number == number) {
            json_write_string(writer->json, enumeration->values[i].name, false);
            return;
        }
    }
    buffer_printf(writer->json, "%" PRId64, number);
}

static void put_string(struct writer *writer, struct slice text)
{
    if (!text_is_utf8(text)) {
        fail_write(writer);
        return;
    }
    json_write_string(writer->json, text, false);
}

static void put_proto_scalar(struct writer *writer, const struct field_info *field,
                             const struct wire_field *wire)
{
    enum field_type type = field->type;

    switch (type) {
    case FIELD_DOUBLE:
    case FIELD_FLOAT:
        proto_json_put_double(type, wire->value, writer->json);
        return;
    case FIELD_INT64:
    case FIELD_SFIXED64:
    case FIELD_SINT64:
        buffer_printf(writer->json, "\"%" PRId64 "\"", scalar_signed(type, wire->value));
        return;
    case FIELD_UINT64:
    case FIELD_FIXED64:
        buffer_printf(writer->json, "\"%" PRIu64 "\"", wire->value);
        return;
    case FIELD_INT32:
    case FIELD_FIXED32:
    case FIELD_UINT32:
    case FIELD_SFIXED32:
    case FIELD_SINT32:
        buffer_printf(writer->json, "%" PRId64, scalar_signed(type, wire->value));
        return;
    case FIELD_BOOL:
        put_text(writer, wire->value != 0 ? SLICE("true") : SLICE("false"));
        return;
    case FIELD_STRING:
        put_string(writer, wire->bytes);
        return;
    case FIELD_BYTES:
        put_text(writer, SLICE("\""));
        proto_json_put_base64(wire->bytes, writer->json);
        put_text(writer, SLICE("\""));
        return;
    case FIELD_ENUM:
        put_enum(writer, field->enumeration, scalar_signed(type, wire->value));
        return;
    case FIELD_MESSAGE:
        return;
    }
}

static void put_scalar(struct writer *writer, const struct field_info *field,
                       const struct wire_field *wire)
{
    if (!writer->style->plain || !plain_write_scalar(field, wire, writer->json)) {
        put_proto_scalar(writer, field, wire);
    }
}

/* Writes the key of a map's entry, which is a string in JSON. */
static void put_key(struct writer *writer, const struct field_info *field,
                    const struct wire_field *wire)
{
    enum field_type type = field->type;
    bool has_quotes = type == FIELD_STRING || type == FIELD_INT64 || type == FIELD_SFIXED64 ||
                      type == FIELD_SINT64 || scalar_is_unsigned64(type);

    put_text(writer, has_quotes ? SLICE("") : SLICE("\""));
    put_proto_scalar(writer, field, wire);
    put_text(writer, has_quotes ? SLICE("") : SLICE("\""));
}

/* Reads the last key and value of a map's entry. */
static bool read_entry(struct slice bytes, const struct message_info *message,
                       struct wire_field *ret_key, struct wire_field *ret_value)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct wire_field field = {0};
    enum err err = wire_next(&reader, &field);

    *ret_key = (struct wire_field){.type = scalar_wire_type(message->fields[0].type)};
    *ret_value = (struct wire_field){.type = scalar_wire_type(message->fields[1].type)};
    for (; err == OK; err = wire_next(&reader, &field)) {
        struct wire_field *target = field.number == 1 ? ret_key : ret_value;

        if (field.number == 1 || field.number == 2) {
            if (field.type != target->type) {
                return false;
            }
            *target = field;
        }
    }
    return err == ERR_NOT_FOUND;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Compares by field, then by key in a map, then by place on the wire. */
static int compare_entries(const struct entry *a, const struct entry *b)
{
    int order = compare_numbers(a->field->number, b->field->number);

    if (order == 0 && a->field->map) {
        order = slice_compare(a->key.bytes, b->key.bytes);
        order = order != 0 ? order : compare_numbers(a->key.value, b->key.value);
    }
    return order != 0 ? order : compare_numbers(a->order, b->order);
}

static void sift_down(struct entry *entries, size_t root, size_t count)
{
    while (2 * root + 1 < count) {
        size_t child = 2 * root + 1;
        struct entry moved = entries[root];

        if (child + 1 < count && compare_entries(&entries[child], &entries[child + 1]) < 0) {
            child++;
        }
        if (compare_entries(&entries[root], &entries[child]) >= 0) {
            return;
        }
        entries[root] = entries[child];
        entries[child] = moved;
        root = child;
    }
}

/* Heapsort, unless the entries are in order. */
static void sort_entries(struct entry *entries, size_t count)
{
    bool is_sorted = true;

    for (size_t i = 1; i < count && is_sorted; i++) {
        is_sorted = compare_entries(&entries[i - 1], &entries[i]) < 0;
    }
    for (size_t root = count / 2; root > 0 && !is_sorted; root--) {
        sift_down(entries, root - 1, count);
    }
    for (; count > 1 && !is_sorted; count--) {
        struct entry last = entries[count - 1];

        entries[count - 1] = entries[0];
        entries[0] = last;
        sift_down(entries, 0, count - 1);
    }
}

static bool add_entry(struct writer *writer, const struct entry *entry)
{
    if (writer->entry_count == writer->entry_capacity) {
        size_t capacity = writer->entry_capacity == 0 ? ENTRIES_FIRST : 2 * writer->entry_capacity;
        struct entry *entries = arena_alloc(writer->ctx->arena, capacity * sizeof(*entries));

        if (entries == NULL) {
            writer->no_memory = true;
            return false;
        }
        if (writer->entry_count > 0) {
            memcpy(entries, writer->entries, writer->entry_count * sizeof(*entries));
        }
        writer->entries = entries;
        writer->entry_capacity = capacity;
    }
    writer->entries[writer->entry_count++] = *entry;
    return true;
}

/* Adds each element of a packed field as an entry. */
static bool add_packed(struct writer *writer, struct entry *entry)
{
    enum wire_type type = scalar_wire_type(entry->field->type);
    struct slice rest = entry->wire.bytes;

    entry->wire.type = type;
    while (rest.size > 0) {
        if (!wire_take_packed(&rest, type, &entry->wire.value) || !add_entry(writer, entry)) {
            return false;
        }
        entry->order++;
    }
    return true;
}

/* Removes the other members of a oneof. */
static void drop_others(struct writer *writer, size_t first, const struct field_info *field)
{
    size_t kept = first;

    for (size_t i = first; i < writer->entry_count; i++) {
        const struct field_info *other = writer->entries[i].field;

        if (other == field || other->oneof != field->oneof) {
            writer->entries[kept++] = writer->entries[i];
        }
    }
    writer->entry_count = kept;
}

static bool list_field(struct writer *writer, size_t first, const struct field_info *field,
                       struct entry *entry)
{
    struct wire_field value = {0};

    entry->field = field;
    if (entry->wire.type != scalar_wire_type(field->type)) {
        return entry->wire.type == WIRE_BYTES && field->repeated &&
               scalar_is_packable(field->type) && add_packed(writer, entry);
    }
    if (field->map && !read_entry(entry->wire.bytes, field->message, &entry->key, &value)) {
        return false;
    }
    if (field->oneof >= 0) {
        drop_others(writer, first, field);
    }
    if (!add_entry(writer, entry)) {
        return false;
    }
    entry->order++;
    return true;
}

/* Lists the known fields of a message, sorted. */
static bool list_fields(struct writer *writer, const struct message_info *message,
                        struct slice bytes)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct entry entry = {0};
    size_t first = writer->entry_count;
    enum err err = wire_next(&reader, &entry.wire);

    for (; err == OK; err = wire_next(&reader, &entry.wire)) {
        const struct field_info *field = contract_find_field(message, entry.wire.number);

        if (field != NULL && !list_field(writer, first, field, &entry)) {
            return false;
        }
    }
    if (writer->entry_count > first) {
        sort_entries(writer->entries + first, writer->entry_count - first);
    }
    return err == ERR_NOT_FOUND;
}

/* Opens a frame for a message; the caller writes the braces. */
static void push_frame(struct writer *writer, const struct message_info *message,
                       struct slice bytes, bool is_bare)
{
    struct frame *frame = NULL;
    size_t first = writer->entry_count;

    if (writer->depth == CHECK_DEPTH_MAX || !list_fields(writer, message, bytes)) {
        fail_write(writer);
        return;
    }
    frame = &writer->frames[writer->depth++];
    *frame = (struct frame){
        .message = message,
        .first = first,
        .next = first,
        .end = writer->entry_count,
        .is_bare = is_bare,
    };
}

static void push_bare(struct writer *writer, const struct message_info *message, struct slice bytes)
{
    push_frame(writer, message, bytes, true);
    if (!writer->malformed) {
        put_open(writer, message->fields[0].map ? '{' : '[');
        top_frame(writer)->in_list = true;
        top_frame(writer)->list_end = top_frame(writer)->end;
    }
}

/* Begins a Value by its last field; an empty Value is null. */
static void begin_value(struct writer *writer, const struct message_info *message,
                        struct slice bytes)
{
    size_t first = writer->entry_count;
    struct entry entry;

    if (!list_fields(writer, message, bytes)) {
        fail_write(writer);
        return;
    }
    if (writer->entry_count == first) {
        put_text(writer, SLICE("null"));
        return;
    }
    entry = writer->entries[writer->entry_count - 1];
    writer->entry_count = first;
    if (entry.field->type == FIELD_MESSAGE) {
        push_bare(writer, entry.field->message, entry.wire.bytes);
    } else if (entry.field->type == FIELD_DOUBLE &&
               !isfinite(scalar_double(FIELD_DOUBLE, entry.wire.value))) {
        fail_write(writer); /* the value cannot be expressed in JSON */
    } else {
        put_scalar(writer, entry.field, &entry.wire);
    }
}

static void put_wrapped(struct writer *writer, const struct message_info *message,
                        struct slice bytes)
{
    const struct field_info *field = &message->fields[0];
    size_t first = writer->entry_count;
    struct wire_field wire = {.type = scalar_wire_type(field->type)};

    if (!list_fields(writer, message, bytes)) {
        fail_write(writer);
        return;
    }
    if (writer->entry_count > first) {
        wire = writer->entries[writer->entry_count - 1].wire;
    }
    writer->entry_count = first;
    put_scalar(writer, field, &wire);
}

/* Reads type and content of an Any. */
static bool read_any(struct slice bytes, struct slice *ret_url, struct slice *ret_content)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct wire_field field = {0};
    enum err err = wire_next(&reader, &field);

    *ret_url = slice_of(NULL, 0);
    *ret_content = slice_of(NULL, 0);
    for (; err == OK; err = wire_next(&reader, &field)) {
        if (field.number == ANY_TYPE_URL || field.number == ANY_VALUE) {
            if (field.type != WIRE_BYTES) {
                return false;
            }
            *(field.number == ANY_TYPE_URL ? ret_url : ret_content) = field.bytes;
        }
    }
    return err == ERR_NOT_FOUND;
}

static const struct message_info *find_any_type(struct slice url)
{
    const uint8_t *slash = url.size > 0 ? memrchr(url.data, '/', url.size) : NULL;

    return slash == NULL ? NULL
                         : contract_find_message(slice_after(url, (size_t)(slash + 1 - url.data)));
}

/* Writes a message that is a single JSON value; false for one that opens a frame. */
static bool put_known(struct writer *writer, const struct message_info *message, struct slice bytes)
{
    bool is_good = true;

    switch (message->well_known) {
    case MESSAGE_TIMESTAMP:
        is_good = known_write_timestamp(bytes, writer->json);
        break;
    case MESSAGE_DURATION:
        is_good = known_write_duration(bytes, writer->json);
        break;
    case MESSAGE_FIELD_MASK:
        is_good = known_write_field_mask(bytes, writer->json);
        break;
    case MESSAGE_WRAPPER:
        put_wrapped(writer, message, bytes);
        break;
    case MESSAGE_PLAIN:
    case MESSAGE_EMPTY:
    case MESSAGE_STRUCT:
    case MESSAGE_VALUE:
    case MESSAGE_LIST_VALUE:
    case MESSAGE_ANY:
        return false;
    }
    if (!is_good) {
        fail_write(writer);
    }
    return true;
}

/* Writes a message other than an Any, or opens its frame. */
static void begin_message(struct writer *writer, const struct message_info *message,
                          struct slice bytes)
{
    if (put_known(writer, message, bytes)) {
        return;
    }
    if (message->well_known == MESSAGE_STRUCT || message->well_known == MESSAGE_LIST_VALUE) {
        push_bare(writer, message, bytes);
        return;
    }
    if (message->well_known == MESSAGE_VALUE) {
        begin_value(writer, message, bytes);
        return;
    }
    push_frame(writer, message, bytes, false);
    if (!writer->malformed) {
        put_open(writer, '{');
    }
}

static void put_name(struct writer *writer, struct slice name)
{
    put_separator(writer, &top_frame(writer)->has_members);
    json_write_string(writer->json, name, false);
    put_colon(writer);
}

static void put_field_name(struct writer *writer, const struct field_info *field)
{
    put_name(writer, writer->style->plain ? plain_name(field) : field->json_name);
}

/* Opens the frame and the brace of an Any, with its type as the first member. */
static bool push_any(struct writer *writer, const struct message_info *message, struct slice url,
                     struct slice bytes)
{
    push_frame(writer, message, bytes, false);
    if (writer->malformed || writer->no_memory) {
        return false;
    }
    put_open(writer, '{');
    put_name(writer, SLICE("@type"));
    put_string(writer, url);
    return true;
}

/* Writes an Any as its type and the fields of its content, or as a `value` of the content's special
 * JSON form, which may be an Any again. */
static void begin_any(struct writer *writer, const struct message_info *any, struct slice bytes)
{
    const struct message_info *message = any;
    struct slice url = {NULL, 0};

    while (message->well_known == MESSAGE_ANY) {
        if (!read_any(bytes, &url, &bytes)) {
            fail_write(writer);
            return;
        }
        if (url.size == 0) {
            put_text(writer, SLICE("{}"));
            return;
        }
        message = find_any_type(url);
        if (message == NULL) {
            fail_write(writer); /* the type is unknown, so there is no JSON for it */
            return;
        }
        if (message->well_known == MESSAGE_PLAIN || message->well_known == MESSAGE_EMPTY) {
            (void)push_any(writer, message, url, bytes);
            return;
        }
        if (!push_any(writer, any, url, slice_of(NULL, 0))) {
            return;
        }
        put_name(writer, SLICE("value"));
    }
    begin_message(writer, message, bytes);
}

/* Writes the value of one field or element. */
static void begin_field_value(struct writer *writer, const struct field_info *field,
                              const struct wire_field *wire)
{
    if (field->type != FIELD_MESSAGE) {
        put_scalar(writer, field, wire);
    } else if (field->message->well_known == MESSAGE_ANY) {
        begin_any(writer, field->message, wire->bytes);
    } else {
        begin_message(writer, field->message, wire->bytes);
    }
}

/* Returns the concatenated pieces of a message, of entries `first` to `end`. */
static struct slice join_pieces(struct writer *writer, size_t first, size_t end)
{
    struct buffer whole;

    if (first + 1 == end) {
        return writer->entries[first].wire.bytes;
    }
    buffer_init(&whole, writer->ctx->arena, 0);
    for (size_t i = first; i < end; i++) {
        buffer_append(&whole, writer->entries[i].wire.bytes);
    }
    writer->no_memory = writer->no_memory || !buffer_ok(&whole);
    return buffer_slice(&whole);
}

/* Returns whether plain JSON has the value twice; only for values that are not messages. */
static bool repeats(const struct field_info *field)
{
    return field->plain != NULL && field->plain->repeat.size > 0 && field->type != FIELD_MESSAGE;
}

static void write_single(struct writer *writer, size_t first, size_t end)
{
    struct entry entry = writer->entries[end - 1];
    bool is_message = entry.field->type == FIELD_MESSAGE;

    if (is_message) {
        entry.wire.bytes = join_pieces(writer, first, end);
    } else if (!writer->style->plain && !entry.field->optional && entry.wire.value == 0 &&
               entry.wire.bytes.size == 0) {
        return; /* the wire has a default value */
    }
    put_field_name(writer, entry.field);
    begin_field_value(writer, entry.field, &entry.wire);
    if (writer->style->plain && repeats(entry.field)) {
        put_name(writer, entry.field->plain->repeat);
        begin_field_value(writer, entry.field, &entry.wire);
    }
}

/* Writes the next field of a message, or the start of its list. */
static void write_field(struct writer *writer)
{
    struct frame *frame = top_frame(writer);
    const struct field_info *field = writer->entries[frame->next].field;
    size_t first = frame->next;
    size_t end = first;

    while (end < frame->end && writer->entries[end].field == field) {
        end++;
    }
    if (!plain_wants(writer->style, writer->depth, field)) {
        frame->next = end;
        return;
    }
    if (!field->repeated) {
        frame->next = end;
        write_single(writer, first, end);
        return;
    }
    frame->in_list = true;
    frame->list_end = end;
    frame->has_elements = false;
    put_field_name(writer, field);
    put_open(writer, field->map ? '{' : '[');
}

/* Writes the next field of a message in plain JSON if it is absent, unless it belongs to a oneof;
 * false if the next field is present, or none is left. */
static bool write_absent(struct writer *writer)
{
    struct frame *frame = top_frame(writer);
    const struct field_info *field = NULL;

    if (frame->is_bare || frame->message->well_known != MESSAGE_PLAIN ||
        frame->passed == frame->message->count) {
        return false;
    }
    field = &frame->message->fields[frame->passed++];
    if (frame->next < frame->end && writer->entries[frame->next].field == field) {
        return false;
    }
    if (field->oneof >= 0 || !plain_wants(writer->style, writer->depth, field)) {
        return true;
    }
    put_field_name(writer, field);
    plain_write_absent(field, writer->json);
    if (repeats(field)) {
        put_name(writer, field->plain->repeat);
        plain_write_absent(field, writer->json);
    }
    return true;
}

static bool is_overwritten(const struct writer *writer, size_t index, size_t end)
{
    const struct entry *entry = &writer->entries[index];

    return index + 1 < end && slice_equal(entry->key.bytes, entry[1].key.bytes) &&
           entry->key.value == entry[1].key.value;
}

static void write_element(struct writer *writer)
{
    struct frame *frame = top_frame(writer);
    struct entry entry = writer->entries[frame->next];
    const struct message_info *message = entry.field->message;
    struct wire_field value = entry.wire;

    if (entry.field->map && is_overwritten(writer, frame->next, frame->list_end)) {
        frame->next++;
        return;
    }
    frame->next++;
    put_separator(writer, &frame->has_elements);
    if (!entry.field->map) {
        begin_field_value(writer, entry.field, &value);
        return;
    }
    if (!read_entry(entry.wire.bytes, message, &entry.key, &value)) {
        fail_write(writer);
        return;
    }
    put_key(writer, &message->fields[0], &entry.key);
    put_colon(writer);
    begin_field_value(writer, &message->fields[1], &value);
}

static void write_next(struct writer *writer)
{
    struct frame *frame = top_frame(writer);

    if (frame->in_list && frame->next < frame->list_end) {
        write_element(writer);
        return;
    }
    if (frame->in_list) {
        bool is_map = frame->is_bare ? frame->message->fields[0].map
                                     : writer->entries[frame->list_end - 1].field->map;

        frame->in_list = false;
        put_close(writer, is_map ? '}' : ']', frame->has_elements);
        return;
    }
    if (writer->style->plain && write_absent(writer)) {
        return;
    }
    if (frame->next < frame->end) {
        write_field(writer);
        return;
    }
    if (!frame->is_bare) {
        put_close(writer, '}', frame->has_members);
    }
    writer->entry_count = frame->first;
    writer->depth--;
}

enum err proto_json_write(struct ctx *ctx, const struct message_info *message, struct slice wire,
                          const struct proto_json_style *style, struct buffer *json)
{
    const struct field_info top_field = {.type = FIELD_MESSAGE, .message = message};
    const struct wire_field top_value = {.type = WIRE_BYTES, .bytes = wire};
    struct writer writer;

    memset(&writer, 0, offsetof(struct writer, frames));
    writer.ctx = ctx;
    writer.json = json;
    writer.style = style;
    writer.indent = style->indent;
    begin_field_value(&writer, &top_field, &top_value);
    while (writer.depth > 0 && !writer.malformed && !writer.no_memory && buffer_ok(json)) {
        write_next(&writer);
    }
    if (writer.no_memory || !buffer_ok(json)) {
        return ERR_MEMORY;
    }
    return writer.malformed ? ERR_MALFORMED : OK;
}
