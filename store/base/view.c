/*
 * view.c: reads and writes members by memcpy at their offset, so that no struct is needed here.
 */
#include "store/base/view.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"

#define FIELD_NUMBER_END UINT32_MAX
/* A oneof's number is a bit in the set of seen oneofs. */
#define ONEOF_MAX 31

/* State of reading a message's fields once. */
struct view_reading {
    const struct view_type *type;
    uint8_t *view;
    uint16_t at; /* the last field read of the table, or the first */
    uint32_t last_number; /* number of the last field, known or unknown; 0: none yet */
    uint32_t oneofs; /* bits of the oneofs that were read */
};

static void store_member(void *view, uint16_t offset, const void *value, size_t size)
{
    memcpy((uint8_t *)view + offset, value, size);
}

static void load_member(const void *view, uint16_t offset, void *ret_value, size_t size)
{
    memcpy(ret_value, (const uint8_t *)view + offset, size);
}

static enum wire_type wire_type_of(enum view_kind kind)
{
    switch (kind) {
    case VIEW_UINT32:
    case VIEW_INT32:
    case VIEW_UINT64:
    case VIEW_INT64:
    case VIEW_SINT64:
    case VIEW_BOOL:
        return WIRE_VARINT;
    case VIEW_FIXED64:
        return WIRE_FIXED64;
    case VIEW_TEXT:
    case VIEW_ARRAY:
    case VIEW_UUID:
    case VIEW_TIME:
    case VIEW_MESSAGE:
        return WIRE_BYTES;
    }
    return WIRE_BYTES;
}

static bool is_packed(const struct view_field *entry)
{
    return entry->repeated && wire_type_of((enum view_kind)entry->kind) != WIRE_BYTES;
}

/* --- reading --- */

static bool read_number(const struct view_field *entry, uint64_t raw, uint8_t *view)
{
    uint32_t low = (uint32_t)raw;
    bool is_true = raw != 0;

    switch ((enum view_kind)entry->kind) {
    case VIEW_UINT32:
        store_member(view, entry->offset, &low, sizeof(low));
        return raw <= UINT32_MAX;
    case VIEW_INT32:
        store_member(view, entry->offset, &low, sizeof(low));
        return (int64_t)raw >= INT32_MIN && (int64_t)raw <= INT32_MAX &&
               (entry->is_value == NULL || entry->is_value((int32_t)low));
    case VIEW_UINT64:
    case VIEW_INT64:
    case VIEW_FIXED64:
        store_member(view, entry->offset, &raw, sizeof(raw));
        return true;
    case VIEW_SINT64:
        raw = raw >> 1 ^ (0 - (raw & 1));
        store_member(view, entry->offset, &raw, sizeof(raw));
        return true;
    case VIEW_BOOL:
        store_member(view, entry->offset, &is_true, sizeof(is_true));
        return raw <= 1;
    case VIEW_TEXT:
    case VIEW_ARRAY:
    case VIEW_UUID:
    case VIEW_TIME:
    case VIEW_MESSAGE:
        break;
    }
    return false;
}

static bool read_bytes(const struct view_field *entry, struct slice bytes, uint8_t *view)
{
    struct uuid uuid;
    int64_t time_us = 0;

    if (entry->kind == VIEW_UUID) {
        bool ok = uuid_parse(bytes, &uuid);

        if (ok) {
            store_member(view, entry->offset, &uuid, sizeof(uuid));
        }
        return ok;
    }
    if (entry->kind == VIEW_TIME) {
        bool ok = wire_read_timestamp(bytes, &time_us) == OK;

        store_member(view, entry->offset, &time_us, sizeof(time_us));
        return ok;
    }
    if (entry->kind == VIEW_ARRAY) {
        if (bytes.size == entry->size) {
            store_member(view, entry->offset, bytes.data, bytes.size);
        }
        return bytes.size == entry->size;
    }
    store_member(view, entry->offset, &bytes, sizeof(bytes));
    return true;
}

