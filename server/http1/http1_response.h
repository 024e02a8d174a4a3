/*
 * http1_response.h: writes the heads of responses (RFC 9112, 4).
 */
#ifndef ERRATA_SERVER_HTTP1_HTTP1_RESPONSE_H
#define ERRATA_SERVER_HTTP1_HTTP1_RESPONSE_H

#include "server/http/http.h"

/* Room for the Date field's value. */
#define HTTP1_DATE_BYTES 32

/* Writes the time as an IMF-fixdate (RFC 9110, 5.6.7). */
void http1_format_date(int64_t wall_us, char date[HTTP1_DATE_BYTES]);
/* Bytes that a piece of a chunked body may add: its line, the line end after it, and the last chunk. */
#define HTTP1_CHUNK_ROOM_BYTES 32

/* Appends the head of a response: with its content-length, or chunked. */
void http1_write_head(struct buffer *to, const struct http_head *head, int64_t wall_us,
                      bool closes);
/* Writes the line of a chunk of this size, which is not 0; returns its size. */
size_t http1_write_chunk_line(uint8_t *to, size_t size);

#endif
