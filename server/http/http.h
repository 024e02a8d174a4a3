/*
 * http.h: exchanges of HTTP, a request and its response, for both versions: the input from a version (fields and
 * bytes of the request) and its output (the response's head, then its body). Each exchange is a call of server/call.
 * Which protocol serves it is decided when its fields are complete (http_protocol.h). No framing, no sockets.
 */
#ifndef ERRATA_SERVER_HTTP_HTTP_H
#define ERRATA_SERVER_HTTP_HTTP_H

#include "server/call/protocol.h"

/* Maximum fields that a protocol adds to a response: type, encodings, status, expected values. */
#define HTTP_OWN_FIELDS_MAX 12
/* Maximum fields of CORS (http_cors.h) in a response other than a preflight's. */
#define HTTP_CORS_FIELDS_MAX 3
#define HTTP_FIELDS_MAX (2 * CALL_ADDED_MAX + HTTP_OWN_FIELDS_MAX + HTTP_CORS_FIELDS_MAX)

struct http_server;
struct http_protocol;
struct http_cors;

/* A version of HTTP, as its exchanges use it. `stream` is the version's own. */
struct http_version {
    bool is_http2;
    /* The response's head, or more of its body, may be taken. Possibly called inside a function
     * below; never after call_let_go. */
    void (*output)(void *stream);
    /* Reports that so many held bytes of the request (call_hold_bytes) were taken. */
    void (*consumed)(void *stream, size_t bytes);
};

/* A request's line, or the pseudo-fields that correspond to it. */
struct http_line {
    struct slice method;
    struct slice target; /* path, possibly with a query */
};

/* The body that a request's fields announce. */
struct http_body {
    bool has_body;
    bool has_length;
    uint64_t length; /* 0 if there is none */
};

/* The head of a response. Fields are valid until the call is released. */
struct http_head {
    unsigned status;
    uint32_t field_count;
    struct call_field fields[HTTP_FIELDS_MAX];
    bool has_length; /* the whole body is ready; otherwise more may follow */
    uint64_t length;
    bool no_body; /* the response to a HEAD has none, though it may have a length */
};

/* Returns whether a response of this status has a length; the others have no body (RFC 9110, 8.6). */
static inline bool http_status_has_length(unsigned status)
{
    return status != 204 && status != 304;
}

/* Borrows calls, protocols and CORS, which must outlive it. `protocols` are tried in their order. */
MUST_CHECK enum err http_server_new(struct call_server *calls,
                                    const struct http_protocol *const *protocols, size_t count,
                                    const struct http_cors *cors, struct http_server **ret_server);
struct call_server *http_server_calls(const struct http_server *server);
const struct http_cors *http_server_cors(const struct http_server *server);
/* Call when all exchanges have ended. Accepts NULL. */
void http_server_free(struct http_server *server);

/* Opens a call for a request that begins; NULL above the server's limit or without memory. The
 * caller sets the call's share and peer, and releases it (call_let_go). */
struct call_core *http_open(struct http_server *server, const struct http_version *version,
                            void *stream);
/* Makes an exchange of a call that another protocol opened, and whose metadata it has taken. The
 * line, and the fields that it did not keep, follow. */
MUST_CHECK enum err http_adopt(struct call_core *core, struct http_server *server,
                               const struct http_version *version);
/* Takes the request's line; copied. */
void http_take_line(struct call_core *core, const struct http_line *line);
/* Takes a field; its name is in lower case. Copied. `host` is a field in both versions, with the value
 * of `:authority` for HTTP/2. */
void http_take_field(struct call_core *core, struct slice name, struct slice value);
/* Ends the fields: a protocol serves the request, or it is refused. */
void http_take_head_end(struct call_core *core, const struct http_body *body);
/* Takes bytes of the body, and returns how many: the others are held, and reported by `consumed`
 * later. Bytes after the response are ignored. */
size_t http_take_body(struct call_core *core, struct slice bytes);
/* Takes the end of the request. */
void http_take_end(struct call_core *core);

/* Returns whether the response's head may be taken, once. */
bool http_head_is_due(const struct call_core *core);
/* Takes the head. ERR_MEMORY: there is no head, and the connection must end. */
MUST_CHECK enum err http_take_head(struct call_core *core, struct http_head *ret_head);
/* Returns how many bytes of the body are ready after the head, at most `max`; sets `ret_end` if
 * nothing follows them. */
size_t http_body_ready(struct call_core *core, size_t max, bool *ret_end);
/* Copies the next bytes of the body, which http_body_ready reported. */
void http_body_copy(struct call_core *core, uint8_t *to, size_t size);
/* Resumes the services and the request after output was copied. */
void http_body_moved(struct call_core *core);

#endif
