/*
 * clock_tests.c: a clock that was years ahead for a while, through calls: later writes are dated,
 * counted, listed and effective correctly. Each test ends with a replay of its log.
 */
#include "server/pipeline/rpc.h"
#include "store/base/assert.h"
#include "tests/rpc/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/admin_service.pb-c.h>
#include <errata/v1/analytics_service.pb-c.h>
#include <errata/v1/event_service.pb-c.h>
#include <errata/v1/feedback_service.pb-c.h>
#include <errata/v1/prompt_service.pb-c.h>

#define SECOND_US INT64_C(1000000)
#define DAY_US (INT64_C(86400) * SECOND_US)
#define EXCURSION_US (3653 * DAY_US)
#define LAYOUT "clock"
#define EVENTS_MAX 64

static int64_t time_of(const Google__Protobuf__Timestamp *time)
{
    assert_non_null(time);
    return time->seconds * SECOND_US + time->nanos / 1000;
}

/* Captures an event and returns created_at of the response. */
static int64_t capture(struct fixture *fixture)
{
    return time_of(fixture_capture(fixture, fixture->admin, NULL, LAYOUT)->created_at);
}

static Errata__V1__Event *event_of(struct fixture *fixture, uint64_t seq)
{
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    Errata__V1__GetEventResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.EventService/GetEvent",
                                         .authorization = fixture->admin};

    request.key_case = ERRATA__V1__GET_EVENT_REQUEST__KEY_SEQ;
    request.seq = seq;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    return response->event;
}

static uint64_t last_seq(struct fixture *fixture)
{
    const struct caller caller = {.fixture = fixture, .token = fixture->admin};

    return mappings_last_seq(&caller);
}

/* Captures `count` events, a second apart. */
static void capture_many(struct fixture *fixture, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        clock_manual_advance(&fixture->clock, SECOND_US);
        (void)capture(fixture);
    }
}

/* The seqs of listed feedback events, in order; returns how many. `start_us` 0: all. */
static size_t list(struct fixture *fixture, int32_t page_size, int64_t start_us,
                   char ids[EVENTS_MAX][40], unsigned *ret_pages)
{
    Errata__V1__ListFeedbackEventsRequest request = ERRATA__V1__LIST_FEEDBACK_EVENTS_REQUEST__INIT;
    Google__Protobuf__Timestamp start_time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/ListFeedbackEvents",
                                         .authorization = fixture->admin};
    char token[512] = "";
    size_t count = 0;

    start_time.seconds = start_us / SECOND_US;
    request.start_time = start_us != 0 ? &start_time : NULL;
    request.page_size = page_size;
    *ret_pages = 0;
    do {
        Errata__V1__ListFeedbackEventsResponse *response = NULL;

        request.page_token = token;
        assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
        ASSERT(response != NULL);
        for (size_t i = 0; i < response->n_events; i++) {
            ASSERT(count < EVENTS_MAX);
            (void)snprintf(ids[count++], sizeof(ids[0]), "%s", response->events[i]->id);
        }
        (void)snprintf(token, sizeof(token), "%s", response->next_page_token);
        (*ret_pages)++;
    } while (token[0] != '\0');
    return count;
}

/* Goal: after the excursion events are dated by the clock again, while recorded_at does not
 * decrease and ids grow; once the clock has caught up, both times are equal again. Method: captures
 * before, during and after, and ten years later. */
