/*
 * captures.c: errata/captures.h over a channel, on its loop. Requests of other threads wake the
 * loop; all work is done in `turn`.
 */
#include "client/captures/captures_internal.h"

#include "client/library/config.h"
#include "store/base/assert.h"

#include <errata/v1/feedback_service.pb-c.h>
#include <errata/v1/review_service.pb-c.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define METHOD "errata.v1.FeedbackService/CaptureFeedbackEvent"
#define REVIEW_METHOD "errata.v1.ReviewService/SubmitReview"

#define EVENTS_DEFAULT 10000u
#define EVENTS_MAX                                                                                 \
    10000000u /* limits the lists of pointers; a larger value is probably a mistake of units */
#define BYTES_DEFAULT ((size_t)64 << 20)
#define IN_FLIGHT_DEFAULT 16u
#define IN_FLIGHT_MAX 1000u
#define AGE_MS_DEFAULT INT64_C(600000)
/* Half of the time for which the server knows a key. */
#define AGE_MS_MAX INT64_C(43200000)
/* The first version of the struct ends here. Later members do not change this. */
#define CAPTURES_CONFIG_BYTES_MIN (offsetof(struct errata_captures_config, user) + sizeof(void *))

const char *captures_config_read(const struct errata_captures_config *config,
                                 struct errata_captures_config *ret_config)
{
    struct errata_captures_config given = {.struct_bytes = 0};

    if (config != NULL && !library_copy_sized(config, config->struct_bytes, &given, sizeof(given),
                                              CAPTURES_CONFIG_BYTES_MIN)) {
        return "captures: struct_bytes is not the size of a known version; expected a struct "
               "initialized by errata_captures_config_init";
    }
    if (given.events_max > EVENTS_MAX) {
        return "events_max: too large; expected at most 10,000,000";
    }
    if (given.in_flight_max > IN_FLIGHT_MAX) {
        return "in_flight_max: too large; expected at most 1,000";
    }
    if (given.age_ms_max < 0 || given.age_ms_max > AGE_MS_MAX) {
        return "age_ms_max: out of range; expected 0 to 43,200,000 (12 hours)";
    }
    given.events_max = given.events_max != 0 ? given.events_max : EVENTS_DEFAULT;
    given.bytes_max = given.bytes_max != 0 ? given.bytes_max : BYTES_DEFAULT;
    given.in_flight_max = given.in_flight_max != 0 ? given.in_flight_max : IN_FLIGHT_DEFAULT;
    given.age_ms_max = given.age_ms_max != 0 ? given.age_ms_max : AGE_MS_DEFAULT;
    given.struct_bytes = sizeof(given);
    *ret_config = given;
    return NULL;
}

static int64_t now_ms(const struct errata_captures *captures)
{
    return (int64_t)uv_now(captures->timer.loop);
}

/* The queue is freed; notifies the owner. */
static void on_handle_closed(uv_handle_t *handle)
{
    struct errata_captures *captures = handle->data;
    captures_on_closed_fn *on_closed = captures->on_closed;
    void *user = captures->on_closed_user;
    struct errata_captures_statistics statistics;

    captures->handles--;
    if (captures->handles > 0) {
        return;
    }
    captures_intake_read_statistics(&captures->intake, &statistics);
    captures_queue_deinit(&captures->queue);
    captures_intake_deinit(&captures->intake);
    free(captures);
    if (on_closed != NULL) {
        on_closed(user, &statistics);
    }
}

static void close_handles(struct errata_captures *captures)
{
    uv_close((uv_handle_t *)&captures->wake, on_handle_closed);
    uv_close((uv_handle_t *)&captures->timer, on_handle_closed);
}

/* Handles the requests of other threads. */
static void heed(struct errata_captures *captures)
{
    char *token = captures_intake_take_token(&captures->intake);
    int64_t drain_ms = captures_intake_read_stop(&captures->intake);

    if (token != NULL) {
        enum errata_result result =
            errata_channel_set_token(captures->channel, token[0] != '\0' ? token : NULL);

        if (result ==
            ERRATA_OK) { /* otherwise memory is exhausted, and the old token stays in use */
            captures_queue_resume(&captures->queue);
        }
        captures_intake_free_token(token);
    }
    if (drain_ms >= 0 && !captures->stopped) {
        captures->stopped = true;
        captures_queue_close(&captures->queue, drain_ms, now_ms(captures));
    }
}

static void turn(struct errata_captures *captures);

static void on_timer(uv_timer_t *timer)
{
    turn(timer->data);
}

static void turn(struct errata_captures *captures)
{
    int64_t at_ms = 0;
    int failed = 0;

    if (uv_is_closing((uv_handle_t *)&captures->wake)) {
        return;
    }
    heed(captures);
    at_ms = captures_queue_step(&captures->queue, now_ms(captures));
    if (captures->stopped && captures->queue.state == CAPTURES_QUEUE_DONE) {
        close_handles(captures);
    } else if (at_ms == 0) {
        (void)uv_timer_stop(&captures->timer);
    } else {
        int64_t wait_ms = at_ms - now_ms(captures);

        failed = uv_timer_start(&captures->timer, on_timer, wait_ms > 0 ? (uint64_t)wait_ms : 1, 0);
        ASSERT(failed == 0);
    }
}

static void on_wake(uv_async_t *wake)
{
    turn(wake->data);
}

/* Wakes the loop. Called on any thread, with the intake's lock held. */
static void send_wake(void *user)
{
    struct errata_captures *captures = user;
    int failed = uv_async_send(&captures->wake);

    ASSERT(failed == 0);
}

