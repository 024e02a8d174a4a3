/*
 * sweep_test.c: Goal: a sweep finds the knee of a server whose curve is known, in few runs, and one
 * hiccup decides nothing. Method: servers as functions of the offered rate.
 */
#include "tests/unit/bench_load/bench_load_tests.h"
#include "tools/bench/load/sweep.h"

#define MS UINT64_C(1000000)

/* A server that responds to a limited number of calls a second, with a queue in front of it. */
struct model {
    double capacity;
    uint64_t idle_p99_ns;
    size_t hiccup_run; /* index of a run with invalid results; SIZE_MAX: none */
    bool always_wrong;
};

static struct sweep_point measure(const struct model *model, double rate, size_t run)
{
    double load = rate / model->capacity;
    struct sweep_point point = {.offered = rate, .achieved = rate, .valid = !model->always_wrong};

    point.p99_ns = load < 0.999 ? (uint64_t)((double)model->idle_p99_ns / (1 - load)) : 900 * MS;
    if (load >= 1) {
        point.achieved = model->capacity;
    }
    if (run == model->hiccup_run) {
        point.p99_ns = 5000 * MS;
    }
    return point;
}

/* Runs a sweep over the model; returns the number of runs. */
static size_t run_sweep(struct sweep *sweep, const char *range_text, uint64_t limit_ns,
                        const struct model *model)
{
    struct sweep_range range;
    double rate = 0;
    size_t runs = 0;

    assert_true(parse_sweep(range_text, &range));
    sweep_init(sweep, &range, limit_ns);
    while (sweep_next(sweep, &rate)) {
        struct sweep_point point = measure(model, rate, runs++);

        sweep_note(sweep, &point);
        assert_true(runs < 60);
    }
    assert_int_equal(sweep->point_count, runs);
    return runs;
}

static double knee_rate(const struct sweep *sweep)
{
    size_t index = 0;

    assert_true(sweep_knee(sweep, &index));
    assert_true(sweep->points[index].sustained);
    return sweep->points[index].offered;
}

/* At 90% of its capacity, this server's p99 is ten times that of an idle server. */
static void test_knee_is_ten_times_the_lowest_p99(void **state)
{
    const struct model model = {.capacity = 10000, .idle_p99_ns = MS, .hiccup_run = SIZE_MAX};
    struct sweep sweep;
    size_t runs = run_sweep(&sweep, "100..100000x2", 0, &model);

    (void)state;
    assert_in_range((uint64_t)knee_rate(&sweep), 9010 / 1.05, 9020);
    assert_true(runs < 25);
    assert_in_range(sweep.p99_limit_ns, 10100000, 10102000);
}

static void test_knee_follows_a_given_limit(void **state)
{
    const struct model model = {.capacity = 10000, .idle_p99_ns = MS, .hiccup_run = SIZE_MAX};
    struct sweep sweep;

    (void)state;
    (void)run_sweep(&sweep, "1000..20000+1000", 2 * MS, &model);
    assert_in_range((uint64_t)knee_rate(&sweep), 4762, 5000);
}

/* Unanswered calls are not sustained, for any latencies. */
static void test_unanswered_calls_are_not_sustained(void **state)
{
    struct sweep sweep;
    const struct model model = {.capacity = 3000, .idle_p99_ns = 1000, .hiccup_run = SIZE_MAX};

    (void)state;
    (void)run_sweep(&sweep, "1000..9000", UINT64_MAX, &model);
    assert_in_range((uint64_t)knee_rate(&sweep), 2857, 3031);
}

/* One invalid run of a sweep, at any index, does not change the knee. */
static void test_single_failed_runs_do_not_move_the_knee(void **state)
{
    struct model model = {.capacity = 10000, .idle_p99_ns = MS, .hiccup_run = SIZE_MAX};
    struct sweep sweep;
    size_t runs = run_sweep(&sweep, "100..100000x2", 11 * MS, &model);

    (void)state;
    for (size_t i = 0; i < runs; i++) {
        model.hiccup_run = i;
        (void)run_sweep(&sweep, "100..100000x2", 11 * MS, &model);
        assert_in_range((uint64_t)knee_rate(&sweep), 9090 / 1.06, 9095);
    }
}

/* For a server without a limit the knee is the last rate; for a server that fails immediately there
 * is no knee. */
static void test_knee_is_the_last_rate_or_absent(void **state)
{
    struct model model = {.capacity = 1e9, .idle_p99_ns = MS, .hiccup_run = SIZE_MAX};
    struct sweep sweep;
    size_t index = 0;

    (void)state;
    assert_int_equal(run_sweep(&sweep, "100..1000+300", 0, &model), 4);
    assert_float_equal(knee_rate(&sweep), 1000, 1e-9);
    assert_int_equal(run_sweep(&sweep, "100..100", 0, &model), 1);
    model.always_wrong = true;
    assert_int_equal(run_sweep(&sweep, "100..1000+300", 0, &model), SWEEP_ATTEMPTS);
    assert_false(sweep_knee(&sweep, &index));
}

int run_sweep_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_knee_is_ten_times_the_lowest_p99),
        cmocka_unit_test(test_knee_follows_a_given_limit),
        cmocka_unit_test(test_unanswered_calls_are_not_sustained),
        cmocka_unit_test(test_single_failed_runs_do_not_move_the_knee),
        cmocka_unit_test(test_knee_is_the_last_rate_or_absent)};

    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
