/*
 * client_reviews_driver.c: a pipeline that stores its reviews by the background queue, for the test client_reviews.py:
 * adds reviews of the runs `run-0`, `run-1`, ... at once, prints the longest time of one addition in microseconds and
 * how many did not fit, waits for a line of standard input, stops the queue, and prints how many reviews were stored.
 * Each dropped one is a line with its reason. Each eleventh review has no subcategory, which the server refuses.
 *
 *   client_reviews_driver SERVER TOKEN_FILE REVIEWS QUEUE_MAX DRAIN_MS
 */
#include <errata/captures.h>
#include <errata/v1/review_service.pb-c.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REFUSED_EVERY 11

static int64_t now_us(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void on_drop(void *user, enum errata_drop why, struct errata_bytes request,
                    const struct errata_status *status)
{
    static const char *const reasons[] = {
        [ERRATA_DROP_FULL] = "full",
        [ERRATA_DROP_REFUSED] = "refused",
        [ERRATA_DROP_EXPIRED] = "expired",
        [ERRATA_DROP_CLOSED] = "closed",
    };
    Errata__V1__SubmitReviewRequest *review =
        errata__v1__submit_review_request__unpack(NULL, request.size, request.data);

    (void)user;
    (void)printf("%s %s %s\n", reasons[why], review != NULL ? review->review->run_id : "?",
                 status != NULL ? status->message : "");
    errata__v1__submit_review_request__free_unpacked(review, NULL);
}

static enum errata_result add(struct errata_captures *captures, long number)
{
    Errata__V1__SubmitReviewRequest request = ERRATA__V1__SUBMIT_REVIEW_REQUEST__INIT;
    Errata__V1__Review review = ERRATA__V1__REVIEW__INIT;
    char run[32];

    (void)snprintf(run, sizeof(run), "run-%ld", number);
    review.run_id = run;
    review.decision = ERRATA__V1__REVIEW_DECISION__REVIEW_DECISION_REVIEWED;
    if (number % REFUSED_EVERY != REFUSED_EVERY - 1) {
        review.subcategory = (char *)"laptops";
    }
    request.review = &review;
    return errata_captures_add_review(captures, &request);
}

/* Adds all reviews; prints the longest addition, and the number of refused reviews. */
static void add_all(struct errata_captures *captures, long count)
{
    int64_t longest_us = 0;
    long busy = 0;

    for (long i = 0; i < count; i++) {
        int64_t start_us = now_us();
        enum errata_result result = add(captures, i);
        int64_t took_us = now_us() - start_us;

        busy += result == ERRATA_BUSY;
        longest_us = took_us > longest_us ? took_us : longest_us;
        if (result != ERRATA_OK && result != ERRATA_BUSY) {
            (void)printf("error %d\n", (int)result);
        }
    }
    (void)printf("added %" PRId64 " %ld\n", longest_us, busy);
    (void)fflush(stdout);
}

int main(int count, char **arguments)
{
    struct errata_channel_config channel;
    struct errata_captures_config config;
    struct errata_captures_statistics statistics;
    struct errata_captures *captures = NULL;
    char problem[256] = "";
    char line[16];

    if (count != 6) {
        return 2;
    }
    errata_channel_config_init(&channel);
    errata_captures_config_init(&config);
    channel.server = arguments[1];
    channel.token_file = arguments[2];
    config.events_max = (uint32_t)strtoul(arguments[4], NULL, 10);
    config.on_drop_review = on_drop;
    if (errata_captures_start(&channel, &config, problem, sizeof(problem), &captures) !=
        ERRATA_OK) {
        (void)fprintf(stderr, "%s\n", problem);
        return 1;
    }
    add_all(captures, strtol(arguments[3], NULL, 10));
    if (fgets(line, sizeof(line), stdin) == NULL) {
        (void)fprintf(stderr, "no line on standard input\n");
    }
    errata_captures_stop(captures, strtol(arguments[5], NULL, 10), &statistics);
    (void)printf("stored %" PRIu64 "\n", statistics.stored);
    return 0;
}
