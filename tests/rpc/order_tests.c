/*
 * order_tests.c: rates and the experiment do not depend on the order of calls. A pipeline ingests documents, gets
 * examples for them, and records the extractions; people correct them, before or after they are recorded. Each call
 * is repeated.
 */
#include "tests/rpc/extractions.h"
#include "tests/rpc/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/extraction.fields.h>

#define DOCUMENTS 12
#define LAYOUTS 2
#define FIELDS 4
#define HOLDOUT_PERCENT 50
#define SECOND_US INT64_C(1000000)
#define REPORT_BYTES 4096

/* The calls for one document. A further extraction has an id of its own. */
enum step {
    STEP_INGEST,
    STEP_INGEST_AGAIN,
    STEP_SERVE,
    STEP_SERVE_AGAIN,
    STEP_RECORD,
    STEP_RECORD_AGAIN,
    STEP_CORRECT,
    STEP_CORRECT_AGAIN,
    STEP_SERVE_FURTHER,
    STEP_RECORD_FURTHER,
    STEP_RECORD_FURTHER_AGAIN,
    STEP_CORRECT_FURTHER,
    STEP_CORRECT_FURTHER_AGAIN,
    STEP_COUNT
};

/* The steps that must precede each: serving follows corrections of earlier served examples, and the first extraction is
 * recorded first. */
static const unsigned needed[STEP_COUNT] = {
    [STEP_INGEST_AGAIN] = 1u << STEP_INGEST,
    [STEP_SERVE] = 1u << STEP_INGEST,
    [STEP_SERVE_AGAIN] = 1u << STEP_SERVE,
    [STEP_RECORD] = 1u << STEP_SERVE_AGAIN,
    [STEP_RECORD_AGAIN] = 1u << STEP_RECORD,
    [STEP_CORRECT] = 1u << STEP_SERVE_AGAIN,
    [STEP_CORRECT_AGAIN] = 1u << STEP_CORRECT,
    [STEP_SERVE_FURTHER] = 1u << STEP_SERVE_AGAIN | 1u << STEP_CORRECT | 1u << STEP_CORRECT_AGAIN,
    [STEP_RECORD_FURTHER] = 1u << STEP_SERVE_FURTHER | 1u << STEP_RECORD,
    [STEP_RECORD_FURTHER_AGAIN] = 1u << STEP_RECORD_FURTHER,
    [STEP_CORRECT_FURTHER] = 1u << STEP_SERVE_FURTHER,
    [STEP_CORRECT_FURTHER_AGAIN] = 1u << STEP_CORRECT_FURTHER,
};

/* Actions on a document, determined by its number. */
struct plan {
    unsigned number;
    bool is_corrected;
    bool has_further;
    bool is_further_corrected;
    bool by_draft; /* corrections contain only the draft order */
    char document_id[16];
    char draft_order_id[16];
    const char *layout; /* freed with the fixture */
};

struct progress {
    struct plan plan;
    unsigned done; /* completed steps, as bits */
    unsigned left;
    const char *reference;
    const char *further_reference;
    enum experiment_arm arm; /* arm of the exposure */
};

static struct plan plan_of(unsigned number, const char *layout)
{
    struct plan plan = {
        .number = number,
        .layout = layout,
        .is_corrected = number % 3 != 0,
        .has_further = number % 4 == 1,
        .is_further_corrected = number % 8 == 1,
        .by_draft = number % 2 == 0,
    };

    (void)snprintf(plan.document_id, sizeof(plan.document_id), "document-%u", number);
    (void)snprintf(plan.draft_order_id, sizeof(plan.draft_order_id), "draft-%u", number);
    return plan;
}

static unsigned steps_of(const struct plan *plan)
{
    unsigned steps = 1u << STEP_INGEST | 1u << STEP_INGEST_AGAIN | 1u << STEP_SERVE |
                     1u << STEP_SERVE_AGAIN | 1u << STEP_RECORD | 1u << STEP_RECORD_AGAIN;

    if (plan->is_corrected) {
        steps |= 1u << STEP_CORRECT | 1u << STEP_CORRECT_AGAIN;
    }
    if (plan->has_further) {
        steps |=
            1u << STEP_SERVE_FURTHER | 1u << STEP_RECORD_FURTHER | 1u << STEP_RECORD_FURTHER_AGAIN;
    }
    if (plan->has_further && plan->is_further_corrected) {
        steps |= 1u << STEP_CORRECT_FURTHER | 1u << STEP_CORRECT_FURTHER_AGAIN;
    }
    return steps;
}

/* --- the calls --- */

