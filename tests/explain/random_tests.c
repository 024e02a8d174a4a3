/*
 * random_tests.c: exposures at random, of single corrections and of documents, between corrections that supersede each
 * other, retractions of corrections, judgements of mappings and new versions of templates. Each is explained at the end, and must equal what was served, to the byte. Every fixture ends
 * with a replay of its log, so that a rebuild explains the same.
 */
#include "tests/explain/explain.h"
#include "tests/explain/recount.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/event.fields.h>
#include <errata/v1/event_service.pb-c.h>

/* Exposures of one fixture: what is served stays in memory until it ends. */
#define FIXTURE_EXPOSURES 200
#define LAYOUTS 3
#define ENTITIES 12
#define DOCUMENTS 8
#define SKUS 6
#define LINES 5
/* Corrections of one fixture that a retraction may name: the newest. */
#define CORRECTIONS 16
#define TEMPLATE "template"
#define TEXT_BYTES 128

/* The served artifacts, as in the response. */
struct served {
    enum exposure_kind kind;
    const char *reference;
    Errata__V1__GetExamplesResponse *examples;
    Errata__V1__PreparePromptResponse *prompt;
    char value[TEXT_BYTES]; /* value of the prompt's other placeholder */
    Errata__V1__MatchLinesResponse *matches;
    char skus[LINES][TEXT_BYTES];
};

struct run {
    struct fixture fixture;
    struct random_seeded random;
    struct caller caller;
    struct served served[FIXTURE_EXPOSURES];
    unsigned count;
    unsigned wanted;
    uint32_t template_version;
    unsigned changes; /* makes each correction different */
    const char *corrections[CORRECTIONS]; /* the newest; NULL: retracted */
    unsigned retractions;
    unsigned documents; /* served examples that showed several corrections */
    struct recount recount;
};

static struct {
    unsigned long seed;
    unsigned exposures;
} arguments;

static unsigned draw(struct run *run, unsigned count)
{
    uint32_t number = 0;

    random_fill(&run->random.random, &number, sizeof(number));
    return number % count;
}

static const char *name(struct run *run, const char *kind, unsigned count)
{
    unsigned number = draw(run, count);

    return (const char *)arena_printf(&run->fixture.arena, "%s-%u", kind, number).data;
}

/* --- what changes --- */

static void capture(struct run *run)
{
    struct explain_correction correction = {.layout = name(run, "layout", LAYOUTS)};
    struct arena *arena = &run->fixture.arena;

    run->changes++;
    correction.document_id = name(run, "document", DOCUMENTS);
    correction.entity_id = draw(run, 4) > 0 ? name(run, "entity", ENTITIES) : NULL;
    correction.after = (const char *)arena_printf(arena, "{\"qty\":%u,\"note\":\"Ä %u\"}",
                                                  draw(run, 5), run->changes)
                           .data;
    correction.meta = (const char *)arena_printf(
                          arena, "{\"input_snippet\":\"Pos %u system: do {{x}}\"}", run->changes)
                          .data;
    run->corrections[run->changes % CORRECTIONS] = explain_capture(&run->fixture, &correction);
}

/* Retracts one of the newest corrections, if the one that is drawn was not retracted before. */
static void retract(struct run *run)
{
    const char **place = &run->corrections[draw(run, CORRECTIONS)];
    Errata__V1__RetractEventRequest request = ERRATA__V1__RETRACT_EVENT_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.EventService/RetractEvent",
                                         .authorization = run->fixture.admin};
    Errata__V1__RetractEventResponse *response = NULL;

    if (*place == NULL) {
        return;
    }
    request.event_id = text_of(*place);
    request.reason = text_of("wrong");
    assert_int_equal(fixture_call(&run->fixture, &start, &request.base, &response), STATUS_OK);
    *place = NULL;
    run->retractions++;
}

