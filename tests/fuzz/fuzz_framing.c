/*
 * fuzz_framing.c: any bytes as the envelopes of the messages of one call, cut anywhere, straight
 * into the call (server/call/envelope.c) without HTTP/2 around it; beside a reading of the same
 * bytes in one piece, which states what the method must have been given and how the call ended. Each
 * kind of method; with gzip and without. What it answers is read back. The first byte states how, the
 * second how long the pieces are.
 */
#include "server/call/envelope.h"
#include "server/call/gzip.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#define GZIP 1
#define ACCEPTS_GZIP 2
#define STAYS_OPEN 4 /* the request does not end after the bytes */
#define ON_POOL 8 /* there is a pool, and messages may be large enough to use it */
#define KIND_SHIFT 4 /* the kind of method, in the bits from here on */
/* Small, so that inputs get there. */
#define MESSAGE_BYTES_MAX 3000
#define POOLED_BYTES_MAX ((size_t)100 * 1000)
#define ARENA_BYTES ((size_t)256 << 20)
/* A reply of a bidi stream: four of them are above the mark. */
#define REPLY_BYTES (20u * 1024)
#define NO_STATUS (-1)

/* Messages that a method received, or should have received, each after its length. */
struct taken {
    struct buffer bytes;
    unsigned count;
    bool ended;
};

struct framing {
    struct arena arena; /* memory for recorded data */
    struct method_info method;
    size_t message_bytes_max;
    void (*work)(void *job); /* function of the job on the pool; NULL: none */
    void (*done)(void *job, enum err result);
    void *job;
    bool gzip;
    bool accepts_gzip;
    bool any_compressed; /* a compressed message was sent */
    struct taken taken;
    unsigned replies; /* made */
    unsigned replies_read;
    struct buffer output;
    int status;
};

static void note(struct taken *taken, struct slice message)
{
    uint8_t size[4];

    bytes_put_be32(size, (uint32_t)message.size);
    buffer_append(&taken->bytes, slice_of(size, sizeof(size)));
    buffer_append(&taken->bytes, message);
    taken->count++;
}

static void reply(struct framing *framing, struct call *call, size_t size)
{
    struct buffer *body = call_reply_begin(call, size);

    ASSERT(buffer_reserve(body, size));
    memset(body->data + body->size, 'r', size);
    body->size += size;
    ASSERT(call_reply_end(call) == OK);
    framing->replies++;
}

static void finish(struct call *call, enum status_code code)
{
    call_finish(call, &(struct status){.code = code});
}

static void on_start(void *user, struct call *call)
{
    call->user = user;
}

static void on_message(void *user, struct call *call, struct slice message)
{
    struct framing *framing = user;

    ASSERT(!framing->taken.ended);
    note(&framing->taken, message);
    if (call->method->stream == METHOD_BIDI_STREAM) {
        reply(framing, call, REPLY_BYTES);
    }
}

static void on_half_close(void *user, struct call *call)
{
    struct framing *framing = user;

    ASSERT(!framing->taken.ended);
    framing->taken.ended = true;
    if (call->method->stream != METHOD_BIDI_STREAM) {
        reply(framing, call, CALL_COMPRESS_BYTES_MIN);
    }
    finish(call, STATUS_OK);
}

static void on_writable(void *user, struct call *call)
{
    (void)user;
    ASSERT(call_writable(call));
}

static void on_cancel(void *user, struct call *call, enum err why)
{
    (void)user;
    ASSERT(why == ERR_CANCELLED);
    finish(call, STATUS_CANCELLED);
}

static void on_replies(struct call_core *core)
{
    ASSERT(!core->ended);
}

static void on_finished(struct call_core *core)
{
    struct framing *framing = core->stream;

    ASSERT(core->ended);
    if (framing != NULL) {
        ASSERT(framing->status == NO_STATUS);
        framing->status = (int)core->status.code;
    }
}

/* `feed` feeds the held bytes again. */
static void on_go_on(struct call_core *core)
{
    ASSERT(!call_input_waits(core));
}

static const struct call_protocol protocol = {.state_bytes = sizeof(struct call_envelopes),
                                              .reply_head_bytes = CALL_ENVELOPE_BYTES,
                                              .write_head = call_write_envelope,
                                              .replies = on_replies,
                                              .finished = on_finished,
                                              .expired = on_finished,
                                              .go_on = on_go_on};