/* Reads a packed field, and checks each element once. */
static bool read_packed(const struct view_field *entry, struct slice bytes, uint8_t *view)
{
    enum wire_type type = wire_type_of((enum view_kind)entry->kind);
    struct view_list list = {.run = bytes};
    struct slice rest = bytes;
    uint64_t raw = 0;

    while (wire_take_packed(&rest, type, &raw)) {
        if (entry->is_value != NULL && !entry->is_value((int32_t)raw)) {
            return false;
        }
        list.count++;
    }
    store_member(view, entry->offset, &list, sizeof(list));
    return rest.size == 0;
}

/* Adds an element to a list of texts or messages: its run grows to `end`. */
static void grow_list(const struct view_field *entry, struct slice whole_field, uint8_t *view)
{
    struct view_list list;

    load_member(view, entry->offset, &list, sizeof(list));
    if (list.count == 0) {
        list.run.data = whole_field.data;
    }
    list.run.size = (size_t)(whole_field.data + whole_field.size - list.run.data);
    list.count++;
    store_member(view, entry->offset, &list, sizeof(list));
}

/* Returns the table's entry for a field; NULL for an unknown number. Numbers ascend, so the search
 * continues at its last position. */
static const struct view_field *find_entry(struct view_reading *reading, uint32_t number)
{
    while (reading->at < reading->type->count &&
           reading->type->fields[reading->at].number < number) {
        reading->at++;
    }
    if (reading->at == reading->type->count ||
        reading->type->fields[reading->at].number != number) {
        return NULL;
    }
    return &reading->type->fields[reading->at];
}

static bool note_presence(struct view_reading *reading, const struct view_field *entry)
{
    bool present = true;

    if (entry->has_offset != VIEW_ALWAYS) {
        store_member(reading->view, entry->has_offset, &present, sizeof(present));
    }
    if (entry->oneof == 0) {
        return true;
    }
    ASSERT(entry->oneof <= ONEOF_MAX);
    if ((reading->oneofs & 1u << entry->oneof) != 0) {
        return false;
    }
    reading->oneofs |= 1u << entry->oneof;
    return true;
}

/* Reads one field; `whole_field` is all of its bytes, including the tag. */
static bool read_field(struct view_reading *reading, const struct wire_field *field,
                       struct slice whole_field)
{
    bool again = field->number == reading->last_number;
    const struct view_field *entry = NULL;

    if (field->number < reading->last_number) {
        return false;
    }
    reading->last_number = field->number;
    entry = find_entry(reading, field->number);
    if (entry == NULL) {
        return true;
    }
    if (is_packed(entry)) {
        return !again && field->type == WIRE_BYTES &&
               read_packed(entry, field->bytes, reading->view);
    }
    if (field->type != wire_type_of((enum view_kind)entry->kind)) {
        return false;
    }
    if (entry->repeated) {
        grow_list(entry, whole_field, reading->view);
        return true;
    }
    if (again || !note_presence(reading, entry)) {
        return false;
    }
    return field->type == WIRE_BYTES ? read_bytes(entry, field->bytes, reading->view)
                                     : read_number(entry, field->value, reading->view);
}

/* Reads up to the first field whose number is `end` or higher, where `message` then begins. */
static bool read_fields(struct view_reading *reading, uint32_t end, struct slice *message)
{
    struct wire_reader reader = wire_reader_of(*message);
    struct wire_field field;

    while (reader.rest.size > 0) {
        struct slice rest = reader.rest;

        if (wire_next(&reader, &field) != OK) {
            return false;
        }
        if (field.number >= end) {
            *message = rest;
            return true;
        }
        if (!read_field(reading, &field,
                        slice_of(rest.data, (size_t)(reader.rest.data - rest.data)))) {
            return false;
        }
    }
    *message = reader.rest;
    return true;
}

