/*
 * model_tests.c: random workloads, with retractions, against a model without rows: it answers each question by
 * a scan of an array of all events. Seeds are fixed.
 */
#include "server/domain/corrections/examples.h"
#include "server/domain/corrections/list.h"
#include "server/domain/counters/keys.h"
#include "server/domain/counters/records.h"
#include "store/base/wire.h"
#include "tests/unit/corrections/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define EVENTS 400
#define SEEDS 4
#define LAYOUTS 3
#define ENTITIES 5
#define DOCUMENTS 6
#define FIELDS 4
#define DAY_US (INT64_C(86400) * 1000000)

/* An event in the model. Numbers from 1; 0: not named. */
struct fact {
    uint64_t seq;
    int64_t created_at_us;
    enum feedback_event_type event_type;
    unsigned layout;
    unsigned entity;
    unsigned document;
    unsigned draft;
    unsigned actor;
    enum annotator_kind annotator_kind;
    unsigned fields; /* bits */
    uint8_t values[FIELDS];
    unsigned snippet;
    unsigned spelling; /* variant of the output: texts that are equal as JSON */
    bool backfilled;
    uint64_t retracted_by; /* seq of the retraction; 0: it was not retracted */
    bool is_retraction; /* not a feedback event: it retracted another */
};

struct model {
    struct fixture fixture;
    struct fact facts[EVENTS];
    size_t count;
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

/* The output of a fact, in one of its spellings: other white space, order, and notation of numbers and
 * names. */
static struct slice after_of(struct fixture *fixture, const struct fact *fact)
{
    static const char *const names[] = {"\"f", " \"f", "\"\\u0066"};
    static const char *const ends[] = {"", ".0", "e0"};
    struct buffer buffer;

    buffer_init(&buffer, &fixture->arena, 64);
    buffer_append_byte(&buffer, '{');
    for (unsigned i = 0; i < FIELDS; i++) {
        unsigned at = fact->spelling == 1 ? FIELDS - 1 - i : i;

        if ((fact->fields >> at & 1) != 0) {
            buffer_printf(&buffer, "%s%s%u\":%u%s", buffer.size > 1 ? "," : "",
                          names[fact->spelling], at, fact->values[at], ends[fact->spelling]);
        }
    }
    buffer_append_byte(&buffer, '}');
    return buffer_slice(&buffer);
}

static struct capture_input input_of(struct fixture *fixture, const struct fact *fact)
{
    return (struct capture_input){
        .event_type = fact->event_type,
        .annotator_kind = fact->annotator_kind,
        .actor_user_id = name_of(fixture, "user", fact->actor),
        .entity_type = fact->entity != 0 ? SLICE("line") : slice_of(NULL, 0),
        .entity_id = name_of(fixture, "line", fact->entity),
        .draft_order_id = name_of(fixture, "draft", fact->draft),
        .document_id = name_of(fixture, "document", fact->document),
        .layout_fingerprint = name_of(fixture, "layout", fact->layout),
        .time = {fact->backfilled, fact->created_at_us},
        .after_json = after_of(fixture, fact),
        .meta_json =
            arena_printf(&fixture->arena, "{\"input_snippet\":\"Pos %u Bohrer\"}", fact->snippet),
    };
}

static struct fact draw_fact(struct model *model, uint64_t seq)
{
    struct fixture *fixture = &model->fixture;
    struct fact fact = {
        .seq = seq,
        .created_at_us = fixture->clock.wall_us,
        .event_type = draw(fixture, 5) == 0 ? FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED
                                            : FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .layout = draw(fixture, 5) == 0 ? 0 : 1 + draw(fixture, LAYOUTS),
        .entity = draw(fixture, 4) == 0 ? 0 : 1 + draw(fixture, ENTITIES),
        .document = draw(fixture, 3) == 0 ? 0 : 1 + draw(fixture, DOCUMENTS),
        .draft = draw(fixture, 2),
        .actor = 1 + draw(fixture, 2),
        .fields = draw(fixture, 1u << FIELDS),
        .snippet = draw(fixture, 2),
        .spelling = draw(fixture, 3),
        .backfilled = draw(fixture, 3) == 0,
    };

