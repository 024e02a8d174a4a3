/*
 * sim_run.c: the course of a run, and the chaos in it.
 */
#include "tests/sim/sim_run.h"

#include "tests/sim/sim_crowd.h"
#include "tests/sim/sim_server.h"
#include "tests/sim/sim_store.h"

#include <inttypes.h>

/* The longest jump of the wall clock: ten years. */
#define YEARS_US (3653 * 24 * SIM_HOUR)
/* Something may go wrong so often. */
#define CHAOS_US (100 * SIM_MS)
/* The longest time of a run, and the times after it in which nothing goes wrong. */
#define RUN_US (600 * SIM_S)
#define SETTLE_US (90 * SIM_S)
#define AUDIT_US (60 * SIM_S)
/* Maximum number of checks of the disk between two incarnations of the server, since they are
 * expensive. */
#define CHECKS_MAX 6

/* A jump of the wall clock: seconds, hours that an administrator got wrong, days, or years. */
static void jump_wall(struct sim *sim)
{
    uint64_t kind = sim_draw(sim, 9);
    int64_t by_us = sim_delay(sim, SIM_MS, 3 * SIM_HOUR);

    if (kind < 3) {
        by_us = (int64_t)sim_draw(sim, 48 * (uint64_t)SIM_HOUR);
    } else if (kind == 3) {
        by_us = YEARS_US;
    }
    /* Does not step back by years twice: backdated events must stay in the past. */
    if (sim_draw(sim, 2) == 0 && sim->clock.wall_us > SIM_START_US - YEARS_US) {
        by_us = -by_us;
    }
    sim_trace(sim, "clock: the wall jumps by %" PRId64 " ms", by_us / 1000);
    sim->counts[SIM_JUMPS]++;
    sim_jump_wall(sim, by_us);
}

static void break_link(struct sim *sim)
{
    struct sim_link *link = sim_net_draw_link(sim);

    if (link != NULL) {
        sim_trace(sim, "net: connection %" PRIu64 " breaks", link->number);
        sim->counts[SIM_RESETS]++;
        sim_link_reset(link);
    }
}

static void silence_link(struct sim *sim)
{
    struct sim_link *link = sim_net_draw_link(sim);

    if (link != NULL) {
        sim_trace(sim, "net: connection %" PRIu64 " falls silent", link->number);
        sim->counts[SIM_SILENCES]++;
        link->silent = true;
    }
}

static void on_chaos(struct sim *sim, void *object, uint64_t number)
{
    const struct sim_profile *profile = &sim->profile;

    (void)object;
    (void)number;
    sim_crowd_check_late(sim);
    if (sim->calm) {
        return;
    }
    sim_at(sim, CHAOS_US, on_chaos, NULL, 0);
    if (!sim->crowd->set_up && !profile->chaos_in_setup) {
        return;
    }
    if (sim_chance(sim, profile->crash)) {
        sim_server_crash(sim, "by chance");
    } else if (sim_chance(sim, profile->stop)) {
        sim_server_stop(sim);
    }
    if (sim_chance(sim, profile->reset)) {
        break_link(sim);
    }
    if (sim_chance(sim, profile->silence)) {
        silence_link(sim);
    }
    /* An organisation that was made, and whose key a clock days ahead has forgotten, cannot be made again. */
    if (sim->crowd->set_up && sim_chance(sim, profile->wall_jump)) {
        jump_wall(sim);
    }
    if (sim_chance(sim, profile->disk_full)) {
        sim_store_fill(sim, sim_delay(sim, 100 * SIM_MS, 5 * SIM_S));
    }
    if (sim_chance(sim, profile->read_error)) {
        sim_store_fail_reads(sim);
    }
}

