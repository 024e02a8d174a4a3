/*
 * wire.h: a fixture without sockets: the transport's server side with a few methods of its own, and a
 * client that writes its frames byte by byte and reads the answers' frames, so that it can break
 * every rule. Time moves only when a test says so. Each test runs twice: its bytes fed whole, and one
 * at a time.
 */
#ifndef ERRATA_TESTS_WIRE_WIRE_H
#define ERRATA_TESTS_WIRE_WIRE_H

#include "server/grpc/grpc.h"
#include "server/http/http_cors.h"
#include "server/http2/h2.h"

/* cmocka.h requires these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <nghttp2/nghttp2.h>

#define WIRE_STREAMS_MAX 2048
#define WIRE_FIELDS_MAX 24
#define WIRE_HELD_MAX 512
/* Maximum jobs of the pool that run at once; above it the pool is full. */
#define WIRE_JOBS_MAX 64
/* Maximum bytes that the fixture reads in one call. */
#define WIRE_DRAIN_BYTES ((size_t)64 * 1024)

/* Methods of the test server: index of method_info and path. */
enum wire_method {
    WIRE_ECHO, /* the request again */
    WIRE_SIZE, /* replies with as many patterned bytes as the request's four bytes specify */
    WIRE_FAIL, /* the status whose code is the request's first byte, the message the rest */
    WIRE_EARLY, /* UNAUTHENTICATED after the complete head */
    WIRE_HOLD, /* stays open until the test finishes it */
    WIRE_WRITE, /* the same, but it is a write */
    WIRE_META, /* returns the metadata; for "no reply" ABORTED with metadata */
    WIRE_STREAM, /* server stream: eight bytes specify the number and size of messages */
    WIRE_BIDI, /* replies to each message with one of 16 KiB that starts with it */
    WIRE_UPLOAD, /* client stream and write: counts the messages, and executes enum wire_order */
    WIRE_METHODS
};

/* The first byte of an upload's message may be one of these. Without any, the reply comes at the
 * half-close. UNAUTHENTICATED as soon as the head is complete, where `authorization` is "no". */
enum wire_order {
    WIRE_REFUSE = 'X', /* INVALID_ARGUMENT immediately */
    WIRE_ENOUGH = 'O', /* the reply now, and OK */
    WIRE_WASTE = 'W', /* the reply now, and then INTERNAL */
    WIRE_HOLD_END = 'H' /* stays open from the half-close until the test finishes it */
};

/* Result of an upload: the reply contains these three numbers in big endian. */
struct wire_upload {
    uint32_t messages;
    uint32_t bytes;
    uint32_t sum; /* sum of all bytes, in order */
    bool hold; /* not in the reply */
};

#define WIRE_UPLOAD_REPLY_BYTES 12

/* Data received for one stream. */
struct wire_answer {
    int http_status; /* 0: none yet */
    int grpc_status; /* -1: none */
    int blocks; /* number of header blocks: 1 for Trailers-Only */
    int64_t reset; /* code of RST_STREAM; -1: none */
    bool ended;
    char fields[4096]; /* "name: value */
    uint8_t *body; /* payloads of DATA frames */
    size_t body_size;
    size_t body_capacity;
    size_t data_frames;
};

