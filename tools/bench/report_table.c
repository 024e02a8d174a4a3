/*
 * report_table.c: the report for people: configuration, latencies, resources used, and whether the run is valid.
 */
#include "tools/bench/report.h"

#include "tools/errata/terminal/table.h"
#include "tools/errata/terminal/wrap.h"

#include <inttypes.h>

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data

static const struct table_column call_columns[] = {{.title = "call"},
                                                   {.title = "calls", .right = true, .extra = 2},
                                                   {.title = "calls/s", .right = true},
                                                   {.title = "mean", .right = true, .extra = 4},
                                                   {.title = "p50", .right = true},
                                                   {.title = "p90", .right = true, .extra = 3},
                                                   {.title = "p99", .right = true},
                                                   {.title = "p99.9", .right = true},
                                                   {.title = "p99.99", .right = true, .extra = 5},
                                                   {.title = "max", .right = true},
                                                   {.title = "bytes", .right = true, .extra = 6},
                                                   {.title = "wrong", .right = true, .extra = 1}};
#define CALL_COLUMNS (sizeof(call_columns) / sizeof(call_columns[0]))

static const struct table_column sweep_columns[] = {
    {.title = "offered/s", .right = true},
    {.title = "answered/s", .right = true},
    {.title = "p50", .right = true, .extra = 1},
    {.title = "p99", .right = true},
    {.title = "p99.9", .right = true, .extra = 3},
    {.title = "max", .right = true, .extra = 2},
    {.title = "server CPU", .right = true, .extra = 4},
    {.title = ""}};
#define SWEEP_COLUMNS (sizeof(sweep_columns) / sizeof(sweep_columns[0]))

static const struct table_column cost_columns[] = {
    {.title = ""},
    {.title = "CPU a call", .right = true},
    {.title = "in user mode", .right = true, .extra = 3},
    {.title = "of a core", .right = true},
    {.title = "switches", .right = true, .extra = 2},
    {.title = "memory", .right = true},
    {.title = "of files", .right = true, .extra = 1},
    {.title = "late, p99", .right = true},
    {.title = "at most", .right = true, .extra = 4}};
#define COST_COLUMNS (sizeof(cost_columns) / sizeof(cost_columns[0]))
/* The last percentile. */
#define LAG_COLUMNS 2

/* CPU is split into user and system by ticks of 10 ms: fewer than fifty are not significant. */
#define SPLIT_NS_MIN UINT64_C(500000000)

/* Formats 1234567 as 1,234,567. */
static struct slice grouped(uint64_t number, struct arena *arena)
{
    char digits[32];
    char text[48];
    size_t size = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    size_t out = 0;

    for (size_t i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0) {
            text[out++] = ',';
        }
        text[out++] = digits[i];
    }
    return arena_printf(arena, "%.*s", (int)out, text);
}

static struct slice rate_text(double rate, struct arena *arena)
{
    return rate < 99.95 ? arena_printf(arena, "%.1f", rate)
                        : grouped((uint64_t)(rate + 0.5), arena);
}

static struct slice bytes_text(uint64_t bytes, struct arena *arena)
{
    double mb = (double)bytes / 1e6;

    return arena_printf(arena, mb < 9.95 ? "%.1f MB" : "%.0f MB", mb);
}

/* Returns an empty text without calls. */
static struct slice span_text(const struct histogram *latency, uint64_t span_ns,
                              struct arena *arena)
{
    return latency->total_count > 0 ? judge_span(span_ns, arena) : slice_of(NULL, 0);
}

static struct slice share_text(const struct histogram *latency, double share, struct arena *arena)
{
    return span_text(latency, histogram_percentile(latency, share), arena);
}

/* --- configuration of the run --- */

static void print_load(const struct report *report, struct arena *arena, struct printer *out)
{
    const struct arguments *arguments = report->arguments;
    struct slice connections = grouped(arguments->connection_count, arena);

    print_text(out, "%.*s connection%s to %s, ", SHOWN(connections),
               arguments->connection_count == 1 ? "" : "s", arguments->server);
    if (arguments->sweep) {
        print_text(out, "open loop, %s, at rising rates",
                   arguments->poisson ? "as many callers come" : "evenly spaced");
    } else if (arguments->rate > 0) {
        struct slice rate = rate_text(arguments->rate, arena);

        print_text(out, "open loop, %s, %.*s calls/s",
                   arguments->poisson ? "as many callers come" : "evenly spaced", SHOWN(rate));
    } else {
        print_text(out, "closed loop, %" PRIu64 " call%s in flight on each", arguments->in_flight,
                   arguments->in_flight == 1 ? "" : "s");
    }
    print_text(out, "\n\n");
}

