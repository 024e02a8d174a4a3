/*
 * call_inflate.c: compressed request messages, and large ones in another form than protobuf. A small
 * compressed one is inflated at once. One that states a larger size, or turns out to be larger, is
 * inflated on the pool, and converted there if it is in another form; so is a large one that is not
 * compressed. Its call takes no more of its request until then. CALL_INFLATIONS_MAX run on the pool
 * at once, at most one per connection; the others wait as they were sent, served round robin by
 * connection. A call that ends removes its message from the queue, or stops the pool's inflation
 * within a step; a conversion that has begun is completed. A message on the pool keeps its call alive
 * until it is done.
 */
#include "server/call/call_internal.h"
#include "store/base/assert.h"

static size_t call_inflated_max(const struct call_core *core, size_t packed_bytes)
{
    size_t max = core->server->config.message_bytes_max;
    size_t times = packed_bytes * CALL_INFLATED_TIMES_MAX;

    times = times > CALL_INFLATED_BYTES_MIN ? times : CALL_INFLATED_BYTES_MIN;
    return times < max ? times : max;
}

/* Returns the largest size of a converted message. In JSON `1,` is 2 bytes, and a number of 8 bytes with its tag 10. */
static size_t call_converted_max(const struct call_core *core, size_t bytes)
{
    size_t max = core->server->config.message_bytes_max;

    return bytes < max / CALL_CONVERTED_TIMES_MAX ? bytes * CALL_CONVERTED_TIMES_MAX : max;
}

/* Refuses a message that could not be converted; the status may keep the fault's message. */
static void call_refuse_unreadable(struct call_core *core, enum err err)
{
    struct fault fault = core->inflation.fault;

    if (!arena_copy(&core->arena, fault.message, &fault.message)) {
        fault.message = slice_of(NULL, 0);
    }
    call_refuse_fault(core, err, &fault);
}

static void call_refuse_packed(struct call_core *core, enum err err)
{
    size_t max = core->inflation.max;

    if (core->inflation.fault.arena != NULL) {
        call_refuse_unreadable(core, err);
    } else if (err == ERR_TOO_LARGE && max < core->server->config.message_bytes_max) {
        call_refuse_text(core, err,
                         arena_printf(&core->arena,
                                      "message: decompresses to more than %d times its size; "
                                      "expected an uncompressed message",
                                      CALL_INFLATED_TIMES_MAX));
    } else if (err == ERR_TOO_LARGE) {
        call_refuse_text(
            core, err,
            arena_printf(&core->arena,
                         "message: too large; expected at most %zu bytes after decompression",
                         max));
    } else if (err == ERR_MALFORMED) {
        call_refuse_err(core, err,
                        "message: cannot be decompressed; expected gzip, as the request announces");
    } else {
        call_refuse_err(core, err, NULL);
    }
}

/* --- the queue --- */

static void call_line_enter(struct call_share *share, struct call_server *server)
{
    struct call_inflations *line = &server->inflations;

    if (share->in_line || share->inflates || share->packed == NULL) {
        return;
    }
    share->in_line = true;
    share->line_next = NULL;
    share->line_previous = line->last;
    if (line->last != NULL) {
        line->last->line_next = share;
    } else {
        line->first = share;
    }
    line->last = share;
}

static void call_line_leave(struct call_share *share, struct call_server *server)
{
    struct call_inflations *line = &server->inflations;

    if (!share->in_line) {
        return;
    }
    share->in_line = false;
    if (share->line_previous != NULL) {
        share->line_previous->line_next = share->line_next;
    } else {
        line->first = share->line_next;
    }
    if (share->line_next != NULL) {
        share->line_next->line_previous = share->line_previous;
    } else {
        line->last = share->line_previous;
    }
}

