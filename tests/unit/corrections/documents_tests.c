/*
 * documents_tests.c: the values that corrections take from ingested documents: omitted fingerprints
 * and texts, and examples that are withheld for scans. Random interleavings are compared with a model
 * that scans an array of all events for each question. Seeds are fixed.
 */
#include "server/domain/corrections/examples.h"
#include "server/domain/corrections/list.h"
#include "server/domain/fingerprint/fingerprint.h"
#include "server/domain/json/members.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/profiles.h"
#include "tests/unit/corrections/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errata/v1/feedback_service.pb-c.h>
#include <errata/v1/layout_service.pb-c.h>
#include <errata/v1/prompt_service.pb-c.h>

#define SEEDS 6
#define EVENTS 300
#define PAPERS 12 /* the last two are never ingested */
#define LAYOUTS 4

/* A document, from number 1. Those of layout 4 are all scans, every third of layout 3 is one. */
struct paper {
    uint64_t first_seq; /* 0: not ingested */
    uint64_t seq; /* sequence number of the event with the fingerprint; 0: none */
};

/* A captured event, by its seq. */
struct fact {
    bool captured; /* false: an ingestion */
    bool example;
    unsigned paper; /* 0: no paper */
    unsigned layout; /* expected layout; 0: none */
    unsigned snippet; /* paper of the snippet; 0: none, or the caller's own */
    bool own_snippet;
};

struct model {
    struct fixture fixture;
    struct paper papers[PAPERS + 1];
    struct fact facts[EVENTS + 16];
    uint64_t count;
    struct slice fingerprints[LAYOUTS + 1]; /* allocated in `texts` */
    char texts[LAYOUTS + 1][2 * SHA256_BYTES];
};

static unsigned draw(struct fixture *fixture, unsigned below)
{
    uint32_t value = 0;

    random_fill(&fixture->random.random, &value, sizeof(value));
    return value % below;
}

static unsigned layout_of(unsigned paper)
{
    return 1 + paper % LAYOUTS;
}

static bool is_scan(unsigned paper)
{
    return layout_of(paper) == 4 || (layout_of(paper) == 3 && paper % 3 == 0);
}

static struct slice name_of(struct fixture *fixture, unsigned paper)
{
    return paper == 0 ? slice_of(NULL, 0) : arena_printf(&fixture->arena, "document-%u", paper);
}

static struct slice text_of(struct fixture *fixture, unsigned paper)
{
    return arena_printf(&fixture->arena, "Text \"%u\"\n", paper);
}

static struct document_measures measures_of(struct fixture *fixture, unsigned paper, bool cut)
{
    static const struct document_page page = {595.28, 841.89};
    bool scan = is_scan(paper);

    return (struct document_measures){
        .document_id = name_of(fixture, paper),
        .sha256 = sha256(text_of(fixture, paper)),
        .size_bytes = 1000,
        .pages = &page,
        .page_count = 1,
        .pages_read = 1,
        .text_chars = scan ? 0 : 10,
        .page_one_chars = scan ? 0 : 10,
        .page_cells = 100,
        .covered_cells = layout_of(paper),
        .input_snippet = scan ? SLICE("\n \r\n\f\n") : text_of(fixture, paper),
        .has_table_count = !cut,
        .table_count = layout_of(paper),
        .fp_version = SLICE("1/22.12.0"),
    };
}

static void model_init(struct model *model, uint64_t seed)
{
    memset(model, 0, sizeof(*model));
    fixture_init(&model->fixture, seed);
    for (unsigned paper = 4; paper < 4 + LAYOUTS; paper++) {
        struct document_measures measures = measures_of(&model->fixture, paper, false);
        struct layout_fingerprint found;

        assert_int_equal(fingerprint_of_measures(&model->fixture.arena, &measures, &found), OK);
        memcpy(model->texts[layout_of(paper)], found.text, sizeof(found.text));
        model->fingerprints[layout_of(paper)] =
            slice_of(model->texts[layout_of(paper)], sizeof(found.text));
    }
}

