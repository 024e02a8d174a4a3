/*
 * grouping_tests.c: examples of whole documents, against a model that examines every event for each answer; and the
 * output of single documents. Seeds are fixed.
 */
#include "server/domain/corrections/document_example.h"
#include "server/domain/corrections/examples.h"
#include "tests/unit/corrections/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errata/v1/prompt_service.pb-c.h>

#define EVENTS 260
#define SEEDS 3
#define LAYOUTS 2
#define DOCUMENTS 4 /* the last document has most of the events */
#define ENTITIES 5
#define FIELDS 3
#define STEP_US (INT64_C(3600) * 1000000)
#define LINE FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
#define FIELD FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED

/* An event in the model. Numbers from 1; 0: not named. */
struct fact {
    uint64_t seq;
    int64_t created_at_us;
    bool is_line;
    bool is_whole;
    enum annotator_kind kind;
    unsigned layout;
    unsigned document;
    unsigned entity;
    unsigned fields; /* bits */
    uint8_t values[FIELDS];
    int number; /* line_no of the corrected line; 0: it has none */
    struct uuid id;
    uint64_t retracted_by; /* seq of the retraction; 0: it was not retracted */
};

struct model {
    struct fixture fixture;
    struct fact facts[EVENTS];
    size_t count;
    uint64_t last_seq; /* with retractions */
};

/* The query of a lookup. */
struct asked {
    unsigned layout;
    unsigned document;
    struct examples_query query;
};

static unsigned draw(struct fixture *fixture, unsigned below)
{
    uint32_t value = 0;

    random_fill(&fixture->random.random, &value, sizeof(value));
    return value % below;
}

static struct slice name_of(struct fixture *fixture, const char *kind, unsigned number)
{
    return number == 0 ? slice_of(NULL, 0) : arena_printf(&fixture->arena, "%s-%u", kind, number);
}

static struct slice output_of(struct fixture *fixture, const struct fact *fact)
{
    struct buffer buffer;

    buffer_init(&buffer, &fixture->arena, 64);
    buffer_append_byte(&buffer, '{');
    for (unsigned i = 0; i < FIELDS; i++) {
        if ((fact->fields >> i & 1) != 0) {
            buffer_printf(&buffer, "%s\"f%u\":%u", buffer.size > 1 ? "," : "", i, fact->values[i]);
        }
    }
    buffer_append_byte(&buffer, '}');
    return buffer_slice(&buffer);
}

static struct fact draw_fact(struct fixture *fixture)
{
    struct fact fact = {
        .is_line = draw(fixture, 3) != 0,
        .is_whole = draw(fixture, 40) == 0,
        .kind = draw(fixture, 4) != 0 ? ANNOTATOR_KIND_HUMAN
                                      : (enum annotator_kind)(1 + draw(fixture, 3)),
        .layout = 1 + draw(fixture, LAYOUTS),
        .document = draw(fixture, 2) == 0 ? DOCUMENTS : draw(fixture, DOCUMENTS),
        .entity = draw(fixture, 5) == 0 ? 0 : 1 + draw(fixture, ENTITIES),
        .fields = 1 + draw(fixture, (1u << FIELDS) - 1),
        .number = draw(fixture, 3) == 0 ? (int)draw(fixture, 4) - 1 : 0,
    };

    for (unsigned i = 0; i < FIELDS; i++) {
        fact.values[i] = (uint8_t)draw(fixture, 3);
    }
    return fact;
}

/* Captures one event, at times with an earlier date. */
static void capture(struct model *model)
{
    struct fixture *fixture = &model->fixture;
    struct fact fact = draw_fact(fixture);
    struct slice output = output_of(fixture, &fact);
    struct capture_input input = {
        .event_type = fact.is_line ? LINE : FIELD,
        .annotator_kind = fact.kind,
        .entity_type = fact.entity != 0 ? SLICE("line") : slice_of(NULL, 0),
        .entity_id = name_of(fixture, "line", fact.entity),
        .document_id = name_of(fixture, "document", fact.document),
        .layout_fingerprint = name_of(fixture, "layout", fact.layout),
        .before_json = fact.number != 0
                           ? arena_printf(&fixture->arena, "{\"line_no\":%d}", fact.number)
                           : SLICE("{}"),
        .after_json = output,
        .meta_json = SLICE("{\"input_snippet\":\"Pos 1\"}"),
    };
    struct store_txn *txn = NULL;
    struct event event;

    if (fact.is_whole) {
        input.corrected_output_json = output;
    }
    clock_manual_advance(&fixture->clock, STEP_US);
    if (draw(fixture, 3) == 0) {
        input.time =
            (struct event_time){true, fixture->clock.wall_us - draw(fixture, 40) * STEP_US};
    }
    fact.seq = fixture_capture(fixture, &input, 1);
    model->last_seq = fact.seq;
    txn = fixture_begin(fixture, STORE_READ);
    assert_int_equal(log_read(txn, fixture->org, fact.seq, &event), OK);
    fact.created_at_us = event.created_at_us;
    fact.id = event.id;
    store_abort(txn);
    model->facts[model->count] = fact;
    model->count++;
}

