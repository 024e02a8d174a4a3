/*
 * http1_response.h: writes the heads of responses (RFC 9112, 4).
 */
#ifndef ERRATA_SERVER_HTTP1_HTTP1_RESPONSE_H
#define ERRATA_SERVER_HTTP1_HTTP1_RESPONSE_H

#include "server/connect/connect.h"

/* Room for the Date field's value. */
#define HTTP1_DATE_BYTES 32

/* Writes the time as an IMF-fixdate (RFC 9110, 5.6.7). */
void http1_format_date(int64_t wall_us, char date[HTTP1_DATE_BYTES]);
/* Appends the head of a response with its content-length. A field with a control character in its
 * value is left out. */
void http1_write_head(struct buffer *head, const struct connect_response *response, int64_t wall_us,
                      bool closes);

#endif