/* Ingests a paper, whole or cut, sometimes with other bytes. */
static void ingest(struct model *model, struct store_txn *txn)
{
    struct fixture *fixture = &model->fixture;
    unsigned number = 1 + draw(fixture, PAPERS - 2);
    struct paper *paper = &model->papers[number];
    bool cut = draw(fixture, 3) == 0;
    bool other_bytes = paper->first_seq != 0 && draw(fixture, 6) == 0;
    struct document_measures measures = measures_of(fixture, number, cut);
    struct document_event *event = NULL;
    uint64_t seq = 0;

    if (other_bytes) {
        measures.sha256.bytes[5] ^= 1;
    }
    assert_int_equal(document_prepare(&fixture->ctx, &measures, SLICE("anna"), &event), OK);
    assert_int_equal(document_store(&fixture->ctx, txn, fixture->org, event, &seq),
                     other_bytes ? ERR_EXISTS : OK);
    if (other_bytes) {
        return;
    }
    if (paper->first_seq == 0 || (paper->seq == 0 && !cut)) {
        model->count++;
        model->facts[model->count] =
            (struct fact){.paper = number, .layout = cut ? 0 : layout_of(number)};
        paper->first_seq = paper->first_seq == 0 ? model->count : paper->first_seq;
        paper->seq = cut ? 0 : model->count;
        assert_int_equal(seq, model->count);
    } else {
        assert_int_equal(seq, paper->seq != 0 ? paper->seq : paper->first_seq);
    }
}

/* Draws an event, and the input of its caller. */
static struct fact draw_fact(struct model *model, struct capture_input *ret_input)
{
    static const char *const metas[] = {
        NULL,
        " {} ",
        "{\"a\":1}",
        "{\"input_snippet\":\"own\"}",
        "{\"b\":[], \"input_snippet\":null}",
    };
    struct fixture *fixture = &model->fixture;
    unsigned meta = draw(fixture, 5);
    unsigned layout = draw(fixture, 3) == 0 ? 1 + draw(fixture, LAYOUTS) : 0;
    struct fact fact = {
        .captured = true,
        .example = draw(fixture, 4) != 0,
        .paper = draw(fixture, 4) == 0 ? 0 : 1 + draw(fixture, PAPERS),
        .layout = layout,
        .own_snippet = meta >= 3,
    };
    const struct paper *paper = &model->papers[fact.paper];

    *ret_input = (struct capture_input){
        .event_type = fact.example ? FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED
                                   : FEEDBACK_EVENT_TYPE_CUSTOMER_SELECTED,
        .document_id = name_of(fixture, fact.paper),
        .layout_fingerprint = model->fingerprints[layout],
        .after_json = arena_printf(&fixture->arena, "{\"qty\":%u}", draw(fixture, 1u << 30)),
        .meta_json = slice_text(metas[meta]),
    };
    if (fact.paper != 0 && paper->first_seq != 0) {
        fact.layout = layout == 0 && paper->seq != 0 ? layout_of(fact.paper) : layout;
        fact.snippet = !fact.own_snippet && !is_scan(fact.paper) ? fact.paper : 0;
    }
    return fact;
}

static void capture(struct model *model, struct store_txn *txn)
{
    const struct event_caller caller = fixture_admin();
    struct fixture *fixture = &model->fixture;
    struct capture_event events[3];
    size_t count = 1 + draw(fixture, 3);
    uint64_t seq = 0;

    for (size_t i = 0; i < count; i++) {
        struct capture_input input;

        model->facts[model->count + 1 + i] = draw_fact(model, &input);
        input.annotator_kind = ANNOTATOR_KIND_HUMAN;
        assert_int_equal(
            capture_prepare(&fixture->ctx, &caller, &input, SLICE("event"), &events[i]), OK);
    }
    assert_int_equal(capture_store(&fixture->ctx, txn, fixture->org, events, count, &seq), OK);
    assert_int_equal(seq, model->count + 1);
    model->count += count;
}

