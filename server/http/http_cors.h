/*
 * http_cors.h: decides which pages in a browser may call this server (fetch.spec.whatwg.org, "CORS
 * protocol"): those of the server's own origin, and of the listed ones. Credentials that a browser
 * adds by itself (cookies) are never allowed: a page must have the token and send it.
 */
#ifndef ERRATA_SERVER_HTTP_HTTP_CORS_H
#define ERRATA_SERVER_HTTP_HTTP_CORS_H

#include "server/http/http.h"

/* Maximum number of listed origins. */
#define HTTP_CORS_ORIGINS_MAX 32

struct http_cors {
    struct slice origins[HTTP_CORS_ORIGINS_MAX]; /* such as https://app.example.com; borrowed */
    size_t count;
};

/* Returns whether the request comes from a page of an origin that may not call this server. */
bool http_cors_is_foreign(const struct call_core *core);
/* Responds to a preflight, before any authentication; false if the request is not one. */
bool http_cors_answer_preflight(struct call_core *core);
/* Adds the fields by which a page of an allowed origin may read the response. */
void http_cors_add(struct call_core *core, struct http_head *head);

#endif
