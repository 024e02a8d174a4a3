/*
 * run_test.c: Goal: calls start when they are due, independent of the server, and their times are
 * correct: a stall shows in an open loop, for the server's part and for this program's own. Method:
 * a clock that the test moves, servers in memory, and stalls at chosen times.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tests/unit/bench_load/peer.h"
#include "tools/bench/load/judge.h"
#include "tools/bench/load/methods.h"

#include <stdlib.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
/* A turn of the simulated world. */
#define TICK (MS / 2)
#define CONNECTIONS_MAX 4
#define START_NS (5 * SECOND)

struct fixture_of_run {
    struct fixture *fixture;
    struct run_options options;
    struct connection_shared shared;
    struct load_kind kinds[2];
    struct template template;
    struct template_source source;
    struct slice tokens[2];
    size_t token_count;
    struct peer_script script;
    uint64_t server_stall_ns; /* start of the server's stall, counted from the start of the run */
    uint64_t server_resumes_ns;
    uint64_t own_stall_ns; /* time for which this program is stalled */
    uint64_t own_resumes_ns;
    uint64_t stop_ns; /* the run is interrupted; 0: never */
    uint64_t hang_up_ns; /* the server closes a connection; 0: never */
    size_t answers_a_tick; /* answers of each connection per tick */
    struct peer *peers;
    struct engine_result result; /* result of the run */
    uint64_t now_ns;
};

static struct fixture_of_run *open_fixture(struct fixture *fixture)
{
    static const struct template_keys keys = {10, 0};
    struct fixture_of_run *at = calloc(1, sizeof(*at));

    assert_non_null(at);
    at->fixture = fixture;
    at->options = (struct run_options){
        .connection_count = 2, .rate = 1000, .in_flight = 1, .duration_ns = 4 * SECOND, .seed = 1};
    at->script = (struct peer_script){.table_bytes = -1, .body_bytes = 10};
    at->answers_a_tick = SIZE_MAX;
    assert_int_equal(
        methods_compile(&fixture->ctx, NULL, SLICE("/errata.v1.PromptService/GetExamples"),
                        SLICE("{\"layoutFingerprint\":\"${layout}\"}"), &keys, &at->template),
        OK);
    template_source_init(&at->source, 1, 0);
    for (size_t i = 0; i < 2; i++) {
        at->kinds[i] = (struct load_kind){.name = i == 0 ? "often" : "seldom",
                                          .path = SLICE("/a.B/C"),
                                          .weight = i == 0 ? 90 : 10,
                                          .template = &at->template,
                                          .bytes_max = UINT64_MAX};
    }
    at->shared = (struct connection_shared){
        .kinds = at->kinds, .kind_count = 1, .source = &at->source, .authority = SLICE("h:1")};
    at->peers = calloc(CONNECTIONS_MAX, sizeof(*at->peers));
    assert_non_null(at->peers);
    return at;
}

static bool is_stalled(uint64_t now_ns, uint64_t from_ns, uint64_t to_ns)
{
    return now_ns >= START_NS + from_ns && now_ns < START_NS + to_ns;
}

static void exchange(struct fixture_of_run *at, size_t connection)
{
    struct run *run = &at->result.run;
    struct peer *peer = &at->peers[connection];
    struct slice bytes = connection_output(run->connections[connection]);

    if (is_stalled(at->now_ns, at->server_stall_ns, at->server_resumes_ns)) {
        return;
    }
    /* Requests of a tick are answered in the next one. */
    peer_answer(peer, at->answers_a_tick);
    peer_feed(peer, bytes);
    connection_sent(run->connections[connection], bytes.size);
    bytes = peer_take(peer);
    if (bytes.size > 0) {
        run_feed(run, connection, bytes, at->now_ns);
    } else {
        run_advance(run, connection, at->now_ns);
    }
}

