/*
 * call.h: one call, the same for every protocol: a method, metadata, request messages in, reply
 * messages out, a status, a deadline, cancellation. The protocols (gRPC today; gRPC-Web and Connect
 * beside it later) make calls; the services answer them through this header and know nothing of
 * frames. No libuv, no sockets, no store.
 *
 * Life: `on_start` once; then `on_message` for each request message; `on_half_close` when there will
 * be no more; `on_writable` when a streamed answer has room again; `on_cancel` at most once, when
 * the peer, the connection, the deadline or the transport ended it.
 *
 * The services end each call with exactly one call_finish, also after on_cancel, after which no
 * other event comes (what is sent then goes nowhere). Until then the call and its arena stay, even
 * when the connection is gone. After call_finish nothing may touch the call.
 * None of the call_* functions but call_end_message calls back into the handlers before it returns.
 */
#ifndef ERRATA_SERVER_CALL_CALL_H
#define ERRATA_SERVER_CALL_CALL_H

#include "server/codec/contract.h"
#include "store/base/buffer.h"
#include "store/base/err.h"

/* What clients take: gRPC's C core refuses 8 KiB of trailers, which have the details in base64. */
#define CALL_STATUS_MESSAGE_BYTES_MAX 1024
#define CALL_STATUS_DETAILS_BYTES_MAX 4096

/* How a call ends. Slices are copied. */
struct status {
    enum status_code code;
    struct slice message; /* UTF-8; empty for OK; a longer one is cut */
    struct slice
        details; /* google.rpc.Status, wire bytes, of the same code; or empty; longer: lost */
    int32_t retry_ms; /* as err_retry_ms; a library that retries by itself obeys it */
};

/* Output of a stream above this waits for the peer: call_writable is false. */
#define CALL_OUTPUT_BYTES_HIGH (64 * 1024)

struct call {
    const struct method_info *method;
    struct arena *arena; /* the call's; dies with it */
    int64_t started_us; /* monotonic; when the bytes came that began it */
    int64_t deadline_us; /* monotonic; INT64_MAX: none */
    struct slice authorization; /* the metadata's value, or empty */
    bool authorization_repeated; /* there were several: whose call it is can't be said */
    struct slice peer; /* address for the log, such as 127.0.0.1:40112 */
    uint64_t number; /* of the call since start: the request id of log lines */
    bool cancelled; /* on_cancel was called */
    void *user; /* the services' own */
};

/* Who answers calls. Messages by kind of method:
 *   unary, server stream   one, when the request has ended: it stays until the call ends
 *   client stream          any number, none included, each as soon as it is whole and before the
 *                          next is read; its bytes are gone when on_message returns, so a call has
 *                          memory for one at a time, and of none once on_half_close comes. Each is
 *                          bounded by message_bytes_max, and by nothing in sum: that is for the
 *                          services to bound. Reading goes on as on_message returns, unless that
 *                          called call_hold_message
 *   bidi stream            the same, held back while output is above the mark
 * A call may be finished at any time, from inside on_message too: no message follows, the status
 * goes out at once, and what the peer still sends is read and forgotten. Unary calls and client
 * streams answer with exactly one reply where they succeed (a status other than OK drops one that
 * was made), and nothing of it is sent before call_finish. */
struct call_handlers {
    void *user;
    /* The headers are whole. May finish the call at once (no token, wrong role, draining). */
    void (*on_start)(void *user, struct call *call);
    /* One whole request message, decompressed. Borrowed until the call ends; of a client or bidi
     * stream, until the function returns. */
    void (*on_message)(void *user, struct call *call, struct slice message);
    /* No more request messages. A unary or server-streaming call has had exactly one; a client
     * stream that has had none is refused by the services, where they want one. */
    void (*on_half_close)(void *user, struct call *call);
    /* The output of a stream fell below the mark; again after each time it was above it. */
    void (*on_writable)(void *user, struct call *call);
    /* `why` is ERR_CANCELLED or ERR_DEADLINE. */
    void (*on_cancel)(void *user, struct call *call, enum err why);
};

/* From inside on_message of a client or bidi stream: its bytes stay, and neither a message nor the
 * half-close follows, until call_end_message. The peer may send what its window holds. */
void call_hold_message(struct call *call);
/* The bytes of the last message are not needed any more, those of the only one included: memory may go
 * before the call does. Of a message that was held (then it is not called from inside on_message) what
 * follows it comes, from inside this function too: the call may be finished when it returns. */
void call_end_message(struct call *call);
/* The value of a metadata key (lower case), of a -bin key the bytes; the first where there are several.
 * False where there is none. Borrowed until the call ends. */
bool call_metadata(const struct call *call, struct slice key, struct slice *ret_value);

/* Adds metadata to the answer: leading before the first reply, trailing before call_finish. Copied;
 * values are given raw, also of -bin keys. At most 16 of each; more are dropped and counted. */
void call_add_leading(struct call *call, struct slice key, struct slice value);
void call_add_trailing(struct call *call, struct slice key, struct slice value);

/* Starts a reply message: append its bytes to the buffer. One at a time. `likely_bytes` is a hint. */
struct buffer *call_reply_begin(struct call *call, size_t likely_bytes);
/* Ends it: frames it, compresses it where that was negotiated and pays, and queues it. ERR_MEMORY
 * where the buffer failed: the call is still to be finished, with an error. */
MUST_CHECK enum err call_reply_end(struct call *call);
/* A streamed answer has room for another message. */
bool call_writable(const struct call *call);
/* Ends the call. */
void call_finish(struct call *call, const struct status *status);

#endif
