/*
 * fixture.h: a whole server without sockets, threads or time: the services over a memory store, a
 * writer and a pool that run on command, a clock that the test advances. Calls are real ones of
 * server/call, with a protocol that stores the sent bytes; no gRPC, no HTTP/2.
 */
#ifndef ERRATA_TESTS_RPC_FIXTURE_H
#define ERRATA_TESTS_RPC_FIXTURE_H

#include "server/auth/token.h"
#include "server/call/protocol.h"
#include "server/pipeline/pipeline.h"
#include "store/base/logger.h"
#include "store/memory/memory.h"
#include "tests/rpc/fake_documents.h"

#include <errata/v1/admin_service.pb-c.h>
#include <errata/v1/analytics_service.pb-c.h>
#include <errata/v1/event_service.pb-c.h>
#include <errata/v1/extraction_service.pb-c.h>
#include <errata/v1/feedback_service.pb-c.h>
#include <errata/v1/layout_service.pb-c.h>
#include <errata/v1/learning_service.pb-c.h>
#include <errata/v1/mapping_service.pb-c.h>
#include <errata/v1/organization.fields.h>
#include <errata/v1/prompt_service.pb-c.h>
#include <errata/v1/review_service.pb-c.h>
#include <errata/v1/role.fields.h>
#include <errata/v1/text_service.pb-c.h>
#include <errata/v1/verdict_service.pb-c.h>

/* 2026-01-01T00:00:00Z. */
#define FIXTURE_START_US INT64_C(1767225600000000)
#define FIXTURE_JOBS_MAX 16
#define FIXTURE_TOKEN_BYTES (sizeof("Bearer ") - 1 + TOKEN_TEXT_BYTES + 1)

struct fixture_job {
    void (*work)(void *job);
    void (*done)(void *job, enum err result);
    void *job;
};

struct fixture {
    struct arena arena; /* memory for data read by tests, until the end */
    struct fault fault;
    struct ctx ctx;
    struct clock_manual clock;
    struct random_seeded random;
    struct store_backend *backend;
    struct writer *writer;
    struct auth *auth;
    struct service_env env;
    struct pipeline *pipeline;
    struct call_server *calls;
    struct fixture_job jobs[FIXTURE_JOBS_MAX];
    size_t job_count;
    bool pool_is_full; /* run_on_pool returns ERR_BUSY */
    struct fake_documents documents;
    bool has_documents; /* there is a PDF worker */
    bool wants_turn;
    unsigned turns; /* number of turns run by pipeline_turn */
    uint64_t damaged_rows; /* number of rows that a test changed without the writer */
    bool is_damaged; /* a test changed rows that a replay does not have */
    unsigned captures; /* number of captures by fixture_capture, each with a unique snippet */
    bool keys_ended; /* over a day passed: a replay also makes keys that were removed */
    char admin[FIXTURE_TOKEN_BYTES]; /* authorization of the first start: `Bearer errata_...` */
};

void fixture_init(struct fixture *fixture);
/* Does the same without a PDF worker. */
void fixture_init_without_documents(struct fixture *fixture);
/* Every call must have ended. Checks the tables against a replay of the log, and that no condition was unexpected, so that
 * each test does. */
void fixture_deinit(struct fixture *fixture);
/* Checks that the tables equal a replay of the log, byte by byte. */
void fixture_check_replay(struct fixture *fixture);
/* Stops the server, rebuilds its tables from the log, and starts it again. Every call must have ended. */
void fixture_rebuild(struct fixture *fixture);
/* Runs jobs, batches and turns until nothing is left to do. */
void fixture_run(struct fixture *fixture);

/* Size of the head before a reply in the test protocol: its length, 32 bits, big-endian. */
#define EXCHANGE_HEAD_BYTES 4

/* A call from the client's side. */
struct exchange {
    struct fixture *fixture;
    struct call_core *core; /* NULL once the protocol has released it */
    bool ended;
    enum status_code code;
    struct slice message;
    struct slice details;
    size_t read_bytes; /* number of taken bytes of the replies */
};

struct exchange_start {
    const char *path; /* errata.v1.Service/Method */
    const char *authorization; /* authorization header, or NULL */
    bool authorization_repeated; /* there is a second authorization header */
    const char *idempotency_key; /* idempotency key, or NULL */
    int64_t timeout_us; /* 0: no timeout */
};