    for (unsigned i = 0; i < FIELDS; i++) {
        fact.values[i] = (uint8_t)draw(fixture, 3);
    }

    fact.annotator_kind =
        draw(fixture, 3) != 0 ? ANNOTATOR_KIND_HUMAN : (enum annotator_kind)(1 + draw(fixture, 3));
    if (draw(fixture, 4) == 0 && fact.event_type == FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED) {
        fact.event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED;
    }
    if (fact.backfilled) {
        fact.created_at_us -= (int64_t)draw(fixture, 300) * (DAY_US / 50);
    }
    if (fact.backfilled && seq > 10 &&
        draw(fixture, 3) == 0) { /* with the same time as another event */
        fact.created_at_us = model->facts[draw(fixture, (unsigned)seq - 6)].created_at_us;
    }
    return fact;
}

/* Live events get their time from the log. */
static void learn_times(struct model *model, uint64_t first_seq)
{
    struct store_txn *txn = fixture_begin(&model->fixture, STORE_READ);

    for (uint64_t seq = first_seq; seq <= model->count; seq++) {
        struct event event;

        assert_int_equal(log_read(txn, model->fixture.org, seq, &event), OK);
        model->facts[seq - 1].is_retraction = event.kind == EVENT_RETRACTED;
        assert_true(!model->facts[seq - 1].backfilled ||
                    model->facts[seq - 1].created_at_us == event.created_at_us);
        model->facts[seq - 1].created_at_us = event.created_at_us;
    }
    store_abort(txn);
}

static bool is_correction(const struct fact *fact)
{
    return fact->event_type != FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED && !fact->is_retraction;
}

/* Retracts up to 3 random corrections, each at once or long after it was made. */
static void retract_some(struct model *model)
{
    unsigned count = draw(&model->fixture, 4);

    for (unsigned i = 0; i < count && model->count < EVENTS; i++) {
        unsigned span =
            draw(&model->fixture, 2) == 0 && model->count > 8 ? 8 : (unsigned)model->count;
        struct fact *fact = &model->facts[model->count - 1 - draw(&model->fixture, span)];

        if (!is_correction(fact) || fact->retracted_by != 0) {
            continue;
        }
        model->facts[model->count] = (struct fact){.seq = model->count + 1};
        model->count++;
        fact->retracted_by = model->count;
        assert_int_equal(fixture_retract(&model->fixture, fact->seq), model->count);
        learn_times(model, model->count);
    }
}

static void model_init(struct model *model, uint64_t seed)
{
    struct fixture *fixture = &model->fixture;

    fixture_init(fixture, seed);
    model->count = 0;
    while (model->count < EVENTS) {
        struct capture_input inputs[5];
        size_t count = 1 + draw(fixture, 5);

        clock_manual_advance(&fixture->clock, (int64_t)draw(fixture, 3) * (DAY_US / 50));
        for (size_t i = 0; i < count && model->count < EVENTS; i++) {
            model->facts[model->count] = draw_fact(model, model->count + 1);
            inputs[i] = input_of(fixture, &model->facts[model->count]);
            model->count++;
            count = model->count == EVENTS ? i + 1 : count;
        }
        assert_int_equal(fixture_capture(fixture, inputs, count), model->count - count + 1);
        learn_times(model, model->count - count + 1);
        retract_some(model);
        fixture_forget(fixture);
    }
}

static bool is_newer(const struct fact *a, const struct fact *b)
{
    return a->created_at_us != b->created_at_us ? a->created_at_us > b->created_at_us
                                                : a->seq > b->seq;
}

/* A correction without an output is stored, but it is not an example. */
static bool is_example(const struct fact *fact)
{
    return is_correction(fact) && fact->fields != 0;
}

static bool is_retracted(const struct fact *fact, uint64_t as_of)
{
    return fact->retracted_by != 0 && fact->retracted_by <= as_of;
}

/* Computes the answer by a scan of every event up to `as_of`. */
static bool is_superseded(const struct model *model, const struct fact *fact, uint64_t as_of)
{
    unsigned left = fact->fields;

    if (!is_correction(fact) || fact->entity == 0 || fact->fields == 0) {
        return false;
    }
    for (size_t i = 0; i < model->count && model->facts[i].seq <= as_of; i++) {
        const struct fact *other = &model->facts[i];

        if (is_correction(other) && !is_retracted(other, as_of) && other->entity == fact->entity &&
            is_newer(other, fact)) {
            left &= ~other->fields;
        }
    }
    return left == 0;
}

static int compare_facts(const void *a, const void *b)
{
    const struct fact *const *left = a;
    const struct fact *const *right = b;

    return is_newer(*left, *right) ? -1 : 1;
}

/* All events, newest first. */
static void sort_facts(const struct model *model, const struct fact *sorted[EVENTS])
{
    for (size_t i = 0; i < model->count; i++) {
        sorted[i] = &model->facts[i];
    }
    qsort(sorted, model->count, sizeof(sorted[0]), compare_facts);
}

/* Appends `seq` (and `!` where superseded) as text. */
static void report(struct buffer *buffer, uint64_t seq, bool superseded)
{
    buffer_printf(buffer, " %llu%s", (unsigned long long)seq, superseded ? "!" : "");
}

/* Returns whether two examples show the same correction. */
static bool is_copy(const struct fact *a, const struct fact *b)
{
    bool equal = a->fields == b->fields && a->snippet == b->snippet;

    for (unsigned i = 0; i < FIELDS && equal; i++) {
        equal = (a->fields >> i & 1) == 0 || a->values[i] == b->values[i];
    }
    return equal;
}

static bool is_copy_of_any(const struct fact *fact, const struct fact *const *served,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_copy(fact, served[i])) {
            return true;
        }
    }
    return false;
}

