/*
 * session_internal.h: declarations shared by session.c, which handles the caller's operations, and
 * session_frames.c, which handles the server's frames.
 */
#ifndef ERRATA_CLIENT_SESSION_INTERNAL_H
#define ERRATA_CLIENT_SESSION_INTERNAL_H

#include "client/call.h"
#include "client/keepalive.h"

#include <nghttp2/nghttp2.h>

struct client_session {
    nghttp2_session *http2;
    uint8_t *texts; /* owned: authority, then user agent */
    uint8_t *token; /* owned: with "Bearer " in front; NULL: none */
    struct client_session_config config; /* slices are borrowed from `texts` and `token` */
    struct session_list calls; /* calls that have a stream, or that have ended; oldest first */
    struct session_list waiting; /* calls that wait for a stream; oldest first */
    size_t unreported; /* number of calls in both lists whose end has not been reported */
    size_t streams; /* number of streams that are open or about to be opened */
    struct client_deadlines deadlines; /* deadlines of the calls */
    struct client_keepalive keepalive;
    struct client_call *news_first; /* calls to report, oldest first */
    struct client_call *news_last;
    const uint8_t *unsent; /* owned by nghttp2, valid until its next mem_send */
    size_t unsent_bytes;
    bool ready; /* the server's SETTINGS were received */
    bool closing; /* GOAWAY was received, or no stream ids are left */
    bool dead; /* the connection is gone; nghttp2 is not entered any more */
    uint32_t dead_code;
    char dead_message[CLIENT_REASON_BYTES];
};

void session_add_news(struct client_session *session, struct client_call *call);
/* Removes the call from all lists, and frees it. */
void session_free_call(struct client_session *session, struct client_call *call);
/* Closes the stream from this side. */
void session_reset(struct client_session *session, struct client_call *call);
/* Sets the call's end: closes the stream from this side; the end is reported later. */
void session_settle(struct client_session *session, struct client_call *call);
/* Ends the calls that wait for a stream. */
void session_end_waiting(struct client_session *session, uint32_t code, const char *message);
/* Returns whether on_writable is due and there is room. */
bool call_owes_room_now(const struct client_call *call);

/* Creates the HTTP/2 side of a session. ERR_MEMORY. */
MUST_CHECK enum err session_open_http2(struct client_session *session);
/* Submits a call with these fields to nghttp2: opens its stream, or sets the call's end.
 * ERR_MEMORY. */
MUST_CHECK enum err session_open_stream(struct client_session *session, struct client_call *call,
                                        const nghttp2_nv *fields, size_t count);

#endif
