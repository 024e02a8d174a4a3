/*
 * case_tests.c: one exposure of each kind, explained before and after what it served has changed; references that
 * this server did not make; texts that are compared with their hashes.
 */
#include "server/domain/corrections/keys.h"
#include "store/keys.h"
#include "store/records.h"
#include "tests/explain/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errata/v1/event.fields.h>
#include <errata/v1/feedback_event.fields.h>

#define META "{\"input_snippet\":\"Pos 1\"}"

static const char *actor_of(struct fixture *fixture, const char *id)
{
    const struct caller caller = {.fixture = fixture, .token = fixture->admin};

    return mappings_event(&caller, id)->actor_user_id;
}

/* Goal: examples are explained as they were served, with the person who corrected each, after one of them was
 * superseded and another was captured. Method: two corrections, a lookup, two more corrections. */
static void test_examples_are_explained_as_they_were_served(void **state)
{
    struct fixture fixture;
    Errata__V1__GetExamplesResponse *served = NULL;
    Errata__V1__ExplainExposureRequest request;
    Errata__V1__ExplainExposureResponse *explained = NULL;
    const char *older = NULL;
    const char *newer = NULL;
    const char *superseding = NULL;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    older = explain_capture(&fixture,
                            &(struct explain_correction){"layout", "d1", "1", "{\"qty\":1}", META});
    newer = explain_capture(&fixture,
                            &(struct explain_correction){"layout", "d2", "2", "{\"qty\":2}", META});
    served = extractions_examples(&fixture, "layout", "d3");
    assert_int_equal(served->n_examples, 2);
    superseding = explain_capture(
        &fixture, &(struct explain_correction){"layout", "d1", "1", "{\"qty\":3}", META});
    (void)explain_capture(&fixture,
                          &(struct explain_correction){"layout", "d4", "4", "{\"qty\":4}", META});
    seq = mappings_last_seq(&(struct caller){.fixture = &fixture, .token = fixture.admin});
    request = explain_of_reference(served->exposure_ref);
    explained = explain(&fixture, &request);
    assert_int_equal(
        mappings_last_seq(&(struct caller){.fixture = &fixture, .token = fixture.admin}), seq);
    assert_int_equal(explained->exposure_kind, EXPOSURE_KIND_EXAMPLES);
    assert_int_equal(explained->arm, served->arm);
    assert_int_equal(explained->artifact_count, 2);
    assert_int_equal(explained->n_artifacts, 2);
    assert_string_equal(explained->hint_examples_json, served->hint_examples_json);
    assert_true(explained->_text_matches_case != 0 && explained->text_matches);
    assert_false(explained->expired);
    assert_int_equal(explained->_exposure_id_case, 0);
    assert_int_equal(explained->n_outcomes, 0);
    assert_string_equal(explained->artifacts[0]->example->id, newer);
    assert_string_equal(explained->artifacts[0]->example->output, served->examples[0]->output);
    assert_string_equal(explained->artifacts[0]->approved_by, actor_of(&fixture, newer));
    assert_int_equal(explained->artifacts[0]->_superseded_by_event_id_case, 0);
    assert_string_equal(explained->artifacts[1]->example->id, older);
    assert_false(explained->artifacts[1]->example->superseded);
    assert_string_equal(explained->artifacts[1]->superseded_by_event_id, superseding);
    assert_int_equal(explained->artifacts[1]->n_evidence, 1);
    assert_string_equal(explained->artifacts[1]->evidence[0]->event_id, older);
    assert_string_equal(explained->artifacts[1]->evidence[0]->document_id, "d1");
    assert_int_equal(explained->artifacts[1]->evidence[0]->event_type,
                     FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED);
    fixture_deinit(&fixture);
}

