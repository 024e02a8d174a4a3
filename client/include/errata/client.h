/*
 * errata/client.h: liberrata, the client library of Errata, for programs that have a libuv loop.
 * blocking.h has the same for programs without one; captures.h keeps corrections in a queue and sends
 * them behind the program's back; details.h reads what an error says beyond its text. The typed stubs,
 * one function a method, stand in <errata/v1/NAME.client.h> and take these channels.
 *
 * Everything of a channel happens on its loop's thread; nothing is global, so any number of loops and
 * channels live beside each other. The program ignores SIGPIPE. Texts are UTF-8 and end with a NUL.
 * Cleartext only: put the server on loopback, or behind a tunnel or a proxy that speaks TLS.
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
/* The result tells of failure: ignoring it draws a warning. */
#define ERRATA_MUST_CHECK __attribute__((warn_unused_result))

/* What a function of this library says. Where it is not ERRATA_OK nothing was started, no callback
 * follows, and nothing was written to a `ret_` parameter. How a call ended is in its status. */
enum errata_result {
    ERRATA_OK = 0,
    ERRATA_INVALID = 1, /* an argument is not valid; the function's comment says what is */
    ERRATA_TOO_LARGE = 2, /* a message is over the channel's limit */
    ERRATA_BUSY = 3, /* a bound is reached: too many calls, no room; try again later */
    ERRATA_MEMORY = 4, /* malloc failed, or the system has no more files */
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

/* A sentence for people; static. */
ERRATA_API const char *errata_result_text(enum errata_result result);
/* Such as "NOT_FOUND"; static. */
ERRATA_API const char *errata_code_name(enum errata_code code);
/* The library's version, such as "0.1.0"; static. */
ERRATA_API const char *errata_version(void);

/* Borrowed bytes. Who hands them out says until when. */
struct errata_bytes {
    const void *data; /* may be NULL where size is 0 */
    size_t size;
};

/* A key and its value, beside a call or its answer. Keys are lower-case letters, digits, `-`, `_` and
 * `.`; a key that ends in `-bin` has any bytes as its value, others printable ASCII without a blank at
 * either end. */
struct errata_metadata {
    const char *key;
    struct errata_bytes value;
};

/* --- channels --- */

/*
 * A channel is a promise to reach one server. It connects when the first call needs it, keeps the
 * connection for all calls, notices when the other end is gone (keepalive), connects again with
 * back-off and jitter, and repeats what may be repeated:
 *
 *   - a call that the server has not seen (no connection, a stream that it refused, a GOAWAY ahead of
 *     it) is repeated, whatever it is;
 *   - a call that reads is repeated after UNAVAILABLE, and after any error that comes with RetryInfo;
 *   - a call that writes is repeated likewise, since it carries an idempotency key: the server answers
 *     a key that it knows with the first answer, so that nothing is stored twice. The library makes
 *     the key and uses it again in each attempt, unless the caller gives one;
 *   - a stream of replies is repeated until its first reply has been given to the caller, a stream of
 *     requests until its first message was taken.
 *
 * A call ends exactly once, at its deadline at the latest. Its status says whether the server gave it
 * or this side found it, and after how many attempts.
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
    /* One line of UTF-8 text without a newline, at most 1,023 bytes, valid until the callback returns.
     * It holds no token, request or reply; a DEBUG line holds the server's message. Called on the
     * thread of the channel's loop; must not call functions of the channel. NULL: no log. */
    void (*write)(void *user, enum errata_log_level level, const char *message);
};

/* How to reach a server. Initialize it with errata_channel_config_init, then set members. Zero and NULL
 * mean the default. Times are in milliseconds, at most 86,400,000 (one day). Later versions of the
 * library add members at the end; `struct_bytes` tells them which ones the program knows. */
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
    /* For one try to connect; default 10,000. */
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
};

/* Sets all members to their defaults. Inline, so that it records the size of the struct that the
 * program was compiled with. */
static inline void errata_channel_config_init(struct errata_channel_config *config)
{
    memset(config, 0, sizeof(*config));
    config->struct_bytes = sizeof(*config);
}

/* Makes a channel on the caller's loop, which must outlive it. Does not connect yet, and does not
 * keep the loop alive while no call is under way. The configuration, NULL for the defaults, is copied.
 * ERRATA_INVALID for an address, a number or a token that can't be right, or a token file that can't
 * be read; ERRATA_MEMORY. Where it fails, `problem` holds a sentence that says what is wrong, cut to
 * `problem_bytes` with its NUL; it may be NULL. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_channel_open(struct uv_loop_s *loop, const struct errata_channel_config *config,
                    char *problem, size_t problem_bytes, struct errata_channel **ret_channel);

/* Ends the calls that are left with CANCELLED, then frees the channel and calls `on_closed` (which
 * may be NULL) in a later turn of the loop. May be called from any callback, once. NULL does
 * nothing, and calls nothing. */
ERRATA_API void errata_channel_close(struct errata_channel *take_channel,
                                     void (*on_closed)(void *user), void *user);

/* Sets the token of attempts that start from now on; NULL: none. It replaces a token file, which is not
 * read again. The server knows an idempotency key together with the token it came with: a write in
 * progress may be stored twice if its answer is lost. Returns ERRATA_INVALID for a malformed token,
 * ERRATA_MEMORY (the old token stays), ERRATA_ENDED after close. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_channel_set_token(struct errata_channel *channel, const char *token);

enum errata_channel_state {
    ERRATA_CHANNEL_IDLE, /* no connection, and no call that wants one */
    ERRATA_CHANNEL_CONNECTING,
    ERRATA_CHANNEL_READY,
    ERRATA_CHANNEL_BACKOFF /* the last try failed; the next one waits */
};

