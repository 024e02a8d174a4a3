/*
 * feedback_tests.c: FeedbackService's captures through calls: their reports about an event, and the ids that
 * they refuse.
 */
#include "tests/rpc/extractions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct exchange_start capture_start = {
    .path = "errata.v1.FeedbackService/CaptureFeedbackEvent"};

/* A correction of a layout. */
static Errata__V1__FeedbackEvent correction_of(const char *layout, const char *before,
                                               const char *after)
{
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event._layout_fingerprint_case =
        ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    event.layout_fingerprint = (char *)(uintptr_t)layout;
    event.before_json = (char *)(uintptr_t)before;
    event.after_json = (char *)(uintptr_t)after;
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN;
    return event;
}

static Errata__V1__FeedbackEvent *capture(struct fixture *fixture, Errata__V1__FeedbackEvent *event,
                                          const char *key)
{
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__CaptureFeedbackEventResponse *response = NULL;
    struct exchange_start start = capture_start;

    start.authorization = fixture->admin;
    start.idempotency_key = key;
    request.event = event;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->event;
}

static void expect_unchanged(const Errata__V1__FeedbackEvent *event)
{
    assert_true(event->_is_example_case != 0 && !event->is_example);
    assert_int_equal(event->n_warnings, 1);
    assert_int_equal(event->warnings[0]->code,
                     ERRATA__V1__WARNING_CODE__WARNING_CODE_OUTPUT_UNCHANGED);
    assert_string_equal(
        event->warnings[0]->message,
        "after_json: equal to before_json, so this is not an example; expected a changed value");
}

/* Goal: captures answer whether an event is an example, and their warnings, also when they are repeated.
 * Method: a correction that changes something and one that does not, singly and as a batch. */
static void test_capture_reports_its_warnings(void **state)
{
    Errata__V1__FeedbackEvent changed = correction_of("abc", "{\"qty\":1}", "{\"qty\":2}");
    Errata__V1__FeedbackEvent same = correction_of("abc", "{\"qty\":1}", "{\"qty\":1.0}");
    Errata__V1__FeedbackEvent *events[] = {&changed, &same};
    Errata__V1__BatchCaptureFeedbackEventsRequest request =
        ERRATA__V1__BATCH_CAPTURE_FEEDBACK_EVENTS_REQUEST__INIT;
    Errata__V1__BatchCaptureFeedbackEventsResponse *response = NULL;
    const Errata__V1__FeedbackEvent *captured = NULL;
    struct exchange_start start = {.path = "errata.v1.FeedbackService/BatchCaptureFeedbackEvents"};
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    captured = capture(&fixture, &changed, NULL);
    assert_true(captured->is_example && captured->n_warnings == 0);
    expect_unchanged(capture(&fixture, &same, "key"));
    expect_unchanged(capture(&fixture, &same, "key"));
    start.authorization = fixture.admin;
    request.n_events = 2;
    request.events = events;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_events, 2);
    assert_true(response->events[0]->is_example && response->events[0]->n_warnings == 0);
    expect_unchanged(response->events[1]);
    fixture_deinit(&fixture);
}

/* Goal: an example that is by a program only because the capture names no user has a warning; one of a named user
 * or a given kind, and an event that is not an example, do not have it. Method: captures with a token that is
 * bound to no user. */