/* Goal: an example that was retracted since is explained as it was served. Method: one example, retracted. */
static void test_retracted_example_is_explained(void **state)
{
    struct fixture fixture;
    Errata__V1__RetractEventRequest retract = ERRATA__V1__RETRACT_EVENT_REQUEST__INIT;
    struct exchange_start start = {.path = "errata.v1.EventService/RetractEvent"};
    Errata__V1__GetExamplesResponse *served = NULL;
    Errata__V1__ExplainExposureRequest request;
    Errata__V1__ExplainExposureResponse *explained = NULL;

    (void)state;
    fixture_init(&fixture);
    start.authorization = fixture.admin;
    retract.event_id = text_of(explain_capture(
        &fixture, &(struct explain_correction){"layout", "d1", "1", "{\"qty\":1}", META}));
    retract.reason = text_of("a mistake");
    served = extractions_examples(&fixture, "layout", "d3");
    assert_int_equal(fixture_call(&fixture, &start, &retract.base, NULL), STATUS_OK);
    request = explain_of_reference(served->exposure_ref);
    explained = explain(&fixture, &request);
    assert_true(explained->text_matches);
    assert_string_equal(explained->hint_examples_json, served->hint_examples_json);
    assert_string_equal(explained->artifacts[0]->example->id, retract.event_id);
    fixture_deinit(&fixture);
}

/* Goal: outcomes that cited the exposure are listed, with the correction that followed; the id of its event
 * explains it as its reference does. Method: two extractions of one reference, one corrected. */
static void test_outcomes_are_listed(void **state)
{
    struct fixture fixture;
    Errata__V1__GetExamplesResponse *served = NULL;
    Errata__V1__Extraction *first = NULL;
    Errata__V1__ExplainExposureRequest request;
    Errata__V1__ExplainExposureResponse *explained = NULL;
    const char *correction = NULL;
    size_t corrected = 0;

    (void)state;
    fixture_init(&fixture);
    (void)explain_capture(&fixture,
                          &(struct explain_correction){"layout", "d1", "1", "{\"qty\":1}", META});
    served = extractions_examples(&fixture, "layout", "d3");
    first = extractions_record(&fixture, &(struct sent){.document_id = "d3",
                                                        .draft_order_id = "order 3",
                                                        .layout = "layout",
                                                        .references = {served->exposure_ref}});
    (void)extractions_record(&fixture, &(struct sent){.document_id = "d4",
                                                      .layout = "layout",
                                                      .references = {served->exposure_ref}});
    correction = explain_capture(
        &fixture, &(struct explain_correction){"layout", "d3", "9", "{\"qty\":5}", NULL});
    request = explain_of_reference(served->exposure_ref);
    explained = explain(&fixture, &request);
    assert_int_equal(explained->n_outcomes, 2);
    for (size_t i = 0; i < 2; i++) {
        const Errata__V1__ExposureOutcome *outcome = explained->outcomes[i];

        assert_int_equal(outcome->kind, EVENT_KIND_EXTRACTION_RECORDED);
        if (outcome->_corrected_by_event_id_case != 0) {
            corrected++;
            assert_string_equal(outcome->event_id, first->id);
            assert_string_equal(outcome->document_id, "d3");
            assert_string_equal(outcome->draft_order_id, "order 3");
            assert_string_equal(outcome->corrected_by_event_id, correction);
        }
    }
    assert_int_equal(corrected, 1);
    assert_true(explained->_exposure_id_case != 0);
    request = explain_of_id(explained->exposure_id);
    assert_string_equal(explain(&fixture, &request)->hint_examples_json,
                        served->hint_examples_json);
    assert_true(explain(&fixture, &request)->text_matches);
    request = explain_of_id(first->id);
    assert_int_equal(explain_try(&fixture, fixture.admin, &request, NULL), STATUS_NOT_FOUND);
    fixture_deinit(&fixture);
}

/* Goal: a prompt is explained with the version of its template and its examples; a caller that sends the rest
 * again learns whether the text is the one that was served. Method: a stored template, a new version of it since;
 * the same values, and one changed. */
