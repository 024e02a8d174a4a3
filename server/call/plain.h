/*
 * plain.h: requests of HTTP that are not calls, such as /healthz: found by their path, and answered
 * at once and whole, on the loop. A protocol over HTTP looks for a plain path only if a path is not that
 * of a method, so calls do not pay for them.
 */
#ifndef ERRATA_SERVER_CALL_PLAIN_H
#define ERRATA_SERVER_CALL_PLAIN_H

#include "store/base/arena.h"

/* Maximum fields of a response besides its type and length. */
#define PLAIN_FIELDS_MAX 10

/* The parts of a plain request that a handler may use; borrowed until the response was sent. */
struct plain_request {
    struct arena *arena; /* memory for the response */
    struct slice path; /* without a query */
    struct slice if_none_match; /* the field's value, or empty */
    bool accepts_gzip; /* the response may have this content-encoding */
    struct slice authorization; /* the field's value, or empty */
    bool authorization_repeated; /* it came several times, so the caller is ambiguous */
    struct slice peer; /* address of the peer, for the log */
};

/* A header field; its name is in lower case. */
struct plain_field {
    struct slice name;
    struct slice value;
};

/* Slices are borrowed from literals or the request's arena. */
struct plain_response {
    unsigned status; /* status of HTTP */
    struct slice content_type;
    struct slice body;
    uint32_t field_count;
    struct plain_field fields[PLAIN_FIELDS_MAX];
};

struct plain_handler {
    struct slice
        path; /* without a query, which is ignored; one that ends in a slash, except "/", has all paths
                          that begin with it */
    /* Answers GET and HEAD. */
    void (*answer)(void *user, const struct plain_request *request,
                   struct plain_response *ret_response);
};

struct plain_table {
    const struct plain_handler *handlers;
    uint32_t count;
    void *user; /* argument of `answer` */
};

/* Returns NULL if there is none. `table` may be NULL. */
const struct plain_handler *plain_find(const struct plain_table *table, struct slice path);

#endif
