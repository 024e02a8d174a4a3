/*
 * rest_internal.h: functions shared by the files of server/rest.
 */
#ifndef ERRATA_SERVER_REST_REST_INTERNAL_H
#define ERRATA_SERVER_REST_REST_INTERNAL_H

#include "server/rest/rest.h"
#include "store/base/buffer.h"
#include "store/base/ctx.h"

/* A path that matches a route. */
struct rest_match {
    const struct rest_route *route;
    struct slice segments[REST_SEGMENTS_MAX]; /* segments of the path, as sent */
    bool has_other_verb; /* the path has a route, but for another verb */
};

/* rest_path.c */
/* Finds the route of a path and a verb. If there is none, `ret_match->route` is NULL. */
void rest_find(struct slice path, enum rest_verb verb, struct rest_match *ret_match);
/* Decodes %XX (and `+` as a space, in a query) into the arena. ERR_INVALID if a `%` is not followed by
 * two hexadecimal digits. */
MUST_CHECK enum err rest_unescape(struct arena *arena, struct slice text, bool is_query,
                                  struct slice *ret_text);

/* rest_query.c: appends the members of a JSON object for the values of path and query; faults name the
 * parameter. */
MUST_CHECK enum err rest_write_parameters(struct ctx *ctx, const struct rest_match *match,
                                          struct slice query, struct buffer *json);

/* rest_message.c */
/* Appends the wire bytes of the request: path, query and body together. */
MUST_CHECK enum err rest_read_request(struct ctx *ctx, const struct rest_match *match,
                                      struct slice query, struct slice body, struct buffer *wire);
/* Appends the plain JSON of a reply, or the text of a stream's piece. */
MUST_CHECK enum err rest_write_reply(struct ctx *ctx, const struct rest_route *route,
                                     struct slice message, struct buffer *json);

#endif
