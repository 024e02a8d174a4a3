/*
 * family_example_tests.c: examples by layout family through calls: their selection and order, the credit of outcomes,
 * and the explanation of earlier replies.
 */
#include "tests/rpc/extractions.h"
#include "tests/rpc/ingest.h"
#include "tests/rpc/prompts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errata/v1/prompt_service.fields.h>

#define EXAMPLES "errata.v1.PromptService/GetExamples"
#define EXPLAIN "errata.v1.LearningService/ExplainExposure"

/* Ingests a document with the words of page 1 from `first` on, and this many tables; returns its fingerprint. */
static const char *ingest_page(struct fixture *fixture, const char *document_id, uint32_t first,
                               uint32_t tables)
{
    const struct exchange_start start = {.path = INGEST_UNARY, .authorization = fixture->admin};
    Errata__V1__Document *document = NULL;

    fixture->documents.answer.tables.table_count = tables;
    fake_documents_set_sketch(&fixture->documents, first);
    assert_int_equal(ingest(fixture, &start, document_id, slice_text(document_id), &document),
                     STATUS_OK);
    return document->layout_fingerprint;
}

/* Corrects a line; returns the id of the event. */
static char *correct(struct fixture *fixture, const char *document_id, const char *after)
{
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = fixture->admin};
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__CaptureFeedbackEventResponse *response = NULL;

    clock_manual_advance(&fixture->clock, 1000000);
    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN;
    event._document_id_case = ERRATA__V1__FEEDBACK_EVENT___DOCUMENT_ID_DOCUMENT_ID;
    event.document_id = text_of(document_id);
    event.before_json = text_of("{}");
    event.after_json = text_of(after);
    event.meta_json = text_of("{\"input_snippet\":\"Pos 1\"}");
    request.event = &event;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->event->id;
}

/* Parameters of a request; NULL and 0 omit one. */
struct asked {
    const char *layout;
    const char *document_id;
    Errata__V1__MatchMode mode;
    int32_t max_examples;
    uint64_t as_of_seq;
};

static Errata__V1__GetExamplesResponse *ask(struct fixture *fixture, struct asked asked)
{
    const struct exchange_start start = {.path = EXAMPLES, .authorization = fixture->admin};
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *response = NULL;

    if (asked.layout != NULL) {
        request.layout_fingerprint = text_of(asked.layout);
    }
    if (asked.document_id != NULL) {
        request._document_id_case = ERRATA__V1__GET_EXAMPLES_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
        request.document_id = text_of(asked.document_id);
    }
    if (asked.as_of_seq != 0) {
        request.as_of_case = ERRATA__V1__GET_EXAMPLES_REQUEST__AS_OF_AS_OF_SEQ;
        request.as_of_seq = asked.as_of_seq;
    }
    request.match_mode = asked.mode;
    request.max_examples = asked.max_examples;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response;
}

/* Expects the outputs of a response, in their order; NULL ends them. */
static void expect(const Errata__V1__GetExamplesResponse *response, int level,
                   const char *const *outputs)
{
    size_t count = 0;

    for (; outputs[count] != NULL; count++) {
        assert_true(count < response->n_examples);
        assert_string_equal(response->examples[count]->output, outputs[count]);
    }
    assert_int_equal(response->n_examples, count);
    assert_int_equal(response->match_level, level);
}

#define EXPECT(response, level, ...)                                                               \
    expect(response, level, (const char *const[]){__VA_ARGS__, NULL})
#define EXPECT_NONE(response) expect(response, MATCH_LEVEL_NONE, (const char *const[]){NULL})
#define EXACT ERRATA__V1__MATCH_MODE__MATCH_MODE_EXACT
#define FAMILY ERRATA__V1__MATCH_MODE__MATCH_MODE_FAMILY

static uint64_t last_seq(struct fixture *fixture)
{
    return extractions_count_events(fixture, ALL);
}

static void set_mode(struct fixture *fixture, Errata__V1__MatchMode mode)
{
    const struct exchange_start start = {.path = "errata.v1.AdminService/UpdateSettings",
                                         .authorization = fixture->admin};
    Errata__V1__UpdateSettingsRequest request = ERRATA__V1__UPDATE_SETTINGS_REQUEST__INIT;
    Errata__V1__OrganizationSettings settings = ERRATA__V1__ORGANIZATION_SETTINGS__INIT;

    settings._match_mode_case = ERRATA__V1__ORGANIZATION_SETTINGS___MATCH_MODE_MATCH_MODE;
    settings.match_mode = mode;
    request.settings = &settings;
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
}