struct wire_bytes {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

struct wire_client {
    struct wire_bytes out; /* bytes for the server */
    struct wire_bytes in; /* bytes from the server that have not been parsed */
    nghttp2_hd_deflater *deflater;
    nghttp2_hd_inflater *inflater;
    struct wire_answer
        *answers[WIRE_STREAMS_MAX]; /* indexed by (id - 1) / 2; NULL until requested */
    uint32_t goaways;
    uint32_t goaway_code; /* code of the last GOAWAY */
    uint32_t goaway_last;
    char goaway_text[64];
    uint32_t settings_seen;
    uint32_t streams_announced; /* MAX_CONCURRENT_STREAMS in the server's SETTINGS */
    uint32_t pings_answered;
    uint64_t window_opened; /* sum of the connection's WINDOW_UPDATEs */
    uint64_t stream_window_opened;
    bool answers_pings;
    bool deaf; /* ignores the server's bytes: after damaged requests they may be anything */
    uint32_t pings_received;
};

/* A job passed to the pool. */
struct wire_job {
    void (*work)(void *job);
    void (*done)(void *job, enum err result);
    void *job;
};

struct wire_fixture {
    bool bytewise;
    int64_t now_us;
    struct call_handlers handlers;
    struct call_server *calls;
    struct http_cors cors;
    struct http_server *http; /* NULL: only gRPC is served */
    struct grpc_server *grpc;
    struct net_protocol protocol;
    struct net_link link;
    void *session; /* NULL once closed */
    bool woken;
    size_t drain_bytes_max; /* maximum of the calls of drain with output */
    struct wire_client client;
    struct call *held[WIRE_HELD_MAX];
    uint32_t held_count;
    uint32_t starts;
    uint32_t messages;
    uint32_t half_closes;
    uint32_t cancels;
    enum err cancelled_why; /* reason of the last one */
    struct wire_job jobs[WIRE_JOBS_MAX]; /* oldest first */
    uint32_t job_count;
    uint32_t jobs_max; /* capacity of the pool: WIRE_JOBS_MAX, unless the test sets less */
    uint32_t jobs_taken; /* number of jobs since the start */
    bool pool_waits; /* jobs run only in wire_pool_step; otherwise wire_run runs all of them */
    uint32_t writables;
    uint64_t live_max; /* maximum number of live calls after feeding a piece */
    size_t output_bytes_max; /* the most that a stream had queued */
    size_t input_bytes_max; /* maximum memory of an upload's messages */
};

/* A field of a request. */
struct wire_field {
    const char *name;
    const char *value;
};

void wire_setup(struct wire_fixture *fixture, bool bytewise);
/* Does the same with a config that the test changed (wire_config). */
void wire_setup_with(struct wire_fixture *fixture, bool bytewise, const struct call_config *config);
struct call_config wire_config(struct wire_fixture *fixture);
/* Does the same as wire_setup_with and wire_setup, and other protocols over HTTP are served, too. */
void wire_setup_http_with(struct wire_fixture *fixture, bool bytewise,
                          const struct call_config *config);
void wire_setup_http(struct wire_fixture *fixture, bool bytewise);
/* Adds a client with another connection to the server of `first`, which owns the held calls. */
void wire_join(struct wire_fixture *fixture, struct wire_fixture *first);
/* Closes its connection; before the teardown of `first`. */
void wire_leave(struct wire_fixture *fixture);
/* Closes what is open, finishes held calls, and asserts that nothing lives. */
void wire_teardown(struct wire_fixture *fixture);
/* Feeds the client's output, and reads the server's, until both are silent. */
void wire_run(struct wire_fixture *fixture);
/* Does the same, but the client reads nothing: what a full socket is like. */
void wire_feed_only(struct wire_fixture *fixture);
/* Runs the pool's oldest job, and notifies the loop; false if it has no job. */
bool wire_pool_step(struct wire_fixture *fixture);
/* Moves time, with the ticks that come with it. */
void wire_pass(struct wire_fixture *fixture, int64_t by_us);
/* Asserts that the connection has ended. */
void wire_disconnect(struct wire_fixture *fixture);
bool wire_finished(const struct wire_fixture *fixture);
/* Finishes a held call with a reply, or (code not OK) an error. */
void wire_finish_held(struct wire_fixture *fixture, uint32_t which, enum status_code code);
const char *wire_path(enum wire_method method);

/* The client. A stream's id is 1, 3, 5, ... */
void wire_preface(struct wire_fixture *fixture);
void wire_settings(struct wire_fixture *fixture, uint16_t id, uint32_t value);
void wire_settings_ack(struct wire_fixture *fixture);
void wire_frame(struct wire_fixture *fixture, uint8_t type, uint8_t flags, uint32_t stream,
                struct slice payload);
/* HEADERS with the usual fields and `extra` ones (up to `extra_count`). */
void wire_headers(struct wire_fixture *fixture, uint32_t stream, enum wire_method method, bool end,
                  const struct wire_field *extra, size_t extra_count);
/* Sends HEADERS with only these fields. */
void wire_headers_raw(struct wire_fixture *fixture, uint32_t stream, uint8_t flags,
                      const struct wire_field *fields, size_t count);
/* A header block, encoded; the caller frees. */
struct wire_bytes wire_encode(struct wire_fixture *fixture, const struct wire_field *fields,
                              size_t count);
void wire_data(struct wire_fixture *fixture, uint32_t stream, struct slice bytes, bool end);
/* Sends a length-prefixed message, in DATA frames of at most 16 KiB. */
void wire_message(struct wire_fixture *fixture, uint32_t stream, uint8_t flags,
                  struct slice message, bool end);
/* HEADERS and one message. */
void wire_call(struct wire_fixture *fixture, uint32_t stream, enum wire_method method,
               struct slice message);
void wire_window(struct wire_fixture *fixture, uint32_t stream, uint32_t by);
void wire_reset(struct wire_fixture *fixture, uint32_t stream, uint32_t code);
void wire_ping(struct wire_fixture *fixture);
struct wire_answer *wire_answer(struct wire_fixture *fixture, uint32_t stream);
/* The answer's only message, without its head; asserts that it is one and not compressed. */
struct slice wire_reply(struct wire_fixture *fixture, uint32_t stream);
bool wire_has_field(const struct wire_answer *answer, const char *line);
void wire_bytes_append(struct wire_bytes *bytes, struct slice more);
/* Counts one more message. */
void wire_upload_add(struct wire_upload *upload, struct slice message);
/* Asserts that the reply of stream `id` is exactly this. */
void wire_assert_upload(struct wire_fixture *fixture, uint32_t stream,
                        const struct wire_upload *upload);
/* Byte `index` of patterned bytes. */
uint8_t wire_pattern(size_t index);

/* The answer ended with this status. */
void wire_assert_status(struct wire_fixture *fixture, uint32_t stream, int grpc_status);

/* The connection was ended with ENHANCE_YOUR_CALM and this text. */
void wire_assert_rate_limited(struct wire_fixture *fixture, const char *why);
/* Parses the whole frames that the server has sent. */
void wire_client_parse(struct wire_fixture *fixture);

/* Each test twice. */
extern bool wire_modes[2];
#define WIRE_TEST(function)                                                                        \
    {#function " whole", function, NULL, NULL, &wire_modes[0]},                                    \
    {                                                                                              \
#function " byte by byte", function, NULL, NULL, &wire_modes[1]                            \
    }
#define WIRE_MODE(state) (*(bool *)*(state))

int run_text_tests(void);
int run_call_tests(void);
int run_stream_tests(void);
int run_upload_tests(void);
int run_limit_tests(void);
int run_pressure_tests(void);
int run_inflate_tests(void);
int run_order_tests(void);
int run_refusal_tests(void);
int run_deadline_tests(void);
int run_socket_tests(void);
int run_room_tests(void);
int run_http_tests(void);

#endif