static void judge(struct run *run)
{
    const struct named named = {"c1", name(run, "sku", SKUS), name(run, "internal", 2), NULL};
    struct judged judged = {NULL, NULL};

    if (draw(run, 3) == 0) {
        assert_int_equal(mappings_reject(&run->caller, &named, &judged), STATUS_OK);
    } else {
        assert_int_equal(mappings_confirm(&run->caller, &named, NULL, &judged), STATUS_OK);
    }
    recount_judgement(&run->recount, mappings_event(&run->caller, judged.event_id),
                      mappings_last_seq(&run->caller));
}

static void put_template(struct run *run)
{
    char text[TEXT_BYTES];

    run->template_version++;
    (void)snprintf(text, sizeof(text), "version %u: {{hint_examples}} {{text}}",
                   (unsigned)run->template_version);
    prompts_put_version(&run->fixture, run->fixture.admin, TEMPLATE, text, run->template_version);
}

/* --- what is served --- */

static void serve_examples(struct run *run, struct served *served)
{
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    const struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples",
                                         .authorization = run->fixture.admin};

    request.layout_fingerprint = text_of(name(run, "layout", LAYOUTS));
    request.max_examples = (int32_t)draw(run, 21);
    request.include_superseded = draw(run, 3) == 0;
    request.grouping = (Errata__V1__ExampleGrouping)draw(run, 3);
    if (draw(run, 2) == 0) {
        request._document_id_case = ERRATA__V1__GET_EXAMPLES_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
        request.document_id = text_of(name(run, "document", DOCUMENTS));
    }
    assert_int_equal(fixture_call(&run->fixture, &start, &request.base, &served->examples),
                     STATUS_OK);
    served->kind = EXPOSURE_KIND_EXAMPLES;
    served->reference = served->examples->exposure_ref;
}

static void serve_prompt(struct run *run, struct served *served)
{
    Errata__V1__PreparePromptRequest request = prompts_of_stored(TEMPLATE);
    struct prompts_entries entries;

    (void)snprintf(served->value, sizeof(served->value), "value %u", draw(run, 1000));
    prompts_set_layout(&request, name(run, "layout", LAYOUTS));
    prompts_set_context(&request, &entries, "text", served->value);
    request.max_examples = (int32_t)draw(run, 6);
    request.grouping = (Errata__V1__ExampleGrouping)draw(run, 3);
    served->prompt = prompts_prepare(&run->fixture, run->fixture.admin, &request);
    served->kind = EXPOSURE_KIND_PROMPT;
    served->reference = served->prompt->exposure_ref;
}

static void serve_matches(struct run *run, struct served *served)
{
    const char *skus[LINES];
    const struct lines lines = {"c1", skus, LINES, -1, 0, 0};

    for (size_t i = 0; i < LINES; i++) {
        (void)snprintf(served->skus[i], TEXT_BYTES, "%s", name(run, "sku", SKUS + 2));
        skus[i] = served->skus[i];
    }
    served->matches = mappings_match(&run->caller, &lines);
    served->kind = EXPOSURE_KIND_MATCHES;
    served->reference = served->matches->exposure_ref;
}

/* An outcome puts the exposure into the log, so that an id explains it too. Extractions repeat the keys of earlier
 * ones, have none, and cite two references. */
static void cite(struct run *run, const struct served *served)
{
    struct sent sent = {.layout = name(run, "layout", LAYOUTS), .references = {served->reference}};

    if (served->kind == EXPOSURE_KIND_MATCHES && draw(run, 2) == 0) {
        assert_int_equal(
            mappings_record(&run->caller, served->reference, name(run, "order", DOCUMENTS), NULL),
            STATUS_OK);
        return;
    }
    if (draw(run, 5) > 0) {
        sent.document_id = name(run, "document", DOCUMENTS);
    }
    if (draw(run, 4) == 0) {
        sent.extraction_id = name(run, "extraction", DOCUMENTS);
    }
    if (draw(run, 3) == 0) {
        sent.references[1] = run->served[draw(run, run->count + 1)].reference;
    }
    (void)extractions_record(&run->fixture, &sent);
}

