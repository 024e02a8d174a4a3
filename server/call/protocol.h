/*
 * protocol.h: the interface of calls for protocols (today server/grpc): their input (call_take_*),
 * their output (call_output_*), and the protocol's functions that a call uses (struct
 * call_protocol). Independent of the wire format. Services use only call.h.
 *
 * A call exists until both the services have finished it and the protocol has released it. The
 * second of the two returns it to the server's pool, in one place (call_release).
 */
#ifndef ERRATA_SERVER_CALL_PROTOCOL_H
#define ERRATA_SERVER_CALL_PROTOCOL_H

#include "server/call/call.h"
#include "server/call/gzip.h"
#include "server/call/server.h"
#include "store/base/fault.h"

/* Maximum metadata fields that the services may add at each end of a response. */
#define CALL_ADDED_MAX 16
/* Initial room of a request message, which is doubled up to its announced size. */
#define CALL_MESSAGE_START_BYTES (256u * 1024)
/* Maximum bytes of the head that a protocol writes in front of a reply message. */
#define CALL_REPLY_HEAD_BYTES_MAX 16
/* Maximum waiting request bytes of one call: four windows of 256 KiB, so that a protocol may
 * continue to read while the call does not. */
#define CALL_HELD_BYTES_MAX ((size_t)1 << 20)
/* Maximum size, compressed and decompressed, of messages that are inflated on the loop: about 100
 * us. The pool inflates larger ones. */
#define CALL_INFLATE_HERE_BYTES ((size_t)64 * 1024)
/* Maximum size of messages in another form, such as JSON, that are converted on the loop: at about 200
 * MB/s it takes a millisecond or two. The pool converts larger ones. */
#define CALL_CONVERT_HERE_BYTES ((size_t)256 * 1024)
/* Maximum factor by which a message grows when it is converted. */
#define CALL_CONVERTED_TIMES_MAX 8
/* Maximum messages that the pool inflates or converts at once. One thread produces about 1 GB/s; more would
 * contend with each other and the loop for the kernel's lock of the address space, and occupy
 * threads that other large messages need. */
#define CALL_INFLATIONS_MAX 1
/* Maximum bytes of messages that wait for the pool, of one connection and of all. The first message
 * of a connection may always wait. Delaying the peer instead would close the connection's window
 * before the end of the message for which it waits. */
#define CALL_SHARE_PACKED_BYTES_MAX ((size_t)8 << 20)
#define CALL_PACKED_BYTES_MAX ((size_t)64 << 20)
/* Number of slots of the timer wheel of deadlines, and their width: a turn takes 51 seconds; later
 * deadlines stay for several turns. */
#define CALL_WHEEL_SLOTS 1024
#define CALL_WHEEL_SLOT_US (50 * INT64_C(1000))

struct call_core;

/* Functions of a protocol for a call. None of them may finish or free the call. */
struct call_protocol {
    /* Bytes of the protocol's own state of a call: core->state, zeroed, in the call's arena. */
    size_t state_bytes;
    /* Room in front of each reply message, at most CALL_REPLY_HEAD_BYTES_MAX; write_head fills it
     * in when the message is complete. `bytes` is the size of the message; `compressed`: it is
     * gzip. */
    size_t reply_head_bytes;
    void (*write_head)(uint8_t *head, uint32_t bytes,
                       bool compressed); /* NULL if there is no head */
    /* Decodes the value of a metadata field for the services, into the arena; returns false if it
     * is invalid. NULL: values are used as sent. */
    bool (*read_value)(struct arena *arena, struct slice name, struct slice sent,
                       struct slice *ret_value);
    /* Converts a request message, decompressed, to protobuf, into the arena. Called on the pool for
     * messages above CALL_CONVERT_HERE_BYTES: of the call it may read only what stays as it was when the
     * message began. An error is explained in the fault. NULL: messages are protobuf. */
    enum err (*convert)(const struct call_core *core, struct slice sent, struct arena *arena,
                        struct fault *fault, struct slice *ret_message);
    /* Appends a reply message in the form that is sent. NULL: as protobuf. */
    enum err (*write_message)(struct call_core *core, struct slice message, struct buffer *sent);
    /* Appends a reply, with its head, in the form in which it is sent. NULL: as it is. */
    enum err (*wrap_reply)(struct call_core *core, struct slice reply, struct buffer *sent);
    /* Replies were queued. */
    void (*replies)(struct call_core *core);
    /* The services finished the call: sends `core->status` after the queued replies. */
    void (*finished)(struct call_core *core);
    /* The deadline passed: the status is set; queued replies may be dropped. */
    void (*expired)(struct call_core *core);
    /* The request may continue: held bytes may be taken. */
    void (*go_on)(struct call_core *core);
};

