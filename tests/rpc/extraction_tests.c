/*
 * extraction_tests.c: extractions through calls: recording them, credits of a reference, their arm
 * of the experiment, the effect of corrections, and refusals.
 */
#include "server/domain/experiment/records.h"
#include "tests/rpc/extractions.h"
#include "tests/rpc/ingest.h"
#include "tests/rpc/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/extraction.fields.h>

#define TOLERANCE 1e-9

#define RECORD "errata.v1.ExtractionService/RecordExtraction"
#define EXAMPLES "errata.v1.PromptService/GetExamples"

/* Goal: an extraction is returned with everything that the server added to it; the exposure that it
 * cites enters the log before it. Method: two corrections, a lookup, a record. */
static void test_reply_has_the_stored_extraction(void **state)
{
    struct fixture fixture;
    Errata__V1__GetExamplesResponse *served = NULL;
    Errata__V1__Extraction *extraction = NULL;

    (void)state;
    fixture_init(&fixture);
    fixture_capture(&fixture, fixture.admin, NULL, "layout");
    fixture_capture(&fixture, fixture.admin, NULL, "layout");
    served = extractions_examples(&fixture, "layout", "invoice-7");
    assert_int_equal(served->arm, EXPERIMENT_ARM_NONE);
    assert_int_equal(extractions_count_events(&fixture, EXPOSURES), 0);
    extraction = extractions_record(&fixture, &(struct sent){.document_id = "invoice-7",
                                                             .draft_order_id = "draft-7",
                                                             .layout = "layout",
                                                             .confidence = 0.875,
                                                             .field_count = 12,
                                                             .references = {served->exposure_ref}});
    assert_string_equal(extraction->document_id, "invoice-7");
    assert_string_equal(extraction->draft_order_id, "draft-7");
    assert_string_equal(extraction->layout_fingerprint, "layout");
    assert_true(extraction->confidence == 0.875);
    assert_int_equal(extraction->field_count, 12);
    assert_int_equal(extraction->arm, EXPERIMENT_ARM_NONE);
    assert_int_equal(extraction->n_exposure_refs, 0);
    assert_int_equal(extraction->n_example_ids, 2);
    assert_string_equal(extraction->example_ids[0], served->examples[0]->id);
    assert_string_equal(extraction->example_ids[1], served->examples[1]->id);
    assert_int_equal(strlen(extraction->id), UUID_TEXT_BYTES);
    assert_non_null(extraction->created_at);
    assert_int_equal(extractions_count_events(&fixture, EXPOSURES), 1);
    assert_int_equal(extractions_count_events(&fixture, EXTRACTIONS), 1);

    /* Without a reference, examples are credited by their ids; examples of other layouts are
     * not. */
    fixture_capture(&fixture, fixture.admin, NULL, "other");
    extraction = extractions_record(
        &fixture,
        &(struct sent){
            .layout = "other",
            .example_ids = {served->examples[0]->id,
                            extractions_examples(&fixture, "other", NULL)->examples[0]->id}});
    assert_int_equal(extraction->n_example_ids, 1);
    assert_true(extraction->confidence == 0);
    fixture_deinit(&fixture);
}

static void expect_refused(struct fixture *fixture, const char *token, const struct sent *sent,
                           const char *const *fields)
{
    size_t before = extractions_count_events(fixture, ALL);
    Errata__V1__Extraction *extraction = NULL;
    struct exchange exchange = extractions_try(fixture, token, NULL, sent, &extraction);

    assert_int_equal(exchange.code, STATUS_INVALID_ARGUMENT);
    for (; *fields != NULL; fields++) {
        if (!slice_has(exchange.details, *fields)) {
            fail_msg("%s is not named", *fields);
        }
    }
    assert_int_equal(extractions_count_events(fixture, ALL), before);
}

/* Goal: a reference that is forged, truncated or of another organisation is refused, and nothing is
 * stored, even beside valid ones; all errors are reported at once. Method: each, with the log
 * counted. */