/* Goal: FAMILY serves the examples of another fingerprint of the family, and names the layout of each; EXACT does
 * not; the organisation's setting is the default of both methods. Method: two similar pages, a correction of one. */
static void test_family_includes_examples_of_other_layouts(void **state)
{
    struct fixture fixture;
    Errata__V1__PreparePromptRequest prompt = prompts_of_template("{{hint_examples}}");
    Errata__V1__PreparePromptResponse *prepared = NULL;
    Errata__V1__GetExamplesResponse *found = NULL;
    const char *first = NULL;

    (void)state;
    fixture_init(&fixture);
    first = ingest_page(&fixture, "first", 0, 1);
    (void)ingest_page(&fixture, "second", 3, 2);
    (void)correct(&fixture, "first", "{\"qty\":12}");
    EXPECT_NONE(ask(&fixture, (struct asked){.document_id = "second"}));
    found = ask(&fixture, (struct asked){.document_id = "second", .mode = FAMILY});
    EXPECT(found, MATCH_LEVEL_FAMILY, "{\"qty\":12}");
    assert_int_equal(found->examples[0]->match_level, MATCH_LEVEL_FAMILY);
    assert_string_equal(found->examples[0]->layout_fingerprint, first);
    assert_string_equal(found->hint_examples_json,
                        "[{\"input_snippet\":\"Pos 1\",\"output\":{\"qty\":12}}]");
    EXPECT_NONE(ask(&fixture, (struct asked){.document_id = "first", .mode = FAMILY}));
    set_mode(&fixture, FAMILY);
    EXPECT(ask(&fixture, (struct asked){.document_id = "second"}), MATCH_LEVEL_FAMILY,
           "{\"qty\":12}");
    EXPECT_NONE(ask(&fixture, (struct asked){.document_id = "second", .mode = EXACT}));
    prompts_set_document(&prompt, "second");
    prepared = prompts_prepare(&fixture, fixture.admin, &prompt);
    assert_string_equal(prepared->prompt, found->hint_examples_json);
    assert_int_equal(prepared->match_level, MATCH_LEVEL_FAMILY);
    prompt.match_mode = EXACT;
    prepared = prompts_prepare(&fixture, fixture.admin, &prompt);
    assert_string_equal(prepared->prompt, "");
    fixture_deinit(&fixture);
}

/* Goal: examples of the exact fingerprint that are of the family come first, then the newest of its other layouts;
 * other examples of the fingerprint are served only if there are none of these. Method: two families that share a
 * fingerprint; a layout without documents; a document without a family. */
static void test_exact_layout_precedes_other_layouts(void **state)
{
    struct fixture fixture;
    const char *shared = NULL;
    const char *other = NULL;

    (void)state;
    fixture_init(&fixture);
    other = ingest_page(&fixture, "a", 0, 1);
    shared = ingest_page(&fixture, "b", 2, 2);
    (void)ingest_page(&fixture, "foreign", 500, 2);
    (void)ingest_page(&fixture, "asking", 1, 2);
    (void)correct(&fixture, "foreign", "{\"qty\":5}");
    EXPECT(ask(&fixture, (struct asked){.document_id = "asking", .mode = FAMILY}),
           MATCH_LEVEL_EXACT, "{\"qty\":5}");
    (void)correct(&fixture, "b", "{\"qty\":1}");
    (void)correct(&fixture, "a", "{\"qty\":2}");
    (void)correct(&fixture, "a", "{\"qty\":3}");
    (void)correct(&fixture, "foreign", "{\"qty\":4}");
    EXPECT(ask(&fixture, (struct asked){.document_id = "asking", .mode = FAMILY}),
           MATCH_LEVEL_FAMILY, "{\"qty\":1}", "{\"qty\":3}", "{\"qty\":2}");
    EXPECT(
        ask(&fixture, (struct asked){.document_id = "asking", .mode = FAMILY, .max_examples = 1}),
        MATCH_LEVEL_EXACT, "{\"qty\":1}");
    EXPECT(ask(&fixture, (struct asked){.document_id = "asking", .mode = EXACT}), MATCH_LEVEL_EXACT,
           "{\"qty\":4}", "{\"qty\":1}", "{\"qty\":5}");
    /* Layouts without a document: `shared` has documents of two families, `other` of one. */
    EXPECT(ask(&fixture, (struct asked){.layout = shared, .mode = FAMILY}), MATCH_LEVEL_EXACT,
           "{\"qty\":4}", "{\"qty\":1}", "{\"qty\":5}");
    EXPECT(ask(&fixture, (struct asked){.layout = other, .mode = FAMILY}), MATCH_LEVEL_FAMILY,
           "{\"qty\":3}", "{\"qty\":2}", "{\"qty\":1}");
    EXPECT(ask(&fixture, (struct asked){.layout = other, .document_id = "unknown", .mode = FAMILY}),
           MATCH_LEVEL_FAMILY, "{\"qty\":3}", "{\"qty\":2}", "{\"qty\":1}");
    fixture.documents.answer.tables.sketch.count = 0;
    fixture.documents.answer.tables.table_count = 2;
    assert_int_equal(
        ingest(&fixture,
               &(struct exchange_start){.path = INGEST_UNARY, .authorization = fixture.admin},
               "no family", SLICE("no family"), NULL),
        STATUS_OK);
    EXPECT(ask(&fixture, (struct asked){.document_id = "no family", .mode = FAMILY}),
           MATCH_LEVEL_EXACT, "{\"qty\":4}", "{\"qty\":1}", "{\"qty\":5}");
    fixture_deinit(&fixture);
}

