/*
 * dispatch.h: the typed functions of each method behind one shape, written by protoc-gen-errata.
 * Pointers that a method has no use for are NULL (service.h says which it has).
 */
#ifndef ERRATA_SERVER_PIPELINE_DISPATCH_H
#define ERRATA_SERVER_PIPELINE_DISPATCH_H

#include "server/pipeline/service.h"

struct method_handler {
    const ProtobufCMessageDescriptor *request; /* what to unpack */
    /* Of a client stream: each request message. */
    enum err (*receive)(struct service *service, const void *request, void **state);
    enum err (*prepare)(struct service *service, const void *request, void **ret_prepared);
    enum err (*cost)(struct service *service, struct store_txn *txn, const void *request,
                     void **prepared, enum read_cost *ret_cost);
    enum err (*read)(struct service *service, struct store_txn *txn, const void *request,
                     void *prepared, struct reply *reply);
    enum err (*write)(struct service *service, struct store_txn *txn, const void *request,
                      void *prepared, struct work_result *result);
    enum err (*answer)(struct service *service, struct store_txn *txn, const void *request,
                       void *prepared, const struct work_result *result, struct reply *reply);
    enum err (*start)(struct service *service, const void *request, struct stream *stream);
    enum err (*writable)(struct service *service, struct store_txn *txn, struct stream *stream);
    void (*stopped)(struct stream *stream);
    /* Of a bidi stream: each request message; its _start gets a NULL request. */
    enum err (*message)(struct service *service, const void *request, struct stream *stream);
};

/* By method_info.index. */
extern const struct method_handler dispatch_handlers[];

#endif