static void test_invalid_reference_stores_nothing(void **state)
{
    static const char *const second[] = {"extraction.exposure_refs[1]", NULL};
    static const char *const all[] = {"extraction.exposure_refs[0]",
                                      "extraction.exposure_refs[2]",
                                      "extraction.example_ids[0]",
                                      "extraction.example_ids[1]",
                                      "extraction.layout_fingerprint",
                                      "extraction.confidence",
                                      NULL};
    struct fixture fixture;
    char other[FIXTURE_TOKEN_BYTES];
    char forged[512];
    char cut[512];
    const char *good = NULL;
    const char *foreign = NULL;
    size_t size = 0;

    (void)state;
    fixture_init(&fixture);
    fixture_make_org(&fixture, "other", other);
    fixture_capture(&fixture, fixture.admin, NULL, "layout");
    fixture_capture(&fixture, other, NULL, "layout");
    good = extractions_examples(&fixture, "layout", NULL)->exposure_ref;
    foreign = extractions_examples_as(&fixture, other, "layout", NULL, 3)->exposure_ref;
    size = strlen(good);
    assert_true(size < sizeof(forged));
    memcpy(forged, good, size + 1);
    memcpy(cut, good, size + 1);
    forged[size / 2] = forged[size / 2] == 'A' ? 'B' : 'A';
    cut[size - 1] = '\0';
    expect_refused(&fixture, fixture.admin,
                   &(struct sent){.layout = "layout", .references = {good, forged}}, second);
    expect_refused(&fixture, fixture.admin,
                   &(struct sent){.layout = "layout", .references = {good, cut}}, second);
    expect_refused(&fixture, fixture.admin,
                   &(struct sent){.layout = "layout", .references = {good, foreign}}, second);
    expect_refused(&fixture, fixture.admin,
                   &(struct sent){.layout = "layout", .references = {good, "A"}}, second);
    expect_refused(&fixture, fixture.admin,
                   &(struct sent){.document_id = "never-ingested",
                                  .confidence = -1,
                                  .references = {forged, good, cut},
                                  .example_ids = {"01994000-0000-7000-8000-000000000001",
                                                  "01994000-0000-7000-8000-000000000002"}},
                   all);
    assert_int_equal(extractions_count_events(&fixture, EXPOSURES), 0);

    /* The same reference, intact and in its own organisation. */
    (void)extractions_record(&fixture, &(struct sent){.layout = "layout", .references = {good}});
    fixture_deinit(&fixture);
}

static void expect_same(const Errata__V1__Extraction *a, const Errata__V1__Extraction *b)
{
    uint8_t left[1024];
    uint8_t right[1024];
    size_t size = errata__v1__extraction__get_packed_size(a);

    assert_true(size <= sizeof(left));
    assert_int_equal(errata__v1__extraction__get_packed_size(b), size);
    (void)errata__v1__extraction__pack(a, left);
    (void)errata__v1__extraction__pack(b, right);
    assert_memory_equal(left, right, size);
}

/* Goal: a repeat with the same key replaces: what the first added is subtracted, and one extraction counts. A
 * repeat under an idempotency key is answered byte for byte. Method: repeats with other values, sums of the
 * layout after each; a document and a draft order with the same id are separate; without an id each call
 * counts. */
static void test_repeat_replaces(void **state)
{
    struct fixture fixture;
    const char *org_id = NULL;
    struct sent sent = {
        .document_id = "invoice", .layout = "layout", .confidence = 0.5, .field_count = 4};
    Errata__V1__Extraction *first = NULL;
    Errata__V1__Extraction *again = NULL;

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_capture(&fixture, fixture.admin, NULL, "layout")->org_id;
    sent.references[0] = extractions_examples(&fixture, "layout", NULL)->exposure_ref;
    first = extractions_record(&fixture, &sent);
    sent.confidence = 0.75;
    again = extractions_record(&fixture, &sent);
    assert_string_not_equal(again->id, first->id);
    assert_int_equal(again->n_example_ids, 1);
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").extraction_count, 1);
    assert_int_equal(extractions_try(&fixture, fixture.admin, "one", &sent, &first).code,
                     STATUS_OK);
    assert_int_equal(extractions_try(&fixture, fixture.admin, "one", &sent, &again).code,
                     STATUS_OK);
    expect_same(again, first);
    assert_int_equal(extractions_count_events(&fixture, EXTRACTIONS), 3);
    assert_int_equal(extractions_count_events(&fixture, EXPOSURES), 1);

    /* The reference is of another layout, since the first one has no examples left. */
    sent.layout = "other";
    (void)extractions_record(&fixture, &sent);
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").extraction_count, 0);
    assert_int_equal(extractions_stats_of(&fixture, org_id, "other").extraction_count, 1);
    sent.layout = "layout";
    sent.extraction_id = "second";
    assert_string_equal(extractions_record(&fixture, &sent)->extraction_id, "second");
    (void)extractions_record(&fixture, &sent);
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").extraction_count, 1);

    sent.extraction_id = NULL;
    sent.document_id = NULL;
    sent.draft_order_id = "invoice";
    (void)extractions_record(&fixture, &sent);
    (void)extractions_record(&fixture, &sent);
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").extraction_count, 2);
    sent.draft_order_id = NULL;
    (void)extractions_record(&fixture, &sent);
    (void)extractions_record(&fixture, &sent);
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").extraction_count, 4);
    fixture_deinit(&fixture);
}