static void test_dates_follow_the_clock_after_an_excursion(void **state)
{
    struct fixture fixture;
    Errata__V1__Event *before = NULL;
    Errata__V1__Event *ahead = NULL;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    (void)capture(&fixture);
    before = event_of(&fixture, last_seq(&fixture));
    assert_int_equal(time_of(before->recorded_at), time_of(before->created_at));
    fixture.clock.wall_us += EXCURSION_US;
    (void)capture(&fixture);
    seq = last_seq(&fixture);
    ahead = event_of(&fixture, seq);
    fixture.clock.wall_us -= EXCURSION_US;
    for (unsigned i = 1; i <= 10; i++) {
        Errata__V1__Event *event = NULL;

        clock_manual_advance(&fixture.clock, SECOND_US);
        assert_int_equal(capture(&fixture), fixture.clock.wall_us);
        event = event_of(&fixture, seq + i);
        assert_int_equal(time_of(event->created_at), fixture.clock.wall_us);
        assert_int_equal(time_of(event->recorded_at), time_of(ahead->recorded_at));
        assert_true(strcmp(event_of(&fixture, seq + i - 1)->id, event->id) < 0);
        /* The milliseconds of an id are those of recorded_at. */
        assert_memory_equal(event->id, ahead->id, 13);
    }
    fixture.clock.wall_us += EXCURSION_US;
    (void)capture(&fixture);
    ahead = event_of(&fixture, seq + 11);
    assert_int_equal(time_of(ahead->recorded_at), fixture.clock.wall_us);
    assert_int_equal(time_of(ahead->created_at), fixture.clock.wall_us);
    assert_true(strcmp(event_of(&fixture, seq + 10)->id, ahead->id) < 0);
    fixture_deinit(&fixture);
}

/* Goal: "last 30 days" has the writes before and after the excursion, and none of those during it.
 * Method: captures of each, counted. */
static void test_excursion_is_not_in_the_last_30_days(void **state)
{
    Errata__V1__GetLearningAnalyticsRequest request =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    Errata__V1__GetLearningAnalyticsResponse *response = NULL;
    struct fixture fixture;
    struct exchange_start start = {.path = "errata.v1.AnalyticsService/GetLearningAnalytics"};
    uint64_t count = 0;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    capture_many(&fixture, 1);
    fixture.clock.wall_us += EXCURSION_US;
    capture_many(&fixture, 2);
    fixture.clock.wall_us -= EXCURSION_US;
    capture_many(&fixture, 4);
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    for (size_t i = 0; i < response->n_events_by_day; i++) {
        count += response->events_by_day[i]->count;
    }
    assert_int_equal(count, 5);
    fixture_deinit(&fixture);
}

/* Goal: lists and examples are in the order of created_at: those of the clock excursion first, then
 * the newest of the correct clock. A list does not scan everything written since, page by page.
 * Method: all ids by pages of one and of many; only a range of the correct clock. */
static void test_lists_are_ordered_by_created_at(void **state)
{
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *response = NULL;
    struct fixture fixture;
    struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples"};
    char layout[] = LAYOUT;
    char ids[EVENTS_MAX][40];
    char again[EVENTS_MAX][40];
    const uint64_t order[] = {5, 4, 9, 8, 7, 6, 3, 2, 1}; /* sequence numbers minus 1 */
    uint64_t first = 0;
    int64_t start_us = 0;
    unsigned pages = 0;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    first = last_seq(&fixture);
    start_us = fixture.clock.wall_us;
    capture_many(&fixture, 3);
    fixture.clock.wall_us += EXCURSION_US;
    capture_many(&fixture, 2);
    fixture.clock.wall_us -= EXCURSION_US;
    capture_many(&fixture, 4);
    assert_int_equal(list(&fixture, 50, 0, ids, &pages), 9);
    assert_int_equal(pages, 1);
    for (size_t i = 0; i < 9; i++) {
        assert_string_equal(ids[i], event_of(&fixture, first + order[i])->id);
    }
    assert_int_equal(list(&fixture, 1, 0, again, &pages), 9);
    for (size_t i = 0; i < 9; i++) {
        assert_string_equal(ids[i], again[i]);
    }
    assert_int_equal(list(&fixture, 2, start_us + EXCURSION_US, again, &pages), 2);
    request.layout_fingerprint = layout;
    request.max_examples = 4;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    assert_int_equal(response->n_examples, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(response->examples[i]->id, ids[i]);
    }
    fixture_deinit(&fixture);
}

/* Goal: after the excursion, the first page of a list is still cheap. Method: more events than one
 * call examines. */
