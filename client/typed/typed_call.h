/*
 * typed_call.h: what all generated stubs share: packs a typed request, starts the call on a channel,
 * unpacks each reply through an allocator with a cap, and frees itself at the end. Generated code
 * calls it; people call the stubs (errata/v1/NAME.client.h).
 *
 * A stub borrows its request for the length of the starting call. Where starting fails, no callback
 * follows. Otherwise the end is reported exactly once, never inside the function that started the
 * call; the reply of a call that has just one is NULL unless the status is OK, and dies with that
 * callback. What the server did not say by itself: INTERNAL for a reply that does not decode,
 * RESOURCE_EXHAUSTED for one that needs too much memory, UNIMPLEMENTED for a call of one reply that
 * is answered by none or by two.
 *
 * Of a client stream, X starts the call, X_send sends one message (ERR_BUSY: nothing was taken,
 * on_writable follows; ERR_CANCELLED: the call has ended, on_done tells why), and X_half_close says
 * that no more follow. on_done may come before that: the server need not read everything.
 */
#ifndef ERRATA_CLIENT_TYPED_TYPED_CALL_H
#define ERRATA_CLIENT_TYPED_TYPED_CALL_H

#include "client/stub.h"

#include <protobuf-c/protobuf-c.h>

/* What one unpacked reply may take: a page of 1 MiB unpacks to a few; protobuf-c can blow up a
 * hostile message a hundredfold. */
#define TYPED_CALL_REPLY_BYTES_MAX (64u << 20)

/* Any function; cast back to its own type before it is called. */
typedef void typed_call_fn(void);

/* The caller's typed callbacks, as the generated code gave them. */
struct typed_call_user {
    void *user;
    typed_call_fn *functions[2];
};

/* What differs from method to method; static and constant. */
struct typed_call_kind {
    const struct method_info *method;
    const ProtobufCMessageDescriptor *reply;
    /* Of a server stream: each reply, borrowed for the length of the callback. Else NULL. */
    void (*on_reply)(const struct typed_call_user *to, const ProtobufCMessage *reply);
    /* The end; `reply` is the only one or NULL. */
    void (*on_end)(const struct typed_call_user *to, const struct client_status *status,
                   const ProtobufCMessage *reply);
    /* Of a client stream: there is room for messages. Else NULL. */
    void (*on_writable)(const struct typed_call_user *to);
};

/* Copies `to`. `request` is NULL for a client stream. ERR_MEMORY, or what the channel says. */
MUST_CHECK enum err
typed_call_start(struct client_channel *channel, const struct typed_call_kind *kind,
                 const ProtobufCMessage *request, const struct client_options *options,
                 const struct typed_call_user *to, struct client_call **ret_call);
/* Sends one message of a client stream. ERR_MEMORY, or what the channel says. */
MUST_CHECK enum err typed_call_send(struct client_channel *channel, struct client_call *call,
                                    const ProtobufCMessage *message);

#endif
