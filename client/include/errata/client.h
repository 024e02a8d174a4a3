/*
 * errata/client.h: liberrata, the client library of Errata: asynchronous calls on a libuv loop, and the
 * types that all its headers use. easy.h and blocking.h are for programs without a loop, captures.h stores
 * corrections in the background, details.h reads the details of an error. <errata/v1/NAME.client.h>
 * declares a typed function for each method.
 *
 * A channel, its calls and its callbacks belong to the thread of its loop. There is no global state: a
 * program can have any number of loops and channels. The program must ignore SIGPIPE. Texts are UTF-8 and
 * end with a NUL. Cleartext is the default: set `tls` for servers on other machines.
 */
#ifndef ERRATA_CLIENT_H
#define ERRATA_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ERRATA_API __attribute__((visibility("default")))
/* The caller must check the result: ignoring it causes a warning. */
#define ERRATA_MUST_CHECK __attribute__((warn_unused_result))

/* The result of a function. Unless it is ERRATA_OK, nothing was started, no callback follows, and no
 * `ret_` parameter was written. The end of a call is reported by its status. */
enum errata_result {
    ERRATA_OK = 0,
    ERRATA_INVALID = 1, /* an argument is invalid; see the function's comment */
    ERRATA_TOO_LARGE = 2, /* a message is larger than the channel's limit */
    ERRATA_BUSY = 3, /* a limit is reached: too many calls, or bytes that wait; retry later */
    ERRATA_MEMORY = 4, /* memory or file descriptors are exhausted */
    ERRATA_ENDED = 5 /* the call has ended, or the channel was closed */
};

/* gRPC's status codes (grpc/doc/statuscodes.md). */
enum errata_code {
    ERRATA_CODE_OK = 0,
    ERRATA_CODE_CANCELLED = 1,
    ERRATA_CODE_UNKNOWN = 2,
    ERRATA_CODE_INVALID_ARGUMENT = 3,
    ERRATA_CODE_DEADLINE_EXCEEDED = 4,
    ERRATA_CODE_NOT_FOUND = 5,
    ERRATA_CODE_ALREADY_EXISTS = 6,
    ERRATA_CODE_PERMISSION_DENIED = 7,
    ERRATA_CODE_RESOURCE_EXHAUSTED = 8,
    ERRATA_CODE_FAILED_PRECONDITION = 9,
    ERRATA_CODE_ABORTED = 10,
    ERRATA_CODE_OUT_OF_RANGE = 11,
    ERRATA_CODE_UNIMPLEMENTED = 12,
    ERRATA_CODE_INTERNAL = 13,
    ERRATA_CODE_UNAVAILABLE = 14,
    ERRATA_CODE_DATA_LOSS = 15,
    ERRATA_CODE_UNAUTHENTICATED = 16
};

/* Returns a message for people; static. Any thread. */
ERRATA_API const char *errata_result_text(enum errata_result result);
/* Returns the name of a code, such as "NOT_FOUND"; static. Any thread. */
ERRATA_API const char *errata_code_name(enum errata_code code);
/* Returns the version of the library, such as "0.1.0"; static. Any thread. */
ERRATA_API const char *errata_version(void);

/* Borrowed bytes. The function that takes or gives them specifies how long they must stay valid. */
struct errata_bytes {
    const void *data; /* may be NULL if size is 0 */
    size_t size;
};

/* A metadata entry of a call or a response. Keys consist of lower-case letters, digits, `-`, `_`
 * and `.`. A key that ends with `-bin` has any bytes as its value; others have printable ASCII
 * without a space at either end. */
struct errata_metadata {
    const char *key;
    struct errata_bytes value;
};

/* --- channels --- */