static void test_assumed_program_has_a_warning(void **state)
{
    Errata__V1__FeedbackEvent event = correction_of("abc", "{\"qty\":1}", "{\"qty\":2}");
    Errata__V1__FeedbackEvent same = correction_of("abc", "{\"qty\":1}", "{\"qty\":1}");
    const Errata__V1__FeedbackEvent *captured = NULL;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_UNSPECIFIED;
    same.annotator_kind = event.annotator_kind;
    captured = capture(&fixture, &event, NULL);
    assert_true(captured->is_example);
    assert_int_equal(captured->annotator_kind, ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_CODE);
    assert_int_equal(captured->n_warnings, 1);
    assert_int_equal(captured->warnings[0]->code,
                     ERRATA__V1__WARNING_CODE__WARNING_CODE_ANNOTATOR_ASSUMED);
    assert_string_equal(captured->warnings[0]->message,
                        "annotator_kind: CODE, since neither the token nor actor_user_id names a "
                        "user, so this example is served only on request; expected actor_user_id, "
                        "or annotator_kind");
    expect_unchanged(capture(&fixture, &same, NULL));
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_CODE;
    assert_int_equal(capture(&fixture, &event, NULL)->n_warnings, 0);
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_UNSPECIFIED;
    event._actor_user_id_case = ERRATA__V1__FEEDBACK_EVENT___ACTOR_USER_ID_ACTOR_USER_ID;
    event.actor_user_id = (char *)(uintptr_t) "anna";
    assert_int_equal(capture(&fixture, &event, NULL)->n_warnings, 0);
    fixture_deinit(&fixture);
}

/* Goal: an id that is present but empty is refused in a write, not in a read. Method: the same empty
 * document_id in a capture and in GetExamples. */
static void test_empty_id_is_refused_in_a_write(void **state)
{
    Errata__V1__FeedbackEvent event = correction_of("abc", "{\"qty\":1}", "{\"qty\":2}");
    Errata__V1__CaptureFeedbackEventRequest capture_request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__GetExamplesRequest examples_request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    struct exchange_start start = capture_start;
    struct exchange exchange;
    struct fixture fixture;
    char nothing[] = "";
    char layout[] = "abc";

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    event._document_id_case = ERRATA__V1__FEEDBACK_EVENT___DOCUMENT_ID_DOCUMENT_ID;
    event.document_id = nothing;
    capture_request.event = &event;
    exchange = fixture_call_whole(&fixture, &start, &capture_request.base);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(
        slice_has(exchange.message, "event.document_id: empty; expected an id, or no value"));
    start.path = "errata.v1.PromptService/GetExamples";
    examples_request._document_id_case = ERRATA__V1__GET_EXAMPLES_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
    examples_request.document_id = nothing;
    examples_request.layout_fingerprint = layout;
    assert_int_equal(fixture_call(&fixture, &start, &examples_request.base, NULL), STATUS_OK);
    fixture_deinit(&fixture);
}

/* Returns the number of examples in a reply of GetExamples, and whether it has a reference. */
struct got {
    size_t count;
    bool has_reference;
};

static struct got get_examples(struct fixture *fixture,
                               const Errata__V1__GetExamplesRequest *request)
{
    Errata__V1__GetExamplesResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples",
                                         .authorization = fixture->admin};

    assert_int_equal(fixture_call(fixture, &start, &request->base, &response), STATUS_OK);
    return (struct got){response->n_examples, response->exposure_ref[0] != '\0'};
}

/* Goal: a document id is enough to find the layout, by the extraction of it if it was not ingested; its own
 * corrections are served only on request; a copy is served once; a read of the past has no reference. Method: four
 * corrections, two of which are the same. */
