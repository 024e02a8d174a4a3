/*
 * connect_error.h: errors in the form of Connect, which plain JSON also uses.
 */
#ifndef ERRATA_SERVER_CONNECT_CONNECT_ERROR_H
#define ERRATA_SERVER_CONNECT_CONNECT_ERROR_H

#include "server/call/protocol.h"

/* Returns the HTTP status of a code. */
unsigned connect_http_status(enum status_code code);
/* Appends the JSON of the call's status. */
void connect_write_error(const struct call_core *core, struct buffer *json);

#endif