static bool is_newer(const struct fact *a, const struct fact *b)
{
    return a->created_at_us != b->created_at_us ? a->created_at_us > b->created_at_us
                                                : a->seq > b->seq;
}

static int compare_facts(const void *a, const void *b)
{
    const struct fact *const *left = a;
    const struct fact *const *right = b;

    return is_newer(*left, *right) ? -1 : 1;
}

/* Retracts a correction, one of the newest or any. */
static void retract(struct model *model)
{
    unsigned span = draw(&model->fixture, 2) == 0 && model->count > 6 ? 6 : (unsigned)model->count;
    struct fact *fact = &model->facts[model->count - 1 - draw(&model->fixture, span)];

    if (fact->retracted_by == 0) {
        fact->retracted_by = fixture_retract(&model->fixture, fact->seq);
        model->last_seq = fact->retracted_by;
    }
}

/* Returns whether a correction was captured, and not retracted, up to `as_of`. */
static bool is_there(const struct fact *fact, uint64_t as_of)
{
    return fact->seq <= as_of && (fact->retracted_by == 0 || fact->retracted_by > as_of);
}

static bool is_superseded(const struct model *model, const struct fact *fact, uint64_t as_of)
{
    unsigned left = fact->fields;

    for (size_t i = 0; i < model->count && fact->entity != 0; i++) {
        const struct fact *other = &model->facts[i];

        if (is_there(other, as_of) && other->entity == fact->entity && is_newer(other, fact)) {
            left &= ~other->fields;
        }
    }
    return left == 0;
}

/* The corrections of a document, of the asked layout, that are shown, newest first. */
static size_t shown_of(const struct model *model, const struct asked *asked, unsigned document,
                       const struct fact *const sorted[], const struct fact *shown[])
{
    uint64_t as_of = asked->query.has_as_of ? asked->query.as_of_seq : UINT64_MAX;
    uint32_t kinds =
        asked->query.annotator_kinds != 0 ? asked->query.annotator_kinds : ANNOTATOR_KINDS_HUMAN;
    size_t window = 0;
    size_t count = 0;

    for (size_t i = 0; i < model->count && window < 50; i++) {
        const struct fact *fact = sorted[i];

        if (fact->document != document || fact->layout != asked->layout || !is_there(fact, as_of)) {
            continue;
        }
        window++;
        if ((kinds >> fact->kind & 1) != 0 &&
            (asked->query.include_superseded || !is_superseded(model, fact, as_of))) {
            shown[count] = fact;
            count++;
        }
    }
    return count;
}

/* Appends the members of the header, or of the line, that `first` corrected; newest wins. */
static void append_members(const struct fact *const shown[], size_t count, const struct fact *first,
                           struct buffer *buffer)
{
    const char *comma = "";

    for (unsigned field = 0; field < FIELDS; field++) {
        for (size_t i = 0; i < count; i++) {
            bool same = shown[i]->is_line == first->is_line &&
                        (!first->is_line || shown[i] == first ||
                         (first->entity != 0 && shown[i]->entity == first->entity));

            if (same && (shown[i]->fields >> field & 1) != 0) {
                buffer_printf(buffer, "%s\"f%u\":%u", comma, field, shown[i]->values[field]);
                comma = ",";
                break;
            }
        }
    }
}

/* The newest line number of the corrections of a line; 0: none. */
static int number_of(const struct fact *const shown[], size_t count, const struct fact *first)
{
    for (size_t i = 0; i < count; i++) {
        if (shown[i]->is_line && shown[i]->number != 0 &&
            (shown[i] == first || (first->entity != 0 && shown[i]->entity == first->entity))) {
            return shown[i]->number;
        }
    }
    return 0;
}

