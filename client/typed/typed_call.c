/*
 * typed_call.c: one heap object a call, from typed_call_start to the call's on_end, which comes exactly
 * once and last.
 */
#include "client/typed/typed_call.h"

#include <stdlib.h>

struct typed_call {
    const struct typed_kind *kind;
    struct typed_user to;
    struct errata_call *call; /* NULL before it has started and once it has ended */
    ProtobufCMessage *reply; /* owned; of a call that has just one, until the end */
    struct unpack_fault fault; /* fault found by the stub itself */
};

/* Stores the fault, and ends the call if it is in progress. */
static void fail(struct typed_call *typed, enum errata_code code, const char *message)
{
    typed->fault = (struct unpack_fault){code, message};
    errata_call_cancel(typed->call);
}

static void on_reply(void *user, struct errata_bytes message)
{
    struct typed_call *typed = user;
    struct unpack_fault fault = {ERRATA_CODE_OK, NULL};
    ProtobufCMessage *reply = NULL;

    if (typed->fault.code != ERRATA_CODE_OK) {
        return; /* the call is cancelled; further messages are discarded */
    }
    if (typed->reply != NULL) {
        fail(typed, ERRATA_CODE_UNIMPLEMENTED, "the server sent two replies; expected one");
        return;
    }
    reply = unpack(typed->kind->reply, message, &fault);
    if (reply == NULL) {
        fail(typed, fault.code, fault.message);
        return;
    }
    if (typed->kind->on_reply == NULL) {
        typed->reply = reply;
        return;
    }
    typed->kind->on_reply(&typed->to, reply);
    unpack_free(reply);
}

static void on_end(void *user, const struct errata_status *status)
{
    struct typed_call *typed = user;
    bool has_one_reply = typed->kind->on_reply == NULL;
    struct errata_status own = *status;

    typed->call = NULL;
    if (has_one_reply && typed->fault.code == ERRATA_CODE_OK && status->code == ERRATA_CODE_OK &&
        typed->reply == NULL) {
        fail(typed, ERRATA_CODE_UNIMPLEMENTED, "the server ended the call without a reply");
    }
    if (typed->fault.code != ERRATA_CODE_OK) {
        own.code = typed->fault.code;
        own.message = typed->fault.message;
        own.details = (struct errata_bytes){NULL, 0};
        own.from_server = false;
    }
    typed->kind->on_end(&typed->to, &own, own.code == ERRATA_CODE_OK ? typed->reply : NULL);
    unpack_free(typed->reply);
    free(typed);
}

static void on_writable(void *user)
{
    struct typed_call *typed = user;

    if (typed->fault.code == ERRATA_CODE_OK && typed->kind->on_writable != NULL &&
        typed->to.on_more != NULL) {
        typed->kind->on_writable(&typed->to);
    }
}

enum errata_result typed_call_start(struct errata_channel *channel, const struct typed_kind *kind,
                                    const ProtobufCMessage *request,
                                    const struct errata_options *options,
                                    const struct typed_user *to, struct errata_call **ret_call)
{
    struct errata_handlers handlers = {
        .on_reply = on_reply, .on_end = on_end, .on_writable = on_writable};
    struct errata_bytes bytes = {NULL, 0};
    enum errata_result result = ERRATA_MEMORY;

    if (to->on_end == NULL || (kind->on_reply != NULL && to->on_more == NULL)) {
        return ERRATA_INVALID;
    }
    handlers.user = malloc(sizeof(struct typed_call));
    if (handlers.user != NULL && pack(request, &bytes)) {
        struct typed_call *typed = handlers.user;

        *typed = (struct typed_call){.kind = kind, .to = *to};
        result = errata_call_start(channel, kind->method, bytes, options, &handlers, &typed->call);
        if (result == ERRATA_OK && ret_call != NULL) {
            *ret_call = typed->call;
        }
    }
    if (result != ERRATA_OK) {
        free(handlers.user); /* otherwise on_end frees it */
    }
    pack_free(bytes);
    return result;
}

enum errata_result typed_call_send(struct errata_call *call, const ProtobufCMessage *message)
{
    struct errata_bytes bytes = {NULL, 0};
    enum errata_result result = ERRATA_MEMORY;

    if (pack(message, &bytes)) {
        result = errata_call_send(call, bytes);
        pack_free(bytes);
    }
    return result;
}