/* Returns whether the member is present: set, or different from the zero of an absent one. */
static bool is_present(const struct view_field *entry, const void *view)
{
    static const uint8_t zeros[sizeof(struct uuid)];
    const uint8_t *member = (const uint8_t *)view + entry->offset;
    struct slice text;
    bool present = false;

    if (entry->has_offset != VIEW_ALWAYS) {
        load_member(view, entry->has_offset, &present, sizeof(present));
        return present;
    }
    switch ((enum view_kind)entry->kind) {
    case VIEW_UINT32:
    case VIEW_INT32:
        return memcmp(member, zeros, sizeof(uint32_t)) != 0;
    case VIEW_UINT64:
    case VIEW_INT64:
    case VIEW_SINT64:
    case VIEW_FIXED64:
    case VIEW_TIME:
        return memcmp(member, zeros, sizeof(uint64_t)) != 0;
    case VIEW_BOOL:
        return *member != 0;
    case VIEW_UUID:
        return memcmp(member, zeros, sizeof(struct uuid)) != 0;
    case VIEW_ARRAY:
        return !bytes_are_zero(member, entry->size);
    case VIEW_TEXT:
    case VIEW_MESSAGE:
        load_member(view, entry->offset, &text, sizeof(text));
        return text.size > 0;
    }
    return false;
}

/* Returns the run of a list. */
static struct slice run_of(const struct view_field *entry, const void *view)
{
    struct view_list list;

    load_member(view, entry->offset, &list, sizeof(list));
    return list.run;
}

/* Checks the fields with numbers from `first` to below `end`. */
static bool is_complete(const struct view_type *type, uint32_t first, uint32_t end,
                        const void *view)
{
    for (uint16_t i = 0; i < type->count && type->fields[i].number < end; i++) {
        const struct view_field *entry = &type->fields[i];
        bool present = entry->repeated ? run_of(entry, view).size > 0 : is_present(entry, view);

        if (entry->number >= first && entry->always_set && !present) {
            return false;
        }
    }
    return true;
}

enum err view_read_parts(const struct view_type *type, struct slice facts, struct slice content,
                         void *ret_view)
{
    struct view_reading reading = {.type = type, .view = ret_view};

    memset(ret_view, 0, type->size);
    return read_fields(&reading, FIELD_NUMBER_END, &facts) &&
                   read_fields(&reading, FIELD_NUMBER_END, &content) &&
                   is_complete(type, 0, FIELD_NUMBER_END, ret_view)
               ? OK
               : ERR_CORRUPT;
}

enum err view_read_range(const struct view_type *type, struct slice message, uint32_t first,
                         uint32_t end, void *ret_view, struct slice *ret_rest)
{
    struct view_reading reading = {.type = type, .view = ret_view, .last_number = first - 1};

    ASSERT(first > 0 && first < end);
    memset(ret_view, 0, type->size);
    if (!read_fields(&reading, end, &message) || !is_complete(type, first, end, ret_view)) {
        return ERR_CORRUPT;
    }
    *ret_rest = message;
    return OK;
}

enum err view_read(const struct view_type *type, struct slice message, void *ret_view)
{
    return view_read_parts(type, message, slice_of(NULL, 0), ret_view);
}

bool view_next(struct slice *run, struct slice *ret_element)
{
    struct wire_reader reader = wire_reader_of(*run);
    struct wire_field field;

    if (wire_next(&reader, &field) != OK || field.type != WIRE_BYTES) {
        return false;
    }
    *run = reader.rest;
    *ret_element = field.bytes;
    return true;
}

bool view_next_number(struct slice *run, uint64_t *ret_number)
{
    return wire_take_packed(run, WIRE_VARINT, ret_number);
}

bool view_next_fixed(struct slice *run, uint64_t *ret_number)
{
    return wire_take_packed(run, WIRE_FIXED64, ret_number);
}

