/*
 * blocking.h: calls for programs without a loop of their own: one connection, one call at a time,
 * each function returning when the call has ended. Owns its loop; not for several threads at once.
 */
#ifndef ERRATA_CLIENT_BLOCKING_H
#define ERRATA_CLIENT_BLOCKING_H

#include "client/channel.h"
#include "store/base/arena.h"

struct client_blocking;

/* What to call. */
struct client_request {
    const struct method_info *method;
    struct slice message; /* the request's bytes */
    const struct client_options *options; /* NULL: none */
};

/* How it ended; everything lives in the arena that was given. */
struct client_result {
    struct client_status status;
    struct slice reply; /* of a unary call that ended with OK */
};

/* Takes one reply of a stream; false ends the call, with CANCELLED. */
typedef bool (*client_take_reply)(void *user, struct slice message);

/* Starts connecting; errors as client_channel_open. */
MUST_CHECK enum err client_blocking_open(const struct client_channel_config *config,
                                         struct client_blocking **ret_client);
/* Closes the connection and frees everything. NULL does nothing. */
void client_blocking_close(struct client_blocking *client);

/* Makes a unary call and waits for its end. OK where the call was made, however it ended: look at
 * ret_result->status. Errors as client_session_start: nothing was sent. */
MUST_CHECK enum err client_call_blocking(struct client_blocking *client,
                                         const struct client_request *request, struct arena *arena,
                                         struct client_result *ret_result);
/* The same for a server stream: `take` gets each reply; meanwhile the server is held back. */
MUST_CHECK enum err client_stream_blocking(struct client_blocking *client,
                                           const struct client_request *request,
                                           client_take_reply take, void *user, struct arena *arena,
                                           struct client_result *ret_result);

#endif
