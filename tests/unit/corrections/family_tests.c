/*
 * family_tests.c: the examples of layout families. Random interleavings of ingestions, corrections, retractions, merges and
 * splits, against a model that keeps every event in an array and answers each question by looking at all of them.
 * Seeds are fixed.
 */
#include "server/domain/corrections/examples.h"
#include "server/domain/fingerprint/fingerprint.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/family_change.h"
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/family_rows.h"
#include "store/base/wire.h"
#include "tests/unit/corrections/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SEEDS 6
#define EVENTS 300
#define PAPERS 24 /* the last two are never ingested */
#define LAYOUTS 5 /* the last one has no documents */
#define PAPER_LAYOUTS 4
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
    bool corrects; /* it is a correction that changes a field */
    enum annotator_kind annotator_kind;
    unsigned merged; /* the family that it merged into `into`, or split off; 0: another event */
    unsigned into; /* 0: a split */
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
    return 1 + paper / FAMILIES % PAPER_LAYOUTS;
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
    model->fingerprints[LAYOUTS] = SLICE("a layout without documents");
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
        .corrects = true, /* an empty output removes the field */
        .annotator_kind = draw(world, 5) == 0 ? ANNOTATOR_KIND_CODE : ANNOTATOR_KIND_HUMAN,
    };
    const struct paper *paper = &model->papers[fact.paper];

    *ret_input = (struct capture_input){
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .document_id = name_of(world, "document", fact.paper),
        .layout_fingerprint = model->fingerprints[layout],
        .entity_type = fact.entity != 0 ? SLICE("line") : slice_of(NULL, 0),
        .entity_id = name_of(world, "line", fact.entity),
        .annotator_kind = fact.annotator_kind,
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

/* The seq of the event that made a family; UINT64_MAX: it does not exist yet. */
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

/* Finds the families as they were after the event `now`: `ret_root[f]` is the one that f is merged into, or f. */
static void find_roots(const struct model *model, uint64_t now, unsigned ret_root[FAMILIES + 1])
{
    for (unsigned i = 0; i <= FAMILIES; i++) {
        ret_root[i] = i;
    }
    for (uint64_t seq = 1; seq <= model->count && seq <= now; seq++) {
        const struct fact *fact = &model->facts[seq];
        unsigned into = ret_root[fact->into];

        if (fact->merged == 0) {
            continue;
        }
        for (unsigned i = 1; i <= FAMILIES && fact->into != 0; i++) {
            ret_root[i] = ret_root[i] == fact->merged ? into : ret_root[i];
        }
        ret_root[fact->merged] = fact->into != 0 ? into : fact->merged;
    }
}

static struct uuid id_of(struct model *model, struct store_txn *txn, uint64_t seq)
{
    struct event event;

    assert_int_equal(log_read(txn, model->world.org, seq, &event), OK);
    return event.id;
}

/* Merges a family into another, or splits it off if it is merged. */
static void change_families(struct model *model)
{
    struct store_txn *txn = world_begin(&model->world, STORE_WRITE);
    struct world *world = &model->world;
    unsigned merged = 1 + draw(world, FAMILIES);
    unsigned into = 1 + draw(world, FAMILIES);
    uint64_t merged_seq = seq_of_family(model, merged);
    uint64_t into_seq = seq_of_family(model, into);
    unsigned roots[FAMILIES + 1];
    uint64_t seq = 0;

    find_roots(model, UINT64_MAX, roots);
    log_begin_write(txn, NULL);
    if (merged_seq != UINT64_MAX && roots[merged] != merged) {
        const struct family_split change = {SLICE("anna"), false, id_of(model, txn, merged_seq)};

        assert_int_equal(family_split(&world->ctx, txn, world->org, &change, &seq), OK);
        into = 0;
    } else if (merged_seq != UINT64_MAX && into_seq != UINT64_MAX && roots[into] != merged) {
        const struct family_merge change = {SLICE("anna"), false, id_of(model, txn, merged_seq),
                                            id_of(model, txn, into_seq)};

        assert_int_equal(family_merge(&world->ctx, txn, world->org, &change, &seq), OK);
    }
    assert_int_equal(store_commit(txn), OK);
    if (seq != 0) {
        model->count++;
        assert_int_equal(seq, model->count);
        model->facts[seq] = (struct fact){.merged = merged, .into = into};
    }
}

/* Several ingestions and corrections in one write; after it perhaps a retraction, and a merge or a split. */
static void write_some(struct model *model)
{
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
    if (draw(&model->world, 8) == 0) {
        change_families(model);
    }
    world_forget(&model->world);
}

static void fill(struct model *model)
{
    while (model->count < EVENTS) {
        write_some(model);
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
    assert_int_equal(example.annotator_kind, fact->annotator_kind);
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

/* --- lookups --- */

/* A lookup by family: numbers as in the model, 0: not named. */
struct asked {
    unsigned layout;
    unsigned paper;
    uint64_t now; /* UINT64_MAX: without as_of */
    uint32_t limit;
    uint32_t kinds;
    bool include_superseded;
    bool include_own;
    bool by_document;
};

static bool is_newer(const struct model *model, uint64_t a, uint64_t b)
{
    int64_t a_us = model->facts[a].created_at_us;
    int64_t b_us = model->facts[b].created_at_us;

    return a_us != b_us ? a_us > b_us : a > b;
}

static bool is_retracted(const struct fact *fact, uint64_t now)
{
    return fact->retracted_by != 0 && fact->retracted_by <= now;
}

/* Whether a newer correction of the same line existed then. */
static bool is_superseded(const struct model *model, uint64_t seq, uint64_t now)
{
    const struct fact *fact = &model->facts[seq];

    for (uint64_t i = 1; i <= model->count && i <= now && fact->entity != 0; i++) {
        const struct fact *other = &model->facts[i];

        if (other->corrects && other->entity == fact->entity && !is_retracted(other, now) &&
            is_newer(model, i, seq)) {
            return true;
        }
    }
    return false;
}

/* The family of a document then; 0: none. */
static unsigned family_of_paper(const struct model *model, unsigned paper, uint64_t now,
                                const unsigned *roots)
{
    uint64_t seq = model->papers[paper].seq;

    return paper != 0 && seq != 0 && seq <= now ? roots[family_of(paper)] : 0;
}

/* The family whose examples are served; 0: none. */
static unsigned family_of_lookup(const struct model *model, const struct asked *asked,
                                 const unsigned *roots)
{
    uint64_t first_seq = model->papers[asked->paper].first_seq;
    unsigned shared = 0;
    bool any = false;

    if (asked->paper != 0 && first_seq != 0 && first_seq <= asked->now) {
        return family_of_paper(model, asked->paper, asked->now, roots);
    }
    for (unsigned i = 1; i <= PAPERS; i++) {
        uint64_t seq = model->papers[i].seq;
        unsigned family = family_of_paper(model, i, asked->now, roots);

        if (layout_of(i) != asked->layout || seq == 0 || seq > asked->now) {
            continue;
        }
        if (any && family != shared) {
            return 0;
        }
        shared = family;
        any = true;
    }
    return shared;
}

#define SHOWN_MAX 50

/* The corrections that an example shows, newest first: one, or those of a document. */
struct shown {
    uint64_t seqs[SHOWN_MAX];
    size_t count;
    bool superseded; /* all of them */
    unsigned values
        [SHOWN_MAX]; /* in the output: of each line, the newest; lines in the order of their first corrections */
    size_t value_count;
};

/* What the model finds. */
struct answer {
    struct shown examples[EXAMPLES_LIMIT_MAX];
    uint32_t count;
    bool opened[LAYOUTS + 1]; /* other layouts of the family whose clusters are opened */
    uint32_t opened_count;
    bool incomplete;
};

static void show(const struct model *model, const struct asked *asked, uint64_t seq,
                 struct shown *shown)
{
    bool superseded = is_superseded(model, seq, asked->now);

    if ((asked->kinds >> model->facts[seq].annotator_kind & 1) != 0 &&
        (asked->include_superseded || !superseded)) {
        shown->seqs[shown->count] = seq;
        shown->count++;
        shown->superseded = shown->superseded && superseded;
    }
}

/* Shows all corrections of the document of an example that are of its layout. */
static void show_document(const struct model *model, const struct asked *asked, uint64_t seq,
                          const uint64_t *newest_first, struct shown *shown)
{
    const struct fact *first = &model->facts[seq];
    size_t seen = 0;

    for (uint64_t i = 0; i < model->count && seen < SHOWN_MAX; i++) {
        const struct fact *fact = &model->facts[newest_first[i]];

        if (fact->example && fact->paper == first->paper && fact->layout == first->layout &&
            newest_first[i] <= asked->now && !is_retracted(fact, asked->now)) {
            seen++;
            show(model, asked, newest_first[i], shown);
        }
    }
}

/* Finds the first correction from `from` on, before `to`, of the line of the one at `place`; `to`: there is none. */
static size_t find_line(const struct model *model, const struct shown *shown, size_t place,
                        size_t from, size_t to)
{
    unsigned entity = model->facts[shown->seqs[place]].entity;

    while (from < to && (entity == 0 || model->facts[shown->seqs[from]].entity != entity)) {
        from++;
    }
    return from;
}

/* Lists the lines of the output: each at the place of its oldest correction that is shown, with the value of its newest. */
static void list_values(const struct model *model, struct shown *shown)
{
    for (size_t place = shown->count; place > 0; place--) {
        size_t oldest = place - 1;

        if (find_line(model, shown, oldest, place, shown->count) == shown->count) {
            size_t newest = find_line(model, shown, oldest, 0, oldest);

            shown->values[shown->value_count] = model->facts[shown->seqs[newest]].value;
            shown->value_count++;
        }
    }
}

/* Serves an example unless it is the document's own, shows nothing, or is a copy of one that is served. */
static void serve(const struct model *model, const struct asked *asked, uint64_t seq,
                  const uint64_t *newest_first, struct answer *answer)
{
    const struct fact *fact = &model->facts[seq];
    struct shown *shown = &answer->examples[answer->count];

    *shown = (struct shown){.superseded = true};
    if (fact->paper != 0 && fact->paper == asked->paper && !asked->include_own) {
        return;
    }
    if (asked->by_document) {
        show_document(model, asked, seq, newest_first, shown);
    } else {
        show(model, asked, seq, shown);
    }
    list_values(model, shown);
    for (uint32_t i = 0; i < answer->count; i++) {
        if (answer->examples[i].value_count == shown->value_count &&
            memcmp(answer->examples[i].values, shown->values,
                   shown->value_count * sizeof(shown->values[0])) == 0) {
            return;
        }
    }
    answer->count += shown->count > 0;
}

/* Which rows one step of a lookup looks at. */
enum step {
    OWN_OF_FAMILY,
    OTHERS_OF_FAMILY,
    OWN
};

static void take_step(const struct model *model, const struct asked *asked, enum step step,
                      const uint64_t *newest_first, struct answer *answer)
{
    bool met[PAPERS + 1][LAYOUTS + 1] = {{false}};
    unsigned roots[FAMILIES + 1];
    unsigned family = 0;

    find_roots(model, asked->now, roots);
    family = family_of_lookup(model, asked, roots);
    for (uint64_t i = 0; i < model->count && answer->count < asked->limit; i++) {
        uint64_t seq = newest_first[i];
        const struct fact *fact = &model->facts[seq];

        if (!fact->example || seq > asked->now || is_retracted(fact, asked->now) ||
            ((!asked->by_document || step == OTHERS_OF_FAMILY) &&
             (asked->kinds >> fact->annotator_kind & 1) == 0) ||
            (fact->layout == asked->layout) != (step != OTHERS_OF_FAMILY) ||
            (step != OWN &&
             (family == 0 || family_of_paper(model, fact->paper, asked->now, roots) != family))) {
            continue;
        }
        if (step == OTHERS_OF_FAMILY && !answer->opened[fact->layout]) {
            if (answer->opened_count == asked->limit) {
                answer->incomplete = true;
                return;
            }
            answer->opened[fact->layout] = true;
            answer->opened_count++;
        }
        if (!asked->by_document || (fact->paper != 0 && !met[fact->paper][fact->layout])) {
            met[fact->paper][fact->layout] = true;
            serve(model, asked, seq, newest_first, answer);
        }
    }
}

static struct answer expect_answer(const struct model *model, const struct asked *asked)
{
    struct answer answer = {.count = 0};
    uint64_t newest_first[EVENTS + 16];

    for (uint64_t seq = 1; seq <= model->count; seq++) {
        uint64_t place = seq - 1;

        for (; place > 0 && is_newer(model, seq, newest_first[place - 1]); place--) {
            newest_first[place] = newest_first[place - 1];
        }
        newest_first[place] = seq;
    }
    take_step(model, asked, OWN_OF_FAMILY, newest_first, &answer);
    take_step(model, asked, OTHERS_OF_FAMILY, newest_first, &answer);
    if (answer.count == 0) {
        take_step(model, asked, OWN, newest_first, &answer);
    }
    return answer;
}

/* One example as text: its events, layout, how it matched, and whether it is superseded. */
static void report(struct buffer *buffer, const struct shown *shown, unsigned layout, bool is_other)
{
    for (size_t i = 0; i < shown->count; i++) {
        buffer_printf(buffer, "%s%u", i == 0 ? " " : "+", (unsigned)shown->seqs[i]);
    }
    buffer_printf(buffer, ":%u%s%s", layout, is_other ? "*" : "", shown->superseded ? "!" : "");
}

static uint64_t seq_of(struct model *model, struct store_txn *txn, struct slice id_text)
{
    struct uuid id;
    uint64_t seq = 0;

    assert_true(uuid_parse(id_text, &id));
    assert_int_equal(log_find(txn, model->world.org, id, &seq), OK);
    return seq;
}

static void report_message(struct model *model, struct store_txn *txn, struct slice message,
                           struct buffer *buffer)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;
    struct shown shown = {.count = 0};
    bool is_other = false;
    unsigned layout = 0;
    uint64_t seq = 0;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == EXAMPLE_ID_FIELD) {
            seq = seq_of(model, txn, field.bytes);
        } else if (field.number == EXAMPLE_EVENT_IDS_FIELD) {
            shown.seqs[shown.count] = seq_of(model, txn, field.bytes);
            shown.count++;
        } else if (field.number == EXAMPLE_LAYOUT_FINGERPRINT_FIELD) {
            for (layout = 1; !slice_equal(field.bytes, model->fingerprints[layout]); layout++) {
                assert_true(layout < LAYOUTS);
            }
        } else if (field.number == EXAMPLE_MATCH_LEVEL_FIELD) {
            is_other = field.value == MATCH_LEVEL_FAMILY;
        } else if (field.number == EXAMPLE_SUPERSEDED_FIELD) {
            shown.superseded = field.value != 0;
        }
    }
    if (shown.count == 0) {
        shown.seqs[0] = seq;
        shown.count = 1;
    }
    assert_true(shown.seqs[0] == seq);
    report(buffer, &shown, layout, is_other);
}