static const char *family_of(struct fixture *fixture, const char *document_id)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/GetDocument",
                                         .authorization = fixture->admin};
    Errata__V1__GetDocumentRequest request = ERRATA__V1__GET_DOCUMENT_REQUEST__INIT;
    Errata__V1__GetDocumentResponse *response = NULL;

    request.key_case = ERRATA__V1__GET_DOCUMENT_REQUEST__KEY_DOCUMENT_ID;
    request.document_id = text_of(document_id);
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->document->layout_family_id;
}

static void merge(struct fixture *fixture, const char *from, const char *into)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/MergeFamilies",
                                         .authorization = fixture->admin};
    Errata__V1__MergeFamiliesRequest request = ERRATA__V1__MERGE_FAMILIES_REQUEST__INIT;

    request.from_layout_family_id = text_of(from);
    request.into_layout_family_id = text_of(into);
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
}

static void split(struct fixture *fixture, const char *family)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/SplitFamily",
                                         .authorization = fixture->admin};
    Errata__V1__SplitFamilyRequest request = ERRATA__V1__SPLIT_FAMILY_REQUEST__INIT;

    request.layout_family_id = text_of(family);
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
}

/* Goal: a merge adds the examples of both families, a split takes them away, and as_of gives each state again,
 * with an example whose document was ingested later. Method: two families, a read after each change, then all
 * again as of each. */
static void test_as_of_selects_examples_before_a_merge(void **state)
{
    enum {
        STATES = 6
    };
    struct fixture fixture;
    struct asked asked = {.document_id = "asking", .mode = FAMILY};
    char *hints[STATES] = {NULL};
    uint64_t seqs[STATES] = {0};
    const char *far = NULL;

    (void)state;
    fixture_init(&fixture);
    (void)ingest_page(&fixture, "asking", 0, 1);
    (void)ingest_page(&fixture, "near", 2, 2);
    (void)ingest_page(&fixture, "far", 500, 3);
    far = family_of(&fixture, "far");
    for (size_t i = 0; i < STATES; i++) {
        switch (i) {
        case 1:
            (void)correct(&fixture, "far", "{\"qty\":7}");
            break;
        case 2:
            merge(&fixture, far, family_of(&fixture, "asking"));
            break;
        case 3:
            (void)correct(&fixture, "late", "{\"qty\":8}"); /* names no layout: not an example */
            (void)correct(&fixture, "near", "{\"qty\":9}");
            break;
        case 4:
            split(&fixture, far);
            break;
        case 5:
            (void)ingest_page(&fixture, "late", 1, 4);
            (void)correct(&fixture, "late", "{\"qty\":10}");
            break;
        default:
            break;
        }
        hints[i] = ask(&fixture, asked)->hint_examples_json;
        seqs[i] = last_seq(&fixture);
    }
    assert_string_equal(hints[0], "");
    assert_string_equal(hints[1], "");
    assert_true(is_inside(hints[2], "\"qty\":7"));
    assert_true(is_inside(hints[3], "\"qty\":9") && is_inside(hints[3], "\"qty\":7"));
    assert_true(is_inside(hints[4], "\"qty\":9") && !is_inside(hints[4], "\"qty\":7"));
    assert_true(is_inside(hints[5], "\"qty\":10") && is_inside(hints[5], "\"qty\":9"));
    for (size_t i = 0; i < STATES; i++) {
        asked.as_of_seq = seqs[i];
        assert_string_equal(ask(&fixture, asked)->hint_examples_json, hints[i]);
    }
    fixture_deinit(&fixture);
}

