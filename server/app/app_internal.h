/*
 * app_internal.h: the server's parts and its loop's handles, for app*.c alone.
 */
#ifndef ERRATA_SERVER_APP_APP_INTERNAL_H
#define ERRATA_SERVER_APP_APP_INTERNAL_H

#include "server/app/backup.h"
#include "server/app/config.h"
#include "server/app/verifier.h"
#include "server/domain/admin/admin.h"
#include "server/grpc/grpc.h"
#include "server/http2/h2.h"
#include "server/jobs/pdf/pdf_jobs.h"
#include "server/jobs/pool.h"
#include "server/net/server.h"
#include "server/pipeline/pipeline.h"
#include "store/lmdb/lmdb.h"

#include <stdatomic.h>
#include <uv.h>

enum app_state {
    APP_STARTING,
    APP_SERVING,
    APP_DRAINING,
    APP_CLOSING,
    APP_ENDED
};

/* app_access.c: who can administer the server. `read*` is the pool's while `reading`. */
struct app_access {
    struct admin_server_access found;
    uint64_t version; /* of the token table, when `found` was read */
    bool known; /* `found` was read */
    bool is_warned; /* health and log have warned */
    uint64_t log_again_ms; /* by the loop's clock */
    bool reading;
    struct admin_server_access read;
    uint64_t read_version;
    enum err read_result;
};

/* Lines about connections without room: a minute between them, so that a crowd fills no log. */
#define APP_PRESSURE_LOG_US (60 * INT64_C(1000000))

/* What the last line about want of room for connections said. */
struct app_pressure {
    uint64_t evicted;
    uint64_t refused;
    int64_t logged_us; /* 0: never */
};

struct app {
    const struct config *config;
    enum app_state state;
    int exit_status;
    struct arena arena; /* what lives as long as the server */
    struct arena start_arena; /* what starting needs */
    struct fault fault;
    struct ctx ctx;
    struct service_env env;
    uv_loop_t loop;
    uv_async_t writer_async; /* completions of the writer wait */
    uv_idle_t turn_idle; /* streams wait for their turn */
    uv_prepare_t turn_prepare; /* the loop is about to wait */
    uv_signal_t signals[3]; /* SIGTERM, SIGINT, SIGHUP */
    uv_timer_t health_timer;
    uv_timer_t upkeep_timer;
    uv_poll_t widest_poll; /* app_start_handles */
    bool handles_started; /* signals and timers */
    bool handles_closed;
    /* From the bottom up; NULL until made. */
    struct store_backend *backend;
    struct pool *pool;
    struct verifier *verifier;
    struct backup *backup;
    struct pdf_jobs *pdf; /* stays NULL without a worker program */
    struct auth *auth;
    struct writer *writer;
    struct pipeline *pipeline;
    struct call_server *calls;
    struct grpc_server *grpc;
    struct net_server *net;
    struct net_bound bound; /* until `net` listens on it */
    struct document_jobs documents; /* `pdf`, as the services know it */
    char pdf_program[CONFIG_PATH_BYTES_MAX];
    bool pdf_started;
    bool pdf_serving; /* the worker is ready */
    uint32_t connections_max; /* app_allow_connections */
    struct app_pressure pressure;
    bool net_closed; /* net_server_close has called back */
    bool warming; /* the tables are being read ahead */
    bool giving_back; /* memory, on the pool */
    struct app_access access;
    bool lost_file; /* app_lost_file has said so */
    size_t spare_bytes; /* of the heap, when some was last given back: this much stays */
    uint64_t warm_from_ms; /* by the loop's clock: it began */
    atomic_bool stop_warming;
    enum err warm_result;
};

/* Whether this process may have as many open files as a server without connections needs; else the log
 * says how many. Before app_init, which takes the first ones. */
MUST_CHECK bool app_has_descriptors(void);
/* The loop, the arenas and the three handles that the parts need; `turn_prepare` is not started. */
void app_init(struct app *app, void (*on_writer_async)(uv_async_t *handle));
/* As many connections as were configured, or as the process may have descriptors for, beside what else needs
 * some; raises the soft limit of them first, and logs where fewer are allowed. */
uint32_t app_allow_connections(const struct config *config);
/* Logs connections that were ended or refused for want of room, at most once in APP_PRESSURE_LOG_US. */
void app_log_pressure(struct app *app, int64_t now_us);
/* Signals and timers: from here on the loop has something to wait for. */
void app_start_handles(struct app *app, void (*on_signal)(uv_signal_t *handle, int number),
                       void (*on_health_timer)(uv_timer_t *handle),
                       void (*on_upkeep_timer)(uv_timer_t *handle));
/* libuv aborts where it can't have its threads or grow its tables. Until the server serves, that ends
 * the program as any failed start does: with a line, and APP_EXIT_FAILED. SIGHUP ends it at no time: one
 * that comes before the loop handles signals is logged by app_start_handles, one after it is ignored. */
void app_guard_start(void);
/* Logs a SIGHUP: the server goes on as it is. */
void app_log_hangup(void);
void app_end_start_guard(void);
/* Closes all handles, so that the loop ends; twice is once. */
void app_close_handles(struct app *app);
/* Frees the parts from the top down; the loop has ended. */
void app_deinit(struct app *app);
/* Ends the loop once everything that was accepted is answered. */
void app_close_if_idle(struct app *app);
void app_log_failure(const struct app *app, const char *what, enum err err);

/* app_migrate.c: makes a store that has an older format again in this program's; no one may have it
 * open. A failure says why in `fault`, and leaves the store as it was. */
MUST_CHECK enum err app_migrate(const struct config *config, uint64_t format, struct fault *fault);

/* app_access.c */
/* To be called now and then: looks whether the server can be administered, and for how long. */
void app_access_check(struct app *app);
/* Reports what is known of it to health and log; healthy until it is known. */
void app_access_report(struct app *app);

/* app_folder.c */
/* Compares a store that is a copy of an open one with its log, and accepts it. ERR_CORRUPT, with what to
 * do in `fault`, if it does not hold together. Takes as long as a verification. */
MUST_CHECK enum err app_check_copy(const struct config *config, struct store_backend *backend,
                                   struct fault *fault);
/* The data file was removed; the first time it is logged. */
bool app_lost_file(struct app *app);

/* app_pdf.c */
/* Makes what measures documents, where the worker program is there; the log says where it is not. */
MUST_CHECK enum err app_pdf_make(struct app *app);
/* What the services get of it; NULL if documents can't be measured. */
const struct document_jobs *app_pdf_documents(const struct app *app);
/* Starts the worker. */
void app_pdf_start(struct app *app);
/* Ends it, once no call is live; from then on the loop has nothing of it. */
void app_pdf_stop(struct app *app);
/* Reports the services whether documents are measured. */
void app_pdf_tell_health(struct app *app);
/* Its numbers for GetServerInfo, zeros without it. */
size_t app_pdf_read_counters(const struct app *app, struct env_counter *counters, size_t max);

#endif
