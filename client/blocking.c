/*
 * blocking.c: see blocking.h. Runs a loop until the call has ended.
 */
#include "client/blocking.h"

#include "client/header.h"
#include "store/base/assert.h"

#include <stdlib.h>
#include <uv.h>

struct client_blocking {
    uv_loop_t loop;
    struct client_channel *channel; /* owned */
};

/* The running call. */
struct waiting {
    struct client_blocking *client;
    struct client_call *call;
    client_take_reply take; /* callback for the replies of a server stream; else NULL */
    client_next_message next; /* source of the messages of a client stream; else NULL */
    void *user; /* argument of both callbacks */
    struct slice message; /* message from `next` that has not been sent, if has_message */
    bool has_message;
    bool sent_all; /* half-closed, or no more messages can be sent */
    enum err send_err; /* reason why a message could not be sent */
    struct arena *arena;
    struct client_result result;
    bool out_of_memory;
    bool ended;
};

static void on_reply(void *user, struct slice message)
{
    struct waiting *waiting = user;

    if (waiting->take == NULL) {
        waiting->out_of_memory = !arena_copy(waiting->arena, message, &waiting->result.reply);
    } else if (!waiting->take(waiting->user, message)) {
        client_call_cancel(waiting->client->channel, waiting->call);
    }
}

/* Handles a message, or the end of the stream, that was not accepted because of `err`. */
static void waiting_stop_sending(struct waiting *waiting, enum err err)
{
    waiting->sent_all = true;
    if (err != ERR_CANCELLED) { /* otherwise the call has ended, and on_end follows */
        waiting->send_err = err;
        client_call_cancel(waiting->client->channel, waiting->call);
    }
}

/* Fetches the next message. Returns whether there is one. */
static bool waiting_next(struct waiting *waiting)
{
    enum client_upload_step step = waiting->next(waiting->user, &waiting->message);
    enum err err = OK;

    if (step == CLIENT_UPLOAD_MESSAGE) {
        waiting->has_message = true;
        return true;
    }
    waiting->sent_all = true;
    if (step == CLIENT_UPLOAD_STOP) {
        client_call_cancel(waiting->client->channel, waiting->call);
        return false;
    }
    err = client_call_half_close(waiting->client->channel, waiting->call);
    if (err != OK) {
        waiting_stop_sending(waiting, err);
    }
    return false;
}

/* Sends until CLIENT_SEND_BYTES_HIGH bytes wait, or nothing is left to send. */
static void on_writable(void *user)
{
    struct waiting *waiting = user;

    while (!waiting->sent_all && (waiting->has_message || waiting_next(waiting))) {
        enum err err = client_call_send(waiting->client->channel, waiting->call, waiting->message);

        if (err == ERR_BUSY) {
            return;
        }
        waiting->has_message = false;
        if (err != OK) {
            waiting_stop_sending(waiting, err);
        }
    }
}

static bool waiting_copy_status(struct waiting *waiting, const struct client_status *status)
{
    struct client_status *copy = &waiting->result.status;
    struct client_metadata *metadata =
        arena_calloc(waiting->arena, status->metadata_count + 1, sizeof(*metadata));
    bool copied = metadata != NULL && arena_copy(waiting->arena, status->message, &copy->message) &&
                  arena_copy(waiting->arena, status->details, &copy->details) &&
                  arena_copy(waiting->arena, status->idempotency_key, &copy->idempotency_key);

    for (size_t i = 0; copied && i < status->metadata_count; i++) {
        copied = arena_copy(waiting->arena, status->metadata[i].key, &metadata[i].key) &&
                 arena_copy(waiting->arena, status->metadata[i].value, &metadata[i].value);
    }
    copy->code = status->code;
    copy->from_server = status->from_server;
    copy->unseen = status->unseen;
    copy->attempts = status->attempts;
    copy->metadata = copied ? metadata : NULL;
    copy->metadata_count = copied ? status->metadata_count : 0;
    return copied;
}

static void on_end(void *user, const struct client_status *status)
{
    struct waiting *waiting = user;

    if (!waiting_copy_status(waiting, status)) {
        waiting->out_of_memory = true;
    }
    waiting->ended = true;
}

enum err client_blocking_open(const struct client_channel_loop_config *config,
                              struct client_blocking **ret_client)
{
    struct client_blocking *client = calloc(1, sizeof(*client));
    enum err err = OK;

    if (client == NULL || uv_loop_init(&client->loop) != 0) {
        free(client);
        return ERR_MEMORY;
    }
    err = client_channel_loop_open(&client->loop, config, &client->channel);
    if (err != OK) {
        (void)uv_loop_close(&client->loop);
        free(client);
        return err;
    }
    *ret_client = client;
    return OK;
}

void client_blocking_close(struct client_blocking *client)
{
    if (client == NULL) {
        return;
    }
    client_channel_loop_close(client->channel, NULL, NULL);
    (void)uv_run(&client->loop, UV_RUN_DEFAULT);
    ASSERT(uv_loop_close(&client->loop) == 0);
    free(client);
}

enum err client_blocking_set_token(struct client_blocking *client, struct slice token)
{
    return client_channel_loop_set_token(client->channel, token);
}

static enum err wait_for_end(struct waiting *waiting, const struct client_request *request,
                             struct client_result *ret_result)
{
    const struct client_handlers handlers = {
        .user = waiting, .on_reply = on_reply, .on_end = on_end, .on_writable = on_writable};
    struct slice message = waiting->next == NULL
                               ? request->message
                               : slice_of(NULL, 0); /* a client stream starts without a message */
    enum err err = client_call_start(waiting->client->channel, request->method, message,
                                     request->options, &handlers, &waiting->call);

    if (err != OK) {
        return err;
    }
    /* The loop ends with the call: a call without a deadline waits for the server, as its caller
     * requested. */
    while (!waiting->ended) {
        (void)uv_run(&waiting->client->loop, UV_RUN_ONCE);
    }
    if (waiting->send_err != OK) {
        return waiting->send_err;
    }
    if (waiting->out_of_memory) {
        return ERR_MEMORY;
    }
    *ret_result = waiting->result;
    return OK;
}

enum err client_call_blocking(struct client_blocking *client, const struct client_request *request,
                              struct arena *arena, struct client_result *ret_result)
{
    struct waiting waiting = {.client = client, .arena = arena};

    ASSERT(request->method->stream == METHOD_UNARY);
    return wait_for_end(&waiting, request, ret_result);
}

enum err client_stream_blocking(struct client_blocking *client,
                                const struct client_request *request, client_take_reply take,
                                void *user, struct arena *arena, struct client_result *ret_result)
{
    struct waiting waiting = {.client = client, .take = take, .user = user, .arena = arena};

    ASSERT(request->method->stream == METHOD_SERVER_STREAM);
    return wait_for_end(&waiting, request, ret_result);
}

enum err client_upload_blocking(struct client_blocking *client,
                                const struct client_request *request, client_next_message next,
                                void *user, struct arena *arena, struct client_result *ret_result)
{
    struct waiting waiting = {.client = client, .next = next, .user = user, .arena = arena};

    ASSERT(request->method->stream == METHOD_CLIENT_STREAM);
    return wait_for_end(&waiting, request, ret_result);
}
