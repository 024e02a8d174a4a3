/*
 * loop_test.c: a queue on a loop of the caller's, over a channel that the test simulates: its calls
 * of the channel, when it keeps the loop alive, how it ends, and additions by other threads.
 */
#include "client/library/channel.h"
#include "tests/unit/client_captures/captures_tests.h"

#include <errata/captures.h>
#include <errata/v1/feedback_event.set.h>
#include <errata/v1/feedback_service.pb-c.h>
#include <errata/v1/review_service.pb-c.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include <cmocka.h>

#define CALLS_MAX 16
#define THREADS 4
#define ADDS 2000

struct played_call {
    struct client_handlers handlers;
    bool live;
    bool cancelled;
};

/* A channel that answers every call with `answer` two turns later. */
struct played {
    struct client_channel channel; /* first */
    uv_loop_t loop;
    uv_timer_t timer;
    struct played_call calls[CALLS_MAX];
    unsigned live;
    unsigned live_most;
    uint64_t started;
    bool silent; /* ends only cancelled calls */
    uint32_t (*answer)(uint64_t number); /* a code; NULL: OK */
    uint64_t ended;
    struct errata_channel *public;
    struct errata_captures *captures;
    uint64_t close_at; /* number of stored captures after which no one adds any more */
    _Atomic unsigned adders; /* number of threads that add */
    _Atomic unsigned wrong_sums; /* number of inconsistent sums that they saw */
    struct errata_captures_statistics last;
    unsigned closed;
    unsigned drops;
    unsigned reviews; /* calls of SubmitReview */
    unsigned dropped_reviews;
};

static void end_call(struct played *played, struct played_call *call)
{
    bool fails = played->answer != NULL && !call->cancelled;
    struct client_status status = {.code = fails ? played->answer(++played->ended) : 0,
                                   .from_server = !call->cancelled,
                                   .attempts = 1};

    if (call->cancelled) {
        status.code = ERRATA_CODE_CANCELLED;
    }
    call->live = false;
    played->live--;
    call->handlers.on_end(call->handlers.user, &status);
}

static void on_closed(void *user, const struct errata_captures_statistics *statistics)
{
    struct played *played = user;

    played->last = *statistics;
    played->closed++;
    errata_channel_close(played->public, NULL, NULL);
}

static void on_time(uv_timer_t *timer)
{
    struct played *played = timer->data;
    struct errata_captures_statistics statistics;

    for (size_t i = 0; i < CALLS_MAX; i++) {
        if (played->calls[i].live && (!played->silent || played->calls[i].cancelled)) {
            end_call(played, &played->calls[i]);
        }
    }
    if (played->close_at != 0) {
        errata_captures_read_statistics(played->captures, &statistics);
        if (statistics.stored >= played->close_at && played->adders == 0) {
            played->close_at = 0;
            errata_captures_close(played->captures, 1000, on_closed, played);
        }
    }
    if (played->live > 0 || played->close_at != 0) {
        assert_int_equal(uv_timer_start(timer, on_time, 1, 0), 0);
    }
}

static enum err play_start(struct client_channel *channel, const struct method_info *method,
                           struct slice request, const struct client_options *options,
                           const struct client_handlers *handlers, struct client_call **ret_call)
{
    struct played *played = (struct played *)channel;

    if (slice_equal(method->path, SLICE("/errata.v1.ReviewService/SubmitReview"))) {
        played->reviews++;
    } else {
        assert_true(
            slice_equal(method->path, SLICE("/errata.v1.FeedbackService/CaptureFeedbackEvent")));
    }
    assert_true(request.size > 0);
    assert_true(options->wait_for_ready);
    assert_int_equal(options->timeout_ms, 30000);
    assert_int_equal(options->metadata_count, 1);
    assert_true(slice_equal(options->metadata[0].key, SLICE("idempotency-key")));
    for (size_t i = 0; i < CALLS_MAX; i++) {
        if (!played->calls[i].live) {
            played->calls[i] = (struct played_call){.handlers = *handlers, .live = true};
            played->live++;
            played->started++;
            played->live_most = played->live > played->live_most ? played->live : played->live_most;
            *ret_call = (struct client_call *)&played->calls[i];
            return uv_timer_start(&played->timer, on_time, 0, 0) == 0 ? OK : ERR_MEMORY;
        }
    }
    return ERR_BUSY;
}

