/*
 * view.c: see view.h.
 */
#include "tools/errata/engine/view.h"

#include "store/base/assert.h"
#include "store/base/sha256.h"
#include "store/base/uuid.h"
#include "tools/errata/analytics/analytics.h"
#include "tools/errata/engine/view_cells.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/terminal/csv.h"

#include <stdlib.h>

/* Maximum ids of one page that are compared. */
#define IDS_MAX 1000

struct view_column {
    const char *message;
    const char *title;
    const char *path;
    struct slice (*cell)(struct cli *cli, struct json_value object, const char *name);
    unsigned leave;
    unsigned min;
};

struct view_csv_column {
    const char *message;
    const char *path;
};

static const struct view_column columns[] = {
#define COLUMN(message, title, path, cell, leave, min) {message, title, path, cell, leave, min},
#define FIELD(message, title, path, cell)
#define CSV(message, path)
#include "tools/errata/engine/resources.def"
#undef COLUMN
#undef FIELD
#undef CSV
};

static const struct view_column lines[] = {
#define COLUMN(message, title, path, cell, leave, min)
#define FIELD(message, title, path, cell) {message, title, path, cell, 0, 0},
#define CSV(message, path)
#include "tools/errata/engine/resources.def"
#undef COLUMN
#undef FIELD
#undef CSV
};

