/*
 * app_internal.h: the server's parts and the loop's handles; private to app*.c.
 */
#ifndef ERRATA_SERVER_APP_APP_INTERNAL_H
#define ERRATA_SERVER_APP_APP_INTERNAL_H

#include "server/api/decisions/intake_batch.h"
#include "server/app/address_file.h"
#include "server/app/backup.h"
#include "server/app/config.h"
#include "server/app/supervisor.h"
#include "server/app/verifier.h"
#include "server/auth/auth.h"
#include "server/domain/admin/admin.h"
#include "server/grpc/grpc.h"
#include "server/http/http_cors.h"
#include "server/http1/http1.h"
#include "server/http2/h2.h"
#include "server/jobs/pdf/pdf_jobs.h"
#include "server/jobs/pool.h"
#include "server/mcp/mcp.h"
#include "server/net/dial.h"
#include "server/net/server.h"
#include "server/pipeline/eraser.h"
#include "server/pipeline/export_recorder.h"
#include "server/pipeline/organization_deleter.h"
#include "server/pipeline/pipeline.h"
#include "server/pipeline/proposal_batch.h"
#include "server/pipeline/retention_sweeper.h"
#include "server/redis/redis_consumer.h"
#include "server/tls/tls.h"
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

/* app_access.c: whether the server can be administered. `read*` fields belong to the pool while
 * `reading`. */
struct app_access {
    struct admin_server_access found;
    uint64_t version; /* version of the token table from which `found` was read */
    bool known; /* `found` has been read */
    bool is_warned; /* health and the log have warned */
    uint64_t log_again_ms; /* time of the next log line, by the loop's clock */
    bool reading;
    struct admin_server_access read;
    uint64_t read_version;
    enum err read_result;
};

/* app_tokens.c: the tokens that expire soon. `read*` fields belong to the pool while `reading`. */
struct app_tokens {
    struct admin_token_expiry found;
    uint64_t version; /* version of the token table from which `found` was read */
    bool known; /* `found` has been read */
    bool is_warned; /* health and the log have warned */
    uint64_t log_again_ms; /* time of the next log line, by the loop's clock */
    bool reading;
    struct admin_token_expiry read;
    uint64_t read_version;
    enum err read_result;
};

/* app_token_uses.c: the write of the days on which tokens were used. */
struct app_token_uses {
    struct work_request work; /* first; the writer's while `writing` */
    struct app *app;
    bool writing;
    uint64_t day;
    uint32_t key_ids[AUTH_USES_MAX];
    size_t count;
    struct arena arena; /* of `ctx` */
    struct fault fault;
    struct ctx ctx;
};

/* Interval of log lines about refused connections, so that a burst does not fill the log. */
#define APP_PRESSURE_LOG_US (60 * INT64_C(1000000))

/* Interval of log lines about failed handshakes: scanners cause many. */
#define APP_HANDSHAKES_LOG_US (60 * INT64_C(1000000))

/* State of the last log line about refused connections. */
struct app_pressure {
    uint64_t evicted;
    uint64_t refused;
    int64_t logged_us; /* time of the last log line; 0: none */
};

/* Maximum connections of --metrics-listen: some collectors, each with one or two. */
#define APP_METRICS_CONNECTIONS_MAX 64

/* app_metrics.c: the listener of --metrics-listen; all NULL without it. */
struct app_metrics {
    struct net_bound bound; /* until `net` takes it */
    struct call_server *calls; /* without methods */
    struct http_cors cors; /* no origins */
    struct http_server *http;
    struct http1_server *http1;
    struct net_server *net;
    bool open; /* app_metrics_close was called, and has not ended */
};

/* Interval of log lines about a Redis server that can't be used. */
#define APP_REDIS_LOG_US (60 * INT64_C(1000000))
#define APP_REDIS_TICK_MS 100
#define APP_REDIS_PASSWORD_BYTES_MAX 512

/* app_redis.c: the stream of decisions; all NULL without one. */
struct app_redis {
    struct dial *dial;
    struct redis_consumer *consumer;
    struct intake *intake;
    uv_timer_t timer;
    bool has_timer; /* it was started */
    struct org_id org; /* since the last connection */
    struct arena arena; /* fields of the batch */
    struct stream_entry entries[REDIS_BATCH_MAX]; /* those of the batch that are stored */
    size_t places[REDIS_BATCH_MAX]; /* their places in the batch */
    size_t count;
    char password[APP_REDIS_PASSWORD_BYTES_MAX];
    uint64_t resumed; /* connections that were logged */
    uint64_t failures; /* that were logged, or are over */
    int64_t logged_us; /* time of the last log line about them; 0: none since the stream was read */
};

