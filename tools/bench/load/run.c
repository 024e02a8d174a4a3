/*
 * run.c: see run.h.
 */
#include "tools/bench/load/run.h"

#include "store/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* Seeds of what is drawn beside the requests, so that no two draw the same numbers. */
#define SEED_SCHEDULE UINT64_C(0x5ced01e5)
#define SEED_KINDS UINT64_C(0x31d5)

static void on_answer(void *owner, size_t connection, const struct answer *answer);

/* --- creation --- */

/* Returns the length of the intervals for a run of this length. */
static uint64_t choose_interval(uint64_t span_ns)
{
    uint64_t interval_ns = RUN_INTERVAL_NS;

    while (span_ns / interval_ns >= RUN_INTERVALS_MAX) {
        interval_ns *= 2;
    }
    while (span_ns > 0 && interval_ns > RUN_INTERVAL_NS_MIN &&
           span_ns / interval_ns < RUN_INTERVALS_MIN) {
        interval_ns -= RUN_INTERVAL_NS_MIN;
    }
    return interval_ns;
}

static enum err init_tallies(struct run *run)
{
    uint64_t span_ns = run->options.duration_ns;
    enum err err = histogram_init(&run->lag, HISTOGRAM_FINE_BITS);

    for (size_t i = 0; i < run->shared.kind_count && err == OK; i++) {
        run->weight_sum += run->shared.kinds[i].weight;
        err = histogram_init(&run->tallies[i].latency, HISTOGRAM_FINE_BITS);
    }
    run->interval_ns = choose_interval(span_ns);
    /* A run without an end in time gets all of them, and the last one takes the rest. */
    run->interval_count = span_ns == 0
                              ? RUN_INTERVALS_MAX
                              : (size_t)((span_ns + run->interval_ns - 1) / run->interval_ns);
    run->intervals = calloc(run->interval_count, sizeof(*run->intervals));
    if (run->intervals == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < run->interval_count && err == OK; i++) {
        err = histogram_init(&run->intervals[i].latency, HISTOGRAM_COARSE_BITS);
    }
    return err;
}

enum err run_init(struct run *run, const struct run_options *options,
                  const struct connection_shared *shared, const struct slice *tokens,
                  size_t token_count, struct fault *fault)
{
    enum err err = OK;

    *run = (struct run){.options = *options, .shared = *shared};
    run->shared.on_answer = on_answer;
    run->shared.owner = run;
    run->draw = (struct draw){options->seed ^ SEED_KINDS};
    run->connections = calloc(options->connection_count, sizeof(struct connection *));
    run->refill = calloc(options->connection_count, sizeof(*run->refill));
    run->dirty = calloc(options->connection_count, sizeof(*run->dirty));
    run->is_dirty = calloc(options->connection_count, sizeof(*run->is_dirty));
    if (run->connections == NULL || run->refill == NULL || run->dirty == NULL ||
        run->is_dirty == NULL) {
        return ERR_MEMORY;
    }
    err = init_tallies(run);
    for (size_t i = 0; i < options->connection_count && err == OK; i++) {
        err = connection_new(&run->shared, i,
                             token_count > 0 ? tokens[i % token_count] : slice_of(NULL, 0), fault,
                             &run->connections[i]);
    }
    return err;
}

void run_disconnect(struct run *run)
{
    for (size_t i = 0; run->connections != NULL && i < run->options.connection_count; i++) {
        connection_free(run->connections[i]);
    }
    free(run->connections);
    run->connections = NULL;
}

void run_deinit(struct run *run)
{
    run_disconnect(run);
    for (size_t i = 0; i < LOAD_KINDS_MAX; i++) {
        histogram_deinit(&run->tallies[i].latency);
    }
    for (size_t i = 0; run->intervals != NULL && i < run->interval_count; i++) {
        histogram_deinit(&run->intervals[i].latency);
    }
    histogram_deinit(&run->lag);
    free(run->intervals);
    free(run->refill);
    free(run->dirty);
    free(run->is_dirty);
    *run = (struct run){0};
}

bool run_is_ready(const struct run *run)
{
    for (size_t i = 0; i < run->options.connection_count; i++) {
        if (!connection_is_ready(run->connections[i])) {
            return false;
        }
    }
    return true;
}