/* Goal: repeats in one batch count once too. Method: eight calls before the writer runs. */
static void test_repeats_in_one_batch_count_once(void **state)
{
    struct exchange_start start = {.path = RECORD};
    struct sent sent = {.document_id = "invoice", .layout = "layout", .confidence = 1};
    struct exchange exchanges[8];
    const char *org_id = NULL;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    org_id = fixture_capture(&fixture, fixture.admin, NULL, "layout")->org_id;
    start.authorization = fixture.admin;
    sent.references[0] = extractions_examples(&fixture, "layout", NULL)->exposure_ref;
    for (size_t i = 0; i < 8; i++) {
        extractions_send(&exchanges[i], &fixture, &start, &sent);
    }
    fixture_run(&fixture);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(exchanges[i].code, STATUS_OK);
        exchange_close(&exchanges[i]);
    }
    assert_int_equal(extractions_count_events(&fixture, EXPOSURES), 1);
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").extraction_count, 1);
    fixture_deinit(&fixture);
}

static void expect_improvement(struct fixture *fixture, bool known, double improvement)
{
    Errata__V1__GetExamplesResponse *served = extractions_examples(fixture, "layout", NULL);

    assert_int_equal(served->n_examples, 1);
    assert_int_equal(served->examples[0]->_confidence_improvement_case != 0, known);
    if (known) {
        double difference = served->examples[0]->confidence_improvement - improvement;

        assert_true(difference < TOLERANCE && difference > -TOLERANCE);
    }
}

/* Goal: confidence_improvement is the mean with the example minus the mean without any, once both
 * have three, and is absent in responses about the past. Method: a handwritten table. */
static void test_confidence_improvement_is_the_difference_of_means(void **state)
{
    static const double bare[] = {0.5, 0.75, 0.1};
    static const double carried[] = {0.9, 1, 0.333333};
    struct sent sent = {.layout = "layout"};
    Errata__V1__GetExamplesRequest past = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *then = NULL;
    struct exchange_start start = {.path = EXAMPLES};
    struct fixture fixture;
    const char *reference = NULL;

    (void)state;
    fixture_init(&fixture);
    fixture_capture(&fixture, fixture.admin, NULL, "layout");
    reference = extractions_examples(&fixture, "layout", NULL)->exposure_ref;
    for (size_t i = 0; i < 3; i++) {
        expect_improvement(&fixture, false, 0);
        sent.references[0] = NULL;
        sent.confidence = bare[i];
        (void)extractions_record(&fixture, &sent);
        expect_improvement(&fixture, false, 0);
        sent.references[0] = reference;
        sent.confidence = carried[i];
        (void)extractions_record(&fixture, &sent);
    }
    expect_improvement(&fixture, true, (0.9 + 1 + 0.333333) / 3 - (0.5 + 0.75 + 0.1) / 3);

    start.authorization = fixture.admin;
    past.layout_fingerprint = extractions_text("layout");
    past.as_of_case = ERRATA__V1__GET_EXAMPLES_REQUEST__AS_OF_AS_OF_SEQ;
    past.as_of_seq = 1000;
    assert_int_equal(fixture_call(&fixture, &start, &past.base, &then), STATUS_OK);
    assert_int_equal(then->n_examples, 1);
    assert_int_equal(then->examples[0]->_confidence_improvement_case, 0);

    /* The arm is also that of the time. */
    past._document_id_case = ERRATA__V1__GET_EXAMPLES_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
    past.document_id = extractions_text("invoice");
    for (uint32_t percent = 100; percent <= 100; percent -= 100) {
        past.as_of_seq = extractions_count_events(&fixture, ALL);
        extractions_set_holdout(&fixture, percent);
        assert_int_equal(fixture_call(&fixture, &start, &past.base, &then), STATUS_OK);
        assert_int_equal(then->arm, percent == 100 ? EXPERIMENT_ARM_NONE : EXPERIMENT_ARM_CONTROL);
        assert_int_equal(then->n_examples, percent == 100 ? 1 : 0);
    }
    fixture_deinit(&fixture);
}