/* Returns whether the connection's queued bytes are below its share of the limit. */
static bool call_may_wait(const struct call_core *core)
{
    const struct call_share *share = core->share;
    size_t size = core->inflation.packed.size;

    return share->packed == NULL ||
           (share->packed_bytes + size <= CALL_SHARE_PACKED_BYTES_MAX &&
            core->server->inflations.packed_bytes + size <= CALL_PACKED_BYTES_MAX);
}

static void call_inflation_wait(struct call_core *core)
{
    struct call_share *share = core->share;
    struct call_inflation *inflation = &core->inflation;

    if (!call_may_wait(core)) {
        call_refuse_err(
            core, ERR_BUSY,
            "message: too many compressed messages, or large ones in JSON, are waiting, for this "
            "connection or for the server; expected another attempt after the given delay, or an "
            "uncompressed message in proto");
        return;
    }
    share->packed_bytes += inflation->packed.size;
    core->server->inflations.packed_bytes += inflation->packed.size;
    inflation->state = CALL_INFLATION_WAITS;
    inflation->next = NULL;
    inflation->previous = share->packed_last;
    if (share->packed_last != NULL) {
        share->packed_last->inflation.next = core;
    } else {
        share->packed = core;
    }
    share->packed_last = core;
    call_line_enter(share, core->server);
}

static void call_inflation_leave(struct call_core *core)
{
    struct call_share *share = core->share;
    struct call_inflation *inflation = &core->inflation;

    ASSERT(inflation->state == CALL_INFLATION_WAITS);
    inflation->state = CALL_INFLATION_NONE;
    share->packed_bytes -= inflation->packed.size;
    core->server->inflations.packed_bytes -= inflation->packed.size;
    if (inflation->previous != NULL) {
        inflation->previous->inflation.next = inflation->next;
    } else {
        share->packed = inflation->next;
    }
    if (inflation->next != NULL) {
        inflation->next->inflation.previous = inflation->previous;
    } else {
        share->packed_last = inflation->previous;
    }
    if (share->packed == NULL) {
        call_line_leave(share, core->server);
    }
}

/* --- on the pool --- */

/* The room for a message that does not state its size is doubled until it suffices; arena chunks
 * have headers. In that of a conversion there are texts of the message and the result beside it. */
#define CALL_INFLATED_ARENA_BYTES(max) (2 * (max) + (size_t)64 * 1024)
#define CALL_CONVERTED_ARENA_BYTES(max) (5 * (max) + (size_t)64 * 1024)

/* Converts a message that is in another form than protobuf, if it is too large for the loop, and keeps the result
 * only: the text and what was made of it on the way are in `scratch`. */
static enum err call_convert_on_pool(const struct call_core *core, struct call_inflation *inflation,
                                     struct slice message, struct arena *scratch)
{
    bool converts = message.size > CALL_CONVERT_HERE_BYTES;
    enum err err = OK;

    if (converts) {
        fault_init(&inflation->fault, &inflation->arena);
        err = core->protocol->convert(core, message, scratch, &inflation->fault, &message);
    }
    if (err == OK && message.size > inflation->max) {
        err = ERR_TOO_LARGE;
    }
    if (err == OK && !arena_copy(&inflation->arena, message, &inflation->bytes)) {
        err = ERR_MEMORY;
    }
    inflation->is_converted = converts && err == OK;
    return err;
}

/* A message of a protocol with another form: inflated first, if it is compressed. */
static enum err call_unpack_on_pool(const struct call_core *core, struct call_inflation *inflation)
{
    struct slice message = inflation->packed;
    struct arena scratch;
    enum err err = OK;

    arena_init(&scratch, CALL_CONVERTED_ARENA_BYTES(inflation->max));
    if (inflation->is_compressed) {
        err = gzip_inflate(&scratch, inflation->packed, inflation->max, &inflation->stop, &message);
    }
    if (err == OK && atomic_load_explicit(&inflation->stop, memory_order_relaxed)) {
        err = ERR_CANCELLED;
    }
    if (err == OK) {
        err = call_convert_on_pool(core, inflation, message, &scratch);
    }
    arena_deinit(&scratch);
    return err;
}

