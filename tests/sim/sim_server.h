/*
 * sim_server.h: the server as app puts it together, without libuv: HTTP/2, gRPC, services, auth, the
 * writer and the store, started, crashed, stopped and started again on the same disk. What libuv
 * would call is called by events.
 */
#ifndef ERRATA_TESTS_SIM_SIM_SERVER_H
#define ERRATA_TESTS_SIM_SIM_SERVER_H

#include "server/grpc/grpc.h"
#include "server/http2/h2.h"
#include "server/pipeline/pipeline.h"
#include "tests/sim/sim_documents.h"
#include "tests/sim/sim_net.h"

/* `errata_...` and a NUL. */
#define SIM_TOKEN_BYTES 128

enum sim_server_state {
    SIM_SERVER_DOWN,
    SIM_SERVER_STARTING,
    SIM_SERVER_SERVING,
    SIM_SERVER_STOPPING /* a signal came: what runs continues */
};

/* A job of the pool. */
struct sim_job {
    struct sim_job *next;
    void (*work)(void *job);
    void (*done)(void *job, enum err result);
    void *job;
    bool worked;
    bool working;
};

struct sim_server {
    struct sim *sim;
    enum sim_server_state state;
    uint64_t incarnation; /* events of an earlier incarnation have no effect */
    bool doomed; /* the process is dead, but a thread of it is still on our stack */
    struct arena arena;
    struct fault fault;
    struct ctx ctx;
    struct service_env env;
    struct writer *writer;
    struct auth *auth;
    struct pipeline *pipeline;
    struct call_server *calls;
    struct grpc_server *grpc;
    struct net_protocol protocol;
    bool turn_asked;
    bool step_asked;
    bool end_asked; /* the end of a turn that has more to do */
    bool writing; /* the writer's thread is at work */
    struct sim_link *dirty;
    struct sim_job *jobs;
    size_t job_count;
    struct sim_documents documents;
    int64_t sessions_ticked_us;
    int64_t stop_by_us; /* time at which the remaining connections are closed */
    int64_t stopped_by_us; /* time by which it must have ended */
    char admin_token[SIM_TOKEN_BYTES]; /* the file of the first start; outlives the server */
};

void sim_server_open(struct sim *sim);
/* Ends the server, and checks that nothing is left. */
void sim_server_close(struct sim *sim);
/* Requests a start after a delay. */
void sim_server_start(struct sim *sim, int64_t delay_us);
/* The process ends at once; another one is started later. */
void sim_server_crash(struct sim *sim, const char *why);
/* A signal requests its end; another one is started later. */
void sim_server_stop(struct sim *sim);
/* Returns whether it was killed while one of its threads is on the stack. */
bool sim_server_is_doomed(const struct sim *sim);
bool sim_server_is_up(const struct sim *sim);
/* Returns whether nothing is running in it. */
bool sim_server_is_idle(const struct sim *sim);
/* Sends its output; call it after each event. */
void sim_server_end_turn(struct sim_server *server);
/* Called when a thread of the server returns; frees a server that was killed before. */
void sim_server_after_thread(struct sim_server *server);

/* Events of links. */
bool sim_server_accept(struct sim *sim, struct sim_link *link);
/* Bytes; none: the end. */
void sim_server_take(struct sim_link *link, struct slice bytes);
void sim_server_room(struct sim_link *link);

#endif
