/*
 * typed_call.h: what all generated stubs share: packs a typed request, starts the call on a channel,
 * unpacks each reply through an allocator with a cap, and frees itself at the end. Generated code
 * calls it; people call the stubs (errata/v1/NAME.client.h).
 *
 * A stub borrows its request for the length of the starting call. Where starting fails, no callback
 * follows. Otherwise the end is reported exactly once, never inside the function that started the
 * call; a unary stub's reply is NULL unless the status is OK, and dies with that callback. What the
 * server did not say by itself: INTERNAL for a reply that does not decode, RESOURCE_EXHAUSTED for
 * one that needs too much memory, UNIMPLEMENTED for a unary call answered by none or by two.
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
    /* Of a stream: each reply, borrowed for the length of the callback. NULL for a unary method. */
    void (*on_reply)(const struct typed_call_user *to, const ProtobufCMessage *reply);
    /* The end; `reply` is the unary one or NULL. */
    void (*on_end)(const struct typed_call_user *to, const struct client_status *status,
                   const ProtobufCMessage *reply);
};

/* Copies `to`. ERR_MEMORY, or what the channel says. */
MUST_CHECK enum err
typed_call_start(struct client_channel *channel, const struct typed_call_kind *kind,
                 const ProtobufCMessage *request, const struct client_options *options,
                 const struct typed_call_user *to, struct client_call **ret_call);

#endif