/* Layouts differ in the number of their tables. Returns the document's fingerprint. */
static const char *ingest_of_layout(struct fixture *fixture, const char *document_id,
                                    unsigned layout)
{
    const struct exchange_start start = {.path = INGEST_UNARY, .authorization = fixture->admin};
    Errata__V1__Document *document = NULL;

    fixture->documents.answer.tables.table_count = layout;
    assert_int_equal(ingest(fixture, &start, document_id, SLICE("%PDF-1.4"), &document), STATUS_OK);
    return document->layout_fingerprint;
}

static void serve(struct fixture *fixture, struct progress *progress, const char **ret_reference)
{
    Errata__V1__GetExamplesResponse *served =
        extractions_examples(fixture, progress->plan.layout, progress->plan.document_id);

    progress->arm = (enum experiment_arm)served->arm;
    *ret_reference = served->exposure_ref;
}

static void record(struct fixture *fixture, const struct progress *progress, bool further)
{
    const struct plan *plan = &progress->plan;

    (void)extractions_record(
        fixture, &(struct sent){
                     .extraction_id = further ? plan->draft_order_id : NULL,
                     .document_id = plan->document_id,
                     .draft_order_id = plan->draft_order_id,
                     .layout = plan->layout,
                     .confidence = (double)plan->number / DOCUMENTS,
                     .field_count = FIELDS,
                     .references = {further ? progress->further_reference : progress->reference},
                 });
}

/* The corrected fields, whose number follows from the document's number. */
static void correct(struct fixture *fixture, const struct plan *plan)
{
    char after[64];

    (void)snprintf(after, sizeof(after), plan->number % 5 < 3 ? "{\"a\":1}" : "{\"a\":1,\"b\":2}");
    (void)extractions_correct(fixture,
                              &(struct correction){
                                  .document_id = plan->by_draft ? NULL : plan->document_id,
                                  .draft_order_id = plan->by_draft ? plan->draft_order_id : NULL,
                                  .layout = plan->layout,
                                  .entity_id = "1",
                                  .after = after,
                              });
}

static void take_step(struct fixture *fixture, struct progress *progress, enum step step)
{
    switch (step) {
    case STEP_INGEST:
    case STEP_INGEST_AGAIN:
        assert_string_equal(
            ingest_of_layout(fixture, progress->plan.document_id, progress->plan.number % LAYOUTS),
            progress->plan.layout);
        break;
    case STEP_SERVE:
    case STEP_SERVE_AGAIN:
        serve(fixture, progress, &progress->reference);
        break;
    case STEP_SERVE_FURTHER:
        serve(fixture, progress, &progress->further_reference);
        break;
    case STEP_RECORD:
    case STEP_RECORD_AGAIN:
        record(fixture, progress, false);
        break;
    case STEP_RECORD_FURTHER:
    case STEP_RECORD_FURTHER_AGAIN:
        record(fixture, progress, true);
        break;
    case STEP_CORRECT:
    case STEP_CORRECT_AGAIN:
    case STEP_CORRECT_FURTHER:
    case STEP_CORRECT_FURTHER_AGAIN:
        correct(fixture, &progress->plan);
        break;
    case STEP_COUNT:
        break;
    }
    progress->done |= 1u << step;
    progress->left &= ~(1u << step);
    clock_manual_advance(&fixture->clock, SECOND_US);
}

static unsigned draw(struct random_seeded *random, unsigned below)
{
    uint64_t value = 0;

    random_fill(&random->random, &value, sizeof(value));
    return (unsigned)(value % below);
}

/* Takes all steps of all documents in an order that the seed decides. */
static void run_pipeline(struct fixture *fixture, struct random_seeded *random,
                         const char *const layouts[LAYOUTS], struct progress documents[DOCUMENTS])
{
    unsigned left = 0;

    for (unsigned i = 0; i < DOCUMENTS; i++) {
        documents[i] = (struct progress){.plan = plan_of(i, layouts[i % LAYOUTS])};
        documents[i].left = steps_of(&documents[i].plan);
        left += (unsigned)__builtin_popcount(documents[i].left);
    }
    while (left > 0) {
        struct progress *progress = &documents[draw(random, DOCUMENTS)];
        unsigned step = draw(random, STEP_COUNT);
        unsigned steps = steps_of(&progress->plan);

        if ((progress->left >> step & 1) == 0 || (needed[step] & steps & ~progress->done) != 0) {
            continue;
        }
        take_step(fixture, progress, (enum step)step);
        left--;
    }
}

/* --- the model --- */

static void add_to_arm(struct arm_sums *arm, const struct plan *plan)
{
    arm->extraction_count++;
    arm->field_count += FIELDS;
    arm->corrected_count += plan->is_corrected ? 1 : 0;
    arm->corrected_field_count += !plan->is_corrected ? 0 : plan->number % 5 < 3 ? 1 : 2;
}