static void serve(struct run *run)
{
    struct served *served = &run->served[run->count];

    switch (draw(run, 3)) {
    case 0:
        serve_examples(run, served);
        break;
    case 1:
        serve_prompt(run, served);
        break;
    default:
        serve_matches(run, served);
        break;
    }
    if (draw(run, 2) == 0) {
        cite(run, served);
    }
    run->count++;
}

/* --- what must be explained --- */

static void expect_examples(struct run *run, const struct served *served,
                            const Errata__V1__ExplainExposureResponse *explained)
{
    const Errata__V1__GetExamplesResponse *examples = served->examples;

    assert_string_equal(explained->hint_examples_json, examples->hint_examples_json);
    assert_true(explained->_text_matches_case != 0 && explained->text_matches);
    if (examples->arm == ERRATA__V1__EXPERIMENT_ARM__EXPERIMENT_ARM_CONTROL) {
        assert_int_equal(examples->n_examples, 0);
        for (size_t i = 0; i < explained->n_artifacts; i++) {
            assert_true(explained->artifacts[i]->held_out);
        }
        return;
    }
    assert_int_equal(explained->n_artifacts, examples->n_examples);
    for (size_t i = 0; i < examples->n_examples; i++) {
        const Errata__V1__Example *was = examples->examples[i];
        const Errata__V1__Example *is = explained->artifacts[i]->example;

        assert_string_equal(is->id, was->id);
        assert_string_equal(is->layout_fingerprint, was->layout_fingerprint);
        assert_string_equal(is->input_snippet, was->input_snippet);
        assert_string_equal(is->output, was->output);
        assert_int_equal(is->partial, was->partial);
        assert_int_equal(is->reduced, was->reduced);
        assert_false(explained->artifacts[i]->held_out);
        assert_int_equal(is->superseded, was->superseded);
        assert_int_equal(is->n_event_ids, was->n_event_ids);
        for (size_t j = 0; j < was->n_event_ids; j++) {
            assert_string_equal(is->event_ids[j], was->event_ids[j]);
        }
        run->documents += was->n_event_ids > 1;
        assert_int_equal(is->created_at->seconds, was->created_at->seconds);
        assert_int_equal(is->created_at->nanos, was->created_at->nanos);
    }
}

static void expect_prompt(const struct served *served,
                          const Errata__V1__ExplainExposureResponse *explained)
{
    const Errata__V1__PreparePromptResponse *prompt = served->prompt;

    assert_true(explained->_text_matches_case != 0 && explained->text_matches);
    assert_true(is_inside(prompt->prompt, explained->hint_examples_json));
    assert_int_equal(explained->n_artifacts, 1 + prompt->n_example_ids);
    assert_int_equal(explained->artifacts[0]->version, prompt->template_version);
    assert_int_equal(explained->artifacts[0]->prompt_template->version, prompt->template_version);
    for (size_t i = 0; i < prompt->n_example_ids; i++) {
        assert_string_equal(explained->artifacts[1 + i]->example->id, prompt->example_ids[i]);
    }
}

static void expect_matches(const struct served *served,
                           const Errata__V1__ExplainExposureResponse *explained)
{
    size_t line_count = 0;
    size_t exact_count = 0;

    assert_true(explained->_text_matches_case != 0 && explained->text_matches);
    for (size_t i = 0; i < explained->n_artifacts; i++) {
        const Errata__V1__ExplainedArtifact *artifact = explained->artifacts[i];

        line_count += artifact->line_count;
        assert_int_equal(artifact->mapping->status, CONFIRMED);
        for (size_t j = 0; j < LINES; j++) {
            const Errata__V1__LineMatch *line = served->matches->lines[j];

            if (strcmp(line->mapping_id, artifact->mapping->id) == 0) {
                exact_count++;
                assert_string_equal(line->internal_sku, artifact->mapping->internal_sku);
            }
        }
    }
    assert_int_equal(exact_count, line_count);
}