/* The examples that a lookup returns, as text. */
static struct slice ask(struct model *model, const struct asked *asked)
{
    struct world *world = &model->world;
    const struct examples_query query = {
        .org = world->org,
        .layout_fingerprint = model->fingerprints[asked->layout],
        .document_id = name_of(world, "document", asked->paper),
        .limit = asked->limit,
        .view = EXAMPLE_VIEW_BOTH,
        .match_mode = MATCH_MODE_FAMILY,
        .grouping = asked->by_document ? EXAMPLE_GROUPING_DOCUMENT : EXAMPLE_GROUPING_EVENT,
        .arena = &world->arena,
        .include_superseded = asked->include_superseded,
        .include_own = asked->include_own,
        .annotator_kinds = asked->kinds,
        .has_as_of = asked->now != UINT64_MAX,
        .as_of_seq = asked->now,
    };
    struct store_txn *txn = world_begin(world, STORE_READ);
    struct wire_reader reader;
    struct wire_field field;
    struct buffer body;
    struct buffer text;
    bool incomplete = false;

    buffer_init(&body, &world->arena, 4096);
    buffer_init(&text, &world->arena, 256);
    assert_int_equal(examples_write(txn, &query, &body), OK);
    for (reader = wire_reader_of(buffer_slice(&body)); wire_next(&reader, &field) == OK;) {
        if (field.number == GET_EXAMPLES_RESPONSE_EXAMPLES_FIELD) {
            report_message(model, txn, field.bytes, &text);
        }
        incomplete = incomplete || field.number == GET_EXAMPLES_RESPONSE_INCOMPLETE_FIELD;
    }
    store_abort(txn);
    buffer_printf(&text, "%s", incomplete ? " incomplete" : "");
    return buffer_slice(&text);
}