/* Each document by itself: only its first extraction is compared. */
static struct layout_stats_record model_of(const struct progress documents[DOCUMENTS],
                                           unsigned layout)
{
    struct layout_stats_record stats = {.extraction_count = 0};

    for (unsigned i = layout; i < DOCUMENTS; i += LAYOUTS) {
        const struct plan *plan = &documents[i].plan;

        stats.extraction_count += plan->has_further ? 2 : 1;
        stats.corrected_count += plan->is_corrected ? 1 : 0;
        stats.corrected_count += plan->has_further && plan->is_further_corrected ? 1 : 0;
        stats.excluded_count[EXPERIMENT_EXCLUSION_FURTHER_EXTRACTION - 1] +=
            plan->has_further ? 1 : 0;
        add_to_arm(documents[i].arm == EXPERIMENT_ARM_CONTROL ? &stats.control : &stats.treatment,
                   plan);
    }
    return stats;
}

static void check_model(struct fixture *fixture, const char *org_id,
                        const struct progress documents[DOCUMENTS])
{
    for (unsigned layout = 0; layout < LAYOUTS; layout++) {
        struct layout_stats_record wanted = model_of(documents, layout);
        struct layout_stats_record found =
            extractions_stats_of(fixture, org_id, documents[layout].plan.layout);

        assert_int_equal(found.extraction_count, wanted.extraction_count);
        assert_int_equal(found.corrected_count, wanted.corrected_count);
        assert_memory_equal(&found.treatment, &wanted.treatment, sizeof(wanted.treatment));
        assert_memory_equal(&found.control, &wanted.control, sizeof(wanted.control));
        assert_memory_equal(found.excluded_count, wanted.excluded_count,
                            sizeof(wanted.excluded_count));
    }
}

/* The responses that must be equal for any order, without the times of the last documents. */
static size_t read_reports(struct fixture *fixture, uint8_t bytes[REPORT_BYTES])
{
    Errata__V1__GetExperimentReportRequest experiment =
        ERRATA__V1__GET_EXPERIMENT_REPORT_REQUEST__INIT;
    Errata__V1__GetLearningAnalyticsRequest learning =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    Errata__V1__GetExperimentReportResponse *report = NULL;
    Errata__V1__GetLearningAnalyticsResponse *learned = NULL;
    struct exchange_start start = {.path = "errata.v1.AnalyticsService/GetExperimentReport",
                                   .authorization = fixture->admin};
    size_t size = 0;

    assert_int_equal(fixture_call(fixture, &start, &experiment.base, &report), STATUS_OK);
    size = errata__v1__get_experiment_report_response__get_packed_size(report);
    assert_true(size < REPORT_BYTES);
    (void)errata__v1__get_experiment_report_response__pack(report, bytes);
    start.path = "errata.v1.AnalyticsService/GetLearningAnalytics";
    assert_int_equal(fixture_call(fixture, &start, &learning.base, &learned), STATUS_OK);
    for (size_t i = 0; i < learned->n_layout_stats; i++) {
        assert_non_null(learned->layout_stats[i]->last_seen_at);
        learned->layout_stats[i]->last_seen_at = NULL;
    }
    assert_true(size + errata__v1__get_learning_analytics_response__get_packed_size(learned) <
                REPORT_BYTES);
    return size + errata__v1__get_learning_analytics_response__pack(learned, bytes + size);
}

/* Goal: rates and experiment are the same for any order of the calls, each repeated, and those of the model;
 * rows equal a replay. Method: the steps of twelve documents in orders of thirty seeds, of which some corrections
 * come before their extraction is recorded, and some documents have a further extraction. */
static void test_any_order_gives_the_same_rates(void **state)
{
    uint8_t first[REPORT_BYTES];
    uint8_t bytes[REPORT_BYTES];
    size_t first_size = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct progress documents[DOCUMENTS];
        struct random_seeded random;
        const char *layouts[LAYOUTS] = {NULL};
        const char *org_id = NULL;
        struct fixture fixture;
        size_t size = 0;

        fixture_init(&fixture);
        random_seeded_init(&random, seed);
        extractions_set_holdout(&fixture, HOLDOUT_PERCENT);
        for (unsigned i = 0; i < LAYOUTS; i++) {
            layouts[i] = ingest_of_layout(&fixture, i == 0 ? "first" : "second", i);
        }
        for (unsigned i = 0; i < 3 * LAYOUTS; i++) {
            org_id = fixture_capture(&fixture, fixture.admin, NULL, layouts[i % LAYOUTS])->org_id;
        }
        run_pipeline(&fixture, &random, layouts, documents);
        check_model(&fixture, org_id, documents);
        size = read_reports(&fixture, bytes);
        if (seed == 1) {
            memcpy(first, bytes, size);
            first_size = size;
        }
        assert_int_equal(size, first_size);
        assert_memory_equal(bytes, first, size);
        fixture_deinit(&fixture); /* compares all rows with a replay */
    }
}

int run_order_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order_gives_the_same_rates),
    };

    return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
