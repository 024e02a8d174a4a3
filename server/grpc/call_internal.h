/*
 * call_internal.h: a call's private fields, for the protocols in this folder and those beside it. A
 * call is protocol-neutral: metadata, request messages, queued reply messages, a status, a
 * deadline. A protocol makes it, feeds it (call_take_*), reads its output (call_output_*) and is told
 * by its table of functions when there is something to send.
 *
 * A call lives until both are true: the services have finished it, and the protocol has let go of
 * it. Whichever comes second gives it back to the server's pool, at one line (call_release).
 */
#ifndef ERRATA_SERVER_GRPC_CALL_INTERNAL_H
#define ERRATA_SERVER_GRPC_CALL_INTERNAL_H

#include "server/grpc/call.h"
#include "server/grpc/gzip.h"
#include "server/grpc/server.h"
#include "server/http2/h2.h"

/* Metadata that the services may add to each end of an answer. */
#define CALL_ADDED_MAX 16
/* Fields of the protocol's own at either end: status, message, details, content type, encodings. */
#define CALL_OWN_FIELDS_MAX 7
/* A request message starts with this much room, and grows by doubling up to its announced size. */
#define CALL_MESSAGE_START_BYTES (256u * 1024)
/* Head of a message on the wire: flag and length. */
#define CALL_PREFIX_BYTES 5
/* What is inflated at once, packed and unpacked: some 100 us. Larger messages go to the pool. */
#define CALL_INFLATE_HERE_BYTES ((size_t)64 * 1024)
/* Messages on the pool at once. One thread makes some 1 GB a second; more of them would hold each other up,
 * and the loop, at the kernel's lock of the address space, and take the threads of other large bodies. */
#define CALL_INFLATIONS_MAX 1
/* Packed bytes that wait for their inflation, of one connection and of all: some 50 and 400 messages of what
 * a second inflates. The first message of a connection always may wait. Holding the peer back instead would
 * close the connection's window to the very message whose end it waits for. */
#define CALL_SHARE_PACKED_BYTES_MAX ((size_t)8 << 20)
#define CALL_PACKED_BYTES_MAX ((size_t)64 << 20)
/* Slots of the wheel of deadlines, and their width: 51 seconds a turn; later ones go round again. */
#define CALL_WHEEL_SLOTS 1024
#define CALL_WHEEL_SLOT_US (50 * INT64_C(1000))

struct call_core;

/* What a protocol does for a call. */
struct call_protocol {
    /* Replies were queued. */
    void (*replies)(struct call_core *core);
    /* The services finished it: `core->status` is to be sent behind the queued replies. */
    void (*finished)(struct call_core *core);
    /* The deadline passed: the status is set; queued replies may be dropped. */
    void (*expired)(struct call_core *core);
    /* The request goes on: what was held of it may be taken. */
    void (*go_on)(struct call_core *core);
};

/* One metadata field of the request, in the call's arena. */
struct call_metadata_field {
    struct call_metadata_field *next;
    struct slice name;
    struct slice value; /* as sent */
};

/* One reply message on its way: head and bytes are one piece. */
struct call_piece {
    struct call_piece *next;
    struct slice bytes; /* what is left of it */
    bool begun; /* some of it was taken out */
    uint8_t place; /* which of `reply_arenas` holds it; CALL_PLACE_OWN for the call's arena */
};

#define CALL_PLACE_OWN 2

/* How messages of one direction are compressed. */
enum call_encoding {
    CALL_IDENTITY,
    CALL_GZIP,
    CALL_ENCODING_UNKNOWN
};

/* The request message that is arriving. */
struct call_input {
    uint8_t prefix[CALL_PREFIX_BYTES];
    uint8_t prefix_bytes; /* so far */
    bool compressed; /* the message that is arriving */
    bool any_compressed; /* some message was: the answer may be */
    uint32_t message_bytes; /* as announced */
    uint8_t *data;
    size_t size; /* arrived */
    size_t capacity;
    uint64_t budget_bytes; /* taken from the server's budget for bodies */
    uint32_t message_count;
    uint32_t progress_bytes; /* arrived since `progress_us` */
    int64_t progress_us;
    struct slice first; /* of a call with one request: kept until the request's end */
};

enum call_inflation_state {
    CALL_INFLATION_NONE,
    CALL_INFLATION_WAITS, /* in its connection's line */
    CALL_INFLATION_RUNS /* the pool has it, and with it the call's memory: the call stays */
};

/* A request message that is inflated on the pool. While it runs, `arena`, `bytes` and `result` are the
 * pool's. */
struct call_inflation {
    enum call_inflation_state state;
    struct call_core *next; /* in `share->packed`, while it waits */
    struct call_core *previous;
    struct slice packed;
    size_t max; /* bytes that it may come to */
    atomic_bool stop; /* no caller waits for it any more; set by the loop, read by the pool */
    enum err result;
    struct slice bytes; /* what it came to: the message, until it is dropped */
    struct arena arena; /* where that is */
};

