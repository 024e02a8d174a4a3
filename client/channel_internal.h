/*
 * channel_internal.h: declarations shared by the files of the lasting channel: channel.c (its
 * states, its steps and the operations of users), channel_call.c (a call from its start to its
 * end), channel_link.c (connections).
 *
 * A call is in exactly one list, by its state, and always among the deadlines: so the cost of a
 * step depends on the calls that are due, not on all calls. An attempt links a call and a
 * connection until either is gone: a call ends without waiting for its connection, and a connection
 * is closed without waiting for its calls.
 */
#ifndef ERRATA_CLIENT_CHANNEL_INTERNAL_H
#define ERRATA_CLIENT_CHANNEL_INTERNAL_H

#include "client/channel.h"
#include "client/deadlines.h"
#include "client/retry.h"
#include "store/base/uuid.h"

/* Room for the reason why there is no connection: a host name and a few words. */
#define CHANNEL_REASON_BYTES 512
/* Maximum bytes of a line of the log, with its NUL: a method, a reason and a status's message. */
#define CHANNEL_LOG_BYTES 1024
/* Deadline of a call without a deadline. */
#define CHANNEL_NEVER INT64_MAX

enum call_state {
    CALL_WAITING, /* waits for a connection */
    CALL_SLEEPING, /* waits before it is repeated */
    CALL_UNDER_WAY, /* has a running attempt */
    CALL_ENDED, /* on_end must be called */
    CALL_LISTS, /* the states above have a list each */
    CALL_TELLING /* in on_end, and not in any list */
};

/* Reason for the end of a call that the channel ended itself. */
enum call_end {
    CALL_END_CANCELLED,
    CALL_END_SHUT,
    CALL_END_LATE, /* the deadline passed during an attempt */
    CALL_END_LATE_WAITING, /* the deadline passed while there was no connection */
    CALL_END_UNREACHED, /* no connection could be established */
    CALL_END_NOT_TAKEN /* a connection did not take it; `refusal` is the reason */
};

struct lasting_call {
    struct client_deadline
        wake; /* must be the first member: the deadline, or the end of the wait before a retry */
    struct lasting_call *next; /* next in the list of its state */
    struct lasting_call *previous;
    struct lasting_channel *channel;
    const struct method_info *method;
    struct client_handlers handlers;
    enum call_state state;
    int64_t deadline_ms; /* CHANNEL_NEVER if the call has no deadline */
    struct channel_attempt *attempt; /* attempt of a call in CALL_UNDER_WAY */
    uint32_t attempts; /* number of attempts started on a connection */
    uint32_t failures; /* failed connection attempts that count for this call */
    uint32_t attempts_max; /* limit of the sum of both */
    bool wait_for_ready;
    bool gzip;
    bool paused;
    bool seen; /* the server may have seen it */
    bool replied; /* a reply was reported */
    bool committed; /* the call must not be repeated */
    bool
        token_refreshed; /* the token was read again after UNAUTHENTICATED, which is done at most once per call */
    uint32_t token_version; /* version of the channel's token when the last attempt started */
    /* Members for a client stream. */
    bool half_closed;
    bool owes_room; /* on_writable must be called when an attempt has room */
    /* Reason for the end of a call in CALL_ENDED. */
    enum call_end end;
    enum err refusal;
    /* The request. */
    uint8_t *request; /* owned; NULL once it cannot be repeated */
    size_t request_bytes;
    struct slice key; /* idempotency key of a write; also a value in the metadata */
    size_t metadata_count;
    struct client_metadata metadata[]; /* the texts follow the last entry */
};

struct channel_attempt {
    struct lasting_call *call; /* NULL once the call has ended or continues without it */
    struct channel_link *link; /* NULL once the connection is closed */
    struct client_call *inner; /* the connection's call, until its on_end */
    struct channel_attempt *next; /* in the link's list */
    struct channel_attempt *previous;
};

enum link_state {
    LINK_CONNECTING,
    LINK_READY,
    LINK_RETIRED /* accepts no new calls; closed after its running calls */
};

