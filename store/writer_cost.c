/*
 * writer_cost.c: Tukey's resistant line over a few samples: the slope is the difference of the
 * medians of large and small batches, the fixed part is the median of the rest.
 */
#include "store/writer_cost.h"

#include "store/base/assert.h"
#include "store/work.h"

#include <string.h>

#define NS_PER_US 1000
/* Samples in the lower and the upper third. */
#define COST_THIRD 3
/* Maximum forecast, which is later than any deadline. */
#define COST_FORECAST_MAX_US (3600ll * 1000000)

static void window_add(struct cost_window *window, uint32_t requests, int64_t duration_us)
{
    ASSERT(requests > 0 && duration_us >= 0);
    window->samples[window->next] = (struct cost_sample){requests, duration_us};
    window->next = (window->next + 1) % COST_SAMPLES;
    window->count += window->count < COST_SAMPLES;
}

static void sort_values(int64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int64_t value = values[i];
        size_t at = i;

        for (; at > 0 && values[at - 1] > value; at--) {
            values[at] = values[at - 1];
        }
        values[at] = value;
    }
}

/* Returns the lower median of an even number of values. */
static int64_t median(int64_t *values, size_t count)
{
    sort_values(values, count);
    return values[(count - 1) / 2];
}

static void sort_by_requests(struct cost_sample *samples, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct cost_sample sample = samples[i];
        size_t at = i;

        for (; at > 0 && samples[at - 1].requests > sample.requests; at--) {
            samples[at] = samples[at - 1];
        }
        samples[at] = sample;
    }
}

static struct cost_sample middle_of_third(const struct cost_sample *third)
{
    int64_t requests[COST_THIRD];
    int64_t durations[COST_THIRD];

    for (size_t i = 0; i < COST_THIRD; i++) {
        requests[i] = third[i].requests;
        durations[i] = third[i].duration_us;
    }
    return (struct cost_sample){(uint32_t)median(requests, COST_THIRD),
                                median(durations, COST_THIRD)};
}

/* Returns the cost of one more request in a commit. Batches of nearly the same size do not show it:
 * then the last figure is reduced by an eighth, so that batches grow until their sizes differ
 * enough to measure it again, and a figure caused by the noise of a slow disk does not persist. */
static int64_t learn_page_ns(const struct cost_window *commits, int64_t last_ns)
{
    struct cost_sample sorted[COST_SAMPLES];
    struct cost_sample small;
    struct cost_sample large;

    if (commits->count < COST_SAMPLES) {
        return last_ns;
    }
    memcpy(sorted, commits->samples, sizeof(sorted));
    sort_by_requests(sorted, COST_SAMPLES);
    small = middle_of_third(sorted);
    large = middle_of_third(sorted + COST_SAMPLES - COST_THIRD);
    if (large.requests < 2 * small.requests) {
        return last_ns - last_ns / 8;
    }
    if (large.duration_us <= small.duration_us) {
        return 0;
    }
    return (large.duration_us - small.duration_us) * NS_PER_US / (large.requests - small.requests);
}

void writer_cost_learn_run(struct writer_cost *cost, uint32_t requests, int64_t duration_us)
{
    int64_t values[COST_SAMPLES];

    window_add(&cost->runs, requests, duration_us);
    for (size_t i = 0; i < cost->runs.count; i++) {
        const struct cost_sample *sample = &cost->runs.samples[i];

        values[i] = sample->duration_us * NS_PER_US / sample->requests;
    }
    cost->run_ns = median(values, cost->runs.count);
}

void writer_cost_learn_commit(struct writer_cost *cost, uint32_t requests, int64_t duration_us,
                              int64_t end_us)
{
    int64_t values[COST_SAMPLES];

    if (end_us - duration_us - cost->learned_us >= COST_HALF_LIFE_US) {
        cost->commits = (struct cost_window){0}; /* the disk may have changed */
    }
    window_add(&cost->commits, requests, duration_us);
    cost->page_ns = learn_page_ns(&cost->commits, cost->page_ns);
    cost->shortest_us = INT64_MAX;
    for (size_t i = 0; i < cost->commits.count; i++) {
        const struct cost_sample *sample = &cost->commits.samples[i];
        int64_t fixed_us = sample->duration_us - cost->page_ns * sample->requests / NS_PER_US;

        values[i] = fixed_us > 0 ? fixed_us : 0;
        if (sample->duration_us < cost->shortest_us) {
            cost->shortest_us = sample->duration_us;
        }
    }
    cost->sync_us = median(values, cost->commits.count);
    cost->learned_us = end_us;
}

uint32_t writer_cost_batch_requests(const struct writer_cost *cost)
{
    int64_t work_us = cost->sync_us > WORK_BATCH_WORK_US ? cost->sync_us : WORK_BATCH_WORK_US;
    int64_t request_ns = cost->run_ns + cost->page_ns;
    int64_t requests = request_ns == 0 ? WORK_BATCH_REQUESTS_MAX : work_us * NS_PER_US / request_ns;

    if (requests < 1) {
        return 1;
    }
    return requests > WORK_BATCH_REQUESTS_MAX ? WORK_BATCH_REQUESTS_MAX : (uint32_t)requests;
}

/* Returns a forecast's weight after this time without a commit; 0 while too little is known. */
static int64_t aged(const struct writer_cost *cost, int64_t forecast_us, int64_t idle_us)
{
    int64_t halvings = (idle_us - cost->learned_us) / COST_HALF_LIFE_US;

    if (cost->commits.count < COST_SAMPLES || halvings >= 63) {
        return 0;
    }
    if (forecast_us > COST_FORECAST_MAX_US) {
        forecast_us = COST_FORECAST_MAX_US;
    }
    return halvings > 0 ? forecast_us >> halvings : forecast_us;
}

static int64_t batch_us(const struct writer_cost *cost, uint32_t requests)
{
    return cost->sync_us + (cost->run_ns + cost->page_ns) * requests / NS_PER_US;
}

int64_t writer_cost_batch_us(const struct writer_cost *cost, uint32_t requests, int64_t idle_us)
{
    return aged(cost, batch_us(cost, requests), idle_us);
}

int64_t writer_cost_wait_us(const struct writer_cost *cost, uint32_t ahead, int64_t idle_us)
{
    uint32_t limit = writer_cost_batch_requests(cost);
    int64_t full_us = ahead / limit * batch_us(cost, limit);

    return aged(cost, full_us + batch_us(cost, ahead % limit + 1), idle_us);
}

int64_t writer_cost_shortest_us(const struct writer_cost *cost, int64_t idle_us)
{
    return aged(cost, cost->shortest_us, idle_us);
}