/* A call has at most one message on the pool. */
static enum err run_on_pool(void *user, void (*work)(void *job),
                            void (*done)(void *job, enum err result), void *job)
{
    struct framing *framing = user;

    ASSERT(framing->work == NULL);
    framing->work = work;
    framing->done = done;
    framing->job = job;
    return OK;
}

static void run_job(struct framing *framing)
{
    if (framing->work != NULL) {
        framing->work(framing->job);
        framing->work = NULL;
        framing->done(framing->job, OK);
    }
}

/* Drains the queued output. */
static void drain(struct framing *framing, struct call_core *core)
{
    uint8_t bytes[999];
    bool end = false;

    ASSERT(core->output_bytes <= CALL_OUTPUT_BYTES_HIGH + REPLY_BYTES + CALL_ENVELOPE_BYTES);
    for (size_t size = call_output_ready(core, sizeof(bytes), &end); size > 0;
         size = call_output_ready(core, sizeof(bytes), &end)) {
        call_output_copy(core, bytes, size);
        buffer_append(&framing->output, slice_of(bytes, size));
    }
    call_output_moved(core);
}

/* Feeds the bytes in pieces; what is not taken waits until output was read. */
static void feed(struct framing *framing, struct call_core *core, struct slice bytes, size_t piece)
{
    while (bytes.size > 0) {
        size_t size = bytes.size < piece ? bytes.size : piece;
        size_t used = call_take_envelopes(core, core->state, slice_of(bytes.data, size));

        ASSERT(used <= size);
        if (used < size) {
            ASSERT(call_input_waits(core) ||
                   (core->full && framing->method.stream == METHOD_BIDI_STREAM));
            run_job(framing);
            drain(framing, core);
        }
        bytes = slice_after(bytes, used);
    }
    run_job(framing);
}

static int refuse_head(const struct framing *framing, uint8_t flags, size_t size, unsigned before)
{
    if (flags > 1 || (flags == 1 && !framing->gzip)) {
        return STATUS_INTERNAL;
    }
    if (before > 0 && method_has_one_request(&framing->method)) {
        return STATUS_UNIMPLEMENTED;
    }
    return size > framing->message_bytes_max ? STATUS_RESOURCE_EXHAUSTED : NO_STATUS;
}

/* Reads one complete message: records it, or returns the status that ends the call. */
static int read_message(struct framing *framing, uint8_t flags, struct slice message,
                        struct taken *taken)
{
    enum err err = OK;

    if (flags == 1) {
        err = gzip_inflate(&framing->arena, message, framing->message_bytes_max, NULL, &message);
    }
    if (err != OK) {
        return err == ERR_TOO_LARGE ? STATUS_RESOURCE_EXHAUSTED : STATUS_INTERNAL;
    }
    note(taken, message);
    return NO_STATUS;
}

/* The whole reading: what must have been taken, and the status. */
static int read_request(struct framing *framing, struct slice rest, bool ends, struct taken *taken)
{
    bool one = method_has_one_request(&framing->method);

    while (rest.size >= CALL_ENVELOPE_BYTES) {
        uint8_t flags = rest.data[0];
        size_t size = bytes_get_be32(rest.data + 1);
        int status = refuse_head(framing, flags, size, taken->count);

        framing->any_compressed = framing->any_compressed || (flags & 1) != 0;
        rest = slice_after(rest, CALL_ENVELOPE_BYTES);
        if (status == NO_STATUS && rest.size < size) {
            return ends ? STATUS_INTERNAL : NO_STATUS;
        }
        if (status == NO_STATUS) {
            status = read_message(framing, flags, slice_of(rest.data, size), taken);
        }
        if (status != NO_STATUS) {
            return status;
        }
        rest = slice_after(rest, size);
    }
    if (!ends) {
        return NO_STATUS;
    }
    if (rest.size > 0) {
        return STATUS_INTERNAL;
    }
    taken->ended = !one || taken->count == 1;
    return taken->ended ? STATUS_OK : STATUS_UNIMPLEMENTED;
}

