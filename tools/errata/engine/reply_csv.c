/*
 * reply_csv.c: see reply_csv.h.
 */
#include "tools/errata/engine/reply_csv.h"

#include "store/base/assert.h"
#include "tools/errata/terminal/csv.h"

bool reply_csv_wanted(const struct cli *cli)
{
    return options_has(&cli->options, "csv");
}

enum cli_exit reply_csv_check(struct cli *cli)
{
    if (reply_csv_wanted(cli) && cli->json) {
        return cli_usage(cli, "--csv and --json: one of both");
    }
    return CLI_OK;
}

enum cli_exit reply_csv_print(struct cli *cli, const struct slice *fields, size_t count)
{
    struct slice shown[REPLY_CSV_COLUMNS_MAX];
    struct buffer record;

    ASSERT(count <= REPLY_CSV_COLUMNS_MAX);
    for (size_t i = 0; i < count; i++) {
        shown[i] = fields[i];
        if (cli->out.terminal) {
            shown[i] = print_letters(&cli->out, &cli->arena, print_clean(&cli->arena, fields[i]));
        }
    }
    buffer_init(&record, &cli->arena, 256);
    csv_write(&record, shown, count);
    if (!buffer_ok(&record)) {
        return cli_local(cli, "out of memory");
    }
    print_bytes(&cli->out, buffer_slice(&record));
    return CLI_OK;
}

enum cli_exit reply_csv_heading(struct cli *cli, const struct reply_csv *csv)
{
    struct slice titles[REPLY_CSV_COLUMNS_MAX];

    ASSERT(csv->count <= REPLY_CSV_COLUMNS_MAX);
    for (size_t i = 0; i < csv->count; i++) {
        titles[i] = slice_text(csv->columns[i].title);
    }
    return reply_csv_print(cli, titles, csv->count);
}

/* Goes into the messages that stand before the last dot; gives what is behind it. */
static const char *find_object(struct json_value *object, const char *path, struct arena *arena)
{
    for (const char *dot = strchr(path, '.'); dot != NULL; dot = strchr(path, '.')) {
        struct slice name = {NULL, 0};

        if (!arena_copy(arena, slice_of(path, (size_t)(dot - path)), &name)) {
            return path;
        }
        *object = reply_member(*object, (const char *)name.data);
        path = dot + 1;
    }
    return path;
}

static struct slice member_text(struct cli *cli, struct json_value row,
                                const struct reply_csv_column *column)
{
    const char *name = find_object(&row, column->member, &cli->arena);
    struct slice text = {NULL, 0};

    switch (column->kind) {
    case REPLY_CSV_TEXT:
        return reply_text(cli, row, name);
    case REPLY_CSV_COUNT:
        text = reply_text(cli, row, name);
        return text.size > 0 ? text : SLICE("0");
    case REPLY_CSV_TRUTH:
        text = reply_text(cli, row, name);
        return text.size > 0 ? text : SLICE("false");
    case REPLY_CSV_WORD:
        return reply_word(cli, row, name, column->prefix);
    case REPLY_CSV_LIST:
        return reply_list(cli, row, name);
    }
    return text;
}

enum cli_exit reply_csv_row(struct cli *cli, struct json_value row, const struct reply_csv *csv)
{
    struct slice fields[REPLY_CSV_COLUMNS_MAX];

    ASSERT(csv->count <= REPLY_CSV_COLUMNS_MAX);
    for (size_t i = 0; i < csv->count; i++) {
        fields[i] = member_text(cli, row, &csv->columns[i]);
    }
    return reply_csv_print(cli, fields, csv->count);
}

enum cli_exit reply_csv_rows(struct cli *cli, struct json_value reply, const char *name,
                             const struct reply_csv *csv)
{
    struct json_walk walk = reply_walk(reply, name);
    struct json_value row = {JSON_NULL, {NULL, 0}};
    struct slice key = {NULL, 0};

    while (json_walk_next(&walk, &key, &row)) {
        enum cli_exit result = reply_csv_row(cli, row, csv);

        if (result != CLI_OK) {
            return result;
        }
    }
    return CLI_OK;
}

enum cli_exit reply_csv_table(struct cli *cli, struct json_value reply, const char *name,
                              const struct reply_csv *csv)
{
    enum cli_exit result = reply_csv_heading(cli, csv);

    return result == CLI_OK ? reply_csv_rows(cli, reply, name, csv) : result;
}