/* Stores several documents and corrections in each write. */
static void fill(struct model *model)
{
    while (model->count < EVENTS) {
        struct store_txn *txn = fixture_begin(&model->fixture, STORE_WRITE);
        unsigned steps = 1 + draw(&model->fixture, 4);

        clock_manual_advance(&model->fixture.clock, 1000);
        for (unsigned i = 0; i < steps && model->count < EVENTS; i++) {
            log_begin_write(txn, NULL);
            if (draw(&model->fixture, 3) == 0) {
                ingest(model, txn);
            } else {
                capture(model, txn);
            }
        }
        assert_int_equal(store_commit(txn), OK);
        fixture_forget(&model->fixture);
    }
}

/* The stored text of an event's snippet; NULL slice where meta_json has none. */
static struct slice stored_snippet(struct fixture *fixture, const struct feedback_event_view *view)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice text = {NULL, 0};

    if (json_member(members_value_of(view->meta_json), SLICE("input_snippet"), &value) &&
        value.kind == JSON_STRING) {
        assert_int_equal(json_string(&fixture->arena, value.text, &text), OK);
    }
    return text;
}

static void check_stored(struct model *model, struct store_txn *txn, uint64_t seq)
{
    const struct json_rules rules = {JSON_FIELD_DEPTH_MAX, false};
    const struct fact *fact = &model->facts[seq];
    struct fixture *fixture = &model->fixture;
    struct json_problem problem = {NULL, 0};
    struct json_value value;
    struct feedback_event_view view;
    struct event event;

    assert_int_equal(log_read(txn, fixture->org, seq, &event), OK);
    assert_int_equal(event.kind == EVENT_FEEDBACK, fact->captured);
    assert_int_equal(event.subjects[0].kind == SUBJECT_LAYOUT, fact->layout != 0);
    if (fact->layout != 0) {
        assert_true(slice_equal(event.subjects[0].id, model->fingerprints[fact->layout]));
    }
    if (!fact->captured) {
        return;
    }
    assert_int_equal(feedback_view_read(&event, &view), OK);
    assert_true(slice_equal(view.layout_fingerprint, model->fingerprints[fact->layout]));
    assert_true(slice_equal(view.document_id, name_of(fixture, fact->paper)));
    if (view.meta_json.size > 0) {
        assert_int_equal(json_check(&fixture->arena, view.meta_json, &rules, &value, &problem), OK);
    }
    if (fact->snippet != 0) {
        assert_true(slice_equal(stored_snippet(fixture, &view), text_of(fixture, fact->snippet)));
    } else if (!fact->own_snippet) {
        assert_int_equal(stored_snippet(fixture, &view).size, 0);
        assert_false(fixture_has(view.meta_json, "input_snippet"));
    } else {
        assert_false(fixture_has(view.meta_json, "Text"));
    }
}

/* Goal: omitted members are filled in from the state at that time, and given ones are not replaced.
 * Method: each stored event against the model. */
static void test_omitted_members_are_filled_in(void **state)
{
    size_t filled = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct store_txn *txn = NULL;
        struct model model;

        model_init(&model, seed);
        fill(&model);
        txn = fixture_begin(&model.fixture, STORE_READ);
        for (uint64_t seq = 1; seq <= model.count; seq++) {
            check_stored(&model, txn, seq);
            filled += model.facts[seq].snippet != 0;
        }
        store_abort(txn);
        fixture_deinit(&model.fixture);
    }
    assert_true(filled > SEEDS * 20);
}

/* Returns whether all papers of the layout counted up to `now` are scans, and there is at least
 * one. */
static bool is_scanned(const struct model *model, unsigned layout, uint64_t now)
{
    bool any = false;

    for (unsigned i = 1; i <= PAPERS; i++) {
        bool counted = model->papers[i].seq != 0 && model->papers[i].seq <= now;

        if (counted && layout_of(i) == layout) {
            any = true;
            if (!is_scan(i)) {
                return false;
            }
        }
    }
    return any;
}

static bool is_withheld(const struct model *model, unsigned layout, unsigned paper, uint64_t now)
{
    uint64_t first_seq = model->papers[paper].first_seq;

    if (paper != 0 && first_seq != 0 && first_seq <= now) {
        return is_scan(paper);
    }
    return is_scanned(model, layout, now);
}