/* A metadata field of the request, allocated in the call's arena. */
struct call_metadata_field {
    struct call_metadata_field *next;
    struct slice name;
    struct slice value; /* value as sent */
};

/* A metadata field of the response, as set by the services. */
struct call_field {
    struct slice name;
    struct slice value;
};

/* A queued reply message: its head and bytes are contiguous. */
struct call_piece {
    struct call_piece *next;
    struct slice bytes; /* remaining bytes */
    bool begun; /* a part of it has been sent */
    uint8_t place; /* index in `reply_arenas` of its memory; CALL_PLACE_OWN for the call's arena */
};

#define CALL_PLACE_OWN 2

/* The request message that is arriving. */
struct call_input {
    bool begun; /* a part of a message or of its head has arrived */
    bool compressed; /* the message that is arriving */
    bool unsized; /* its size is not announced: `message_bytes` is a limit, until its end */
    bool
        any_compressed; /* a compressed message has been received, so the response may be compressed */
    uint32_t message_bytes; /* announced size of the message */
    uint8_t *data;
    size_t size; /* arrived */
    size_t capacity;
    uint64_t budget_bytes; /* bytes reserved in the server's budget for request bodies */
    uint32_t message_count;
    uint32_t progress_bytes; /* bytes received since `progress_us` */
    int64_t progress_us;
    struct slice first; /* the message of a call with one request, kept until the request's end */
};

enum call_inflation_state {
    CALL_INFLATION_NONE,
    CALL_INFLATION_WAITS, /* it waits in the connection's queue */
    CALL_INFLATION_RUNS /* the pool uses the call's memory: the call must not be freed */
};

/* A request message that the pool inflates, or converts, or both. While it runs, `arena`, `bytes`,
 * `result` and `fault` are the pool's. */
struct call_inflation {
    enum call_inflation_state state;
    bool is_compressed; /* else it is converted only */
    bool is_converted; /* `bytes` are protobuf */
    struct call_core *next; /* next in `share->packed`, while it waits */
    struct call_core *previous;
    struct slice packed; /* the message as it was sent */
    size_t max; /* maximum size of the result */
    atomic_bool stop; /* the result is no longer needed; set by the loop, read by the pool */
    enum err result;
    struct fault fault; /* of a failed conversion */
    struct slice bytes; /* the result, until it is dropped */
    struct arena arena; /* memory of the result */
};

/* State shared by the calls of one connection. The protocol owns it, and releases each call before
 * freeing it. */
struct call_share {
    size_t output_bytes; /* size of the replies that wait for the peer */
    struct call_core *waiting; /* requests that wait until the output is smaller; oldest first */
    struct call_core *waiting_last;
    struct call_core *packed; /* messages that wait for decompression; oldest first */
    struct call_core *packed_last;
    size_t packed_bytes; /* total size of these messages */
    bool inflates; /* the pool has one of them */
    bool
        in_line; /* next connection in the queue for decompression; set if messages wait and none is being inflated */
    struct call_share *line_next;
    struct call_share *line_previous;
};

/* Inflations of a server. */
struct call_inflations {
    struct call_share *first; /* connections in the queue, in order */
    struct call_share *last;
    uint32_t running;
    size_t packed_bytes; /* total size of all waiting messages */
    struct gzip_inflater
        *inflater; /* inflater for small messages; owned, NULL until the first use */
    uint8_t small[CALL_INFLATE_HERE_BYTES + 1]; /* one extra byte detects a larger message */
};