static void test_prompt_is_made_again_from_its_inputs(void **state)
{
    struct fixture fixture;
    struct prompts_entries entries;
    Errata__V1__PreparePromptRequest prepare = prompts_of_stored("mine");
    Errata__V1__PreparePromptResponse *served = NULL;
    Errata__V1__ExplainExposureRequest request;
    Errata__V1__PromptInputs inputs = ERRATA__V1__PROMPT_INPUTS__INIT;
    Errata__V1__PromptInputs__ContextEntry value = ERRATA__V1__PROMPT_INPUTS__CONTEXT_ENTRY__INIT;
    Errata__V1__PromptInputs__ContextEntry *values[] = {&value};
    Errata__V1__ExplainExposureResponse *explained = NULL;

    (void)state;
    fixture_init(&fixture);
    prompts_put_version(&fixture, fixture.admin, "mine", "{{text}} as in {{hint_examples}}", 1);
    (void)explain_capture(&fixture,
                          &(struct explain_correction){"layout", "d1", "1", "{\"qty\":1}", META});
    prompts_set_layout(&prepare, "layout");
    prompts_set_context(&prepare, &entries, "text", "of the document");
    served = prompts_prepare(&fixture, fixture.admin, &prepare);
    prompts_put_version(&fixture, fixture.admin, "mine", "now {{text}}", 2);
    request = explain_of_reference(served->exposure_ref);
    explained = explain(&fixture, &request);
    assert_int_equal(explained->exposure_kind, EXPOSURE_KIND_PROMPT);
    assert_int_equal(explained->n_artifacts, 2);
    assert_string_equal(explained->artifacts[0]->prompt_template->text,
                        "{{text}} as in {{hint_examples}}");
    assert_int_equal(explained->artifacts[0]->version, 1);
    assert_string_equal(explained->artifacts[1]->example->id, served->example_ids[0]);
    assert_true(is_inside(served->prompt, explained->hint_examples_json));
    assert_int_equal(explained->_text_matches_case, 0);
    value.key = text_of("text");
    value.value = text_of("of the document");
    inputs.n_context = 1;
    inputs.context = values;
    request.prompt_inputs = &inputs;
    explained = explain(&fixture, &request);
    assert_true(explained->_text_matches_case != 0 && explained->text_matches);
    value.value = text_of("of the document.");
    explained = explain(&fixture, &request);
    assert_true(explained->_text_matches_case != 0 && !explained->text_matches);
    fixture_deinit(&fixture);
}

/* Goal: the prompt of a template that has no event is made again if the caller names the template. Method: the
 * template that ships, with and without its name; one that was sent. */
static void test_inputs_name_a_template_without_event(void **state)
{
    struct fixture fixture;
    Errata__V1__PreparePromptRequest prepare = prompts_of_stored(SHIPPED);
    Errata__V1__PreparePromptResponse *served = NULL;
    Errata__V1__ExplainExposureRequest request;
    Errata__V1__PromptInputs inputs = ERRATA__V1__PROMPT_INPUTS__INIT;

    (void)state;
    fixture_init(&fixture);
    served = prompts_prepare(&fixture, fixture.admin, &prepare);
    prompts_put_version(&fixture, fixture.admin, SHIPPED, "ours", 1);
    request = explain_of_reference(served->exposure_ref);
    request.prompt_inputs = &inputs;
    assert_int_equal(explain_try(&fixture, fixture.admin, &request, NULL), STATUS_INVALID_ARGUMENT);
    inputs.source_case = ERRATA__V1__PROMPT_INPUTS__SOURCE_TEMPLATE_NAME;
    inputs.template_name = text_of(SHIPPED);
    assert_true(explain(&fixture, &request)->text_matches);
    prepare = prompts_of_template("sent");
    served = prompts_prepare(&fixture, fixture.admin, &prepare);
    request.exposure_ref = text_of(served->exposure_ref);
    inputs.source_case = ERRATA__V1__PROMPT_INPUTS__SOURCE_TEMPLATE;
    inputs.template_ = text_of("sent");
    assert_true(explain(&fixture, &request)->text_matches);
    fixture_deinit(&fixture);
}

/* Goal: matches are explained by the mappings as they were, with who confirmed them and their status now; the lines
 * sent again have the hash. Method: a mapping that is suggested, confirmed, applied, then superseded. */
