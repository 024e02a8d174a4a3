/*
 * http1_internal.h: functions shared by the files of the parser.
 */
#ifndef ERRATA_SERVER_HTTP1_HTTP1_INTERNAL_H
#define ERRATA_SERVER_HTTP1_HTTP1_INTERNAL_H

#include "server/http1/http1_parser.h"

/* Refuses the request; from then on every event is HTTP1_REFUSED. */
void http1_refuse(struct http1_parser *parser, enum http1_refusal refusal);
/* Returns whether a byte may be part of a token (RFC 9110, 5.6.2). */
bool http1_is_token_byte(uint8_t byte);
/* Compares without regard to the case of ASCII letters; `lower` is in lower case. */
bool http1_equals_lower(struct slice text, struct slice lower);
/* http1_fields.c */
/* Reads the line of a field; true if it is an event, false if it concerns framing or is refused. */
bool http1_take_field(struct http1_parser *parser, struct http1_event *ret_event);
/* Checks the fields together, and begins the body. */
void http1_end_fields(struct http1_parser *parser);
/* Reads the line of a trailer field, which is ignored. */
void http1_take_trailer(struct http1_parser *parser);
/* http1_body.c */
/* Consumes bytes of a body or a chunk; returns their number. */
size_t http1_take_body(struct http1_parser *parser, struct slice bytes,
                       struct http1_event *ret_event);
/* Reads the line of a chunk. */
void http1_take_chunk_line(struct http1_parser *parser);

#endif