/* How often the cases occur that a run must have. */
struct seen {
    unsigned others;
    unsigned mixed;
    unsigned cut;
    unsigned documents; /* examples of several corrections, of other layouts */
};

static void check_lookup(struct model *model, uint64_t now, struct seen *seen)
{
    struct world *world = &model->world;
    const struct asked asked = {
        .layout = 1 + draw(world, LAYOUTS),
        .paper = draw(world, 3) == 0 ? 0 : 1 + draw(world, PAPERS),
        .now = now,
        .limit = 1 + draw(world, draw(world, 2) == 0 ? 3 : EXAMPLES_LIMIT_MAX),
        .kinds = draw(world, 4) == 0 ? (1u << ANNOTATOR_KIND_HUMAN | 1u << ANNOTATOR_KIND_CODE)
                                     : 1u << ANNOTATOR_KIND_HUMAN,
        .include_superseded = draw(world, 3) == 0,
        .include_own = draw(world, 3) == 0,
        .by_document = draw(world, 2) == 0,
    };
    struct answer expected = expect_answer(model, &asked);
    struct slice answered = ask(model, &asked);
    struct buffer text;
    unsigned others = 0;

    buffer_init(&text, &world->arena, 256);
    for (uint32_t i = 0; i < expected.count; i++) {
        const struct shown *shown = &expected.examples[i];
        unsigned layout = model->facts[shown->seqs[0]].layout;

        report(&text, shown, layout, layout != asked.layout);
        others += layout != asked.layout;
        seen->documents += shown->count > 1 && layout != asked.layout;
    }
    buffer_printf(&text, "%s", expected.incomplete ? " incomplete" : "");
    if (!slice_equal(answered, buffer_slice(&text))) {
        print_error("layout %u, document %u, as of %lld\nanswered%.*s\nexpected%.*s\n",
                    asked.layout, asked.paper, (long long)now, (int)answered.size,
                    (const char *)answered.data, (int)text.size, (const char *)text.data);
    }
    assert_true(slice_equal(answered, buffer_slice(&text)));
    seen->others += others > 0;
    seen->mixed += others > 0 && others < expected.count;
    seen->cut += expected.incomplete;
}

/* Goal: a lookup by family returns the examples of the model in its order, with their layouts and marks, now and as of
 * every event, of corrections and of documents. Method: random histories; random lookups after each write, and as of each event of the whole history. */
static void test_lookups_equal_model(void **state)
{
    struct seen seen = {.others = 0};

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct model model;

        model_init(&model, seed);
        while (model.count < EVENTS) {
            write_some(&model);
            check_lookup(&model, UINT64_MAX, &seen);
            world_forget(&model.world);
        }
        for (uint64_t now = 1; now <= model.count; now++) {
            for (unsigned i = 0; i < 3; i++) {
                check_lookup(&model, now, &seen);
            }
            world_forget(&model.world);
        }
        world_deinit(&model.world);
    }
    assert_true(seen.others > SEEDS * 100 && seen.mixed > SEEDS * 50 && seen.cut > SEEDS &&
                seen.documents > SEEDS * 20);
}

int run_family_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookups_equal_model),
        cmocka_unit_test(test_family_rows_equal_model),
        cmocka_unit_test(test_examples_move),
    };

    return cmocka_run_group_tests_name("examples of families", tests, NULL, NULL);
}
