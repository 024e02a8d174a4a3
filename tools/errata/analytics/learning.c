/*
 * learning.c: `errata analytics learning`: corrections and learning results in a range of days, as
 * sentences, plots and tables, or one of its tables as CSV.
 */
#include "tools/errata/analytics/analytics.h"
#include "tools/errata/engine/command_call.h"
#include "tools/errata/engine/input.h"
#include "tools/errata/layouts/measures.h"
#include "tools/errata/terminal/plot.h"
#include "tools/errata/terminal/wrap.h"

#include <stdlib.h>

/* Maximum length of a bar in a table, on a narrow screen and on others. */
#define BAR_CELLS_NARROW 20
#define BAR_CELLS 30
#define NARROW_COLUMNS 80
/* Maximum number of printed layouts; `coverage` lists all of them. */
#define LAYOUT_ROWS 10

/* --- plots --- */

/* The values of one array of days. */
struct days {
    struct plot_point *points;
    struct slice *labels;
    size_t count;
    bool has_data;
};

static double number_of(struct cli *cli, struct json_value row, const char *name)
{
    double value = 0;

    (void)measures_double(cli, row, name, &value); /* proto JSON omits 0 */
    return value;
}

/* Reads the value of each day, and its weight in a mean: the member `weight_name`, or 1. */
static bool read_days(struct cli *cli, struct reply_walk walk, const char *value_name,
                      const char *weight_name, struct days *ret_days)
{
    struct days days = {.count = 0};

    days.points = arena_calloc(&cli->arena, ANALYTICS_DAYS_MAX, sizeof(*days.points));
    days.labels = arena_calloc(&cli->arena, ANALYTICS_DAYS_MAX, sizeof(*days.labels));
    if (days.points == NULL || days.labels == NULL) {
        return false;
    }
    while (days.count < ANALYTICS_DAYS_MAX && reply_next(&walk)) {
        struct plot_point *point = &days.points[days.count];

        days.labels[days.count++] = print_clean(&cli->arena, reply_text(cli, walk.row, "date"));
        point->value = number_of(cli, walk.row, value_name);
        point->weight = weight_name != NULL ? number_of(cli, walk.row, weight_name) : 1;
        days.has_data =
            days.has_data || (point->weight > 0 && (weight_name != NULL || point->value > 0));
    }
    *ret_days = days;
    return true;
}

static void print_title(struct cli *cli, const char *title)
{
    print_text(&cli->out, "\n");
    print_coloured(&cli->out, COLOUR_BOLD, slice_text(title));
    print_text(&cli->out, "\n");
}

static enum cli_exit print_plot(struct cli *cli, const char *title, enum plot_kind kind,
                                const struct days *days)
{
    const struct plot plot = {.kind = kind,
                              .points = days->points,
                              .labels = days->labels,
                              .count = days->count,
                              .unit = "days"};

    print_title(cli, title);
    if (days->has_data) {
        plot_print(&cli->out, &cli->arena, &plot);
    } else {
        print_text(&cli->out, "none in these days\n");
    }
    return CLI_OK;
}

/* If mapping events are included, corrections get a separate plot, since an import of mappings
 * would hide them. */
static enum cli_exit print_days(struct cli *cli, struct json_value reply)
{
    struct days events;
    struct days corrections;
    struct days mappings;
    enum cli_exit result = CLI_OK;

    if (!read_days(cli, reply_walk(reply, "eventsByDay"), "count", NULL, &events) ||
        !read_days(cli, reply_walk(reply, "correctionsByDay"), "count", NULL, &corrections) ||
        !read_days(cli, reply_walk(reply, "mappingEventsByDay"), "count", NULL, &mappings)) {
        return cli_local(cli, "out of memory");
    }
    result = print_plot(cli, "Feedback events a day", PLOT_COLUMNS, &events);
    if (result == CLI_OK && mappings.has_data) {
        result =
            print_plot(cli, "Of these, corrections of extractions", PLOT_COLUMNS, &corrections);
    }
    if (result == CLI_OK && mappings.has_data) {
        result =
            print_plot(cli, "Of these, confirmed and rejected mappings", PLOT_COLUMNS, &mappings);
    }
    return result;
}

/* Returns whether the report is of a layout or of a family. */
static bool is_of_part(const struct cli *cli)
{
    return options_has(&cli->options, "layout") || options_has(&cli->options, "family");
}

static enum cli_exit print_confidence(struct cli *cli, struct json_value reply)
{
    struct days days;