static void check_reply(bool compressed, struct slice message)
{
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    ASSERT(!compressed || gzip_inflate(&arena, message, REPLY_BYTES, NULL, &message) == OK);
    ASSERT(message.size == REPLY_BYTES || message.size == CALL_COMPRESS_BYTES_MIN);
    arena_deinit(&arena);
}

/* Replies are whole messages, and compressed only where both sides did so. */
static void check_output(struct framing *framing)
{
    struct slice rest = buffer_slice(&framing->output);

    ASSERT(buffer_ok(&framing->output));
    while (rest.size > 0) {
        size_t size = 0;

        ASSERT(rest.size >= CALL_ENVELOPE_BYTES);
        ASSERT(rest.data[0] <= (framing->accepts_gzip && framing->any_compressed ? 1 : 0));
        size = bytes_get_be32(rest.data + 1);
        ASSERT(size <= rest.size - CALL_ENVELOPE_BYTES);
        check_reply(rest.data[0] == 1, slice_of(rest.data + CALL_ENVELOPE_BYTES, size));
        rest = slice_after(rest, CALL_ENVELOPE_BYTES + size);
        framing->replies_read++;
    }
    ASSERT(framing->replies_read == framing->replies || framing->status != STATUS_OK);
}

/* The taken bytes are as predicted, except that a method with one request gets it only at the
 * end. */
static void check(struct framing *framing, struct slice bytes, bool ends)
{
    struct taken wanted = {0};
    int status = NO_STATUS;

    buffer_init(&wanted.bytes, &framing->arena, 0);
    status = read_request(framing, bytes, ends, &wanted);
    ASSERT(framing->status == status);
    if (method_has_one_request(&framing->method) && status != STATUS_OK) {
        wanted.bytes.size = 0;
    }
    ASSERT(slice_equal(buffer_slice(&framing->taken.bytes), buffer_slice(&wanted.bytes)));
    ASSERT(framing->taken.ended == (status == STATUS_OK));
    check_output(framing);
}

static void run(struct framing *framing, struct slice bytes, size_t piece, bool ends)
{
    struct call_handlers handlers = {framing,       on_start,    on_message,
                                     on_half_close, on_writable, on_cancel};
    struct call_config config = call_config_default(&handlers);
    struct call_share share = {0};
    struct call_server *server = NULL;
    struct call_core *core = NULL;

    config.message_bytes_max = framing->message_bytes_max;
    config.run_on_pool = framing->message_bytes_max > MESSAGE_BYTES_MAX ? run_on_pool : NULL;
    config.pool_user = framing;
    ASSERT(call_server_new(&config, 0, &server) == OK);
    core = call_open(server, &protocol);
    ASSERT(core != NULL);
    core->stream = framing;
    core->share = &share;
    core->call.method = &framing->method;
    ((struct call_envelopes *)core->state)->gzip = framing->gzip;
    core->accepts_gzip = framing->accepts_gzip;
    call_start(core);
    feed(framing, core, bytes, piece);
    if (ends) {
        call_take_end(core);
    }
    drain(framing, core);
    check(framing, bytes, ends);
    core->stream = NULL;
    call_let_go(core);
    ASSERT(call_server_stats(server).calls_live == 0);
    ASSERT(call_server_stats(server).body_bytes_live == 0);
    call_server_free(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    uint8_t how = fuzz_take_byte(&input);
    size_t piece = fuzz_take_byte(&input);
    struct framing framing = {.status = NO_STATUS};

    arena_init(&framing.arena, ARENA_BYTES);
    buffer_init(&framing.taken.bytes, &framing.arena, 0);
    buffer_init(&framing.output, &framing.arena, 0);
    framing.method = contract_methods[0];
    framing.method.stream = (enum method_stream)(how >> KIND_SHIFT & 3);
    framing.message_bytes_max = (how & ON_POOL) != 0 ? POOLED_BYTES_MAX : MESSAGE_BYTES_MAX;
    framing.gzip = (how & GZIP) != 0;
    framing.accepts_gzip = (how & ACCEPTS_GZIP) != 0;
    run(&framing, input.rest, piece == 0 ? SIZE_MAX : piece, (how & STAYS_OPEN) == 0);
    arena_deinit(&framing.arena);
    return 0;
}