static void play_cancel(struct client_channel *channel, struct client_call *call)
{
    struct played *played = (struct played *)channel;

    ((struct played_call *)call)->cancelled = true;
    assert_int_equal(uv_timer_start(&played->timer, on_time, 0, 0), 0);
}

static void play_close(struct client_channel *take_channel, void (*then)(void *user), void *user)
{
    struct played *played = (struct played *)take_channel;

    assert_int_equal(played->live, 0);
    uv_close((uv_handle_t *)&played->timer, NULL);
    then(user);
}

static const struct client_channel_ops call_ops = {.start = play_start, .cancel = play_cancel};
static const char *play_unreachable(const struct client_channel *channel)
{
    (void)channel;
    return NULL;
}

static const struct library_lower_ops lower_ops = {.close = play_close,
                                                   .unreachable = play_unreachable};

static void setup(struct played *played, const struct errata_captures_config *config)
{
    *played = (struct played){.channel = {&call_ops}};
    assert_int_equal(uv_loop_init(&played->loop), 0);
    assert_int_equal(uv_timer_init(&played->loop, &played->timer), 0);
    played->timer.data = played;
    assert_int_equal(library_channel_new(&played->channel, &lower_ops, false, &played->public), OK);
    assert_int_equal(errata_captures_open(&played->loop, played->public, config, &played->captures),
                     ERRATA_OK);
}

/* Runs the loop until nothing keeps it alive. */
static void run_out(struct played *played)
{
    assert_int_equal(uv_run(&played->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(played->closed, 1);
    assert_int_equal(uv_loop_close(&played->loop), 0);
    assert_int_equal(played->last.queued, 0);
}

static enum errata_result add(struct errata_captures *captures, const char *document)
{
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    errata_feedback_event_set_document_id(&event, document);
    request.event = &event;
    return errata_captures_add(captures, &request);
}

/* Goal: captures added before the loop runs are sent once it does, 16 at a time, and the queue
 * keeps the loop alive until it is closed. Method: forty captures; the loop ends after the
 * close. */
static void test_captures_are_sent_once_the_loop_runs(void **state)
{
    struct played played;

    (void)state;
    setup(&played, NULL);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(add(played.captures, "d"), ERRATA_OK);
    }
    played.close_at = 40;
    run_out(&played);
    assert_int_equal(played.last.stored, 40);
    assert_int_equal(played.live_most, 16);
    assert_int_equal(played.started, 40);
}

/* Goal: an idle queue ends at once, even with a long drain; no callback runs inside close. Method:
 * a close with an hour to drain. */
static void test_idle_queue_ends_at_once(void **state)
{
    struct played played;

    (void)state;
    setup(&played, NULL);
    errata_captures_close(played.captures, 3600000, on_closed, &played);
    assert_int_equal(played.closed, 0);
    run_out(&played);
    assert_int_equal(played.last.added, 0);
}

/* Goal: a server that does not answer delays the end by the drain's time and no longer. Method: a
 * drain of 20 ms over a silent channel. */
static void test_silent_server_delays_an_end_by_the_drain(void **state)
{
    struct played played;

    (void)state;
    setup(&played, NULL);
    played.silent = true;
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(add(played.captures, "d"), ERRATA_OK);
    }
    errata_captures_close(played.captures, 20, on_closed, &played);
    assert_int_equal(add(played.captures, "d"), ERRATA_ENDED);
    run_out(&played);
    assert_int_equal(played.last.dropped[ERRATA_DROP_CLOSED], 20);
    assert_int_equal(played.started, 16);
}

static void close_on_drop(void *user, enum errata_drop why, struct errata_bytes request,
                          const struct errata_status *status)
{
    struct played *played = user;

    assert_int_equal(why, played->drops == 0 ? ERRATA_DROP_REFUSED : ERRATA_DROP_CLOSED);
    assert_true(request.size > 0);
    assert_non_null(status);
    if (played->drops++ == 0) {
        errata_captures_close(played->captures, 0, on_closed, played);
    }
}