static void test_first_page_is_cheap_after_an_excursion(void **state)
{
    struct fixture fixture;
    Errata__V1__ListFeedbackEventsRequest request = ERRATA__V1__LIST_FEEDBACK_EVENTS_REQUEST__INIT;
    Errata__V1__ListFeedbackEventsResponse *response = NULL;
    struct exchange_start start = {.path = "errata.v1.FeedbackService/ListFeedbackEvents"};
    char ahead[40];

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    fixture.clock.wall_us += EXCURSION_US;
    (void)snprintf(ahead, sizeof(ahead), "%s",
                   fixture_capture(&fixture, fixture.admin, NULL, LAYOUT)->id);
    fixture.clock.wall_us -= EXCURSION_US;
    capture_many(&fixture, 2100);
    request.page_size = 2;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    assert_int_equal(response->n_events, 2);
    assert_string_equal(response->events[0]->id, ahead);
    assert_int_equal(time_of(response->events[1]->created_at), fixture.clock.wall_us);
    fixture_deinit(&fixture);
}

/* Goal: a time in a request is checked against the wall clock, not against the log. Method: after
 * the excursion, a time that has passed, and one that the excursion had but that is in the future
 * again. */
static void test_given_times_are_checked_against_the_clock(void **state)
{
    const struct named named = {"c1", "A-1", "X", NULL};
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    fixture.clock.wall_us += EXCURSION_US;
    (void)capture(&fixture);
    fixture.clock.wall_us -= EXCURSION_US;
    caller.created_at_us = fixture.clock.wall_us;
    assert_int_equal(mappings_suggest(&caller, &named, 0.5, NULL), STATUS_OK);
    caller.created_at_us = fixture.clock.wall_us + DAY_US;
    assert_int_equal(mappings_suggest(&caller, &named, 0.25, NULL), STATUS_INVALID_ARGUMENT);
    fixture_deinit(&fixture);
}

/* Goal: a judgement of today is in force although one of the excursion is dated ten years later,
 * and it takes precedence over a backdated one. Method: confirmed and suggested ahead, then judged
 * today. */