/* Returns whether an event belongs to the document to be extracted, whose own examples are
 * omitted. */
static bool is_own(struct model *model, const struct examples_query *query, const struct fact *fact)
{
    return fact->paper != 0 && !query->include_own &&
           slice_equal(name_of(&model->fixture, fact->paper), query->document_id);
}

static void check_examples(struct model *model, const struct examples_query *query, unsigned layout,
                           bool withheld)
{
    uint64_t now = query->has_as_of ? query->as_of_seq : model->count;
    struct store_txn *txn = fixture_begin(&model->fixture, STORE_READ);
    Errata__V1__GetExamplesResponse *answer = NULL;
    struct buffer body;
    size_t count = 0;

    buffer_init(&body, &model->fixture.arena, 1024);
    assert_int_equal(examples_write(txn, query, &body), OK);
    answer = errata__v1__get_examples_response__unpack(NULL, body.size, body.data);
    assert_non_null(answer);
    for (uint64_t seq = now < model->count ? now : model->count; !withheld && seq > 0; seq--) {
        const struct fact *fact = &model->facts[seq];
        struct uuid id;
        uint64_t found = 0;

        if (!fact->captured || !fact->example || fact->layout != layout ||
            is_own(model, query, fact) || count == query->limit) {
            continue;
        }
        assert_true(count < answer->n_examples);
        assert_true(uuid_parse(slice_text(answer->examples[count]->id), &id));
        assert_int_equal(log_find(txn, model->fixture.org, id, &found), OK);
        assert_int_equal(found, seq);
        if (fact->snippet != 0) {
            struct slice text = text_of(&model->fixture, fact->snippet);

            assert_true(slice_equal(slice_text(answer->examples[count]->input_snippet), text));
        }
        count++;
    }
    assert_int_equal(answer->n_examples, count);
    assert_int_equal(answer->hint_examples_json[0] != '\0', count > 0);
    assert_int_equal(answer->match_level, count > 0 ? MATCH_LEVEL_EXACT : MATCH_LEVEL_NONE);
    assert_int_equal(answer->withheld, withheld ? WITHHELD_SCAN : WITHHELD_UNSPECIFIED);
    errata__v1__get_examples_response__free_unpacked(answer, NULL);
    store_abort(txn);
}

/* Goal: examples are withheld only for scans, now and as of any event. Method: every layout and
 * document, with and without a time, against the model. */
static void test_examples_are_withheld_only_from_scans(void **state)
{
    size_t withheld_count = 0;

    (void)state;
    for (uint64_t seed = 11; seed < 11 + SEEDS; seed++) {
        struct model model;

        model_init(&model, seed);
        fill(&model);
        for (unsigned round = 0; round < 600; round++) {
            unsigned layout = 1 + draw(&model.fixture, LAYOUTS);
            unsigned paper = draw(&model.fixture, PAPERS + 1);
            struct examples_query query = {
                .org = model.fixture.org,
                .layout_fingerprint = model.fingerprints[layout],
                .document_id = name_of(&model.fixture, paper),
                .limit = 1 + draw(&model.fixture, EXAMPLES_LIMIT_MAX),
                .view = EXAMPLE_VIEW_BOTH,
                .has_as_of = draw(&model.fixture, 2) == 0,
                .as_of_seq = draw(&model.fixture, EVENTS + 9),
            };
            uint64_t now = query.has_as_of ? query.as_of_seq : UINT64_MAX;
            bool withheld = is_withheld(&model, layout, paper, now);

            check_examples(&model, &query, layout, withheld);
            withheld_count += withheld;
            fixture_forget(&model.fixture);
        }
        fixture_deinit(&model.fixture);
    }
    assert_true(withheld_count > SEEDS * 60);
}

