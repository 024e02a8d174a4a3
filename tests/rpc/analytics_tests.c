/*
 * analytics_tests.c: AnalyticsService through calls: the figures of a range of days equal a recount
 * of the listed events; layouts in their orders; refused requests.
 */
#include "server/domain/analytics/days.h"
#include "server/domain/counters/counters.h"
#include "store/base/assert.h"
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errata/v1/analytics_service.fields.h>
#include <errata/v1/feedback_event.fields.h>

#define LEARNING "errata.v1.AnalyticsService/GetLearningAnalytics"
#define COVERAGE "errata.v1.AnalyticsService/ListLayoutCoverage"
#define DAY_US INT64_C(86400000000)
#define FIELDS_MAX 64 /* maximum number of names in a recount */

/* --- calls --- */

static struct exchange call(struct fixture *fixture, const struct exchange_start *start,
                            const ProtobufCMessage *request,
                            const ProtobufCMessageDescriptor *descriptor, void *ret_response)
{
    struct exchange exchange;

    exchange_open(&exchange, fixture, start);
    exchange_send(&exchange, request);
    fixture_run(fixture);
    assert_true(exchange.ended);
    if (exchange.code == STATUS_OK) {
        *(void **)ret_response = exchange_read(&exchange, descriptor);
        assert_non_null(*(void **)ret_response);
    }
    exchange_close(&exchange);
    return exchange;
}

/* The requested range and layout; NULL: not given. */
struct asked {
    const char *first, *last, *layout;
};

static struct exchange ask_learning(struct fixture *fixture, const char *token,
                                    const struct asked *asked,
                                    Errata__V1__GetLearningAnalyticsResponse **ret_response)
{
    Errata__V1__GetLearningAnalyticsRequest request =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    const struct exchange_start start = {.path = LEARNING, .authorization = token};

    request.start_date = (char *)(uintptr_t)asked->first;
    request.end_date = (char *)(uintptr_t)asked->last;
    if (asked->layout != NULL) {
        request.layout_fingerprint = (char *)(uintptr_t)asked->layout;
    }
    request.top_fields = 1000;
    return call(fixture, &start, &request.base,
                &errata__v1__get_learning_analytics_response__descriptor, ret_response);
}

static Errata__V1__GetLearningAnalyticsResponse *learning_asked(struct fixture *fixture,
                                                                const struct asked *asked)
{
    Errata__V1__GetLearningAnalyticsResponse *response = NULL;

    assert_int_equal(ask_learning(fixture, fixture->admin, asked, &response).code, STATUS_OK);
    ASSERT(response != NULL);
    return response;
}

static Errata__V1__GetLearningAnalyticsResponse *learning_of(struct fixture *fixture,
                                                             const char *first, const char *last)
{
    return learning_asked(fixture, &(const struct asked){first, last, NULL});
}

/* The parts of a captured event. */
struct sample {
    enum feedback_event_type type;
    const char *layout; /* layout, or NULL */
    const char *after; /* JSON; every member is a changed field */
    int64_t created_at_us; /* 0: now */
};

static void capture(struct fixture *fixture, const struct sample *sample)
{
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Google__Protobuf__Timestamp created_at = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = fixture->admin};

    event.event_type = (Errata__V1__FeedbackEventType)sample->type;
    event.after_json = (char *)(uintptr_t)sample->after;
    if (sample->layout != NULL) {
        event._layout_fingerprint_case =
            ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
        event.layout_fingerprint = (char *)(uintptr_t)sample->layout;
    }
    if (sample->created_at_us != 0) {
        created_at.seconds = sample->created_at_us / 1000000;
        created_at.nanos = (int32_t)(sample->created_at_us % 1000000) * 1000;
        event.created_at = &created_at;
    }
    request.event = &event;
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
}

static uint64_t count_of(Errata__V1__FieldCount **counts, size_t count, const char *field)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(counts[i]->field, field) == 0) {
            return counts[i]->count;
        }
    }
    return 0;
}

/* --- learning --- */

/* Goal: US5.2: of 100 line corrections qty was corrected 40 times, sku 30, uom 20, price 10, and
 * they are reported in that order. US5.1: 30 days, all present. */