/* State of the last log line about failed handshakes. */
struct app_handshakes {
    uint64_t failed;
    uint64_t expired;
    int64_t logged_us; /* time of the last log line; 0: none */
};

struct app {
    struct config *config; /* changed by app_reload only */
    enum app_state state;
    int exit_status;
    struct arena arena; /* memory for the lifetime of the server */
    struct arena start_arena; /* memory needed only during the start */
    struct fault fault;
    struct ctx ctx;
    struct service_env env;
    uv_loop_t loop;
    uv_async_t writer_async; /* woken when completions of the writer wait */
    uv_idle_t turn_idle; /* active while streams wait for a turn */
    uv_prepare_t turn_prepare; /* runs before the loop blocks */
    uv_signal_t signals[3]; /* SIGTERM, SIGINT, SIGHUP */
    uv_timer_t health_timer;
    uv_timer_t upkeep_timer;
    uv_timer_t supervisor_timer; /* reports that the loop turns, if the manager expects it */
    struct supervisor supervisor;
    uv_poll_t widest_poll; /* app_start_handles */
    bool handles_started; /* the signals and timers are started */
    bool handles_closed;
    /* Created from the bottom up; NULL until then. */
    struct store_backend *tables; /* LMDB */
    struct store_backend
        *backend; /* the journal over the tables; without one, the tables themselves */
    struct pool *pool;
    struct verifier *verifier;
    struct backup *backup;
    struct eraser *eraser;
    struct export_recorder *exports;
    struct organization_deleter *deleter;
    struct pdf_jobs *pdf; /* NULL without a worker program */
    struct auth *auth;
    struct writer *writer;
    struct pipeline *pipeline;
    struct proposal_batch proposals;
    uint64_t proposals_at_ms; /* time of the next batch, by the loop's clock */
    struct retention_sweeper retention;
    struct app_redis redis;
    struct call_server *calls;
    struct plain_table plain; /* app_plain_make */
    struct mcp_server mcp_server;
    struct http_protocol mcp; /* made from `mcp_server` */
    const struct http_protocol *http_protocols[5]; /* in the order in which they are tried */
    struct plain_table open_plain; /* the same for --metrics-listen */
    struct app_metrics metrics;
    struct grpc_server *grpc;
    struct http_cors cors;
    struct http_server *http;
    struct http1_server *http1;
    struct tls_context *tls_context; /* until `tls` takes it; NULL: cleartext */
    struct tls_server *tls; /* NULL: cleartext */
    struct net_server *net;
    struct net_bound bound; /* bound sockets until `net` takes them */
    struct document_jobs documents; /* `pdf` in the form that the services use */
    char pdf_program[CONFIG_PATH_BYTES_MAX];
    bool pdf_started;
    bool pdf_serving; /* the worker is ready */
    uint32_t connections_max; /* app_allow_connections */
    struct app_pressure pressure;
    struct app_handshakes handshakes;
    bool net_closed; /* net_server_close has called back */
    bool warming; /* the tables are being read into memory */
    bool giving_back; /* the pool returns memory to the system */
    struct app_access access;
    struct app_tokens tokens;
    struct app_token_uses token_uses;
    struct slice model_file; /* mapped; empty without a model */
    bool lost_file; /* app_lost_file has logged the loss */
    struct address_file address;
    size_t spare_bytes; /* unused heap after the last return to the system, which stays allocated */
    uint64_t warm_from_ms; /* start of reading ahead, by the loop's clock */
    atomic_bool stop_warming;
    enum err warm_result;
};

/* Checks that this process may open as many files as a server without connections needs; logs the
 * limit if not. Call before app_init, which opens the first ones. */
MUST_CHECK bool app_has_descriptors(void);
/* Initialises the loop, the arenas and the three handles that the parts need; does not start
 * `turn_prepare`. */
void app_init(struct app *app, void (*on_writer_async)(uv_async_t *handle));
/* Returns the number of connections that was configured, or that the limit of descriptors allows
 * besides other uses; raises the soft limit first, and logs a reduction. */