static struct slice expected_examples(struct model *model, unsigned layout, unsigned document,
                                      const struct examples_query *query)
{
    const struct fact *sorted[EVENTS];
    const struct fact *served[EXAMPLES_LIMIT_MAX];
    uint64_t as_of = query->has_as_of ? query->as_of_seq : UINT64_MAX;
    uint32_t kinds = query->annotator_kinds != 0 ? query->annotator_kinds : ANNOTATOR_KINDS_HUMAN;
    struct buffer buffer;
    uint32_t count = 0;

    buffer_init(&buffer, &model->fixture.arena, 256);
    sort_facts(model, sorted);
    for (size_t i = 0; i < model->count && count < query->limit; i++) {
        const struct fact *fact = sorted[i];
        bool superseded = is_superseded(model, fact, as_of);

        if ((kinds >> fact->annotator_kind & 1) == 0) {
            continue;
        }
        if (!is_example(fact) || is_retracted(fact, as_of) || fact->layout != layout ||
            fact->seq > as_of || (superseded && !query->include_superseded) ||
            (fact->document != 0 && fact->document == document && !query->include_own) ||
            is_copy_of_any(fact, served, count)) {
            continue;
        }
        served[count] = fact;
        report(&buffer, fact->seq, superseded);
        count++;
    }
    return buffer_slice(&buffer);
}

static uint64_t seq_of_id(struct model *model, struct store_txn *txn, struct slice text)
{
    struct uuid id;
    uint64_t seq = 0;

    assert_true(uuid_parse(text, &id));
    assert_int_equal(log_find(txn, model->fixture.org, id, &seq), OK);
    return seq;
}

/* The seq of an answered event or example, and whether it is superseded. */
static void report_message(struct model *model, struct store_txn *txn, struct slice message,
                           struct buffer *buffer)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    bool superseded = false;
    uint64_t seq = 0;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == EXAMPLE_ID_FIELD) {
            seq = seq_of_id(model, txn, field.bytes);
        } else if (field.number == EXAMPLE_SUPERSEDED_FIELD && field.type == WIRE_VARINT) {
            superseded = field.value != 0;
        }
    }
    report(buffer, seq, superseded);
}

static struct slice answered_examples(struct model *model, const struct examples_query *query)
{
    struct store_txn *txn = fixture_begin(&model->fixture, STORE_READ);
    struct wire_reader reader;
    struct wire_field field;
    struct buffer body;
    struct buffer reported;

