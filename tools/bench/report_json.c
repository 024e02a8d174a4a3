/*
 * report_json.c: the report for programs; README.md has its keys. Members are written by small
 * functions that write the comma before a member, so that none depends on the next one.
 */
#include "tools/bench/report.h"

#include "store/base/json.h"
#include "store/base/timestamp.h"

#include <inttypes.h>
#include <math.h>

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data

/* --- values --- */

/* A comma, unless this is the first member or element. */
static void comma(struct buffer *json)
{
    uint8_t last = json->size > 0 ? json->data[json->size - 1] : '{';

    if (last != '{' && last != '[' && last != ':') {
        buffer_append_byte(json, ',');
    }
}

static void key(struct buffer *json, const char *name)
{
    comma(json);
    buffer_printf(json, "\"%s\":", name);
}

static void put_text(struct buffer *json, const char *name, struct slice text)
{
    key(json, name);
    json_write_string(json, text, false);
}

static void put_count(struct buffer *json, const char *name, uint64_t count)
{
    key(json, name);
    buffer_printf(json, "%" PRIu64, count);
}

static void put_bool(struct buffer *json, const char *name, bool value)
{
    key(json, name);
    buffer_append(json, value ? SLICE("true") : SLICE("false"));
}

static void put_null(struct buffer *json, const char *name)
{
    key(json, name);
    buffer_append(json, SLICE("null"));
}

/* A number with as many decimals as it needs, at most `digits`. */
static void put_number(struct buffer *json, double number, int digits)
{
    double scale = pow(10, digits);

    json_write_double(json, round(number * scale) / scale);
}

static void put_double(struct buffer *json, const char *name, double number, int digits)
{
    key(json, name);
    put_number(json, number, digits);
}

/* A span in microseconds: in tenths, and below 100 us in hundredths. */
static void put_us(struct buffer *json, uint64_t span_ns)
{
    double us = (double)span_ns / 1e3;

    put_number(json, us, us < 100 ? 2 : 1);
}

static void put_span(struct buffer *json, const char *name, uint64_t span_ns)
{
    key(json, name);
    put_us(json, span_ns);
}

static void put_sentences(struct buffer *json, const char *name,
                          const struct judge_sentences *sentences)
{
    key(json, name);
    buffer_append_byte(json, '[');
    for (size_t i = 0; i < sentences->count; i++) {
        comma(json);
        json_write_string(json, sentences->texts[i], false);
    }
    buffer_append_byte(json, ']');
}

static void begin(struct buffer *json, const char *name, char bracket)
{
    key(json, name);
    buffer_append_byte(json, (uint8_t)bracket);
}

static void end(struct buffer *json, char bracket)
{
    buffer_append_byte(json, (uint8_t)bracket);
}

/* --- a run --- */