/* --- latencies --- */

static bool add_call(struct table *table, const char *name, const struct run_tally *tally,
                     double seconds, struct arena *arena)
{
    const struct histogram *latency = &tally->latency;
    uint64_t wrong = tally->started - tally->right;
    double answered = tally->answered > 0 ? (double)tally->answered : 1;
    const struct slice cells[CALL_COLUMNS] = {
        slice_text(name),
        grouped(tally->answered, arena),
        rate_text(seconds > 0 ? (double)tally->answered / seconds : 0, arena),
        span_text(latency, (uint64_t)histogram_mean_ns(latency), arena),
        share_text(latency, 0.5, arena),
        share_text(latency, 0.9, arena),
        share_text(latency, 0.99, arena),
        share_text(latency, 0.999, arena),
        share_text(latency, 0.9999, arena),
        span_text(latency, latency->max_ns, arena),
        grouped((uint64_t)((double)tally->body_bytes / answered + 0.5), arena),
        wrong > 0 ? grouped(wrong, arena) : slice_of(NULL, 0)};

    if (!table_add(table, cells)) {
        return false;
    }
    if (wrong > 0) {
        table_colour(table, CALL_COLUMNS - 1, COLOUR_RED);
    }
    return true;
}

static void print_calls(const struct report_run *run, struct arena *arena, struct printer *out)
{
    const struct run *core = &run->result.run;
    double seconds = run_seconds(core);
    struct table table;
    bool added = true;

    table_init(&table, arena, call_columns, CALL_COLUMNS);
    for (size_t i = 0; i < core->shared.kind_count; i++) {
        added = added &&
                add_call(&table, core->shared.kinds[i].name, &core->tallies[i], seconds, arena);
    }
    if (core->shared.kind_count > 1) {
        added = added && add_call(&table, "all", &run->total, seconds, arena);
    }
    if (added) {
        table_print(&table, out);
    }
}

/* --- resources used --- */

/* Returns the part in user mode, if there were enough ticks. */
static struct slice user_text(const struct engine_usage *usage, struct arena *arena)
{
    uint64_t ticks_ns = usage->user_ns + usage->system_ns;

    return ticks_ns < SPLIT_NS_MIN
               ? slice_of(NULL, 0)
               : arena_printf(arena, "%.0f%%", (double)usage->user_ns * 100 / (double)ticks_ns);
}

static bool add_cost(struct table *table, const char *who, const struct engine_usage *usage,
                     const struct run *run, struct arena *arena)
{
    bool server = strcmp(who, "server") == 0;
    bool late = !server && run->lag.total_count > 0;
    struct slice none = {NULL, 0};
    double calls = run->ended_since_measured > 0 ? (double)run->ended_since_measured : 1;
    double share = usage->seconds > 0 ? (double)usage->cpu_ns / usage->seconds / 1e7 : 0;
    const struct slice cells[COST_COLUMNS] = {
        slice_text(who),
        judge_span((uint64_t)((double)usage->cpu_ns / calls), arena),
        user_text(usage, arena),
        arena_printf(arena, "%.0f%%", share),
        arena_printf(arena, "%.2f", (double)usage->switches / calls),
        server ? bytes_text(usage->at_end.rss_anon_bytes, arena) : none,
        server ? bytes_text(usage->at_end.rss_file_bytes, arena) : none,
        late ? share_text(&run->lag, 0.99, arena) : none,
        late ? judge_span(run->lag.max_ns, arena) : none};

    return !usage->known || table_add(table, cells);
}

static void print_costs(const struct report_run *run, struct arena *arena, struct printer *out)
{
    const struct engine_result *result = &run->result;
    /* A closed loop is never late. */
    size_t columns = result->run.lag.total_count > 0 ? COST_COLUMNS : COST_COLUMNS - LAG_COLUMNS;
    struct table table;

    table_init(&table, arena, cost_columns, columns);
    print_text(out, "\n");
    if (add_cost(&table, "server", &result->server, &result->run, arena) &&
        add_cost(&table, "client", &result->client, &result->run, arena)) {
        table_print(&table, out);
    }
}