    buffer_init(&body, &model->fixture.arena, 4096);
    buffer_init(&reported, &model->fixture.arena, 256);
    assert_int_equal(examples_write(txn, query, &body), OK);
    for (reader = wire_reader_of(buffer_slice(&body)); wire_next(&reader, &field) == OK;) {
        if (field.number == GET_EXAMPLES_RESPONSE_EXAMPLES_FIELD) {
            report_message(model, txn, field.bytes, &reported);
        }
    }
    store_abort(txn);
    return buffer_slice(&reported);
}

static void check_same(struct slice answered, struct slice expected)
{
    if (!slice_equal(answered, expected)) {
        print_error("answered%.*s\nexpected%.*s\n", (int)answered.size, (const char *)answered.data,
                    (int)expected.size, (const char *)expected.data);
    }
    assert_true(slice_equal(answered, expected));
}

/* Goal: GetExamples returns the examples of the model with their marks, now and as of any event.
 * Method: 400 events in random order of time, every layout, filter and some as_of, against the
 * model. */
static void test_examples_equal_model(void **state)
{
    size_t superseded = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct model model;

        model_init(&model, seed);
        for (unsigned round = 0; round < 400; round++) {
            unsigned layout = 1 + draw(&model.fixture, LAYOUTS);
            unsigned document = draw(&model.fixture, DOCUMENTS + 1);
            struct examples_query query = {
                .org = model.fixture.org,
                .layout_fingerprint = name_of(&model.fixture, "layout", layout),
                .limit = 1 + draw(&model.fixture, EXAMPLES_LIMIT_MAX),
                .view = EXAMPLE_VIEW_BOTH,
                .document_id = name_of(&model.fixture, "document", document),
                .include_superseded = draw(&model.fixture, 2) == 0,
                .include_own = draw(&model.fixture, 2) == 0,
                .annotator_kinds = draw(&model.fixture, 8) << 1,
                .has_as_of = draw(&model.fixture, 2) == 0,
                .as_of_seq = draw(&model.fixture, EVENTS + 20),
            };

            struct slice expected = expected_examples(&model, layout, document, &query);

            check_same(answered_examples(&model, &query), expected);
            superseded += memchr(expected.data, '!', expected.size) != NULL;
            fixture_forget(&model.fixture);
        }
        fixture_deinit(&model.fixture);
    }
    assert_true(superseded > SEEDS * 100);
}

/* Random filters, as numbers. */
struct wanted {
    unsigned layout;
    unsigned document;
    unsigned draft;
    unsigned entity;
    unsigned actor;
    unsigned field; /* field number, from 1 */
    bool mappings;
    struct list_filter filter;
};

static struct wanted draw_wanted(struct fixture *fixture)
{
    struct wanted wanted = {.filter = {.start_us = INT64_MIN, .end_us = INT64_MAX}};

    wanted.layout = draw(fixture, 3) == 0 ? 1 + draw(fixture, LAYOUTS) : 0;
    wanted.document = draw(fixture, 4) == 0 ? 1 + draw(fixture, DOCUMENTS) : 0;
    wanted.draft = draw(fixture, 4) == 0;
    wanted.entity = draw(fixture, 4) == 0 ? 1 + draw(fixture, ENTITIES) : 0;
    wanted.actor = draw(fixture, 4) == 0 ? 1 + draw(fixture, 2) : 0;
    wanted.field = draw(fixture, 4) == 0 ? 1 + draw(fixture, FIELDS) : 0;
    wanted.mappings = draw(fixture, 6) == 0;
    wanted.filter.layout_fingerprint = name_of(fixture, "layout", wanted.layout);
    wanted.filter.document_id = name_of(fixture, "document", wanted.document);
    wanted.filter.draft_order_id = name_of(fixture, "draft", wanted.draft);
    wanted.filter.entity_id = name_of(fixture, "line", wanted.entity);
    wanted.filter.actor_user_id = name_of(fixture, "user", wanted.actor);
    if (wanted.field != 0) {
        wanted.filter.field = arena_printf(&fixture->arena, "f%u", wanted.field - 1);
    }
    if (wanted.mappings) {
        wanted.filter.event_type = FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED;
    }
    if (draw(fixture, 3) == 0) {
        wanted.filter.start_us = FIXTURE_START_US + (int64_t)draw(fixture, 400) * (DAY_US / 50);
    }
    if (draw(fixture, 3) == 0) {
        wanted.filter.end_us = FIXTURE_START_US + (int64_t)draw(fixture, 400) * (DAY_US / 50);
    }
    return wanted;
}

