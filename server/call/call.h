/*
 * call.h: one call, independent of the protocol: its method, metadata, request messages, reply
 * messages, status, deadline and cancellation. Protocols (gRPC today; gRPC-Web and Connect later)
 * open calls; services answer them through this header, without knowledge of frames. No libuv, no
 * sockets, no store. Life: `on_start` once; then `on_message` for each request message;
 * `on_half_close` after the last; `on_writable` when a streamed reply has room again; `on_cancel`
 * at most once, when the peer, the connection, the deadline or the transport ended the call. The
 * services end each call with exactly one call_finish, also after on_cancel, after which no other
 * event comes (replies are then discarded). Until call_finish the call and its arena exist, even if
 * the connection is gone; after it the call must not be used. Of the call_* functions only
 * call_end_message may call the handlers before it returns.
 */
#ifndef ERRATA_SERVER_CALL_CALL_H
#define ERRATA_SERVER_CALL_CALL_H

#include "server/codec/contract.h"
#include "store/base/buffer.h"
#include "store/base/err.h"

/* Maximum size that clients accept: gRPC's C core refuses 8 KiB of trailers, which include the
 * details in base64. */
#define CALL_STATUS_MESSAGE_BYTES_MAX 1024
#define CALL_STATUS_DETAILS_BYTES_MAX 4096

/* The status that ends a call. Slices are copied. */
struct status {
    enum status_code code;
    struct slice message; /* UTF-8; empty for OK; truncated if too long */
    struct slice
        details; /* encoded google.rpc.Status with the same code; or empty; dropped if too long */
    int32_t retry_ms; /* as err_retry_ms; used by libraries with a retry policy */
};

/* Limit above which call_writable returns false: bytes of output that wait for the peer. */
#define CALL_OUTPUT_BYTES_HIGH (64 * 1024)

struct call {
    const struct method_info *method;
    struct arena *arena; /* memory of the call, freed with it */
    int64_t started_us; /* time of the call's first bytes, by the monotonic clock */
    int64_t deadline_us; /* deadline by the monotonic clock; INT64_MAX: none */
    struct slice authorization; /* the metadata's value, or empty */
    bool authorization_repeated; /* the field came several times, so the caller is ambiguous */
    struct slice peer; /* address of the peer for the log, such as 127.0.0.1:40112 */
    uint64_t number; /* number of the call since the start, used as request id in log lines */
    bool cancelled; /* on_cancel has been called */
    void *user; /* owned by the services */
};

/* The functions that handle calls. Messages by kind of method:
 *   unary, server stream   one, when the request has ended; valid until the call ends
 *   client stream          any number including none, each as soon as it is complete and before the
 *                          next is read. Its bytes are invalid after on_message returns, so a call
 *                          has memory for one message at a time, and for none after on_half_close.
 *                          Each is limited to message_bytes_max; the services limit the total.
 *                          Reading continues when on_message returns, unless that called
 *                          call_hold_message
 *   bidi stream            the same, but delayed while output is above the limit
 * A call may be finished at any time, also from inside on_message: no further message is delivered,
 * the status is sent at once, and further bytes from the peer are discarded. Unary calls and client
 * streams have exactly one reply if they succeed (any status other than OK drops it), and none of
 * it is sent before call_finish. */
struct call_handlers {
    void *user;
    /* All headers were received. May finish the call at once (no token, wrong role, draining). */
    void (*on_start)(void *user, struct call *call);
    /* Receives one complete request message, decompressed. The slice is borrowed until the call
     * ends; for client and bidi streams, until the function returns. */
    void (*on_message)(void *user, struct call *call, struct slice message);
    /* Reports the end of the request messages. A unary or server-streaming call has had exactly
     * one; a client stream may have had none, which services refuse if they need one. */
    void (*on_half_close)(void *user, struct call *call);
    /* The output of a stream fell below the limit; called each time it does. */
    void (*on_writable)(void *user, struct call *call);
    /* `why` is ERR_CANCELLED or ERR_DEADLINE. */
    void (*on_cancel)(void *user, struct call *call, enum err why);
};

/* Call inside on_message of a client or bidi stream: keeps the message's bytes, and delays the next
 * message and the half-close until call_end_message. The peer may send as much as its flow-control
 * window allows. */
void call_hold_message(struct call *call);
/* Releases the last message, also that of a unary call: its memory may be freed before the call.
 * For a held message (then not from inside on_message) it also delivers the next message or the
 * half-close from inside this function, so the call may be finished when it returns. */
void call_end_message(struct call *call);
/* Returns the value of a metadata key (lower case), decoded for a -bin key; the first if there are
 * several. False if there is none. Borrowed until the call ends. */
bool call_metadata(const struct call *call, struct slice key, struct slice *ret_value);

/* Adds response metadata: leading before the first reply, trailing before call_finish. Copied;
 * values of -bin keys are given raw. At most 16 of each; more are dropped and counted. */
void call_add_leading(struct call *call, struct slice key, struct slice value);
void call_add_trailing(struct call *call, struct slice key, struct slice value);

/* Starts a reply message, to be appended to the buffer. One at a time. `likely_bytes` is a hint. */
struct buffer *call_reply_begin(struct call *call, size_t likely_bytes);
/* Ends the reply: frames it, compresses it if negotiated and worthwhile, and queues it. Returns
 * ERR_MEMORY if the buffer failed; then finish the call with an error. */
MUST_CHECK enum err call_reply_end(struct call *call);
/* Returns whether a streamed reply has room for another message. */
bool call_writable(const struct call *call);
/* Ends the call with a status. */
void call_finish(struct call *call, const struct status *status);

#endif