static void test_us5_2_top_fields_are_ordered_by_count(void **state)
{
    static const struct {
        const char *field;
        const char *after;
        unsigned count;
    } fields[] = {{"qty", "{\"qty\":12}", 40},
                  {"sku", "{\"sku\":\"A-1\"}", 30},
                  {"uom", "{\"uom\":\"pcs\"}", 20},
                  {"price", "{\"price\":\"9.95\"}", 10}};
    Errata__V1__GetLearningAnalyticsResponse *response = NULL;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 4; i-- > 0;) {
        for (unsigned n = 0; n < fields[i].count; n++) {
            capture(&fixture, &(struct sample){FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                                               "layout", fields[i].after, 0});
        }
    }
    response = learning_of(&fixture, "", "");
    assert_int_equal(response->n_corrected_fields, 4);
    assert_int_equal(response->n_corrected_line_fields, 4);
    assert_int_equal(response->n_corrected_header_fields, 0);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(response->corrected_fields[i]->field, fields[i].field);
        assert_int_equal(response->corrected_fields[i]->count, fields[i].count);
        assert_string_equal(response->corrected_line_fields[i]->field, fields[i].field);
        assert_int_equal(response->corrected_line_fields[i]->count, fields[i].count);
    }
    assert_string_equal(response->start_date, "2025-12-03");
    assert_string_equal(response->end_date, "2026-01-01");
    assert_int_equal(response->n_events_by_day, 30);
    assert_int_equal(response->n_confidence_by_day, 30);
    for (size_t i = 0; i < 30; i++) {
        assert_int_equal(response->events_by_day[i]->count, i == 29 ? 100 : 0);
        assert_int_equal(response->confidence_by_day[i]->_mean_confidence_case, 0);
    }
    assert_string_equal(response->events_by_day[0]->date, "2025-12-03");
    assert_string_equal(response->events_by_day[29]->date, "2026-01-01");
    assert_int_equal(response->n_by_event_type, 1);
    assert_int_equal(response->by_event_type[0]->event_type,
                     FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED);
    assert_int_equal(response->by_event_type[0]->count, 100);
    assert_int_equal(response->_correction_rate_case, 0);
    assert_int_equal(response->n_layout_stats, 1);
    assert_int_equal(response->layout_stats[0]->example_count, 100);
    fixture_deinit(&fixture);
}

/* Expected figures of a range, recounted from the listed events. */
struct recount {
    uint64_t by_day[366];
    uint64_t corrections[366]; /* corrections of each day */
    uint64_t mappings[366]; /* mapping events of each day */
    uint64_t by_type[FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED + 1];
    char names[FIELDS_MAX][16];
    uint64_t counts[FIELDS_MAX][2]; /* counts for lines and for headers */
    size_t name_count;
    int64_t first_day;
    int64_t last_day;
};

static void recount_field(struct recount *recount, const char *name, unsigned kind)
{
    size_t i = 0;

    while (i < recount->name_count && strcmp(recount->names[i], name) != 0) {
        i++;
    }
    assert_true(i < FIELDS_MAX);
    if (i == recount->name_count) {
        (void)snprintf(recount->names[recount->name_count++], 16, "%s", name);
    }
    recount->counts[i][kind]++;
}

static void recount_event(struct recount *recount, const Errata__V1__FeedbackEvent *event)
{
    int64_t day = event->created_at->seconds / 86400;
    bool of_line = event->event_type == (int)FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;

    if (day < recount->first_day || day > recount->last_day) {
        return;
    }
    recount->by_day[day - recount->first_day]++;
    recount->mappings[day - recount->first_day] +=
        event->event_type == (int)FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED ||
        event->event_type == (int)FEEDBACK_EVENT_TYPE_MAPPING_REJECTED;
    recount->by_type[event->event_type]++;
    if (!of_line && event->event_type != (int)FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED) {
        return;
    }
    recount->corrections[day - recount->first_day]++;
    for (size_t i = 0; i < event->n_fields_changed; i++) {
        recount_field(recount, event->fields_changed[i], of_line ? 0 : 1);
    }
}