/* Steps until `is_done` or for so long; false: it took longer. */
static bool run_until(struct sim *sim, int64_t duration_us, bool (*is_done)(const struct sim *sim))
{
    int64_t until_us = sim_now(sim) + duration_us;
    uint64_t crashes = sim->counts[SIM_CRASHES];
    unsigned checks = 0;

    while (!sim->failed && sim_now(sim) < until_us && !is_done(sim)) {
        if (!sim_step(sim)) {
            return false;
        }
        if (sim->counts[SIM_CRASHES] != crashes && sim->waits == 0 && checks < CHECKS_MAX) {
            crashes = sim->counts[SIM_CRASHES];
            checks++;
            sim_check_store(sim, false);
        }
    }
    return !sim->failed && is_done(sim);
}

static void calm_down(struct sim *sim)
{
    sim_trace(sim, "world: nothing goes wrong any more");
    sim->calm = true;
    sim->store->full_until_us = 0;
    for (int call = 0; call < FAULT_CALL_COUNT; call++) {
        sim->store->faults.plans[call].count = 0;
    }
    sim_net_heal(sim);
}

static bool has_nothing_left(const struct sim *sim)
{
    return sim_crowd_is_done(sim) && sim_server_is_up(sim);
}

static bool is_watched(const struct sim *sim)
{
    unsigned caller = 0;

    return sim_crowd_is_done(sim) && sim_crowd_watched_all(sim, &caller);
}

static bool is_idle(const struct sim *sim)
{
    return sim_server_is_idle(sim);
}

static bool never(const struct sim *sim)
{
    (void)sim;
    return false;
}

static void wait_calmly(struct sim *sim, int64_t duration_us)
{
    (void)run_until(sim, duration_us, never);
}

/* Final checks after faults are disabled: all calls end, acknowledged data is readable, watches
 * have caught up, and nothing is pending. */
static void end(struct sim *sim)
{
    unsigned caller = 0;

    if (!run_until(sim, SETTLE_US, has_nothing_left) && !sim->failed) {
        sim_fail(sim, "%" PRIu64 " calls are under way %d s after the last trouble",
                 sim->crowd->under_way, (int)(SETTLE_US / SIM_S));
    }
    /* Connections that are stopped or silent, and the bucket of repeats. */
    wait_calmly(sim, 12 * SIM_S);
    sim_crowd_audit(sim);
    if (!run_until(sim, AUDIT_US, is_watched) && !sim->failed) {
        (void)sim_crowd_watched_all(sim, &caller);
        sim_fail(sim, "the watch of caller %u is at event %" PRIu64 " of %" PRIu64, caller,
                 sim->crowd->members[caller].watch_next,
                 sim_check_last_seq(sim, sim->crowd->members[caller].caller.org));
    }
    sim_crowd_check_revoked(sim);
    sim_crowd_finish(sim);
    if (!run_until(sim, AUDIT_US, is_idle) && !sim->failed) {
        sim_fail(sim, "the server has calls or jobs under way, but no caller has");
    }
}

/* Ends all remaining objects without leaks. A failed fixture is left unchanged. */
static bool end_fixture(struct sim *sim)
{
    if (!sim->failed) {
        sim_crowd_close(sim);
    }
    if (!sim->failed) {
        sim_server_close(sim);
    }
    if (!sim->failed) {
        sim_check_store(sim, true);
    }
    if (!sim->failed) {
        sim_model_close(sim);
        sim_store_close(sim);
        sim_net_close(sim);
    }
    sim_deinit(sim);
    return !sim->failed;
}

bool sim_run(struct sim *sim, uint64_t seed, unsigned steps)
{
    sim_init(sim, seed);
    sim_net_open(sim);
    sim_store_open(sim);
    sim_model_open(sim, 2 + (unsigned)(sim_draw(sim, 4) == 0));
    sim_server_open(sim);
    sim_crowd_open(sim, steps);
    sim_at(sim, CHAOS_US, on_chaos, NULL, 0);
    if (!run_until(sim, RUN_US, sim_crowd_is_done) && !sim->failed) {
        sim_trace(sim, "world: the callers are not done");
    }
    calm_down(sim);
    end(sim);
    return end_fixture(sim);
}