static void call_inflation_work(void *job)
{
    struct call_core *core = job;
    struct call_inflation *inflation = &core->inflation;

    inflation->result = core->protocol->convert != NULL
                            ? call_unpack_on_pool(core, inflation)
                            : gzip_inflate(&inflation->arena, inflation->packed, inflation->max,
                                           &inflation->stop, &inflation->bytes);
}

/* --- on the loop again --- */

/* Takes the inflated bytes as the call's message. */
static void call_inflation_take(struct call_core *core, enum err err)
{
    struct call_inflation *inflation = &core->inflation;

    ASSERT(!core->closed || core->ended);
    inflation->state = CALL_INFLATION_NONE;
    if (err != OK) {
        inflation->bytes = slice_of(NULL, 0);
        call_refuse_packed(core, err); /* no effect if the call has ended meanwhile */
    }
    call_give_budget(core, inflation->max - inflation->bytes.size);
    if (core->ended) {
        call_drop_inflated(core);
    } else if (inflation->is_converted) {
        call_take_converted(core, inflation->bytes);
    } else {
        call_take_message(core, inflation->bytes);
    }
}

static void call_inflations_start(struct call_server *server);

static void call_inflation_done(void *job, enum err result)
{
    struct call_core *core = job;
    struct call_server *server = core->server;

    ASSERT(server->inflations.running > 0);
    server->inflations.running--;
    if (core->share != NULL) {
        core->share->inflates = false;
        call_line_enter(core->share, server);
    }
    call_inflations_start(server);
    call_inflation_take(core, result != OK ? result : core->inflation.result);
    if (core->closed) {
        call_release_when_done(core);
    } else {
        call_go_on(core);
    }
}

/* Hands one message to the pool, or refuses it. The largest possible size is charged now; the rest
 * is returned once the real size is known. */
static void call_inflation_start(struct call_core *core)
{
    const struct call_config *config = &core->server->config;
    struct call_inflation *inflation = &core->inflation;
    enum err err = OK;

    if (!call_take_budget(core, inflation->max)) {
        return;
    }
    inflation->state = CALL_INFLATION_RUNS;
    arena_init(&inflation->arena, CALL_INFLATED_ARENA_BYTES(inflation->max));
    if (config->run_on_pool == NULL) {
        call_inflation_work(core);
        call_inflation_take(core, inflation->result);
        return;
    }
    err = config->run_on_pool(config->pool_user, call_inflation_work, call_inflation_done, core);
    if (err != OK) {
        inflation->state = CALL_INFLATION_NONE;
        call_give_budget(core, inflation->max);
        call_refuse_err(core, err, NULL);
        return;
    }
    core->server->inflations.running++;
    core->share->inflates = true;
}

/* Starts as many inflations as the pool may have, each from the connection that has waited
 * longest. */
static void call_inflations_start(struct call_server *server)
{
    struct call_inflations *line = &server->inflations;

    while (line->first != NULL && line->running < CALL_INFLATIONS_MAX) {
        struct call_share *share = line->first;
        struct call_core *core = share->packed;

        call_line_leave(share, server);
        call_inflation_leave(core);
        call_inflation_start(core);
        call_line_enter(share, server);
    }
}

/* --- interface of the calls --- */

/* Inflates into the server's buffer, at most one byte more than the limit; not `ret_ended` if there
 * is more. */
static enum err call_inflate_small(struct call_core *core, struct slice packed, size_t *ret_bytes,
                                   bool *ret_ended)
{
    struct call_inflations *line = &core->server->inflations;
    size_t max = core->inflation.max;
    size_t room = max < sizeof(line->small) ? max + 1 : sizeof(line->small);
    size_t size = 0;
    enum err err = OK;

    if (line->inflater == NULL) {
        err = gzip_inflater_new(&line->inflater);
        if (err != OK) {
            return err;
        }
    }
    gzip_inflater_begin(line->inflater, packed);
    while (!*ret_ended && size < room) {
        size_t made = 0;

        err = gzip_inflater_step(line->inflater, line->small + size, room - size, &made, ret_ended);
        if (err != OK) {
            return err;
        }
        size += made;
    }
    *ret_bytes = size;
    return OK;
}

