/*
 * compare.c: see compare.h. Reports are read as JSON text that was checked; numbers are kept as written,
 * so that nothing is rounded twice.
 */
#include "tools/bench/compare.h"

#include "tools/bench/load/file.h"
#include "tools/errata/terminal/csv.h"
#include "tools/errata/terminal/table.h"

#include <stdio.h>
#include <stdlib.h>

/* The nesting of a report: a percentile in a list of a tally of a run of a list. */
#define REPORT_DEPTH_MAX 16
#define NUMBER_BYTES 64
/* Maximum size of a quoted setting; a longer one, such as the mix, is only named. */
#define QUOTED_BYTES_MAX 40
/* Maximum problems of one report that are quoted. */
#define PROBLEMS_MAX 4

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data

/* A figure, and its path in a report: names of members with slashes between them. */
struct figure {
    const char *name;
    const char *path;
};

static const struct figure run_figures[] = {
    {"calls/s", "rate"},
    {"mean, us", "total/latency_us/mean"},
    {"p50, us", "total/latency_us/p50"},
    {"p90, us", "total/latency_us/p90"},
    {"p99, us", "total/latency_us/p99"},
    {"p99.9, us", "total/latency_us/p99_9"},
    {"max, us", "total/latency_us/max"},
    {"wrong answers", "wrong"},
    {"server CPU, us a call", "server/cpu_us_per_call"},
    {"server CPU in user mode, us a call", "server/user_us_per_call"},
    {"server CPU in the kernel, us a call", "server/system_us_per_call"},
    {"server context switches a call", "server/context_switches_per_call"},
    {"server memory, bytes", "server/rss_anon_bytes"},
    {"server memory at most, bytes", "server/rss_peak_bytes"},
    {"client CPU, us a call", "client/cpu_us_per_call"},
    {NULL, NULL}};

static const struct figure call_figures[] = {{"calls/s", "rate"},
                                             {"mean, us", "latency_us/mean"},
                                             {"p50, us", "latency_us/p50"},
                                             {"p99, us", "latency_us/p99"},
                                             {NULL, NULL}};

/* One of the two reports. */
struct side {
    const char *path;
    uint8_t *bytes; /* owned; everything else is borrowed from it */
    struct json_value root;
    struct json_value run; /* the compared run */
};

/* --- JSON --- */

/* Follows a path of members. Returns false if one is missing or null. */
static bool find(struct json_value from, const char *path, struct json_value *ret_value)
{
    const char *at = path;

    while (*at != '\0') {
        size_t size = strcspn(at, "/");

        if (from.kind != JSON_OBJECT || !json_member(from, slice_of(at, size), &from)) {
            return false;
        }
        at += at[size] == '/' ? size + 1 : size;
    }
    *ret_value = from;
    return from.kind != JSON_NULL;
}

static bool find_kind(struct json_value from, const char *path, enum json_kind kind,
                      struct json_value *ret_value)
{
    return find(from, path, ret_value) && ret_value->kind == kind;
}

/* Returns a text without its quotes and escapes; empty if it is missing. */
static struct slice find_text(struct arena *arena, struct json_value from, const char *path)
{
    struct json_value value;
    struct slice text = {NULL, 0};

    if (!find_kind(from, path, JSON_STRING, &value) ||
        json_string(arena, value.text, &text) != OK) {
        return slice_of(NULL, 0);
    }
    return text;
}

static double number_of(struct slice text)
{
    char digits[NUMBER_BYTES] = "";

    if (text.size < sizeof(digits)) {
        memcpy(digits, text.data, text.size);
    }
    return strtod(digits, NULL);
}

/* --- reading a report --- */

/* Gets the element of a list; returns false if the list is shorter. */
static bool element(struct json_value list, size_t index, struct json_value *ret_value)
{
    struct json_walk walk = json_walk_start(list);
    struct slice key;

    for (size_t i = 0; json_walk_next(&walk, &key, ret_value); i++) {
        if (i == index) {
            return true;
        }
    }
    return false;
}

static bool find_run(struct side *side)
{
    struct json_value runs;
    struct json_value knee;
    bool negative = false;
    uint64_t index = 0;

    if (find_kind(side->root, "sweep/knee_run", JSON_NUMBER, &knee) &&
        (!json_integer(knee.text, &negative, &index) || negative)) {
        return false;
    }
    return find_kind(side->root, "runs", JSON_ARRAY, &runs) && element(runs, index, &side->run) &&
           side->run.kind == JSON_OBJECT;
}

static enum err side_read(struct arena *arena, struct side *side, struct fault *fault)
{
    static const struct json_rules rules = {.depth_max = REPORT_DEPTH_MAX};
    struct json_problem problem = {.what = ""};
    size_t size = 0;
    enum err err = file_read(side->path, fault, &side->bytes, &size);