/* Finds the lines, each by its oldest correction, in the order in which they are shown. */
static size_t find_lines(const struct fact *const shown[], size_t count, const struct fact *lines[])
{
    size_t line_count = 0;

    for (size_t i = count; i > 0; i--) {
        const struct fact *fact = shown[i - 1];
        bool known = !fact->is_line;
        size_t at = 0;

        for (size_t j = 0; j < line_count; j++) {
            known = known || (fact->entity != 0 && lines[j]->entity == fact->entity);
        }
        if (known) {
            continue;
        }
        for (at = line_count; at > 0; at--) { /* insertion: numbers first, ascending */
            int a = number_of(shown, count, lines[at - 1]);
            int b = number_of(shown, count, fact);

            if (b == 0 || (a != 0 && a <= b)) {
                break;
            }
            lines[at] = lines[at - 1];
        }
        lines[at] = fact;
        line_count++;
    }
    return line_count;
}

static struct slice merge(struct fixture *fixture, const struct fact *const shown[], size_t count)
{
    const struct fact *lines[EVENTS];
    size_t line_count = find_lines(shown, count, lines);
    struct buffer buffer;

    buffer_init(&buffer, &fixture->arena, 256);
    for (size_t i = 0; i < count; i++) {
        if (shown[i]->is_whole) {
            return output_of(fixture, shown[i]);
        }
    }
    buffer_append_byte(&buffer, '{');
    for (size_t i = 0; i < count; i++) {
        if (!shown[i]->is_line) {
            append_members(shown, count, shown[i], &buffer);
            break;
        }
    }
    for (size_t i = 0; i < line_count; i++) {
        int number = number_of(shown, count, lines[i]);

        buffer_append(&buffer, i > 0             ? SLICE(",{")
                               : buffer.size > 1 ? SLICE(",\"lines\":[{")
                                                 : SLICE("\"lines\":[{"));
        append_members(shown, count, lines[i], &buffer);
        if (number != 0) {
            buffer_printf(&buffer, ",\"line_no\":%d", number);
        }
        buffer_append_byte(&buffer, '}');
    }
    buffer_append(&buffer, line_count > 0 ? SLICE("]}") : SLICE("}"));
    return buffer_slice(&buffer);
}

static void check_example(struct fixture *fixture, const Errata__V1__Example *example,
                          const struct fact *const shown[], size_t count, bool superseded)
{
    struct slice expected = merge(fixture, shown, count);
    struct slice output = slice_text(example->output);
    struct json_value values[2] = {{JSON_OBJECT, expected}, {JSON_OBJECT, output}};
    bool equal = false;

    assert_int_equal(example->n_event_ids, count);
    for (size_t i = 0; i < count; i++) {
        struct uuid id;

        assert_true(uuid_parse(slice_text(example->event_ids[i]), &id));
        assert_true(uuid_equal(id, shown[i]->id));
    }
    assert_string_equal(example->id, example->event_ids[0]);
    assert_int_equal(example->superseded, superseded);
    assert_int_equal(json_equal(&fixture->arena, values[0], values[1], &equal), OK);
    if (!equal) {
        print_error("expected %.*s\nanswered %.*s\n", (int)expected.size,
                    (const char *)expected.data, (int)output.size, (const char *)output.data);
    }
    assert_true(equal);
}

static bool is_own(const struct asked *asked, unsigned document)
{
    return document == asked->document && !asked->query.include_own;
}

/* Checks an answer. Returns the number of examples in it. */
static size_t check_answer(struct model *model, const struct asked *asked,
                           const Errata__V1__GetExamplesResponse *answer)
{
    uint64_t as_of = asked->query.has_as_of ? asked->query.as_of_seq : UINT64_MAX;
    const struct fact *sorted[EVENTS];
    const struct fact *shown[EVENTS];
    struct slice served[DOCUMENTS];
    bool met[DOCUMENTS + 1] = {true};
    size_t count = 0;

    for (size_t i = 0; i < model->count; i++) {
        sorted[i] = &model->facts[i];
    }
    qsort(sorted, model->count, sizeof(sorted[0]), compare_facts);
    for (size_t i = 0; i < model->count && count < asked->query.limit; i++) {
        unsigned document = sorted[i]->document;
        size_t shown_count = 0;
        bool superseded = true;
        bool copy = false;

        if (sorted[i]->layout != asked->layout || !is_there(sorted[i], as_of) || met[document]) {
            continue;
        }
        met[document] = true;
        shown_count = shown_of(model, asked, document, sorted, shown);
        if (shown_count == 0 || is_own(asked, document)) {
            continue;
        }
        served[count] = merge(&model->fixture, shown, shown_count);
        for (size_t j = 0; j < count; j++) {
            const struct json_value values[2] = {{JSON_OBJECT, served[j]},
                                                 {JSON_OBJECT, served[count]}};
            bool equal = false;

            assert_int_equal(json_equal(&model->fixture.arena, values[0], values[1], &equal), OK);
            copy = copy || equal;
        }
        for (size_t j = 0; j < shown_count; j++) {
            superseded = superseded && is_superseded(model, shown[j], as_of);
        }
        if (!copy) {
            assert_true(count < answer->n_examples);
            check_example(&model->fixture, answer->examples[count], shown, shown_count, superseded);
            count++;
        }
    }
    assert_int_equal(answer->n_examples, count);
    return count;
}