static uint32_t refuse(uint64_t number)
{
    (void)number;
    return ERRATA_CODE_INVALID_ARGUMENT;
}

/* Goal: on_drop may close the queue. Method: on_drop closes it at the first refusal; running calls
 * end normally. */
static void test_on_drop_may_close_the_queue(void **state)
{
    struct played played;
    struct errata_captures_config config;

    (void)state;
    errata_captures_config_init(&config);
    config.in_flight_max = 1;
    config.on_drop = close_on_drop;
    config.user = &played;
    setup(&played, &config);
    played.answer = refuse;
    assert_int_equal(add(played.captures, "1"), ERRATA_OK);
    assert_int_equal(add(played.captures, "2"), ERRATA_OK);
    run_out(&played);
    assert_int_equal(played.drops, 2);
}

static enum errata_result add_review(struct errata_captures *captures, char *run)
{
    Errata__V1__SubmitReviewRequest request = ERRATA__V1__SUBMIT_REVIEW_REQUEST__INIT;
    Errata__V1__Review review = ERRATA__V1__REVIEW__INIT;

    review.run_id = run;
    review.subcategory = run;
    review.decision = ERRATA__V1__REVIEW_DECISION__REVIEW_DECISION_REVIEWED;
    request.review = &review;
    return errata_captures_add_review(captures, &request);
}

static void count_drop(void *user, enum errata_drop why, struct errata_bytes request,
                       const struct errata_status *status)
{
    struct played *played = user;

    (void)status;
    assert_int_equal(why, ERRATA_DROP_REFUSED);
    assert_true(request.size > 0);
    played->drops++;
}

static void count_review_drop(void *user, enum errata_drop why, struct errata_bytes request,
                              const struct errata_status *status)
{
    struct played *played = user;
    Errata__V1__SubmitReviewRequest *review =
        errata__v1__submit_review_request__unpack(NULL, request.size, request.data);

    (void)status;
    assert_int_equal(why, ERRATA_DROP_REFUSED);
    assert_non_null(review);
    assert_string_equal(review->review->run_id, "run");
    errata__v1__submit_review_request__free_unpacked(review, NULL);
    played->dropped_reviews++;
}

/* Goal: reviews go through the queue of captures by their own method, and refused ones to their own callback. Method: both
 * kinds, answered with OK; then both, refused. */
static void test_reviews_share_the_queue(void **state)
{
    char run[] = "run";
    struct played played;
    struct errata_captures_config config;

    (void)state;
    setup(&played, NULL);
    assert_int_equal(add(played.captures, "d"), ERRATA_OK);
    assert_int_equal(add_review(played.captures, run), ERRATA_OK);
    assert_int_equal(add_review(played.captures, run), ERRATA_OK);
    assert_int_equal(errata_captures_add_review(played.captures, NULL), ERRATA_INVALID);
    played.close_at = 3;
    run_out(&played);
    assert_int_equal(played.last.stored, 3);
    assert_int_equal(played.reviews, 2);

    errata_captures_config_init(&config);
    config.on_drop = count_drop;
    config.on_drop_review = count_review_drop;
    config.user = &played;
    setup(&played, &config);
    played.answer = refuse;
    assert_int_equal(add(played.captures, "d"), ERRATA_OK);
    assert_int_equal(add_review(played.captures, run), ERRATA_OK);
    errata_captures_close(played.captures, 1000, on_closed, &played);
    run_out(&played);
    assert_int_equal(played.drops, 1);
    assert_int_equal(played.dropped_reviews, 1);
}

/* Goal: numbers out of range are refused, zeros select the defaults, and a capture that can never
 * fit is refused with that reason. Method: each. */