    if (err != OK) {
        return err;
    }
    err = json_check(arena, slice_of(side->bytes, size), &rules, &side->root, &problem);
    if (err == ERR_INVALID) {
        return fault_say(fault, err, "%s: not JSON at byte %zu (%s); expected a file of --json",
                         side->path, problem.at, problem.what);
    }
    if (err != OK) {
        return err;
    }
    if (!slice_equal(find_text(arena, side->root, "schema"), SLICE("errata-bench/1"))) {
        return fault_say(fault, ERR_INVALID,
                         "%s: not a report of errata-bench; expected a file of --json", side->path);
    }
    return find_run(side)
               ? OK
               : fault_say(fault, ERR_INVALID, "%s: the report has no run; expected one or more",
                           side->path);
}

/* --- rows --- */

static void add_row(struct comparison *to, struct arena *arena, struct slice figure,
                    const struct slice values[2])
{
    struct compare_row *row = &to->rows[to->row_count];

    if (to->row_count == COMPARE_ROWS_MAX || (values[0].size == 0 && values[1].size == 0)) {
        return;
    }
    *row = (struct compare_row){.figure = figure, .values = {values[0], values[1]}};
    if (values[0].size > 0 && values[1].size > 0 && number_of(values[0]) > 0) {
        row->ratio = arena_printf(arena, "%.3f", number_of(values[1]) / number_of(values[0]));
    }
    to->row_count++;
}

/* Adds a row for each figure. `prefix` precedes the figure's name. */
static void add_figures(struct comparison *to, struct arena *arena, const struct figure *figures,
                        const struct json_value *from, struct slice prefix)
{
    for (const struct figure *figure = figures; figure->name != NULL; figure++) {
        struct slice values[2] = {{NULL, 0}, {NULL, 0}};

        for (size_t i = 0; i < 2; i++) {
            struct json_value value;

            if (find_kind(from[i], figure->path, JSON_NUMBER, &value)) {
                values[i] = value.text;
            }
        }
        add_row(to, arena, arena_printf(arena, "%.*s%s", SHOWN(prefix), figure->name), values);
    }
}

/* Finds the call of a run with this name; returns false if its mix has none. */
static bool find_call(struct arena *arena, struct json_value run, struct slice name,
                      struct json_value *ret_call)
{
    struct json_value calls;
    struct json_walk walk;
    struct slice key;

    if (!find_kind(run, "calls", JSON_ARRAY, &calls)) {
        return false;
    }
    walk = json_walk_start(calls);
    while (json_walk_next(&walk, &key, ret_call)) {
        if (slice_equal(find_text(arena, *ret_call, "name"), name)) {
            return true;
        }
    }
    return false;
}

/* Adds rows for the calls that both mixes have. The figures of a mix of one call are those of the
 * run. */
static void add_calls(struct comparison *to, struct arena *arena, const struct side *sides)
{
    struct json_value calls;
    struct json_value from[2];
    struct json_walk walk;
    struct slice key;

    if (!find_kind(sides[0].run, "calls", JSON_ARRAY, &calls) || !element(calls, 1, &from[0])) {
        return;
    }
    walk = json_walk_start(calls);
    while (json_walk_next(&walk, &key, &from[0])) {
        struct slice name = find_text(arena, from[0], "name");

        if (name.size > 0 && find_call(arena, sides[1].run, name, &from[1])) {
            add_figures(to, arena, call_figures, from, arena_printf(arena, "%.*s: ", SHOWN(name)));
        }
    }
}

static void add_rows(struct comparison *to, struct arena *arena, const struct side *sides)
{
    static const struct figure knee[] = {{"knee, calls/s", "sweep/knee_rate"}, {NULL, NULL}};
    const struct json_value roots[2] = {sides[0].root, sides[1].root};
    const struct json_value runs[2] = {sides[0].run, sides[1].run};

    add_figures(to, arena, knee, roots, SLICE(""));
    add_figures(to, arena, run_figures, runs, SLICE(""));
    add_calls(to, arena, sides);
}

/* --- warnings --- */

static void warn(struct comparison *to, struct slice warning)
{
    if (to->warning_count < COMPARE_WARNINGS_MAX && warning.size > 0) {
        to->warnings[to->warning_count++] = warning;
    }
}

static void warn_of_problems(struct comparison *to, struct arena *arena, const struct side *side)
{
    struct json_value problems;
    struct json_value problem;
    struct json_walk walk;
    struct slice key;
    struct slice text;
    size_t count = 0;

    if (find_kind(side->root, "valid", JSON_TRUE, &problem)) {
        return;
    }
    to->valid = false;
    if (!find_kind(side->root, "problems", JSON_ARRAY, &problems) ||
        !element(problems, 0, &problem)) {
        warn(to, arena_printf(arena, "%s is not valid", side->path));
        return;
    }
    walk = json_walk_start(problems);
    while (count++ < PROBLEMS_MAX && json_walk_next(&walk, &key, &problem)) {
        if (problem.kind == JSON_STRING && json_string(arena, problem.text, &text) == OK) {
            warn(to, arena_printf(arena, "%s is not valid: %.*s", side->path, SHOWN(text)));
        }
    }
}

