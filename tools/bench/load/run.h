/*
 * run.h: one run of a load, without sockets and with the time as a parameter: which call starts when
 * on which connection, and what is known of the answers. The run warms up, measures, and then waits
 * for what is still in flight; calls belong to the measure by when they were due.
 *
 * Open loop: a call that is due is started independently of answers, and its time counts from when it
 * was due; so a stall of the server, or of this program, is in the times of all calls that came due
 * meanwhile ("coordinated omission" is to leave them out). Closed loop: an answer starts the next.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_RUN_H
#define ERRATA_TOOLS_BENCH_LOAD_RUN_H

#include "tools/bench/load/connection.h"
#include "tools/bench/load/histogram.h"
#include "tools/bench/load/schedule.h"

/* Maximum kinds of wrong answers that are counted separately. */
#define RUN_WRONG_MAX 32
/* Points of the curves over time: one a second, a short run's closer, a long run's farther apart. */
#define RUN_INTERVALS_MIN 20
#define RUN_INTERVALS_MAX 600
#define RUN_INTERVAL_NS UINT64_C(1000000000)
#define RUN_INTERVAL_NS_MIN UINT64_C(100000000)
/* Maximum calls started in one turn, before answers are looked at again. */
#define RUN_BURST_MAX 256
/* Maximum time to wait for the last answers. */
#define RUN_LINGER_NS UINT64_C(10000000000)
/* Time after the end in which overdue calls are still started. */
#define RUN_LATE_NS UINT64_C(100000000)
#define RUN_PROBLEM_BYTES 160

struct run_options {
    size_t connection_count;
    double rate; /* calls per second over all connections; 0: closed loop */
    bool poisson;
    uint64_t in_flight; /* closed loop: concurrent calls of each connection */
    uint64_t duration_ns; /* 0: until call_limit is reached */
    uint64_t call_limit; /* 0: until duration_ns has passed */
    uint64_t warm_up_ns;
    uint64_t seed;
};

/* Results of the measured calls of one kind. */
struct run_tally {
    uint64_t started;
    uint64_t answered;
    uint64_t right;
    uint64_t body_bytes;
    struct histogram latency;
};

struct run_wrong {
    uint32_t kind;
    enum answer_wrong wrong;
    uint64_t code;
    uint64_t count;
    uint8_t message[CONNECTION_MESSAGE_BYTES_MAX]; /* message of the first one, percent-encoded */
    size_t message_size;
};

/* Calls that ended in one interval, whichever phase they began in. */
struct run_interval {
    uint64_t count;
    struct histogram latency; /* coarse */
};

enum run_phase {
    RUN_WARM_UP,
    RUN_MEASURED,
    RUN_DRAINING, /* no new calls start */
    RUN_ENDED
};

struct run {
    struct run_options options;
    struct connection_shared shared;
    struct connection **connections; /* owned */
    size_t *refill; /* closed loop: number of calls that may start, by connection; owned */
    size_t *dirty; /* connections with new output in this turn; owned */
    bool *is_dirty; /* owned */
    size_t dirty_count;

    enum run_phase phase;
    uint64_t now_ns; /* start time of the current turn */
    uint64_t measured_from_ns;
    uint64_t end_ns; /* UINT64_MAX if only call_limit ends the run */
    uint64_t last_answer_ns;
    struct schedule schedule;
    struct draw draw; /* random source for the kinds of calls */
    uint64_t weight_sum;
    uint64_t next_connection;
    uint64_t in_flight_count; /* calls passed to connections that have not ended */

    struct run_tally tallies[LOAD_KINDS_MAX];
    struct histogram lag; /* delays of the measured calls of an open loop */
    uint64_t measured_started;
    uint64_t measured_answered;
    uint64_t
        ended_since_measured; /* calls of any phase that ended since the start of the measurement */
    uint64_t ended_in_measure; /* those of them that ended within the measurement */
    uint64_t unsent; /* measured calls that never got a stream */
    uint64_t unstarted; /* scheduled calls that this program did not start in time */
    uint64_t interval_ns;
    size_t interval_count;
    struct run_interval *intervals; /* owned */
    struct run_wrong wrongs[RUN_WRONG_MAX];
    size_t wrong_count;
    uint64_t wrong_total; /* measured wrong answers, including those that are not listed */
    char problem[RUN_PROBLEM_BYTES]; /* reason for the loss of a connection, which ends the run */
};

/* Makes the connections, which keep a pointer to the run: it stays where it is. `shared` is copied,
 * and its owner and callback are filled in. The token of connection k is k modulo their number;
 * without any, none is sent. */
MUST_CHECK enum err run_init(struct run *run, const struct run_options *options,
                             const struct connection_shared *shared, const struct slice *tokens,
                             size_t token_count, struct fault *fault);
/* Accepts a zeroed one. */
void run_deinit(struct run *run);
/* Frees the connections of an ended run; its results are kept. */
void run_disconnect(struct run *run);

bool run_is_ready(const struct run *run);
/* Begins the warm-up; all connections are ready. */
void run_begin(struct run *run, uint64_t now_ns);
/* Starts the calls that are due and advances through the phases. Returns the time of the next
 * action. */
uint64_t run_turn(struct run *run, uint64_t now_ns);
/* Feeds bytes from the server; has no effect once a connection was lost. */
void run_feed(struct run *run, size_t connection, struct slice bytes, uint64_t now_ns);
/* Called when a connection has ended, or has room for its output again. */
void run_lose(struct run *run, size_t connection, const char *problem, uint64_t now_ns);
void run_advance(struct run *run, size_t connection, uint64_t now_ns);
/* Returns the next connection with new output; false if there is none. */
bool run_take_dirty(struct run *run, size_t *ret_connection);
/* Ends the measurement at the user's request. */
void run_stop(struct run *run, uint64_t now_ns);

/* Returns the length of the measurement in seconds. */
double run_seconds(const struct run *run);
/* Returns the number of answered calls per second of the measurement. */
double run_rate(const struct run *run);
/* Computes the total of all kinds; the caller deinits its histogram. */
MUST_CHECK enum err run_total(const struct run *run, struct run_tally *ret_total);

#endif
