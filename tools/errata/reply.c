/*
 * reply.c: see reply.h.
 */
#include "tools/errata/reply.h"

/* 2026-11-21T08:30:00 */
#define TIME_TO_SECONDS_BYTES 19

enum cli_exit reply_parse(struct cli *cli, struct slice json, struct json_value *ret_value)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_problem problem = {NULL, 0};
    enum err err = json_check(&cli->arena, json, &rules, ret_value, &problem);

    if (err != OK) {
        return cli_local(cli, "the reply's JSON can't be read: %s",
                         problem.what != NULL ? problem.what : err_text(err));
    }
    return CLI_OK;
}

struct json_value reply_member(struct json_value object, const char *name)
{
    struct json_value value = {JSON_OBJECT, SLICE("{}")};

    if (object.kind == JSON_OBJECT && json_member(object, slice_text(name), &value)) {
        return value;
    }
    return (struct json_value){JSON_OBJECT, SLICE("{}")};
}

static struct slice value_text(struct cli *cli, struct json_value value)
{
    struct slice text = value.text;

    if (value.kind == JSON_STRING && json_string(&cli->arena, value.text, &text) != OK) {
        return slice_of(NULL, 0);
    }
    return text;
}

struct slice reply_text(struct cli *cli, struct json_value object, const char *name)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};

    if (object.kind != JSON_OBJECT || !json_member(object, slice_text(name), &value) ||
        value.kind == JSON_NULL) {
        return slice_of(NULL, 0);
    }
    return value_text(cli, value);
}

struct slice reply_word(struct cli *cli, struct json_value object, const char *name,
                        const char *prefix)
{
    struct slice word = reply_text(cli, object, name);

    if (slice_starts_with(word, slice_text(prefix))) {
        word = slice_after(word, strlen(prefix));
    }
    return word;
}

struct slice reply_time(struct cli *cli, struct json_value object, const char *name)
{
    struct slice text = reply_text(cli, object, name);

    if (text.size < TIME_TO_SECONDS_BYTES) {
        return text;
    }
    return arena_printf(&cli->arena, "%.10s %.8s", (const char *)text.data,
                        (const char *)text.data + 11);
}

struct json_walk reply_walk(struct json_value object, const char *name)
{
    struct json_value value = {JSON_ARRAY, SLICE("[]")};

    if (object.kind != JSON_OBJECT || !json_member(object, slice_text(name), &value) ||
        value.kind != JSON_ARRAY) {
        value = (struct json_value){JSON_ARRAY, SLICE("[]")};
    }
    return json_walk_start(value);
}

struct slice reply_list(struct cli *cli, struct json_value object, const char *name)
{
    struct json_walk walk = reply_walk(object, name);
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct buffer list;

    buffer_init(&list, &cli->arena, 64);
    while (json_walk_next(&walk, &key, &value)) {
        if (list.size > 0) {
            buffer_append(&list, SLICE(", "));
        }
        buffer_append(&list, value_text(cli, value));
    }
    return buffer_slice(&list);
}

enum cli_exit reply_table(struct cli *cli, struct json_value object, const struct reply_rows *rows,
                          struct table *ret_table)
{
    struct json_walk walk = reply_walk(object, rows->name);
    struct json_value row = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};
    struct slice cells[TABLE_COLUMNS_MAX];
    struct table table;

    table_init(&table, &cli->arena, rows->columns, rows->column_count);
    while (json_walk_next(&walk, &key, &row)) {
        memset(cells, 0, sizeof(cells));
        rows->cells(cli, row, cells);
        if (!table_add(&table, cells)) {
            return cli_local(cli, "out of memory");
        }
    }
    *ret_table = table;
    return CLI_OK;
}
