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
    struct page *page; /* of a list; its items are appended to `body` */
    struct as_of as_of; /* of a read whose request has one */
    struct stream *stream;
};

/* Where a List request has its page: offsets in its struct, and the field of the response. */
struct method_list {
    size_t page_size;
    size_t page_token;
    uint32_t next_page_token; /* 0: the method is not a list */
    size_t org_id; /* 0: the request names no organisation */
};

/* Where a request has its as_of: offsets in its struct, and the numbers of the two fields. */
struct method_as_of {
    size_t given; /* the number of the field that is given; 0: neither is */
    size_t seq;
    size_t time;
    uint32_t seq_number; /* 0: the request has no as_of */
    uint32_t time_number;
};

struct method_handler {
    const ProtobufCMessageDescriptor *request; /* what to unpack */
    struct method_list list;
    struct method_as_of as_of;
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
