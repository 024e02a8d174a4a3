/*
 * queue.c: see queue.h. on_drop is called after the capture was removed from all lists and counted,
 * so that the callback may use the queue.
 */
#include "client/captures/queue.h"

#include "client/captures/verdict.h"
#include "store/base/assert.h"
#include "store/base/hex.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void captures_queue_init(struct captures_queue *queue, const struct captures_queue_config *config)
{
    *queue = (struct captures_queue){
        .config = *config, .all = {.link = CAPTURE_BY_AGE}, .window = config->in_flight_max};
    for (size_t i = 0; i < CAPTURES_FAULTS_MAX; i++) {
        queue->waiting[i].link = CAPTURE_BY_TURN;
    }
    for (size_t i = 0; i < sizeof(config->key_seed); i++) {
        queue->key_prefix[2 * i] = hex_digit(config->key_seed[i] >> 4);
        queue->key_prefix[2 * i + 1] = hex_digit(config->key_seed[i] & 15);
    }
}

void captures_queue_deinit(struct captures_queue *queue)
{
    ASSERT(queue->state == CAPTURES_QUEUE_DONE);
    ASSERT(queue->all.first == NULL);
    ASSERT(queue->in_flight == 0);
}

/* Returns the list in which a capture waits. */
static struct capture_list *waiting_list(struct captures_queue *queue,
                                         const struct capture *capture)
{
    ASSERT(capture->faults < CAPTURES_FAULTS_MAX);
    return &queue->waiting[capture->faults];
}

/* Returns the number of bytes of a text that fit, in whole characters. */
static size_t cut_text(const char *text, size_t bytes_max)
{
    size_t size = strlen(text);

    if (size > bytes_max) {
        size = bytes_max;
        while (size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80) {
            size--;
        }
    }
    return size;
}

/* Records why a capture was not stored, for captures that are dropped while they wait. */
static void note_failure(struct captures_queue *queue, const struct errata_status *status)
{
    struct captures_failure *failure = &queue->failure;
    size_t size = cut_text(status->message, sizeof(failure->message) - 1);

    failure->code = status->code;
    failure->from_server = status->from_server;
    memcpy(failure->message, status->message, size);
    failure->message[size] = '\0';
}

/* Removes a capture that neither waits nor is being sent from the queue, and frees it. */
static void leave(struct captures_queue *queue, struct capture *capture, int how,
                  const struct errata_status *status)
{
    const struct captures_queue_config *config = &queue->config;

    capture_list_remove(&queue->all, capture);
    captures_intake_count_out(config->intake, capture->size, how);
    if (how != CAPTURES_STORED && capture->is_review && config->on_drop_review != NULL) {
        config->on_drop_review(config->user, (enum errata_drop)how,
                               (struct errata_bytes){capture->bytes, capture->size}, status);
    }
    if (how != CAPTURES_STORED && !capture->is_review && config->on_drop != NULL) {
        config->on_drop(config->user, (enum errata_drop)how,
                        (struct errata_bytes){capture->bytes, capture->size}, status);
    }
    free(capture);
}

/* Records that the server is unreachable, if so, without waiting for the end of a call. */
static void note_unreachable(struct captures_queue *queue)
{
    const struct captures_sender *sender = &queue->config.sender;
    const char *reason = sender->unreachable(sender->user);

    if (reason != NULL) {
        note_failure(queue,
                     &(struct errata_status){.code = ERRATA_CODE_UNAVAILABLE, .message = reason});
    }
}

/* Drops a capture whose own call gave no reason. Reports the last failure of any call; `otherwise` if
 * none has failed. */
static void leave_for_others(struct captures_queue *queue, struct capture *capture,
                             enum errata_drop why, const struct errata_status *otherwise)
{
    const struct captures_failure *failure = &queue->failure;
    struct errata_status status = {.code = failure->code,
                                   .message = failure->message,
                                   .from_server = failure->from_server,
                                   .attempts = capture->attempts};

    leave(queue, capture, why, failure->code != ERRATA_CODE_OK ? &status : otherwise);
}

static void drop_waiting(struct captures_queue *queue, struct capture *capture,
                         enum errata_drop why)
{
    capture_list_remove(waiting_list(queue, capture), capture);
    note_unreachable(queue);
    leave_for_others(queue, capture, why, NULL);
}

