/*
 * queue.h: decides when captures are sent and handles their results, without a loop, a clock or a
 * channel. The owner of a queue steps it, reports the ends of calls to it, and provides a sender;
 * all on one thread. Captures of other threads arrive through the intake.
 *
 *   intake -> waiting, ready -> under way -> stored, or dropped
 *                   ^             |
 *                   |             +-> held: back among the ready ones, and all wait a while
 *                   +- waiting, for longer each time <- at fault
 */
#ifndef ERRATA_CLIENT_CAPTURES_QUEUE_H
#define ERRATA_CLIENT_CAPTURES_QUEUE_H

#include "client/captures/intake.h"
#include "store/base/random.h"

/* Time limit of one call of a capture, including the channel's own retries. It is also the interval
 * at which the queue checks an unreachable server. */
#define CAPTURES_CALL_TIMEOUT_MS 30000
/* Pause of all captures if the server cannot accept any; each further consecutive pause is 1.6
 * times longer. */
#define CAPTURES_HOLD_INITIAL_MS 100
#define CAPTURES_HOLD_MAX_MS 5000
/* Maximum wait that a server may request. */
#define CAPTURES_RETRY_MAX_MS 60000
/* Maximum number of failures caused by a capture. The waits between its attempts are 1, 4, 16 and
 * 60 seconds. */
#define CAPTURES_FAULTS_MAX 5

/* Maximum stored size of a status's message, including NUL. */
#define CAPTURES_MESSAGE_BYTES 256

/* 16 random bytes in hex, `-`, a number. */
#define CAPTURES_KEY_PREFIX_BYTES 33
#define CAPTURES_KEY_BYTES (CAPTURES_KEY_PREFIX_BYTES + 21)

struct captures_sender {
    void *user;
    /* Starts a CaptureFeedbackEvent; captures_queue_end follows in a later turn. The request and
     * the key are borrowed until the function returns. On errors, which are those of
     * errata_call_start, nothing follows. */
    enum errata_result (*start)(void *user, struct capture *capture, const char *key,
                                int64_t timeout_ms, struct errata_call **ret_call);
    /* Cancels a call; its end is reported in a later turn. */
    void (*cancel)(void *user, struct errata_call *call);
    /* The reason why the server cannot be reached, as errata_channel_unreachable reports it. */
    const char *(*unreachable)(void *user);
};

struct captures_queue_config {
    struct captures_intake *intake; /* outlives the queue */
    struct captures_sender sender;
    struct random *random; /* random source of the waits; outlives the queue */
    uint8_t key_seed[16]; /* seed of the idempotency keys, unique for each queue */
    uint32_t in_flight_max;
    int64_t age_ms_max;
    void (*on_drop)(void *user, enum errata_drop why, struct errata_bytes request,
                    const struct errata_status *status); /* may be NULL */
    void (*on_drop_review)(void *user, enum errata_drop why, struct errata_bytes request,
                           const struct errata_status *status); /* for reviews; may be NULL */
    void *user;
};

enum captures_queue_state {
    CAPTURES_QUEUE_OPEN,
    CAPTURES_QUEUE_DRAINING, /* accepts no more captures, sends the queued ones */
    CAPTURES_QUEUE_DROPPING, /* drops the remaining captures, and waits for the ends of calls */
    CAPTURES_QUEUE_DONE /* empty: the queue may be freed */
};

/* The result of the last failed call. */
struct captures_failure {
    enum errata_code code; /* OK: no call has failed */
    bool from_server;
    char message[CAPTURES_MESSAGE_BYTES];
};

struct captures_queue {
    struct captures_queue_config config;
    char key_prefix[CAPTURES_KEY_PREFIX_BYTES];
    enum captures_queue_state state;
    struct capture_list all; /* all waiting and running captures, oldest first; owned */
    /* Waiting captures by number of faults: none, one, two ...; each list is sorted by the time of
     * the next attempt. */
    struct capture_list waiting[CAPTURES_FAULTS_MAX];
    uint32_t in_flight;
    uint32_t
        window; /* maximum number of concurrent calls: grows with each success, and returns to 1 if the server cannot accept captures */
    int64_t hold_ms; /* length of the last consecutive pause; 0: none */
    int64_t resume_ms; /* end of the pause; 0: no pause */
    int64_t drop_ms; /* time at which a draining queue drops its remaining captures */
    struct captures_failure failure;
};

/* Copies the configuration. */
void captures_queue_init(struct captures_queue *queue, const struct captures_queue_config *config);
/* Frees a queue in the state DONE. */
void captures_queue_deinit(struct captures_queue *queue);

/* Does the work that is due. Returns the latest time of the next step; 0: not before another event.
 * on_drop may be called. */
int64_t captures_queue_step(struct captures_queue *queue, int64_t now_ms);
/* Reports the end of a capture's call. A step follows. on_drop may be called. */
void captures_queue_end(struct capture *take_capture, const struct errata_status *status,
                        int64_t now_ms);
/* Reports that the server may accept captures again, for example because of a new token. A step
 * follows. */
void captures_queue_resume(struct captures_queue *queue);
/* Closes the queue, which is done at `now_ms` + `drain_ms` or when nothing is left; steps
 * follow. */
void captures_queue_close(struct captures_queue *queue, int64_t drain_ms, int64_t now_ms);

#endif