/* A second implementation of the formula. */
static bool is_held_out(struct org_id org, const char *document_id, uint64_t percent)
{
    uint8_t bytes[UUID_BYTES + 32];
    size_t size = strlen(document_id);
    struct sha256_digest digest;
    uint64_t number = 0;

    memcpy(bytes, org.uuid.bytes, UUID_BYTES);
    memcpy(bytes + UUID_BYTES, document_id, size);
    digest = sha256(slice_of(bytes, UUID_BYTES + size));
    for (size_t i = 0; i < 8; i++) {
        number = number << 8 | digest.bytes[i];
    }
    return number % 100 < percent;
}

/* Goal: each document is in the arm of the formula, in lookups and extractions alike; CONTROL gets
 * no examples; served exposures keep their arm when the setting changes. Method: 60 documents at
 * 40%; then none held out. */
static void test_holdout_arm_is_stable_per_document(void **state)
{
    struct fixture fixture;
    struct org_id org;
    size_t held_out_count = 0;
    const char *reference = NULL;

    (void)state;
    fixture_init(&fixture);
    org = extractions_org_of(fixture_capture(&fixture, fixture.admin, NULL, "layout")->org_id);
    extractions_set_holdout(&fixture, 40);
    for (int i = 0; i < 60; i++) {
        Errata__V1__GetExamplesResponse *served = NULL;
        struct sent sent = {.layout = "layout", .confidence = 1};
        enum experiment_arm arm = EXPERIMENT_ARM_TREATMENT;
        char document_id[32];

        (void)snprintf(document_id, sizeof(document_id), "invoice-%d", i);
        if (is_held_out(org, document_id, 40)) {
            arm = EXPERIMENT_ARM_CONTROL;
            held_out_count++;
        }
        served = extractions_examples(&fixture, "layout", document_id);
        assert_int_equal(served->arm, arm);
        assert_int_equal(served->n_examples, arm == EXPERIMENT_ARM_CONTROL ? 0 : 1);
        sent.document_id = document_id;
        if (i % 2 == 0) {
            sent.references[0] = served->exposure_ref;
        }
        assert_int_equal(extractions_record(&fixture, &sent)->arm, arm);
        reference = arm == EXPERIMENT_ARM_CONTROL ? served->exposure_ref : reference;
    }
    assert_true(held_out_count > 10 && held_out_count < 40);
    assert_int_equal(extractions_examples(&fixture, "layout", NULL)->arm, EXPERIMENT_ARM_NONE);
    assert_int_equal(extractions_record(&fixture, &(struct sent){.draft_order_id = "draft",
                                                                 .layout = "layout",
                                                                 .references = {reference}})
                         ->arm,
                     EXPERIMENT_ARM_NONE);
    extractions_set_holdout(&fixture, 0);
    assert_int_equal(extractions_examples(&fixture, "layout", "invoice-1")->arm,
                     EXPERIMENT_ARM_NONE);
    assert_int_equal(extractions_record(&fixture, &(struct sent){.document_id = "late",
                                                                 .layout = "layout",
                                                                 .references = {reference}})
                         ->arm,
                     EXPERIMENT_ARM_CONTROL);
    /* A document that both arms were served to belongs to neither. */
    assert_int_equal(
        extractions_record(
            &fixture,
            &(struct sent){
                .document_id = "mixed",
                .layout = "layout",
                .references = {reference,
                               extractions_examples(&fixture, "layout", NULL)->exposure_ref}})
            ->arm,
        EXPERIMENT_ARM_NONE);
    fixture_deinit(&fixture);
}