uint32_t app_allow_connections(const struct config *config);
/* Callbacks of components, whose `user` is the app: overwrites the journal, on the pool; wakes the streams of an
 * organisation. */
MUST_CHECK enum err app_erase_journal(void *user);
void app_on_news(void *user, struct org_id org);
/* Makes the recorder of exports, for the pipeline; the writer exists. */
MUST_CHECK enum err app_export_make(struct app *app);
/* Makes the eraser, for the pipeline; the pool and the writer exist. */
MUST_CHECK enum err app_erase_make(struct app *app);
/* Makes the deleter of organisations; the pool and the writer exist. */
MUST_CHECK enum err app_delete_make(struct app *app);
/* Reports to the service manager that the server serves. */
void app_report_ready(const struct app *app);
/* Logs connections that were closed or refused for lack of room, at most once in
 * APP_PRESSURE_LOG_US. */
void app_log_pressure(struct app *app, int64_t now_us);
/* Starts signals and timers; the loop then has something to wait for. */
void app_start_handles(struct app *app, void (*on_signal)(uv_signal_t *handle, int number),
                       void (*on_health_timer)(uv_timer_t *handle),
                       void (*on_upkeep_timer)(uv_timer_t *handle));
/* Handles aborts of libuv, which cannot report missing threads or memory for its tables: until the
 * server serves, they end the program like any failed start, with a line and APP_EXIT_FAILED.
 * SIGHUP never ends it: app_start_handles reports one that came before the loop handles signals; one after that
 * is ignored. */
void app_guard_start(void);
void app_end_start_guard(void);
/* Closes all handles, so that the loop ends. May be called twice. */
void app_close_handles(struct app *app);
/* Frees the parts from the top down, after the loop has ended. */
void app_deinit(struct app *app);
/* Ends the loop if all accepted calls have been answered. */
void app_close_if_idle(struct app *app);
/* The same, as the callback of a component that has ended. `user` is the app. */
void app_on_idle(void *user);
/* Runs a job on the pool (pool_submit). `user` is the app. */
MUST_CHECK enum err app_run_on_pool(void *user, void (*work)(void *job),
                                    void (*done)(void *job, enum err result), void *job);
/* Copies counters, at most `max`, and returns their number. */
size_t app_copy_counters(const struct env_counter *from, size_t from_count,
                         struct env_counter *counters, size_t max);
void app_log_failure(const struct app *app, const char *what, enum err err);

/* app_migrate.c: rebuilds a store of an older format in this program's format; no process may have
 * it open. On failure `fault` has the reason, and the store is unchanged. */
MUST_CHECK enum err app_migrate(const struct config *config, uint64_t format, struct fault *fault);

/* app_access.c */
/* Checks periodically whether the server can be administered, and until when. */
void app_access_check(struct app *app);
/* Reports the last result to health and log; healthy until the first result. */
void app_access_report(struct app *app);

/* app_tokens.c */
/* Checks periodically which tokens expire soon. */
void app_tokens_check(struct app *app);

/* app_token_uses.c */
/* Writes which tokens were used for the first time on this day, unless such a write is running. */
void app_token_uses_write(struct app *app);
/* Reports the last result to health and log; healthy until the first result. */
void app_tokens_report(struct app *app);
/* Writes at most `max` counters of tokens that expire soon, and returns their number. */
size_t app_tokens_read_counters(const struct app *app, struct env_counter *counters, size_t max);

/* app_store.c */
/* Opens the store: migrates one of an older format, and stores what only its journal has. On failure app->fault has the
 * reason. */
MUST_CHECK enum err app_store_open(struct app *app);
/* Stores in the tables what is only in the journal, if the folder has one: to be called before any
 * other use of tables that were opened without it. */
MUST_CHECK enum err app_store_recover(const struct config *config, struct store_backend *tables,
                                      struct fault *fault);
/* Checks that no increment was restored in part (increment.h): ERR_PRECONDITION, explained in `fault`. */
MUST_CHECK enum err app_store_check_restored(const struct config *config,
                                             struct store_backend *tables, struct fault *fault);
/* NULL members are allowed. */
void app_store_close(struct app *app);
/* Returns whether the store refuses everything, so that only a restart helps. */
bool app_store_is_broken(const struct app *app);
/* The journal, for copies of the tables; NULL without one. */
struct store_backend *app_store_journal(const struct app *app);