/* What a content type asks for. */
enum call_content {
    CALL_CONTENT_OTHER,
    CALL_CONTENT_GRPC /* application/grpc, or +proto */
};

/* What the request's fields said, until they are whole. */
struct call_head {
    enum call_content content;
    bool is_post;
    bool is_head;
    bool timeout_is_bad;
    bool no_memory;
    int64_t timeout_us; /* INT64_MAX: none */
};

/* What the calls of one connection share; its protocol has it, and lets go of each call before it goes. */
struct call_share {
    size_t output_bytes; /* of replies that wait for the peer */
    struct call_core *waiting; /* requests that wait until they are fewer; oldest first */
    struct call_core *waiting_last;
    struct call_core *packed; /* messages that wait for their inflation; oldest first */
    struct call_core *packed_last;
    size_t packed_bytes; /* of them */
    bool inflates; /* the pool has one of them */
    bool
        in_line; /* of connections of which one may be inflated: some are packed, and none inflates */
    struct call_share *line_next;
    struct call_share *line_previous;
};

/* Inflations of a server. */
struct call_inflations {
    struct call_share *first; /* connections whose turn comes; in order */
    struct call_share *last;
    uint32_t running;
    size_t packed_bytes; /* of all messages that wait */
    struct gzip_inflater *inflater; /* for small messages; owned, NULL until there was one */
    uint8_t small[CALL_INFLATE_HERE_BYTES + 1]; /* one byte more shows that it is larger */
};

struct call_core {
    struct call call; /* first: the services' view */
    struct call_server *server;
    const struct call_protocol *protocol;
    void *stream; /* the protocol's own, NULL once it let go */
    uint32_t stream_generation;
    struct call_share *share; /* NULL: none, or the protocol let go */
    struct call_core *share_next; /* in `share->waiting`, while `share_waits` */
    struct call_core *share_previous;
    bool share_waits;
    struct call_core *next; /* in the server's list of live calls, or in its pool */
    struct call_core *previous;
    struct call_core *timer_next; /* in a slot of the wheel */
    struct call_core *timer_previous;
    int32_t timer_slot; /* -1: in none */
    struct call_metadata_field *metadata; /* newest first */
    enum call_encoding request_encoding;
    bool accepts_gzip;
    bool started; /* on_start was called */
    bool finished; /* call_finish was called, or nobody will */
    bool half_closed; /* on_half_close was called */
    bool closed; /* the protocol let go */
    bool ended; /* the protocol has its status: nothing is queued any more */
    bool reply_open;
    bool full; /* output was above the mark: on_writable is owed */
    bool request_end; /* the request is whole, though some of it may be held */
    bool end_taken; /* so was its end: the services hear of it now, or after `share_waits` */
    bool message_held; /* the services work on a streamed message elsewhere: the next one waits */
    bool responded; /* the answer's head was handed to the protocol */
    struct call_head head;
    struct call_input input;
    struct call_inflation inflation;
    struct buffer held; /* request bytes that wait: output is above the mark, or call_input_waits */
    struct buffer reply; /* the message that is being written, with room for its head */
    uint8_t reply_place;
    uint32_t reply_counts[2]; /* pieces that live in each of `reply_arenas` */
    struct call_piece *pieces; /* replies that wait, oldest first */
    struct call_piece **pieces_end;
    size_t output_bytes; /* in them */
    struct status status; /* copied into the arena */
    uint32_t leading_count;
    uint32_t trailing_count;
    /* What follows is not cleared between calls. */
    struct arena arena;
    struct arena reply_arenas[2]; /* of streams, in turns: the one with no piece left is reset */
    struct arena input_arena; /* of streamed requests: the message being taken */
    struct arena held_arena; /* of `held` */
    struct h2_field leading[CALL_ADDED_MAX];
    struct h2_field trailing[CALL_ADDED_MAX];
};

_Static_assert(2 * CALL_ADDED_MAX + CALL_OWN_FIELDS_MAX <= H2_FIELDS_MAX,
               "the fields of an answer fit, where both ends of it are one block");

struct call_server {
    struct call_config config;
    struct call_core *live;
    struct call_core *pool;
    uint32_t pool_count;
    uint64_t output_bytes; /* of answers that wait for their peers */
    uint64_t body_bytes; /* of request messages that are arriving or being handled */
    const struct method_info *recent_method; /* of the last call; NULL where it had none */
    uint64_t next_number;
    int64_t now_us; /* as last told */
    int64_t wheel_us; /* the wheel has turned up to here */
    int64_t bodies_checked_us;
    struct call_core *wheel[CALL_WHEEL_SLOTS + 1]; /* the last: those that are due now */
    struct call_stats stats;
    struct h2_shared *h2;
    struct call_inflations inflations;
};

static inline struct call_core *call_core_of(struct call *call)
{
    return (struct call_core *)call;
}