/* Goal: any number of corrections mark an extraction once, and each of its fields once, never more
 * than it has; only the newest extraction of the document or draft. Method: sums of the layout
 * after each step. */
static void test_extraction_is_marked_corrected_once(void **state)
{
    struct fixture fixture;
    struct layout_stats_record stats;
    const char *org_id = NULL;

    (void)state;
    fixture_init(&fixture);
    extractions_set_holdout(&fixture, 1);
    for (int i = 0; i < 3; i++) {
        org_id = fixture_capture(&fixture, fixture.admin, NULL, "layout")->org_id;
    }
    for (int i = 0; i < 2; i++) {
        (void)extractions_record(&fixture, &(struct sent){.extraction_id = i == 0 ? "first" : NULL,
                                                          .document_id = "invoice",
                                                          .draft_order_id = "draft",
                                                          .layout = "layout",
                                                          .confidence = 1,
                                                          .field_count = 3});
    }
    extractions_correct(&fixture, &(struct correction){.layout = "layout", .after = "{\"qty\":1}"});
    extractions_correct(&fixture,
                        &(struct correction){.document_id = "another", .after = "{\"qty\":1}"});
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").corrected_count, 0);
    for (int i = 0; i < 3; i++) {
        extractions_correct(&fixture,
                            &(struct correction){.document_id = "invoice", .after = "{\"qty\":1}"});
        extractions_correct(&fixture, &(struct correction){.draft_order_id = "draft",
                                                           .after = "{\"qty\":2,\"unit\":1}"});
    }
    stats = extractions_stats_of(&fixture, org_id, "layout");
    assert_int_equal(stats.extraction_count, 2);
    assert_int_equal(stats.corrected_count, 1);
    assert_int_equal(stats.treatment.extraction_count + stats.control.extraction_count, 1);
    assert_int_equal(stats.excluded_count[EXPERIMENT_EXCLUSION_FURTHER_EXTRACTION - 1], 1);
    assert_int_equal(stats.treatment.field_count + stats.control.field_count, 3);
    /* The same field of another line is another field; there are three. */
    extractions_correct(&fixture,
                        &(struct correction){.document_id = "invoice",
                                             .entity_id = "2",
                                             .after = "{\"qty\":1,\"unit\":3,\"sku\":4}"});
    stats = extractions_stats_of(&fixture, org_id, "layout");
    assert_int_equal(stats.corrected_count, 1);
    /* A further extraction of the document is not corrected. */
    (void)extractions_record(&fixture, &(struct sent){.extraction_id = "third",
                                                      .document_id = "invoice",
                                                      .layout = "layout",
                                                      .confidence = 1});
    extractions_correct(&fixture,
                        &(struct correction){.draft_order_id = "draft", .after = "{\"qty\":9}"});
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").corrected_count, 1);
    extractions_correct(&fixture, &(struct correction){.document_id = "invoice",
                                                       .draft_order_id = "draft",
                                                       .after = "{\"qty\":9}"});
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").corrected_count, 2);
    fixture_deinit(&fixture);
}

/* Goal: values of an ingested document are filled in: its layout into extractions that name it, its
 * layout and text into corrections that name the draft order which an extraction linked to it.
 * Method: ingest, link, correct. */
