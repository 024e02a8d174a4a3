/*
 * call.c: the public functions of calls: one heap object per call, from errata_call_start until the
 * lower channel reports its end, exactly once and last (client/stub.h).
 */
#include "client/library/channel.h"
#include "client/library/options.h"
#include "client/library/result.h"
#include "client/library/status.h"

#include <stdlib.h>

struct errata_call {
    struct errata_channel *channel; /* channel of the call, which outlives it */
    struct client_call *lower; /* lower call; NULL once it has ended */
    struct errata_handlers handlers;
};

static void on_reply(void *user, struct slice message)
{
    struct errata_call *call = user;

    if (call->handlers.on_reply != NULL) {
        call->handlers.on_reply(call->handlers.user,
                                (struct errata_bytes){message.data, message.size});
    }
}

static void on_end(void *user, const struct client_status *lower)
{
    struct errata_call *call = user;
    struct library_status status;

    call->lower = NULL;
    call->channel->call_count--;
    library_status_init(&status, lower);
    call->handlers.on_end(call->handlers.user, &status.status);
    library_status_deinit(&status);
    free(call);
}

static void on_writable(void *user)
{
    struct errata_call *call = user;

    if (call->handlers.on_writable != NULL) {
        call->handlers.on_writable(call->handlers.user);
    }
}

/* The call is already on the heap; on false the caller keeps it. */
static enum err start(struct errata_call *call, const struct method_info *method,
                      struct errata_bytes request, const struct client_options *options)
{
    const struct client_handlers handlers = {
        .user = call, .on_reply = on_reply, .on_end = on_end, .on_writable = on_writable};

    return client_call_start(call->channel->lower, method, slice_of(request.data, request.size),
                             options, &handlers, &call->lower);
}

enum errata_result errata_call_start(struct errata_channel *channel, const char *method,
                                     struct errata_bytes request,
                                     const struct errata_options *options,
                                     const struct errata_handlers *handlers,
                                     struct errata_call **ret_call)
{
    const struct method_info *found = library_method(method);
    struct library_options lower_options;
    struct errata_call *call = NULL;
    enum err err = OK;

    if (found == NULL || handlers == NULL || handlers->on_end == NULL ||
        (request.size > 0 && (request.data == NULL || !method_has_one_request(found))) ||
        !library_options_read(options, channel->has_token, &lower_options)) {
        return ERRATA_INVALID;
    }
    if (channel->closed) {
        return ERRATA_ENDED;
    }
    call = malloc(sizeof(*call));
    if (call == NULL) {
        return ERRATA_MEMORY;
    }
    *call = (struct errata_call){.channel = channel, .handlers = *handlers};
    err = start(call, found, request, &lower_options.lower);
    if (err != OK) {
        free(call);
        return library_result(err);
    }
    channel->call_count++;
    if (ret_call != NULL) {
        *ret_call = call;
    }
    return ERRATA_OK;
}

void errata_call_cancel(struct errata_call *call)
{
    if (call != NULL && call->lower != NULL) {
        client_call_cancel(call->channel->lower, call->lower);
    }
}

void errata_call_pause(struct errata_call *call)
{
    if (call->lower != NULL) {
        client_call_pause(call->channel->lower, call->lower);
    }
}

void errata_call_resume(struct errata_call *call)
{
    if (call->lower != NULL) {
        client_call_resume(call->channel->lower, call->lower);
    }
}

enum errata_result errata_call_send(struct errata_call *call, struct errata_bytes message)
{
    if (message.data == NULL && message.size > 0) {
        return ERRATA_INVALID;
    }
    if (call->lower == NULL) {
        return ERRATA_ENDED;
    }
    return library_result(
        client_call_send(call->channel->lower, call->lower, slice_of(message.data, message.size)));
}

enum errata_result errata_call_half_close(struct errata_call *call)
{
    if (call->lower == NULL) {
        return ERRATA_ENDED;
    }
    return library_result(client_call_half_close(call->channel->lower, call->lower));
}