/* `layout`: only its events; NULL: all. */
static void recount_all(struct fixture *fixture, const char *layout, struct recount *recount)
{
    Errata__V1__ListFeedbackEventsRequest request = ERRATA__V1__LIST_FEEDBACK_EVENTS_REQUEST__INIT;
    Errata__V1__ListFeedbackEventsResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/ListFeedbackEvents",
                                         .authorization = fixture->admin};

    request.page_size = 1000;
    request.layout_fingerprint = (char *)(uintptr_t)(layout != NULL ? layout : "");
    do {
        assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
        ASSERT(response != NULL);
        for (size_t i = 0; i < response->n_events; i++) {
            recount_event(recount, response->events[i]);
        }
        request.page_token = response->next_page_token;
    } while (response->next_page_token[0] != '\0');
}

/* Checks that a list has each counted name, most frequent first, ties by name. `kind` 2: both. */
static void check_fields(const struct recount *recount, unsigned kind,
                         Errata__V1__FieldCount **reported, size_t count)
{
    size_t expected = 0;

    for (size_t i = 0; i < recount->name_count; i++) {
        uint64_t n =
            kind == 2 ? recount->counts[i][0] + recount->counts[i][1] : recount->counts[i][kind];

        expected += n > 0 ? 1 : 0;
        assert_int_equal(count_of(reported, count, recount->names[i]), n);
    }
    assert_int_equal(count, expected);
    for (size_t i = 1; i < count; i++) {
        assert_true(reported[i - 1]->count > reported[i]->count ||
                    (reported[i - 1]->count == reported[i]->count &&
                     strcmp(reported[i - 1]->field, reported[i]->field) < 0));
    }
}

static void check_days(const struct recount *recount,
                       const Errata__V1__GetLearningAnalyticsResponse *response)
{
    size_t count = (size_t)(recount->last_day - recount->first_day) + 1;

    assert_int_equal(response->n_events_by_day, count);
    assert_int_equal(response->n_corrections_by_day, count);
    assert_int_equal(response->n_mapping_events_by_day, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(response->events_by_day[i]->count, recount->by_day[i]);
        assert_int_equal(response->corrections_by_day[i]->count, recount->corrections[i]);
        assert_int_equal(response->mapping_events_by_day[i]->count, recount->mappings[i]);
    }
}

static void check_range_of(struct fixture *fixture, const char *layout, int64_t first_day,
                           int64_t last_day)
{
    struct recount *recount = arena_calloc(&fixture->arena, 1, sizeof(*recount));
    char first[DAY_TEXT_BYTES + 1] = {0};
    char last[DAY_TEXT_BYTES + 1] = {0};
    Errata__V1__GetLearningAnalyticsResponse *response = NULL;
    size_t types = 0;

    assert_non_null(recount);
    recount->first_day = first_day;
    recount->last_day = last_day;
    recount_all(fixture, layout, recount);
    day_format(first_day, first);
    day_format(last_day, last);
    response = learning_asked(fixture, &(const struct asked){first, last, layout});
    assert_string_equal(response->start_date, first);
    assert_string_equal(response->end_date, last);
    check_days(recount, response);
    for (size_t i = 0; i < response->n_by_event_type; i++) {
        const Errata__V1__EventTypeCount *type = response->by_event_type[i];

        assert_int_equal(type->count, recount->by_type[type->event_type]);
        assert_true(i == 0 || response->by_event_type[i - 1]->count >= type->count);
    }
    for (size_t i = 0; i <= FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED; i++) {
        types += recount->by_type[i] > 0 ? 1 : 0;
    }
    assert_int_equal(response->n_by_event_type, types);
    assert_int_equal(response->mapping_confirmed_count,
                     recount->by_type[FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED]);
    assert_int_equal(response->mapping_rejected_count,
                     recount->by_type[FEEDBACK_EVENT_TYPE_MAPPING_REJECTED]);
    assert_false(response->incomplete);
    check_fields(recount, 0, response->corrected_line_fields, response->n_corrected_line_fields);
    check_fields(recount, 1, response->corrected_header_fields,
                 response->n_corrected_header_fields);
    check_fields(recount, 2, response->corrected_fields, response->n_corrected_fields);
}

/* Checks the organisation, a layout, and an unknown layout. */
static void check_range(struct fixture *fixture, int64_t first_day, int64_t last_day)
{
    check_range_of(fixture, NULL, first_day, last_day);
    check_range_of(fixture, "one", first_day, last_day);
    check_range_of(fixture, "none", first_day, last_day);
}

