/*
 * session.h: the client's side of one HTTP/2 connection, sans-IO: calls in, bytes out; bytes in,
 * replies and ends out. Uses nghttp2, but no socket, clock or libuv (see connection.c), so that a
 * test can act as its peer byte by byte. Not for users, who use connection.h.
 *
 * Ends, and room for messages of a client stream, are queued and reported by client_session_report;
 * replies are reported while bytes are fed. From each callback every function here may be called but
 * feed, drain, report and free.
 */
#ifndef ERRATA_CLIENT_SESSION_H
#define ERRATA_CLIENT_SESSION_H

#include "client/stub.h"

/* Maximum calls of one connection. The server allows about a hundred at a time; the others wait
 * here. More than this indicates a bug of the caller. */
#define CLIENT_CALLS_MAX 10000
/* Maximum bytes of names and values of one response's headers and trailers: 16 KiB of details as
 * base64, and as much again. */
#define CLIENT_HEADER_BYTES_MAX ((size_t)64 * 1024)
/* Maximum fields of one answer's headers and trailers. */
#define CLIENT_HEADER_FIELDS_MAX 128
/* Maximum metadata entries of one call, in addition to those of the channel. */
#define CLIENT_METADATA_MAX 64
/* Flow-control windows: that of a stream bounds its memory; that of the connection is reopened at
 * once, so that a paused call does not block others. */
#define CLIENT_STREAM_WINDOW_BYTES ((int32_t)256 * 1024)
#define CLIENT_CONNECTION_WINDOW_BYTES ((int32_t)1024 * 1024)
/* Room for the reason why a connection was lost: a host name and a few words. */
#define CLIENT_REASON_BYTES 512

struct client_session;

struct client_session_config {
    struct slice authority; /* the `:authority` of requests */
    bool secure; /* the `:scheme` of requests is https */
    struct slice token; /* bearer token of each call, or empty */
    struct slice user_agent;
    size_t reply_bytes_max; /* maximum size of one reply message */
    size_t request_bytes_max; /* maximum size of one request message */
    int64_t keepalive_ms; /* silence_ms of keepalive.h; 0: never */
    int64_t keepalive_timeout_ms;
};

/* A call to start: the arguments of stub.h's start. */
struct client_session_call {
    const struct method_info *method;
    struct slice request;
    const struct client_options *options; /* NULL: none */
    const struct client_handlers *handlers;
    int64_t deadline_ms; /* time at which the call ends, by the caller's clock; 0: never */
};

/* Copies the configuration. */
MUST_CHECK enum err client_session_new(const struct client_session_config *config,
                                       struct client_session **ret_session);
/* All calls must have ended and been reported. NULL does nothing. */
void client_session_free(struct client_session *session);
/* Sets the token of later calls; empty: none. On ERR_MEMORY the old one is kept. */
MUST_CHECK enum err client_session_set_token(struct client_session *session, struct slice token);

/* Starts a call. ERR_INVALID for metadata that may not be sent, or for a client stream with a
 * request; ERR_TOO_LARGE, ERR_MEMORY, ERR_BUSY over CLIENT_CALLS_MAX. Later failures, also a lost
 * connection, are reported by on_end. */
MUST_CHECK enum err client_session_start(struct client_session *session,
                                         const struct client_session_call *start,
                                         struct client_call **ret_call);
/* Sends one message of a client stream, like stub.h's send. Returns ERR_BUSY, ERR_CANCELLED;
 * ERR_INVALID after the half-close, and for a call that is not a client stream; ERR_TOO_LARGE or
 * ERR_MEMORY if the message was not taken, in which case the call continues. */
MUST_CHECK enum err client_session_send(struct client_session *session, struct client_call *call,
                                        struct slice message);
/* Ends the messages of a client stream. Returns ERR_CANCELLED or ERR_INVALID, like
 * client_session_send. */
MUST_CHECK enum err client_session_half_close(struct client_session *session,
                                              struct client_call *call);
/* Ends a call from this side. Does nothing if the call has already ended. */
void client_session_end(struct client_session *session, struct client_call *call, uint32_t code,
                        const char *message);
/* Ends every call that has not ended, including paused ones. */
void client_session_end_all(struct client_session *session, uint32_t code, const char *message);
void client_session_pause(struct client_call *call);
/* Resumes a paused call: the next report delivers the held replies. */
void client_session_resume(struct client_call *call);

/* Takes bytes from the server. ERR_MALFORMED, ERR_MEMORY, or ERR_UNAVAILABLE after
 * client_session_fail: the connection is unusable. */
MUST_CHECK enum err client_session_feed(struct client_session *session, struct slice bytes);
/* Writes the output, at most `capacity` bytes; returns its size, 0 if there is none. */
size_t client_session_drain(struct client_session *session, uint8_t *bytes, size_t capacity);
/* Ends all current and later calls because the connection is lost; `message` is the reason. */
void client_session_fail(struct client_session *session, uint32_t code, const char *message);
/* Does the work that is due at `now_ms`: ends calls whose deadline is at or before it, sends a PING
 * to a silent server while calls are running, and fails if it was not answered. It also records
 * when bytes were received, so call it in each turn in which some were fed. Returns the latest time
 * of the next call; 0: not before another event. */
int64_t client_session_tick(struct client_session *session, int64_t now_ms);
/* Reports replies that were held back, room for messages, and ends. */
void client_session_report(struct client_session *session);

/* Returns whether something waits for client_session_report. */
bool client_session_has_news(const struct client_session *session);
/* Returns whether the server's SETTINGS were received; calls wait until then. */
bool client_session_is_ready(const struct client_session *session);
/* Returns whether the server sent GOAWAY, so that it accepts no new calls. */
bool client_session_is_draining(const struct client_session *session);
/* Returns whether this is so or the connection is lost: new calls then end with UNAVAILABLE. */
bool client_session_is_closing(const struct client_session *session);
/* Returns whether nothing more will be read or sent: the last call after GOAWAY has ended, or (if
 * the session is not closing) the peer violated HTTP/2, which was reported to it. */
bool client_session_is_over(const struct client_session *session);
/* Returns why the connection is lost; empty if it is not. Valid as long as the session. */
struct slice client_session_reason(const struct client_session *session);
/* Return the number of calls whose end was not reported, and of these and those whose streams are
 * not closed yet. */
size_t client_session_calls_under_way(const struct client_session *session);
size_t client_session_call_count(const struct client_session *session);

#endif
