/*
 * errata/captures.h: a queue of corrections that are stored in the background. Any thread adds a correction
 * without waiting; the queue sends it until the server has stored it. Reviews of runs are queued in the same way.
 *
 * The queue is limited in number, bytes and age. Corrections that exceed a limit are dropped; each drop is
 * reported and counted. The queue is in memory: corrections that are queued when the program dies are
 * lost. A correction that must not be lost is sent by a call, whose end reports that it is durable.
 *
 * A capture gets its idempotency key when it is added, and keeps it in each attempt: it is stored once,
 * even if answers are lost. (The server knows a key together with the token: a capture whose answer was
 * lost and whose token was then replaced may be stored twice.)
 *
 * Captures are sent in the order in which they were added, several at a time; a repeated one follows the
 * others. The server orders examples by `created_at`, which it sets when it stores.
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
struct Errata__V1__SubmitReviewRequest; /* <errata/v1/review_service.pb-c.h> */

/*
 * The queue handles a capture whose call failed by the status:
 *
 *   - INVALID_ARGUMENT, PERMISSION_DENIED, NOT_FOUND, FAILED_PRECONDITION and similar: the server refuses
 *     the capture; it is dropped;
 *   - the server is unreachable, does not answer or is overloaded (UNAVAILABLE, DEADLINE_EXCEEDED, any error
 *     with RetryInfo): the capture is kept. The whole queue waits, from 0.1 to 5 seconds or as long
 *   as the server requests, then tries one capture, and more as they succeed;
 *   - UNAUTHENTICATED: the same, since a token can be replaced. The channel reads its token file again;
 *   - INTERNAL, UNKNOWN, ABORTED and similar: the server failed at this capture. It waits 1, 4, 16 and 60
 *     seconds; the others continue. The fifth failure counts as a refusal.
 */
enum errata_drop {
    ERRATA_DROP_FULL, /* the queue was full: errata_captures_add returned ERRATA_BUSY */
    ERRATA_DROP_REFUSED, /* the server refused it; the status has the reason */
    ERRATA_DROP_EXPIRED, /* it was not confirmed as stored within age_ms_max */
    ERRATA_DROP_CLOSED /* it was not confirmed as stored before the queue ended */
};

/* Initialize it with errata_captures_config_init, then set members; zero means the default. Later
 * versions of the library add members at the end. */
struct errata_captures_config {
    size_t struct_bytes; /* set by errata_captures_config_init */
    uint32_t events_max; /* default 10,000, at most 10,000,000 */
    size_t
        bytes_max; /* maximum size of the queued requests; default 64 MiB. A capture needs about 120 bytes more, and its channel holds a copy while it is sent */
    uint32_t in_flight_max; /* maximum concurrent calls; default 16, at most 1,000 */
    int64_t
        age_ms_max; /* default 600,000; at most 12 hours, since the server remembers a key for 24 */
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
    /* Does the same for a review that is dropped, whose wire bytes are a SubmitReviewRequest. May be NULL. */
    void (*on_drop_review)(void *user, enum errata_drop why, struct errata_bytes request,
                           const struct errata_status *status);
};

/* Sets all members to their defaults. */
static inline void errata_captures_config_init(struct errata_captures_config *config)
{
    memset(config, 0, sizeof(*config));
    config->struct_bytes = sizeof(*config);
}

/* Starts a queue with its own thread, loop and channel, for any program. NULL configurations mean the
 * defaults. Errors are those of errata_channel_open. The thread handles no signals, and the program need
 * not ignore SIGPIPE for it. After fork, the parent continues to send what is queued; the child must
 * neither add to nor stop the queue, and may start another one. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_start(const struct errata_channel_config *channel,
                      const struct errata_captures_config *config, char *problem,
                      size_t problem_bytes, struct errata_captures **ret_captures);
/* Opens a queue over the caller's channel, on the channel's loop, which it keeps alive until it is closed.
 * The channel must outlive it, and may have other calls. Returns ERRATA_INVALID for a number that is out
 * of range, ERRATA_MEMORY. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_open(struct uv_loop_s *loop, struct errata_channel *channel,
                     const struct errata_captures_config *config,
                     struct errata_captures **ret_captures);

/* The largest capture, packed. Send a larger one by a call. */
#define ERRATA_CAPTURE_BYTES_MAX ((size_t)1 << 20)

/* Adds a capture, which is packed and so copied, and returns at once. Any thread. Returns ERRATA_BUSY if the
 * queue is full (the capture was dropped and counted), ERRATA_ENDED after stop or close, ERRATA_TOO_LARGE,
 * ERRATA_MEMORY, ERRATA_INVALID for NULL. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_add(struct errata_captures *captures,
                    const struct Errata__V1__CaptureFeedbackEventRequest *request);

/* Queues a review in the same way, so that a run neither waits for it nor fails with it. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_add_review(struct errata_captures *captures,
                           const struct Errata__V1__SubmitReviewRequest *request);

struct errata_captures_statistics {
    uint32_t queued; /* waiting or being sent */
    size_t queued_bytes;
    uint64_t added;
    uint64_t stored; /* captures confirmed by the server */
    uint64_t dropped[4]; /* dropped captures, indexed by enum errata_drop */
    uint64_t repeats; /* attempts after the first one, over all captures */
    enum errata_code last_code; /* result of the last call; OK before the first one */
    uint64_t reserved[4]; /* zero; reserved for members of later versions */
};
/* Reads the counters. Any thread. At any time,
 *   added = queued + stored + dropped[REFUSED] + dropped[EXPIRED] + dropped[CLOSED];
 * dropped[FULL] were never added. */
ERRATA_API void errata_captures_read_statistics(struct errata_captures *captures,
                                                struct errata_captures_statistics *ret_statistics);

/* Sets the token of attempts that start from now on, for a queue of errata_captures_start; NULL: none. Any
 * thread. It replaces a token file, which is not read again. Returns ERRATA_INVALID for a malformed token
 * and for a queue over the caller's channel (use errata_channel_set_token), ERRATA_MEMORY, ERRATA_ENDED
 * after stop. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_captures_set_token(struct errata_captures *captures, const char *token);

/* Stops a queue of errata_captures_start: sends what is queued for at most `drain_ms`, drops the rest
 * (ERRATA_DROP_CLOSED), ends the thread and frees the queue, then returns. Captures that are added
 * meanwhile fail with ERRATA_ENDED; when this returns, no thread may add any more. `ret_statistics`
 * receives the last counters; it may be NULL. Must not be called from on_drop. NULL does nothing. */
ERRATA_API void errata_captures_stop(struct errata_captures *take_captures, int64_t drain_ms,
                                     struct errata_captures_statistics *ret_statistics);
/* Closes a queue of errata_captures_open, on the loop's thread, once: like errata_captures_stop without
 * waiting. `on_closed` is called in a later turn, when the queue is freed; then the channel may be closed.
 * It may be NULL. */
ERRATA_API void errata_captures_close(
    struct errata_captures *take_captures, int64_t drain_ms,
    void (*on_closed)(void *user, const struct errata_captures_statistics *statistics), void *user);

#ifdef __cplusplus
}
#endif

#endif
