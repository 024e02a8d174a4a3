/*
 * blocking.h: calls for programs without a loop of their own: one channel, one call at a time, each
 * function returning when the call has ended, which may take several attempts on several connections
 * (channel.h). Owns its loop; not for several threads at once.
 */
#ifndef ERRATA_CLIENT_BLOCKING_H
#define ERRATA_CLIENT_BLOCKING_H

#include "client/channel_loop.h"
#include "store/base/arena.h"

struct client_blocking;

/* The method to call and its request. */
struct client_request {
    const struct method_info *method;
    struct slice message; /* the request's bytes; of an upload not used */
    const struct client_options *options; /* NULL: none */
};

/* The result of a call; all slices are allocated in the given arena. */
struct client_result {
    struct client_status status;
    struct slice reply; /* reply of a unary call or a client stream that ended with OK */
};

/* The result of requesting the next message of an upload. */
enum client_upload_step {
    CLIENT_UPLOAD_MESSAGE, /* a message is returned */
    CLIENT_UPLOAD_END, /* there are no more messages */
    CLIENT_UPLOAD_STOP /* the call must end with CANCELLED before all messages are sent */
};

/* Returns the next message of a client stream, which is valid until the next call of this function
 * or the upload's end. It is called as fast as the server reads (CLIENT_SEND_BYTES_HIGH ahead), so
 * it can also show progress; it is not called after END or STOP, or after the end of the call. */
typedef enum client_upload_step (*client_next_message)(void *user, struct slice *ret_message);

/* Receives one reply of a stream; returning false ends the call with CANCELLED. */
typedef bool (*client_take_reply)(void *user, struct slice message);

/* Does not connect yet; errors as client_channel_loop_open. */
MUST_CHECK enum err client_blocking_open(const struct client_channel_loop_config *config,
                                         struct client_blocking **ret_client);
/* Closes the channel and frees everything. NULL does nothing. */
void client_blocking_close(struct client_blocking *client);
/* Sets the token of later calls; empty: none. On ERR_MEMORY the old one is kept. */
MUST_CHECK enum err client_blocking_set_token(struct client_blocking *client, struct slice token);

/* Makes a unary call and waits for its end. Returns OK if the call was made, even if it failed: see
 * ret_result->status. Errors as stub.h's start: nothing was sent. */
MUST_CHECK enum err client_call_blocking(struct client_blocking *client,
                                         const struct client_request *request, struct arena *arena,
                                         struct client_result *ret_result);
/* Does the same for a server stream: `take` receives each reply; flow control pauses the server
 * meanwhile. */
MUST_CHECK enum err client_stream_blocking(struct client_blocking *client,
                                           const struct client_request *request,
                                           client_take_reply take, void *user, struct arena *arena,
                                           struct client_result *ret_result);
/* Does the same for a client stream: `next` returns each message. The server may respond before it
 * has received all of them, for example to refuse one. ERR_TOO_LARGE and ERR_MEMORY also if a
 * message could not be sent: the call was cancelled, and there is no result. */
MUST_CHECK enum err client_upload_blocking(struct client_blocking *client,
                                           const struct client_request *request,
                                           client_next_message next, void *user,
                                           struct arena *arena, struct client_result *ret_result);

#endif