struct call_core {
    struct call call; /* must be the first member: the services' view */
    struct call_server *server;
    const struct call_protocol *protocol;
    void *stream; /* the protocol's own, NULL after it released the call */
    void *state; /* the protocol's own, state_bytes of it */
    struct call_share *share; /* NULL: none, or the protocol released the call */
    struct call_core *share_next; /* next in `share->waiting`, while `share_waits` */
    struct call_core *share_previous;
    bool share_waits;
    struct call_core *next; /* next in the server's list of live calls, or in its pool */
    struct call_core *previous;
    struct call_core *timer_next; /* next in a slot of the timer wheel */
    struct call_core *timer_previous;
    int32_t timer_slot; /* -1: in no slot */
    struct call_metadata_field *metadata; /* newest first */
    bool accepts_gzip; /* the peer accepts compressed replies */
    bool
        offers_gzip; /* a reply may be compressed though the request was not; set before the start */
    bool started; /* on_start has been called */
    bool finished; /* call_finish has been called, or is no longer allowed */
    bool half_closed; /* on_half_close has been called */
    bool closed; /* the protocol released the call */
    bool ended; /* the protocol has its status: no more replies are queued */
    bool reply_open;
    bool reply_is_compressed; /* the last reply */
    bool full; /* output has exceeded the limit, so on_writable must be called */
    bool request_end; /* the request is complete, but some of it may be held */
    bool
        end_taken; /* the end of the request was received; the services are notified now, or after `share_waits` */
    bool message_held; /* the services are handling a streamed message asynchronously: the next one
                        * waits */
    struct call_input input;
    struct call_inflation inflation;
    struct buffer
        held; /* received bytes that wait, since output exceeds the limit or call_input_waits */
    struct buffer reply; /* the reply that is being written, with room for its head */
    uint8_t reply_place;
    uint32_t reply_counts[2]; /* number of pieces allocated in each of `reply_arenas` */
    struct call_piece *pieces; /* waiting replies, oldest first */
    struct call_piece **pieces_end;
    size_t output_bytes; /* their total size */
    struct status status; /* copied into the arena */
    uint32_t leading_count;
    uint32_t trailing_count;
    /* The following members are kept between calls. */
    struct arena arena;
    struct arena reply_arenas
        [2]; /* memory of a stream's replies, used in turns: an arena without pieces is reset */
    struct arena input_arena; /* memory of a streamed request: the current message */
    struct arena held_arena; /* memory of `held` */
    struct call_field leading[CALL_ADDED_MAX];
    struct call_field trailing[CALL_ADDED_MAX];
};

struct call_server {
    struct call_config config;
    struct call_core *live;
    struct call_core *pool;
    uint32_t pool_count;
    uint64_t output_bytes; /* size of all responses that wait for their peers */
    uint64_t body_bytes; /* size of all request messages that are being received or handled */
    const struct method_info *recent_method; /* method of the last call; NULL if unknown */
    uint64_t next_number;
    int64_t now_us; /* last time passed in */
    int64_t wheel_us; /* the wheel was advanced to this time */
    int64_t bodies_checked_us;
    struct call_core *wheel[CALL_WHEEL_SLOTS + 1]; /* the last one: calls that are due now */
    struct call_stats stats;
    struct call_inflations inflations;
};

static inline struct call_core *call_core_of(struct call *call)
{
    return (struct call_core *)call;
}

/* Returns whether more than half of the allowed calls are live, so that connections with many calls get no more. */
static inline bool call_server_is_pressed(const struct call_server *server)
{
    return server->stats.calls_live > server->config.live_max / 2;
}

/* Returns a new call; NULL above the server's limit or if there is no memory. */
struct call_core *call_open(struct call_server *server, const struct call_protocol *protocol);
/* Releases the call for the protocol, since its stream is closed. Cancels a call that is not
 * finished. */
void call_let_go(struct call_core *core);

/* Adds a metadata field of the request. Name (in lower case) and value are copied; `authorization`
 * is also kept for the services. Fails only with ERR_MEMORY. */
MUST_CHECK enum err call_take_metadata(struct call_core *core, struct slice name,
                                       struct slice value);
/* Finds the method of a path (/package.Service/Method), or NULL. Consecutive calls often have the
 * same method, so the last one is checked first. */
const struct method_info *call_find_method(struct call_server *server, struct slice path);
/* Returns a path or target without the configured prefix, if it has that. */
struct slice call_without_prefix(const struct call_server *server, struct slice path);
/* Starts the call in the services, after all metadata and the method are known. `timeout_us` counts
 * from the call's start; INT64_MAX: none was sent, so the method's default is used. A call without
 * time left is refused. */
void call_start_within(struct call_core *core, int64_t timeout_us);
/* Does the same with the deadline of core->call. */
void call_start(struct call_core *core);
/* Takes a complete message, in the call's arena, and the request's end. For protocols that receive
 * complete requests; others call the functions of call_input.c. */