/* Runs a whole run, then computes its total and its judgement. */
static void go(struct fixture_of_run *at, struct run_tally *total, struct judgement *judgement)
{
    struct run *run = &at->result.run;
    size_t connection = 0;

    assert_int_equal(
        run_init(run, &at->options, &at->shared, at->tokens, at->token_count, &at->fixture->fault),
        OK);
    at->result.streams_allowed = UINT32_MAX;
    for (size_t i = 0; i < at->options.connection_count; i++) {
        peer_open(&at->peers[i], &at->script);
    }
    at->now_ns = START_NS;
    while (!run_is_ready(run)) {
        for (size_t i = 0; i < at->options.connection_count; i++) {
            exchange(at, i);
        }
    }
    run_begin(run, at->now_ns);
    while (run->phase != RUN_ENDED) {
        at->now_ns += TICK;
        assert_true(at->now_ns < START_NS + 60 * SECOND);
        if (is_stalled(at->now_ns, at->own_stall_ns, at->own_resumes_ns)) {
            continue;
        }
        (void)run_turn(run, at->now_ns);
        while (run_take_dirty(run, &connection)) {
        }
        if (at->stop_ns != 0 && at->now_ns == START_NS + at->stop_ns) {
            run_stop(run, at->now_ns);
            at->result.stopped = true;
        }
        if (at->hang_up_ns != 0 && at->now_ns == START_NS + at->hang_up_ns) {
            run_lose(run, 0, "the server closed the connection", at->now_ns);
        }
        for (size_t i = 0; i < at->options.connection_count; i++) {
            exchange(at, i);
        }
    }
    assert_int_equal(run_total(run, total), OK);
    judge_run(&at->result, total, MS, at->token_count, &at->fixture->arena, judgement);
}

static void close_fixture(struct fixture_of_run *at, struct run_tally *total)
{
    histogram_deinit(&total->latency);
    engine_result_deinit(&at->result);
    for (size_t i = 0; i < at->options.connection_count; i++) {
        peer_close(&at->peers[i]);
    }
    free(at->peers);
    free(at);
}

static double percentile_ms(const struct run_tally *total, double share)
{
    return (double)histogram_percentile(&total->latency, share) / 1e6;
}

static void expect_sentence(const struct judge_sentences *sentences, const char *part)
{
    for (size_t i = 0; i < sentences->count; i++) {
        if (memmem(sentences->texts[i].data, sentences->texts[i].size, part, strlen(part))) {
            return;
        }
    }
    print_error("no sentence says \"%s\"\n", part);
    fail();
}

static void test_open_loop_starts_all_calls_by_schedule(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    go(at, &total, &judgement);
    assert_int_equal(total.started, 4000);
    assert_int_equal(total.right, 4000);
    assert_true(percentile_ms(&total, 1) <= 1);
    assert_float_equal(run_rate(&at->result.run), 1000, 2);
    assert_float_equal(run_seconds(&at->result.run), 4, 1e-9);
    assert_int_equal(at->result.run.lag.total_count, 4000);
    assert_int_equal(judgement.problems.count, 0);
    assert_int_equal(judgement.notes.count, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(at->peers[i].request_count, 2000);
    }
    close_fixture(at, &total);
}

/* A second of stall in four: a quarter of all calls came due in it, and waited half of it on average.
 * "Coordinated omission" would count only one slow call per connection. */
static void test_stall_is_in_open_loop_latencies(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->server_stall_ns = 2 * SECOND;
    at->server_resumes_ns = 3 * SECOND;
    go(at, &total, &judgement);
    assert_int_equal(total.right, 4000);
    assert_in_range((uint64_t)percentile_ms(&total, 1), 990, 1002);
    assert_in_range((uint64_t)percentile_ms(&total, 0.99), 950, 970);
    assert_in_range((uint64_t)percentile_ms(&total, 0.9), 590, 610);
    assert_true(percentile_ms(&total, 0.7) <= 2);
    assert_int_equal(judgement.problems.count, 0);
    close_fixture(at, &total);
}

/* Does the same with a server that allows few streams: calls wait in the client instead, and are
 * counted in the same way. */
static void test_stall_is_in_latencies_with_few_streams(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->script.streams_max = 10;
    at->server_stall_ns = 1 * SECOND;
    at->server_resumes_ns = 2 * SECOND;
    go(at, &total, &judgement);
    assert_int_equal(total.right, 4000);
    assert_in_range((uint64_t)percentile_ms(&total, 1), 990, 1010);
    assert_in_range((uint64_t)percentile_ms(&total, 0.9), 590, 620);
    close_fixture(at, &total);
}

/* Does the same in a closed loop: the stall is nearly hidden, which is what an open loop is for. */
static void test_stall_is_hidden_in_a_closed_loop(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->options.rate = 0;
    at->server_stall_ns = 2 * SECOND;
    at->server_resumes_ns = 3 * SECOND;
    go(at, &total, &judgement);
    assert_in_range((uint64_t)percentile_ms(&total, 1), 990, 1002);
    assert_true(percentile_ms(&total, 0.999) <= 2);
    assert_int_equal(total.started, total.right);
    assert_int_equal(at->result.run.lag.total_count, 0);
    assert_int_equal(judgement.problems.count, 0);
    close_fixture(at, &total);
}