static uint64_t draw(struct random_seeded *random, uint64_t below)
{
    uint64_t value = 0;

    random_fill(&random->random, &value, sizeof(value));
    return value % below;
}

/* Goal: the counters equal a scan of all events. Method: events of all types, of today and of earlier
 * days, in random order, some with many fields; several ranges, one of them before all events, each
 * beside a recount of ListFeedbackEvents. */
static void test_counters_equal_a_scan(void **state)
{
    static const char *const fields[] = {"qty", "sku", "uom", "price", "note", "date", "other"};
    int64_t today = day_of(FIXTURE_START_US);
    struct random_seeded random;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    random_seeded_init(&random, 51);
    for (unsigned i = 0; i < 300; i++) {
        char after[128] = {0};
        static const char *const layouts[] = {"one", "one", "two", NULL};
        struct sample sample = {.layout = layouts[draw(&random, 4)], .after = after};
        size_t at = 0;

        sample.type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
        if (draw(&random, 3) == 0) {
            static const enum feedback_event_type others[] = {
                FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED,
                FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED,
                FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED, FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED,
                FEEDBACK_EVENT_TYPE_MAPPING_REJECTED};

            sample.type = others[draw(&random, 5)];
        }
        for (size_t field = 0; field < 7; field++) {
            if (field == i % 7 || draw(&random, 4) == 0) {
                at += (size_t)snprintf(after + at, sizeof(after) - at, "%s\"%s\":%u",
                                       at == 0 ? "{" : ",", fields[field], i + 1);
            }
        }
        (void)snprintf(after + at, sizeof(after) - at, "}");
        if (draw(&random, 4) != 0) {
            sample.created_at_us =
                FIXTURE_START_US - (int64_t)draw(&random, (uint64_t)(40 * DAY_US));
        }
        capture(&fixture, &sample);
    }
    check_range(&fixture, today - 29, today);
    check_range(&fixture, today - 365, today);
    check_range(&fixture, today, today);
    check_range(&fixture, today - 40, today - 30);
    check_range(&fixture, today - 500, today - 400);
    for (unsigned i = 0; i < 10; i++) {
        int64_t last = today - (int64_t)draw(&random, 40);

        check_range(&fixture, last - (int64_t)draw(&random, 30), last);
    }
    fixture_deinit(&fixture);
}

/* Goal: days begin at midnight UTC. Method: the last and first microsecond of neighbouring days. */
static void test_days_begin_at_midnight_utc(void **state)
{
    static const int64_t times[] = {FIXTURE_START_US - DAY_US - 1, FIXTURE_START_US - DAY_US,
                                    FIXTURE_START_US - 1, FIXTURE_START_US};
    Errata__V1__GetLearningAnalyticsResponse *response = NULL;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < 4; i++) {
        capture(&fixture, &(struct sample){FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED, NULL,
                                           "{\"customer_id\":\"c\"}", times[i]});
    }
    response = learning_of(&fixture, "2025-12-30", "2026-01-01");
    assert_int_equal(response->n_events_by_day, 3);
    assert_int_equal(response->events_by_day[0]->count, 1);
    assert_int_equal(response->events_by_day[1]->count, 2);
    assert_int_equal(response->events_by_day[2]->count, 1);
    assert_int_equal(response->n_corrected_fields, 0);
    response = learning_of(&fixture, "2025-12-31", "2025-12-31");
    assert_int_equal(response->n_events_by_day, 1);
    assert_int_equal(response->events_by_day[0]->count, 2);
    fixture_deinit(&fixture);
}

struct range_case {
    const char *first;
    const char *last;
    size_t days; /* 0: refused */
    const char *reported; /* the first day, or the name in the details of the refusal */
    const char *reported_too; /* further reported name, or NULL */
};