/* Warns of each member of an object of the first report that differs in the second one. */
static void warn_of_differences(struct comparison *to, struct arena *arena,
                                const struct side *sides, const char *object)
{
    struct json_value values[2];
    struct json_value objects[2];
    struct json_walk walk;
    struct slice key;
    struct slice name;

    if (!find_kind(sides[0].root, object, JSON_OBJECT, &objects[0]) ||
        !find_kind(sides[1].root, object, JSON_OBJECT, &objects[1])) {
        warn(to, arena_printf(arena, "a report has no %s", object));
        return;
    }
    walk = json_walk_start(objects[0]);
    while (json_walk_next(&walk, &key, &values[0])) {
        bool equal = false;

        if (json_string(arena, key, &name) != OK || slice_equal(name, SLICE("server")) ||
            (json_member(objects[1], name, &values[1]) &&
             json_equal(arena, values[0], values[1], &equal) == OK && equal)) {
            continue; /* the server's address is not compared */
        }
        if (!json_member(objects[1], name, &values[1]) || values[0].text.size > QUOTED_BYTES_MAX ||
            values[1].text.size > QUOTED_BYTES_MAX) {
            warn(to, arena_printf(arena, "the reports differ in %s.%.*s", object, SHOWN(name)));
        } else {
            warn(to, arena_printf(arena, "the reports differ in %s.%.*s: %.*s and %.*s", object,
                                  SHOWN(name), SHOWN(values[0].text), SHOWN(values[1].text)));
        }
    }
}

/* --- the comparison --- */

enum err compare_files(struct arena *arena, const char *const paths[2], struct fault *fault,
                       struct comparison *ret_comparison)
{
    struct comparison *to = ret_comparison;
    struct side sides[2] = {{.path = paths[0]}, {.path = paths[1]}};
    enum err err = side_read(arena, &sides[0], fault);

    if (err == OK) {
        err = side_read(arena, &sides[1], fault);
    }
    if (err == OK) {
        *to = (struct comparison){.valid = true};
        for (size_t i = 0; i < 2; i++) {
            struct slice title = find_text(arena, sides[i].root, "title");

            to->names[i] =
                arena_printf(arena, "%s%s%.*s", paths[i], title.size > 0 ? ", " : "", SHOWN(title));
            warn_of_problems(to, arena, &sides[i]);
        }
        warn_of_differences(to, arena, sides, "settings");
        warn_of_differences(to, arena, sides, "environment");
        add_rows(to, arena, sides);
        for (size_t i = 0; i < to->row_count; i++) {
            to->rows[i].values[0] = arena_printf(arena, "%.*s", SHOWN(to->rows[i].values[0]));
            to->rows[i].values[1] = arena_printf(arena, "%.*s", SHOWN(to->rows[i].values[1]));
        }
    }
    free(sides[0].bytes);
    free(sides[1].bytes);
    return err;
}

void compare_print(const struct comparison *comparison, struct arena *arena, struct printer *out,
                   struct printer *err)
{
    static const struct table_column columns[] = {{.title = "figure"},
                                                  {.title = "A", .right = true},
                                                  {.title = "B", .right = true},
                                                  {.title = "B/A", .right = true}};
    struct table table;
    bool added = true;

    for (size_t i = 0; i < comparison->warning_count; i++) {
        struct slice clean = print_clean(arena, comparison->warnings[i]);

        print_coloured(err, COLOUR_YELLOW, SLICE("warning"));
        print_text(err, ": %.*s\n", SHOWN(clean));
    }
    for (size_t i = 0; i < 2; i++) {
        struct slice clean = print_clean(arena, comparison->names[i]);

        print_text(out, "%c: %.*s\n", i == 0 ? 'A' : 'B', SHOWN(clean));
    }
    print_text(out, "\n");
    table_init(&table, arena, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; added && i < comparison->row_count; i++) {
        const struct compare_row *row = &comparison->rows[i];
        const struct slice cells[] = {row->figure, row->values[0], row->values[1], row->ratio};

        added = table_add(&table, cells);
    }
    table_print(&table, out);
}

void compare_write_csv(const struct comparison *comparison, struct buffer *csv)
{
    const struct slice titles[] = {SLICE("figure"), SLICE("a"), SLICE("b"), SLICE("ratio")};

    csv_write(csv, titles, 4);
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct compare_row *row = &comparison->rows[i];
        const struct slice fields[] = {row->figure, row->values[0], row->values[1], row->ratio};

        csv_write(csv, fields, 4);
    }
}
