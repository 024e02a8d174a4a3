/*
 * report_csv.c: the report for spreadsheets: a record with the titles, then for each run one record for
 * all calls and one for each call of the mix. README.md describes the columns.
 */
#include "tools/bench/report.h"

#include "tools/errata/terminal/csv.h"

#include <inttypes.h>

static const struct slice titles[] = {SLICE("run"),
                                      SLICE("call"),
                                      SLICE("valid"),
                                      SLICE("offered_rate"),
                                      SLICE("seconds"),
                                      SLICE("started"),
                                      SLICE("answered"),
                                      SLICE("right"),
                                      SLICE("rate"),
                                      SLICE("reply_bytes"),
                                      SLICE("min_us"),
                                      SLICE("mean_us"),
                                      SLICE("p50_us"),
                                      SLICE("p90_us"),
                                      SLICE("p99_us"),
                                      SLICE("p99_9_us"),
                                      SLICE("max_us"),
                                      SLICE("server_cpu_us_per_call"),
                                      SLICE("client_cpu_us_per_call")};
#define COLUMNS (sizeof(titles) / sizeof(titles[0]))

static struct slice count_text(struct arena *arena, uint64_t count)
{
    return arena_printf(arena, "%" PRIu64, count);
}

static struct slice us_text(struct arena *arena, double span_ns)
{
    return arena_printf(arena, "%.2f", span_ns / 1e3);
}

static struct slice share_text(struct arena *arena, const struct histogram *latency, double share)
{
    return us_text(arena, (double)histogram_percentile(latency, share));
}

/* Empty if the figure is not known. */
static struct slice cpu_text(struct arena *arena, const struct engine_usage *usage, uint64_t calls)
{
    return usage->known && calls > 0 ? us_text(arena, (double)usage->cpu_ns / (double)calls)
                                     : slice_of(NULL, 0);
}

static void write_record(struct buffer *csv, struct arena *arena, const struct report_run *at,
                         const struct run_tally *tally, const struct slice head[2])
{
    const struct run *run = &at->result.run;
    const struct histogram *latency = &tally->latency;
    double seconds = run_seconds(run);
    double answered = tally->answered > 0 ? (double)tally->answered : 1;
    struct slice none = {NULL, 0};
    const struct slice fields[COLUMNS] = {
        head[0],
        head[1],
        at->judgement.problems.count == 0 ? SLICE("true") : SLICE("false"),
        run->options.rate > 0 ? arena_printf(arena, "%.3f", run->options.rate) : none,
        arena_printf(arena, "%.6f", seconds),
        count_text(arena, tally->started),
        count_text(arena, tally->answered),
        count_text(arena, tally->right),
        arena_printf(arena, "%.1f", seconds > 0 ? (double)tally->answered / seconds : 0),
        arena_printf(arena, "%.1f", (double)tally->body_bytes / answered),
        us_text(arena, latency->total_count > 0 ? (double)latency->min_ns : 0),
        us_text(arena, histogram_mean_ns(latency)),
        share_text(arena, latency, 0.5),
        share_text(arena, latency, 0.9),
        share_text(arena, latency, 0.99),
        share_text(arena, latency, 0.999),
        us_text(arena, (double)latency->max_ns),
        cpu_text(arena, &at->result.server, run->ended_since_measured),
        cpu_text(arena, &at->result.client, run->ended_since_measured)};

    csv_write(csv, fields, COLUMNS);
}

void report_write_csv(const struct report *report, struct arena *arena, struct buffer *csv)
{
    csv_write(csv, titles, COLUMNS);
    for (size_t i = 0; i < report->run_count; i++) {
        const struct report_run *at = report->runs[i];
        const struct run *run = &at->result.run;
        struct slice head[2] = {count_text(arena, i), SLICE("")};

        write_record(csv, arena, at, &at->total, head);
        for (size_t kind = 0; kind < run->shared.kind_count; kind++) {
            head[1] = slice_text(run->shared.kinds[kind].name);
            write_record(csv, arena, at, &run->tallies[kind], head);
        }
    }
}