/*
 * A channel calls one server. It connects when the first call needs it, uses the connection for all calls,
 * detects a dead peer by keepalive, connects again with back-off and jitter, and repeats calls that may be
 * repeated:
 *
 *   - any call that the server has not seen: there was no connection, the stream was refused, or a GOAWAY
 *     excluded it;
 *   - a read, after UNAVAILABLE and after an error with RetryInfo;
 *   - a write, in the same cases: it carries an idempotency key, so the server stores it once and answers
 *     a repeat with the first answer. The library generates the key unless the caller gives one, and uses
 *     it in each attempt;
 *   - a stream of replies until the caller has received the first reply, a stream of requests until its
 *     first message was taken;
 *   - any call that was refused with UNAUTHENTICATED, once, if the token file has a new token.
 *
 * A call ends exactly once, at its deadline at the latest. Its status reports whether the server or the
 * library ended it, and after how many attempts.
 */

struct uv_loop_s; /* uv_loop_t of <uv.h> */
struct errata_channel;

enum errata_log_level {
    ERRATA_LOG_DEBUG, /* an attempt of a call failed and is repeated */
    ERRATA_LOG_INFO, /* a connection opened or was closed by the server; a token was read again */
    ERRATA_LOG_WARNING /* a connection failed or was lost; the server refused the token */
};

/* Receives what a channel does between the calls of the program, for the program's own log. */
struct errata_log {
    void *user;
    /* Writes one line of UTF-8 text without a newline, at most 1,023 bytes, valid until the
     * callback returns. Lines contain no tokens, requests or replies; DEBUG lines contain the
     * server's messages. Called on the thread of the channel's loop; must not call functions of the
     * channel. NULL: no log. */
    void (*write)(void *user, enum errata_log_level level, const char *message);
};

/* Configuration of a channel. Initialize it with errata_channel_config_init, then set members. Zero
 * and NULL mean the default. Times are in milliseconds, at most 86,400,000 (one day). Later
 * versions of the library add members at the end; `struct_bytes` identifies the members that the
 * program was compiled with. */
struct errata_channel_config {
    size_t struct_bytes; /* set by errata_channel_config_init */
    /* HOST:PORT, HOST, [IPV6]:PORT or [IPV6]; default 127.0.0.1:7443. Without a port: 7443. */
    const char *server;
    /* Bearer token: printable ASCII without spaces, at most 4,096 bytes. NULL: none. Set at most one of
     * token and token_file. */
    const char *token;
    /* A file that holds the token in one line. It is read when the channel is opened, and again if the
     * server answers UNAUTHENTICATED: once per call, which is then repeated with the new token. So a
     * token can be replaced without a restart: write the new file, then revoke the old token. The file
     * is read on the loop's thread. */
    const char *token_file;
    /* The program's name in the server's log, before the library's: printable ASCII, at most 200 bytes,
     * such as "importer/2.1". */
    const char *user_agent;
    /* Time limit of one connection attempt; default 10,000. */
    int64_t connect_timeout_ms;
    /* Deadline of a unary call whose options have none; default 30,000; -1: none. */
    int64_t call_timeout_ms;
    /* If nothing is received for this long during a call, the client sends a PING; default 30,000, at
     * least 10,000; -1: never. */
    int64_t keepalive_ms;
    /* If the PING is not answered in this time, the connection is lost; default 10,000. */
    int64_t keepalive_timeout_ms;
    /* Attempts of one call, including the first; default 8, at most 100; 1: calls are not repeated. */
    uint32_t attempts_max;
    /* The wait before the first repeat, and the longest wait. Each wait is 1.6 times the previous one,
     * varied by 20% at random. Default 100 and 5,000. */
    int64_t backoff_initial_ms;
    int64_t backoff_max_ms;
    /* The largest message in bytes; default 64 MiB, less than 4 GiB. */
    size_t reply_bytes_max;
    size_t request_bytes_max;
    /* Calls in progress or waiting; more are refused with ERRATA_BUSY. Default and maximum 10,000. */
    uint32_t calls_max;
    struct errata_log log;
    /* Speaks TLS with HTTP/2, and accepts a certificate of a trusted authority that has the server's name or
     * address. Default: cleartext. The files below are PEM, read when the channel is opened, and need `tls`. */
    bool tls;
    /* The trusted authorities. NULL: those of the system. */
    const char *ca_file;
    /* The client's certificate, followed by its intermediate ones, and its private key, which is not encrypted:
     * both or neither. */
    const char *client_cert_file;
    const char *client_key_file;
};