/* State of one connection, from opening to closing. */
struct channel_link {
    struct lasting_channel *channel;
    struct client_channel *connection; /* owned by the connector, released by its close */
    struct channel_attempt *attempts; /* newest first; includes attempts of ended calls */
    enum link_state state;
    bool used; /* an attempt was started on it */
    bool answered; /* the server answered on it */
    bool full; /* accepts no more calls until one ends */
};

struct call_list {
    struct lasting_call *first;
    struct lasting_call *last;
};

struct lasting_channel {
    struct client_channel base; /* must be the first member: the public part */
    struct client_channel_config config;
    struct call_list lists[CALL_LISTS];
    struct client_deadlines wakes; /* deadlines and waits of all calls that have not ended */
    struct client_retry_bucket bucket;
    struct channel_link *link; /* connection in CONNECTING or READY; NULL: none */
    /* Oldest first. A step closes the oldest one if there are too many before it opens a link, so
     * there is always room for the next one. */
    struct channel_link *retired[CLIENT_DRAINING_MAX + 1];
    size_t retired_count;
    uint32_t fruitless; /* consecutive connections without any answer of the server */
    int64_t next_try_ms; /* earliest time of the next connection attempt */
    char reason
        [CHANNEL_REASON_BYTES]; /* reason for the last loss or failed attempt; empty: none yet */
    struct client_channel_statistics statistics;
    uint32_t token_version; /* number of different tokens used by attempts */
    int64_t promised_ms; /* time requested by the last step for the next one; CHANNEL_NEVER: none */
    bool shut;
};

static inline struct lasting_call *lasting_of(struct client_call *call)
{
    return (struct lasting_call *)call;
}

/* --- channel.c --- */

int64_t channel_now_ms(const struct lasting_channel *channel);
void channel_wake(struct lasting_channel *channel);
/* Logs a line; what is over CHANNEL_LOG_BYTES is cut. */
void channel_log(const struct lasting_channel *channel, enum errata_log_level level,
                 const char *format, ...) PRINTF_LIKE(3, 4);

/* --- channel_call.c --- */

/* Creates a waiting call; the request and the metadata are copied. ERR_INVALID, ERR_TOO_LARGE,
 * ERR_MEMORY. */
MUST_CHECK enum err call_new(struct lasting_channel *channel, const struct method_info *method,
                             struct slice request, const struct client_options *options,
                             const struct client_handlers *handlers,
                             struct lasting_call **ret_call);
/* Removes a call from all lists and frees it. */
void call_free(struct lasting_call *call);
/* Puts a call into the list of another state. */
void call_move(struct lasting_call *call, enum call_state state);
/* Starts an attempt of a waiting call. ERR_BUSY and ERR_UNAVAILABLE: not on this connection, or not
 * now; other errors: it will never be taken. */
MUST_CHECK enum err call_begin_attempt(struct lasting_call *call, struct channel_link *link);
/* Ends a running call; the next step reports it. */
void call_end_by(struct lasting_call *call, enum call_end end);
/* Handles the end of a call's attempt: ends the call immediately, or schedules a repeat. */
void call_attempt_over(struct lasting_call *call, const struct client_status *status,
                       bool link_is_ready);
/* Handles a connection attempt that failed while the call waited for it. */
void call_count_failure(struct lasting_call *call);
/* Handles the call with the earliest deadline, if that is due. */
void call_expire(struct lasting_call *call, int64_t now_ms);
/* Reports the end of a call of CALL_ENDED, and frees it. */
void call_report_end(struct lasting_call *call);

/* --- channel_link.c --- */

/* Opens and closes connections that are due. */
void channel_keep_links(struct lasting_channel *channel, int64_t now_ms);
void channel_close_links(struct lasting_channel *channel);
/* Returns whether a call needs a connection. */
bool channel_wants_link(const struct lasting_channel *channel);
/* Returns whether a call can be started at once, without overtaking a waiting one. */
bool channel_is_ready(const struct lasting_channel *channel);

#endif
