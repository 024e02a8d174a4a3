/*
 * sim.c: draws, the clock, the queue of events, the trace.
 */
#include "tests/sim/sim.h"

#include "store/base/assert.h"
#include "store/idempotency.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw64(struct sim *sim)
{
    uint64_t bits = 0;

    random_fill(&sim->draws.random, &bits, sizeof(bits));
    return bits;
}

uint64_t sim_draw(struct sim *sim, uint64_t below)
{
    return draw64(sim) % below;
}

bool sim_chance(struct sim *sim, uint32_t chance)
{
    return chance > 0 && sim_draw(sim, SIM_ALWAYS) < chance;
}

int64_t sim_delay(struct sim *sim, int64_t least_us, int64_t most_us)
{
    int64_t top = least_us > 0 ? least_us : 1;

    while (top < most_us && sim_draw(sim, 3) != 0) {
        top *= 2;
    }
    top = top > most_us ? most_us : top;
    return top <= least_us ? least_us
                           : least_us + (int64_t)sim_draw(sim, (uint64_t)(top - least_us));
}

#ifdef ERRATA_FAULTS

static bool point_fails(struct fault_driver *driver, const char *name)
{
    struct sim *sim = (struct sim *)(void *)((char *)driver - offsetof(struct sim, points));

    if (!sim->points_armed || sim->calm || !sim_chance(sim, sim->profile.point)) {
        return false;
    }
    sim->counts[SIM_POINTS]++;
    sim_trace(sim, "point %s fails", name);
    return true;
}

#endif

/* Each run enables half of the failures, each with a random frequency. */
static uint32_t draw_chance(struct sim *sim, uint32_t most)
{
    return sim_draw(sim, 2) == 0 ? 0 : 1 + (uint32_t)sim_draw(sim, most);
}

static void draw_profile(struct sim *sim)
{
    sim->profile = (struct sim_profile){
        .crash = draw_chance(sim, 700),
        .stop = draw_chance(sim, 250),
        .reset = draw_chance(sim, 1200),
        .silence = draw_chance(sim, 300),
        .wall_jump = draw_chance(sim, 900),
        .disk_full = draw_chance(sim, 300),
        .commit_error = draw_chance(sim, 600),
        .commit_broken = draw_chance(sim, 150),
        .commit_slow = draw_chance(sim, 3000),
        .read_error = draw_chance(sim, 600),
        .point = draw_chance(sim, 12),
        .document_bad = draw_chance(sim, 5000),
        .pool_busy = draw_chance(sim, 2000),
        .small_pieces = draw_chance(sim, 4000),
        .slow_pieces = draw_chance(sim, 300),
        .cancel = draw_chance(sim, 1500),
        .chaos_in_setup = sim_draw(sim, 4) == 0,
        .families = sim_draw(sim, 4) == 0,
    };
}

void sim_init(struct sim *sim, uint64_t seed)
{
    *sim = (struct sim){.seed = seed, .traced = sim->traced, .hashed = sim->hashed};
    random_seeded_init(&sim->draws, seed);
    random_seeded_init(&sim->server_random, seed ^ UINT64_C(0x5e12e12));
    random_seeded_init(&sim->client_random, seed ^ UINT64_C(0xc11e47));
    clock_manual_init(&sim->clock, SIM_START_US);
    draw_profile(sim);
#ifdef ERRATA_FAULTS
    sim->points.fails = point_fails;
    fault_point_set_driver(&sim->points);
#endif
}

void sim_deinit(struct sim *sim)
{
#ifdef ERRATA_FAULTS
    fault_point_set_driver(NULL);
#endif
    free(sim->events);
    sim->events = NULL;
}

void sim_fail(struct sim *sim, const char *format, ...)
{
    va_list values;

    if (sim->failed) {
        return;
    }
    sim->failed = true;
    va_start(values, format);
    (void)vsnprintf(sim->message, sizeof(sim->message), format, values);
    va_end(values);
    sim_trace(sim, "WRONG: %s", sim->message);
}