static void test_configuration_out_of_range_is_refused(void **state)
{
    static const size_t size = sizeof(struct errata_captures_config);
    static const size_t first = offsetof(struct errata_captures_config, on_drop_review);
    const struct errata_captures_config wrong[] = {{.struct_bytes = size, .age_ms_max = -1},
                                                   {.struct_bytes = size, .age_ms_max = 43200001},
                                                   {.struct_bytes = size, .in_flight_max = 1001},
                                                   {.struct_bytes = size, .events_max = 10000001},
                                                   {.struct_bytes = 0},
                                                   {.struct_bytes = first - 1}};
    struct errata_captures_config config = {.struct_bytes = sizeof(struct errata_captures_config),
                                            .bytes_max = 1000};
    struct errata_captures *captures = NULL;
    struct played played;
    char text[2000];
    char *large = malloc(ERRATA_CAPTURE_BYTES_MAX);

    (void)state;
    assert_non_null(large);
    setup(&played, &config);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(errata_captures_open(&played.loop, played.public, &wrong[i], &captures),
                         ERRATA_INVALID);
    }
    assert_int_equal(errata_captures_open(&played.loop, NULL, &config, &captures), ERRATA_INVALID);
    assert_null(captures);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(add(played.captures, text), ERRATA_TOO_LARGE);
    text[800] = '\0';
    assert_int_equal(add(played.captures, text), ERRATA_OK);
    assert_int_equal(add(played.captures, text), ERRATA_BUSY);
    assert_int_equal(errata_captures_add(played.captures, NULL), ERRATA_INVALID);
    assert_int_equal(errata_captures_set_token(played.captures, "abc"), ERRATA_INVALID);
    errata_captures_close(played.captures, 1000, on_closed, &played);
    run_out(&played);
    assert_int_equal(played.last.stored, 1);

    setup(&played, NULL);
    memset(large, 'x', ERRATA_CAPTURE_BYTES_MAX - 1);
    large[ERRATA_CAPTURE_BYTES_MAX - 1] = '\0';
    assert_int_equal(add(played.captures, large), ERRATA_TOO_LARGE);
    large[ERRATA_CAPTURE_BYTES_MAX - 100] = '\0';
    assert_int_equal(add(played.captures, large), ERRATA_OK);
    errata_captures_close(played.captures, 1000, on_closed, &played);
    run_out(&played);
    assert_int_equal(played.last.stored, 1);
    free(large);
    errata_captures_close(NULL, 0, on_closed, &played); /* has no effect */
    errata_captures_stop(NULL, 0, NULL);
}

/* No assertions here: those of cmocka belong to the main thread. */
static void add_many(void *user)
{
    struct played *played = user;
    struct errata_captures_statistics statistics;

    for (unsigned i = 0; i < ADDS; i++) {
        if (add(played->captures, "d") != ERRATA_OK) {
            played->wrong_sums++;
        }
        errata_captures_read_statistics(played->captures, &statistics);
        if (statistics.added != statistics.queued + statistics.stored) {
            played->wrong_sums++;
        }
    }
    played->adders--;
}

/* Goal: threads may add while the loop sends; nothing is lost, and the statistics add up at any moment
 * for any thread. Method: four threads, each with two thousand captures, over a quick channel. */
static void test_threads_may_add_while_the_loop_sends(void **state)
{
    struct played played;
    uv_thread_t threads[THREADS];

    (void)state;
    setup(&played, NULL);
    played.close_at = THREADS * ADDS;
    played.adders = THREADS;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(uv_thread_create(&threads[i], add_many, &played), 0);
    }
    run_out(&played);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(uv_thread_join(&threads[i]), 0);
    }
    assert_int_equal(played.wrong_sums, 0);
    assert_int_equal(played.last.stored, THREADS * ADDS);
    assert_int_equal(played.last.repeats, 0);
}

int run_loop_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures_are_sent_once_the_loop_runs),
        cmocka_unit_test(test_idle_queue_ends_at_once),
        cmocka_unit_test(test_silent_server_delays_an_end_by_the_drain),
        cmocka_unit_test(test_on_drop_may_close_the_queue),
        cmocka_unit_test(test_reviews_share_the_queue),
        cmocka_unit_test(test_configuration_out_of_range_is_refused),
        cmocka_unit_test(test_threads_may_add_while_the_loop_sends),
    };

    return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