/* Counted since the channel was opened. */
struct errata_channel_statistics {
    enum errata_channel_state state;
    uint32_t calls_under_way;
    uint64_t calls; /* started */
    uint64_t attempts; /* sent, or tried to be */
    uint64_t connections; /* made */
    uint64_t connections_lost; /* of those, ended by an error, silence or the server */
    uint64_t connect_failures;
};

/* All zero after close. */
ERRATA_API void errata_channel_read_statistics(const struct errata_channel *channel,
                                               struct errata_channel_statistics *ret_statistics);

/* Returns why the server cannot be reached: the address and the system's error for the last try to
 * connect, such as "cannot connect to 127.0.0.1:7443: connection refused". Returns NULL while a
 * connection is open, before the first try has failed, and after close. The text is valid until the
 * loop runs again. Call it on the loop's thread. */
ERRATA_API const char *errata_channel_unreachable(const struct errata_channel *channel);

/* --- calls --- */

struct errata_call; /* one call under way; valid until its last callback returns */

/* Of one call: pieces of metadata, and the bytes of their keys and values. */
#define ERRATA_METADATA_MAX 32
#define ERRATA_METADATA_BYTES_MAX 8192
#define ERRATA_IDEMPOTENCY_KEY_BYTES_MAX 128

/* Zero means the default; NULL for the options means all of them. Everything is borrowed until the
 * function that starts the call returns. */
struct errata_options {
    /* The deadline of the whole call, all attempts; 0: the channel's for unary calls, none for
     * streams; -1: none. */
    int64_t timeout_ms;
    /* Not of gRPC's own keys (`grpc-`, `content-type` ...), nor `idempotency-key`, nor `authorization`
     * where the channel has a token. */
    const struct errata_metadata *metadata;
    size_t metadata_count;
    /* Printable ASCII without a blank at either end. NULL: the library makes one for a write. Give one
     * that is kept with the work, and a repeat after a restart of this program is no second write
     * either: the server knows a key for 24 hours. */
    const char *idempotency_key;
    /* Keep waiting for a connection until the deadline, without counting attempts; else a server that
     * can't be reached ends the call after attempts_max tries. */
    bool wait_for_ready;
    bool no_retry; /* one attempt only */
    bool gzip; /* compress the request, and accept a compressed answer */
};

/* How a call ended; valid for the length of the callback, or as long as the answer that has it. */
struct errata_status {
    enum errata_code code;
    const char *message; /* of the server or of this library; never NULL */
    struct errata_bytes details; /* google.rpc.Status in wire bytes, or empty; errata/details.h */
    bool from_server; /* the server said so; else this side found it (no connection, deadline) */
    uint32_t attempts; /* 0: none was sent */
    const char *idempotency_key; /* that the call carried; NULL: none */
    const struct errata_metadata *metadata; /* of the answer's headers and trailers, in order */
    size_t metadata_count;
};

/* Of calls in bytes; the typed stubs have their own. Each is called on the loop's thread, never inside
 * the function that started the call. From each any function here may be called. */
struct errata_handlers {
    void *user;
    /* One reply message; valid for the length of the callback. May be NULL. */
    void (*on_reply)(void *user, struct errata_bytes message);
    /* The end, exactly once, and the last callback. Never NULL. */
    void (*on_end)(void *user, const struct errata_status *status);
    /* Of a stream of requests: errata_call_send takes messages now. It comes once soon after the
     * start, and each time after it said ERRATA_BUSY. May be NULL. */
    void (*on_writable)(void *user);
};

/* Starts a call of a method of Errata's contract, such as "errata.v1.PromptService/GetExamples",
 * with the request's bytes (of a stream of requests: none). Everything is copied; `ret_call`, which
 * may be NULL, is for what follows below. ERRATA_INVALID for an unknown or bidirectional method, for
 * options as they may not be; ERRATA_TOO_LARGE, ERRATA_BUSY, ERRATA_MEMORY, ERRATA_ENDED after close. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_call_start(struct errata_channel *channel, const char *method, struct errata_bytes request,
                  const struct errata_options *options, const struct errata_handlers *handlers,
                  struct errata_call **ret_call);
/* Ends a call early: on_end comes with CANCELLED. A write may have been stored. NULL does nothing. */
ERRATA_API void errata_call_cancel(struct errata_call *call);
/* Stops replies until resume. The server is held back by flow control; at most 256 KiB wait here. */
ERRATA_API void errata_call_pause(struct errata_call *call);
ERRATA_API void errata_call_resume(struct errata_call *call);
/* Sends one message of a stream of requests, which is copied. ERRATA_BUSY while 1 MiB or more wait for
 * the server to read: nothing was taken, on_writable follows. ERRATA_ENDED once the server has
 * answered or the call has ended; on_end tells how. ERRATA_TOO_LARGE, ERRATA_MEMORY, and
 * ERRATA_INVALID behind the half-close or for a call that is no stream of requests: nothing was taken,
 * and the call goes on. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result errata_call_send(struct errata_call *call,
                                                                 struct errata_bytes message);
/* No more messages follow. ERRATA_ENDED, ERRATA_INVALID likewise. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result errata_call_half_close(struct errata_call *call);

#ifdef __cplusplus
}
#endif

#endif