/* --- starting calls --- */

static bool is_closed(const struct run *run)
{
    return run->options.rate <= 0;
}

static void note_dirty(struct run *run, size_t connection)
{
    if (!run->is_dirty[connection]) {
        run->is_dirty[connection] = true;
        run->dirty[run->dirty_count++] = connection;
    }
}

bool run_take_dirty(struct run *run, size_t *ret_connection)
{
    if (run->dirty_count == 0) {
        return false;
    }
    *ret_connection = run->dirty[--run->dirty_count];
    run->is_dirty[*ret_connection] = false;
    return true;
}

static uint32_t draw_kind(struct run *run)
{
    uint64_t at = run->shared.kind_count > 1 ? draw_below(&run->draw, run->weight_sum) : 0;
    uint32_t kind = 0;

    while (kind + 1 < run->shared.kind_count && at >= run->shared.kinds[kind].weight) {
        at -= run->shared.kinds[kind].weight;
        kind++;
    }
    return kind;
}

static bool is_measured(const struct run *run, uint64_t due_ns)
{
    return due_ns >= run->measured_from_ns;
}

static void start_call(struct run *run, size_t connection, uint64_t due_ns)
{
    uint32_t kind = draw_kind(run);
    bool measured = is_measured(run, due_ns);

    if (measured) {
        run->measured_started++;
        run->tallies[kind].started++;
    }
    if (connection_start(run->connections[connection], kind, due_ns)) {
        run->in_flight_count++;
    } else {
        run->unsent += measured ? 1 : 0;
    }
    note_dirty(run, connection);
}

/* Closed loop: returns whether one more call may start. */
static bool may_start(const struct run *run)
{
    if (run->phase == RUN_DRAINING || run->phase == RUN_ENDED) {
        return false;
    }
    return run->options.call_limit == 0 || run->measured_started < run->options.call_limit;
}

static void refill(struct run *run, size_t connection)
{
    while (run->refill[connection] > 0 && may_start(run)) {
        run->refill[connection]--;
        start_call(run, connection, run->now_ns);
    }
}

void run_begin(struct run *run, uint64_t now_ns)
{
    run->phase = RUN_WARM_UP;
    run->now_ns = now_ns;
    run->last_answer_ns = now_ns;
    run->measured_from_ns = now_ns + run->options.warm_up_ns;
    run->end_ns = run->options.duration_ns > 0 ? run->measured_from_ns + run->options.duration_ns
                                               : UINT64_MAX;
    if (!is_closed(run)) {
        schedule_init(&run->schedule, run->options.rate, run->options.poisson,
                      run->options.seed ^ SEED_SCHEDULE, now_ns);
        return;
    }
    if (run->options.warm_up_ns == 0) {
        run->phase = RUN_MEASURED;
    }
    for (size_t i = 0; i < run->options.connection_count; i++) {
        run->refill[i] = run->options.in_flight;
        refill(run, i);
    }
}

/* Open loop: starts the calls that are due, at most a burst. */
static void start_due(struct run *run)
{
    for (size_t i = 0; i < RUN_BURST_MAX && may_start(run); i++) {
        uint64_t due_ns = schedule_next_ns(&run->schedule);

        if (due_ns > run->now_ns || due_ns >= run->end_ns) {
            return;
        }
        schedule_take(&run->schedule);
        if (is_measured(run, due_ns)) {
            histogram_record(&run->lag, run->now_ns - due_ns);
        }
        start_call(run, run->next_connection, due_ns);
        run->next_connection = (run->next_connection + 1) % run->options.connection_count;
    }
}

/* --- phases --- */

/* Abandons a call that waits for a stream. In an open loop it counts: it has waited at least this
 * long. In a closed loop it was never started. */
static void drop_call(struct run *run, uint64_t due_ns, uint32_t kind)
{
    run->in_flight_count--;
    if (!is_measured(run, due_ns)) {
        return;
    }
    if (is_closed(run)) {
        run->measured_started--;
        run->tallies[kind].started--;
        return;
    }
    run->unsent++;
    histogram_record(&run->tallies[kind].latency, run->end_ns - due_ns);
}