static void put_latency(struct buffer *json, const struct histogram *latency)
{
    static const struct {
        const char *name;
        double share;
    } percentiles[] = {
        {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99_9", 0.999}, {"p99_99", 0.9999}};

    begin(json, "latency_us", '{');
    put_span(json, "min", latency->total_count > 0 ? latency->min_ns : 0);
    put_span(json, "mean", (uint64_t)histogram_mean_ns(latency));
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        put_span(json, percentiles[i].name, histogram_percentile(latency, percentiles[i].share));
    }
    put_span(json, "max", latency->max_ns);
    end(json, '}');
}

/* Writes the curve by nines: steps of a twentieth of a decade of the slower calls, down to one
 * call. */
static void put_percentiles(struct buffer *json, const struct histogram *latency)
{
    double slower = 1;

    begin(json, "percentiles", '[');
    while (latency->total_count > 0 && slower * (double)latency->total_count >= 1) {
        uint64_t span_ns = histogram_percentile(latency, 1 - slower);

        comma(json);
        buffer_append_byte(json, '[');
        put_number(json, 1 - slower, 9);
        buffer_append_byte(json, ',');
        put_us(json, span_ns);
        buffer_append_byte(json, ']');
        slower /= pow(10, 0.05);
    }
    comma(json);
    buffer_append(json, SLICE("[1,"));
    put_us(json, latency->max_ns);
    buffer_append(json, SLICE("]]"));
}

static void put_tally(struct buffer *json, const struct run_tally *tally, double seconds)
{
    double answered = tally->answered > 0 ? (double)tally->answered : 1;

    put_count(json, "started", tally->started);
    put_count(json, "answered", tally->answered);
    put_count(json, "right", tally->right);
    put_count(json, "wrong", tally->answered - tally->right);
    put_double(json, "rate", seconds > 0 ? (double)tally->answered / seconds : 0, 1);
    put_double(json, "reply_bytes", (double)tally->body_bytes / answered, 1);
    put_latency(json, &tally->latency);
    put_percentiles(json, &tally->latency);
}

static void put_calls(struct buffer *json, const struct run *run)
{
    begin(json, "calls", '[');
    for (size_t i = 0; i < run->shared.kind_count; i++) {
        const struct load_kind *kind = &run->shared.kinds[i];

        comma(json);
        buffer_append_byte(json, '{');
        put_text(json, "name", slice_text(kind->name));
        put_text(json, "method", slice_after(kind->path, 1));
        put_tally(json, &run->tallies[i], run_seconds(run));
        end(json, '}');
    }
    end(json, ']');
}

static void put_wrongs(struct buffer *json, struct arena *arena, const struct run *run)
{
    begin(json, "wrong_answers", '[');
    for (size_t i = 0; i < run->wrong_count; i++) {
        const struct run_wrong *wrong = &run->wrongs[i];

        comma(json);
        buffer_append_byte(json, '{');
        put_text(json, "call", slice_text(run->shared.kinds[wrong->kind].name));
        put_text(json, "what", judge_wrong(wrong, arena));
        put_count(json, "count", wrong->count);
        put_text(json, "message", judge_message(wrong, arena));
        end(json, '}');
    }
    end(json, ']');
}

static void put_usage(struct buffer *json, const struct engine_usage *usage, uint64_t calls)
{
    double divisor = calls > 0 ? (double)calls * 1e3 : 1e3;

    put_double(json, "cpu_us_per_call", (double)usage->cpu_ns / divisor, 2);
    put_double(json, "user_us_per_call", (double)usage->user_ns / divisor, 2);
    put_double(json, "system_us_per_call", (double)usage->system_ns / divisor, 2);
    put_double(json, "cpu_percent",
               usage->seconds > 0 ? (double)usage->cpu_ns / usage->seconds / 1e7 : 0, 1);
    put_double(json, "context_switches_per_call", (double)usage->switches * 1e3 / divisor, 3);
}

static void put_server(struct buffer *json, const struct engine_result *result)
{
    const struct process_usage *at_end = &result->server.at_end;

    if (!result->server.known) {
        put_null(json, "server");
        return;
    }
    begin(json, "server", '{');
    begin(json, "pids", '[');
    for (size_t i = 0; i < result->server_processes.count; i++) {
        comma(json);
        buffer_printf(json, "%d", result->server_processes.pids[i]);
    }
    end(json, ']');
    put_count(json, "processes", at_end->process_count);
    put_usage(json, &result->server, result->run.ended_since_measured);
    put_count(json, "rss_anon_bytes", at_end->rss_anon_bytes);
    put_count(json, "rss_file_bytes", at_end->rss_file_bytes);
    put_count(json, "rss_peak_bytes", at_end->rss_peak_bytes);
    end(json, '}');
}

static void put_client(struct buffer *json, const struct engine_result *result)
{
    if (!result->client.known) {
        put_null(json, "client");
        return;
    }
    begin(json, "client", '{');
    put_usage(json, &result->client, result->run.ended_since_measured);
    end(json, '}');
}

static void put_series(struct buffer *json, const struct run *run)
{
    double seconds = run_seconds(run);
    double interval = (double)run->interval_ns / 1e9;

    begin(json, "series", '[');
    for (size_t i = 0; i < run->interval_count && (double)i * interval < seconds; i++) {
        const struct run_interval *at = &run->intervals[i];
        double rest = seconds - (double)i * interval;

        comma(json);
        buffer_append_byte(json, '{');
        put_double(json, "at_seconds", (double)i * interval, 3);
        put_double(json, "rate", (double)at->count / (rest < interval ? rest : interval), 1);
        put_span(json, "p50_us", histogram_percentile(&at->latency, 0.5));
        put_span(json, "p99_us", histogram_percentile(&at->latency, 0.99));
        put_span(json, "max_us", at->latency.max_ns);
        end(json, '}');
    }
    end(json, ']');
}

/* Writes the buckets in the resolution of a chart; the percentiles above are exact. */
static void put_histogram(struct buffer *json, const struct histogram *latency)
{
    struct histogram coarse = {0};
    struct histogram_bucket bucket;
    size_t at = 0;

    if (histogram_init(&coarse, HISTOGRAM_COARSE_BITS) != OK) {
        json->failed = true;
        return;
    }
    histogram_coarsen(&coarse, latency);
    begin(json, "histogram", '[');
    while (histogram_next(&coarse, &at, &bucket)) {
        comma(json);
        buffer_append_byte(json, '[');
        put_number(json, (double)bucket.from_ns / 1e3, 3);
        buffer_append_byte(json, ',');
        put_number(json, (double)(bucket.to_ns + 1) / 1e3, 3);
        buffer_printf(json, ",%" PRIu64 "]", bucket.count);
    }
    end(json, ']');
    histogram_deinit(&coarse);
}

static void put_lag(struct buffer *json, const struct histogram *lag)
{
    begin(json, "lag_us", '{');
    put_span(json, "p50", histogram_percentile(lag, 0.5));
    put_span(json, "p99", histogram_percentile(lag, 0.99));
    put_span(json, "max", lag->max_ns);
    end(json, '}');
}

static void put_run(struct buffer *json, struct arena *arena, const struct report_run *at)
{
    const struct run *run = &at->result.run;

    comma(json);
    buffer_append_byte(json, '{');
    put_bool(json, "valid", at->judgement.problems.count == 0);
    put_sentences(json, "problems", &at->judgement.problems);
    put_sentences(json, "notes", &at->judgement.notes);
    if (run->options.rate > 0) {
        put_double(json, "offered_rate", run->options.rate, 3);
    } else {
        put_null(json, "offered_rate");
    }
    put_double(json, "rate", run_rate(run), 1);
    put_double(json, "seconds", run_seconds(run), 6);
    put_count(json, "started", run->measured_started);
    put_count(json, "answered", run->measured_answered);
    put_count(json, "right", at->total.right);
    put_count(json, "wrong", run->wrong_total);
    put_count(json, "unsent", run->unsent);
    put_lag(json, &run->lag);
    begin(json, "total", '{');
    put_tally(json, &at->total, run_seconds(run));
    end(json, '}');
    put_calls(json, run);
    put_wrongs(json, arena, run);
    put_server(json, &at->result);
    put_client(json, &at->result);
    put_series(json, run);
    put_histogram(json, &at->total.latency);
    end(json, '}');
}

/* --- the report --- */

static void put_environment(struct buffer *json, const struct environment *environment)
{
    begin(json, "environment", '{');
    put_text(json, "cpu", environment->cpu);
    put_count(json, "cores", (uint64_t)environment->cores);
    put_count(json, "memory_bytes", environment->memory_bytes);
    put_text(json, "kernel", environment->kernel);
    put_text(json, "system", environment->system);
    end(json, '}');
}

static void put_expected_bytes(struct buffer *json, const struct load_kind *kind)
{
    if (kind->bytes_max == UINT64_MAX) {
        put_null(json, "expect_bytes");
        return;
    }
    key(json, "expect_bytes");
    buffer_printf(json, "[%" PRIu64 ",%" PRIu64 "]", kind->bytes_min, kind->bytes_max);
}

static void put_mix(struct buffer *json, const struct plan *plan)
{
    begin(json, "mix", '[');
    for (size_t i = 0; i < plan->kind_count; i++) {
        const struct load_kind *kind = &plan->kinds[i];

        comma(json);
        buffer_append_byte(json, '{');
        put_text(json, "name", slice_text(kind->name));
        put_text(json, "method", slice_after(kind->path, 1));
        put_count(json, "weight", kind->weight);
        if (plan->templates[i].size > 0) {
            put_text(json, "template", plan->templates[i]);
        } else {
            put_null(json, "template");
        }
        put_count(json, "expect_status", kind->status);
        put_expected_bytes(json, kind);
        end(json, '}');
    }
    end(json, ']');
}

/* A number, or null for one that was not given. */
static void put_given(struct buffer *json, const char *name, double number, bool given)
{
    if (given) {
        put_double(json, name, number, 3);
    } else {
        put_null(json, name);
    }
}

static void put_given_count(struct buffer *json, const char *name, uint64_t count, bool given)
{
    if (given) {
        put_count(json, name, count);
    } else {
        put_null(json, name);
    }
}

static void put_settings(struct buffer *json, const struct report *report)
{
    const struct arguments *arguments = report->arguments;
    bool is_open = arguments->sweep || arguments->rate > 0;

    begin(json, "settings", '{');
    put_text(json, "server", slice_text(arguments->server));
    put_bool(json, "tls", arguments->tls);
    put_text(json, "loop", is_open ? SLICE("open") : SLICE("closed"));
    put_given(json, "rate", arguments->rate, arguments->rate > 0);
    put_text(json, "arrival", arguments->poisson ? SLICE("poisson") : SLICE("fixed"));
    put_given_count(json, "in_flight", arguments->in_flight, !is_open);
    put_count(json, "connections", arguments->connection_count);
    put_count(json, "tokens", report->plan->token_count);
    put_given(json, "duration_seconds", (double)arguments->duration_ns / 1e9,
              arguments->duration_ns > 0);
    put_double(json, "warm_up_seconds", (double)arguments->warm_up_ns / 1e9, 3);
    put_given_count(json, "calls_limit", arguments->call_limit, arguments->call_limit > 0);
    if (arguments->lag_max_ns > 0) {
        put_span(json, "lag_max_us", arguments->lag_max_ns);
    } else {
        put_null(json, "lag_max_us");
    }
    put_count(json, "seed", arguments->seed);
    put_text(json, "headers", arguments->literal_headers ? SLICE("literal") : SLICE("indexed"));
    put_given_count(json, "cpu", (uint64_t)arguments->cpu, arguments->cpu >= 0);
    put_bool(json, "plain", arguments->plain);
    put_bool(json, "idempotency_keys", arguments->idempotency_keys);
    put_mix(json, report->plan);
    end(json, '}');
}

static void put_sweep(struct buffer *json, const struct report *report)
{
    const struct sweep *sweep = report->sweep;

    if (sweep == NULL) {
        put_null(json, "sweep");
        return;
    }
    begin(json, "sweep", '{');
    key(json, "rule");
    buffer_printf(json,
                  "\"sustained: at least %.0f%% of the calls that were due are answered, and p99 "
                  "is at most p99_limit_us, in one of %d runs\"",
                  SWEEP_ACHIEVED * 100, SWEEP_ATTEMPTS);
    put_double(json, "from", sweep->range.from, 3);
    put_double(json, "to", sweep->range.to, 3);
    if (sweep->p99_limit_ns > 0) {
        put_span(json, "p99_limit_us", sweep->p99_limit_ns);
    } else {
        put_null(json, "p99_limit_us"); /* there was no valid run to compute the limit */
    }
    put_given(json, "knee_rate", report->has_knee ? sweep->points[report->knee].offered : 0,
              report->has_knee);
    put_given_count(json, "knee_run", report->knee, report->has_knee);
    begin(json, "sustained", '[');
    for (size_t i = 0; i < sweep->point_count; i++) {
        comma(json);
        buffer_append(json, sweep->points[i].sustained ? SLICE("true") : SLICE("false"));
    }
    end(json, ']');
    end(json, '}');
}

/* Writes the problems; for a sweep without a knee, those of the first run. */
static void put_problems(struct buffer *json, const struct report *report,
                         const struct report_run *main_run)
{
    struct judge_sentences problems = {.count = 0};

    if (report->failure.size > 0) {
        problems.texts[problems.count++] = report->failure;
    }
    for (size_t i = 0; main_run != NULL && i < main_run->judgement.problems.count &&
                       problems.count < JUDGE_SENTENCES_MAX;
         i++) {
        problems.texts[problems.count++] = main_run->judgement.problems.texts[i];
    }
    put_sentences(json, "problems", &problems);
}

static void put_time(struct buffer *json, int64_t time_us)
{
    char text[TIMESTAMP_TEXT_BYTES_MAX];
    size_t size = timestamp_format(time_us / 1000000, 0, text);

    put_text(json, "started_at", slice_of(text, size));
}

void report_write_json(const struct report *report, struct arena *arena, struct buffer *json)
{
    const struct report_run *main_run = report_main_run(report);
    const struct judge_sentences none = {.count = 0};

    buffer_append_byte(json, '{');
    put_text(json, "schema", SLICE("errata-bench/1"));
    put_text(json, "title", slice_text(report->arguments->title));
    put_text(json, "version", SLICE(ERRATA_VERSION));
    put_bool(json, "valid", report_is_valid(report));
    put_problems(json, report, main_run);
    put_sentences(json, "notes", main_run != NULL ? &main_run->judgement.notes : &none);
    put_time(json, report->started_us);
    put_environment(json, &report->environment);
    put_settings(json, report);
    begin(json, "runs", '[');
    for (size_t i = 0; i < report->run_count; i++) {
        put_run(json, arena, report->runs[i]);
    }
    end(json, ']');
    put_sweep(json, report);
    end(json, '}');
}
