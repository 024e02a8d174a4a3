/*
 * engine.h: a run on real sockets, in one thread with epoll: connects, starts the run (run.h), and measures the
 * resources that the server and this program use.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_ENGINE_H
#define ERRATA_TOOLS_BENCH_LOAD_ENGINE_H

#include "tools/bench/load/process.h"
#include "tools/bench/load/run.h"
#include "tools/bench/load/target.h"

#include <signal.h>

/* Time limit for the SETTINGS of the server. */
#define ENGINE_READY_NS UINT64_C(5000000000)

struct tls_context;

struct engine_options {
    const char *server; /* address of the server, as given */
    struct tls_context *tls; /* of a client, borrowed; NULL: cleartext */
    struct run_options run;
    struct connection_shared shared;
    const struct slice *tokens; /* values of the authorization header: "Bearer ..." */
    size_t token_count;
    const struct process_list
        *server_processes; /* processes to measure; empty: the process that listens at the port */
    const volatile sig_atomic_t *stop; /* ends the measurement if not 0 */
    /* About once a second, while it runs. */
    void (*on_progress)(void *user, const struct run *run);
    void *user;
};

/* Resources used between the start of the measurement and its last answer. */
struct engine_usage {
    bool known;
    uint64_t cpu_ns;
    uint64_t user_ns;
    uint64_t system_ns;
    uint64_t switches;
    uint64_t waited_ns; /* time spent waiting for a core; known only for this program */
    double seconds; /* length of that time */
    struct process_usage at_end;
};

struct engine_result {
    struct run run;
    struct engine_usage server;
    struct engine_usage client;
    struct process_list server_processes;
    uint32_t streams_allowed; /* the fewest that a connection may have */
    bool stopped; /* whether options->stop ended the run */
};

/* Makes one run. Returns ERR_UNAVAILABLE if the server cannot be reached, ERR_INVALID or
 * ERR_MEMORY, each with a message; OK for a completed run, even with wrong answers. */
MUST_CHECK enum err engine_run(const struct engine_options *options, struct fault *fault,
                               struct engine_result *ret_result);
/* Accepts a zeroed one. */
void engine_result_deinit(struct engine_result *result);

#endif