/* The protocol of exchanges, for calls of methods that are not in the contract. */
const struct call_protocol *exchange_protocol(void);
/* Starts a call; its request is sent by exchange_send. */
void exchange_open(struct exchange *exchange, struct fixture *fixture,
                   const struct exchange_start *start);
/* Sends the only request message. */
void exchange_send(struct exchange *exchange, const ProtobufCMessage *request);
/* Sends one request message of a stream of requests. */
void exchange_send_part(struct exchange *exchange, const ProtobufCMessage *request);
/* Sends one request message as wire bytes. */
void exchange_send_bytes(struct exchange *exchange, struct slice request);
/* Maximum number of messages. */
void exchange_send_end(struct exchange *exchange);
/* Returns the next reply, decoded into the fixture's arena; NULL if there is none. */
void *exchange_read(struct exchange *exchange, const ProtobufCMessageDescriptor *descriptor);
/* Returns the next reply as wire bytes; false if there is none. */
bool exchange_read_bytes(struct exchange *exchange, struct slice *ret_reply);
/* Disconnects the peer. */
void exchange_close(struct exchange *exchange);

/* Makes a complete unary call; returns the code, and the reply if it is OK (`ret_reply` may be
 * NULL). */
enum status_code fixture_call(struct fixture *fixture, const struct exchange_start *start,
                              const ProtobufCMessage *request, void *ret_reply);
/* Does the same, and checks the message of the status. */
struct exchange fixture_call_whole(struct fixture *fixture, const struct exchange_start *start,
                                   const ProtobufCMessage *request);

/* Creates an organisation with an ADMIN token; returns its id. */
const char *fixture_make_org(struct fixture *fixture, const char *name,
                             char admin[FIXTURE_TOKEN_BYTES]);
/* Creates a token by the administrator `by`, with a user if the role needs one. */
void fixture_make_token(struct fixture *fixture, const char *by, enum role role,
                        char token[FIXTURE_TOKEN_BYTES]);
/* Does the same for a given user; NULL: none. */
void fixture_make_user_token(struct fixture *fixture, const char *by, enum role role,
                             const char *user, char token[FIXTURE_TOKEN_BYTES]);
/* Creates a VIEWER's token that ends at a time. */
void fixture_make_ending_token(struct fixture *fixture, const char *by, int64_t expire_at_us,
                               char token[FIXTURE_TOKEN_BYTES]);
/* Captures one correction, and checks that it is stored. */
Errata__V1__FeedbackEvent *fixture_capture(struct fixture *fixture, const char *token,
                                           const char *idempotency_key, const char *layout);
/* Returns the descriptor of a method's reply. */
const ProtobufCMessageDescriptor *fixture_reply_of(const struct method_info *method);
/* Returns the key id within `Bearer errata_...`. */
void fixture_key_id_of(const char *token, char key_id[9]);
/* Returns whether `text` is in the slice. */
bool slice_has(struct slice whole, const char *text);

int run_access_tests(void);
int run_retraction_tests(void);
int run_refusal_tests(void);
int run_admin_tests(void);
int run_organization_tests(void);
int run_write_tests(void);
int run_stream_tests(void);
int run_status_tests(void);
int run_isolation_tests(void);
int run_start_tests(void);
int run_token_expiry_tests(void);
int run_document_tests(void);
int run_document_end_tests(void);
int run_document_text_tests(void);
int run_layout_tests(void);
int run_family_tests(void);
int run_family_example_tests(void);
int run_feedback_tests(void);
int run_mapping_tests(void);
int run_match_tests(void);
int run_turn_tests(void);
int run_review_tests(void);
int run_verify_tests(void);
int run_erasure_tests(void);
int run_backup_tests(void);
int run_long_read_tests(void);
int run_backtest_tests(void);
int run_analytics_tests(void);
int run_experiment_tests(void);
int run_settings_tests(void);
int run_quota_tests(void);
int run_prompt_tests(void);
int run_prompt_template_tests(void);
int run_extraction_tests(void);
int run_order_tests(void);
int run_clock_tests(void);
int run_feedback_list_tests(void);
int run_mapping_list_tests(void);
int run_mapping_batch_tests(void);
int run_embedding_tests(void);

#endif