/* --- writing --- */

/* Returns the raw bits of a number for a varint or fixed64; negative ones take ten bytes. */
static uint64_t load_number(const struct view_field *entry, const void *view)
{
    uint32_t low = 0;
    uint64_t raw = 0;
    bool is_true = false;

    switch ((enum view_kind)entry->kind) {
    case VIEW_UINT32:
        load_member(view, entry->offset, &low, sizeof(low));
        return low;
    case VIEW_INT32:
        load_member(view, entry->offset, &low, sizeof(low));
        return (uint64_t)(int64_t)(int32_t)low;
    case VIEW_BOOL:
        load_member(view, entry->offset, &is_true, sizeof(is_true));
        return is_true ? 1 : 0;
    case VIEW_UINT64:
    case VIEW_INT64:
    case VIEW_SINT64:
    case VIEW_FIXED64:
    case VIEW_TIME:
    case VIEW_TEXT:
    case VIEW_ARRAY:
    case VIEW_UUID:
    case VIEW_MESSAGE:
        break;
    }
    load_member(view, entry->offset, &raw, sizeof(raw));
    return entry->kind == VIEW_SINT64 ? raw << 1 ^ (0 - (raw >> 63)) : raw;
}

static int64_t load_time(const struct view_field *entry, const void *view)
{
    int64_t time_us = 0;

    load_member(view, entry->offset, &time_us, sizeof(time_us));
    return time_us;
}

static struct slice load_text(const struct view_field *entry, const void *view)
{
    struct slice text;

    load_member(view, entry->offset, &text, sizeof(text));
    return text;
}

static size_t bytes_field_size(uint32_t number, size_t size)
{
    return wire_header_bytes(number, size) + size;
}

/* Returns the size of one field that is present and not repeated. */
static size_t field_bytes(const struct view_field *entry, const void *view)
{
    size_t tag = wire_varint_bytes((uint64_t)entry->number << 3);

    switch ((enum view_kind)entry->kind) {
    case VIEW_UINT32:
    case VIEW_INT32:
    case VIEW_UINT64:
    case VIEW_INT64:
    case VIEW_SINT64:
    case VIEW_BOOL:
        return tag + wire_varint_bytes(load_number(entry, view));
    case VIEW_FIXED64:
        return tag + sizeof(uint64_t);
    case VIEW_UUID:
        return bytes_field_size(entry->number, UUID_TEXT_BYTES);
    case VIEW_ARRAY:
        return bytes_field_size(entry->number, entry->size);
    case VIEW_TIME:
        return bytes_field_size(entry->number, wire_timestamp_bytes(load_time(entry, view)));
    case VIEW_TEXT:
    case VIEW_MESSAGE:
        return bytes_field_size(entry->number, load_text(entry, view).size);
    }
    return 0;
}

size_t view_bytes(const struct view_type *type, const void *view)
{
    size_t size = 0;

    for (uint16_t i = 0; i < type->count; i++) {
        const struct view_field *entry = &type->fields[i];

        if (entry->repeated) {
            size_t run_size = run_of(entry, view).size;

            size += run_size > 0 && is_packed(entry) ? bytes_field_size(entry->number, run_size)
                                                     : run_size;
        } else if (is_present(entry, view)) {
            size += field_bytes(entry, view);
        }
    }
    return size;
}

static void write_uuid(const struct view_field *entry, const void *view, struct buffer *buffer)
{
    struct uuid uuid;
    char text[UUID_TEXT_BYTES];

    load_member(view, entry->offset, &uuid, sizeof(uuid));
    uuid_format(uuid, text);
    wire_put_bytes(buffer, entry->number, slice_of(text, sizeof(text)));
}