static bool fits(const struct wanted *wanted, const struct fact *fact)
{
    return !fact->is_retraction && (wanted->layout == 0 || wanted->layout == fact->layout) &&
           (wanted->document == 0 || wanted->document == fact->document) &&
           (wanted->draft == 0 || wanted->draft == fact->draft) &&
           (wanted->entity == 0 || wanted->entity == fact->entity) &&
           (wanted->actor == 0 || wanted->actor == fact->actor) &&
           (wanted->field == 0 || (fact->fields >> (wanted->field - 1) & 1) != 0) &&
           (!wanted->mappings || !is_correction(fact)) &&
           fact->created_at_us >= wanted->filter.start_us &&
           fact->created_at_us < wanted->filter.end_us;
}

/* Reads a whole list by pages of `page_size`. */
static struct slice answered_list(struct model *model, const struct list_filter *filter,
                                  uint32_t page_size)
{
    struct pages pages = {.size = page_size, .more = true};
    struct buffer reported;

    buffer_init(&reported, &model->fixture.arena, 4096);
    for (size_t count = 0; pages.more; count++) {
        struct store_txn *txn = fixture_begin(&model->fixture, STORE_READ);
        const struct event *event = NULL;
        struct feedback_event_view view;
        struct feedback_list list;
        struct page page;
        uint32_t events = 0;

        assert_true(count <= EVENTS);
        fixture_begin_list(&model->fixture, txn, &pages, filter, &page, &list);
        while (feedback_list_next(txn, &list, &event, &view) == OK) {
            report(&reported, event->seq, false);
            events++;
        }
        fixture_end_page(&model->fixture, &page, &pages);
        assert_true(events == page_size || !pages.more);
        store_abort(txn);
    }
    return buffer_slice(&reported);
}

/* Goal: lists are complete, in order, and without repeats, for any filter and page size. Method:
 * random filters and page sizes against the model. */
static void test_lists_equal_model(void **state)
{
    (void)state;
    for (uint64_t seed = 11; seed < 11 + SEEDS; seed++) {
        const struct fact *sorted[EVENTS];
        struct model model;

        model_init(&model, seed);
        sort_facts(&model, sorted);
        for (unsigned round = 0; round < 60; round++) {
            struct wanted wanted = draw_wanted(&model.fixture);
            struct buffer expected;

            buffer_init(&expected, &model.fixture.arena, 4096);
            for (size_t i = 0; i < model.count; i++) {
                if (fits(&wanted, sorted[i])) {
                    report(&expected, sorted[i]->seq, false);
                }
            }
            check_same(answered_list(&model, &wanted.filter, 1 + draw(&model.fixture, 30)),
                       buffer_slice(&expected));
            fixture_forget(&model.fixture);
        }
        fixture_deinit(&model.fixture);
    }
}

static uint64_t count_of(struct store_txn *txn, const struct key *key)
{
    struct counter_record record = {0};
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_COUNTER, key_slice(key), &value);

    assert_true(err == OK || err == ERR_NOT_FOUND);
    if (err == OK) {
        assert_int_equal(record_decode_counter(value, &record), OK);
    }
    return record.count;
}

/* A feedback event that was not retracted. */
static bool is_counted(const struct fact *fact)
{
    return !fact->is_retraction && fact->retracted_by == 0;
}