/* Sets all members to their defaults. Inline, so that it records the size of the struct that the
 * program was compiled with. */
static inline void errata_channel_config_init(struct errata_channel_config *config)
{
    memset(config, 0, sizeof(*config));
    config->struct_bytes = sizeof(*config);
}

/* Opens a channel on the caller's loop, which must outlive it. Does not connect. A channel without calls
 * does not keep the loop alive. The configuration is copied; NULL: the defaults.
 * Returns ERRATA_INVALID for an invalid member or a token file that cannot be read, ERRATA_MEMORY. On
 * failure, `problem` holds a message such as "server: empty; expected HOST:PORT", cut to `problem_bytes`
 * including its NUL; it may be NULL. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_channel_open(struct uv_loop_s *loop, const struct errata_channel_config *config,
                    char *problem, size_t problem_bytes, struct errata_channel **ret_channel);

/* Ends all calls with CANCELLED, then frees the channel and calls `on_closed` in a later turn of
 * the loop. `on_closed` may be NULL. May be called from any callback except the log's, at most
 * once. Does nothing if the channel is NULL, and does not call `on_closed`. */
ERRATA_API void errata_channel_close(struct errata_channel *take_channel,
                                     void (*on_closed)(void *user), void *user);

/* Sets the token of attempts that start from now on; NULL: none. It replaces a token file, which is not
 * read again. The server knows an idempotency key together with the token it came with: a write in
 * progress may be stored twice if its answer is lost. Returns ERRATA_INVALID for a malformed token,
 * ERRATA_MEMORY (the old token stays), ERRATA_ENDED after close. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_channel_set_token(struct errata_channel *channel, const char *token);

enum errata_channel_state {
    ERRATA_CHANNEL_IDLE, /* there is no connection, and no call needs one */
    ERRATA_CHANNEL_CONNECTING,
    ERRATA_CHANNEL_READY,
    ERRATA_CHANNEL_BACKOFF /* the last try to connect failed; the next one is waiting */
};

/* Counters since the channel was opened. */
struct errata_channel_statistics {
    enum errata_channel_state state;
    uint32_t calls_under_way;
    uint64_t calls; /* started */
    uint64_t attempts; /* attempts started on a connection */
    uint64_t connections; /* opened */
    uint64_t
        connections_lost; /* open connections that ended by an error, keepalive or the server */
    uint64_t connect_failures;
    uint64_t reserved[4]; /* zero; reserved for members of later versions */
};

/* Reads the counters of a channel; all are zero after close. */
ERRATA_API void errata_channel_read_statistics(const struct errata_channel *channel,
                                               struct errata_channel_statistics *ret_statistics);

/* Returns why the server cannot be reached: the address and the system's error for the last try to
 * connect, such as "cannot connect to 127.0.0.1:7443: connection refused". Returns NULL while a
 * connection is open, before the first try has failed, and after close. The text is valid until the
 * loop runs again. Call it on the loop's thread. */
ERRATA_API const char *errata_channel_unreachable(const struct errata_channel *channel);

/* --- calls --- */

struct errata_call; /* a call in progress; valid until its last callback returns */

/* Limits of one call: metadata entries, and the bytes of their keys and values. */
#define ERRATA_METADATA_MAX 32
#define ERRATA_METADATA_BYTES_MAX 8192
#define ERRATA_IDEMPOTENCY_KEY_BYTES_MAX 128

/* Options of one call. Initialize them with errata_options_init, then set members; zero means the default.
 * A function that takes options takes NULL for the defaults, and borrows them until it returns. */
