/*
 * errata/captures.h: corrections that are handed over and forgotten: a queue that takes them at once,
 * from any thread, and sends them in the background until the server has stored them. It is bounded in
 * number, bytes and age: what it can't keep it drops, and says so, each time and in its statistics. It
 * lives in memory: what is queued when the program dies is lost. A correction that must not be lost is
 * sent by a call, which says when it is durable.
 *
 * A capture gets its idempotency key when it is added, and every attempt carries that key, so that it
 * is stored once however often its answer is lost. (The server knows a key by the token that it came
 * with: a capture whose answer was lost and whose token was replaced then may be stored twice.)
 *
 * Captures are sent in the order in which they were added, several at a time; one that is repeated
 * comes behind. The server orders examples by `created_at`, which it stamps when it stores.
 */
#ifndef ERRATA_CAPTURES_H
#define ERRATA_CAPTURES_H

#include <errata/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s;
struct errata_captures;
struct Errata__V1__CaptureFeedbackEventRequest; /* <errata/v1/feedback_service.pb-c.h> */

/*
 * What becomes of a capture whose call did not end with OK:
 *
 *   - the server refused it, by INVALID_ARGUMENT, PERMISSION_DENIED, NOT_FOUND, FAILED_PRECONDITION and
 *     the like: it is dropped;
 *   - the server can't be reached, does not answer, has too much to do (UNAVAILABLE, DEADLINE_EXCEEDED,
 *     any error with RetryInfo): it is kept. The whole queue waits, from 0.1 to 5 seconds or as long as
 *     the server asks for, then tries one capture, and more as they succeed;
 *   - the server does not accept the token (UNAUTHENTICATED): likewise, since a token can be replaced
 *     and a correction cannot. The channel reads its token file again;
 *   - the server failed at this one (INTERNAL, UNKNOWN, ABORTED and the like): it waits by itself,
 *     for 1, 4, 16 and 60 seconds; the others go on. The fifth time it counts as refused.
 */
enum errata_drop {
    ERRATA_DROP_FULL, /* the queue was full: errata_captures_add said ERRATA_BUSY */
    ERRATA_DROP_REFUSED, /* the server will not take it; the status says why */
    ERRATA_DROP_EXPIRED, /* it was in the queue for age_ms_max and is not stored, as far as is known */
    ERRATA_DROP_CLOSED /* the queue ended; it is not stored, as far as is known */
};

/* Initialize it with errata_captures_config_init, then set members; zero means the default. Later
 * versions of the library add members at the end. */
struct errata_captures_config {
    size_t struct_bytes; /* set by errata_captures_config_init */
    uint32_t events_max; /* default 10,000, at most 10,000,000 */
    size_t bytes_max; /* of the requests that are queued; default 64 MiB. A capture costs some 120
                         bytes more, and while it is under way its channel has a copy */
    uint32_t in_flight_max; /* default 16, at most 1,000 */
    int64_t age_ms_max; /* default 600,000; at most 12 hours, since the server knows a key for 24 */
    /* Called for each capture that is dropped, on the queue's thread, after the drop was counted;
     * not for ERRATA_DROP_FULL, which errata_captures_add returns as ERRATA_BUSY. `request` holds the
     * capture's wire bytes. `status` is the end of its call; if the capture was waiting, or the queue
     * cancelled its call to drop it, the last failure of any call: UNAVAILABLE with the address and the
     * system's reason if the server cannot be reached. NULL if the capture was not sent and no call
     * has failed. Both are valid until the callback returns. The callback may add captures, read
     * statistics and close the queue; it must not stop it. May be NULL. */
    void (*on_drop)(void *user, enum errata_drop why, struct errata_bytes request,
                    const struct errata_status *status);
    void *user;
};

/* Sets all members to their defaults. */
static inline void errata_captures_config_init(struct errata_captures_config *config)
{
    memset(config, 0, sizeof(*config));
    config->struct_bytes = sizeof(*config);
}

/* A queue with a thread, a loop and a channel of its own, for any program; NULL configurations are all
 * defaults. Errors as errata_channel_open. The thread handles no signals, and the program need not
 * ignore SIGPIPE for it. A child made by fork has the memory of the queue and not its thread: the
 * parent goes on to send what is queued, while the child leaves the queue alone (it neither adds nor
 * stops) and starts one of its own. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_start(const struct errata_channel_config *channel,
                      const struct errata_captures_config *config, char *problem,
                      size_t problem_bytes, struct errata_captures **ret_captures);
/* A queue over the caller's channel, on the channel's loop, which it keeps alive until it is closed.
 * The channel outlives it, and may have other calls. ERRATA_INVALID for a number out of its range,
 * ERRATA_MEMORY. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_open(struct uv_loop_s *loop, struct errata_channel *channel,
                     const struct errata_captures_config *config,
                     struct errata_captures **ret_captures);

/* The largest capture that is taken, packed. What is larger is a matter for a call. */
#define ERRATA_CAPTURE_BYTES_MAX ((size_t)1 << 20)

/* Takes a capture, which is packed and so copied, and returns at once; any thread. ERRATA_BUSY: the
 * queue is full, the capture was dropped and counted. ERRATA_ENDED after stop or close,
 * ERRATA_TOO_LARGE, ERRATA_MEMORY. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_add(struct errata_captures *captures,
                    const struct Errata__V1__CaptureFeedbackEventRequest *request);

struct errata_captures_statistics {
    uint32_t queued; /* waiting or under way */
    size_t queued_bytes;
    uint64_t added;
    uint64_t stored; /* the server said so */
    uint64_t dropped[4]; /* by enum errata_drop */
    uint64_t repeats; /* attempts beyond the first, of all captures */
    enum errata_code last_code; /* how the last call ended; OK before there was any */
};
/* Any thread. At any moment
 *   added = queued + stored + dropped[REFUSED] + dropped[EXPIRED] + dropped[CLOSED];
 * dropped[FULL] were never added. */
ERRATA_API void errata_captures_read_statistics(struct errata_captures *captures,
                                                struct errata_captures_statistics *ret_statistics);

/* Of a queue of errata_captures_start: the token of attempts from now on; NULL: none. Any thread.
 * ERRATA_INVALID for what is no token or for a queue over the caller's channel, whose token the caller
 * sets; ERRATA_MEMORY, ERRATA_ENDED after stop. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_set_token(struct errata_captures *captures, const char *token);

/* Of a queue of errata_captures_start: takes no more, sends what is queued for at most `drain_ms`,
 * drops the rest (ERRATA_DROP_CLOSED), ends the thread and frees the queue; returns when that is done.
 * `ret_statistics`, which may be NULL, gets the last figures. Threads that add meanwhile are told
 * ERRATA_ENDED; by the time this returns none may still add. Not from on_drop. NULL does nothing. */
ERRATA_API void errata_captures_stop(struct errata_captures *take_captures, int64_t drain_ms,
                                     struct errata_captures_statistics *ret_statistics);
/* Of a queue of errata_captures_open, on the loop's thread, once: the same without waiting. `on_closed`
 * (which may be NULL) comes in a later turn, when it is done: then the channel may be closed. */
ERRATA_API void errata_captures_close(
    struct errata_captures *take_captures, int64_t drain_ms,
    void (*on_closed)(void *user, const struct errata_captures_statistics *statistics), void *user);

#ifdef __cplusplus
}
#endif

#endif