/* --- validity --- */

static void print_sentence(const char *head, enum print_colour colour, struct slice text,
                           struct printer *out)
{
    unsigned size = (unsigned)strlen(head);

    print_coloured(out, colour, slice_text(head));
    print_text(out, ":");
    wrap_message(out, size + 1, size + 2, text);
}

static void print_sentences(const char *head, enum print_colour colour,
                            const struct judge_sentences *sentences, struct printer *out)
{
    for (size_t i = 0; i < sentences->count; i++) {
        print_sentence(head, colour, sentences->texts[i], out);
    }
}

static void print_verdict(const struct report *report, const struct report_run *run,
                          struct printer *out)
{
    print_sentences("note", COLOUR_YELLOW, &run->judgement.notes, out);
    if (report->failure.size > 0) {
        print_sentence("INVALID", COLOUR_RED, report->failure, out);
    }
    print_sentences("INVALID", COLOUR_RED, &run->judgement.problems, out);
    if (report_is_valid(report)) {
        print_sentence("valid", COLOUR_GREEN, SLICE("every answer was right"), out);
    }
}

/* --- a sweep --- */

static bool add_point(struct table *table, const struct report *report, size_t index,
                      struct arena *arena)
{
    const struct report_run *run = report->runs[index];
    const struct run *core = &run->result.run;
    const struct engine_usage *server = &run->result.server;
    bool decided = index < report->sweep->point_count;
    bool sustained = decided && report->sweep->points[index].sustained;
    bool knee = report->has_knee && index == report->knee;
    uint64_t calls = core->ended_since_measured > 0 ? core->ended_since_measured : 1;
    const struct slice cells[SWEEP_COLUMNS] = {
        rate_text(core->options.rate, arena),
        rate_text(run_rate(core), arena),
        share_text(&run->total.latency, 0.5, arena),
        share_text(&run->total.latency, 0.99, arena),
        share_text(&run->total.latency, 0.999, arena),
        span_text(&run->total.latency, run->total.latency.max_ns, arena),
        server->known ? judge_span(server->cpu_ns / calls, arena) : slice_of(NULL, 0),
        slice_text(knee                                ? "knee"
                   : sustained                         ? "sustained"
                   : run->judgement.problems.count > 0 ? "invalid"
                   : decided                           ? "not sustained"
                                                       : "interrupted")};

    if (!table_add(table, cells)) {
        return false;
    }
    table_colour(table, SWEEP_COLUMNS - 1, knee || sustained ? COLOUR_GREEN : COLOUR_YELLOW);
    if (knee) {
        table_colour(table, TABLE_COLUMNS_MAX, COLOUR_BOLD);
    }
    return true;
}

static void print_sweep(const struct report *report, struct arena *arena, struct printer *out)
{
    uint64_t limit_ns = report->sweep->p99_limit_ns;
    struct slice limit =
        limit_ns > 0 ? judge_span(limit_ns, arena)
                     : arena_printf(arena, "%d times that of the lowest rate", SWEEP_P99_FACTOR);
    struct table table;
    bool added = true;

    table_init(&table, arena, sweep_columns, SWEEP_COLUMNS);
    for (size_t i = 0; i < report->run_count; i++) {
        added = added && add_point(&table, report, i, arena);
    }
    if (added) {
        table_print(&table, out);
    }
    print_text(out,
               "\nsustained: at least %.0f%% of the calls that were due are answered, and p99 "
               "is at most %.*s\n",
               SWEEP_ACHIEVED * 100, SHOWN(limit));
    if (report->has_knee) {
        struct slice rate = rate_text(report->sweep->points[report->knee].offered, arena);

        print_text(out, "\nthe knee, %.*s calls/s:\n\n", SHOWN(rate));
    } else {
        print_text(out, "\nno rate was sustained; the lowest:\n\n");
    }
}

void report_print(const struct report *report, struct arena *arena, struct printer *out)
{
    const struct report_run *run = report_main_run(report);

    if (run == NULL) {
        return;
    }
    print_load(report, arena, out);
    if (report->sweep != NULL) {
        print_sweep(report, arena, out);
    }
    print_calls(run, arena, out);
    print_costs(run, arena, out);
    print_text(out, "\n");
    print_verdict(report, run, out);
}