/* This program is stalled: latency is measured from the scheduled times nevertheless, and the run
 * is reported as invalid. */
static void test_own_stall_makes_the_run_invalid(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->own_stall_ns = 1 * SECOND;
    at->own_resumes_ns = 2 * SECOND;
    go(at, &total, &judgement);
    assert_int_equal(total.right, 4000);
    assert_in_range((uint64_t)percentile_ms(&total, 0.9), 590, 610);
    assert_int_equal(judgement.problems.count, 1);
    expect_sentence(&judgement.problems,
                    "this program was too slow: one call in a hundred started");
    close_fixture(at, &total);
}

/* The program is stalled at the end: calls that it could not start are reported. */
static void test_unstarted_calls_are_reported(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->own_stall_ns = 3 * SECOND;
    at->own_resumes_ns = 5 * SECOND;
    go(at, &total, &judgement);
    assert_int_equal(total.started + at->result.run.unstarted, 4000);
    assert_in_range(at->result.run.unstarted, 700, 1000);
    expect_sentence(&judgement.problems, "calls that were due");
    close_fixture(at, &total);
}

/* If more calls are due than the server answers, the rate shows it, and the latency of calls
 * without a stream includes their waiting time. */
static void test_overload_is_in_rate_and_latencies(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->options.rate = 8000;
    at->options.duration_ns = SECOND;
    at->script.streams_max = 20;
    at->answers_a_tick = 1; /* 2,000 per second on each connection */
    go(at, &total, &judgement);
    assert_int_equal(total.started, 8000);
    assert_in_range((uint64_t)run_rate(&at->result.run), 3900, 4010);
    assert_int_equal(total.answered + at->result.run.unsent, 8000);
    assert_in_range(at->result.run.unsent, 3900, 4000);
    assert_in_range((uint64_t)percentile_ms(&total, 0.99), 450, 510);
    assert_int_equal(total.latency.total_count, 8000);
    assert_int_equal(judgement.problems.count, 0);
    expect_sentence(&judgement.notes, "the load was not sustained");
    expect_sentence(&judgement.notes, "still waited for a stream");
    close_fixture(at, &total);
}

static void test_warm_up_is_not_counted(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->options.warm_up_ns = 2 * SECOND;
    at->server_stall_ns = SECOND / 2;
    at->server_resumes_ns = SECOND;
    go(at, &total, &judgement);
    assert_int_equal(total.started, 4000);
    assert_true(percentile_ms(&total, 1) <= 1);
    assert_int_equal(at->peers[0].request_count + at->peers[1].request_count, 6000);
    close_fixture(at, &total);
}

static void test_run_ends_at_the_call_limit(void **state)
{
    for (size_t i = 0; i < 2; i++) {
        struct fixture_of_run *at = open_fixture(*state);
        struct run_tally total;
        struct judgement judgement;

        at->options.duration_ns = 0;
        at->options.call_limit = 777;
        at->options.rate = i == 0 ? 0 : 2000;
        at->options.in_flight = 5;
        at->options.warm_up_ns = SECOND;
        go(at, &total, &judgement);
        assert_int_equal(total.started, 777);
        assert_int_equal(total.right, 777);
        assert_int_equal(judgement.problems.count, 0);
        if (i == 1) {
            assert_float_equal(run_seconds(&at->result.run), 777.0 / 2000, 0.002);
        }
        close_fixture(at, &total);
    }
}

/* A closed loop keeps exactly the given number of calls in flight. */
static void test_closed_loop_keeps_its_calls_in_flight(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->options.rate = 0;
    at->options.in_flight = 7;
    at->options.duration_ns = SECOND;
    go(at, &total, &judgement);
    /* Every tick answers the calls that the tick before sent: 7 on each of 2 connections. */
    assert_in_range(total.started, 2 * 7 * 1000 - 28, 2 * 7 * 2000 + 28);
    assert_int_equal(total.started % 7, 0);
    assert_int_equal(total.right, total.started);
    close_fixture(at, &total);
}

static void test_calls_have_their_shares_of_the_mix(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->shared.kind_count = 2;
    go(at, &total, &judgement);
    assert_in_range(at->result.run.tallies[1].started, 340, 460);
    assert_int_equal(at->result.run.tallies[0].started + at->result.run.tallies[1].started, 4000);
    close_fixture(at, &total);
}