static void test_document_id_selects_examples(void **state)
{
    char document[] = "invoice-1";
    Errata__V1__FeedbackEvent copies = correction_of("abc", "{\"qty\":1}", "{\"qty\":2}");
    Errata__V1__FeedbackEvent other = correction_of("abc", "{\"qty\":1}", "{\"qty\":3}");
    Errata__V1__FeedbackEvent own = correction_of("", "{\"qty\":1}", "{\"qty\":4}");
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples"};
    struct exchange exchange;
    struct fixture fixture;
    struct got got;

    (void)state;
    fixture_init(&fixture);
    (void)extractions_record(&fixture, &(struct sent){.document_id = document, .layout = "abc"});
    own._layout_fingerprint_case = 0;
    own._document_id_case = ERRATA__V1__FEEDBACK_EVENT___DOCUMENT_ID_DOCUMENT_ID;
    own.document_id = document;
    assert_string_equal(capture(&fixture, &own, NULL)->layout_fingerprint, "abc");
    (void)capture(&fixture, &copies, NULL);
    (void)capture(&fixture, &copies, NULL);
    (void)capture(&fixture, &other, NULL);
    request._document_id_case = ERRATA__V1__GET_EXAMPLES_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
    request.document_id = document;
    got = get_examples(&fixture, &request);
    assert_true(got.count == 2 && got.has_reference);
    request.include_own = 1;
    assert_int_equal(get_examples(&fixture, &request).count, 3);
    request.as_of_case = ERRATA__V1__GET_EXAMPLES_REQUEST__AS_OF_AS_OF_SEQ;
    request.as_of_seq = 100;
    got = get_examples(&fixture, &request);
    assert_true(got.count == 3 && !got.has_reference);
    request._document_id_case = 0;
    start.authorization = fixture.admin;
    exchange = fixture_call_whole(&fixture, &start, &request.base);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.message, "layout_fingerprint: missing; expected a layout"));
    fixture_deinit(&fixture);
}

/* Returns the number of events of a kind of annotator. */
static size_t count_of(struct fixture *fixture, Errata__V1__AnnotatorKind kind)
{
    Errata__V1__ListFeedbackEventsRequest request = ERRATA__V1__LIST_FEEDBACK_EVENTS_REQUEST__INIT;
    Errata__V1__ListFeedbackEventsResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/ListFeedbackEvents",
                                         .authorization = fixture->admin};

    request.annotator_kind = kind;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    for (size_t i = 0; i < response->n_events; i++) {
        assert_true(kind == 0 || response->events[i]->annotator_kind == kind);
    }
    return response->n_events;
}

/* Goal: the annotator kind is returned, and lists are filtered by it. Method: captures with the kind, and captures
 * whose actor determines it. */
static void test_lists_are_filtered_by_annotator_kind(void **state)
{
    Errata__V1__FeedbackEvent event = correction_of("abc", "{\"qty\":1}", "{\"qty\":2}");
    struct fixture fixture;
    char user[] = "ann";

    (void)state;
    fixture_init(&fixture);
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_UNSPECIFIED;
    assert_int_equal(capture(&fixture, &event, NULL)->annotator_kind,
                     ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_CODE);
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_LLM;
    assert_int_equal(capture(&fixture, &event, NULL)->annotator_kind,
                     ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_LLM);
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_UNSPECIFIED;
    event._actor_user_id_case = ERRATA__V1__FEEDBACK_EVENT___ACTOR_USER_ID_ACTOR_USER_ID;
    event.actor_user_id = user;
    assert_int_equal(capture(&fixture, &event, NULL)->annotator_kind,
                     ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN);
    (void)capture(&fixture, &event, NULL);
    assert_int_equal(count_of(&fixture, ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_UNSPECIFIED), 4);
    assert_int_equal(count_of(&fixture, ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_CODE), 1);
    assert_int_equal(count_of(&fixture, ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_LLM), 1);
    assert_int_equal(count_of(&fixture, ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN), 2);
    fixture_deinit(&fixture);
}

/* Returns which of the outputs `{"qty":1}` (HUMAN), 2 (CODE) and 3 (LLM) are examples, newest first; `as_of_seq` 0:
 * now. */
static struct slice examples_by(struct fixture *fixture, const Errata__V1__AnnotatorKind *kinds,
                                size_t count, uint64_t as_of_seq)
{
    static char layout[] = "abc";
    Errata__V1__AnnotatorKind listed[3];
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples",
                                         .authorization = fixture->admin};
    struct buffer found;

    memcpy(listed, kinds, count * sizeof(listed[0]));
    request.layout_fingerprint = layout;
    request.annotator_kinds = listed;
    request.n_annotator_kinds = count;
    if (as_of_seq != 0) {
        request.as_of_case = ERRATA__V1__GET_EXAMPLES_REQUEST__AS_OF_AS_OF_SEQ;
        request.as_of_seq = as_of_seq;
    }
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    buffer_init(&found, &fixture->arena, 16);
    for (size_t i = 0; i < response->n_examples; i++) {
        buffer_append_byte(&found, (uint8_t)response->examples[i]->output[strlen("{\"qty\":")]);
    }
    return buffer_slice(&found);
}

