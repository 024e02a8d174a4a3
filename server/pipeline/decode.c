/*
 * decode.c: see decode.h.
 */
#include "server/pipeline/decode.h"

#include "server/codec/check.h"

static void *allocate(void *data, size_t size)
{
    return arena_alloc((struct arena *)data, size);
}

static void release(void *data, void *pointer)
{
    (void)data; /* the arena frees it all at once */
    (void)pointer;
}

enum err decode_request(struct ctx *ctx, const struct method_info *method,
                        const ProtobufCMessageDescriptor *descriptor, struct slice bytes,
                        ProtobufCMessage **ret_request)
{
    ProtobufCAllocator allocator = {allocate, release, ctx->arena};
    ProtobufCMessage *request = NULL;
    enum err err = method->transaction == METHOD_WRITE
                       ? check_write_request(ctx, method->request, bytes, &bytes)
                       : check_request(ctx, method->request, bytes, &bytes);

    if (err != OK) {
        return err;
    }
    /* Bytes that passed the check decode, unless the arena is full. */
    request = protobuf_c_message_unpack(descriptor, &allocator, bytes.size, bytes.data);
    if (request == NULL) {
        return ERR_MEMORY;
    }
    *ret_request = request;
    return OK;
}
