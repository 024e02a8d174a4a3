/*
 * family_tests.c: the examples of layout families. Random interleavings of ingestions and corrections,
 * against a model that keeps every event in an array and answers each question by looking at all of them.
 * Seeds are fixed.
 */
#include "server/domain/corrections/examples.h"
#include "server/domain/fingerprint/fingerprint.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/family_rows.h"
#include "tests/unit/corrections/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SEEDS 6
#define EVENTS 300
#define PAPERS 24 /* the last two are never ingested */
#define LAYOUTS 4
#define FAMILIES 3
#define ENTITIES 12
#define SKETCH_FEATURES 40
#define STEP_US 1000

/* A document, from number 1. */
struct paper {
    uint64_t first_seq; /* 0: not ingested */
    uint64_t seq; /* of the event with the fingerprint; 0: none */
};

/* An event, by its seq. */
struct fact {
    int64_t created_at_us;
    bool example; /* false: an ingestion, or an event that is not an example */
    uint64_t retracted_by; /* seq of the retraction; 0: it was not retracted */
    unsigned paper; /* 0: none named */
    unsigned layout; /* as it must be stored; 0: none */
    unsigned entity; /* 0: none named */
    unsigned value;
};

struct model {
    struct world world;
    struct paper papers[PAPERS + 1];
    struct fact facts[EVENTS + 16];
    uint64_t count;
    struct slice fingerprints[LAYOUTS + 1]; /* in `texts` */
    char texts[LAYOUTS + 1][2 * SHA256_BYTES];
};

static unsigned draw(struct world *world, unsigned below)
{
    uint32_t value = 0;

    random_fill(&world->random.random, &value, sizeof(value));
    return value % below;
}

/* Families and layouts overlap: layout 1 has documents of one family, the others have several. */
static unsigned layout_of(unsigned paper)
{
    return 1 + paper / FAMILIES % LAYOUTS;
}

/* 0: of none. */
static unsigned family_of(unsigned paper)
{
    return layout_of(paper) == 1 ? 1 : paper % (FAMILIES + 1);
}

static struct slice name_of(struct world *world, const char *kind, unsigned number)
{
    return number == 0 ? slice_of(NULL, 0) : arena_printf(&world->arena, "%s-%u", kind, number);
}

static struct document_measures measures_of(struct world *world, unsigned paper, bool cut)
{
    static const struct document_page page = {595.28, 841.89};
    struct slice name = name_of(world, "document", paper);
    struct document_measures measures = {
        .document_id = name,
        .sha256 = sha256(name),
        .size_bytes = 1000,
        .pages = &page,
        .page_count = 1,
        .pages_read = 1,
        .text_chars = 10,
        .page_one_chars = 10,
        .page_cells = 100,
        .covered_cells = 50,
        .input_snippet = SLICE("Pos 1"),
        .has_table_count = !cut,
        .table_count = layout_of(paper),
        .fp_version = SLICE("1/22.12.0"),
    };