/* app_folder.c */
/* Compares a copy of an open store with its log. ERR_CORRUPT, with advice in `fault`, if it is inconsistent. Takes as
 * long as a verification. */
MUST_CHECK enum err app_check_copy(const struct config *config, struct store_backend *backend,
                                   struct fault *fault);
/* Adds to the reason why a copy's journal cannot be read that it is a copy, and advice. */
enum err app_say_torn_journal(const struct config *config, struct fault *fault);
/* Returns whether the data file was removed; logs it the first time. */
bool app_lost_file(struct app *app);

/* app_embed.c */
/* Maps the configured model file and gives it to the services; without a valid one texts are compared by
 * n-grams, which is logged. After env_init. */
MUST_CHECK enum err app_embed_make(struct app *app);
/* Unmaps the model, after env_deinit. */
void app_embed_free(struct app *app);
/* Reports to the services whether there is a model. */
void app_embed_report_health(struct app *app);

/* app_metrics.c */
/* Binds --metrics-listen, before anything is created in the data folder. */
MUST_CHECK enum err app_metrics_bind(struct app *app);
/* Creates the parts, after app_plain_make and the services. */
MUST_CHECK enum err app_metrics_make(struct app *app);
/* Listens. */
MUST_CHECK enum err app_metrics_listen(struct app *app);
/* Closes it; app_close_if_idle is called afterwards. */
void app_metrics_close(struct app *app);
/* Frees the parts, after the loop has ended. */
void app_metrics_free(struct app *app);

/* app_redis.c */
/* Creates the parts, if a stream is configured. */
MUST_CHECK enum err app_redis_make(struct app *app);
/* Begins to read it; the server serves. */
void app_redis_start(struct app *app);
/* Ends it; app_close_if_idle is called afterwards. May be called more than once. */
void app_redis_stop(struct app *app);
bool app_redis_is_idle(const struct app *app);
/* Closes the timer. */
void app_redis_close(struct app *app);
/* Frees the parts, after the loop has ended. */
void app_redis_free(struct app *app);
/* Returns its counters for GetServerInfo; zeros without a stream. */
size_t app_redis_read_counters(const struct app *app, struct env_counter *counters, size_t max);

/* app_plain.c: fills `plain` and `open_plain`. */
void app_plain_make(struct app *app);

/* app_reload.c */
/* Reads the configuration again, and changes what may change while serving. Logs what it did, or why it did
 * nothing. */
void app_reload(struct app *app);

/* app_tls.c */
/* Reads the configured certificates and keys. Logs a certificate that has expired or is about to, and a key
 * that others may read. ERR_INVALID with the file and the reason in `fault`; NULL if no TLS is configured. */
MUST_CHECK enum err app_tls_read(const struct config *config, struct fault *fault,
                                 struct tls_context **ret_context);
/* Logs a secret file, of an option, that every user may read. */
void app_check_mode(const char *option, const char *path);
/* Puts TLS below the protocols of `net`, whose table is `protocols`; without TLS they are unchanged. */
MUST_CHECK enum err app_tls_make(struct app *app, struct net_config *net,
                                 struct net_protocol *protocols);
/* Logs failed handshakes, at most once in APP_HANDSHAKES_LOG_US. */
void app_tls_log(struct app *app, int64_t now_us);
/* Returns its counters for GetServerInfo; zeros without TLS. */
size_t app_tls_read_counters(const struct app *app, struct env_counter *counters, size_t max);

/* app_pdf.c */
/* Creates the PDF jobs, if the worker program exists; else logs that it does not. */
MUST_CHECK enum err app_pdf_make(struct app *app);
/* Returns the services' interface to it; NULL if documents cannot be measured. */
const struct document_jobs *app_pdf_documents(const struct app *app);
/* Starts the worker. */
void app_pdf_start(struct app *app);
/* Ends the worker after the last live call, so that it no longer keeps the loop alive. */
void app_pdf_stop(struct app *app);
/* Reports to the services whether documents are measured. */
void app_pdf_report_health(struct app *app);
/* Returns its counters for GetServerInfo; zeros without it. */
size_t app_pdf_read_counters(const struct app *app, struct env_counter *counters, size_t max);

#endif