/* Splits a document off its family; returns the family of it. */
static const char *split_document(struct fixture *fixture, const char *document_id)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/SplitFamily",
                                         .authorization = fixture->admin};
    Errata__V1__SplitFamilyRequest request = ERRATA__V1__SPLIT_FAMILY_REQUEST__INIT;
    char *ids[] = {text_of(document_id)};

    request.layout_family_id = text_of(family_of(fixture, document_id));
    request.document_ids = ids;
    request.n_document_ids = 1;
    assert_int_equal(fixture_call(fixture, &start, &request.base, NULL), STATUS_OK);
    return family_of(fixture, document_id);
}

/* Returns the number of corrections in the learning report of a family, of which a correction changes the field `qty`;
 * the report also has the layouts of the family. */
static uint64_t count_reported(struct fixture *fixture, const char *family)
{
    const struct exchange_start start = {.path = "errata.v1.AnalyticsService/GetLearningAnalytics",
                                         .authorization = fixture->admin};
    Errata__V1__GetLearningAnalyticsRequest request =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    Errata__V1__GetLearningAnalyticsResponse *response = NULL;
    uint64_t count = 0;

    request.layout_family_id = text_of(family);
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    for (size_t i = 0; i < response->n_corrections_by_day; i++) {
        count += response->corrections_by_day[i]->count;
    }
    assert_int_equal(response->n_corrected_fields, count > 0 ? 1 : 0);
    assert_true(count == 0 || response->corrected_fields[0]->count == count);
    assert_true(response->n_layout_stats > 0);
    for (size_t i = 1; i < response->n_layout_stats; i++) {
        assert_true(response->layout_stats[i - 1]->seen_count >=
                    response->layout_stats[i]->seen_count);
    }
    return count;
}

/* Returns the number of examples of a family. */
static uint64_t count_examples(struct fixture *fixture, const char *family)
{
    const struct exchange_start start = {.path = "errata.v1.LayoutService/GetFamily",
                                         .authorization = fixture->admin};
    Errata__V1__GetFamilyRequest request = ERRATA__V1__GET_FAMILY_REQUEST__INIT;
    Errata__V1__GetFamilyResponse *response = NULL;

    request.layout_family_id = text_of(family);
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->family->example_count;
}

/* Goal: a document that is moved into a new family takes its corrections along, those before and after the split, and a
 * merge brings them back; as_of gives each state again. Method: two corrected documents of one family, and one that
 * looks up examples, before and after each change; then all again as of each. */
static void test_split_moves_examples(void **state)
{
    enum {
        STATES = 4
    };
    static const char *const expected[STATES][4] = {{"{\"qty\":2}", "{\"qty\":1}"},
                                                    {"{\"qty\":1}"},
                                                    {"{\"qty\":1}"},
                                                    {"{\"qty\":3}", "{\"qty\":2}", "{\"qty\":1}"}};
    static const uint64_t counts[STATES] = {2, 1, 1, 3};
    struct fixture fixture;
    struct asked asked = {.document_id = "asking", .mode = FAMILY};
    uint64_t seqs[STATES] = {0};
    const char *family = NULL;
    const char *moved = NULL;

    (void)state;
    fixture_init(&fixture);
    (void)ingest_page(&fixture, "asking", 0, 1);
    (void)ingest_page(&fixture, "stays", 2, 2);
    (void)ingest_page(&fixture, "moves", 3, 3);
    family = family_of(&fixture, "asking");
    for (size_t i = 0; i < STATES; i++) {
        if (i == 0) {
            (void)correct(&fixture, "stays", "{\"qty\":1}");
            (void)correct(&fixture, "moves", "{\"qty\":2}");
        } else if (i == 1) {
            moved = split_document(&fixture, "moves");
            assert_string_not_equal(moved, family);
        } else if (i == 2) {
            (void)correct(&fixture, "moves", "{\"qty\":3}");
        } else {
            merge(&fixture, moved, family);
        }
        expect(ask(&fixture, asked), MATCH_LEVEL_FAMILY, expected[i]);
        assert_int_equal(count_examples(&fixture, family), counts[i]);
        assert_int_equal(count_reported(&fixture, family), counts[i]);
        seqs[i] = last_seq(&fixture);
    }
    for (size_t i = 0; i < STATES; i++) {
        asked.as_of_seq = seqs[i];
        expect(ask(&fixture, asked), MATCH_LEVEL_FAMILY, expected[i]);
    }
    fixture_deinit(&fixture);
}

