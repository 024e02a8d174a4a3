/*
 * judge.c: see judge.h. The server checks the values, and names rows as judgements[N]: the file is one request, so
 * larger files are refused.
 */
#include "tools/errata/mappings/judge.h"

#include "tools/errata/engine/csv_input.h"
#include "tools/errata/engine/reply.h"

#include <strings.h>

/* Maximum number of rows of one call. */
#define ROWS_MAX 1000

enum {
    COLUMN_CUSTOMER,
    COLUMN_SKU,
    COLUMN_INTERNAL,
    COLUMN_STATUS,
    COLUMN_CONFIDENCE,
    COLUMN_COUNT
};

static const struct csv_input_column columns[COLUMN_COUNT] = {
    [COLUMN_CUSTOMER] = {"customer_id", true},
    [COLUMN_SKU] = {"customer_sku", true},
    [COLUMN_INTERNAL] = {"internal_sku", true},
    [COLUMN_STATUS] = {"status", false},
    [COLUMN_CONFIDENCE] = {"confidence", false}};

/* The member of a judgement for each status of a row; an empty status selects the first one. */
static const struct {
    const char *status;
    const char *member;
    bool is_judged; /* judged by a person, in a draft */
} kinds[] = {
    {"CONFIRMED", "confirm", true}, {"REJECTED", "reject", true}, {"SUGGESTED", "suggest", false}};

/* Returns the index of a status; SIZE_MAX for an unknown one. */
static size_t find_kind(struct slice status)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (status.size == strlen(kinds[i].status) &&
            strncasecmp((const char *)status.data, kinds[i].status, status.size) == 0) {
            return i;
        }
    }
    return status.size == 0 ? 0 : SIZE_MAX;
}

/* Adds an option's value as a member, if it is given. */
static void add_option(struct request *row, struct cli *cli, const char *option, const char *member)
{
    if (options_has(&cli->options, option)) {
        request_text(row, member, slice_text(options_get(&cli->options, option)));
    }
}

/* Appends the judgement of the current row. */
static enum cli_exit add_row(struct cli *cli, const struct csv_input *csv, struct buffer *array)
{
    struct slice status = csv_input_field(csv, COLUMN_STATUS);
    size_t kind = find_kind(status);
    struct request row;

    if (kind == SIZE_MAX) {
        return cli_usage(cli,
                         "%s line %llu: status: unknown value '%.*s'; expected CONFIRMED, REJECTED "
                         "or SUGGESTED",
                         csv->path, (unsigned long long)csv_input_line(csv),
                         (int)(status.size < 64 ? status.size : 64), (const char *)status.data);
    }
    request_begin(&row, cli);
    request_open(&row, kinds[kind].member);
    request_text(&row, "customer_id", csv_input_field(csv, COLUMN_CUSTOMER));
    request_text(&row, "customer_sku", csv_input_field(csv, COLUMN_SKU));
    request_text(&row, "internal_sku", csv_input_field(csv, COLUMN_INTERNAL));
    if (kinds[kind].is_judged) {
        add_option(&row, cli, "draft", "draft_order_id");
        add_option(&row, cli, "document", "document_id");
        add_option(&row, cli, "actor", "actor_user_id");
    } else if (csv_input_field(csv, COLUMN_CONFIDENCE).size > 0) {
        request_text(&row, "confidence", csv_input_field(csv, COLUMN_CONFIDENCE));
    }
    request_close(&row);
    buffer_append(array, array->size > 1 ? SLICE(",") : SLICE(""));
    buffer_append(array, request_end(&row));
    return CLI_OK;
}

static enum cli_exit add_rows(struct cli *cli, struct csv_input *csv, struct buffer *array)
{
    enum cli_exit result = CLI_OK;
    bool row = true;

    for (size_t count = 0; result == CLI_OK && row; count++) {
        result = csv_input_next(csv, &row);
        if (result == CLI_OK && row && count == ROWS_MAX) {
            return cli_usage(cli,
                             "%s: more than %d rows; expected at most that many in one call, or "
                             "`errata mappings import`, which has no limit",
                             csv->path, ROWS_MAX);
        }
        if (result == CLI_OK && row) {
            result = add_row(cli, csv, array);
        }
    }
    return result;
}

enum cli_exit judge_fill(struct request *request, struct cli *cli)
{
    const char *path = options_get(&cli->options, "file");
    struct csv_input csv = {.cli = cli};
    struct buffer array;
    FILE *file = NULL;
    enum cli_exit result = csv_input_file(cli, path, &file);

    buffer_init(&array, &cli->arena, 4096);
    buffer_append_byte(&array, '[');
    if (result == CLI_OK) {
        result = csv_input_open(&csv, cli, path, file);
    }
    if (result == CLI_OK) {
        result = csv_input_find(&csv, columns, COLUMN_COUNT);
    }
    if (result == CLI_OK) {
        result = add_rows(cli, &csv, &array);
    }
    csv_input_close(&csv);
    buffer_append_byte(&array, ']');
    if (result == CLI_OK && !buffer_ok(&array)) {
        return cli_local(cli, "out of memory");
    }
    if (result == CLI_OK) {
        request_raw(request, "judgements", buffer_slice(&array));
    }
    return result;
}

enum cli_exit judge_print(struct cli *cli, struct json_value reply)
{
    struct reply_walk walk = reply_walk(reply, "judged");
    unsigned events = 0;
    unsigned count = 0;

    while (reply_next(&walk)) {
        print_line(&cli->out, reply_text(cli, walk.row, "mappingId"));
        events += reply_text(cli, walk.row, "eventId").size > 0 ? 1 : 0;
        count++;
    }
    cli_note(cli, "%u mapping%s judged, %u unchanged", count, count == 1 ? "" : "s",
             count - events);
    return CLI_OK;
}
