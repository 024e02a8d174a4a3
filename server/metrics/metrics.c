/*
 * metrics.c: see metrics.h.
 */
#include "server/metrics/metrics.h"

#include "server/codec/contract.h"
#include "store/base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "errata_"
#define US_PER_S 1000000

/* A row of metrics.def. */
struct metric {
    const char *counter;
    const char *name;
    const char *type;
    const char *labels;
    uint32_t divisor; /* 1 or US_PER_S */
    const char *help; /* empty: the row belongs to the metric of the previous row */
};

static const struct metric metrics[] = {
#define METRIC(counter, name, type, labels, divisor, help)                                         \
    {counter, name, type, labels, divisor, help},
#include "server/metrics/metrics.def"
#undef METRIC
};

static const char *const code_names[] = {
#define STATUS(name, number) [number] = #name,
#include "store/base/status_codes.def"
#undef STATUS
};

static void metrics_head(struct buffer *text, const char *name, const char *type, const char *help)
{
    buffer_printf(text, "# HELP " PREFIX "%s %s.\n# TYPE " PREFIX "%s %s\n", name, help, name,
                  type);
}

/* Appends a number of units, or microseconds as seconds, without zeros at the end. */
static void metrics_number(struct buffer *text, uint64_t value, uint32_t divisor)
{
    buffer_printf(text, "%" PRIu64, value / divisor);
    if (value % divisor == 0) {
        return;
    }
    buffer_printf(text, ".%06" PRIu64, value % divisor);
    while (buffer_ok(text) && text->data[text->size - 1] == '0') {
        text->size--;
    }
}

/* Returns a counter's value; false if the server has no such counter, for example without its transport. */
static bool metrics_find(const struct env_counter *counters, size_t count, const char *name,
                         uint64_t *ret_value)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(counters[i].name, name) == 0) {
            *ret_value = counters[i].value;
            return true;
        }
    }
    return false;
}

static void metrics_counters(const struct service_env *env, const struct clock *clock,
                             struct buffer *text)
{
    struct env_counter counters[ENV_COUNTERS_MAX];
    size_t count = env_read_counters(env, clock, counters);

    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        const struct metric *metric = &metrics[i];
        uint64_t value = 0;

        if (!metrics_find(counters, count, metric->counter, &value)) {
            continue;
        }
        if (metric->help[0] != '\0') {
            metrics_head(text, metric->name, metric->type, metric->help);
        }
        buffer_printf(text, PREFIX "%s%s ", metric->name, metric->labels);
        metrics_number(text, value, metric->divisor);
        buffer_append_byte(text, '\n');
    }
}

/* Appends the samples of a histogram. `label` is empty or ends with a comma. */
static void metrics_histogram(struct buffer *text, const char *name, struct slice label,
                              const struct histogram *histogram,
                              const struct histogram_bounds *bounds)
{
    uint32_t divisor = bounds == &histogram_durations_us ? US_PER_S : 1;
    struct slice inner = label.size > 0 ? slice_of(label.data, label.size - 1) : label;
    const char *open = label.size > 0 ? "{" : "";
    const char *close = label.size > 0 ? "}" : "";
    uint64_t total = 0;

    for (uint32_t i = 0; i < bounds->count; i++) {
        total += histogram->counts[i];
        buffer_printf(text, PREFIX "%s_bucket{%.*sle=\"", name, (int)label.size,
                      (const char *)label.data);
        metrics_number(text, bounds->values[i], divisor);
        buffer_printf(text, "\"} %" PRIu64 "\n", total);
    }
    total += histogram->counts[bounds->count];
    buffer_printf(text, PREFIX "%s_bucket{%.*sle=\"+Inf\"} %" PRIu64 "\n", name, (int)label.size,
                  (const char *)label.data, total);
    buffer_printf(text, PREFIX "%s_sum%s%.*s%s ", name, open, (int)inner.size,
                  (const char *)inner.data, close);
    metrics_number(text, histogram->sum, divisor);
    buffer_printf(text, "\n" PREFIX "%s_count%s%.*s%s %" PRIu64 "\n", name, open, (int)inner.size,
                  (const char *)inner.data, close, total);
}