static void test_matches_are_explained_as_they_were(void **state)
{
    static const char *const skus[] = {"A", "a", "unknown"};
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    const struct lines lines = {"c1", skus, 3, -1, 0, 0};
    const struct named first = {"c1", "A", "X", NULL};
    const struct named second = {"c1", "A", "Y", NULL};
    Errata__V1__MatchLinesResponse *served = NULL;
    Errata__V1__ExplainExposureRequest request;
    Errata__V1__ExplainExposureResponse *explained = NULL;
    Errata__V1__DraftLine sent[3];
    Errata__V1__DraftLine *list[3];
    struct judged judged = {NULL, NULL};

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    assert_int_equal(mappings_suggest(&caller, &first, 0.5, NULL), STATUS_OK);
    assert_int_equal(mappings_confirm(&caller, &first, NULL, &judged), STATUS_OK);
    served = mappings_match(&caller, &lines);
    assert_int_equal(mappings_confirm(&caller, &second, NULL, NULL), STATUS_OK);
    request = explain_of_reference(served->exposure_ref);
    explained = explain(&fixture, &request);
    assert_int_equal(explained->exposure_kind, EXPOSURE_KIND_MATCHES);
    assert_int_equal(explained->n_artifacts, 1);
    assert_string_equal(explained->artifacts[0]->mapping->id, served->lines[0]->mapping_id);
    assert_string_equal(explained->artifacts[0]->mapping->internal_sku, "X");
    assert_int_equal(explained->artifacts[0]->mapping->status, CONFIRMED);
    assert_int_equal(explained->artifacts[0]->current_status, SUPERSEDED);
    assert_int_equal(explained->artifacts[0]->line_count, 2);
    assert_int_equal(explained->artifacts[0]->version, 2);
    assert_int_equal(explained->artifacts[0]->n_evidence, 2);
    assert_string_equal(explained->artifacts[0]->evidence[0]->event_id, judged.event_id);
    assert_int_equal(explained->artifacts[0]->evidence[1]->kind, EVENT_KIND_MAPPING_SUGGESTED);
    assert_string_equal(explained->artifacts[0]->approved_by, actor_of(&fixture, judged.event_id));
    assert_int_equal(explained->_text_matches_case, 0);
    for (size_t i = 0; i < 3; i++) {
        errata__v1__draft_line__init(&sent[i]);
        sent[i].customer_id = text_of("c1");
        sent[i].customer_sku = text_of(skus[i]);
        list[i] = &sent[i];
    }
    request.lines = list;
    request.n_lines = 3;
    assert_true(explain(&fixture, &request)->text_matches);
    request.n_lines = 2;
    explained = explain(&fixture, &request);
    assert_true(explained->_text_matches_case != 0 && !explained->text_matches);
    fixture_deinit(&fixture);
}

/* Removes the content of an event like retention does: with its salt, and the example made from it. */
static void remove_content(struct fixture *fixture, const char *event_id, const char *layout)
{
    const struct caller caller = {.fixture = fixture, .token = fixture->admin};
    struct org_id org = extractions_org_of(mappings_event(&caller, event_id)->org_id);
    struct key_fingerprint fingerprint = key_fingerprint_of(slice_text(layout));
    struct store_txn *txn = NULL;
    struct event_record record;
    struct event event;
    struct slice value = {NULL, 0};
    struct uuid id;
    struct key row;
    struct key example;
    uint64_t seq = 0;

    assert_true(uuid_parse(slice_text(event_id), &id));
    assert_int_equal(store_begin(fixture->backend, STORE_WRITE, &txn), OK);
    assert_int_equal(log_find(txn, org, id, &seq), OK);
    assert_int_equal(log_read(txn, org, seq, &event), OK);
    row = key_event(org, seq);
    example = key_example(org, &fingerprint, event.created_at_us, seq);
    assert_int_equal(store_get(txn, TABLE_EVENT, key_slice(&row), &value), OK);
    assert_true(arena_copy(&fixture->arena, value, &value));
    assert_int_equal(record_decode_event(&fixture->arena, org.uuid, value, &record), OK);
    record.content_removed = true;
    record.content = slice_of(NULL, 0);
    record.salt = slice_of(NULL, 0);
    assert_int_equal(record_encode_event(&fixture->arena, &record, &value), OK);
    assert_int_equal(store_put(txn, TABLE_EVENT, key_slice(&row), value), OK);
    assert_int_equal(store_del(txn, TABLE_EXAMPLE, key_slice(&example)), OK);
    assert_int_equal(store_commit(txn), OK);
    fixture->is_damaged = true;
}

/* Goal: an example whose content was removed is returned as expired, with the hash of the content and who approved it;
 * the others are as they were. Method: two examples, of which one loses its content. */