/* Returns a random value within 20% of a delay. */
static int64_t spread(struct captures_queue *queue, int64_t wait_ms)
{
    uint32_t drawn = 0;

    random_fill(queue->config.random, &drawn, sizeof(drawn));
    return wait_ms - wait_ms / 5 + (int64_t)(drawn % (uint64_t)(2 * wait_ms / 5 + 1));
}

/* Pauses all sending; afterwards a single call is sent first. Calls that fail during the pause have
 * the same cause, and do not extend it. */
static void hold(struct captures_queue *queue, int64_t retry_ms, int64_t now_ms)
{
    int64_t until_ms = 0;

    queue->window = 1;
    if (now_ms >= queue->resume_ms) {
        queue->hold_ms = queue->hold_ms == 0 ? CAPTURES_HOLD_INITIAL_MS : queue->hold_ms * 8 / 5;
        if (queue->hold_ms > CAPTURES_HOLD_MAX_MS) {
            queue->hold_ms = CAPTURES_HOLD_MAX_MS;
        }
        queue->resume_ms = now_ms + spread(queue, queue->hold_ms);
    }
    until_ms = now_ms + (retry_ms < CAPTURES_RETRY_MAX_MS ? retry_ms : CAPTURES_RETRY_MAX_MS);
    if (until_ms > queue->resume_ms) {
        queue->resume_ms = until_ms;
    }
}

/* Handles a response that shows that the server works: it stored a capture, or refused one. */
static void note_server_works(struct captures_queue *queue)
{
    queue->hold_ms = 0;
    if (queue->window < queue->config.in_flight_max) {
        queue->window++;
    }
}

void captures_queue_resume(struct captures_queue *queue)
{
    queue->hold_ms = 0;
    queue->resume_ms = 0;
}

static void wait_for_turn(struct captures_queue *queue, struct capture *capture, int64_t due_ms)
{
    capture->due_ms = due_ms;
    capture_list_append(waiting_list(queue, capture), capture);
}

/* Takes over added captures. */
static void take_over(struct captures_queue *queue, int64_t now_ms)
{
    struct capture_list added = captures_intake_take(queue->config.intake);

    while (added.first != NULL) {
        struct capture *capture = added.first;

        capture_list_remove(&added, capture);
        capture->queue = queue;
        capture->taken_ms = now_ms;
        capture_list_append(&queue->all, capture);
        wait_for_turn(queue, capture, now_ms);
    }
}

static bool is_under_way(const struct capture *capture)
{
    return capture->call != NULL;
}

static void cancel(struct captures_queue *queue, struct capture *capture)
{
    if (!capture->cancelled) {
        capture->cancelled = true;
        queue->config.sender.cancel(queue->config.sender.user, capture->call);
    }
}

/* Drops captures that were taken before `taken_ms`; the ends of running calls follow. */
static void drop_older(struct captures_queue *queue, int64_t taken_ms, enum errata_drop why)
{
    struct capture *capture = queue->all.first;

    while (capture != NULL && capture->taken_ms <= taken_ms) {
        struct capture *after = capture->links[CAPTURE_BY_AGE].after;

        if (is_under_way(capture)) {
            cancel(queue, capture);
        } else {
            drop_waiting(queue, capture, why);
        }
        capture = after;
    }
}

/* Returns the capture that has been ready for longest; NULL: none is ready. */
static struct capture *find_ready(const struct captures_queue *queue, int64_t now_ms)
{
    struct capture *found = NULL;

    for (size_t i = 0; i < CAPTURES_FAULTS_MAX; i++) {
        struct capture *first = queue->waiting[i].first;

        if (first != NULL && first->due_ms <= now_ms &&
            (found == NULL || first->due_ms < found->due_ms)) {
            found = first;
        }
    }
    return found;
}

/* Drops a capture that the channel refuses to send. */
static void refuse_unsent(struct captures_queue *queue, struct capture *capture,
                          enum errata_result result)
{
    bool too_large = result == ERRATA_TOO_LARGE;
    struct errata_status status = {
        .code = too_large ? ERRATA_CODE_RESOURCE_EXHAUSTED : ERRATA_CODE_INTERNAL,
        .message = too_large ? "the capture is larger than the channel's limit of a request"
                             : "the channel does not accept the capture"};