static uint64_t metrics_calls_of(const struct service_env *env, uint32_t method)
{
    uint64_t calls = 0;

    for (uint32_t code = 0; code < ENV_CODES; code++) {
        calls += env->method_counts[(size_t)method * ENV_CODES + code];
    }
    return calls;
}

/* Returns a method's name, without the slash in front. */
static struct slice metrics_method(uint32_t method)
{
    return slice_after(contract_methods[method].path, 1);
}

static void metrics_requests(const struct service_env *env, struct buffer *text)
{
    metrics_head(text, "requests_total", "counter", "Ended calls by method and status code");
    for (size_t pair = 0; pair < (size_t)contract_method_count * ENV_CODES; pair++) {
        struct slice name = metrics_method((uint32_t)(pair / ENV_CODES));

        if (env->method_counts[pair] > 0) {
            buffer_printf(text, PREFIX "requests_total{method=\"%.*s\",code=\"%s\"} %" PRIu64 "\n",
                          (int)name.size, (const char *)name.data, code_names[pair % ENV_CODES],
                          env->method_counts[pair]);
        }
    }
}

static void metrics_durations(const struct service_env *env, struct buffer *text)
{
    metrics_head(
        text, "request_duration_seconds", "histogram",
        "Time from a call's first bytes to its end, by method; of a stream, until it ends");
    for (uint32_t method = 0; method < contract_method_count; method++) {
        struct slice name = metrics_method(method);
        char label[256];
        int size = 0;

        if (metrics_calls_of(env, method) == 0) {
            continue;
        }
        size = snprintf(label, sizeof(label), "method=\"%.*s\",", (int)name.size,
                        (const char *)name.data);
        ASSERT(size > 0 && (size_t)size < sizeof(label));
        metrics_histogram(text, "request_duration_seconds", slice_of(label, (size_t)size),
                          &env->method_durations_us[method], &histogram_durations_us);
    }
}

static void metrics_commits(const struct service_env *env, struct buffer *text)
{
    struct writer_stats writer = writer_read_stats(env->writer);

    metrics_head(text, "commit_duration_seconds", "histogram",
                 "Time to make a group commit durable");
    metrics_histogram(text, "commit_duration_seconds", slice_of(NULL, 0),
                      &writer.commit_durations_us, &histogram_durations_us);
    metrics_head(text, "commit_requests", "histogram", "Writes in a group commit");
    metrics_histogram(text, "commit_requests", slice_of(NULL, 0), &writer.commit_sizes,
                      &histogram_sizes);
}

static void metrics_state(const struct service_env *env, struct buffer *text)
{
    metrics_head(text, "build_info", "gauge",
                 "1, with the program's version and the store's format");
    buffer_printf(text, PREFIX "build_info{version=\"%s\",format=\"%" PRIu32 "\"} 1\n",
                  ERRATA_VERSION, env->format_version);
    metrics_head(text, "start_time_seconds", "gauge", "Time of the server's start since 1970");
    buffer_printf(text, PREFIX "start_time_seconds ");
    metrics_number(text, (uint64_t)env->start_wall_us, US_PER_S);
    buffer_append_byte(text, '\n');
    metrics_head(text, "health", "gauge",
                 "1 if a part serves, as grpc.health.v1 reports it; the server itself has no name");
    for (unsigned part = 0; part < HEALTH_PART_COUNT; part++) {
        struct slice name = env_part_name((enum health_part)part);

        buffer_printf(text, PREFIX "health{part=\"%.*s\"} %d\n", (int)name.size,
                      (const char *)name.data, env->health[part] == HEALTH_SERVING ? 1 : 0);
    }
}

void metrics_write(const struct service_env *env, const struct clock *clock, struct buffer *text)
{
    metrics_state(env, text);
    metrics_requests(env, text);
    metrics_durations(env, text);
    metrics_commits(env, text);
    metrics_counters(env, clock, text);
}