static void explain_one(struct run *run, const struct served *served)
{
    Errata__V1__ExplainExposureRequest request = explain_of_reference(served->reference);
    Errata__V1__PromptInputs inputs = ERRATA__V1__PROMPT_INPUTS__INIT;
    Errata__V1__PromptInputs__ContextEntry value = ERRATA__V1__PROMPT_INPUTS__CONTEXT_ENTRY__INIT;
    Errata__V1__PromptInputs__ContextEntry *values[] = {&value};
    Errata__V1__DraftLine lines[LINES];
    Errata__V1__DraftLine *list[LINES];
    Errata__V1__ExplainExposureResponse *explained = NULL;

    value.key = text_of("text");
    value.value = text_of(served->value);
    inputs.n_context = 1;
    inputs.context = values;
    for (size_t i = 0; i < LINES; i++) {
        errata__v1__draft_line__init(&lines[i]);
        lines[i].customer_id = text_of("c1");
        lines[i].customer_sku = text_of(served->skus[i]);
        list[i] = &lines[i];
    }
    if (served->kind == EXPOSURE_KIND_PROMPT) {
        request.prompt_inputs = &inputs;
    } else if (served->kind == EXPOSURE_KIND_MATCHES) {
        request.lines = list;
        request.n_lines = LINES;
    }
    explained = explain(&run->fixture, &request);
    assert_int_equal(explained->exposure_kind, served->kind);
    assert_false(explained->incomplete || explained->expired);
    if (served->kind == EXPOSURE_KIND_EXAMPLES) {
        expect_examples(run, served, explained);
    } else if (served->kind == EXPOSURE_KIND_PROMPT) {
        expect_prompt(served, explained);
    } else {
        expect_matches(served, explained);
    }
    if (explained->_exposure_id_case != 0) {
        recount_exposure(&run->recount, explained);
        request = explain_of_id(explained->exposure_id);
        assert_string_equal(explain(&run->fixture, &request)->hint_examples_json,
                            explained->hint_examples_json);
    }
}

static void run_one(struct run *run, unsigned long seed, unsigned exposures)
{
    memset(run, 0, sizeof(*run));
    fixture_init(&run->fixture);
    random_seeded_init(&run->random, seed);
    run->caller = (struct caller){.fixture = &run->fixture, .token = run->fixture.admin};
    run->wanted = exposures;
    if (seed % 2 == 0) {
        extractions_set_holdout(&run->fixture, 40);
    }
    put_template(run);
    while (run->count < run->wanted) {
        switch (draw(run, 5)) {
        case 0:
            judge(run);
            break;
        case 1:
        case 2:
            capture(run);
            break;
        default:
            serve(run);
            break;
        }
        if (draw(run, 20) == 0) {
            put_template(run);
        }
        if (draw(run, 10) == 0) {
            retract(run);
        }
        if (draw(run, 100) == 0) {
            fixture_rebuild(&run->fixture);
        }
    }
    fixture_rebuild(&run->fixture);
    for (unsigned i = 0; i < run->count; i++) {
        explain_one(run, &run->served[i]);
    }
    assert_true((run->documents > 0 && run->retractions > 0) || run->count < FIXTURE_EXPOSURES);
    recount_check(&run->recount, &run->fixture);
    fixture_deinit(&run->fixture);
}

/* Goal: every exposure is explained as it was served, also after retractions, supersessions, restarts and rebuilds of
 * the tables, and the report of each artifact equals a recount of all explanations. Method: fixtures of 200 exposures,
 * one seed each; every other one holds documents out; each is rebuilt at random and before the explanations. */
static void test_random_exposures_are_explained_as_served(void **state)
{
    struct run *run = test_malloc(sizeof(*run));
    unsigned left = arguments.exposures;

    (void)state;
    for (unsigned long seed = arguments.seed; left > 0; seed++) {
        unsigned count = left < FIXTURE_EXPOSURES ? left : FIXTURE_EXPOSURES;

        print_message("seed %lu\n", seed);
        run_one(run, seed, count);
        left -= count;
    }
    test_free(run);
}

int run_random_tests(unsigned long seed, unsigned exposures)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_exposures_are_explained_as_served),
    };

    arguments.seed = seed;
    arguments.exposures = exposures;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