void call_deliver(struct call_core *core, struct slice message);
void call_deliver_end(struct call_core *core);
/* Ends the call with an error of the transport; a later result of the services is discarded. */
void call_refuse(struct call_core *core, enum err err, struct slice message);
/* Does the same, with the error's default text if `text` is empty. */
void call_refuse_text(struct call_core *core, enum err err, struct slice text);
/* Does the same, with the error's default text if `message` is NULL. */
void call_refuse_err(struct call_core *core, enum err err, const char *message);
/* Does the same for a message that cannot be read: the status lists every invalid field. The fault is in the
 * call's arena. */
void call_refuse_fault(struct call_core *core, enum err err, const struct fault *fault);

/* call_input.c: request messages as their bytes arrive. */
/* Returns the arena of request messages: of the call for a single one; reset after each of a
 * stream. */
static inline struct arena *call_input_arena(struct call_core *core)
{
    return method_has_one_request(core->call.method) ? &core->arena : &core->input_arena;
}
/* Records that a message has started to arrive, so that the rest is expected in time; also before the
 * method is known. */
void call_expect_message(struct call_core *core);
/* Begins a message of this size (as sent), or refuses the call. */
void call_begin_message(struct call_core *core, uint32_t bytes, bool compressed);
/* Does the same if its size is not announced: by a protocol in which the request's end is that of
 * its only message. */
void call_begin_unsized_message(struct call_core *core, bool compressed);
/* Ends a message without an announced size: all its bytes have arrived. Does nothing for others. */
void call_end_unsized_message(struct call_core *core);
/* Takes the next bytes as far as they belong to the message, and returns their number. */
size_t call_take_message_bytes(struct call_core *core, struct slice bytes);
/* Returns whether all bytes of the message have arrived; the caller must then call
 * call_take_whole_message. */
static inline bool call_message_is_whole(const struct call_core *core)
{
    return !core->ended && core->input.size == core->input.message_bytes;
}
/* Delivers the message, inflated if necessary, now or later. */
void call_take_whole_message(struct call_core *core);
/* Counts received bytes of the request, for the detection of slow requests. */
void call_note_progress(struct call_core *core, size_t bytes);
/* Takes the request's end: the services are notified now, or after the peer has read enough of the
 * connection's replies (call_share_go_on). */
void call_take_end(struct call_core *core);
/* Returns whether bytes of the request must wait until `go_on`, since an earlier message is still
 * being handled. */
static inline bool call_input_waits(const struct call_core *core)
{
    return core->inflation.state != CALL_INFLATION_NONE || core->message_held;
}
/* Returns whether no bytes of the request are accepted: it has ended, its output exceeds the limit,
 * or call_input_waits. */
static inline bool call_input_stopped(const struct call_core *core)
{
    return core->ended || core->full || call_input_waits(core);
}
/* Returns whether the request's end has arrived and all bytes before it were taken; the caller must
 * then call call_take_end once. */
static inline bool call_end_is_due(const struct call_core *core)
{
    return core->request_end && !core->end_taken && core->held.size == 0 && !call_input_waits(core);
}
/* Appends bytes that cannot be taken now to the held ones. */
void call_hold_bytes(struct call_core *core, struct slice bytes);
/* Removes bytes that have been consumed from the held ones. */
void call_drop_held(struct call_core *core, size_t bytes);

/* Continues waiting requests after the peer has read responses: takes the end of the oldest one if
 * enough were read. Returns whether more wait, in which case it must be called again in a later
 * turn. */
MUST_CHECK bool call_share_go_on(struct call_server *server, struct call_share *share);

/* Returns the next bytes of the queued replies, each with its head. */
size_t call_output_ready(const struct call_core *core, size_t max, bool *ret_end);
void call_output_copy(struct call_core *core, uint8_t *to, size_t size);
/* Drops replies of which nothing was sent; returns false if one was sent in part. */
bool call_output_drop(struct call_core *core);
/* Calls on_writable if it is due, after output was sent. */
void call_output_moved(struct call_core *core);
/* Returns whether replies may be compressed: those to a compressed request, since stock clients of gRPC
 * accept gzip in every call, and most replies are cheaper to send than to compress. */
static inline bool call_compresses(const struct call_core *core)
{
    return core->accepts_gzip && core->input.any_compressed;
}
/* Returns whether a reply of this size is compressed. */
static inline bool call_compresses_reply(const struct call_core *core, size_t bytes)
{
    return bytes >= CALL_COMPRESS_BYTES_MIN &&
           (call_compresses(core) ||
            (core->accepts_gzip && core->offers_gzip && bytes <= CALL_COMPRESS_OFFERED_BYTES_MAX));
}

#endif