    capture_list_remove(waiting_list(queue, capture), capture);
    leave(queue, capture, ERRATA_DROP_REFUSED, &status);
}

static void start(struct captures_queue *queue, struct capture *capture, int64_t now_ms)
{
    const struct captures_sender *sender = &queue->config.sender;
    int64_t left_ms = capture->taken_ms + queue->config.age_ms_max - now_ms;
    char key[CAPTURES_KEY_BYTES];
    enum errata_result result = ERRATA_OK;

    (void)snprintf(key, sizeof(key), "%s-%" PRIu64, queue->key_prefix, capture->number);
    result = sender->start(sender->user, capture, key,
                           left_ms < CAPTURES_CALL_TIMEOUT_MS ? left_ms : CAPTURES_CALL_TIMEOUT_MS,
                           &capture->call);
    switch (result) {
    case ERRATA_OK:
        capture_list_remove(waiting_list(queue, capture), capture);
        queue->in_flight++;
        return;
    case ERRATA_BUSY:
    case ERRATA_MEMORY:
        hold(queue, 0, now_ms);
        return;
    case ERRATA_ENDED: /* the channel was closed: there is nothing left to send by */
        captures_queue_close(queue, 0, now_ms);
        return;
    case ERRATA_INVALID:
    case ERRATA_TOO_LARGE:
        break;
    }
    refuse_unsent(queue, capture, result);
}

static bool may_send(const struct captures_queue *queue, int64_t now_ms)
{
    return queue->state < CAPTURES_QUEUE_DROPPING && queue->in_flight < queue->window &&
           now_ms >= queue->resume_ms;
}

/* Each iteration sends a capture, drops one, or is the last. */
static void send_ready(struct captures_queue *queue, int64_t now_ms)
{
    struct capture *capture = find_ready(queue, now_ms);

    while (capture != NULL && may_send(queue, now_ms)) {
        start(queue, capture, now_ms);
        capture = find_ready(queue, now_ms);
    }
}

static void earliest(int64_t *at_ms, int64_t candidate_ms)
{
    if (*at_ms == 0 || candidate_ms < *at_ms) {
        *at_ms = candidate_ms;
    }
}

/* Returns the time of the next scheduled action; 0: never. */
static int64_t next_due(const struct captures_queue *queue)
{
    const struct capture *oldest = queue->all.first;
    int64_t at_ms = 0;

    if (queue->state >= CAPTURES_QUEUE_DROPPING) {
        return 0; /* only ends of calls are outstanding */
    }
    if (queue->state == CAPTURES_QUEUE_DRAINING) {
        earliest(&at_ms, queue->drop_ms);
    }
    /* The oldest running calls end at their own deadlines. */
    while (oldest != NULL && is_under_way(oldest)) {
        oldest = oldest->links[CAPTURE_BY_AGE].after;
    }
    if (oldest != NULL) {
        earliest(&at_ms, oldest->taken_ms + queue->config.age_ms_max);
    }
    for (size_t i = 0; i < CAPTURES_FAULTS_MAX && queue->in_flight < queue->window; i++) {
        const struct capture *first = queue->waiting[i].first;

        if (first != NULL) {
            earliest(&at_ms, first->due_ms > queue->resume_ms ? first->due_ms : queue->resume_ms);
        }
    }
    return at_ms;
}

int64_t captures_queue_step(struct captures_queue *queue, int64_t now_ms)
{
    take_over(queue, now_ms);
    drop_older(queue, now_ms - queue->config.age_ms_max, ERRATA_DROP_EXPIRED);
    if (queue->state == CAPTURES_QUEUE_DRAINING && now_ms >= queue->drop_ms) {
        queue->state = CAPTURES_QUEUE_DROPPING;
    }
    send_ready(queue, now_ms);
    if (queue->state == CAPTURES_QUEUE_DROPPING) {
        drop_older(queue, now_ms, ERRATA_DROP_CLOSED);
    }
    if (queue->state != CAPTURES_QUEUE_OPEN && queue->all.first == NULL) {
        queue->state = CAPTURES_QUEUE_DONE;
    }
    return next_due(queue);
}

