/*
 * sim.h: the core of the simulation: one seed, one clock, one queue of events. Everything in the
 * simulated world is an event in this queue: bytes that arrive, a disk that is done, a server that
 * dies. Two runs of one seed are identical to the byte.
 * The writer's thread and the threads of the pool are simulated too: while they wait (for a commit,
 * a PDF), the loop's events continue inside (sim_wait), as they would beside a real thread.
 */
#ifndef ERRATA_TESTS_SIM_SIM_H
#define ERRATA_TESTS_SIM_SIM_H

#include "store/base/attributes.h"
#include "store/base/clock.h"
#include "store/base/fault_point.h"
#include "store/base/random.h"
#include "store/base/sha256.h"

#include <stdio.h>

#define SIM_MS INT64_C(1000)
#define SIM_S (1000 * SIM_MS)
#define SIM_HOUR (3600 * SIM_S)
/* 2026-01-01T00:00:00Z. */
#define SIM_START_US INT64_C(1767225600000000)
/* Events of one run: far above what any takes; more is a fixture that spins. */
#define SIM_EVENTS_MAX 5000000u
/* Maximum threads that wait at once: the writer's and the pool's. */
#define SIM_WAITS_MAX 3
#define SIM_MESSAGE_BYTES 512
/* Denominator of chances. */
#define SIM_ALWAYS 10000u

struct sim;

typedef void sim_run_fn(struct sim *sim, void *object, uint64_t number);

struct sim_event {
    int64_t at_us; /* monotonic */
    uint64_t order; /* order of requests, for events at the same time */
    sim_run_fn *run;
    void *object; /* exists until the end of the run */
    uint64_t number; /* subject of the event, usually an incarnation */
    bool armed; /* fault points may fail in it, since it belongs to the server */
};

/* Probabilities of faults in this run, as parts of SIM_ALWAYS. Each seed has a different mixture,
 * since frequent faults hide rare ones. */
struct sim_profile {
    uint32_t crash; /* chances per round of chaos */
    uint32_t stop;
    uint32_t reset; /* reset of a connection */
    uint32_t silence; /* a connection that becomes silent without notice to either side */
    uint32_t wall_jump;
    uint32_t disk_full;
    uint32_t commit_error; /* a chance a commit */
    uint32_t commit_broken;
    uint32_t commit_slow;
    uint32_t read_error; /* a chance per round of chaos */
    uint32_t point; /* a fault point, each time */
    uint32_t document_bad; /* a document */
    uint32_t pool_busy;
    uint32_t small_pieces; /* bytes that arrive one by one, a chance a connection */
    uint32_t slow_pieces; /* the chance per piece that a pipe stalls */
    uint32_t cancel; /* a call */
    bool chaos_in_setup;
    bool families; /* callers mostly ingest documents and change their layout families */
};

struct sim {
    uint64_t seed;
    bool traced; /* print a trace to standard output */
    bool hashed; /* the trace's hash is wanted */
    struct sha256_digest trace;
    /* The queue: a binary heap. */
    struct sim_event *events; /* owned */
    size_t event_count;
    size_t event_room;
    uint64_t event_order;
    uint64_t events_run;
    struct clock_manual clock;
    int64_t wall_ahead_us; /* sum of all forward steps of the wall clock */
    int64_t started_ahead_us; /* the same when the server was last started */
    int64_t crept_us; /* sum of forward steps too small for a server to notice */
    struct random_seeded draws; /* random source of the simulation */
    struct random_seeded server_random; /* random source of the server */
    struct random_seeded client_random;
#ifdef ERRATA_FAULTS
    struct fault_driver points; /* the fault points' */
#endif
    bool points_armed;
    struct sim_profile profile;
    bool calm; /* no more faults occur */
    unsigned waits; /* number of nested waiting threads */
    bool failed;
    char message[SIM_MESSAGE_BYTES]; /* the first thing that was wrong */
    uint64_t counts[16]; /* indexed by enum sim_count */
    struct sim_net *net;
    struct sim_store *store;
    struct sim_server *server;
    struct sim_model *model;
    struct sim_crowd *crowd;
};

/* Counted events of a run, for people and for the test that every kind occurs. */
enum sim_count {
    SIM_CALLS,
    SIM_ANSWERS, /* calls that ended with OK */
    SIM_WRITES, /* acknowledged */
    SIM_REPEATS, /* repeated writes with the same key */
    SIM_UNKNOWN, /* writes that ended without a result */
    SIM_CRASHES,
    SIM_STOPS,
    SIM_BROKEN, /* stores that refused all calls */
    SIM_KEPT, /* commits in flight at a crash that were kept */
    SIM_LOST, /* commits in flight at a crash that were lost */
    SIM_RESETS,
    SIM_SILENCES,
    SIM_COMMIT_ERRORS,
    SIM_POINTS, /* fault points that failed */
    SIM_JUMPS,
    SIM_WATCHED, /* events delivered to watches */
    SIM_COUNTS
};

_Static_assert(SIM_COUNTS <= 16, "counts has room for them all");

void sim_init(struct sim *sim, uint64_t seed);
void sim_deinit(struct sim *sim);

/* Records a defect of the server: the run ends, and reports the first one. */
void sim_fail(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);
/* A line of the trace: the event, without addresses. */
void sim_trace(struct sim *sim, const char *format, ...) PRINTF_LIKE(2, 3);

/* A number below `below`, which is not 0. */
uint64_t sim_draw(struct sim *sim, uint64_t below);
/* True `chance` times of SIM_ALWAYS. */
bool sim_chance(struct sim *sim, uint32_t chance);
/* Between two times, the short ones as likely as the long ones by their orders of magnitude. */
int64_t sim_delay(struct sim *sim, int64_t least_us, int64_t most_us);

int64_t sim_now(const struct sim *sim);
void sim_jump_wall(struct sim *sim, int64_t by_us);

/* `run` happens after a delay; 0: after what is due already. */
void sim_at(struct sim *sim, int64_t delay_us, sim_run_fn *run, void *object, uint64_t number);
/* The same for what the server does: fault points may fail in it. */
void sim_at_server(struct sim *sim, int64_t delay_us, sim_run_fn *run, void *object,
                   uint64_t number);
/* Runs the next event; false if there is none, or the run is over. */
bool sim_step(struct sim *sim);
/* Runs what is due until a time. */
void sim_run_until(struct sim *sim, int64_t until_us);
/* A thread waits: the loop continues meanwhile, unless too many wait already. */
void sim_wait(struct sim *sim, int64_t duration_us);

#endif