    if (!read_days(cli, reply_walk(reply, "confidenceByDay"), "meanConfidence", "extractionCount",
                   &days)) {
        return cli_local(cli, "out of memory");
    }
    return is_of_part(cli) /* layouts and families have no daily means */
               ? CLI_OK
               : print_plot(cli, "Mean confidence of extractions by day", PLOT_MARKS, &days);
}

/* --- tables with bars --- */

/* Returns the count of the first row, which is the largest. */
static double greatest(struct cli *cli, struct json_value reply, const char *name)
{
    struct reply_walk walk = reply_walk(reply, name);

    return reply_next(&walk) ? number_of(cli, walk.row, "count") : 0;
}

static struct slice bar_of(struct cli *cli, struct json_value row, double most)
{
    bool narrow = cli->out.terminal && cli->out.width < NARROW_COLUMNS;

    return plot_bar(&cli->out, &cli->arena, number_of(cli, row, "count") / most,
                    narrow ? BAR_CELLS_NARROW : BAR_CELLS);
}

static enum cli_exit print_types(struct cli *cli, struct json_value reply)
{
    static const struct table_column columns[] = {
        {.title = "TYPE", .cut = TABLE_NEVER_CUT},
        {.title = "EVENTS", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "", .cut = TABLE_NEVER_CUT, .extra = 1, .colour = COLOUR_GREEN}};
    double most = greatest(cli, reply, "byEventType");
    struct reply_walk walk = reply_walk(reply, "byEventType");
    struct table table;

    if (most == 0) {
        return CLI_OK; /* the plot has reported that there is no data */
    }
    print_title(cli, "By type");
    table_init(&table, &cli->arena, columns, sizeof(columns) / sizeof(columns[0]));
    while (reply_next(&walk)) {
        const struct slice cells[] = {
            reply_word(cli, walk.row, "eventType", "FEEDBACK_EVENT_TYPE_"),
            reply_count(cli, walk.row, "count"), bar_of(cli, walk.row, most)};

        if (!table_add(&table, cells)) {
            return cli_local(cli, "out of memory");
        }
    }
    table_print(&table, &cli->out);
    return CLI_OK;
}

/* --- fields --- */

/* A corrected field with its counts for both kinds; a count is unknown if the list of its kind was
 * cut off before the field. */
struct field {
    struct slice name;
    uint64_t count;
    uint64_t lines;
    uint64_t headers;
    bool split; /* the counts of both kinds are known */
};

static uint64_t count_of(struct cli *cli, struct json_value row)
{
    struct slice text = reply_text(cli, row, "count");
    struct slice copy = {NULL, 0};

    return text.size > 0 && arena_copy(&cli->arena, text, &copy)
               ? strtoull((const char *)copy.data, NULL, 10)
               : 0;
}

/* Finds the count of a field in the list of one kind; returns false if it is not listed. */
static bool find_field(struct cli *cli, struct json_value reply, const char *list,
                       struct slice name, uint64_t *ret_count)
{
    struct reply_walk walk = reply_walk(reply, list);

    while (reply_next(&walk)) {
        if (slice_equal(reply_text(cli, walk.row, "field"), name)) {
            *ret_count = count_of(cli, walk.row);
            return true;
        }
    }
    return false;
}

static struct field read_field(struct cli *cli, struct json_value reply, struct json_value row)
{
    struct field field = {.name = reply_text(cli, row, "field"), .count = count_of(cli, row)};

    /* The counts of both kinds add up to the total, so the other one follows. */
    if (find_field(cli, reply, "correctedLineFields", field.name, &field.lines) &&
        field.lines <= field.count) {
        field.headers = field.count - field.lines;
        field.split = true;
    } else if (find_field(cli, reply, "correctedHeaderFields", field.name, &field.headers) &&
               field.headers <= field.count) {
        field.lines = field.count - field.headers;
        field.split = true;
    }
    return field;
}

static struct slice number_text(struct cli *cli, bool known, uint64_t number)
{
    return known ? arena_printf(&cli->arena, "%llu", (unsigned long long)number)
                 : slice_of(NULL, 0);
}

static struct slice grouped_text(struct cli *cli, bool known, uint64_t number)
{
    return reply_grouped(cli, number_text(cli, known, number));
}

