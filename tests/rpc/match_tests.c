/*
 * match_tests.c: MatchLines, RecordMatches and the lists of mappings, through calls: a line's
 * matches, on the loop and on the pool, now and as of a time; the counts of a cited match.
 */
#include "server/domain/mappings/rows.h"
#include "tests/rpc/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define DAY_US (INT64_C(86400) * 1000000)

static void confirm(const struct caller *caller, const char *sku, const char *internal_sku)
{
    const struct named named = {"c1", sku, internal_sku, NULL};

    assert_int_equal(mappings_confirm(caller, &named, NULL, NULL), STATUS_OK);
}

static void suggest(const struct caller *caller, const char *sku, const char *internal_sku,
                    double confidence)
{
    const struct named named = {"c1", sku, internal_sku, NULL};

    assert_int_equal(mappings_suggest(caller, &named, confidence, NULL), STATUS_OK);
}

static void reject(const struct caller *caller, const char *sku, const char *internal_sku)
{
    const struct named named = {"c1", sku, internal_sku, NULL};

    assert_int_equal(mappings_reject(caller, &named, NULL), STATUS_OK);
}

/* Goal: a line gets its confirmed mapping; another gets the suggestions for its SKU, most confident
 * first, then confirmed SKUs of similar spelling; never a rejected one; a read stores nothing.
 * Method: one customer with mappings of each kind. */
static void test_line_gets_its_mapping_or_candidates(void **state)
{
    static const char *const skus[] = {" WIDGET-100", "widget-101", "zzz", "  ", "A\tB"};
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    struct lines lines = {"c1", skus, 5, -1, 0, 0};
    Errata__V1__MatchLinesResponse *response = NULL;
    Errata__V1__LineMatch *line = NULL;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    confirm(&caller, "Widget-100", "X");
    confirm(&caller, "Widget-1012", "Y");
    confirm(&caller, "Widget-1013", "R");
    suggest(&caller, "widget-101", "S1", 0.25);
    suggest(&caller, "widget-101", "S2", 0.5);
    reject(&caller, "widget-101", "r");
    reject(&caller, "widget-101", "S3");
    seq = mappings_last_seq(&caller);
    response = mappings_match(&caller, &lines);
    assert_int_equal(mappings_last_seq(&caller), seq);
    assert_false(response->incomplete);
    line = response->lines[0];
    assert_int_equal(line->match_method, MATCH_EXACT);
    assert_string_equal(line->internal_sku, "X");
    assert_true(line->confidence == 1);
    assert_int_equal(line->n_candidates, 0);
    line = response->lines[1];
    assert_int_equal(line->match_method, MATCH_SUGGESTED);
    assert_string_equal(line->internal_sku, "");
    assert_int_equal(line->_confidence_case, 0);
    assert_int_equal(line->n_candidates, 4);
    assert_string_equal(line->candidates[0]->internal_sku, "S2");
    assert_string_equal(line->candidates[1]->internal_sku, "S1");
    assert_int_equal(line->candidates[1]->match_method, MATCH_SUGGESTED);
    assert_string_equal(line->candidates[2]->customer_sku, "Widget-1012");
    assert_int_equal(line->candidates[2]->match_method, MATCH_SIMILAR);
    assert_string_equal(line->candidates[3]->customer_sku, "Widget-100");
    assert_true(line->candidates[2]->confidence > line->candidates[3]->confidence);
    assert_true(line->candidates[3]->confidence >= 0.4);
    for (size_t i = 2; i < 5; i++) {
        assert_int_equal(response->lines[i]->match_method, MATCH_NONE);
        assert_int_equal(response->lines[i]->n_candidates, 0);
    }
    lines.candidates = 1;
    line = mappings_match(&caller, &lines)->lines[1];
    assert_int_equal(line->n_candidates, 1);
    assert_string_equal(line->candidates[0]->internal_sku, "S2");
    lines.candidates = 0;
    line = mappings_match(&caller, &lines)->lines[1];
    assert_int_equal(line->match_method, MATCH_NONE);
    fixture_deinit(&fixture);
}

