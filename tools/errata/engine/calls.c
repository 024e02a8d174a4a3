/*
 * calls.c: see calls.h. Has its own loop and channel, and a slot for each running call.
 */
#include "tools/errata/engine/calls.h"

#include "client/header.h"
#include "store/base/assert.h"
#include "tools/errata/engine/connect.h"

#include <signal.h>
#include <stdlib.h>
#include <uv.h>

/* The reply to one write. */
#define REPLY_ARENA_BYTES_MAX ((size_t)1024 * 1024)

struct calls;

struct place {
    struct calls *calls;
    struct client_call *call; /* NULL: free */
    uint64_t tag;
    struct arena arena; /* memory of the reply */
    struct slice reply;
};

struct calls {
    struct cli *cli;
    const struct calls_handlers *handlers;
    unsigned at_once;
    uv_loop_t loop;
    uv_signal_t interrupt;
    struct client_channel *channel; /* owned */
    size_t live; /* number of calls in use */
    bool stopped; /* no more calls are started */
    enum cli_exit exit;
    struct place places[CALLS_MAX];
};

static void on_reply(void *user, struct slice message)
{
    struct place *place = user;

    if (!arena_copy(&place->arena, message, &place->reply)) {
        place->reply =
            slice_of(NULL, 0); /* a reply longer than that of a write is shown as empty */
    }
}

static void start_more(struct calls *calls);

static void on_end(void *user, const struct client_status *status)
{
    struct place *place = user;
    struct calls *calls = place->calls;

    ASSERT(calls->live > 0);
    calls->live--;
    place->call = NULL;
    if (!calls->handlers->done(calls->handlers->user, place->tag, status, place->reply)) {
        calls->stopped = true;
    }
    arena_reset(&place->arena);
    place->reply = slice_of(NULL, 0);
    start_more(calls);
}

static enum err start(struct place *place, const struct calls_item *item)
{
    struct calls *calls = place->calls;
    const struct cli *cli = calls->cli;
    const struct client_metadata key = {SLICE("idempotency-key"), item->key};
    const struct client_options options = {.timeout_ms = cli->timeout_ms > 0 ? cli->timeout_ms
                                                                             : CONNECT_TIMEOUT_MS,
                                           .metadata = &key,
                                           .metadata_count = item->key.size > 0 ? 1 : 0};
    const struct client_handlers handlers = {.user = place, .on_reply = on_reply, .on_end = on_end};

    place->tag = item->tag;
    return client_call_start(calls->channel, item->method, item->message, &options, &handlers,
                             &place->call);
}

/* Starts a call in a free slot; returns false if there is none to start now. */
static bool start_one(struct calls *calls, struct place *place)
{
    struct calls_item item = {0};
    enum calls_step step = calls->handlers->next(calls->handlers->user, &item);
    enum err err = OK;

    if (step != CALLS_ITEM) {
        calls->stopped = calls->stopped || step == CALLS_END;
        return false;
    }
    err = start(place, &item);
    if (err != OK) {
        calls->exit = cli_local(calls->cli, "a call could not be made: %s", err_text(err));
        calls->stopped = true;
        place->call = NULL;
        return false;
    }
    calls->live++;
    return true;
}

static void start_more(struct calls *calls)
{
    for (unsigned i = 0; i < calls->at_once && !calls->stopped; i++) {
        if (calls->places[i].call == NULL && !start_one(calls, &calls->places[i])) {
            return;
        }
    }
}

static void on_interrupt(uv_signal_t *handle, int number)
{
    struct calls *calls = handle->data;

    (void)number;
    calls->stopped = true;
    calls->exit = CLI_INTERRUPTED;
    for (unsigned i = 0; i < calls->at_once; i++) {
        client_call_cancel(calls->channel, calls->places[i].call);
    }
}

static enum cli_exit open_channel(struct calls *calls)
{
    struct client_channel_loop_config config = {.calls_max = 0};
    enum cli_exit result = cli_lasting_config(calls->cli, &config);

    if (result == CLI_OK &&
        client_channel_loop_open(&calls->loop, &config, &calls->channel) != OK) {
        result = cli_local(calls->cli, "cannot connect: out of memory or file descriptors");
    }
    return result;
}

static void run(struct calls *calls)
{
    calls->exit = open_channel(calls);
    if (calls->exit != CLI_OK) {
        return;
    }
    for (unsigned i = 0; i < calls->at_once; i++) {
        calls->places[i].calls = calls;
        arena_init(&calls->places[i].arena, REPLY_ARENA_BYTES_MAX);
    }
    ASSERT(uv_signal_init(&calls->loop, &calls->interrupt) == 0);
    calls->interrupt.data = calls;
    (void)uv_signal_start(&calls->interrupt, on_interrupt, SIGINT);
    start_more(calls);
    /* Each call has a deadline. */
    while (calls->live > 0) {
        (void)uv_run(&calls->loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)&calls->interrupt, NULL);
    for (unsigned i = 0; i < calls->at_once; i++) {
        arena_deinit(&calls->places[i].arena);
    }
    client_channel_loop_close(calls->channel, NULL, NULL);
}

enum cli_exit calls_run(struct cli *cli, unsigned at_once, const struct calls_handlers *handlers)
{
    struct calls *calls = calloc(1, sizeof(*calls));
    enum cli_exit result = CLI_OK;

    ASSERT(at_once >= 1 && at_once <= CALLS_MAX);
    if (calls == NULL || uv_loop_init(&calls->loop) != 0) {
        free(calls);
        return cli_local(cli, "out of memory");
    }
    calls->cli = cli;
    calls->handlers = handlers;
    calls->at_once = at_once;
    run(calls);
    (void)uv_run(&calls->loop, UV_RUN_DEFAULT);
    ASSERT(uv_loop_close(&calls->loop) == 0);
    result = calls->exit;
    free(calls);
    return result;
}

bool calls_is_everyones(const struct client_status *status)
{
    return status->code == CLIENT_CODE_UNAUTHENTICATED ||
           status->code == CLIENT_CODE_PERMISSION_DENIED ||
           status->code == CLIENT_CODE_UNIMPLEMENTED ||
           (status->code == CLIENT_CODE_UNAVAILABLE && !status->from_server);
}