static void test_removed_content_is_expired(void **state)
{
    struct fixture fixture;
    Errata__V1__GetExamplesResponse *served = NULL;
    Errata__V1__ExplainExposureRequest request;
    Errata__V1__ExplainExposureResponse *explained = NULL;
    const char *older = NULL;

    (void)state;
    fixture_init(&fixture);
    older = explain_capture(&fixture,
                            &(struct explain_correction){"layout", "d1", "1", "{\"qty\":1}", META});
    (void)explain_capture(&fixture,
                          &(struct explain_correction){"layout", "d2", "2", "{\"qty\":2}", META});
    served = extractions_examples(&fixture, "layout", "d3");
    remove_content(&fixture, older, "layout");
    request = explain_of_reference(served->exposure_ref);
    explained = explain(&fixture, &request);
    assert_true(explained->expired);
    assert_string_equal(explained->hint_examples_json, "");
    assert_int_equal(explained->_text_matches_case, 0);
    assert_int_equal(explained->n_artifacts, 2);
    assert_false(explained->artifacts[0]->expired);
    assert_string_equal(explained->artifacts[0]->example->output, served->examples[0]->output);
    assert_true(explained->artifacts[1]->expired);
    assert_null(explained->artifacts[1]->example);
    assert_int_equal(explained->artifacts[1]->content_sha256.len, SHA256_BYTES);
    assert_string_equal(explained->artifacts[1]->evidence[0]->event_id, older);
    assert_string_equal(explained->artifacts[1]->approved_by, actor_of(&fixture, older));
    fixture_deinit(&fixture);
}

static void expect_refused(struct fixture *fixture, const char *token, const char *reference,
                           enum status_code code)
{
    Errata__V1__ExplainExposureRequest request = explain_of_reference(reference);

    assert_int_equal(explain_try(fixture, token, &request, NULL), code);
}

/* Goal: a reference that is forged, cut, extended or another organisation's is refused, and so is an id of another
 * organisation; nothing is stored. Method: each, with the log counted. */
static void test_foreign_references_are_refused(void **state)
{
    struct fixture fixture;
    char other[FIXTURE_TOKEN_BYTES];
    char text[512];
    Errata__V1__GetExamplesResponse *served = NULL;
    Errata__V1__ExplainExposureRequest request = ERRATA__V1__EXPLAIN_EXPOSURE_REQUEST__INIT;
    Errata__V1__ExplainExposureResponse *explained = NULL;
    size_t size = 0;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    fixture_make_org(&fixture, "other", other);
    (void)explain_capture(&fixture,
                          &(struct explain_correction){"layout", "d1", "1", "{\"qty\":1}", META});
    served = extractions_examples(&fixture, "layout", "d3");
    (void)extractions_record(&fixture, &(struct sent){.document_id = "d3",
                                                      .layout = "layout",
                                                      .references = {served->exposure_ref}});
    seq = mappings_last_seq(&(struct caller){.fixture = &fixture, .token = fixture.admin});
    size = strlen(served->exposure_ref);
    assert_true(size < sizeof(text) - 4);
    for (size_t i = 0; i < size; i += 7) {
        memcpy(text, served->exposure_ref, size + 1);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        expect_refused(&fixture, fixture.admin, text, STATUS_INVALID_ARGUMENT);
        text[i] = '\0';
        expect_refused(&fixture, fixture.admin, text, STATUS_INVALID_ARGUMENT);
    }
    (void)snprintf(text, sizeof(text), "%sAAAA", served->exposure_ref);
    expect_refused(&fixture, fixture.admin, text, STATUS_INVALID_ARGUMENT);
    expect_refused(&fixture, other, served->exposure_ref, STATUS_INVALID_ARGUMENT);
    assert_int_equal(explain_try(&fixture, fixture.admin, &request, NULL), STATUS_INVALID_ARGUMENT);
    request = explain_of_reference(served->exposure_ref);
    explained = explain(&fixture, &request);
    request = explain_of_id(explained->exposure_id);
    assert_int_equal(explain_try(&fixture, other, &request, NULL), STATUS_NOT_FOUND);
    assert_int_equal(
        mappings_last_seq(&(struct caller){.fixture = &fixture, .token = fixture.admin}), seq);
    fixture_deinit(&fixture);
}

int run_case_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_are_explained_as_they_were_served),
        cmocka_unit_test(test_retracted_example_is_explained),
        cmocka_unit_test(test_outcomes_are_listed),
        cmocka_unit_test(test_prompt_is_made_again_from_its_inputs),
        cmocka_unit_test(test_inputs_name_a_template_without_event),
        cmocka_unit_test(test_matches_are_explained_as_they_were),
        cmocka_unit_test(test_removed_content_is_expired),
        cmocka_unit_test(test_foreign_references_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