static enum cli_exit print_fields(struct cli *cli, struct json_value reply)
{
    static const struct table_column columns[] = {
        {.title = "FIELD", .min = 16},
        {.title = "TIMES", .right = true, .cut = TABLE_NEVER_CUT},
        {.title = "LINES", .right = true, .cut = TABLE_NEVER_CUT, .extra = 2},
        {.title = "HEADERS", .right = true, .cut = TABLE_NEVER_CUT, .extra = 3},
        {.title = "", .cut = TABLE_NEVER_CUT, .extra = 1, .colour = COLOUR_GREEN}};
    double most = greatest(cli, reply, "correctedFields");
    struct reply_walk walk = reply_walk(reply, "correctedFields");
    struct table table;

    print_title(cli, "Fields that were corrected most");
    if (most == 0) {
        print_text(&cli->out, "none in these days\n");
        return CLI_OK;
    }
    table_init(&table, &cli->arena, columns, sizeof(columns) / sizeof(columns[0]));
    while (reply_next(&walk)) {
        struct field field = read_field(cli, reply, walk.row);
        const struct slice cells[] = {field.name, reply_count(cli, walk.row, "count"),
                                      grouped_text(cli, field.split, field.lines),
                                      grouped_text(cli, field.split, field.headers),
                                      bar_of(cli, walk.row, most)};

        if (!table_add(&table, cells)) {
            return cli_local(cli, "out of memory");
        }
    }
    table_print(&table, &cli->out);
    return CLI_OK;
}

/* --- layouts --- */

static enum cli_exit print_layouts(struct cli *cli, struct json_value reply)
{
    bool whole = options_has(&cli->options, "table");
    struct reply_walk walk = reply_walk(reply, "layoutStats");
    struct table table;
    struct view view;
    bool more = false;

    view_init(&view, view_message("LayoutCoverage"));
    view_shorten_ids(cli, &view, reply, "layoutStats");
    table_init(&table, &cli->arena, view.columns, view.count);
    while (reply_next(&walk)) {
        struct slice cells[TABLE_COLUMNS_MAX] = {{NULL, 0}};

        more = !whole && table.row_count == LAYOUT_ROWS;
        if (more) {
            break;
        }
        view_cells(cli, &view, walk.row, cells);
        if (!table_add(&table, cells)) {
            return cli_local(cli, "out of memory");
        }
    }
    print_title(cli, "Layouts, as of now");
    if (table.row_count == 0) {
        print_text(&cli->out, "none are known yet\n");
    }
    table_print(&table, &cli->out);
    if (more) {
        cli_note(cli, "`errata analytics coverage` lists all layouts");
    }
    return CLI_OK;
}

/* --- the tables --- */

static enum cli_exit csv_fields(struct cli *cli, struct json_value reply)
{
    static const struct slice titles[] = {SLICE("field"), SLICE("count"), SLICE("line_count"),
                                          SLICE("header_count")};
    struct reply_walk walk = reply_walk(reply, "correctedFields");
    enum cli_exit result = view_csv_print(cli, titles, sizeof(titles) / sizeof(titles[0]));

    while (result == CLI_OK && reply_next(&walk)) {
        struct field field = read_field(cli, reply, walk.row);
        const struct slice cells[] = {field.name, number_text(cli, true, field.count),
                                      number_text(cli, field.split, field.lines),
                                      number_text(cli, field.split, field.headers)};

        result = view_csv_print(cli, cells, sizeof(cells) / sizeof(cells[0]));
    }
    return result;
}

/* Tables in the order of printing; --csv without --table prints the first one. */
static const struct part {
    const char *name; /* a word of TABLE, see values.c */
    enum cli_exit (*print)(struct cli *cli, struct json_value reply);
    const char *rows; /* the reply's array */
    const char *message; /* message of a row whose CSV lines are printed; NULL: csv_fields */
} parts[] = {{"days", print_days, "eventsByDay", "DayCount"},
             {"types", print_types, "byEventType", "EventTypeCount"},
             {"fields", print_fields, "correctedFields", NULL},
             {"confidence", print_confidence, "confidenceByDay", "DayConfidence"},
             {"layouts", print_layouts, "layoutStats", "LayoutCoverage"}};

#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

/* Finds the table that --table names; NULL with CLI_OK if it is not given. */
static enum cli_exit find_part(struct cli *cli, const struct part **ret_part)
{
    const char *name = options_get(&cli->options, "table");

    *ret_part = NULL;
    for (size_t i = 0; name != NULL && i < PART_COUNT; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            *ret_part = &parts[i];
        }
    }
    return name == NULL || *ret_part != NULL
               ? CLI_OK
               : cli_usage(cli,
                           "--table \"%s\": unknown table; expected one of days, types, fields, "
                           "confidence, layouts",
                           name);
}