/* Compares the number of retracted events of a day. Returns whether there is any. */
static size_t check_retracted(struct model *model, struct store_txn *txn, uint32_t day)
{
    struct key key = key_counter(model->fixture.org, day, COUNTER_RETRACTED, slice_of(NULL, 0));
    uint64_t count = 0;

    for (size_t i = 0; i < model->count; i++) {
        count += model->facts[i].retracted_by != 0 && model->facts[i].created_at_us / DAY_US == day;
    }
    assert_int_equal(count_of(txn, &key), count);
    return count > 0;
}

/* Computes the expected counters of one day, and compares. Returns how many are not 0. */
static size_t check_day(struct model *model, struct store_txn *txn, uint32_t day)
{
    size_t rows = 0;

    for (unsigned type = 1; type <= 5; type++) {
        char name[16] = {0};
        size_t size = (size_t)snprintf(name, sizeof(name), "%u", type);
        struct key key =
            key_counter(model->fixture.org, day, COUNTER_EVENT_TYPE, slice_of(name, size));
        uint64_t count = 0;

        for (size_t i = 0; i < model->count; i++) {
            count += is_counted(&model->facts[i]) &&
                     model->facts[i].event_type == (enum feedback_event_type)type &&
                     model->facts[i].created_at_us / DAY_US == day;
        }
        assert_int_equal(count_of(txn, &key), count);
        rows += count > 0;
    }
    for (unsigned field = 0; field < 2 * FIELDS; field++) {
        bool line = field < FIELDS;
        char name[16] = {0};
        size_t size = (size_t)snprintf(name, sizeof(name), "f%u", field % FIELDS);
        struct key key =
            key_counter(model->fixture.org, day, line ? COUNTER_LINE_FIELD : COUNTER_FIELD_FIELD,
                        slice_of(name, size));
        uint64_t count = 0;

        for (size_t i = 0; i < model->count; i++) {
            count += is_counted(&model->facts[i]) &&
                     model->facts[i].event_type ==
                         (line ? FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED
                               : FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED) &&
                     (model->facts[i].fields >> (field % FIELDS) & 1) != 0 &&
                     model->facts[i].created_at_us / DAY_US == day;
        }
        assert_int_equal(count_of(txn, &key), count);
        rows += count > 0;
    }
    return rows;
}

/* Goal: the counters equal a scan of the events. Method: every day, type and field, and no other
 * row except a count of distinct names for each day with names. */
static void test_counters_equal_scan(void **state)
{
    (void)state;
    for (uint64_t seed = 21; seed < 21 + SEEDS; seed++) {
        struct store_txn *txn = NULL;
        struct model model;
        uint32_t last_day = 0;
        size_t rows = 0;

        model_init(&model, seed);
        txn = fixture_begin(&model.fixture, STORE_READ);
        last_day = (uint32_t)(model.fixture.clock.wall_us / DAY_US);
        for (uint32_t day = last_day - 40; day <= last_day; day++) {
            struct key names =
                key_counter(model.fixture.org, day, COUNTER_FIELD_NAMES, slice_of(NULL, 0));

            rows += check_day(&model, txn, day);
            rows += check_retracted(&model, txn, day);
            rows += count_of(txn, &names) > 0;
        }
        assert_int_equal(fixture_count_rows(&model.fixture, txn, TABLE_COUNTER), rows);
        assert_int_equal(fixture_count_rows(&model.fixture, txn, TABLE_LAYOUT_STATS), LAYOUTS);
        store_abort(txn);
        fixture_deinit(&model.fixture);
    }
}

/* Goal: a replay of the log rebuilds every table, byte for byte. Method: apply each event to a new
 * store, with another clock and other randomness, and compare all rows. */
static void test_replay_equals_the_tables(void **state)
{
    (void)state;
    for (uint64_t seed = 31; seed < 31 + SEEDS; seed++) {
        struct model model;

        model_init(&model, seed);
        assert_true(fixture_check_replay(&model.fixture, model.count) > 2 * EVENTS);
        fixture_deinit(&model.fixture);
    }
}

int run_model_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_equal_model),
        cmocka_unit_test(test_lists_equal_model),
        cmocka_unit_test(test_counters_equal_scan),
        cmocka_unit_test(test_replay_equals_the_tables),
    };

    return cmocka_run_group_tests_name("corrections: model", tests, NULL, NULL);
}
