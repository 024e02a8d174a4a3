/*
 * unpack.h: unpacks a typed message from a peer's bytes with a limit of memory, and packs one.
 */
#ifndef ERRATA_CLIENT_TYPED_UNPACK_H
#define ERRATA_CLIENT_TYPED_UNPACK_H

#include <errata/client.h>
#include <protobuf-c/protobuf-c.h>

/* Maximum memory of one unpacked reply: a page of 1 MiB needs a few MiB, but protobuf-c can expand
 * a hostile message a hundredfold. */
#define UNPACK_BYTES_MAX ((size_t)64 << 20)

/* Why bytes could not be unpacked, for a status. */
struct unpack_fault {
    enum errata_code code; /* ERRATA_CODE_OK if there is no fault */
    const char *message; /* a literal */
};

/* Returns the message, to be freed by unpack_free; NULL with a fault: INTERNAL for bytes that do
 * not decode, RESOURCE_EXHAUSTED for those that would take too much memory. */
ERRATA_MUST_CHECK ProtobufCMessage *unpack(const ProtobufCMessageDescriptor *descriptor,
                                           struct errata_bytes bytes,
                                           struct unpack_fault *ret_fault);
/* Frees an unpacked message. NULL does nothing. */
void unpack_free(void *message);

/* Packs a message into bytes on the heap, which the caller owns. Returns false if memory is exhausted. A NULL
 * message has none. */
ERRATA_MUST_CHECK bool pack(const ProtobufCMessage *message, struct errata_bytes *ret_bytes);
void pack_free(struct errata_bytes bytes);

#endif