static enum cli_exit print_csv(struct cli *cli, const struct part *part, struct json_value reply)
{
    const struct message_info *message = NULL;
    enum cli_exit result = CLI_OK;

    part = part != NULL ? part : &parts[0];
    if (part->message == NULL) {
        return csv_fields(cli, reply);
    }
    message = view_message(part->message);
    result = view_csv_heading(cli, message);
    return result == CLI_OK ? view_csv_rows(cli, message, reply, part->rows) : result;
}

/* --- the command --- */

static void print_sentence(struct cli *cli, struct slice sentence)
{
    wrap_message(&cli->out, 0, 0, sentence);
}

static struct slice count_events(struct cli *cli, struct json_value reply)
{
    struct reply_walk walk = reply_walk(reply, "eventsByDay");
    struct slice digits = {NULL, 0};
    unsigned long long count = 0;

    while (reply_next(&walk)) {
        count += count_of(cli, walk.row);
    }
    digits = reply_grouped(cli, arena_printf(&cli->arena, "%llu", count));
    return arena_printf(&cli->arena, "%.*s feedback event%s", SLICE_ARGS(digits),
                        count == 1 ? "" : "s");
}

static void print_summary(struct cli *cli, struct json_value reply)
{
    struct slice start = reply_text(cli, reply, "startDate");
    struct slice end = reply_text(cli, reply, "endDate");
    struct slice events = count_events(cli, reply);
    struct slice extractions =
        analytics_counted(cli, reply, "extractionCount", "extraction", "extractions");
    struct slice rate = analytics_percent(cli, reply, "correctionRate");
    struct slice confirmed =
        analytics_counted(cli, reply, "mappingConfirmedCount", "time", "times");
    struct slice applied = analytics_counted(cli, reply, "mappingAppliedCount", "line", "lines");

    if (options_has(&cli->options, "family")) { /* extractions are listed by its layouts */
        print_sentence(cli, arena_printf(&cli->arena, "%.*s to %.*s: %.*s.", SLICE_ARGS(start),
                                         SLICE_ARGS(end), SLICE_ARGS(events)));
        return;
    }
    print_sentence(cli, arena_printf(&cli->arena, "%.*s to %.*s: %.*s, %.*s%s%.*s%s.",
                                     SLICE_ARGS(start), SLICE_ARGS(end), SLICE_ARGS(events),
                                     SLICE_ARGS(extractions), rate.size > 0 ? ", " : "",
                                     SLICE_ARGS(rate), rate.size > 0 ? " of them corrected" : ""));
    print_sentence(cli,
                   arena_printf(&cli->arena, "Mappings were confirmed %.*s, and applied to %.*s.",
                                SLICE_ARGS(confirmed), SLICE_ARGS(applied)));
}

enum cli_exit learning_print(struct cli *cli, struct json_value reply)
{
    const struct part *part = NULL;
    enum cli_exit result = find_part(cli, &part);

    if (result == CLI_OK && view_csv_wanted(cli)) {
        return print_csv(cli, part, reply);
    }
    if (result != CLI_OK) {
        return result;
    }
    print_summary(cli, reply);
    if (slice_equal(reply_text(cli, reply, "incomplete"), SLICE("true"))) {
        cli_note(cli, "only the newest 100,000 events were read: older ones are not counted");
    }
    for (size_t i = 0; result == CLI_OK && i < PART_COUNT; i++) {
        if (part == NULL || part == &parts[i]) {
            result = parts[i].print(cli, reply);
        }
    }
    return result;
}

/* Refuses options that exclude each other before the server is asked. */
enum cli_exit learning_check(struct request *request, struct cli *cli)
{
    const struct part *part = NULL;
    enum cli_exit result = view_csv_check(cli);

    (void)request;
    if (result == CLI_OK && options_has(&cli->options, "layout") &&
        options_has(&cli->options, "family")) {
        return cli_usage(cli, "--family: given together with --layout; expected only one of them");
    }
    return result == CLI_OK ? find_part(cli, &part) : result;
}

const struct option_spec learning_options[] = {
    {"start", "DAY", "first day; default: 29 days before the last day"},
    {"end", "DAY", "last day; default: today"},
    {"layout", "LAYOUT", "only this layout: its events and corrected fields"},
    {"family", "FAMILY", "only this layout family: the corrections that are its examples"},
    {"annotator", "ANNOTATOR", "only events by this kind of annotator; may be repeated"},
    {"top", "N", "number of corrected fields, at most 1000 (default 10)"},
    {"table", "TABLE", "print only this table"},
    CSV_OPTION,
    {NULL, NULL, NULL}};