static void check_profile(struct model *model, struct store_txn *txn, unsigned layout)
{
    struct fixture *fixture = &model->fixture;
    uint64_t counts[3] = {0, 0, 0}; /* documents, events, examples */
    struct profile profile;
    enum err err = OK;

    for (uint64_t seq = 1; seq <= model->count; seq++) {
        const struct fact *fact = &model->facts[seq];

        if (fact->layout == layout) {
            counts[fact->captured ? 1 : 0]++;
            counts[2] += fact->captured && fact->example;
        }
    }
    err = profile_find(&fixture->arena, txn, fixture->org, model->fingerprints[layout], &profile);
    assert_int_equal(err, counts[0] > 0 ? OK : ERR_NOT_FOUND);
    if (err != OK) {
        return;
    }
    assert_int_equal(profile.view.seen_count, counts[0]);
    assert_int_equal(profile.view.feedback_count, counts[1]);
    assert_int_equal(profile.view.example_count, counts[2]);
}

/* Goal: profiles count documents and events, each once. Method: each layout against the model, after
 * every few writes' worth of events. */
static void test_profiles_equal_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 21; seed < 21 + SEEDS; seed++) {
        struct store_txn *txn = NULL;
        struct model model;

        model_init(&model, seed);
        fill(&model);
        txn = fixture_begin(&model.fixture, STORE_READ);
        for (unsigned layout = 1; layout <= LAYOUTS; layout++) {
            check_profile(&model, txn, layout);
        }
        store_abort(txn);
        fixture_deinit(&model.fixture);
    }
}

/* Returns the newest captured event of the layout (0: any) up to `seq`; 0 if there is none. */
static uint64_t captured_before(const struct model *model, unsigned layout, uint64_t seq)
{
    while (seq > 0 &&
           (!model->facts[seq].captured || (layout != 0 && model->facts[seq].layout != layout))) {
        seq--;
    }
    return seq;
}

/* Compares one page of a list with the model from `seq` on; returns the start of the next page. */
static uint64_t check_page(struct model *model, struct pages *pages,
                           const struct list_filter *filter, unsigned layout, uint64_t seq)
{
    struct store_txn *txn = fixture_begin(&model->fixture, STORE_READ);
    const struct event *event = NULL;
    struct feedback_event_view view;
    struct feedback_list list;
    struct page page;

    fixture_begin_list(&model->fixture, txn, pages, filter, &page, &list);
    while (feedback_list_next(txn, &list, &event, &view) == OK) {
        seq = captured_before(model, layout, seq);
        assert_int_equal(event->seq, seq);
        assert_true(uuid_equal(event->id, view.id));
        seq--;
    }
    fixture_end_page(&model->fixture, &page, pages);
    store_abort(txn);
    return seq;
}

/* Goal: lists of feedback events skip documents. Method: each layout, and all, against the model,
 * in pages. */
static void test_feedback_lists_skip_documents(void **state)
{
    (void)state;
    for (uint64_t seed = 31; seed < 31 + SEEDS; seed++) {
        struct model model;

        model_init(&model, seed);
        fill(&model);
        for (unsigned layout = 0; layout <= LAYOUTS; layout++) {
            struct list_filter filter = {.layout_fingerprint = model.fingerprints[layout],
                                         .start_us = INT64_MIN,
                                         .end_us = INT64_MAX};
            struct pages pages = {.size = 1 + draw(&model.fixture, 9), .more = true};
            uint64_t seq = model.count;

            while (pages.more) {
                seq = check_page(&model, &pages, &filter, layout, seq);
            }
            assert_int_equal(captured_before(&model, layout, seq), 0);
        }
        fixture_deinit(&model.fixture);
    }
}

/* Goal: a layout with more documents than a call examines still shows its old events. Method: one
 * event, then over 2,000 documents; the first page is empty and continues. */