/* Inflates a small message on the loop; true if the message was taken, or refused. */
static bool call_inflate_here(struct call_core *core, struct slice packed)
{
    struct call_server *server = core->server;
    struct slice message = {NULL, 0};
    size_t size = 0;
    bool ended = false;
    enum err err = OK;

    if (packed.size > CALL_INFLATE_HERE_BYTES ||
        gzip_stated_bytes(packed) > CALL_INFLATE_HERE_BYTES) {
        return false;
    }
    err = call_inflate_small(core, packed, &size, &ended);
    if (err == OK && !ended && size <= core->inflation.max) {
        return false; /* the message is larger than stated */
    }
    if (err == OK && size > core->inflation.max) {
        err = ERR_TOO_LARGE;
    }
    if (err != OK) {
        call_refuse_packed(core, err);
        return true;
    }
    if (!call_take_budget(core, size)) {
        return true;
    }
    if (!arena_copy(call_input_arena(core), slice_of(server->inflations.small, size), &message)) {
        call_refuse_err(core, ERR_MEMORY, NULL);
        return true;
    }
    call_take_message(core, message);
    return true;
}

/* Notes a message that the pool may get. */
static void call_inflation_note(struct call_core *core, struct slice message, bool is_compressed,
                                size_t max)
{
    struct call_inflation *inflation = &core->inflation;

    inflation->is_compressed = is_compressed;
    inflation->is_converted = false;
    inflation->fault.arena = NULL;
    inflation->packed = message;
    inflation->max = max;
}

/* Hands a message to the pool now, or after others. */
static void call_inflation_submit(struct call_core *core)
{
    if (core->server->config.run_on_pool == NULL) {
        call_inflation_start(core);
        return;
    }
    call_inflation_wait(core);
    call_inflations_start(core->server);
}

void call_inflate(struct call_core *core, struct slice packed)
{
    call_inflation_note(core, packed, true, call_inflated_max(core, packed.size));
    if (!call_inflate_here(core, packed)) {
        call_inflation_submit(core);
    }
}

void call_convert_later(struct call_core *core, struct slice message)
{
    call_inflation_note(core, message, false, call_converted_max(core, message.size));
    call_inflation_submit(core);
}

void call_inflation_stop(struct call_core *core)
{
    struct call_inflation *inflation = &core->inflation;

    switch (inflation->state) {
    case CALL_INFLATION_NONE:
        return;
    case CALL_INFLATION_WAITS:
        call_inflation_leave(core);
        return;
    case CALL_INFLATION_RUNS:
        atomic_store_explicit(&inflation->stop, true, memory_order_relaxed);
        return;
    }
}

void call_inflation_let_go(struct call_core *core)
{
    call_inflation_stop(core);
    if (core->inflation.state == CALL_INFLATION_RUNS && core->share != NULL) {
        core->share->inflates = false;
        call_line_enter(core->share, core->server);
    }
}

void call_drop_inflated(struct call_core *core)
{
    const struct call_config *config = &core->server->config;
    struct call_inflation *inflation = &core->inflation;

    /* The pool owns the arena while the inflation runs; this function is called again when it is
     * done. */
    if (inflation->state == CALL_INFLATION_RUNS || inflation->arena.chunks == NULL) {
        return;
    }
    call_give_budget(core, inflation->bytes.size);
    inflation->bytes = slice_of(NULL, 0);
    arena_reset_by(&inflation->arena, config->run_on_pool, config->pool_user);
    arena_deinit(&inflation->arena);
}
