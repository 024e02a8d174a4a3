/*
 * typed_call.h: what all generated stubs share: packs a typed request, starts the call on a channel,
 * unpacks each reply through an allocator with a cap, and frees itself at the end. Generated code
 * calls it, programs call the stubs, which the head of each <errata/v1/NAME.client.h> documents.
 * It uses public headers only. typed_wait.h has the blocking forms.
 *
 * What the server did not say by itself: INTERNAL for a reply that does not decode,
 * RESOURCE_EXHAUSTED for one that needs too much memory, UNIMPLEMENTED for a call of one reply that
 * is answered by none or by two.
 */
#ifndef ERRATA_CLIENT_TYPED_TYPED_CALL_H
#define ERRATA_CLIENT_TYPED_TYPED_CALL_H

#include "client/typed/unpack.h"

#include <errata/blocking.h>

/* Any function; cast back to its own type before it is called. */
typedef void typed_fn(void);

/* The caller's typed callbacks, as the generated code gave them. */
struct typed_user {
    void *user;
    typed_fn *on_end; /* NULL in blocking forms */
    typed_fn *on_more; /* what comes or goes before the end; NULL: none */
};

/* What differs from method to method; static and constant. Each function casts and calls one of the
 * user's, so that it may assume that this one is there. */
struct typed_kind {
    const char *method;
    const ProtobufCMessageDescriptor *reply;
    /* The end; `reply` is the only one or NULL. */
    void (*on_end)(const struct typed_user *to, const struct errata_status *status,
                   const ProtobufCMessage *reply);
    /* Of a stream of replies: each, borrowed for the length of the callback; and in the blocking form,
     * whose false ends the call. Else NULL. */
    void (*on_reply)(const struct typed_user *to, const ProtobufCMessage *reply);
    bool (*take)(const struct typed_user *to, const ProtobufCMessage *reply);
    /* Of a stream of requests: there is room for messages; and in the blocking form, the next one.
     * Else NULL. */
    void (*on_writable)(const struct typed_user *to);
    enum errata_upload_step (*next)(const struct typed_user *to,
                                    const ProtobufCMessage **ret_message);
};

/* Copies `to`. `request` is NULL for a stream of requests. Results as errata_call_start, and
 * ERRATA_INVALID for a missing callback; only on_writable is optional. */
ERRATA_MUST_CHECK enum errata_result
typed_call_start(struct errata_channel *channel, const struct typed_kind *kind,
                 const ProtobufCMessage *request, const struct errata_options *options,
                 const struct typed_user *to, struct errata_call **ret_call);
/* Sends one message of a stream of requests. Results as errata_call_send. */
ERRATA_MUST_CHECK enum errata_result typed_call_send(struct errata_call *call,
                                                     const ProtobufCMessage *message);

#endif