static void draw_asked(struct model *model, struct asked *asked)
{
    struct fixture *fixture = &model->fixture;

    asked->layout = 1 + draw(fixture, LAYOUTS);
    asked->document = draw(fixture, DOCUMENTS + 1);
    asked->query = (struct examples_query){
        .org = fixture->org,
        .layout_fingerprint = name_of(fixture, "layout", asked->layout),
        .document_id = name_of(fixture, "document", asked->document),
        .limit = 1 + draw(fixture, 4),
        .view = EXAMPLE_VIEW_BOTH,
        .grouping = EXAMPLE_GROUPING_DOCUMENT,
        .include_superseded = draw(fixture, 4) == 0,
        .include_own = draw(fixture, 2) == 0,
        .annotator_kinds = draw(fixture, 2) == 0 ? 0 : draw(fixture, 8) << 1,
        .has_as_of = draw(fixture, 2) == 0,
        .as_of_seq = 1 + draw(fixture, (unsigned)model->last_seq + 3),
        .arena = &fixture->arena,
    };
}

/* Makes one lookup, and checks the response. Returns the number of examples in it. */
static size_t ask(struct model *model, struct store_txn *txn)
{
    struct asked asked;
    Errata__V1__GetExamplesResponse *answer = NULL;
    struct buffer body;
    size_t count = 0;

    draw_asked(model, &asked);
    buffer_init(&body, &model->fixture.arena, 4096);
    assert_int_equal(examples_write(txn, &asked.query, &body), OK);
    answer = errata__v1__get_examples_response__unpack(NULL, body.size, body.data);
    assert_non_null(answer);
    count = check_answer(model, &asked, answer);
    errata__v1__get_examples_response__free_unpacked(answer, NULL);
    return count;
}

/* Checks that each document and layout that has an example has one row, and there is no other. */
static void check_row_count(struct model *model, struct store_txn *txn)
{
    bool has_row[LAYOUTS + 1][DOCUMENTS + 1] = {{false}};
    size_t count = 0;

    for (size_t i = 0; i < model->count; i++) {
        const struct fact *fact = &model->facts[i];

        if (fact->document != 0 && is_there(fact, UINT64_MAX) &&
            !has_row[fact->layout][fact->document]) {
            has_row[fact->layout][fact->document] = true;
            count++;
        }
    }
    assert_int_equal(fixture_count_rows(&model->fixture, txn, TABLE_EXAMPLE_DOCUMENT), count);
}

/* Retracts the remaining corrections, and checks that no row of a document is left and that lookups
 * of the past do not change. */
static void retract_all(struct model *model)
{
    struct store_txn *txn = NULL;

    for (size_t i = 0; i < model->count; i++) {
        struct fact *fact = &model->facts[i];

        if (fact->retracted_by == 0) {
            fact->retracted_by = fixture_retract(&model->fixture, fact->seq);
            model->last_seq = fact->retracted_by;
        }
        fixture_forget(&model->fixture);
    }
    txn = fixture_begin(&model->fixture, STORE_READ);
    assert_int_equal(fixture_count_rows(&model->fixture, txn, TABLE_EXAMPLE_DOCUMENT), 0);
    for (unsigned round = 0; round < 50; round++) {
        (void)ask(model, txn);
    }
    store_abort(txn);
}

/* Goal: examples of documents are those of the model, after each event, for each filter, and as of any event; a replay
 * gives the same rows; and there is one row for each document and layout that has examples. Method: random corrections
 * with dates in any order, of documents that share entities and layouts, one with more than 50; every fourth step a
 * retraction. At the end all are retracted. */
static void test_documents_equal_model(void **state)
{
    static struct model model;
    size_t examples = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        fixture_init(&model.fixture, seed);
        model.count = 0;
        model.last_seq = 0;
        while (model.count < EVENTS) {
            struct store_txn *txn = NULL;

            if (model.count > 0 && draw(&model.fixture, 4) == 0) {
                retract(&model);
            } else {
                capture(&model);
            }
            txn = fixture_begin(&model.fixture, STORE_READ);
            for (unsigned round = 0; round < 3; round++) {
                examples += ask(&model, txn);
            }
            check_row_count(&model, txn);
            store_abort(txn);
            fixture_forget(&model.fixture);
        }
        assert_true(fixture_check_replay(&model.fixture, model.last_seq) > EVENTS);
        retract_all(&model);
        fixture_deinit(&model.fixture);
    }
    assert_true(examples > SEEDS * EVENTS);
}