    if (family_of(paper) != 0 && !cut) {
        measures.sketch.count = SKETCH_FEATURES;
    }
    for (uint32_t i = 0; i < measures.sketch.count; i++) {
        measures.sketch.features[i] =
            8 * (1000 * family_of(paper) + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
    return measures;
}

static void model_init(struct model *model, uint64_t seed)
{
    memset(model, 0, sizeof(*model));
    world_init(&model->world, seed);
    for (unsigned paper = 1; paper <= PAPERS; paper++) {
        struct document_measures measures = measures_of(&model->world, paper, false);
        unsigned layout = layout_of(paper);
        struct layout_fingerprint found;

        assert_int_equal(fingerprint_of_measures(&model->world.arena, &measures, &found), OK);
        memcpy(model->texts[layout], found.text, sizeof(found.text));
        model->fingerprints[layout] = slice_of(model->texts[layout], sizeof(found.text));
    }
}

/* Ingests a paper, whole or with its rulings cut short; a repeated one changes nothing. */
static void ingest(struct model *model, struct store_txn *txn)
{
    struct world *world = &model->world;
    unsigned number = 1 + draw(world, PAPERS - 2);
    struct paper *paper = &model->papers[number];
    bool cut = draw(world, 3) == 0;
    struct document_measures measures = measures_of(world, number, cut);
    struct document_event *event = NULL;
    uint64_t seq = 0;

    assert_int_equal(document_prepare(&world->ctx, &measures, SLICE("anna"), &event), OK);
    assert_int_equal(document_store(&world->ctx, txn, world->org, event, &seq), OK);
    if (paper->first_seq == 0 || (paper->seq == 0 && !cut)) {
        model->count++;
        assert_int_equal(seq, model->count);
        paper->first_seq = paper->first_seq == 0 ? seq : paper->first_seq;
        paper->seq = cut ? 0 : seq;
    }
}

/* What an event will be, and what its caller sends. */
static struct fact draw_fact(struct model *model, struct capture_input *ret_input)
{
    struct world *world = &model->world;
    unsigned layout = draw(world, 3) == 0 ? 1 + draw(world, LAYOUTS) : 0;
    bool empty = draw(world, 6) == 0;
    struct fact fact = {
        .created_at_us = world->clock.wall_us - (int64_t)draw(world, 20) * STEP_US,
        .paper = draw(world, 6) == 0 ? 0 : 1 + draw(world, PAPERS),
        .layout = layout,
        .entity = draw(world, 2) == 0 ? 0 : 1 + draw(world, ENTITIES),
        .value = 1 + draw(world, 20),
    };
    const struct paper *paper = &model->papers[fact.paper];

    *ret_input = (struct capture_input){
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .document_id = name_of(world, "document", fact.paper),
        .layout_fingerprint = model->fingerprints[layout],
        .entity_type = fact.entity != 0 ? SLICE("line") : slice_of(NULL, 0),
        .entity_id = name_of(world, "line", fact.entity),
        .time = {true, fact.created_at_us},
        .actor_user_id = SLICE("anna"),
        .before_json = SLICE("{\"qty\":0}"),
        .after_json = empty ? SLICE("{}") : arena_printf(&world->arena, "{\"qty\":%u}", fact.value),
        .meta_json = SLICE("{\"input_snippet\":\"Pos 1\"}"),
    };
    if (layout == 0 && fact.paper != 0 && paper->seq != 0) {
        fact.layout = layout_of(fact.paper);
    }
    fact.example = !empty && fact.layout != 0;
    return fact;
}

static void capture(struct model *model, struct store_txn *txn)
{
    const struct event_caller caller = world_admin();
    struct world *world = &model->world;
    struct capture_event events[3];
    size_t count = 1 + draw(world, 3);
    uint64_t seq = 0;

    for (size_t i = 0; i < count; i++) {
        struct capture_input input;

        model->facts[model->count + 1 + i] = draw_fact(model, &input);
        assert_int_equal(capture_prepare(&world->ctx, &caller, &input, SLICE("event"), &events[i]),
                         OK);
    }
    assert_int_equal(capture_store(&world->ctx, txn, world->org, events, count, &seq), OK);
    assert_int_equal(seq, model->count + 1);
    model->count += count;
}

/* Retracts a random example, whose row stays in its family and names the retraction. */
static void retract(struct model *model)
{
    uint64_t seq = 1 + draw(&model->world, (unsigned)model->count);

    if (!model->facts[seq].example || model->facts[seq].retracted_by != 0) {
        return;
    }
    model->count++;
    model->facts[seq].retracted_by = model->count;
    model->facts[model->count] = (struct fact){.example = false};
    assert_int_equal(world_retract(&model->world, seq), model->count);
}

/* Several of both in each write, and retractions between the writes. */
static void fill(struct model *model)
{
    while (model->count < EVENTS) {
        struct store_txn *txn = world_begin(&model->world, STORE_WRITE);
        unsigned steps = 1 + draw(&model->world, 4);

        clock_manual_advance(&model->world.clock, STEP_US);
        for (unsigned i = 0; i < steps && model->count < EVENTS; i++) {
            log_begin_write(txn, NULL);
            if (draw(&model->world, 4) == 0) {
                ingest(model, txn);
            } else {
                capture(model, txn);
            }
        }
        assert_int_equal(store_commit(txn), OK);
        if (draw(&model->world, 4) == 0) {
            retract(model);
        }
        world_forget(&model->world);
    }
}

/* The family in which an example has a row; 0: none. Examples that were retracted before their document joined a family
 * do not join it. */
static unsigned family_with(const struct model *model, const struct fact *fact)
{
    uint64_t seq = model->papers[fact->paper].seq;

    if (!fact->example || fact->paper == 0 || seq == 0 ||
        (fact->retracted_by != 0 && fact->retracted_by < seq)) {
        return 0;
    }
    return family_of(fact->paper);
}

/* The seq of the event that made a family. */
static uint64_t seq_of_family(const struct model *model, unsigned family)
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 1; i <= PAPERS; i++) {
        if (family_of(i) == family && model->papers[i].seq != 0 && model->papers[i].seq < first) {
            first = model->papers[i].seq;
        }
    }
    return first;
}