struct errata_options {
    /* The deadline of the call, including all attempts, in milliseconds from now. 0: call_timeout_ms of
     * the channel for unary calls, none for streams; -1: none. */
    int64_t timeout_ms;
    /* Metadata of the request. Must not contain keys of gRPC (`grpc-...`, `content-type` ...),
     * `idempotency-key`, or, if the channel has a token, `authorization`. */
    const struct errata_metadata *metadata;
    size_t metadata_count;
    /* Printable ASCII without a space at either end. NULL: the library generates one for a write. A key
     * that the program stores with its work also makes a repeat after a restart of the program safe: the
     * server remembers a key for 24 hours. */
    const char *idempotency_key;
    /* Waits for a connection until the deadline; tries to connect are not counted as attempts. Without
     * it, a call to an unreachable server fails after attempts_max tries. */
    bool wait_for_ready;
    bool no_retry; /* makes a single attempt */
    bool gzip; /* compresses the request, and accepts a compressed reply */
    uint64_t reserved[4]; /* zero; reserved for members of later versions */
};

/* Sets all members to their defaults. */
static inline void errata_options_init(struct errata_options *options)
{
    memset(options, 0, sizeof(*options));
}

/* The end of a call; valid until the callback returns, or as long as the answer that holds it. Later
 * versions of the library add members at the end. */
struct errata_status {
    enum errata_code code;
    const char *message; /* human-readable text; never NULL */
    struct errata_bytes details; /* bytes of a google.rpc.Status, or empty; see errata/details.h */
    bool
        from_server; /* the server ended the call; else the library did (no connection, deadline) */
    uint32_t attempts; /* number of attempts; 0: nothing was sent */
    const char *idempotency_key; /* idempotency key of the request; NULL: none */
    const struct errata_metadata *metadata; /* the answer's headers and trailers, in order */
    size_t metadata_count;
};

/* Callbacks of calls with bytes; the typed stubs have their own. They are called on the loop's thread, never
 * inside the function that started the call. They may call any function of this header. */
struct errata_handlers {
    void *user;
    /* Receives one reply, which is valid until the callback returns. May be NULL. */
    void (*on_reply)(void *user, struct errata_bytes message);
    /* The end of the call: exactly once, and the last callback. Must not be NULL. */
    void (*on_end)(void *user, const struct errata_status *status);
    /* For a stream of requests: reports that errata_call_send accepts messages. Called once soon
     * after the start, and again after each ERRATA_BUSY. May be NULL. */
    void (*on_writable)(void *user);
};

/* Starts a call of a method of Errata's contract, such as "errata.v1.PromptService/GetExamples", with the
 * bytes of its request (empty for a stream of requests). All arguments are copied. `ret_call` is for the
 * functions below; it may be NULL. Returns ERRATA_INVALID for an unknown or bidirectional method and for
 * invalid options, ERRATA_TOO_LARGE, ERRATA_BUSY, ERRATA_MEMORY, ERRATA_ENDED after close. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_call_start(struct errata_channel *channel, const char *method, struct errata_bytes request,
                  const struct errata_options *options, const struct errata_handlers *handlers,
                  struct errata_call **ret_call);
/* Ends a call early: on_end is called with CANCELLED. A write may have been stored. NULL does nothing. */
ERRATA_API void errata_call_cancel(struct errata_call *call);
/* Stops replies until errata_call_resume. Flow control stops the server; at most 256 KiB are buffered. */
ERRATA_API void errata_call_pause(struct errata_call *call);
/* Continues replies after errata_call_pause. */
ERRATA_API void errata_call_resume(struct errata_call *call);
/* Sends a message of a stream of requests, which is copied. Returns ERRATA_BUSY while 1 MiB or more wait
 * for the server: the message was not taken, and on_writable follows. Returns ERRATA_ENDED after the
 * server has answered or the call has ended; on_end reports how. Returns ERRATA_TOO_LARGE, ERRATA_MEMORY,
 * and ERRATA_INVALID after errata_call_half_close or for a call without a stream of requests: the message
 * was not taken, and the call continues. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result errata_call_send(struct errata_call *call,
                                                                 struct errata_bytes message);
/* Ends a stream of requests: no more messages can be sent. Returns ERRATA_ENDED and ERRATA_INVALID
 * like errata_call_send. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result errata_call_half_close(struct errata_call *call);

#ifdef __cplusplus
}
#endif

#endif
