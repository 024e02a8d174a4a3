/*
 * connect_internal.h: functions shared by the files of server/connect.
 */
#ifndef ERRATA_SERVER_CONNECT_CONNECT_INTERNAL_H
#define ERRATA_SERVER_CONNECT_CONNECT_INTERNAL_H

#include "server/connect/connect.h"

enum connect_verb {
    CONNECT_OTHER_VERB,
    CONNECT_POST,
    CONNECT_GET,
    CONNECT_HEAD
};

enum connect_codec {
    CONNECT_NO_CODEC,
    CONNECT_PROTO,
    CONNECT_JSON
};

enum connect_encoding {
    CONNECT_IDENTITY,
    CONNECT_GZIP,
    CONNECT_UNKNOWN_ENCODING
};

/* The protocol's state of a call. */
struct connect_call {
    void (*ready)(void *stream);
    enum connect_verb verb;
    enum connect_codec codec;
    enum connect_encoding encoding; /* of the request's body or message */
    bool encoding_is_given; /* a content-encoding other than identity, or `compression` */
    bool version_is_bad;
    bool timeout_is_bad;
    bool no_memory;
    bool is_get; /* a GET of a method without side effects */
    bool message_begun;
    int64_t timeout_us; /* INT64_MAX: none */
    const struct plain_handler
        *plain; /* the path is not that of a method, but of this one; or NULL */
    struct slice plain_path; /* of such a request */
    struct slice if_none_match;
    const struct plain_response *plain_response; /* of such a request, once it is answered */
    struct slice query; /* after the `?` of the target */
    struct slice message; /* of a GET, decoded */
    unsigned http_status; /* not 0: a response of HTTP with a text instead of a status */
    struct slice type; /* the text's content type */
    struct slice text;
    struct call_field extra; /* the field that says what was expected; its name may be empty */
};

static inline struct connect_call *connect_call_of(const struct call_core *core)
{
    return (struct connect_call *)core->state;
}

extern const struct call_protocol connect_proto_protocol;
extern const struct call_protocol connect_json_protocol;

/* Returns the encoding that a field or a parameter names. */
enum connect_encoding connect_encoding_of(struct slice name);
/* connect_get.c: reads the query of a GET into codec, encoding and message; returns why it is
 * invalid, or NULL. */
const char *connect_read_query(struct call_core *core);
/* connect_error.c: returns the HTTP status of a code, and appends the JSON of the call's status. */
unsigned connect_http_status(enum status_code code);
void connect_write_error(const struct call_core *core, struct buffer *json);

#endif