static void drop_waiting(struct run *run)
{
    for (size_t i = 0; i < run->options.connection_count; i++) {
        uint64_t due_ns = 0;
        uint32_t kind = 0;

        while (connection_take_waiting(run->connections[i], &due_ns, &kind)) {
            drop_call(run, due_ns, kind);
        }
    }
}

static void drain(struct run *run)
{
    run->phase = RUN_DRAINING;
    if (run->end_ns == UINT64_MAX || run->end_ns > run->now_ns) {
        run->end_ns = run->now_ns;
    }
    if (!is_closed(run) && run->options.call_limit == 0) {
        while (schedule_next_ns(&run->schedule) < run->end_ns) {
            run->unstarted += is_measured(run, schedule_next_ns(&run->schedule)) ? 1 : 0;
            schedule_take(&run->schedule);
        }
    }
    drop_waiting(run);
}

void run_stop(struct run *run, uint64_t now_ns)
{
    run->now_ns = now_ns;
    if (run->phase == RUN_WARM_UP) {
        run->measured_from_ns = now_ns;
    }
    if (run->phase < RUN_DRAINING) {
        drain(run);
    }
}

/* Returns whether no more calls are to be started. With a limit of calls, calls that wait for a
 * stream are counted as started, so the measurement lasts until the last answer. */
static bool has_started_all(const struct run *run)
{
    if (run->options.call_limit > 0 && run->measured_started == run->options.call_limit) {
        return run->in_flight_count == 0 || run->now_ns >= run->last_answer_ns + RUN_LINGER_NS;
    }
    if (run->now_ns < run->end_ns) {
        return false;
    }
    return is_closed(run) || schedule_next_ns(&run->schedule) >= run->end_ns ||
           run->now_ns >= run->end_ns + RUN_LATE_NS;
}

static void abandon_all(struct run *run)
{
    for (size_t i = 0; i < run->options.connection_count; i++) {
        connection_abandon(run->connections[i]);
    }
}

static void move_on(struct run *run)
{
    if (run->phase == RUN_WARM_UP && run->now_ns >= run->measured_from_ns) {
        run->phase = RUN_MEASURED;
    }
    if (run->phase == RUN_MEASURED && has_started_all(run)) {
        drain(run);
    }
    if (run->phase == RUN_DRAINING && run->now_ns >= run->end_ns + RUN_LINGER_NS) {
        abandon_all(run);
    }
    if (run->phase == RUN_DRAINING && run->in_flight_count == 0) {
        run->phase = RUN_ENDED;
    }
}

uint64_t run_turn(struct run *run, uint64_t now_ns)
{
    uint64_t next_ns = UINT64_MAX;

    run->now_ns = now_ns;
    if (!is_closed(run) && run->phase < RUN_DRAINING) {
        start_due(run);
    }
    move_on(run);
    if (run->phase == RUN_WARM_UP) {
        next_ns = run->measured_from_ns;
    } else if (run->phase == RUN_MEASURED) {
        next_ns = run->end_ns;
    } else if (run->phase == RUN_DRAINING) {
        next_ns = run->end_ns + RUN_LINGER_NS;
    }
    if (!is_closed(run) && run->phase < RUN_DRAINING && may_start(run) &&
        schedule_next_ns(&run->schedule) < next_ns) {
        next_ns = schedule_next_ns(&run->schedule);
    }
    return next_ns;
}

/* --- answers --- */

static void note_wrong(struct run *run, const struct answer *answer)
{
    struct run_wrong *wrong = run->wrongs;

    run->wrong_total++;
    for (size_t i = 0; i < run->wrong_count; i++, wrong++) {
        if (wrong->kind == answer->kind && wrong->wrong == answer->wrong &&
            wrong->code == answer->code) {
            wrong->count++;
            return;
        }
    }
    if (run->wrong_count == RUN_WRONG_MAX) {
        return;
    }
    run->wrong_count++;
    *wrong = (struct run_wrong){.kind = answer->kind,
                                .wrong = answer->wrong,
                                .code = answer->code,
                                .count = 1,
                                .message_size = answer->message.size};
    if (answer->message.size > 0) {
        memcpy(wrong->message, answer->message.data, answer->message.size);
    }
}