/* Goal: all invalid ends are named at once. Method: invalid dates, other forms, missing ends. */
static void test_invalid_range_is_refused_by_field(void **state)
{
    static const struct range_case cases[] = {
        {"", "", 30, "2025-12-03", NULL},
        {"2025-12-31", "", 2, "2025-12-31", NULL},
        {"", "2024-03-01", 30, "2024-02-01", NULL},
        {"2024-02-29", "2024-02-29", 1, "2024-02-29", NULL},
        {"2024-01-01", "2024-12-31", 366, "2024-01-01", NULL},
        {"1969-12-25", "1970-01-03", 10, "1969-12-25", NULL},
        {"1900-01-01", "1900-12-31", 365, "1900-01-01", NULL},
        {"9999-12-31", "9999-12-31", 1, "9999-12-31", NULL},
        {"0001-01-01", "0001-01-01", 1, "0001-01-01", NULL},
        {"", "0001-01-05", 5, "0001-01-01", NULL},
        {"", "0001-01-30", 30, "0001-01-01", NULL},
        {"2024-01-01", "2025-01-01", 0, "start_date", NULL},
        {"2026-01-02", "2026-01-01", 0, "start_date", NULL},
        {"2026-01-02", "", 0, "start_date", NULL},
        {"2025-02-29", "2025-03-01", 0, "start_date", NULL},
        {"2025-02-01", "2025-04-31", 0, "end_date", NULL},
        {"2025-13-01", "2025-00-10", 0, "start_date", "end_date"},
        {"yesterday!", "2025-1-1", 0, "start_date", "end_date"},
        {"2025/12/01", "20251201", 0, "start_date", "end_date"},
        {" 2025-12-1", "2025-12-1 ", 0, "start_date", "end_date"},
        {"0000-01-01", "", 0, "start_date", NULL},
    };
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct range_case *range = &cases[i];
        Errata__V1__GetLearningAnalyticsResponse *response = NULL;
        struct exchange exchange =
            ask_learning(&fixture, fixture.admin,
                         &(const struct asked){range->first, range->last, NULL}, &response);

        assert_int_equal(exchange.code, range->days > 0 ? STATUS_OK : STATUS_INVALID_ARGUMENT);
        if (range->days == 0) {
            assert_true(slice_has(exchange.details, range->reported));
            assert_true(range->reported_too == NULL ||
                        slice_has(exchange.details, range->reported_too));
            continue;
        }
        ASSERT(response != NULL);
        assert_int_equal(response->n_events_by_day, range->days);
        assert_string_equal(response->start_date, range->reported);
        assert_string_equal(response->events_by_day[0]->date, range->reported);
        assert_string_equal(response->events_by_day[range->days - 1]->date, response->end_date);
    }
    fixture_deinit(&fixture);
}

/* A correction of `count` fields, numbered from `first`. */
static void capture_many(struct fixture *fixture, unsigned first, unsigned count)
{
    struct buffer after;

    buffer_init(&after, &fixture->arena, 4096);
    for (unsigned i = 0; i < count; i++) {
        buffer_printf(&after, "%s\"f%04u\":1", i == 0 ? "{" : ",", first + i);
    }
    buffer_append(&after, slice_of("}", 2));
    capture(fixture, &(struct sample){FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED, NULL,
                                      (const char *)after.data, 0});
}

/* Goal: names beyond 1,000 per day count as `other`; the lists have the requested length. */
static void test_fields_above_the_bound_count_as_other(void **state)
{
    Errata__V1__GetLearningAnalyticsRequest request =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    const struct exchange_start start = {.path = LEARNING};
    Errata__V1__GetLearningAnalyticsResponse *response = NULL;
    struct exchange_start asked = start;
    struct fixture fixture;
    uint64_t sum = 0;

    (void)state;
    fixture_init(&fixture);
    for (unsigned i = 0; i < 11; i++) {
        capture_many(&fixture, 100 * i, 100);
    }
    capture_many(&fixture, 0, 3);
    response = learning_of(&fixture, "", "");
    assert_int_equal(response->n_corrected_fields, 1000);
    assert_string_equal(response->corrected_fields[0]->field, "other");
    assert_int_equal(response->corrected_fields[0]->count, 100);
    assert_string_equal(response->corrected_fields[1]->field, "f0000");
    assert_int_equal(response->corrected_fields[1]->count, 2);
    assert_string_equal(response->corrected_fields[4]->field, "f0003");
    assert_int_equal(response->corrected_fields[4]->count, 1);
    for (size_t i = 0; i < response->n_corrected_header_fields; i++) {
        sum += response->corrected_header_fields[i]->count;
    }
    assert_int_equal(sum, 1103 - 1); /* one of the 1,001 names is not among the first 1,000 */
    asked.authorization = fixture.admin;
    assert_int_equal(call(&fixture, &asked, &request.base,
                          &errata__v1__get_learning_analytics_response__descriptor, &response)
                         .code,
                     STATUS_OK);
    assert_int_equal(response->n_corrected_fields, 10);
    request.top_fields = 1001;
    assert_int_equal(call(&fixture, &asked, &request.base,
                          &errata__v1__get_learning_analytics_response__descriptor, &response)
                         .code,
                     STATUS_INVALID_ARGUMENT);
    fixture_deinit(&fixture);
}