static void test_ingested_values_are_filled_in(void **state)
{
    struct fixture fixture;
    struct exchange_start start = {.path = INGEST_UNARY};
    Errata__V1__Document *document = NULL;
    Errata__V1__FeedbackEvent *event = NULL;
    Errata__V1__Extraction *extraction = NULL;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    event = extractions_correct(
        &fixture, &(struct correction){.draft_order_id = "draft", .after = "{\"a\":1}"});
    assert_int_equal(event->_layout_fingerprint_case, 0);
    assert_int_equal(ingest(&fixture, &start, "invoice", SLICE("%PDF-1.4 a document"), &document),
                     STATUS_OK);
    extraction = extractions_record(
        &fixture, &(struct sent){.document_id = "invoice", .draft_order_id = "draft"});
    assert_string_equal(extraction->layout_fingerprint, document->layout_fingerprint);
    event = extractions_correct(
        &fixture, &(struct correction){.draft_order_id = "draft", .after = "{\"a\":2}"});
    assert_string_equal(event->layout_fingerprint, document->layout_fingerprint);
    assert_int_equal(event->_document_id_case, 0);
    assert_non_null(strstr(event->meta_json, "input_snippet"));
    /* An extraction of the draft is one of its document, from then on. */
    extraction = extractions_record(&fixture, &(struct sent){.draft_order_id = "draft"});
    assert_string_equal(extraction->document_id, "invoice");
    assert_string_equal(extraction->layout_fingerprint, document->layout_fingerprint);
    event = extractions_correct(
        &fixture, &(struct correction){.draft_order_id = "draft", .after = "{\"a\":3}"});
    assert_string_equal(event->layout_fingerprint, document->layout_fingerprint);
    fixture_deinit(&fixture);
}

/* Goal: a repeat for a draft order replaces, even if the draft order was linked to a document meanwhile; one
 * that names the document is another. Method: record, link, record again; then for the document. */
static void test_repeat_of_a_linked_draft_replaces(void **state)
{
    struct fixture fixture;
    const char *org_id = NULL;
    struct sent sent = {.draft_order_id = "draft", .layout = "layout", .confidence = 0.5};

    (void)state;
    fixture_init(&fixture);
    org_id = extractions_record(&fixture, &sent)->org_id;
    extractions_record(&fixture, &(struct sent){.document_id = "invoice",
                                                .draft_order_id = "draft",
                                                .layout = "layout",
                                                .confidence = 0.5});
    assert_string_equal(extractions_record(&fixture, &sent)->document_id, "invoice");
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").extraction_count, 2);
    sent.document_id = "invoice";
    (void)extractions_record(&fixture, &sent);
    assert_int_equal(extractions_stats_of(&fixture, org_id, "layout").extraction_count, 2);
    fixture_deinit(&fixture);
}

/* Goal: an extraction that cites a response of MatchLines counts the mappings' uses, once for its
 * draft order or, without one, its document, and credits no example. Method: a confirmed mapping, a
 * match, two records of a draft order; then two of each of two documents. */
static void test_cited_matches_count_as_uses(void **state)
{
    static const char *const skus[] = {"A-1"};
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    struct judged judged;
    struct sent sent = {.draft_order_id = "draft", .layout = "layout", .confidence = 1};
    Errata__V1__SkuMapping *mapping = NULL;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    assert_int_equal(mappings_confirm(&caller,
                                      &(struct named){.customer_id = "customer",
                                                      .customer_sku = "A-1",
                                                      .internal_sku = "X-1"},
                                      NULL, &judged),
                     STATUS_OK);
    sent.references[0] =
        mappings_match(&caller,
                       &(struct lines){.customer_id = "customer", .skus = skus, .count = 1})
            ->exposure_ref;
    assert_int_equal(extractions_record(&fixture, &sent)->n_example_ids, 0);
    (void)extractions_record(&fixture, &sent);
    assert_int_equal(extractions_count_events(&fixture, APPLIED), 1);
    assert_int_equal(mappings_get(&caller, judged.mapping->id, &mapping), STATUS_OK);
    assert_int_equal(mapping->use_count, 1);
    for (size_t i = 0; i < 4; i++) {
        sent.draft_order_id = NULL;
        sent.document_id = i % 2 == 0 ? "one" : "other";
        (void)extractions_record(&fixture, &sent);
    }
    assert_int_equal(extractions_count_events(&fixture, APPLIED), 3);
    assert_int_equal(mappings_get(&caller, judged.mapping->id, &mapping), STATUS_OK);
    assert_int_equal(mapping->use_count, 3);
    fixture_deinit(&fixture);
}

/* Goal: a replacement withdraws the uses that it does not cite any more, and counts those that it cites again.
 * Method: record with the reference, without it, and with it. */
