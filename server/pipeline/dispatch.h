/*
 * dispatch.h: the typed functions of each method in one shape, written by protoc-gen-errata, which makes the
 * method's own struct (<errata/v1/NAME.handlers.h>) of a method_call. Functions that a method does not have
 * are NULL (service.h lists those it has).
 */
#ifndef ERRATA_SERVER_PIPELINE_DISPATCH_H
#define ERRATA_SERVER_PIPELINE_DISPATCH_H

#include "server/pipeline/service.h"

/* Arguments of the functions of a method; unused members are NULL. */
struct method_call {
    struct service *service;
    struct store_txn *txn;
    const void *request; /* unpacked */
    void *prepared; /* result of _receive, _prepare and _cost for the later functions */
    enum read_cost cost; /* result of _cost */
    struct work_result *result; /* result of _write, for _answer */
    struct buffer *body; /* buffer to which _read and _answer append the reply */
    struct page *page; /* page of a list, whose items are appended to `body` */
    struct as_of as_of; /* point in time of a read whose request has one */
    struct stream *stream;
};

/* Offsets of the page fields in the struct of a List request, and the number of the response's
 * field. */
struct method_list {
    size_t page_size;
    size_t page_token;
    uint32_t next_page_token; /* 0: the method is not a list */
    size_t org_id; /* 0: the request has no org_id */
};

/* Offset of as_of in the struct of a request, and the numbers of its two fields. */
struct method_as_of {
    size_t given; /* the number of the field that is given; 0: neither is */
    size_t seq;
    size_t time;
    uint32_t seq_number; /* 0: the request has no as_of */
    uint32_t time_number;
};

struct method_handler {
    const ProtobufCMessageDescriptor *request; /* type of the request */
    struct method_list list;
    struct method_as_of as_of;
    enum err (*receive)(
        struct method_call *call); /* for a client stream: handles each request message */
    enum err (*prepare)(struct method_call *call);
    enum err (*cost)(struct method_call *call);
    enum err (*read)(struct method_call *call);
    enum err (*write)(struct method_call *call);
    enum err (*answer)(struct method_call *call);
    enum err (*start)(struct method_call *call);
    enum err (*writable)(struct method_call *call);
    enum err (*message)(
        struct method_call *call); /* for a bidi stream: handles each request message */
    void (*stopped)(struct method_call *call);
};

/* Handlers, indexed by method_info.index. */
extern const struct method_handler dispatch_handlers[];

#endif