static void on_call_end(void *user, const struct errata_status *status)
{
    struct capture *capture = user;
    struct errata_captures *captures = capture->queue->config.sender.user;

    captures_queue_end(capture, status, now_ms(captures));
    turn(captures);
}

static enum errata_result start_call(void *user, struct capture *capture, const char *key,
                                     int64_t timeout_ms, struct errata_call **ret_call)
{
    struct errata_captures *captures = user;
    /* If the server is unreachable, the channel reconnects with its own backoff, independent of the
     * number of waiting calls. */
    const struct errata_options options = {
        .timeout_ms = timeout_ms, .idempotency_key = key, .wait_for_ready = true};
    const struct errata_handlers handlers = {.user = capture, .on_end = on_call_end};

    return errata_call_start(captures->channel, capture->is_review ? REVIEW_METHOD : METHOD,
                             (struct errata_bytes){capture->bytes, capture->size}, &options,
                             &handlers, ret_call);
}

static const char *unreachable(void *user)
{
    const struct errata_captures *captures = user;

    return errata_channel_unreachable(captures->channel);
}

static void cancel_call(void *user, struct errata_call *call)
{
    (void)user;
    errata_call_cancel(call);
}

/* Straight from the kernel: two processes that forked apart must not draw the same. */
static void draw_seed(uint8_t seed[16])
{
    ssize_t drawn = -1;

    do {
        drawn = getrandom(seed, 16, 0);
    } while (drawn < 0 && errno == EINTR);
    ASSERT(drawn == 16); /* getrandom(2) returns up to 256 bytes in one call */
}

static void init_queue(struct errata_captures *captures,
                       const struct errata_captures_config *config)
{
    struct captures_queue_config queue = {.intake = &captures->intake,
                                          .sender = {.user = captures,
                                                     .start = start_call,
                                                     .cancel = cancel_call,
                                                     .unreachable = unreachable},
                                          .random = random_system(),
                                          .in_flight_max = config->in_flight_max,
                                          .age_ms_max = config->age_ms_max,
                                          .on_drop = config->on_drop,
                                          .on_drop_review = config->on_drop_review,
                                          .user = config->user};

    draw_seed(queue.key_seed);
    captures_queue_init(&captures->queue, &queue);
}

/* An initialised handle must be closed by its loop, so the one whose initialisation can fail comes
 * first. */
static bool open_handles(struct errata_captures *captures, uv_loop_t *loop)
{
    if (uv_async_init(loop, &captures->wake, on_wake) != 0) {
        return false;
    }
    (void)uv_timer_init(loop, &captures->timer);
    uv_unref((uv_handle_t *)&captures->timer);
    captures->wake.data = captures;
    captures->timer.data = captures;
    captures->handles = 2;
    return true;
}

enum errata_result errata_captures_open(struct uv_loop_s *loop, struct errata_channel *channel,
                                        const struct errata_captures_config *config,
                                        struct errata_captures **ret_captures)
{
    struct captures_intake_config intake = {.wake = send_wake};
    struct errata_captures_config whole;
    struct errata_captures *captures = NULL;
    enum errata_result result = ERRATA_OK;

    if (loop == NULL || channel == NULL || captures_config_read(config, &whole) != NULL) {
        return ERRATA_INVALID;
    }
    intake.events_max = whole.events_max;
    intake.bytes_max = whole.bytes_max;
    captures = calloc(1, sizeof(*captures));
    if (captures == NULL) {
        return ERRATA_MEMORY;
    }
    captures->channel = channel;
    intake.user = captures;
    result = captures_intake_init(&captures->intake, &intake);
    if (result != ERRATA_OK) {
        free(captures);
        return result;
    }
    init_queue(captures, &whole);
    if (!open_handles(captures, loop)) {
        captures_intake_deinit(&captures->intake);
        free(captures);
        return ERRATA_MEMORY;
    }
    *ret_captures = captures;
    return ERRATA_OK;
}

static enum errata_result add(struct errata_captures *captures, const ProtobufCMessage *request,
                              bool is_review)
{
    struct capture *capture = NULL;
    enum errata_result result = ERRATA_OK;
    size_t size = protobuf_c_message_get_packed_size(request);

    if (size > ERRATA_CAPTURE_BYTES_MAX || size > captures->intake.config.bytes_max) {
        return ERRATA_TOO_LARGE;
    }
    capture = capture_new(size);
    if (capture == NULL) {
        return ERRATA_MEMORY;
    }
    capture->is_review = is_review;
    (void)protobuf_c_message_pack(request, capture->bytes);
    result = captures_intake_add(&captures->intake, capture);
    if (result != ERRATA_OK) {
        free(capture);
    }
    return result;
}

enum errata_result
errata_captures_add(struct errata_captures *captures,
                    const struct Errata__V1__CaptureFeedbackEventRequest *request)
{
    return request != NULL ? add(captures, &request->base, false) : ERRATA_INVALID;
}

enum errata_result errata_captures_add_review(struct errata_captures *captures,
                                              const struct Errata__V1__SubmitReviewRequest *request)
{
    return request != NULL ? add(captures, &request->base, true) : ERRATA_INVALID;
}

void errata_captures_read_statistics(struct errata_captures *captures,
                                     struct errata_captures_statistics *ret_statistics)
{
    captures_intake_read_statistics(&captures->intake, ret_statistics);
}

void errata_captures_close(struct errata_captures *take_captures, int64_t drain_ms,
                           captures_on_closed_fn *on_closed, void *user)
{
    if (take_captures == NULL) {
        return;
    }
    take_captures->on_closed = on_closed;
    take_captures->on_closed_user = user;
    captures_intake_ask_stop(&take_captures->intake, drain_ms);
}
