/*
 * unpack.c: see unpack.h.
 */
#include "client/typed/unpack.h"

#include <stdlib.h>

/* Memory budget of one unpack. Freed memory is not returned to the budget. */
struct budget {
    size_t left_bytes;
    bool exhausted; /* the bound or malloc ended it */
};

static void *capped_alloc(void *user, size_t size)
{
    struct budget *budget = user;
    void *memory = NULL;

    if (size <= budget->left_bytes) {
        memory = malloc(size > 0 ? size : 1);
    }
    if (memory == NULL) {
        budget->exhausted = true;
        return NULL;
    }
    budget->left_bytes -= size;
    return memory;
}

static void capped_free(void *user, void *memory)
{
    (void)user;
    free(memory);
}

ProtobufCMessage *unpack(const ProtobufCMessageDescriptor *descriptor, struct errata_bytes bytes,
                         struct unpack_fault *ret_fault)
{
    static const uint8_t nothing[1] = {0};
    struct budget budget = {.left_bytes = UNPACK_BYTES_MAX};
    ProtobufCAllocator allocator = {capped_alloc, capped_free, &budget};
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, &allocator, bytes.size,
                                                          bytes.size > 0 ? bytes.data : nothing);

    if (message == NULL && budget.exhausted) {
        *ret_fault = (struct unpack_fault){ERRATA_CODE_RESOURCE_EXHAUSTED,
                                           "the reply needs more memory than a stub allows"};
    } else if (message == NULL) {
        *ret_fault = (struct unpack_fault){ERRATA_CODE_INTERNAL, "the reply does not decode"};
    }
    return message;
}

void unpack_free(void *message)
{
    static const ProtobufCAllocator allocator = {.free = capped_free};

    if (message != NULL) {
        /* The function only reads the allocator, but its parameter is not const. */
        protobuf_c_message_free_unpacked(message, (ProtobufCAllocator *)(uintptr_t)&allocator);
    }
}

bool pack(const ProtobufCMessage *message, struct errata_bytes *ret_bytes)
{
    size_t size = message != NULL ? protobuf_c_message_get_packed_size(message) : 0;
    uint8_t *bytes = malloc(size > 0 ? size : 1);

    if (bytes == NULL) {
        return false;
    }
    if (message != NULL) {
        (void)protobuf_c_message_pack(message, bytes);
    }
    *ret_bytes = (struct errata_bytes){bytes, size};
    return true;
}

void pack_free(struct errata_bytes bytes)
{
    free((void *)(uintptr_t)bytes.data);
}