/* Returns the number of attempts beyond the first. */
static uint32_t count_repeats(uint32_t attempts)
{
    return attempts > 1 ? attempts - 1 : 0;
}

static void count_call(struct captures_queue *queue, struct capture *capture,
                       const struct errata_status *status)
{
    uint32_t repeats = count_repeats(capture->attempts);
    bool ended_here = status->code != ERRATA_CODE_OK && !status->from_server;
    enum errata_code code = status->code;

    capture->attempts += status->attempts;
    if (code != ERRATA_CODE_OK && !capture->cancelled) {
        note_failure(queue, status);
    }
    if (ended_here) {
        note_unreachable(queue);
    }
    if (ended_here && capture->cancelled && queue->failure.code != ERRATA_CODE_OK) {
        code = queue->failure.code; /* a cancellation by the queue is not the cause */
    }
    captures_intake_count_call(queue->config.intake, count_repeats(capture->attempts) - repeats,
                               code);
}

/* Handles a capture that was not stored, as far as is known, and may be retried. */
static void keep_or_drop(struct captures_queue *queue, struct capture *capture,
                         const struct errata_status *status, int64_t due_ms, int64_t now_ms)
{
    bool closed = queue->state == CAPTURES_QUEUE_DROPPING;
    enum errata_drop why = closed ? ERRATA_DROP_CLOSED : ERRATA_DROP_EXPIRED;

    if (!closed && now_ms - capture->taken_ms < queue->config.age_ms_max) {
        wait_for_turn(queue, capture, due_ms);
    } else if (capture->cancelled && status->code == ERRATA_CODE_CANCELLED) {
        leave_for_others(queue, capture, why, status);
    } else {
        leave(queue, capture, why, status);
    }
}

static void note_fault(struct captures_queue *queue, struct capture *capture,
                       const struct errata_status *status, int64_t now_ms)
{
    static const int64_t waits_ms[CAPTURES_FAULTS_MAX] = {0, 1000, 4000, 16000, 60000};

    if (capture->faults + 1 == CAPTURES_FAULTS_MAX) {
        leave(queue, capture, ERRATA_DROP_REFUSED, status);
        return;
    }
    capture->faults++;
    keep_or_drop(queue, capture, status, now_ms + waits_ms[capture->faults], now_ms);
}

void captures_queue_end(struct capture *take_capture, const struct errata_status *status,
                        int64_t now_ms)
{
    struct capture *capture = take_capture;
    struct captures_queue *queue = capture->queue;
    int64_t retry_ms = -1;
    enum captures_verdict verdict = captures_judge(status, &retry_ms);

    ASSERT(queue->in_flight > 0);
    queue->in_flight--;
    capture->call = NULL;
    count_call(queue, capture, status);
    switch (verdict) {
    case CAPTURES_VERDICT_STORED:
        note_server_works(queue);
        leave(queue, capture, CAPTURES_STORED, NULL);
        break;
    case CAPTURES_VERDICT_REFUSED:
        note_server_works(queue);
        leave(queue, capture, ERRATA_DROP_REFUSED, status);
        break;
    case CAPTURES_VERDICT_HOLD:
        if (!capture
                 ->cancelled) { /* otherwise it was cancelled because of its age, which is not an error of the server */
            hold(queue, retry_ms, now_ms);
        }
        keep_or_drop(queue, capture, status, now_ms, now_ms);
        break;
    case CAPTURES_VERDICT_FAULT:
        note_fault(queue, capture, status, now_ms);
        break;
    }
}

void captures_queue_close(struct captures_queue *queue, int64_t drain_ms, int64_t now_ms)
{
    captures_intake_close(queue->config.intake);
    if (queue->state >= CAPTURES_QUEUE_DROPPING) {
        return;
    }
    queue->state = drain_ms > 0 ? CAPTURES_QUEUE_DRAINING : CAPTURES_QUEUE_DROPPING;
    queue->drop_ms = drain_ms < INT64_MAX - now_ms ? now_ms + drain_ms : INT64_MAX;
}