static void test_old_events_are_listed_after_many_documents(void **state)
{
    struct capture_input input = {.event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED};
    struct list_filter filter = {.start_us = INT64_MIN, .end_us = INT64_MAX};
    struct pages pages = {.size = 9};
    struct store_txn *txn = NULL;
    struct model model;

    (void)state;
    model_init(&model, 61);
    filter.layout_fingerprint = model.fingerprints[1];
    input.layout_fingerprint = model.fingerprints[1];
    model.facts[1] = (struct fact){.captured = true, .example = true, .layout = 1};
    model.count = fixture_capture(&model.fixture, &input, 1);
    txn = fixture_begin(&model.fixture, STORE_WRITE);
    log_begin_write(txn, NULL);
    for (unsigned i = 0; i < PAGE_ROWS_MAX + 5; i++) {
        struct document_measures measures = measures_of(&model.fixture, 4, false);
        struct document_event *event = NULL;
        uint64_t seq = 0;

        measures.document_id = arena_printf(&model.fixture.arena, "more-%u", i);
        assert_int_equal(document_prepare(&model.fixture.ctx, &measures, SLICE("anna"), &event),
                         OK);
        assert_int_equal(document_store(&model.fixture.ctx, txn, model.fixture.org, event, &seq),
                         OK);
    }
    assert_int_equal(store_commit(txn), OK);
    assert_int_equal(check_page(&model, &pages, &filter, 1, 1), 1);
    assert_true(pages.more);
    assert_int_equal(check_page(&model, &pages, &filter, 1, 1), 0);
    assert_false(pages.more);
    fixture_deinit(&model.fixture);
}

/* Goal: a replay of a log with documents rebuilds every table, byte for byte. Method: apply each
 * event to a new store, with another clock and other randomness, and compare all rows. */
static void test_replay_with_documents_equals_the_tables(void **state)
{
    (void)state;
    for (uint64_t seed = 41; seed < 41 + SEEDS; seed++) {
        struct model model;

        model_init(&model, seed);
        fill(&model);
        assert_true(fixture_check_replay(&model.fixture, model.count) > 2 * EVENTS);
        fixture_deinit(&model.fixture);
    }
}

/* Goal: the 64 KiB of meta_json are available to the caller. Method: the largest that may be sent,
 * for a document with text. */
static void test_meta_of_64_kib_is_accepted(void **state)
{
    struct capture_input input = {.event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED};
    struct store_txn *txn = NULL;
    struct feedback_event_view view;
    struct buffer meta;
    struct model model;
    struct event event;
    uint64_t seq = 0;

    (void)state;
    model_init(&model, 51);
    txn = fixture_begin(&model.fixture, STORE_WRITE);
    log_begin_write(txn, NULL);
    while (model.papers[1].first_seq == 0) {
        ingest(&model, txn);
    }
    assert_int_equal(store_commit(txn), OK);
    buffer_init(&meta, &model.fixture.arena, CAPTURE_META_BYTES_MAX);
    buffer_printf(&meta, "{\"a\":\"%0*d\"}", CAPTURE_META_BYTES_MAX - 8, 0);
    assert_int_equal(meta.size, CAPTURE_META_BYTES_MAX);
    input.document_id = name_of(&model.fixture, 1);
    input.meta_json = buffer_slice(&meta);
    seq = fixture_capture(&model.fixture, &input, 1);
    txn = fixture_begin(&model.fixture, STORE_READ);
    assert_int_equal(log_read(txn, model.fixture.org, seq, &event), OK);
    assert_int_equal(feedback_view_read(&event, &view), OK);
    assert_true(view.meta_json.size > CAPTURE_META_BYTES_MAX);
    assert_true(slice_starts_with(view.meta_json,
                                  SLICE("{\"input_snippet\":\"Text \\\"1\\\"\\n\",\"a\":\"0")));
    store_abort(txn);
    fixture_deinit(&model.fixture);
}

int run_documents_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_omitted_members_are_filled_in),
        cmocka_unit_test(test_examples_are_withheld_only_from_scans),
        cmocka_unit_test(test_profiles_equal_the_model),
        cmocka_unit_test(test_feedback_lists_skip_documents),
        cmocka_unit_test(test_old_events_are_listed_after_many_documents),
        cmocka_unit_test(test_replay_with_documents_equals_the_tables),
        cmocka_unit_test(test_meta_of_64_kib_is_accepted),
    };

    return cmocka_run_group_tests_name("corrections: documents", tests, NULL, NULL);
}
