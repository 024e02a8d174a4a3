/*
 * match.c: see match.h. Lines are sent MATCH_LINES_MAX at a time; the memory of one call is released
 * before the next.
 */
#include "tools/errata/mappings/match.h"

#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/csv_input.h"
#include "tools/errata/engine/fill.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/layouts/measures.h"

#include <errno.h>
#include <stdlib.h>

#define METHOD_PREFIX "MATCH_METHOD_"
/* Maximum size of a line of JSON: a description has up to 4 KiB before escaping. */
#define LINE_BYTES_MAX ((size_t)256 * 1024)

/* A line, in the cli's arena until the result of its call is printed. */
struct line {
    struct slice customer;
    struct slice sku;
};

enum source {
    SOURCE_WORDS,
    SOURCE_CSV,
    SOURCE_JSON
};

struct matching {
    struct cli *cli;
    enum source source;
    size_t next_word; /* next SKU of SOURCE_WORDS */
    struct csv_input csv; /* input of SOURCE_CSV */
    FILE *file; /* owned: of SOURCE_JSON */
    const char *path;
    char *text; /* owned: getline's */
    size_t text_capacity;
    uint64_t line_number; /* line of SOURCE_JSON */
    struct buffer json; /* request with the lines of one call */
    struct line lines[MATCH_LINES_MAX];
    size_t count;
    uint64_t first_line; /* first line in the file */
    uint64_t seen; /* number of lines of earlier calls */
    bool ended;
    struct table_layout layout;
};

/* --- the lines --- */

/* Stores the line and adds it to the request. */
static enum cli_exit add_line(struct matching *matching, const struct line *line,
                              struct slice description)
{
    struct buffer *json = &matching->json;
    struct line *kept = &matching->lines[matching->count];
    struct arena *arena = &matching->cli->arena;

    if (!arena_copy(arena, line->customer, &kept->customer) ||
        !arena_copy(arena, line->sku, &kept->sku)) {
        return cli_local(matching->cli, "out of memory");
    }
    buffer_printf(json, "%s{\"customer_id\":", matching->count > 0 ? "," : "");
    json_write_string(json, line->customer, false);
    buffer_append(json, SLICE(",\"customer_sku\":"));
    json_write_string(json, line->sku, false);
    if (description.size > 0) {
        buffer_append(json, SLICE(",\"description\":"));
        json_write_string(json, description, false);
    }
    buffer_append_byte(json, '}');
    matching->count++;
    return CLI_OK;
}

static enum cli_exit take_word(struct matching *matching)
{
    const struct options *options = &matching->cli->options;
    struct line line = {slice_text(options_get(options, "customer")), {NULL, 0}};

    if (matching->next_word == options->word_count) {
        matching->ended = true;
        return CLI_OK;
    }
    line.sku = slice_text(options->words[matching->next_word++]);
    return add_line(matching, &line, slice_of(NULL, 0));
}

static enum cli_exit take_row(struct matching *matching)
{
    bool row = false;
    enum cli_exit result = csv_input_next(&matching->csv, &row);
    struct line line;

    if (result != CLI_OK || !row) {
        matching->ended = true;
        return result;
    }
    line = (struct line){csv_input_field(&matching->csv, 0), csv_input_field(&matching->csv, 1)};
    matching->line_number = csv_input_line(&matching->csv);
    return add_line(matching, &line, csv_input_field(&matching->csv, 2));
}

/* Returns a member by its name in the contract or in proto JSON. */
static struct slice member(struct cli *cli, struct json_value object, const char *name,
                           const char *json_name)
{
    struct slice text = reply_text(cli, object, name);

    return text.size > 0 ? text : reply_text(cli, object, json_name);
}

static enum cli_exit take_object(struct matching *matching)
{
    struct cli *cli = matching->cli;
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_value object = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {"it is another value", 0};
    struct line line;
    ssize_t size = getline(&matching->text, &matching->text_capacity, matching->file);

    if (size < 0) {
        matching->ended = true;
        return feof(matching->file) != 0
                   ? CLI_OK
                   : cli_local(cli, "%s can't be read: %s", matching->path, strerror(errno));
    }
    matching->line_number++;
    if (strspn(matching->text, " \t\r\n") == (size_t)size) {
        return CLI_OK;
    }
    if ((size_t)size > LINE_BYTES_MAX) {
        return cli_usage(cli, "%s line %llu: too long; expected at most %zu bytes", matching->path,
                         (unsigned long long)matching->line_number, LINE_BYTES_MAX);
    }
    if (json_check(&cli->arena, slice_of(matching->text, (size_t)size), &rules, &object,
                   &problem) != OK ||
        object.kind != JSON_OBJECT) {
        return cli_usage(
            cli, "%s line %llu: invalid JSON: %s (at byte %zu); expected a JSON object",
            matching->path, (unsigned long long)matching->line_number, problem.what, problem.at);
    }
    line = (struct line){member(cli, object, "customer_id", "customerId"),
                         member(cli, object, "customer_sku", "customerSku")};
    return add_line(matching, &line, reply_text(cli, object, "description"));
}