/* Goal: analytics is for INTEGRATOR and ADMIN (FR-020), and covers only their own organisation. */
static void test_analytics_need_integrator_or_admin(void **state)
{
    Errata__V1__GetLearningAnalyticsResponse *response = NULL;
    struct fixture fixture;
    char stranger[FIXTURE_TOKEN_BYTES];

    (void)state;
    fixture_init(&fixture);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "mine");
    for (int role = ROLE_VIEWER; role <= ROLE_ADMIN; role++) {
        bool may = role == ROLE_INTEGRATOR || role == ROLE_ADMIN;
        char token[FIXTURE_TOKEN_BYTES];

        fixture_make_token(&fixture, fixture.admin, (enum role)role, token);
        assert_int_equal(
            ask_learning(&fixture, token, &(const struct asked){"", "", NULL}, &response).code,
            may ? STATUS_OK : STATUS_PERMISSION_DENIED);
    }
    (void)fixture_make_org(&fixture, "stranger", stranger);
    assert_int_equal(
        ask_learning(&fixture, stranger, &(const struct asked){"", "", NULL}, &response).code,
        STATUS_OK);
    assert_int_equal(response->n_by_event_type, 0);
    assert_int_equal(response->n_corrected_fields, 0);
    assert_int_equal(response->n_layout_stats, 0);
    fixture_deinit(&fixture);
}

/* --- layouts --- */

static Errata__V1__ListLayoutCoverageResponse *coverage_of(struct fixture *fixture,
                                                           enum layout_coverage_order order,
                                                           int32_t page_size,
                                                           const char *page_token)
{
    Errata__V1__ListLayoutCoverageRequest request = ERRATA__V1__LIST_LAYOUT_COVERAGE_REQUEST__INIT;
    Errata__V1__ListLayoutCoverageResponse *response = NULL;
    const struct exchange_start start = {.path = COVERAGE, .authorization = fixture->admin};

    request.order = (Errata__V1__LayoutCoverageOrder)order;
    request.page_size = page_size;
    request.page_token = (char *)(uintptr_t)page_token;
    assert_int_equal(call(fixture, &start, &request.base,
                          &errata__v1__list_layout_coverage_response__descriptor, &response)
                         .code,
                     STATUS_OK);
    ASSERT(response != NULL);
    return response;
}

/* Ingests documents of a layout; returns its fingerprint. Layouts differ in their text coverage. */
static const char *ingest_layout(struct fixture *fixture, unsigned layout, unsigned count)
{
    const struct exchange_start start = {.path = INGEST_UNARY, .authorization = fixture->admin};
    Errata__V1__Document *document = NULL;

    fixture->documents.answer.text.covered_cells = 50000 * layout;
    for (unsigned i = 0; i < count; i++) {
        char id[24];
        char content[40];

        clock_manual_advance(&fixture->clock, 1000000);
        (void)snprintf(id, sizeof(id), "%lld", (long long)fixture->clock.wall_us);
        (void)snprintf(content, sizeof(content), "%%PDF-1.4 %s", id);
        assert_int_equal(ingest(fixture, &start, id, slice_text(content), &document), STATUS_OK);
    }
    ASSERT(document != NULL);
    return document->layout_fingerprint;
}

#define SEEN_LAYOUTS 5
#define NAMED_LAYOUTS 5

/* Layouts with documents, and the part of a list seen so far. */
struct coverage_model {
    const char *fingerprints[SEEN_LAYOUTS]; /* in the order of their last documents */
    enum layout_coverage_order order;
    size_t count;
    unsigned named; /* a bit for each listed layout */
};

