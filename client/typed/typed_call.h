/*
 * typed_call.h: functions shared by all generated stubs: packs a typed request, starts the call on
 * a channel, unpacks each reply through an allocator with a cap, and frees itself at the end.
 * Generated code calls it, programs call the stubs, which the head of each
 * <errata/v1/NAME.client.h> documents. It uses public headers only. typed_wait.h has the blocking
 * forms.
 *
 * Status codes set by the stubs: INTERNAL for a reply that does not decode, RESOURCE_EXHAUSTED for
 * one that needs too much memory, UNIMPLEMENTED if a call with one reply gets none or two.
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
    typed_fn *on_more; /* callback before the end, for messages; NULL: none */
};

/* The parts that differ between methods; static and constant. Each function casts and calls a
 * user's callback, which is set whenever the function is called. */
struct typed_kind {
    const char *method;
    const ProtobufCMessageDescriptor *reply;
    /* The end; `reply` is the only one or NULL. */
    void (*on_end)(const struct typed_user *to, const struct errata_status *status,
                   const ProtobufCMessage *reply);
    /* For a stream of replies: receives each reply, borrowed for the duration of the callback; in
     * the blocking form, returning false ends the call. Otherwise NULL. */
    void (*on_reply)(const struct typed_user *to, const ProtobufCMessage *reply);
    bool (*take)(const struct typed_user *to, const ProtobufCMessage *reply);
    /* For a stream of requests: reports room for messages; in the blocking form, returns the next
     * message. Otherwise NULL. */
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