/* Goal: many lines without a mapping are answered on the pool, with the reply that the loop would
 * give. Method: 8 and 9 of them, with a pool that is full and one that is not. */
static void test_many_unmapped_lines_are_read_on_the_pool(void **state)
{
    static const char *skus[9] = {"widget-1", "widget-2", "widget-3", "widget-4", "widget-5",
                                  "widget-6", "widget-7", "widget-8", "widget-9"};
    Errata__V1__MatchLinesResponse *response = NULL;
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    struct lines lines = {"c1", skus, 8, -1, 0, 0};

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    confirm(&caller, "widget-10", "X");
    fixture.pool_is_full = true; /* no read can run on the pool */
    assert_int_equal(mappings_match(&caller, &lines)->lines[0]->n_candidates, 1);
    lines.count = 9;
    assert_int_equal(mappings_try_match(&caller, &lines, &response), STATUS_UNAVAILABLE);
    lines.candidates = 0;
    assert_int_equal(mappings_match(&caller, &lines)->lines[8]->n_candidates, 0);
    fixture.pool_is_full = false;
    lines.candidates = -1;
    response = mappings_match(&caller, &lines);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(response->lines[i]->n_candidates, 1);
    }
    fixture_deinit(&fixture);
}

static uint64_t use_count(const struct caller *caller, const char *id, int64_t *ret_last_used_s)
{
    Errata__V1__SkuMapping *mapping = NULL;

    assert_int_equal(mappings_get(caller, id, &mapping), STATUS_OK);
    *ret_last_used_s = mapping->last_used_at->seconds;
    return mapping->use_count;
}

/* Goal: uses are counted when an answer is cited, once per reference and draft order. Method: lines
 * of two mappings, cited repeatedly. */
static void test_uses_count_once_per_reference_and_draft(void **state)
{
    static const char *const skus[] = {"A", "B", "a ", "C"};
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    const struct lines lines = {"c1", skus, 4, -1, 0, 0};
    Errata__V1__MatchLinesResponse *response = NULL;
    Errata__V1__RecordMatchesResponse *first = NULL;
    Errata__V1__RecordMatchesResponse *again = NULL;
    uint64_t seq = 0;
    int64_t used_s = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    confirm(&caller, "A", "X");
    confirm(&caller, "B", "Y");
    response = mappings_match(&caller, &lines);
    assert_int_equal(use_count(&caller, response->lines[0]->mapping_id, &used_s), 0);
    clock_manual_advance(&fixture.clock, DAY_US);
    seq = mappings_last_seq(&caller);
    assert_int_equal(mappings_record(&caller, response->exposure_ref, NULL, &first), STATUS_OK);
    assert_int_equal(first->applied_count, 2);
    assert_int_equal(mappings_last_seq(&caller), seq + 2); /* the exposure, and its outcome */
    assert_int_equal(use_count(&caller, response->lines[0]->mapping_id, &used_s), 2);
    assert_true(used_s >= (FIXTURE_START_US + DAY_US) / 1000000);
    assert_int_equal(use_count(&caller, response->lines[1]->mapping_id, &used_s), 1);
    assert_int_equal(mappings_record(&caller, response->exposure_ref, NULL, &again), STATUS_OK);
    assert_string_equal(again->event_id, first->event_id);
    assert_int_equal(again->applied_count, 2);
    assert_int_equal(mappings_last_seq(&caller), seq + 2);
    assert_int_equal(mappings_record(&caller, response->exposure_ref, "draft", &again), STATUS_OK);
    assert_string_not_equal(again->event_id, first->event_id);
    assert_int_equal(mappings_last_seq(&caller), seq + 3);
    assert_int_equal(mappings_record(&caller, response->exposure_ref, "draft", NULL), STATUS_OK);
    assert_int_equal(mappings_last_seq(&caller), seq + 3);
    assert_int_equal(use_count(&caller, response->lines[0]->mapping_id, &used_s), 4);
    /* A backdated use counts, but is not the last one. */
    response = mappings_match(&caller, &lines);
    caller.created_at_us = FIXTURE_START_US - DAY_US;
    caller.key = "key";
    assert_int_equal(mappings_record(&caller, response->exposure_ref, NULL, &first), STATUS_OK);
    assert_int_equal(mappings_record(&caller, response->exposure_ref, NULL, &again), STATUS_OK);
    assert_string_equal(again->event_id, first->event_id);
    assert_int_equal(use_count(&caller, response->lines[0]->mapping_id, &used_s), 6);
    assert_true(used_s >= (FIXTURE_START_US + DAY_US) / 1000000);
    /* A backfilled use that is later than all others is the last one. */
    clock_manual_advance(&fixture.clock, 9 * DAY_US);
    caller.created_at_us = FIXTURE_START_US + 5 * DAY_US;
    caller.key = "another key";
    assert_int_equal(mappings_record(&caller, response->exposure_ref, "later", NULL), STATUS_OK);
    assert_int_equal(use_count(&caller, response->lines[0]->mapping_id, &used_s), 8);
    assert_int_equal(used_s, (FIXTURE_START_US + 5 * DAY_US) / 1000000);
    fixture_deinit(&fixture);
}