static void test_replacement_withdraws_uses(void **state)
{
    static const char *const skus[] = {"A-1", "A-1"};
    static const uint32_t uses[] = {2, 0, 2, 2};
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    struct judged judged;
    struct sent sent = {.document_id = "invoice", .layout = "layout", .confidence = 1};
    const char *reference = NULL;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    assert_int_equal(mappings_confirm(&caller,
                                      &(struct named){.customer_id = "customer",
                                                      .customer_sku = "A-1",
                                                      .internal_sku = "X-1"},
                                      NULL, &judged),
                     STATUS_OK);
    reference = mappings_match(&caller,
                               &(struct lines){.customer_id = "customer", .skus = skus, .count = 2})
                    ->exposure_ref;
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        Errata__V1__SkuMapping *mapping = NULL;

        sent.references[0] = uses[i] > 0 ? reference : NULL;
        (void)extractions_record(&fixture, &sent);
        assert_int_equal(mappings_get(&caller, judged.mapping->id, &mapping), STATUS_OK);
        assert_int_equal(mapping->use_count, uses[i]);
    }
    assert_int_equal(extractions_count_events(&fixture, APPLIED), 2);
    fixture_deinit(&fixture);
}

/* Goal: roles and times of recording are checked. Method: each kind of token; past and future
 * times. */
static void test_roles_and_times_are_checked(void **state)
{
    static const char *const time_field[] = {"extraction.created_at", NULL};
    struct fixture fixture;
    char service[FIXTURE_TOKEN_BYTES];
    char integrator[FIXTURE_TOKEN_BYTES];
    char viewer[FIXTURE_TOKEN_BYTES];
    struct sent now = {.document_id = "invoice", .layout = "layout", .confidence = 1};
    struct sent then = now;
    Errata__V1__Extraction *extraction = NULL;
    uint64_t seconds = (uint64_t)(FIXTURE_START_US / 1000000);

    (void)state;
    then.created_at_us = FIXTURE_START_US - 5000000;
    fixture_init(&fixture);
    fixture_make_token(&fixture, fixture.admin, ROLE_SERVICE, service);
    fixture_make_token(&fixture, fixture.admin, ROLE_INTEGRATOR, integrator);
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, viewer);
    assert_int_equal(extractions_try(&fixture, service, NULL, &now, &extraction).code, STATUS_OK);
    assert_true(strncmp(extraction->actor_user_id, "token:", 6) == 0);
    assert_int_equal(extractions_try(&fixture, service, NULL, &then, &extraction).code,
                     STATUS_PERMISSION_DENIED);
    assert_int_equal(extractions_try(&fixture, integrator, NULL, &now, &extraction).code,
                     STATUS_PERMISSION_DENIED);
    assert_int_equal(extractions_try(&fixture, viewer, NULL, &now, &extraction).code,
                     STATUS_PERMISSION_DENIED);
    assert_int_equal(extractions_try(&fixture, integrator, NULL, &then, &extraction).code,
                     STATUS_OK);
    assert_int_equal(extraction->created_at->seconds, seconds - 5);
    then.created_at_us = FIXTURE_START_US + INT64_C(3600000000);
    expect_refused(&fixture, fixture.admin, &then, time_field);
    fixture_deinit(&fixture);
}

int run_extraction_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reply_has_the_stored_extraction),
        cmocka_unit_test(test_invalid_reference_stores_nothing),
        cmocka_unit_test(test_repeat_replaces),
        cmocka_unit_test(test_repeats_in_one_batch_count_once),
        cmocka_unit_test(test_confidence_improvement_is_the_difference_of_means),
        cmocka_unit_test(test_holdout_arm_is_stable_per_document),
        cmocka_unit_test(test_extraction_is_marked_corrected_once),
        cmocka_unit_test(test_ingested_values_are_filled_in),
        cmocka_unit_test(test_cited_matches_count_as_uses),
        cmocka_unit_test(test_replacement_withdraws_uses),
        cmocka_unit_test(test_repeat_of_a_linked_draft_replaces),
        cmocka_unit_test(test_roles_and_times_are_checked),
    };

    return cmocka_run_group_tests_name("extractions", tests, NULL, NULL);
}