/* More than half of the calls at once are live: who has many gets no more. */
static inline bool call_server_is_pressed(const struct call_server *server)
{
    return server->stats.calls_live > server->config.live_max / 2;
}

/* A new call, or NULL above the server's limit or without memory. */
struct call_core *call_open(struct call_server *server, const struct call_protocol *protocol);
/* The protocol lets go: the stream is closed. Cancels a call that is not finished. */
void call_let_go(struct call_core *core);
/* Gives a call back to the pool where nobody needs it any more. */
void call_release_when_done(struct call_core *core);

/* Request side. Names and values are copied. ERR_MEMORY. */
MUST_CHECK enum err call_take_metadata(struct call_core *core, struct slice name,
                                       struct slice value);
/* The metadata is whole and the method known: tells the services. */
void call_start(struct call_core *core);
/* A whole message, in the call's arena. */
void call_deliver(struct call_core *core, struct slice message);
void call_deliver_end(struct call_core *core);
/* Answers with an error of the transport's own: what the services finish later goes nowhere. */
void call_refuse(struct call_core *core, enum err err, struct slice message);
/* The same, with the error's own text where `text` is empty. */
void call_refuse_text(struct call_core *core, enum err err, struct slice text);
/* The same, with the error's own text where `message` is NULL. */
void call_refuse_err(struct call_core *core, enum err err, const char *message);

/* Tells the services, once, unless they have finished. */
void call_cancel(struct call_core *core, enum err why);
/* The call's status is final: counted, and off the wheel. call_fail makes one of an error, details
 * and all; `message` lives as long as the call. */
void call_fail(struct call_core *core, enum err err, struct slice message);
void call_end(struct call_core *core, enum grpc_code code);
void call_free_memory(struct call_core *core);

/* Deadlines. A call without one is in no slot. */
void call_timer_start(struct call_core *core);
void call_timer_stop(struct call_core *core);
void call_server_turn_wheel(struct call_server *server, int64_t now_us);
/* Ends calls whose request has stopped to arrive. */
void call_server_check_bodies(struct call_server *server, int64_t now_us);

/* call_share.c: replies that wait, counted for the connection and the server. */
void call_share_add(struct call_core *core, size_t bytes);
void call_share_take(struct call_core *core, size_t bytes);
/* Too much waits for the peer: whole requests are to wait too. */
bool call_share_is_full(const struct call_server *server, const struct call_share *share);
void call_share_wait(struct call_core *core);
/* Waits no more, if it did. */
void call_share_leave(struct call_core *core);

/* Output side: the queued replies as one run of bytes. */
size_t call_output_ready(const struct call_core *core, size_t max, bool *ret_end);
void call_output_copy(struct call_core *core, uint8_t *to, size_t size);
/* Forgets replies of which nothing was sent; false where one is in the middle. */
bool call_output_drop(struct call_core *core);
/* Output went down: tells the services, where they are owed it. */
void call_output_moved(struct call_core *core);

/* The wire bytes of a finished reply message: head and payload, compressed where that was asked for
 * and pays. */
MUST_CHECK enum err call_frame_reply(struct call_core *core, struct slice *ret_bytes);
/* Takes bytes of the request's length-prefixed messages, and gives how many: fewer than all where
 * output is above the mark. */
size_t call_take_frames(struct call_core *core, struct slice bytes);
/* The request ended behind the bytes taken. */
void call_take_frames_end(struct call_core *core);
/* A whole message, as it was sent: for the services now, or at the request's end. */
void call_take_message(struct call_core *core, struct slice message);
/* Bytes of the request are not taken until `go_on`: a message of it is not done with. */
static inline bool call_input_waits(const struct call_core *core)
{
    return core->inflation.state != CALL_INFLATION_NONE || core->message_held;
}
/* The request goes on after it waited. */
void call_go_on(struct call_core *core);
/* Where a request message lives: one as long as its call; of many, each makes room for the next. */
static inline struct arena *call_input_arena(struct call_core *core)
{
    return method_has_one_request(core->call.method) ? &core->arena : &core->input_arena;
}
/* Takes from the memory for request messages; false if no memory is left: the call is refused. */
MUST_CHECK bool call_take_budget(struct call_core *core, size_t bytes);
void call_give_budget(struct call_core *core, uint64_t bytes);

/* call_inflate.c */
/* A compressed message is whole: it is taken, now or by the pool, or refused. */
void call_inflate(struct call_core *core, struct slice packed);
/* No caller wants it any more. */
void call_inflation_stop(struct call_core *core);
/* The same, and the call leaves its connection. */
void call_inflation_let_go(struct call_core *core);
/* Frees what was inflated, if anything was and the pool does not have it. */
void call_drop_inflated(struct call_core *core);
/* The answer may be compressed. */
static inline bool call_compresses(const struct call_core *core)
{
    return core->accepts_gzip && core->input.any_compressed;
}

#endif