/* Reads the lines of the next call; none at the end. */
static enum cli_exit fill(struct matching *matching)
{
    enum cli_exit result = CLI_OK;

    matching->count = 0;
    buffer_init(&matching->json, &matching->cli->arena, 4096);
    buffer_append(&matching->json, SLICE("["));
    while (result == CLI_OK && !matching->ended && matching->count < MATCH_LINES_MAX) {
        switch (matching->source) {
        case SOURCE_WORDS:
            result = take_word(matching);
            break;
        case SOURCE_CSV:
            result = take_row(matching);
            break;
        case SOURCE_JSON:
            result = take_object(matching);
            break;
        }
        matching->first_line = matching->count <= 1 ? matching->line_number : matching->first_line;
    }
    buffer_append_byte(&matching->json, ']');
    return result;
}

/* --- the answer --- */

enum {
    COLUMN_LINE,
    COLUMN_CUSTOMER,
    COLUMN_SKU,
    COLUMN_METHOD,
    COLUMN_INTERNAL,
    COLUMN_CONFIDENCE,
    COLUMN_SIMILAR,
    COLUMN_MAPPING,
    COLUMN_COUNT
};

/* Destination of rows: the current table, or CSV. */
struct showing {
    struct matching *matching;
    struct table table;
    bool csv;
};

static enum cli_exit show_row(struct showing *showing, const struct slice *cells,
                              enum print_colour colour)
{
    struct cli *cli = showing->matching->cli;

    if (showing->csv) {
        return view_csv_print(cli, cells, COLUMN_COUNT);
    }
    if (!table_add(&showing->table, cells)) {
        return cli_local(cli, "out of memory");
    }
    table_colour(&showing->table, COLUMN_METHOD, colour);
    return CLI_OK;
}

/* Candidates are printed below their line. */
static enum cli_exit show_candidates(struct showing *showing, struct json_value match,
                                     struct slice *cells)
{
    struct cli *cli = showing->matching->cli;
    struct reply_walk walk = reply_walk(match, "candidates");
    enum cli_exit result = CLI_OK;
    bool first = true;

    while (result == CLI_OK && reply_next(&walk)) {
        if (!first && !showing->csv) {
            cells[COLUMN_LINE] = slice_of(NULL, 0);
            cells[COLUMN_CUSTOMER] = slice_of(NULL, 0);
            cells[COLUMN_SKU] = slice_of(NULL, 0);
        }
        first = false;
        cells[COLUMN_METHOD] = reply_word(cli, walk.row, "matchMethod", METHOD_PREFIX);
        cells[COLUMN_INTERNAL] = reply_text(cli, walk.row, "internalSku");
        cells[COLUMN_CONFIDENCE] = showing->csv ? reply_text(cli, walk.row, "confidence")
                                                : measures_share(cli, walk.row, "confidence");
        cells[COLUMN_SIMILAR] = slice_equal(cells[COLUMN_METHOD], SLICE("SIMILAR_SKU"))
                                    ? reply_text(cli, walk.row, "customerSku")
                                    : slice_of(NULL, 0);
        cells[COLUMN_MAPPING] = reply_text(cli, walk.row, "mappingId");
        result = show_row(showing, cells, COLOUR_YELLOW);
    }
    return result;
}

static enum cli_exit show_line(struct showing *showing, const struct line *line, uint64_t number,
                               struct json_value match)
{
    struct cli *cli = showing->matching->cli;
    struct slice method = reply_word(cli, match, "matchMethod", METHOD_PREFIX);
    bool applied = slice_equal(method, SLICE("EXACT_MAPPING"));
    struct slice cells[COLUMN_COUNT] = {
        [COLUMN_LINE] = arena_printf(&cli->arena, "%llu", (unsigned long long)number),
        [COLUMN_CUSTOMER] = line->customer,
        [COLUMN_SKU] = line->sku,
        [COLUMN_METHOD] = method};