void sim_trace(struct sim *sim, const char *format, ...)
{
    char line[SIM_MESSAGE_BYTES + 64];
    va_list values;
    int head = 0;
    int size = 0;

    if (!sim->traced && !sim->hashed) {
        return;
    }
    head = snprintf(line, sizeof(line), "%10.3f  ", (double)sim_now(sim) / (double)SIM_MS);
    va_start(values, format);
    size = vsnprintf(line + head, sizeof(line) - (size_t)head, format, values);
    va_end(values);
    size = size + head < (int)sizeof(line) ? size + head : (int)sizeof(line) - 1;
    if (sim->hashed) {
        const struct slice pieces[] = {slice_of(sim->trace.bytes, sizeof(sim->trace.bytes)),
                                       slice_of(line, (size_t)size)};

        sim->trace = sha256_pieces(pieces, 2);
    }
    if (sim->traced) {
        (void)puts(line);
    }
}

int64_t sim_now(const struct sim *sim)
{
    return sim->clock.monotonic_us;
}

void sim_jump_wall(struct sim *sim, int64_t by_us)
{
    sim->clock.wall_us += by_us;
    sim->wall_ahead_us += by_us > 0 ? by_us : 0;
    sim->crept_us += by_us > 0 && by_us <= IDEMPOTENCY_JUMP_US ? by_us : 0;
}

static bool comes_before(const struct sim_event *one, const struct sim_event *other)
{
    return one->at_us < other->at_us || (one->at_us == other->at_us && one->order < other->order);
}

static void swap(struct sim_event *one, struct sim_event *other)
{
    struct sim_event kept = *one;

    *one = *other;
    *other = kept;
}

static void add_event(struct sim *sim, int64_t delay_us, struct sim_event event)
{
    size_t at = sim->event_count;

    ASSERT(delay_us >= 0);
    if (sim->event_count == sim->event_room) {
        sim->event_room = sim->event_room == 0 ? 256 : sim->event_room * 2;
        sim->events = realloc(sim->events, sim->event_room * sizeof(*sim->events));
        ASSERT(sim->events != NULL);
    }
    event.at_us = sim_now(sim) + delay_us;
    event.order = sim->event_order++;
    sim->events[sim->event_count++] = event;
    while (at > 0 && comes_before(&sim->events[at], &sim->events[(at - 1) / 2])) {
        swap(&sim->events[at], &sim->events[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

void sim_at(struct sim *sim, int64_t delay_us, sim_run_fn *run, void *object, uint64_t number)
{
    add_event(sim, delay_us, (struct sim_event){.run = run, .object = object, .number = number});
}

void sim_at_server(struct sim *sim, int64_t delay_us, sim_run_fn *run, void *object,
                   uint64_t number)
{
    add_event(sim, delay_us,
              (struct sim_event){.run = run, .object = object, .number = number, .armed = true});
}

static struct sim_event take_first(struct sim *sim)
{
    struct sim_event first = sim->events[0];
    size_t at = 0;
    size_t least = 0;

    sim->events[0] = sim->events[--sim->event_count];
    do {
        swap(&sim->events[at], &sim->events[least]);
        at = least;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < sim->event_count &&
                comes_before(&sim->events[child], &sim->events[least])) {
                least = child;
            }
        }
    } while (least != at);
    return first;
}

static void move_clock(struct sim *sim, int64_t to_us)
{
    if (to_us > sim_now(sim)) {
        sim->wall_ahead_us += to_us - sim_now(sim);
        sim->crept_us += to_us - sim_now(sim);
        clock_manual_advance(&sim->clock, to_us - sim_now(sim));
    }
}

bool sim_step(struct sim *sim)
{
    struct sim_event event;
    bool armed = false;

    if (sim->event_count == 0 || sim->failed) {
        return false;
    }
    if (++sim->events_run > SIM_EVENTS_MAX) {
        sim_fail(sim, "the world spins: %u events", SIM_EVENTS_MAX);
        return false;
    }
    event = take_first(sim);
    move_clock(sim, event.at_us);
    armed = sim->points_armed;
    sim->points_armed = event.armed;
    event.run(sim, event.object, event.number);
    sim->points_armed = armed;
    return true;
}

void sim_run_until(struct sim *sim, int64_t until_us)
{
    while (!sim->failed && sim->event_count > 0 && sim->events[0].at_us <= until_us) {
        (void)sim_step(sim);
    }
    move_clock(sim, until_us);
}

void sim_wait(struct sim *sim, int64_t duration_us)
{
    int64_t until_us = sim_now(sim) + duration_us;

    if (sim->waits == SIM_WAITS_MAX) {
        return;
    }
    sim->waits++;
    sim_run_until(sim, until_us);
    sim->waits--;
}