/* Goal: a list that is too long for its reference counts no use, but closes its draft. Method: so
 * many mappings that the reference has only their hash. */
static void test_hashed_list_of_mappings_counts_no_use(void **state)
{
    enum {
        COUNT = 900
    };
    static char texts[COUNT][16];
    static const char *skus[COUNT];
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    const struct lines lines = {"c1", skus, COUNT, -1, 0, 0};
    Errata__V1__MatchLinesResponse *response = NULL;
    Errata__V1__RecordMatchesResponse *first = NULL;
    Errata__V1__RecordMatchesResponse *again = NULL;
    int64_t used_s = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "sku %zu", i);
        skus[i] = texts[i];
        confirm(&caller, skus[i], "X");
    }
    confirm(&caller, skus[0], "X"); /* a second version, so that versions are in the list */
    for (size_t i = 0; i < COUNT; i++) {
        skus[i] =
            texts[i * 389 % COUNT]; /* in pseudo-random order, so that the numbers need more bits */
    }
    response = mappings_match(&caller, &lines);
    assert_int_equal(response->lines[COUNT - 1]->match_method, MATCH_EXACT);
    assert_true(strlen(response->exposure_ref) <= EXPOSURE_REFERENCE_CHARACTERS_MAX);
    assert_int_equal(mappings_record(&caller, response->exposure_ref, "draft", &first), STATUS_OK);
    assert_int_equal(first->applied_count, 0);
    assert_int_equal(mappings_record(&caller, response->exposure_ref, "draft", &again), STATUS_OK);
    assert_string_equal(again->event_id, first->event_id);
    assert_int_equal(use_count(&caller, response->lines[0]->mapping_id, &used_s), 0);
    fixture_deinit(&fixture);
}

/* Goal: a reference that is not of MatchLines, truncated, or of another organisation is refused,
 * and nothing is stored. Method: one of each kind. */
