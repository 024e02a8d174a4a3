/*
 * typed_wait.c: see typed_wait.h.
 */
#include "client/typed/typed_wait.h"

#include "client/library/answer.h"

/* State of one blocking stream. */
struct waiting {
    const struct typed_kind *kind;
    const struct typed_user *to;
    struct unpack_fault fault; /* fault in a reply */
    struct errata_bytes message; /* owned: the last one of a stream of requests, packed */
    bool out_of_memory; /* memory for a reply was exhausted */
};

/* Returns the reply of an answer, which owns it; NULL if it has none. */
static const ProtobufCMessage *reply_of(struct errata_answer *answer,
                                        const ProtobufCMessageDescriptor *descriptor)
{
    struct unpack_fault fault = {ERRATA_CODE_OK, NULL};
    ProtobufCMessage *reply = NULL;

    if (errata_answer_status(answer)->code != ERRATA_CODE_OK) {
        return NULL;
    }
    reply = unpack(descriptor, errata_answer_reply(answer), &fault);
    if (reply == NULL) {
        answer_fail(answer, fault.code, fault.message);
        return NULL;
    }
    answer_keep(answer, reply, unpack_free);
    return reply;
}

enum errata_result typed_wait_call(struct errata_blocking *blocking, const struct typed_kind *kind,
                                   const ProtobufCMessage *request,
                                   const struct errata_options *options,
                                   struct errata_answer **ret_answer,
                                   const ProtobufCMessage **ret_reply)
{
    struct errata_bytes bytes = {NULL, 0};
    enum errata_result result = ERRATA_MEMORY;

    if (pack(request, &bytes)) {
        result = errata_blocking_call(blocking, kind->method, bytes, options, ret_answer);
        pack_free(bytes);
    }
    if (result == ERRATA_OK) {
        *ret_reply = reply_of(*ret_answer, kind->reply);
    }
    return result;
}

static bool take(void *user, struct errata_bytes message)
{
    struct waiting *waiting = user;
    ProtobufCMessage *reply = unpack(waiting->kind->reply, message, &waiting->fault);
    bool goes_on = reply != NULL && waiting->kind->take(waiting->to, reply);

    unpack_free(reply);
    return goes_on;
}

enum errata_result typed_wait_stream(struct errata_blocking *blocking,
                                     const struct typed_kind *kind, const ProtobufCMessage *request,
                                     const struct errata_options *options,
                                     const struct typed_user *to, struct errata_answer **ret_answer)
{
    struct waiting waiting = {.kind = kind, .to = to, .fault = {ERRATA_CODE_OK, NULL}};
    const struct errata_taker taker = {&waiting, take};
    struct errata_bytes bytes = {NULL, 0};
    enum errata_result result = ERRATA_MEMORY;

    if (to->on_more == NULL) {
        return ERRATA_INVALID;
    }
    if (pack(request, &bytes)) {
        result = errata_blocking_stream(blocking, kind->method, bytes, options, &taker, ret_answer);
        pack_free(bytes);
    }
    if (result == ERRATA_OK && waiting.fault.code != ERRATA_CODE_OK) {
        answer_fail(*ret_answer, waiting.fault.code, waiting.fault.message);
    }
    return result;
}

static enum errata_upload_step next(void *user, struct errata_bytes *ret_message)
{
    struct waiting *waiting = user;
    const ProtobufCMessage *message = NULL;
    enum errata_upload_step step = waiting->kind->next(waiting->to, &message);

    pack_free(waiting->message);
    waiting->message = (struct errata_bytes){NULL, 0};
    if (step != ERRATA_UPLOAD_MESSAGE) {
        return step;
    }
    if (!pack(message, &waiting->message)) {
        waiting->out_of_memory = true;
        return ERRATA_UPLOAD_STOP;
    }
    *ret_message = waiting->message;
    return ERRATA_UPLOAD_MESSAGE;
}

enum errata_result typed_wait_upload(struct errata_blocking *blocking,
                                     const struct typed_kind *kind,
                                     const struct errata_options *options,
                                     const struct typed_user *to, struct errata_answer **ret_answer,
                                     const ProtobufCMessage **ret_reply)
{
    struct waiting waiting = {.kind = kind, .to = to};
    const struct errata_giver giver = {&waiting, next};
    struct errata_answer *answer = NULL;
    enum errata_result result = ERRATA_INVALID;

    if (to->on_more == NULL) {
        return ERRATA_INVALID;
    }
    result = errata_blocking_upload(blocking, kind->method, options, &giver, &answer);
    pack_free(waiting.message);
    if (result == ERRATA_OK && waiting.out_of_memory) {
        errata_answer_free(answer);
        return ERRATA_MEMORY;
    }
    if (result == ERRATA_OK) {
        *ret_reply = reply_of(answer, kind->reply);
        *ret_answer = answer;
    }
    return result;
}