/* Number of documents of each layout. */
static const unsigned seen_counts[SEEN_LAYOUTS] = {2, 5, 1, 4, 3};

static void check_seen(const struct coverage_model *model, const Errata__V1__LayoutCoverage *item)
{
    unsigned wanted = SEEN_LAYOUTS - 1 - (unsigned)model->count;

    if (model->order == LAYOUT_COVERAGE_ORDER_MOST_SEEN) {
        wanted = 0;
        while (seen_counts[wanted] != SEEN_LAYOUTS - model->count) {
            wanted++;
        }
    }
    assert_string_equal(item->layout_fingerprint, model->fingerprints[wanted]);
    assert_int_equal(strlen(item->fingerprint_short), 8);
    assert_memory_equal(item->fingerprint_short, item->layout_fingerprint, 8);
    assert_int_equal(item->seen_count, seen_counts[wanted]);
    assert_int_equal(item->feedback_count, wanted == 1 ? 2 : 0);
    assert_int_equal(item->example_count, wanted == 1 ? 1 : 0);
    assert_non_null(item->last_seen_at);
}

static void check_named(struct coverage_model *model, const Errata__V1__LayoutCoverage *item)
{
    unsigned number = (unsigned)(item->layout_fingerprint[0] - '0');

    assert_string_equal(item->layout_fingerprint + 1, " \xc3\xa9t\xc3\xa9 named");
    /* Eight characters, two of them of two bytes. */
    assert_int_equal(strlen(item->fingerprint_short), 10);
    assert_memory_equal(item->fingerprint_short, item->layout_fingerprint, 10);
    assert_null(item->last_seen_at);
    assert_int_equal(item->seen_count, 0);
    assert_int_equal(item->example_count, 1);
    assert_int_equal(model->named >> number & 1, 0);
    model->named |= 1u << number;
}

/* The whole list, in pages of a size. */
static void check_list(struct fixture *fixture, struct coverage_model model, int32_t page_size)
{
    const char *token = "";

    do {
        Errata__V1__ListLayoutCoverageResponse *page =
            coverage_of(fixture, model.order, page_size, token);

        assert_true(page->n_layout_stats > 0);
        for (size_t i = 0; i < page->n_layout_stats; i++) {
            assert_int_equal(page->layout_stats[i]->_correction_rate_case, 0);
            if (model.count < SEEN_LAYOUTS) {
                check_seen(&model, page->layout_stats[i]);
            } else {
                check_named(&model, page->layout_stats[i]);
            }
            model.count++;
        }
        token = page->next_page_token;
    } while (token[0] != '\0');
    assert_int_equal(model.count, SEEN_LAYOUTS + NAMED_LAYOUTS);
}

/* Goal: US5.3: layouts are listed in both orders, each with its counts. Method: pages of any size. */
static void test_coverage_lists_each_layout_with_its_counts(void **state)
{
    struct coverage_model model = {.count = 0};
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    for (unsigned i = 0; i < SEEN_LAYOUTS; i++) {
        model.fingerprints[i] = ingest_layout(&fixture, i + 1, seen_counts[i]);
    }
    for (unsigned i = 0; i < NAMED_LAYOUTS; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "%u \xc3\xa9t\xc3\xa9 named", i);
        (void)fixture_capture(&fixture, fixture.admin, NULL, name);
    }
    (void)fixture_capture(&fixture, fixture.admin, NULL, model.fingerprints[1]);
    capture(&fixture, &(struct sample){FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED, model.fingerprints[1],
                                       "{\"customer_id\":\"c\"}", 0});
    for (int32_t page_size = 1; page_size <= SEEN_LAYOUTS + NAMED_LAYOUTS + 1; page_size++) {
        for (int order = 0; order <= LAYOUT_COVERAGE_ORDER_MOST_SEEN; order++) {
            model.order = (enum layout_coverage_order)order;
            check_list(&fixture, model, page_size);
        }
    }
    fixture_deinit(&fixture);
}

/* Goal: pages miss no layout that keeps its place while others move. Method: between two pages a
 * layout that is still to be listed gets a document, and one that only events named gets its
 * first. */