static void test_foreign_reference_is_refused(void **state)
{
    static const char *const skus[] = {"A"};
    static char layout[] = "layout";
    struct fixture fixture;
    char stranger[FIXTURE_TOKEN_BYTES];
    char text[EXPOSURE_REFERENCE_CHARACTERS_MAX + 1];
    struct caller caller = {.fixture = &fixture};
    struct caller foreign = {.fixture = &fixture};
    const struct lines lines = {"c1", skus, 1, -1, 0, 0};
    struct exchange_start start = {.path = "errata.v1.PromptService/GetExamples"};
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    Errata__V1__GetExamplesResponse *examples = NULL;
    const char *reference = NULL;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    (void)fixture_make_org(&fixture, "stranger", stranger);
    caller.token = fixture.admin;
    foreign.token = stranger;
    confirm(&caller, "A", "X");
    reference = mappings_match(&caller, &lines)->exposure_ref;
    seq = mappings_last_seq(&caller);
    (void)snprintf(text, sizeof(text), "%s", reference);
    text[strlen(text) - 1] = '\0';
    assert_int_equal(mappings_record(&caller, text, NULL, NULL), STATUS_INVALID_ARGUMENT);
    (void)snprintf(text, sizeof(text), "%s", reference);
    text[10] = text[10] == 'A' ? 'B' : 'A';
    assert_int_equal(mappings_record(&caller, text, NULL, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_record(&caller, "AAAA", NULL, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_record(&caller, "", NULL, NULL), STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_record(&foreign, reference, NULL, NULL), STATUS_INVALID_ARGUMENT);
    start.authorization = fixture.admin;
    request.layout_fingerprint = layout;
    assert_int_equal(fixture_call(&fixture, &start, &request.base, &examples), STATUS_OK);
    assert_int_equal(mappings_record(&caller, examples->exposure_ref, NULL, NULL),
                     STATUS_INVALID_ARGUMENT);
    assert_int_equal(mappings_last_seq(&caller), seq);
    fixture_deinit(&fixture);
}

/* Goal: a read as of a time returns the answer of that time. Method: the answers at each moment are
 * kept, and requested again at the end. */
static void test_as_of_returns_the_answer_of_that_time(void **state)
{
    static const char *const skus[] = {"W-100", "W-101"};
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    struct lines lines = {"c1", skus, 2, -1, 0, 0};
    Errata__V1__MatchLinesResponse *then[8];
    uint64_t seqs[8];
    size_t count = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    for (size_t step = 0; step < 8; step++) {
        switch (step) {
        case 1:
            suggest(&caller, "W-101", "S", 0.5);
            break;
        case 2:
            confirm(&caller, "w-100", "X");
            break;
        case 3:
            confirm(&caller, "w-100", "Y");
            break;
        case 4:
            suggest(&caller, "W-101", "S", 0.25);
            break;
        case 5:
            reject(&caller, "W-101", "S");
            break;
        case 6:
            reject(&caller, "w-100", "Y");
            break;
        default:
            confirm(&caller, step == 0 ? "other" : "w-100", "X");
        }
        clock_manual_advance(&fixture.clock, 1000000);
        seqs[count] = mappings_last_seq(&caller);
        then[count] = mappings_match(&caller, &lines);
        count++;
    }
    lines.as_of_seq = UINT64_MAX; /* a future event: the present state */
    assert_string_equal(mappings_match(&caller, &lines)->lines[0]->internal_sku, "X");
    lines.as_of_seq = 1; /* before the first mapping */
    assert_int_equal(mappings_match(&caller, &lines)->lines[0]->match_method, MATCH_NONE);
    lines.as_of_seq = 0;
    lines.as_of_us = FIXTURE_START_US + 2500000; /* after the steps at 0, 1 and 2 s */
    assert_string_equal(mappings_match(&caller, &lines)->lines[0]->internal_sku, "X");
    lines.as_of_us += 1000000;
    assert_string_equal(mappings_match(&caller, &lines)->lines[0]->internal_sku, "Y");
    lines.as_of_us = 0;
    for (size_t i = 0; i < count; i++) {
        Errata__V1__MatchLinesResponse *now = NULL;

        lines.as_of_seq = seqs[i];
        now = mappings_match(&caller, &lines);
        for (size_t line = 0; line < 2; line++) {
            Errata__V1__LineMatch *a = then[i]->lines[line];
            Errata__V1__LineMatch *b = now->lines[line];

            assert_int_equal(protobuf_c_message_get_packed_size(&a->base),
                             protobuf_c_message_get_packed_size(&b->base));
            assert_int_equal(a->match_method, b->match_method);
            assert_string_equal(a->internal_sku, b->internal_sku);
            assert_int_equal(a->n_candidates, b->n_candidates);
            for (size_t j = 0; j < a->n_candidates; j++) {
                assert_string_equal(a->candidates[j]->mapping_id, b->candidates[j]->mapping_id);
                assert_true(a->candidates[j]->confidence == b->candidates[j]->confidence);
            }
        }
    }
    fixture_deinit(&fixture);
}

static void confirm_at(struct caller *caller, const char *sku, const char *internal, int64_t at_us)
{
    caller->created_at_us = at_us;
    confirm(caller, sku, internal);
    caller->created_at_us = 0;
}

/* Returns the superseded candidate of a line, as of an event (0: at present); NULL if it has
 * none. */
static const char *superseded(const struct caller *caller, uint64_t as_of_seq)
{
    static const char *const skus[] = {"w-100"};
    const struct lines lines = {"c1", skus, 1, -1, as_of_seq, 0};
    const Errata__V1__LineMatch *line = mappings_match(caller, &lines)->lines[0];
    const char *found = NULL;

    for (size_t i = 0; i < line->n_candidates; i++) {
        if (line->candidates[i]->match_method == MATCH_SUPERSEDED) {
            assert_null(found); /* there is only one */
            assert_true(line->candidates[i]->confidence == 1);
            found = line->candidates[i]->internal_sku;
        }
    }
    return found;
}

/* Goal: after a rejection the mapping that was confirmed last before it is a candidate, by the time of its
 * confirmation, and never a rejected one; then as of each event as it was at that event. Method: X, Y and Z confirmed
 * in turn, V and U backdated before and between them; Z, then Y, are rejected. */
static void test_superseded_mapping_is_a_candidate_after_a_rejection(void **state)
{
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    const char *then[8];
    uint64_t seqs[8];
    Errata__V1__LineMatch *line = NULL;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    confirm_at(&caller, "W-100", "X", FIXTURE_START_US - 3 * DAY_US);
    for (size_t step = 0; step < 8; step++) {
        clock_manual_advance(&fixture.clock, 1000000);
        switch (step) {
        case 0:
            confirm_at(&caller, "W-100", "Y", FIXTURE_START_US - DAY_US);
            break;
        case 1:
            confirm(&caller, "W-100", "Z");
            break;
        case 2:
            confirm_at(&caller, "W-100", "V", FIXTURE_START_US - 4 * DAY_US);
            break;
        case 3:
            confirm_at(&caller, "W-100", "U", FIXTURE_START_US - 2 * DAY_US);
            break;
        case 4:
            reject(&caller, "W-100", "Z");
            break;
        case 5:
            suggest(&caller, "W-100", "S", 0.5);
            break;
        case 6:
            reject(&caller, "W-100", "Y");
            break;
        default:
            confirm(&caller, "W-100", "Z");
        }
        seqs[step] = mappings_last_seq(&caller);
        then[step] = superseded(&caller, 0);
    }
    for (size_t step = 0; step < 4; step++) {
        assert_null(then[step]);
    }
    assert_string_equal(then[4], "Y");
    assert_string_equal(then[5], "Y");
    assert_string_equal(then[6], "U");
    assert_null(then[7]);
    for (size_t step = 0; step < 8; step++) {
        const char *now = superseded(&caller, seqs[step]);

        assert_string_equal(now == NULL ? "" : now, then[step] == NULL ? "" : then[step]);
    }
    reject(&caller, "W-100", "Z");
    confirm(&caller, "W-101", "Q");
    line = mappings_match_one(&caller, "c1", "w-100");
    assert_int_equal(line->n_candidates, 3);
    assert_int_equal(line->match_method, MATCH_SUGGESTED);
    assert_int_equal(line->candidates[1]->match_method, MATCH_SUPERSEDED);
    assert_int_equal(line->candidates[2]->match_method, MATCH_SIMILAR);
    fixture_deinit(&fixture);
}

static Errata__V1__ListMappingsResponse *list(const struct caller *caller,
                                              Errata__V1__ListMappingsRequest *request)
{
    const struct exchange_start start = {.path = "errata.v1.MappingService/ListMappings",
                                         .authorization = caller->token};
    Errata__V1__ListMappingsResponse *response = NULL;

    assert_int_equal(fixture_call(caller->fixture, &start, &request->base, &response), STATUS_OK);
    return response;
}

/* Goal: lists have their order, filters and pages. Method: 30 mappings of two customers. */
static void test_mappings_are_filtered_ordered_and_paged(void **state)
{
    static char customer[] = "c1";
    static char prefix[] = " A-1";
    static char long_prefix[] = "Long-Long-Long-Long-Long-Long-2";
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    Errata__V1__ListMappingsRequest request = ERRATA__V1__LIST_MAPPINGS_REQUEST__INIT;
    Errata__V1__ListMappingsResponse *response = NULL;
    const struct named other = {"c2", "A-1", "Z", NULL};
    size_t count = 0;
    char sku[64];

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    for (int i = 0; i < 25; i++) {
        (void)snprintf(sku, sizeof(sku), "a-%d", i);
        suggest(&caller, sku, "X", 0.5);
    }
    for (int i = 0; i < 5; i++) {
        (void)snprintf(sku, sizeof(sku), "LONG-long-long-long-long-long-%d", i);
        confirm(&caller, sku, "X");
    }
    assert_int_equal(mappings_suggest(&caller, &other, 0.5, NULL), STATUS_OK);
    request.page_size = 7;
    do {
        response = list(&caller, &request);
        count += response->n_mappings;
        request.page_token = response->next_page_token;
    } while (response->next_page_token[0] != '\0');
    assert_int_equal(count, 31);
    request.page_token = (char *)protobuf_c_empty_string;
    request.page_size = 0;
    request.customer_id = customer;
    response = list(&caller, &request);
    assert_int_equal(response->n_mappings, 30);
    assert_string_equal(response->mappings[0]->customer_sku, "a-0");
    assert_string_equal(response->mappings[2]->customer_sku, "a-10");
    request.status = CONFIRMED;
    assert_int_equal(list(&caller, &request)->n_mappings, 5);
    request.status = SUGGESTED;
    request.customer_sku_prefix = prefix;
    assert_int_equal(list(&caller, &request)->n_mappings, 11); /* a-1, a-10 to a-19 */
    request.status = 0;
    request.customer_sku_prefix = long_prefix;
    response = list(&caller, &request);
    assert_int_equal(response->n_mappings, 1);
    assert_string_equal(response->mappings[0]->customer_sku, "LONG-long-long-long-long-long-2");
    assert_string_equal(response->next_page_token, "");
    fixture_deinit(&fixture);
}

/* Expected state of a pair of SKUs. */
struct pair_model {
    int status; /* 0: not judged */
    double confidence;
    uint64_t support_count;
    int64_t suggested_at_us;
    char id[40];
};

enum {
    SKUS = 6,
    INTERNALS = 4,
    STEPS = 500
};

/* A person's judgement of a pair. */
struct said {
    bool is_confirmed; /* false: rejected */
    int internal;
    int64_t at_us;
};

/* The model: all pairs and judgements. */
struct model {
    struct pair_model pairs[SKUS][INTERNALS];
    struct said said[SKUS][STEPS]; /* sorted by the time of the judgement */
    size_t said_count[SKUS];
    int confirmed[SKUS]; /* internal SKU; -1: none */
};

static void model_suggest(struct pair_model *pair, double confidence, int64_t at_us)
{
    if (pair->status == 0 || (pair->status == SUGGESTED && pair->confidence != confidence &&
                              pair->suggested_at_us <= at_us)) {
        pair->status = SUGGESTED;
        pair->confidence = confidence;
        pair->suggested_at_us = at_us;
    }
}

/* Inserts a statement after all statements of the same or an earlier time. */
static void model_say(struct model *model, int sku, const struct said *said)
{
    struct said *all = model->said[sku];
    size_t at = model->said_count[sku];

    for (; at > 0 && all[at - 1].at_us > said->at_us; at--) {
        all[at] = all[at - 1];
    }
    all[at] = *said;
    model->said_count[sku]++;
    model->pairs[sku][said->internal].support_count += said->is_confirmed;
}

/* Recomputes the statuses from all statements, in the order of their times. */
static void model_settle(struct model *model, int sku)
{
    struct pair_model *pairs = model->pairs[sku];
    int *confirmed = &model->confirmed[sku];

    *confirmed = -1;
    for (size_t i = 0; i < model->said_count[sku]; i++) {
        const struct said *said = &model->said[sku][i];

        if (*confirmed >= 0 && said->is_confirmed) {
            pairs[*confirmed].status = SUPERSEDED;
        }
        pairs[said->internal].status = said->is_confirmed ? CONFIRMED : REJECTED;
        pairs[said->internal].confidence = said->is_confirmed ? 1 : 0;
        if (said->is_confirmed) {
            *confirmed = said->internal;
        } else if (*confirmed == said->internal) {
            *confirmed = -1;
        }
    }
}

static void check_pair(const struct caller *caller, const struct pair_model *pair)
{
    Errata__V1__SkuMapping *mapping = NULL;

    if (pair->status == 0) {
        return;
    }
    assert_int_equal(mappings_get(caller, pair->id, &mapping), STATUS_OK);
    assert_int_equal((int)mapping->status, pair->status);
    assert_true(mapping->confidence == pair->confidence);
    assert_int_equal(mapping->support_count, pair->support_count);
}

/* Makes a random write, live or backdated. */
static void say_something(struct caller *caller, struct model *model, const struct named *named,
                          int sku, int internal)
{
    struct fixture *fixture = caller->fixture;
    struct pair_model *pair = &model->pairs[sku][internal];
    Errata__V1__SkuMapping *mapping = NULL;
    struct judged judged = {NULL, NULL};
    uint8_t draws[3];
    int64_t at_us = 0;

    random_fill(&fixture->random.random, draws, sizeof(draws));
    clock_manual_advance(&fixture->clock, 1000000);
    caller->created_at_us = draws[0] < 80 ? FIXTURE_START_US - (draws[0] + 1) * DAY_US : 0;
    at_us =
        caller->created_at_us != 0 ? caller->created_at_us : clock_wall_us(&fixture->clock.clock);
    if (draws[1] % 4 == 0) {
        assert_int_equal(mappings_suggest(caller, named, draws[2] / 256.0, &mapping), STATUS_OK);
        model_suggest(pair, draws[2] / 256.0, at_us);
    } else if (draws[1] % 4 == 1) {
        assert_int_equal(mappings_reject(caller, named, &judged), STATUS_OK);
        model_say(model, sku, &(const struct said){false, internal, at_us});
    } else {
        assert_int_equal(mappings_confirm(caller, named, NULL, &judged), STATUS_OK);
        model_say(model, sku, &(const struct said){true, internal, at_us});
    }
    model_settle(model, sku);
    mapping = judged.mapping != NULL ? judged.mapping : mapping;
    (void)snprintf(pair->id, sizeof(pair->id), "%s", mapping->id);
    caller->created_at_us = 0;
    check_pair(caller, pair);
}

/* Goal: for judgements in any order, also backdated ones, statuses follow the order of their times,
 * a customer SKU has at most one confirmed mapping, which MatchLines returns, and the tables equal
 * a replay's. Method: random writes beside a plain model. */
static void test_statuses_follow_the_order_of_judgements(void **state)
{
    static const char *const skus[SKUS] = {"ab-1", "ab-2", "AB-12", "xy 77", "-", "ab-1-2"};
    static const char *const internals[INTERNALS] = {"X", "Y", "Z", "W"};
    static struct model model;
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    const struct lines lines = {"c1", skus, SKUS, -1, 0, 0};

    (void)state;
    memset(&model, 0, sizeof(model));
    memset(model.confirmed, -1, sizeof(model.confirmed));
    fixture_init(&fixture);
    caller.token = fixture.admin;
    for (int step = 0; step < STEPS; step++) {
        uint8_t draws[2];

        random_fill(&fixture.random.random, draws, sizeof(draws));

        const struct named named = {"c1", skus[draws[0] % SKUS], internals[draws[1] % INTERNALS],
                                    NULL};

        say_something(&caller, &model, &named, draws[0] % SKUS, draws[1] % INTERNALS);
        if (step % 20 == 0 || step == STEPS - 1) {
            Errata__V1__MatchLinesResponse *response = mappings_match(&caller, &lines);

            for (int i = 0; i < SKUS; i++) {
                assert_string_equal(response->lines[i]->internal_sku,
                                    model.confirmed[i] >= 0 ? internals[model.confirmed[i]] : "");
            }
            assert_int_equal(mappings_record(&caller, response->exposure_ref, NULL, NULL),
                             STATUS_OK);
        }
    }
    for (int i = 0; i < SKUS * INTERNALS; i++) {
        check_pair(&caller, &model.pairs[i / INTERNALS][i % INTERNALS]);
    }
    fixture_deinit(&fixture);
}

/* Goal: a SKU's history is found among any similar SKUs of the customer: its suggestions are
 * offered and quoted, a rejected internal SKU is not, now and as of a time. Method: more SKUs than
 * a walk visits, with a common prefix longer than the part in a key; Cyrillic ones, of two bytes
 * each. */
static void test_sku_is_found_among_similar_ones(void **state)
{
    const struct named last = {
        "c1",
        "\u0411\u043e\u043b\u0442 "
        "\u043e\u0446\u0438\u043d\u043a\u043e\u0432\u0430\u043d\u043d\u044b\u0439 999",
        "L", NULL};
    const struct named wrong = {"c1", last.customer_sku, "I", NULL};
    struct caller caller = {NULL, NULL, NULL, 0};
    const struct lines now = {"c1", &last.customer_sku, 1, -1, 0, 0};
    struct lines then = now;
    Errata__V1__MatchLinesResponse *response = NULL;
    struct judged judged;
    struct fixture fixture;

    (void)state;
    fixture_init(&fixture);
    caller.fixture = &fixture;
    caller.token = fixture.admin;
    for (int i = 0; i < MAPPING_SKU_ROWS_MAX + 10; i++) {
        char sku[64];
        const struct named named = {"c1", sku, "I", NULL};

        (void)snprintf(
            sku, sizeof(sku),
            "\u0411\u043e\u043b\u0442 "
            "\u043e\u0446\u0438\u043d\u043a\u043e\u0432\u0430\u043d\u043d\u044b\u0439 %03d",
            i);
        assert_int_equal(mappings_confirm(&caller, &named, NULL, &judged), STATUS_OK);
    }
    assert_int_equal(mappings_reject(&caller, &wrong, &judged), STATUS_OK);
    assert_int_equal(mappings_suggest(&caller, &last, 0.5, NULL), STATUS_OK);
    response = mappings_match(&caller, &now);
    assert_int_equal(response->lines[0]->match_method, MATCH_SUGGESTED);
    assert_int_equal(response->lines[0]->n_candidates, 1);
    assert_string_equal(response->lines[0]->candidates[0]->internal_sku, "L");
    assert_int_equal(mappings_confirm(&caller, &last, NULL, &judged), STATUS_OK);
    assert_non_null(strstr(mappings_event(&caller, judged.event_id)->before_json,
                           "\"suggestions\":[{\"internal_sku\":\"L\""));
    then.as_of_seq = mappings_last_seq(&caller);
    response = mappings_match(&caller, &then);
    assert_int_equal(response->lines[0]->match_method, MATCH_EXACT);
    assert_false(response->incomplete);
    fixture_deinit(&fixture);
}

int run_match_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_gets_its_mapping_or_candidates),
        cmocka_unit_test(test_many_unmapped_lines_are_read_on_the_pool),
        cmocka_unit_test(test_uses_count_once_per_reference_and_draft),
        cmocka_unit_test(test_foreign_reference_is_refused),
        cmocka_unit_test(test_hashed_list_of_mappings_counts_no_use),
        cmocka_unit_test(test_as_of_returns_the_answer_of_that_time),
        cmocka_unit_test(test_superseded_mapping_is_a_candidate_after_a_rejection),
        cmocka_unit_test(test_mappings_are_filtered_ordered_and_paged),
        cmocka_unit_test(test_statuses_follow_the_order_of_judgements),
        cmocka_unit_test(test_sku_is_found_among_similar_ones),
    };

    return cmocka_run_group_tests_name("matches", tests, NULL, NULL);
}