/* Connections take the tokens in turn. */
static void test_connections_use_tokens_by_turns(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->options.connection_count = 4;
    at->tokens[0] = SLICE("Bearer one");
    at->tokens[1] = SLICE("Bearer two");
    at->token_count = 2;
    go(at, &total, &judgement);
    for (size_t i = 0; i < 4; i++) {
        assert_non_null(strstr(at->peers[i].fields, i % 2 == 0 ? "authorization: Bearer one\n"
                                                               : "authorization: Bearer two\n"));
        assert_int_equal(at->peers[i].request_count, 1000);
    }
    close_fixture(at, &total);
}

static void test_wrong_answers_make_the_run_invalid(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->script.status = "16";
    at->script.message = "no %22token%22";
    go(at, &total, &judgement);
    assert_int_equal(total.answered, 4000);
    assert_int_equal(total.right, 0);
    assert_int_equal(at->result.run.wrong_count, 1);
    assert_int_equal(at->result.run.wrongs[0].count, 4000);
    assert_int_equal(judgement.problems.count, 1);
    expect_sentence(&judgement.problems, "4000 of 4000 answers to often were wrong: "
                                         "UNAUTHENTICATED, no \"token\"");
    close_fixture(at, &total);
}

static void test_lost_connection_ends_the_run(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->hang_up_ns = 2 * SECOND;
    go(at, &total, &judgement);
    assert_in_range(total.started, 1995, 2005);
    assert_int_equal(at->now_ns, START_NS + 2 * SECOND);
    assert_true(total.right < total.started);
    expect_sentence(&judgement.problems, "a connection was lost: the server closed the connection");
    expect_sentence(&judgement.problems, "no answer");
    close_fixture(at, &total);
}

/* A server that never answers again ends the run after the time limit for the last answers. */
static void test_silent_server_ends_the_run(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->server_stall_ns = 3 * SECOND;
    at->server_resumes_ns = 60 * SECOND;
    go(at, &total, &judgement);
    assert_in_range(at->now_ns, START_NS + 4 * SECOND + RUN_LINGER_NS,
                    START_NS + 4 * SECOND + RUN_LINGER_NS + 2 * TICK);
    assert_in_range(total.answered, 2990, 3005);
    assert_int_equal(at->result.run.wrong_total, 4000 - total.answered);
    expect_sentence(&judgement.problems, "no answer");
    close_fixture(at, &total);
}

static void test_interrupted_run_reports_what_it_has(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;

    at->stop_ns = SECOND;
    go(at, &total, &judgement);
    assert_in_range(total.started, 998, 1002);
    assert_int_equal(total.right, total.started);
    assert_float_equal(run_seconds(&at->result.run), 1, 0.001);
    assert_int_equal(judgement.problems.count, 0);
    expect_sentence(&judgement.notes, "interrupted");
    close_fixture(at, &total);
}

/* Each interval has the calls that ended in it; short runs have short ones. */
static void test_interval_counts_calls_that_ended_in_it(void **state)
{
    struct fixture_of_run *at = open_fixture(*state);
    struct run_tally total;
    struct judgement judgement;
    uint64_t sum = 0;

    at->server_stall_ns = 2 * SECOND;
    at->server_resumes_ns = 3 * SECOND;
    go(at, &total, &judgement);
    assert_int_equal(at->result.run.interval_ns, 200 * MS);
    assert_int_equal(at->result.run.interval_count, 20);
    for (size_t i = 0; i < 20; i++) {
        uint64_t count = at->result.run.intervals[i].count;

        sum += count;
        if (i >= 11 && i < 15) {
            assert_int_equal(count, 0);
        } else if (i == 15) {
            assert_in_range(count, 1190, 1210);
        } else if (i != 10) {
            assert_in_range(count, 195, 205);
        }
    }
    assert_int_equal(sum, at->result.run.ended_in_measure);
    close_fixture(at, &total);
}

int run_run_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_open_loop_starts_all_calls_by_schedule, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_stall_is_in_open_loop_latencies, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_stall_is_in_latencies_with_few_streams, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_stall_is_hidden_in_a_closed_loop, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_own_stall_makes_the_run_invalid, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_unstarted_calls_are_reported, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_overload_is_in_rate_and_latencies, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_warm_up_is_not_counted, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_run_ends_at_the_call_limit, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_closed_loop_keeps_its_calls_in_flight, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_calls_have_their_shares_of_the_mix, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_connections_use_tokens_by_turns, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_answers_make_the_run_invalid, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_lost_connection_ends_the_run, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_silent_server_ends_the_run, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_interrupted_run_reports_what_it_has, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_interval_counts_calls_that_ended_in_it, fixture_set_up,
                                        fixture_tear_down)};

    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