/* Captures one correction, and returns the key of its rows. */
static struct key capture_one(struct fixture *fixture)
{
    const struct capture_input input = {
        .event_type = LINE,
        .document_id = SLICE("document-1"),
        .layout_fingerprint = SLICE("layout-1"),
        .before_json = SLICE("{\"line_no\":7,\"qty\":1}"),
        .after_json = SLICE("{\"qty\":2,\"description\":\"a text that is stored once\"}"),
        .meta_json = SLICE("{\"input_snippet\":\"Pos 7 of the order, 2 pcs\"}"),
    };
    struct key_fingerprint fingerprint = key_fingerprint_of(input.layout_fingerprint);
    uint64_t seq = fixture_capture(fixture, &input, 1);
    struct store_txn *txn = fixture_begin(fixture, STORE_READ);
    struct event event;

    assert_int_equal(log_read(txn, fixture->org, seq, &event), OK);
    store_abort(txn);
    return key_example(fixture->org, &fingerprint, event.created_at_us, seq);
}

/* Looks up the example of the document. */
static enum err ask_one(struct fixture *fixture, struct store_txn *txn, struct buffer *body)
{
    const struct examples_query query = {
        .org = fixture->org,
        .layout_fingerprint = SLICE("layout-1"),
        .limit = 3,
        .view = EXAMPLE_VIEW_BOTH,
        .grouping = EXAMPLE_GROUPING_DOCUMENT,
        .arena = &fixture->arena,
    };

    buffer_init(body, &fixture->arena, 4096);
    return examples_write(txn, &query, body);
}

/* Goal: the row of a document does not repeat the text of its correction; without the correction's row, or with other
 * bytes, the row is reported as corrupt. Method: one correction, then a change of one of the two rows in a transaction
 * that is not committed; each byte of the document's row is changed once, after which any answer without a crash is
 * accepted. */
static void test_row_of_one_correction_refers_to_it(void **state)
{
    struct fixture fixture;
    struct store_txn *txn = NULL;
    struct slice row = {NULL, 0};
    struct buffer body;
    struct key key;
    uint8_t bytes[256];
    size_t corrupt = 0;
    enum err err = OK;

    (void)state;
    fixture_init(&fixture, 1);
    key = capture_one(&fixture);
    txn = fixture_begin(&fixture, STORE_WRITE);
    assert_int_equal(ask_one(&fixture, txn, &body), OK);
    assert_true(fixture_has(buffer_slice(&body), "\"lines\":[{\"qty\":2,"));
    assert_true(fixture_has(buffer_slice(&body), "a text that is stored once"));
    assert_int_equal(store_get(txn, TABLE_EXAMPLE_DOCUMENT, key_slice(&key), &row), OK);
    assert_false(fixture_has(row, "stored once"));
    assert_in_range(row.size, 60, sizeof(bytes));
    memcpy(bytes, row.data, row.size);
    for (size_t i = 0; i < row.size; i++) {
        bytes[i] ^= 0x55;
        assert_int_equal(
            store_put(txn, TABLE_EXAMPLE_DOCUMENT, key_slice(&key), slice_of(bytes, row.size)), OK);
        err = ask_one(&fixture, txn, &body);
        assert_true(err == OK || err == ERR_CORRUPT);
        corrupt += err == ERR_CORRUPT;
        bytes[i] ^= 0x55;
    }
    assert_true(corrupt > row.size / 4);
    assert_int_equal(
        store_put(txn, TABLE_EXAMPLE_DOCUMENT, key_slice(&key), slice_of(bytes, row.size)), OK);
    assert_int_equal(ask_one(&fixture, txn, &body), OK);
    assert_int_equal(store_del(txn, TABLE_EXAMPLE, key_slice(&key)), OK);
    assert_int_equal(ask_one(&fixture, txn, &body), ERR_CORRUPT);
    store_abort(txn);
    fixture_deinit(&fixture);
}

int run_grouping_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents_equal_model),
        cmocka_unit_test(test_row_of_one_correction_refers_to_it),
    };

    return cmocka_run_group_tests_name("corrections: grouping", tests, NULL, NULL);
}
