/*
 * typed_call.c: one heap object a call, from typed_call_start to the channel's on_end. It may assume
 * what stub.h promises of channels: on_end exactly once and last.
 */
#include "client/typed/typed_call.h"

#include <stdlib.h>

/* gRPC status codes that a stub finds out by itself (grpc/doc/statuscodes.md). */
#define CODE_OK 0u
#define CODE_RESOURCE_EXHAUSTED 8u
#define CODE_UNIMPLEMENTED 12u
#define CODE_INTERNAL 13u

struct typed_call {
    const struct typed_call_kind *kind;
    struct typed_call_user to;
    struct client_channel *channel;
    struct client_call *call; /* NULL until the channel has started it */
    ProtobufCAllocator allocator; /* of replies; counts in left_bytes */
    size_t left_bytes; /* what the reply being unpacked may still take */
    bool exhausted; /* the cap or malloc ended the last unpack */
    ProtobufCMessage *reply; /* owned; of a call that has just one, until the end */
    uint32_t fault_code; /* CODE_OK until the stub finds a fault of its own */
    struct slice fault_message; /* a literal */
};

static void *capped_alloc(void *user, size_t size)
{
    struct typed_call *typed = user;
    void *memory = NULL;

    if (size <= typed->left_bytes) {
        memory = malloc(size > 0 ? size : 1);
    }
    if (memory == NULL) {
        typed->exhausted = true;
        return NULL;
    }
    typed->left_bytes -= size;
    return memory;
}

/* What is given back is not counted: the cap is on what one unpack asks for in all. */
static void capped_free(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static ProtobufCMessage *unpack(struct typed_call *typed, struct slice bytes)
{
    static const uint8_t nothing[1] = {0};

    typed->left_bytes = TYPED_CALL_REPLY_BYTES_MAX;
    typed->exhausted = false;
    return protobuf_c_message_unpack(typed->kind->reply, &typed->allocator, bytes.size,
                                     bytes.size > 0 ? bytes.data : nothing);
}

/* Notes the fault, and ends the call where it is still under way. */
static void fail(struct typed_call *typed, uint32_t code, struct slice message)
{
    typed->fault_code = code;
    typed->fault_message = message;
    if (typed->call != NULL) {
        typed->channel->ops->cancel(typed->channel, typed->call);
    }
}

static void on_reply(void *user, struct slice message)
{
    struct typed_call *typed = user;
    ProtobufCMessage *reply = NULL;

    if (typed->fault_code != CODE_OK) {
        return; /* cancelled; what still arrives goes nowhere */
    }
    if (typed->reply != NULL) {
        fail(typed, CODE_UNIMPLEMENTED, SLICE("the server answered twice where one reply is due"));
        return;
    }
    reply = unpack(typed, message);
    if (reply == NULL && typed->exhausted) {
        fail(typed, CODE_RESOURCE_EXHAUSTED,
             SLICE("the reply takes more memory than a stub gives"));
        return;
    }
    if (reply == NULL) {
        fail(typed, CODE_INTERNAL, SLICE("the reply's bytes do not decode"));
        return;
    }
    if (typed->kind->on_reply == NULL) {
        typed->reply = reply;
        return;
    }
    typed->kind->on_reply(&typed->to, reply);
    protobuf_c_message_free_unpacked(reply, &typed->allocator);
}

static void on_end(void *user, const struct client_status *status)
{
    struct typed_call *typed = user;
    bool has_one_reply = typed->kind->on_reply == NULL;
    struct client_status own;

    typed->call = NULL;
    if (has_one_reply && typed->fault_code == CODE_OK && status->code == CODE_OK &&
        typed->reply == NULL) {
        fail(typed, CODE_UNIMPLEMENTED, SLICE("the server ended the call without a reply"));
    }
    if (typed->fault_code != CODE_OK) {
        own = *status;
        own.code = typed->fault_code;
        own.message = typed->fault_message;
        own.details = slice_of(NULL, 0);
        own.from_server = false;
        status = &own;
    }
    typed->kind->on_end(&typed->to, status, status->code == CODE_OK ? typed->reply : NULL);
    if (typed->reply != NULL) {
        protobuf_c_message_free_unpacked(typed->reply, &typed->allocator);
    }
    free(typed);
}

static void on_writable(void *user)
{
    struct typed_call *typed = user;

    if (typed->fault_code == CODE_OK && typed->kind->on_writable != NULL) {
        typed->kind->on_writable(&typed->to);
    }
}

/* A message's bytes, on the heap and the caller's. NULL has none. */
static enum err pack(const ProtobufCMessage *message, uint8_t **ret_bytes, size_t *ret_size)
{
    size_t size = message != NULL ? protobuf_c_message_get_packed_size(message) : 0;
    uint8_t *bytes = malloc(size > 0 ? size : 1);

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    if (message != NULL) {
        (void)protobuf_c_message_pack(message, bytes);
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return OK;
}

enum err typed_call_start(struct client_channel *channel, const struct typed_call_kind *kind,
                          const ProtobufCMessage *request, const struct client_options *options,
                          const struct typed_call_user *to, struct client_call **ret_call)
{
    struct typed_call *typed = calloc(1, sizeof(*typed));
    const struct client_handlers handlers = {
        .user = typed, .on_reply = on_reply, .on_end = on_end, .on_writable = on_writable};
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum err err = ERR_MEMORY;

    if (typed == NULL) {
        return ERR_MEMORY;
    }
    *typed = (struct typed_call){.kind = kind, .to = *to, .channel = channel};
    typed->allocator = (ProtobufCAllocator){capped_alloc, capped_free, typed};
    err = pack(request, &bytes, &size);
    if (err != OK) {
        goto out;
    }
    err = channel->ops->start(channel, kind->method, slice_of(bytes, size), options, &handlers,
                              &typed->call);
    if (err == OK) {
        *ret_call = typed->call;
        typed = NULL; /* on_end frees it */
    }
out:
    free(typed);
    free(bytes);
    return err;
}

enum err typed_call_send(struct client_channel *channel, struct client_call *call,
                         const ProtobufCMessage *message)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum err err = pack(message, &bytes, &size);

    if (err != OK) {
        return err;
    }
    err = channel->ops->send(channel, call, slice_of(bytes, size));
    free(bytes);
    return err;
}