static const struct view_csv_column csv_columns[] = {
#define COLUMN(message, title, path, cell, leave, min)
#define FIELD(message, title, path, cell)
#define CSV(message, path) {message, path},
#include "tools/errata/engine/resources.def"
#undef COLUMN
#undef FIELD
#undef CSV
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- descriptors --- */

static struct slice short_name(const struct message_info *message)
{
    struct slice name = message->full_name;

    for (size_t i = name.size; i > 0; i--) {
        if (name.data[i - 1] == '.') {
            return slice_after(name, i);
        }
    }
    return name;
}

static bool is_named(const struct message_info *message, const char *name)
{
    return slice_equal(short_name(message), slice_text(name));
}

const struct message_info *view_message(const char *name)
{
    for (uint32_t i = 0; i < contract_message_count; i++) {
        if (slice_starts_with(contract_messages[i]->full_name, SLICE("errata.v1.")) &&
            is_named(contract_messages[i], name)) {
            return contract_messages[i];
        }
    }
    ASSERT(false);
    return NULL;
}

const struct field_info *view_field_named(const struct message_info *message, struct slice name)
{
    for (uint32_t i = 0; i < message->count; i++) {
        if (slice_equal(message->fields[i].name, name)) {
            return &message->fields[i];
        }
    }
    return NULL;
}

/* Removes the first component of a path, and returns it. */
static struct slice take_component(const char **path)
{
    const char *dot = strchr(*path, '.');
    size_t size = dot != NULL ? (size_t)(dot - *path) : strlen(*path);
    struct slice component = slice_of(*path, size);

    *path += size + (dot != NULL ? 1 : 0);
    return component;
}

const struct field_info *view_find_field(const struct message_info *message, const char *path)
{
    const struct field_info *field = NULL;

    while (path[0] != '\0') {
        field = view_field_named(message, take_component(&path));
        ASSERT(field != NULL);
        ASSERT(path[0] == '\0' || field->message != NULL);
        message = field->message;
    }
    return field;
}

/* Returns the object that contains the member of a path. */
static struct json_value find_holder(const struct message_info *message, struct json_value row,
                                     const char *path)
{
    while (strchr(path, '.') != NULL) {
        const struct field_info *field = view_field_named(message, take_component(&path));

        row = reply_member(row, (const char *)field->json_name.data);
        message = field->message;
    }
    return row;
}

static bool is_number(const struct field_info *field)
{
    switch (field->type) {
    case FIELD_DOUBLE:
    case FIELD_FLOAT:
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_INT32:
    case FIELD_UINT32:
    case FIELD_FIXED64:
    case FIELD_FIXED32:
    case FIELD_SFIXED64:
    case FIELD_SFIXED32:
    case FIELD_SINT64:
    case FIELD_SINT32:
        return !field->repeated;
    case FIELD_BOOL:
    case FIELD_STRING:
    case FIELD_MESSAGE:
    case FIELD_BYTES:
    case FIELD_ENUM:
        break;
    }
    return false;
}

static bool is_real(const struct field_info *field)
{
    return field->type == FIELD_DOUBLE || field->type == FIELD_FLOAT;
}

static bool is_time(const struct field_info *field)
{
    return field->type == FIELD_MESSAGE && field->message->well_known == MESSAGE_TIMESTAMP;
}

static bool is_fingerprint(const struct field_info *field)
{
    return slice_equal(field->name, SLICE("layout_fingerprint"));
}

static bool is_id(const struct field_info *field)
{
    return field->rules.format == FORMAT_UUID || slice_equal(field->name, SLICE("id"));
}

/* Returns the common prefix of the values of an enum, such as MAPPING_STATUS_. */
static const char *enum_prefix(struct arena *arena, const struct enum_info *info)
{
    const struct enum_value_info *value = &info->values[0];
    struct slice prefix =
        arena_printf(arena, "%.*s", (int)(value->name.size - value->short_name.size),
                     (const char *)value->name.data);

    return prefix.size > 0 ? (const char *)prefix.data : "";
}

/* --- cells --- */

struct slice view_member(struct cli *cli, struct json_value object, const struct field_info *field,
                         bool full)
{
    const char *name = (const char *)field->json_name.data;

    if (field->repeated) {
        return reply_list(cli, object, name);
    }
    if (is_time(field)) {
        return full ? reply_full_time(cli, object, name) : reply_moment(cli, object, name);
    }
    if (field->type == FIELD_ENUM) {
        return reply_word(cli, object, name, enum_prefix(&cli->arena, field->enumeration));
    }
    if (field->type == FIELD_BOOL) {
        return reply_text(cli, object, name).size > 0 ? SLICE("yes") : SLICE("");
    }
    if (is_number(field) && !is_real(field) && !field->optional) {
        return reply_count(cli, object, name);
    }
    if (is_real(field) && reply_text(cli, object, name).size > 0) {
        return reply_number(cli, object, name);
    }
    return reply_text(cli, object, name);
}

static struct slice column_text(struct cli *cli, const struct message_info *message,
                                const struct view_column *column, struct json_value row, bool full)
{
    const struct field_info *field = view_find_field(message, column->path);
    struct json_value holder = find_holder(message, row, column->path);

    if (column->cell != NULL) {
        return column->cell(cli, holder, field != NULL ? (const char *)field->json_name.data : "");
    }
    ASSERT(field != NULL);
    return view_member(cli, holder, field, full);
}

/* --- tables --- */

/* Sets the properties of a column from its descriptor: ids, times, numbers and words are never
 * truncated. */
static void describe(struct view *view, size_t index)
{
    const struct view_column *spec = view->specs[index];
    const struct field_info *field = view->fields[index];
    struct table_column *column = &view->columns[index];
    bool never_cut = field != NULL && (is_number(field) || is_time(field) || is_id(field) ||
                                       field->type == FIELD_ENUM || field->type == FIELD_BOOL ||
                                       field->rules.format == FORMAT_KEY_ID);

    *column = (struct table_column){.title = spec->title, .extra = spec->leave, .min = spec->min};
    column->cut = never_cut ? TABLE_NEVER_CUT : TABLE_CUT_END;
    if (field != NULL) {
        column->right = is_number(field) ||
                        (field->type == FIELD_MESSAGE && !field->repeated && !is_time(field));
        column->colour = is_id(field) ? COLOUR_DIM : COLOUR_NONE;
    }
}

void view_init(struct view *view, const struct message_info *message)
{
    *view = (struct view){.message = message};
    for (size_t i = 0; i < COUNT(columns); i++) {
        if (is_named(message, columns[i].message)) {
            ASSERT(view->count < TABLE_COLUMNS_MAX);
            view->specs[view->count] = &columns[i];
            view->fields[view->count] = view_find_field(message, columns[i].path);
            describe(view, view->count);
            view->count++;
        }
    }
}

/* Returns whether the value is an id that the server creates, or a measured fingerprint; other
 * fingerprints are any text. */
static bool may_shorten(const struct field_info *field, struct slice text)
{
    return (is_id(field) && text.size == UUID_TEXT_BYTES) ||
           (is_fingerprint(field) && text.size == 2 * SHA256_BYTES);
}

void view_cells(struct cli *cli, const struct view *view, struct json_value row,
                struct slice *cells)
{
    for (size_t i = 0; i < view->count; i++) {
        cells[i] = column_text(cli, view->message, view->specs[i], row, false);
        if (view->id_bytes[i] > 0 && may_shorten(view->fields[i], cells[i])) {
            cells[i].size = view->id_bytes[i];
        }
    }
}

enum cli_exit view_table(struct cli *cli, const struct view *view, struct json_value reply,
                         const char *rows, view_colour *colour, struct table *ret_table)
{
    struct reply_walk walk = reply_walk(reply, rows);
    struct table table;

    table_init(&table, &cli->arena, view->columns, view->count);
    while (reply_next(&walk)) {
        struct slice cells[TABLE_COLUMNS_MAX] = {{NULL, 0}};

        view_cells(cli, view, walk.row, cells);
        if (!table_add(&table, cells)) {
            return cli_local(cli, "out of memory");
        }
        if (colour != NULL) {
            colour(cli, walk.row, &table);
        }
    }
    *ret_table = table;
    return CLI_OK;
}

/* --- short ids --- */

static int compare_slices(const void *a, const void *b)
{
    const struct slice *left = a;
    const struct slice *right = b;
    size_t size = left->size < right->size ? left->size : right->size;
    int order = size > 0 ? memcmp(left->data, right->data, size) : 0;

    return order != 0 ? order : (left->size > right->size) - (left->size < right->size);
}

static size_t common_bytes(struct slice a, struct slice b)
{
    size_t size = 0;

    while (size < a.size && size < b.size && a.data[size] == b.data[size]) {
        size++;
    }
    return size;
}

/* Returns the shortest prefix length at which all different ids differ; a prefix does not end in a
 * dash. */
static size_t unique_bytes(struct slice *ids, size_t count)
{
    size_t bytes = VIEW_ID_BYTES_MIN;

    qsort(ids, count, sizeof(*ids), compare_slices);
    for (size_t i = 1; i < count; i++) {
        size_t common = common_bytes(ids[i - 1], ids[i]);

        if (!slice_equal(ids[i - 1], ids[i]) && common >= bytes) {
            bytes = common + 1;
        }
    }
    if (count > 0 && ids[0].size > bytes && ids[0].data[bytes - 1] == '-') {
        bytes++;
    }
    return bytes;
}

static void shorten_column(struct cli *cli, struct view *view, size_t index,
                           struct json_value reply, const char *rows)
{
    const struct field_info *field = view->fields[index];
    struct reply_walk walk = reply_walk(reply, rows);
    struct slice *ids = arena_calloc(&cli->arena, IDS_MAX, sizeof(*ids));
    size_t count = 0;

    while (ids != NULL && reply_next(&walk)) {
        struct slice id = reply_text(cli, walk.row, (const char *)field->json_name.data);

        if (count == IDS_MAX) {
            return;
        }
        if (may_shorten(field, id)) {
            ids[count++] = id;
        }
    }
    view->id_bytes[index] = ids != NULL ? unique_bytes(ids, count) : 0;
}

void view_shorten_ids(struct cli *cli, struct view *view, struct json_value reply, const char *rows)
{
    for (size_t i = 0; cli->out.terminal && i < view->count; i++) {
        const struct field_info *field = view->fields[i];

        view->id_bytes[i] = 0;
        if (field != NULL && view->specs[i]->cell == NULL &&
            (is_id(field) || is_fingerprint(field))) {
            shorten_column(cli, view, i, reply, rows);
        }
    }
}

/* --- lines --- */

void view_print_fields(struct cli *cli, const struct message_info *message,
                       struct json_value object)
{
    const char *longest = "";

    for (size_t i = 0; i < COUNT(lines); i++) {
        if (is_named(message, lines[i].message) && strlen(lines[i].title) > strlen(longest) &&
            column_text(cli, message, &lines[i], object, true).size > 0) {
            longest = lines[i].title;
        }
    }
    reply_align_members(cli, longest);
    for (size_t i = 0; i < COUNT(lines); i++) {
        if (is_named(message, lines[i].message)) {
            reply_print_member(cli, lines[i].title,
                               column_text(cli, message, &lines[i], object, true));
        }
    }
}

enum cli_exit view_print_table(struct cli *cli, const char *message, struct json_value reply,
                               const char *rows, view_colour *colour)
{
    struct view view;
    struct table table = {.row_count = 0};
    enum cli_exit result = CLI_OK;

    view_init(&view, view_message(message));
    view_shorten_ids(cli, &view, reply, rows);
    result = view_table(cli, &view, reply, rows, colour, &table);
    if (result == CLI_OK && table.row_count > 0) {
        print_text(&cli->out, "%s", cli->out.used ? "\n" : "");
        table_print(&table, &cli->out);
    }
    return result;
}

/* --- CSV --- */

bool view_csv_wanted(const struct cli *cli)
{
    return options_has(&cli->options, "csv");
}

enum cli_exit view_csv_check(struct cli *cli)
{
    return view_csv_wanted(cli) && cli->json
               ? cli_usage(cli, "--csv: given together with --json; expected only one of them")
               : CLI_OK;
}

enum cli_exit view_csv_print(struct cli *cli, const struct slice *fields, size_t count)
{
    struct slice shown[VIEW_CSV_FIELDS_MAX];
    struct buffer record;

    ASSERT(count <= VIEW_CSV_FIELDS_MAX);
    for (size_t i = 0; i < count; i++) {
        shown[i] = cli->out.terminal
                       ? print_letters(&cli->out, &cli->arena, print_clean(&cli->arena, fields[i]))
                       : fields[i];
    }
    buffer_init(&record, &cli->arena, 256);
    csv_write(&record, shown, count);
    if (!buffer_ok(&record)) {
        return cli_local(cli, "out of memory");
    }
    print_bytes(&cli->out, buffer_slice(&record));
    return CLI_OK;
}

/* Returns the path with `_` for dots. */
static struct slice csv_title(struct cli *cli, const char *path)
{
    struct buffer title;

    buffer_init(&title, &cli->arena, strlen(path));
    for (; path[0] != '\0'; path++) {
        buffer_append_byte(&title, path[0] == '.' ? '_' : (uint8_t)path[0]);
    }
    return buffer_slice(&title);
}

/* Formats a member in full by its descriptor, including zeros, false and empty lists, which proto
 * JSON omits. */
static struct slice csv_text(struct cli *cli, struct json_value object,
                             const struct field_info *field)
{
    const char *name = (const char *)field->json_name.data;
    struct slice text =
        field->repeated ? reply_list(cli, object, name) : reply_text(cli, object, name);

    if (field->type == FIELD_ENUM) {
        return reply_word(cli, object, name, enum_prefix(&cli->arena, field->enumeration));
    }
    if (text.size > 0 || field->repeated || field->optional) {
        return text;
    }
    if (field->type == FIELD_BOOL) {
        return SLICE("false");
    }
    return is_number(field) && !is_real(field) ? SLICE("0") : text;
}

static void append_field(struct cli *cli, const struct message_info *message, const char *path,
                         const struct json_value *object, struct slice *ret_field)
{
    *ret_field = object == NULL ? csv_title(cli, path)
                                : csv_text(cli, find_holder(message, *object, path),
                                           view_find_field(message, path));
}

/* Appends the fields of a message whose columns are not messages. */
static void append_plain(struct cli *cli, const struct message_info *message,
                         const struct json_value *object, struct slice *fields, size_t *count)
{
    for (size_t i = 0; i < COUNT(csv_columns); i++) {
        if (is_named(message, csv_columns[i].message)) {
            ASSERT(*count < VIEW_CSV_FIELDS_MAX);
            append_field(cli, message, csv_columns[i].path, object, &fields[(*count)++]);
        }
    }
}

void view_csv_append(struct cli *cli, const struct message_info *message,
                     const struct json_value *object, struct slice *fields, size_t *count)
{
    for (size_t i = 0; i < COUNT(csv_columns); i++) {
        const char *path = csv_columns[i].path;
        const struct field_info *field =
            is_named(message, csv_columns[i].message) ? view_find_field(message, path) : NULL;

        if (field == NULL) {
            continue;
        }
        ASSERT(*count < VIEW_CSV_FIELDS_MAX);
        if (field->type == FIELD_MESSAGE && field->message->well_known == MESSAGE_PLAIN) {
            struct json_value member =
                object != NULL ? reply_member(*object, (const char *)field->json_name.data)
                               : (struct json_value){JSON_NULL, {NULL, 0}};

            append_plain(cli, field->message, object != NULL ? &member : NULL, fields, count);
        } else {
            append_field(cli, message, path, object, &fields[(*count)++]);
        }
    }
}

enum cli_exit view_csv_heading(struct cli *cli, const struct message_info *message)
{
    struct slice titles[VIEW_CSV_FIELDS_MAX];
    size_t count = 0;

    view_csv_append(cli, message, NULL, titles, &count);
    return view_csv_print(cli, titles, count);
}

enum cli_exit view_csv_rows(struct cli *cli, const struct message_info *message,
                            struct json_value reply, const char *rows)
{
    struct reply_walk walk = reply_walk(reply, rows);
    enum cli_exit result = CLI_OK;

    while (result == CLI_OK && reply_next(&walk)) {
        struct slice fields[VIEW_CSV_FIELDS_MAX];
        size_t count = 0;

        view_csv_append(cli, message, &walk.row, fields, &count);
        result = view_csv_print(cli, fields, count);
    }
    return result;
}