static void test_judgement_of_today_outranks_an_excursion(void **state)
{
    const struct named confirmed = {"c1", "A-1", "X", NULL};
    const struct named suggested = {"c1", "B-1", "Y", NULL};
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    Errata__V1__SkuMapping *mapping = NULL;
    struct judged judged;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    fixture.clock.wall_us += EXCURSION_US;
    assert_int_equal(mappings_confirm(&caller, &confirmed, NULL, &judged), STATUS_OK);
    assert_int_equal(mappings_suggest(&caller, &suggested, 0.5, NULL), STATUS_OK);
    fixture.clock.wall_us -= EXCURSION_US;
    caller.created_at_us = fixture.clock.wall_us;
    clock_manual_advance(&fixture.clock, SECOND_US);
    assert_int_equal(mappings_reject(&caller, &confirmed, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status,
                     CONFIRMED); /* backdated: the later judgement is known */
    caller.created_at_us = 0;
    assert_int_equal(mappings_reject(&caller, &confirmed, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, REJECTED);
    assert_int_equal(time_of(judged.mapping->updated_at), fixture.clock.wall_us);
    assert_int_equal(mappings_confirm(&caller, &confirmed, NULL, &judged), STATUS_OK);
    assert_int_equal(judged.mapping->status, CONFIRMED);
    assert_int_equal(time_of(judged.mapping->last_used_at), fixture.clock.wall_us);
    assert_int_equal(mappings_suggest(&caller, &suggested, 0.25, &mapping), STATUS_OK);
    assert_true(mapping->confidence == 0.25);
    assert_int_equal(time_of(mapping->updated_at), fixture.clock.wall_us);
    fixture_deinit(&fixture);
}

/* The warnings and counters of GetServerInfo. */
static void expect_ahead(struct fixture *fixture, int64_t warned_us, int64_t counted_us)
{
    Errata__V1__GetServerInfoRequest request = ERRATA__V1__GET_SERVER_INFO_REQUEST__INIT;
    Errata__V1__GetServerInfoResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.AdminService/GetServerInfo",
                                         .authorization = fixture->admin};
    size_t found = 0;

    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    ASSERT(response != NULL);
    assert_int_equal(response->log_ahead_us, warned_us);
    for (size_t i = 0; i < response->n_counters; i++) {
        if (strcmp(response->counters[i]->name, "log_ahead_us") == 0) {
            assert_int_equal(response->counters[i]->value, counted_us);
            found++;
        }
    }
    assert_int_equal(found, 1);
    pipeline_check_clock(fixture->pipeline);
    assert_int_equal(fixture->env.health[HEALTH_PART_CLOCK],
                     warned_us > 0 ? HEALTH_NOT_SERVING : HEALTH_SERVING);
}

/* Goal: a log that is ahead of the clock by more than a minute is a warning in health and
 * GetServerInfo while that lasts, also after a restart; a smaller difference is not. Method: a
 * clock put back by a minute and by a microsecond more, until the log's end; another writer over
 * the same store. */
static void test_log_ahead_of_the_clock_is_a_warning(void **state)
{
    struct fixture fixture;
    struct writer *again = NULL;
    struct writer_config config = {.manual = true};

    (void)state;
    fixture_init(&fixture);
    (void)capture(&fixture);
    expect_ahead(&fixture, 0, 0);
    fixture.clock.wall_us -= 60 * SECOND_US;
    expect_ahead(&fixture, 0, 60 * SECOND_US);
    fixture.clock.wall_us -= 1;
    expect_ahead(&fixture, 60 * SECOND_US + 1, 60 * SECOND_US + 1);
    (void)capture(&fixture);
    expect_ahead(&fixture, 60 * SECOND_US + 1, 60 * SECOND_US + 1);
    config.backend = fixture.backend;
    config.clock = &fixture.clock.clock;
    assert_int_equal(writer_new(&config, &again), OK);
    assert_int_equal(writer_read_stats(again).newest_recorded_at_us,
                     fixture.clock.wall_us + 60 * SECOND_US + 1);
    writer_free(again);
    clock_manual_advance(&fixture.clock, 60 * SECOND_US + 1);
    expect_ahead(&fixture, 0, 0);
    fixture_deinit(&fixture);
}

/* Returns whether a check of the clock at this moment logs a line. */
static bool writes_line(struct fixture *fixture)
{
    const struct clock_line *line = &fixture->pipeline->clock_line;
    struct clock_line before = *line;

    pipeline_check_clock(fixture->pipeline);
    return line->was_written && (!before.was_written || line->written_us != before.written_us ||
                                 line->is_ahead != before.is_ahead);
}

/* Goal: a line is logged when the warning begins and ends, once an hour while it lasts, and at most
 * once a minute if the clock alternates. Method: checks at the edges of these times. */
static void test_warning_is_logged_once_an_hour(void **state)
{
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    (void)capture(&fixture);
    assert_false(writes_line(&fixture));
    fixture.clock.wall_us -= DAY_US;
    assert_true(writes_line(&fixture));
    clock_manual_advance(&fixture.clock, 3600 * SECOND_US - 1);
    assert_false(writes_line(&fixture));
    clock_manual_advance(&fixture.clock, 1);
    assert_true(writes_line(&fixture));
    assert_true(fixture.pipeline->clock_line.is_ahead);
    fixture.clock.wall_us += DAY_US;
    assert_false(writes_line(&fixture));
    clock_manual_advance(&fixture.clock, 60 * SECOND_US);
    assert_true(writes_line(&fixture));
    assert_false(fixture.pipeline->clock_line.is_ahead);
    clock_manual_advance(&fixture.clock, 7200 * SECOND_US);
    assert_false(writes_line(&fixture));
    fixture_deinit(&fixture);
}

int run_clock_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dates_follow_the_clock_after_an_excursion),
        cmocka_unit_test(test_excursion_is_not_in_the_last_30_days),
        cmocka_unit_test(test_lists_are_ordered_by_created_at),
        cmocka_unit_test(test_first_page_is_cheap_after_an_excursion),
        cmocka_unit_test(test_given_times_are_checked_against_the_clock),
        cmocka_unit_test(test_judgement_of_today_outranks_an_excursion),
        cmocka_unit_test(test_log_ahead_of_the_clock_is_a_warning),
        cmocka_unit_test(test_warning_is_logged_once_an_hour),
    };

    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