static void expect_text_matches(struct fixture *fixture, const char *reference)
{
    const struct exchange_start start = {.path = EXPLAIN, .authorization = fixture->admin};
    Errata__V1__ExplainExposureRequest request = ERRATA__V1__EXPLAIN_EXPOSURE_REQUEST__INIT;
    Errata__V1__ExplainExposureResponse *response = NULL;

    request.exposure_case = ERRATA__V1__EXPLAIN_EXPOSURE_REQUEST__EXPOSURE_EXPOSURE_REF;
    request.exposure_ref = text_of(reference);
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_not_equal(response->_text_matches_case, 0);
    assert_true(response->text_matches);
}

/* Records an extraction of a document that names two examples; returns how many of them were not counted. */
static size_t record_naming(struct fixture *fixture, const char *document_id, char *first,
                            char *second)
{
    const struct exchange_start start = {.path = "errata.v1.ExtractionService/RecordExtraction",
                                         .authorization = fixture->admin};
    Errata__V1__RecordExtractionRequest request = ERRATA__V1__RECORD_EXTRACTION_REQUEST__INIT;
    Errata__V1__Extraction extraction = ERRATA__V1__EXTRACTION__INIT;
    Errata__V1__RecordExtractionResponse *response = NULL;
    char *ids[] = {first, second};

    extraction._document_id_case = ERRATA__V1__EXTRACTION___DOCUMENT_ID_DOCUMENT_ID;
    extraction.document_id = text_of(document_id);
    extraction._confidence_case = ERRATA__V1__EXTRACTION___CONFIDENCE_CONFIDENCE;
    extraction.confidence = 0.5;
    extraction.example_ids = ids;
    extraction.n_example_ids = 2;
    request.extraction = &extraction;
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    assert_int_equal(response->extraction->n_example_ids + response->n_warnings, 2);
    return response->n_warnings;
}

/* Goal: an extraction is credited to the examples of the family in its prompt, by reference and by id, without a warning,
 * and does not count as one without examples; an example of another family is not counted; the served text can be rebuilt
 * after the families changed. Method: a lookup, extractions of its document, a merge. */
static void test_examples_are_credited(void **state)
{
    struct fixture fixture;
    Errata__V1__GetExamplesResponse *found = NULL;
    Errata__V1__Extraction *made = NULL;
    struct sent sent = {.document_id = "second", .confidence = 0.5};
    char *foreign = NULL;
    char *own = NULL;

    (void)state;
    fixture_init(&fixture);
    (void)ingest_page(&fixture, "first", 0, 1);
    (void)ingest_page(&fixture, "second", 3, 2);
    (void)ingest_page(&fixture, "foreign", 500, 3);
    (void)correct(&fixture, "first", "{\"qty\":12}");
    foreign = correct(&fixture, "foreign", "{\"qty\":13}");
    found = ask(&fixture, (struct asked){.document_id = "second", .mode = FAMILY});
    EXPECT(found, MATCH_LEVEL_FAMILY, "{\"qty\":12}");
    expect_text_matches(&fixture, found->exposure_ref);
    sent.references[0] = found->exposure_ref;
    made = extractions_record(&fixture, &sent);
    assert_int_equal(made->n_example_ids, 1);
    assert_string_equal(made->example_ids[0], found->examples[0]->id);
    own = correct(&fixture, "second", "{\"qty\":14}");
    assert_int_equal(record_naming(&fixture, "second", found->examples[0]->id, own), 0);
    assert_int_equal(record_naming(&fixture, "second", found->examples[0]->id, foreign), 1);
    merge(&fixture, family_of(&fixture, "foreign"), family_of(&fixture, "second"));
    assert_int_equal(record_naming(&fixture, "second", found->examples[0]->id, foreign), 0);
    expect_text_matches(&fixture, found->exposure_ref);
    fixture_deinit(&fixture);
}

int run_family_example_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_family_includes_examples_of_other_layouts),
        cmocka_unit_test(test_exact_layout_precedes_other_layouts),
        cmocka_unit_test(test_as_of_selects_examples_before_a_merge),
        cmocka_unit_test(test_split_moves_examples),
        cmocka_unit_test(test_examples_are_credited),
    };

    return cmocka_run_group_tests_name("examples of families", tests, NULL, NULL);
}