static void test_moving_layouts_are_not_missed_by_pages(void **state)
{
    struct fixture fixture;
    const char *fingerprints[3];
    Errata__V1__ListLayoutCoverageResponse *page = NULL;

    (void)state;
    fixture_init(&fixture);
    for (unsigned i = 0; i < 3; i++) {
        fingerprints[i] = ingest_layout(&fixture, i + 1, 1);
    }
    (void)fixture_capture(&fixture, fixture.admin, NULL, "named");
    page = coverage_of(&fixture, LAYOUT_COVERAGE_ORDER_LAST_SEEN, 1, "");
    assert_string_equal(page->layout_stats[0]->layout_fingerprint, fingerprints[2]);
    (void)ingest_layout(&fixture, 2, 1);
    page = coverage_of(&fixture, LAYOUT_COVERAGE_ORDER_LAST_SEEN, 1, page->next_page_token);
    assert_string_equal(page->layout_stats[0]->layout_fingerprint, fingerprints[0]);
    page = coverage_of(&fixture, LAYOUT_COVERAGE_ORDER_LAST_SEEN, 5, page->next_page_token);
    assert_int_equal(page->n_layout_stats, 1);
    assert_string_equal(page->layout_stats[0]->layout_fingerprint, "named");
    assert_string_equal(page->next_page_token, "");
    fixture_deinit(&fixture);
}

/* Goal: a page token is valid only for its own list, order and organisation. */
static void test_coverage_token_of_another_list_is_refused(void **state)
{
    Errata__V1__ListLayoutCoverageRequest request = ERRATA__V1__LIST_LAYOUT_COVERAGE_REQUEST__INIT;
    struct exchange_start start = {.path = COVERAGE};
    struct fixture fixture;
    char stranger[FIXTURE_TOKEN_BYTES];
    void *response = NULL;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "stranger", stranger);
    (void)fixture_capture(&fixture, fixture.admin, NULL, "one");
    (void)fixture_capture(&fixture, fixture.admin, NULL, "two");
    request.page_token =
        coverage_of(&fixture, LAYOUT_COVERAGE_ORDER_MOST_SEEN, 1, "")->next_page_token;
    assert_int_not_equal(request.page_token[0], '\0');
    for (int bad = 0; bad < 4; bad++) {
        struct exchange exchange;

        request.order =
            (Errata__V1__LayoutCoverageOrder)(bad == 1 ? LAYOUT_COVERAGE_ORDER_LAST_SEEN
                                                       : LAYOUT_COVERAGE_ORDER_MOST_SEEN);
        start.authorization = bad == 2 ? stranger : fixture.admin;
        if (bad == 3) {
            request.page_token[3] ^= 1;
        }
        exchange = call(&fixture, &start, &request.base,
                        &errata__v1__list_layout_coverage_response__descriptor, &response);
        assert_int_equal(exchange.code, bad == 0 ? STATUS_OK : STATUS_INVALID_ARGUMENT);
        assert_true(bad == 0 || slice_has(exchange.details, "page_token"));
    }
    request.page_token = (char *)protobuf_c_empty_string;
    request.order = (Errata__V1__LayoutCoverageOrder)7;
    start.authorization = fixture.admin;
    assert_int_equal(call(&fixture, &start, &request.base,
                          &errata__v1__list_layout_coverage_response__descriptor, &response)
                         .code,
                     STATUS_INVALID_ARGUMENT);
    fixture_deinit(&fixture);
}

int run_analytics_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_us5_2_top_fields_are_ordered_by_count),
        cmocka_unit_test(test_counters_equal_a_scan),
        cmocka_unit_test(test_days_begin_at_midnight_utc),
        cmocka_unit_test(test_invalid_range_is_refused_by_field),
        cmocka_unit_test(test_fields_above_the_bound_count_as_other),
        cmocka_unit_test(test_analytics_need_integrator_or_admin),
        cmocka_unit_test(test_coverage_lists_each_layout_with_its_counts),
        cmocka_unit_test(test_moving_layouts_are_not_missed_by_pages),
        cmocka_unit_test(test_coverage_token_of_another_list_is_refused),
    };

    return cmocka_run_group_tests_name("analytics", tests, NULL, NULL);
}