/* Checks the row of an example in a family. */
static void check_row(struct model *model, struct store_txn *txn, uint64_t seq, unsigned family)
{
    const struct fact *fact = &model->facts[seq];
    struct key_fingerprint fingerprint = key_fingerprint_of(model->fingerprints[fact->layout]);
    struct key key = key_family_example(model->world.org, seq_of_family(model, family),
                                        fact->created_at_us, seq);
    struct family_example example;
    struct slice value = {NULL, 0};

    assert_int_equal(store_get(txn, TABLE_FAMILY_EXAMPLE, key_slice(&key), &value), OK);
    assert_int_equal(family_example_read(key_slice(&key), value, &example), OK);
    assert_memory_equal(example.fingerprint.bytes, fingerprint.bytes, sizeof(fingerprint.bytes));
    assert_int_equal(example.annotator_kind, ANNOTATOR_HUMAN);
    assert_true(example.created_at_us == fact->created_at_us && example.seq == seq);
    assert_true(example.retracted_by_seq == fact->retracted_by);
}

/* Goal: each example of a document with a family has one row in it, and no other rows exist, even if the
 * document is ingested after its corrections, or joins its family only when it is measured again; the row of a
 * retracted example names the retraction; a replay
 * of the log gives the same rows. Method: every row against the model. */
static void test_family_rows_equal_model(void **state)
{
    size_t late = 0;
    size_t retracted = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct store_txn *txn = NULL;
        struct model model;
        size_t rows = 0;

        model_init(&model, seed);
        fill(&model);
        txn = world_begin(&model.world, STORE_READ);
        for (uint64_t seq = 1; seq <= model.count; seq++) {
            const struct fact *fact = &model.facts[seq];
            unsigned family = family_with(&model, fact);

            if (family == 0) {
                continue;
            }
            rows++;
            late += model.papers[fact->paper].seq > seq;
            retracted += fact->retracted_by != 0;
            check_row(&model, txn, seq, family);
        }
        assert_int_equal(world_count_rows(&model.world, txn, TABLE_FAMILY_EXAMPLE), rows);
        store_abort(txn);
        assert_true(world_check_replay(&model.world, model.count) > EVENTS);
        world_deinit(&model.world);
    }
    assert_true(late > SEEDS * 5 && retracted > SEEDS);
}

/* How many examples of a paper, retracted or not, have rows in its family. */
static size_t count_examples(const struct model *model, unsigned paper, bool retracted)
{
    size_t count = 0;

    for (uint64_t seq = 1; seq <= model->count; seq++) {
        const struct fact *fact = &model->facts[seq];

        count += fact->paper == paper && (fact->retracted_by != 0) == retracted &&
                 family_with(model, fact) != 0;
    }
    return count;
}

/* Goal: the examples of a document move from one family to another and leave it, and only those that were not retracted. Method:
 * moves those of each document to another family, then to none; counts the rows. */
static void test_examples_move(void **state)
{
    const uint64_t other_seq = EVENTS + 100;
    struct store_txn *txn = NULL;
    struct model model;
    size_t moved = 0;
    size_t retracted = 0;
    size_t rows = 0;

    (void)state;
    model_init(&model, 1);
    fill(&model);
    txn = world_begin(&model.world, STORE_WRITE);
    rows = world_count_rows(&model.world, txn, TABLE_FAMILY_EXAMPLE);
    for (unsigned paper = 1; paper <= PAPERS; paper++) {
        struct slice name = name_of(&model.world, "document", paper);
        struct org_id org = model.world.org;
        size_t count = count_examples(&model, paper, false);

        if (count > 0) {
            uint64_t family_seq = seq_of_family(&model, family_of(paper));

            assert_int_equal(
                family_examples_move(&model.world.ctx, txn, org, name, family_seq, other_seq), OK);
            assert_int_equal(world_count_rows(&model.world, txn, TABLE_FAMILY_EXAMPLE), rows);
            assert_int_equal(family_examples_move(&model.world.ctx, txn, org, name, other_seq, 0),
                             OK);
        }
        rows -= count;
        retracted += count_examples(&model, paper, true);
        moved += count > 1;
        assert_int_equal(world_count_rows(&model.world, txn, TABLE_FAMILY_EXAMPLE), rows);
    }
    assert_int_equal(rows, retracted);
    assert_true(moved > 3);
    store_abort(txn);
    world_deinit(&model.world);
}

int run_family_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_family_rows_equal_model),
        cmocka_unit_test(test_examples_move),
    };

    return cmocka_run_group_tests_name("examples of families", tests, NULL, NULL);
}
