/*
 * errata/captures.h: corrections that are handed over and forgotten: a queue that takes them at once,
 * from any thread, and sends them in the background, each with an idempotency key of its own, until
 * the server has stored them. It is bounded in number, bytes and age: what it can't keep it drops, and
 * says so, each time and in its statistics. It lives in memory: what is queued when the program dies
 * is lost. A correction that must not be lost is sent by a call, which says when it is durable.
 *
 * The queue keeps the order of captures only roughly: several are under way at a time, and one that is
 * repeated comes behind. The server orders by `created_at` where it is given.
 */
#ifndef ERRATA_CAPTURES_H
#define ERRATA_CAPTURES_H

#include <errata/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct errata_captures;
struct Errata__V1__CaptureEventRequest; /* <errata/v1/correction_service.pb-c.h> */

enum errata_drop {
    ERRATA_DROP_FULL, /* the queue was full: errata_captures_add said ERRATA_BUSY */
    ERRATA_DROP_REFUSED, /* the server said that it will not take it; the status says why */
    ERRATA_DROP_EXPIRED, /* it was in the queue for age_ms_max and is not stored, as far as is known */
    ERRATA_DROP_CLOSED /* the queue was closed before it was sent */
};

/* Zero means the default. Start with errata_captures_config_init. */
struct errata_captures_config {
    uint32_t events_max; /* default 10,000 */
    size_t bytes_max; /* of all that are queued; default 64 MiB */
    uint32_t in_flight_max; /* default 16 */
    int64_t age_ms_max; /* default 600,000; at most 12 hours, since the server knows a key for 24 */
    /* Told of each capture that is dropped, but for ERRATA_DROP_FULL, which add says itself. On the
     * queue's thread; `request` are its wire bytes and `status` how the last attempt ended (NULL where
     * there was none), valid for the length of the callback. May be NULL. */
    void (*on_drop)(void *user, enum errata_drop why, struct errata_bytes request,
                    const struct errata_status *status);
    void *user;
};

ERRATA_API void errata_captures_config_init(struct errata_captures_config *config);

/* A queue with a thread, a loop and a channel of its own, for any program. Errors as
 * errata_channel_open. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_start(const struct errata_channel_config *channel,
                      const struct errata_captures_config *config, char *problem,
                      size_t problem_bytes, struct errata_captures **ret_captures);
/* A queue over the caller's channel, on its loop. The channel outlives it. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_open(struct errata_channel *channel, const struct errata_captures_config *config,
                     struct errata_captures **ret_captures);

/* Takes a capture, which is packed and so copied; any thread. ERRATA_BUSY: the queue is full, the
 * capture was dropped and counted. ERRATA_ENDED after stop or close, ERRATA_TOO_LARGE (1 MiB),
 * ERRATA_MEMORY. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_add(struct errata_captures *captures,
                    const struct Errata__V1__CaptureEventRequest *request);

struct errata_captures_statistics {
    uint32_t queued; /* waiting or under way */
    size_t queued_bytes;
    uint64_t added;
    uint64_t stored; /* the server said so */
    uint64_t dropped[4]; /* by enum errata_drop */
    uint64_t repeats; /* attempts beyond the first */
};
/* Any thread. added = queued + stored + the dropped ones but those of ERRATA_DROP_FULL. */
ERRATA_API void errata_captures_read_statistics(struct errata_captures *captures,
                                                struct errata_captures_statistics *ret_statistics);

/* Of a queue of errata_captures_start: takes no more, sends what is queued for at most `drain_ms`,
 * drops the rest (ERRATA_DROP_CLOSED), ends the thread and frees the queue; returns when that is done.
 * `ret_statistics`, which may be NULL, gets the last figures. */
ERRATA_API void errata_captures_stop(struct errata_captures *take_captures, int64_t drain_ms,
                                     struct errata_captures_statistics *ret_statistics);
/* Of a queue of errata_captures_open, on the loop's thread: the same without waiting; `on_closed`
 * (which may be NULL) comes when it is done. */
ERRATA_API void errata_captures_close(
    struct errata_captures *take_captures, int64_t drain_ms,
    void (*on_closed)(void *user, const struct errata_captures_statistics *statistics), void *user);

#ifdef __cplusplus
}
#endif

#endif