static void note_interval(struct run *run, uint64_t taken_ns)
{
    size_t index = (size_t)((run->now_ns - run->measured_from_ns) / run->interval_ns);

    index = index < run->interval_count ? index : run->interval_count - 1;
    run->intervals[index].count++;
    histogram_record(&run->intervals[index].latency, taken_ns);
}

static void note_measured(struct run *run, const struct answer *answer, uint64_t taken_ns)
{
    struct run_tally *tally = &run->tallies[answer->kind];

    histogram_record(&tally->latency, taken_ns);
    if (answer->wrong != ANSWER_LOST) {
        tally->answered++;
        run->measured_answered++;
        tally->body_bytes += answer->body_bytes;
    }
    if (answer->wrong == ANSWER_RIGHT) {
        tally->right++;
    } else {
        note_wrong(run, answer);
    }
}

static void on_answer(void *owner, size_t connection, const struct answer *answer)
{
    struct run *run = owner;
    uint64_t taken_ns = run->now_ns > answer->due_ns ? run->now_ns - answer->due_ns : 0;

    ASSERT(run->in_flight_count > 0);
    run->in_flight_count--;
    run->last_answer_ns = run->now_ns;
    run->refill[connection]++;
    if (run->now_ns >= run->measured_from_ns) {
        run->ended_since_measured++;
        if (run->now_ns < run->end_ns) {
            run->ended_in_measure++;
            note_interval(run, taken_ns);
        }
    }
    if (is_measured(run, answer->due_ns)) {
        note_measured(run, answer, taken_ns);
    }
}

void run_lose(struct run *run, size_t connection, const char *problem, uint64_t now_ns)
{
    run->now_ns = now_ns;
    if (run->phase == RUN_ENDED) {
        return;
    }
    (void)snprintf(run->problem, RUN_PROBLEM_BYTES, "%s", problem);
    connection_abandon(run->connections[connection]);
    run_stop(run, now_ns);
    abandon_all(run);
    run->phase = RUN_ENDED;
}

/* Starts the next calls of a closed loop and waiting calls, after an event on a connection. */
static void go_on(struct run *run, size_t connection)
{
    struct connection *at = run->connections[connection];

    if (is_closed(run)) {
        refill(run, connection);
    }
    if (connection_advance(at) != OK || (connection_is_over(at) && run->phase < RUN_DRAINING)) {
        run_lose(run, connection, connection_problem(at), run->now_ns);
    }
}

void run_feed(struct run *run, size_t connection, struct slice bytes, uint64_t now_ns)
{
    struct connection *at = run->connections[connection];

    run->now_ns = now_ns;
    if (run->problem[0] != '\0') {
        return;
    }
    if (connection_feed(at, bytes) != OK) {
        run_lose(run, connection, connection_problem(at), now_ns);
        return;
    }
    go_on(run, connection);
}

void run_advance(struct run *run, size_t connection, uint64_t now_ns)
{
    run->now_ns = now_ns;
    if (run->problem[0] == '\0') {
        go_on(run, connection);
    }
}

/* --- results --- */

double run_seconds(const struct run *run)
{
    uint64_t end_ns = run->end_ns;

    if (run->options.call_limit > 0 && run->last_answer_ns < end_ns) {
        end_ns = run->last_answer_ns;
    }
    return end_ns > run->measured_from_ns ? (double)(end_ns - run->measured_from_ns) / 1e9 : 0;
}

double run_rate(const struct run *run)
{
    double seconds = run_seconds(run);

    return seconds > 0 ? (double)run->ended_in_measure / seconds : 0;
}

enum err run_total(const struct run *run, struct run_tally *ret_total)
{
    struct run_tally total = {0};
    enum err err = histogram_init(&total.latency, HISTOGRAM_FINE_BITS);

    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < run->shared.kind_count; i++) {
        const struct run_tally *tally = &run->tallies[i];

        total.started += tally->started;
        total.answered += tally->answered;
        total.right += tally->right;
        total.body_bytes += tally->body_bytes;
        histogram_merge(&total.latency, &tally->latency);
    }
    *ret_total = total;
    return OK;
}
