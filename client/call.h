/*
 * call.h: one call of a session: its request, the received part of the response, and its end. A
 * call exists from its start until its end was reported and its HTTP/2 stream is closed, whichever
 * is later. Internal to the client: session.c manages calls, call.c interprets responses.
 */
#ifndef ERRATA_CLIENT_CALL_H
#define ERRATA_CLIENT_CALL_H

#include "client/deadlines.h"
#include "client/message.h"
#include "client/outbox.h"
#include "client/session.h"
#include "store/base/arena.h"

#include <nghttp2/nghttp2.h>

/* Zeroed: empty. */
struct session_list {
    struct client_call *first; /* the oldest */
    struct client_call *last;
    size_t count;
};

struct client_call {
    struct session_list *list; /* list of the session that contains the call */
    struct client_call *next;
    struct client_call *previous;
    struct client_call *next_news; /* next in the session's list of calls to report */
    struct client_session *session;
    const struct method_info *method;
    struct client_handlers handlers;
    struct client_deadline deadline; /* entry in the session's heap, if the call has a deadline */
    int32_t stream_id; /* 0 until the call gets a stream */
    /* The request. */
    nghttp2_nv *request_fields; /* owned: while it waits for a stream; else NULL */
    size_t request_field_count;
    struct client_outbox outbox; /* messages that have not been sent yet */
    bool gzip; /* messages are compressed */
    bool half_closed; /* no more messages are added */
    bool request_ended; /* the last of them was handed to nghttp2, with the stream's end */
    bool
        owes_room; /* on_writable must be called when fewer than CLIENT_SEND_BYTES_HIGH bytes wait */
    /* The response. */
    struct arena arena; /* memory of header fields and of the status's messages */
    struct client_metadata fields[CLIENT_HEADER_FIELDS_MAX];
    size_t field_count;
    size_t header_bytes;
    int http_status; /* status of the current header block; 0: none yet */
    bool grpc_content; /* content-type was application/grpc */
    bool headers_done; /* the first final header block is complete */
    bool has_code; /* grpc-status has been received */
    uint32_t code; /* valid if has_code or ended */
    struct slice message;
    struct slice details;
    bool unknown_encoding; /* grpc-encoding is neither identity nor gzip */
    struct client_reader reader;
    size_t reply_count;
    uint8_t *held; /* owned: bytes that came while it was paused, at most the stream's window */
    size_t held_bytes;
    /* State of the call. */
    bool paused;
    bool in_news; /* in the list of calls to report */
    bool answered; /* the server's side is complete; the end waits for held bytes */
    bool ended; /* code, message and details are final */
    bool from_server;
    bool reported; /* on_end has been called */
    bool headers_sent; /* the first bytes of the request were handed out: the server may see it */
    bool refused; /* the server reported that it did nothing for the call */
    bool was_reset; /* this side has closed the stream */
    bool stream_open; /* nghttp2 may still report events of this call */
};

/* Processes one field of the response's headers or trailers. ERR_TOO_LARGE, ERR_MEMORY. */
MUST_CHECK enum err call_take_field(struct client_call *call, struct slice name,
                                    struct slice value);
/* Handles the complete first header block; returns true if messages may follow, else the call has
 * its code. */
bool call_headers_done(struct client_call *call);
/* Sets the end of the call, once. The message is copied. */
void call_set_end(struct client_call *call, uint32_t code, const char *message, bool from_server);
/* Sets the end of the call after the server's side is complete and every byte was read. */
void call_conclude(struct client_call *call);
/* Reads messages out of bytes and reports them, until the call is paused or ends. Returns the rest. */
struct slice call_take_bytes(struct client_call *call, struct slice bytes);

#endif