static void write_field(const struct view_field *entry, const void *view, struct buffer *buffer)
{
    switch ((enum view_kind)entry->kind) {
    case VIEW_UINT32:
    case VIEW_INT32:
    case VIEW_UINT64:
    case VIEW_INT64:
    case VIEW_SINT64:
    case VIEW_BOOL:
        ASSERT(entry->is_value == NULL || entry->is_value((int32_t)load_number(entry, view)));
        wire_put_varint(buffer, entry->number, load_number(entry, view));
        return;
    case VIEW_FIXED64:
        wire_put_raw(buffer, entry->number, WIRE_FIXED64, load_number(entry, view));
        return;
    case VIEW_UUID:
        write_uuid(entry, view, buffer);
        return;
    case VIEW_ARRAY:
        wire_put_bytes(buffer, entry->number,
                       slice_of((const uint8_t *)view + entry->offset, entry->size));
        return;
    case VIEW_TIME:
        wire_put_timestamp(buffer, entry->number, load_time(entry, view));
        return;
    case VIEW_TEXT:
    case VIEW_MESSAGE:
        wire_put_bytes(buffer, entry->number, load_text(entry, view));
        return;
    }
}

static void write_list(const struct view_field *entry, const void *view, struct buffer *buffer)
{
    struct slice run = run_of(entry, view);

    if (is_packed(entry)) {
        wire_put_bytes_given(buffer, entry->number, run);
    } else {
        buffer_append(buffer, run);
    }
}

void view_write_range(const struct view_type *type, const void *view, uint32_t first, uint32_t end,
                      struct buffer *buffer)
{
    for (uint16_t i = 0; i < type->count; i++) {
        const struct view_field *entry = &type->fields[i];

        if (entry->number < first || entry->number >= end) {
            continue;
        }
        if (entry->repeated) {
            write_list(entry, view, buffer);
        } else if (is_present(entry, view)) {
            write_field(entry, view, buffer);
        }
    }
}

/* `size` is that of the whole message. */
static void write_sized(const struct view_type *type, const void *view, size_t size,
                        struct buffer *buffer)
{
    size_t before = buffer->size;

    if (!buffer_reserve(buffer, size + WIRE_OVERHEAD_BYTES)) {
        return;
    }
    view_write_range(type, view, 0, FIELD_NUMBER_END, buffer);
    ASSERT(!buffer_ok(buffer) || buffer->size - before == size);
}

void view_write(const struct view_type *type, const void *view, struct buffer *buffer)
{
    write_sized(type, view, view_bytes(type, view), buffer);
}

void view_put(const struct view_type *type, const void *view, uint32_t number,
              struct buffer *buffer)
{
    size_t size = view_bytes(type, view);

    wire_put_header(buffer, number, size);
    write_sized(type, view, size, buffer);
}

bool view_encode(const struct view_type *type, const void *view, struct arena *arena,
                 struct slice *ret_message)
{
    size_t size = view_bytes(type, view);
    struct buffer buffer;

    buffer_init(&buffer, arena, size + WIRE_OVERHEAD_BYTES);
    write_sized(type, view, size, &buffer);
    *ret_message = buffer_slice(&buffer);
    return buffer_ok(&buffer);
}

bool view_encode_parts(const struct view_type *type, const void *view, struct arena *arena,
                       struct slice *ret_facts, struct slice *ret_content)
{
    size_t size = view_bytes(type, view);
    struct buffer buffer;
    size_t facts_bytes = 0;

    buffer_init(&buffer, arena, size + WIRE_OVERHEAD_BYTES);
    view_write_range(type, view, 0, VIEW_CONTENT_FIELD_MIN, &buffer);
    facts_bytes = buffer.size;
    view_write_range(type, view, VIEW_CONTENT_FIELD_MIN, FIELD_NUMBER_END, &buffer);
    ASSERT(!buffer_ok(&buffer) || buffer.size == size);
    *ret_facts = slice_of(buffer.data, facts_bytes);
    *ret_content = slice_after(buffer_slice(&buffer), facts_bytes);
    return buffer_ok(&buffer);
}