    if (!applied && !slice_equal(method, SLICE("NONE"))) {
        return show_candidates(showing, match, cells);
    }
    cells[COLUMN_INTERNAL] = reply_text(cli, match, "internalSku");
    cells[COLUMN_CONFIDENCE] = showing->csv ? reply_text(cli, match, "confidence")
                                            : measures_share(cli, match, "confidence");
    cells[COLUMN_MAPPING] = reply_text(cli, match, "mappingId");
    return show_row(showing, cells, applied ? COLOUR_GREEN : COLOUR_DIM);
}

static const struct table_column columns[COLUMN_COUNT] = {
    [COLUMN_LINE] = {.title = "LINE", .right = true, .cut = TABLE_NEVER_CUT},
    [COLUMN_CUSTOMER] = {.title = "CUSTOMER", .extra = 3},
    [COLUMN_SKU] = {.title = "CUSTOMER SKU", .min = 12},
    [COLUMN_METHOD] = {.title = "METHOD", .cut = TABLE_NEVER_CUT},
    [COLUMN_INTERNAL] = {.title = "INTERNAL SKU", .min = 12},
    [COLUMN_CONFIDENCE] = {.title = "CONFIDENCE",
                           .right = true,
                           .cut = TABLE_NEVER_CUT,
                           .extra = 2},
    [COLUMN_SIMILAR] = {.title = "SIMILAR TO", .min = 10, .extra = 1},
    [COLUMN_MAPPING] = {
        .title = "MAPPING", .cut = TABLE_NEVER_CUT, .extra = 4, .colour = COLOUR_DIM}};

static enum cli_exit show(struct matching *matching, struct json_value reply)
{
    struct cli *cli = matching->cli;
    struct showing showing = {.matching = matching, .csv = view_csv_wanted(cli)};
    struct reply_walk walk = reply_walk(reply, "lines");
    struct slice reference = reply_text(cli, reply, "exposureRef");
    enum cli_exit result = CLI_OK;

    table_init(&showing.table, &cli->arena, columns, COLUMN_COUNT);
    for (size_t i = 0; result == CLI_OK && i < matching->count && reply_next(&walk); i++) {
        result = show_line(&showing, &matching->lines[i], matching->seen + i + 1, walk.row);
    }
    table_print_page(&showing.table, &cli->out, &matching->layout);
    if (reply_text(cli, reply, "incomplete").size > 0) {
        cli_note(cli, "some lines had more candidates than could be examined");
    }
    if (reference.size > 0) {
        cli_note(cli, "reference: %.*s", SLICE_ARGS(reference));
    }
    return result;
}

/* --- the command --- */

#define MATCH_PATH "/errata.v1.MappingService/MatchLines"

static enum cli_exit send_lines(struct matching *matching)
{
    struct cli *cli = matching->cli;
    struct request request;
    struct slice json = {NULL, 0};
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    enum cli_exit result = CLI_OK;

    request_begin(&request, cli);
    request_raw(&request, "lines", buffer_slice(&matching->json));
    result = fill_message(&request, cli, cli_method(MATCH_PATH)->request);
    if (result == CLI_OK) {
        result = cli_call(cli, MATCH_PATH, request_end(&request), &json);
    }
    if (result != CLI_OK) {
        if (matching->first_line > 1) {
            cli_note(cli, "lines[0] is line %llu of %s", (unsigned long long)matching->first_line,
                     matching->path);
        }
        return result;
    }
    if (cli->json) {
        print_json(&cli->out, json);
        return CLI_OK;
    }
    result = reply_parse(cli, json, &reply);
    return result == CLI_OK ? show(matching, reply) : result;
}

static enum cli_exit run_lines(struct matching *matching)
{
    static const struct slice titles[COLUMN_COUNT] = {
        SLICE("line"),         SLICE("customer_id"), SLICE("customer_sku"), SLICE("match_method"),
        SLICE("internal_sku"), SLICE("confidence"),  SLICE("similar_sku"),  SLICE("mapping_id")};
    struct cli *cli = matching->cli;
    enum cli_exit result = CLI_OK;

    if (view_csv_wanted(cli)) {
        result = view_csv_print(cli, titles, COLUMN_COUNT);
    }
    /* The file's end ends the loop: each turn takes MATCH_LINES_MAX lines of it. */
    while (result == CLI_OK && !matching->ended) {
        arena_reset(&cli->arena);
        result = fill(matching);
        if (result == CLI_OK && matching->count > 0) {
            result = send_lines(matching);
        }
        matching->seen += matching->count;
    }
    if (result == CLI_OK && matching->seen == 0) {
        cli_note(cli, "%s has no lines", matching->path);
    }
    return result;
}

