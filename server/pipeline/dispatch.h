/*
 * dispatch.h: the typed functions of each method in one shape, written by protoc-gen-errata, which makes the
 * method's own struct (<errata/v1/NAME.handlers.h>) of a method_call. Functions that a method does not have
 * are NULL (service.h lists those it has).
 */
#ifndef ERRATA_SERVER_PIPELINE_DISPATCH_H
#define ERRATA_SERVER_PIPELINE_DISPATCH_H

#include "server/pipeline/service.h"

/* What a function of a method works on; members that it has no use for are NULL. */
struct method_call {
    struct service *service;
    struct store_txn *txn;
    const void *request; /* unpacked */
    void *prepared; /* what _receive, _prepare and _cost leave for the functions after them */
    enum read_cost cost; /* what _cost found */
    struct work_result *result; /* of _write, for _answer */
    struct buffer *body; /* where _read and _answer append the reply */
    struct stream *stream;
};

struct method_handler {
    const ProtobufCMessageDescriptor *request; /* what to unpack */
    enum err (*receive)(struct method_call *call); /* of a client stream: each request message */
    enum err (*prepare)(struct method_call *call);
    enum err (*cost)(struct method_call *call);
    enum err (*read)(struct method_call *call);
    enum err (*write)(struct method_call *call);
    enum err (*answer)(struct method_call *call);
    enum err (*start)(struct method_call *call);
    enum err (*writable)(struct method_call *call);
    enum err (*message)(struct method_call *call); /* of a bidi stream: each request message */
    void (*stopped)(struct method_call *call);
};

/* By method_info.index. */
extern const struct method_handler dispatch_handlers[];

#endif