/* Sets the organisation's kinds, and returns the status. */
static uint32_t set_kinds(struct fixture *fixture, Errata__V1__AnnotatorKind *kinds, size_t count)
{
    Errata__V1__OrganizationSettings settings = ERRATA__V1__ORGANIZATION_SETTINGS__INIT;
    Errata__V1__UpdateSettingsRequest request = ERRATA__V1__UPDATE_SETTINGS_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.AdminService/UpdateSettings",
                                         .authorization = fixture->admin};

    settings.annotator_kinds = kinds;
    settings.n_annotator_kinds = count;
    request.settings = &settings;
    return fixture_call_whole(fixture, &start, &request.base).code;
}

/* Goal: examples are corrections of people, unless the request or the organisation's setting lists other kinds;
 * the setting is that of the requested time. Method: one correction of each kind, each list of kinds, a changed
 * setting, and as_of before that. */
static void test_examples_are_corrections_of_people(void **state)
{
    static const char *const outputs[] = {"{\"qty\":1}", "{\"qty\":2}", "{\"qty\":3}"};
    Errata__V1__AnnotatorKind kinds[] = {ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN,
                                         ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_CODE,
                                         ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_LLM};
    Errata__V1__AnnotatorKind unspecified = 0;
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples"};
    struct exchange exchange;
    struct fixture fixture;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    for (size_t i = 0; i < 3; i++) {
        Errata__V1__FeedbackEvent event = correction_of("abc", "{\"qty\":9}", outputs[i]);

        event.annotator_kind = kinds[i];
        assert_true(capture(&fixture, &event, NULL)->is_example);
    }
    seq = extractions_count_events(&fixture, ALL);
    assert_true(slice_equal(examples_by(&fixture, kinds, 0, 0), SLICE("1")));
    assert_true(slice_equal(examples_by(&fixture, kinds, 1, 0), SLICE("1")));
    assert_true(slice_equal(examples_by(&fixture, kinds + 1, 1, 0), SLICE("2")));
    assert_true(slice_equal(examples_by(&fixture, kinds + 1, 2, 0), SLICE("32")));
    assert_true(slice_equal(examples_by(&fixture, kinds, 3, 0), SLICE("321")));
    assert_int_equal(set_kinds(&fixture, &unspecified, 1), STATUS_INVALID_ARGUMENT);
    assert_int_equal(set_kinds(&fixture, kinds + 1, 2), STATUS_OK);
    assert_true(slice_equal(examples_by(&fixture, kinds, 0, 0), SLICE("32")));
    assert_true(slice_equal(examples_by(&fixture, kinds, 1, 0), SLICE("1")));
    assert_true(slice_equal(examples_by(&fixture, kinds, 0, seq), SLICE("1")));
    start.authorization = fixture.admin;
    request.annotator_kinds = &unspecified;
    request.n_annotator_kinds = 1;
    exchange = fixture_call_whole(&fixture, &start, &request.base);
    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    assert_true(slice_has(exchange.message, "annotator_kinds[0]: UNSPECIFIED; expected HUMAN"));
    fixture_deinit(&fixture);
}

int run_feedback_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capture_reports_its_warnings),
        cmocka_unit_test(test_assumed_program_has_a_warning),
        cmocka_unit_test(test_empty_id_is_refused_in_a_write),
        cmocka_unit_test(test_document_id_selects_examples),
        cmocka_unit_test(test_lists_are_filtered_by_annotator_kind),
        cmocka_unit_test(test_examples_are_corrections_of_people),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