/* The first letter distinguishes JSON, whose lines are objects, from CSV. */
static bool is_json(FILE *file, uint64_t *lines)
{
    int letter = ' ';

    while (letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n') {
        letter = getc(file);
        *lines += letter == '\n' ? 1 : 0;
    }
    (void)ungetc(letter, file);
    return letter == '{';
}

static enum cli_exit open_lines(struct matching *matching)
{
    static const struct csv_input_column wanted[] = {
        {"customer_id", true}, {"customer_sku", true}, {"description", false}};
    struct cli *cli = matching->cli;
    FILE *file = NULL;
    enum cli_exit result = csv_input_file(cli, matching->path, &file);

    if (result != CLI_OK) {
        return result;
    }
    if (is_json(file, &matching->line_number)) {
        matching->source = SOURCE_JSON;
        matching->file = file;
        return CLI_OK;
    }
    matching->source = SOURCE_CSV;
    result = csv_input_open(&matching->csv, cli, matching->path, file);
    return result == CLI_OK
               ? csv_input_find(&matching->csv, wanted, sizeof(wanted) / sizeof(wanted[0]))
               : result;
}

static enum cli_exit check_source(struct cli *cli, const char *path)
{
    bool customer = options_has(&cli->options, "customer");

    if (path == NULL && cli->options.word_count == 0) {
        return cli_usage(cli, "SKU: missing; expected SKUs and --customer, or --lines FILE");
    }
    if (path != NULL && cli->options.word_count + (customer ? 1 : 0) > 0) {
        return cli_usage(cli, "--lines: given together with %s; expected only one of them",
                         customer ? "--customer" : "SKUs");
    }
    if (path == NULL && !customer) {
        return cli_usage(cli, "--customer: missing; expected the customer of the SKUs");
    }
    return view_csv_check(cli);
}

enum cli_exit match_run(struct cli *cli)
{
    const char *path = options_get(&cli->options, "lines");
    struct matching *matching = NULL;
    enum cli_exit result = check_source(cli, path);

    if (result == CLI_OK) {
        result =
            cli_connect(cli); /* the settings are allocated in the arena, which is emptied later */
    }
    if (result != CLI_OK) {
        return result;
    }
    matching = calloc(1, sizeof(*matching));
    if (matching == NULL) {
        return cli_local(cli, "out of memory");
    }
    matching->cli = cli;
    matching->path = path != NULL ? path : "the command line";
    if (path != NULL) {
        result = open_lines(matching);
    }
    if (result == CLI_OK) {
        result = run_lines(matching);
    }
    csv_input_close(&matching->csv);
    if (matching->file != NULL && matching->file != stdin) {
        (void)fclose(matching->file);
    }
    free(matching->text);
    free(matching);
    return result;
}

/* --- record --- */

static enum cli_exit fill_record(struct request *request, struct cli *cli)
{
    struct slice reference = {NULL, 0};
    enum cli_exit result = input_printed(cli, cli->options.words[0], &reference);

    request_text(request, "exposure_ref", reference);
    return result;
}

static enum cli_exit print_recorded(struct cli *cli, struct json_value reply)
{
    struct slice count = reply_count(cli, reply, "appliedCount");

    print_line(&cli->out, reply_text(cli, reply, "eventId"));
    cli_note(cli, "%.*s mapping%s counted as used", SLICE_ARGS(count),
             slice_equal(count, SLICE("1")) ? "" : "s");
    return CLI_OK;
}

enum cli_exit match_record_run(struct cli *cli)
{
    static const struct command_call call = {.method = "/errata.v1.MappingService/RecordMatches",
                                             .fill = fill_record,
                                             .print = print_recorded};

    return command_call_once(cli, &call);
}

const struct option_spec match_options[] = {
    {"customer", "CUSTOMER", "the customer of the SKUs on the command line"},
    {"lines", "FILE|-", "file of lines: CSV with a heading, or JSON objects, one per line"},
    {"candidates", "N", "maximum number of candidates per line, 0 to 20 (default 5)"},
    {"as-of-seq", "SEQ", "match with the mappings as of this event"},
    {"as-of", "TIME|SPAN", "match with the mappings as of this time, or this long ago"},
    CSV_OPTION,
    {NULL, NULL, NULL}};
const struct option_spec record_options[] = {
    {"draft", "ID", "the draft order that was matched"},
    {"actor", "USER", "the acting user, if the token is not bound to one"},
    {"created-at", "TIME|SPAN",
     "time of the match, to import past ones; needs INTEGRATOR or ADMIN"},
    {"idempotency-key", "KEY", "key that makes the write safe to repeat for 24 hours"},
    {NULL, NULL, NULL}};
