/*
 * family_changes_test.c: merges and splits of layout families beside a brute-force model, between documents
 * that join them.
 */
#include "server/domain/layouts/families.h"
#include "server/domain/layouts/family_change.h"
#include "server/domain/layouts/family_rows.h"
#include "tests/unit/layouts/documents_tests.h"
#include "tests/unit/layouts/papers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define STEPS 400
#define REGIONS 9 /* of features: documents of one are assigned to one family */
#define LAYOUTS 4
#define NONE REGIONS

struct model_document {
    unsigned region;
    unsigned tables; /* its layout */
};

struct model {
    struct model_document documents[STEPS];
    size_t count;
    uint64_t seqs[REGIONS]; /* of the first document; 0: none yet */
    struct uuid ids[REGIONS]; /* of its family */
    unsigned alias_of[REGIONS]; /* NONE: a family of its own */
};

static uint32_t draw(struct store_world *world, uint32_t below)
{
    uint32_t number = 0;

    random_fill(&world->random.random, &number, sizeof(number));
    return number % below;
}

static unsigned family_of(const struct model *model, unsigned region)
{
    return model->alias_of[region] == NONE ? region : model->alias_of[region];
}

static void ingest(struct store_world *world, struct model *model)
{
    struct model_document *added = &model->documents[model->count];
    char name[32] = {0};
    struct document_measures measures;
    struct store_txn *txn = NULL;
    struct event event;
    uint64_t seq = 0;

    *added = (struct model_document){draw(world, REGIONS), draw(world, LAYOUTS)};
    (void)snprintf(name, sizeof(name), "document-%04zu", model->count);
    model->count++;
    measures = paper(name);
    measures.table_count = added->tables;
    measures.sketch.count = 20;
    for (uint32_t i = 0; i < 20; i++) {
        measures.sketch.features[i] =
            8 * (1000 * added->region + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
    seq = paper_ingest(world, &measures);
    if (model->seqs[added->region] == 0) {
        assert_int_equal(store_begin(world->backend, STORE_READ, &txn), OK);
        assert_int_equal(log_read(txn, paper_org(), seq, &event), OK);
        model->seqs[added->region] = seq;
        model->ids[added->region] = event.id;
        store_abort(txn);
    }
}

/* Whether a change of these families is possible: no merge of an alias, nor of a family with itself. */
static bool model_merge(struct model *model, unsigned from, unsigned into)
{
    if (model->alias_of[from] != NONE || family_of(model, into) == from) {
        return false;
    }
    into = family_of(model, into);
    for (unsigned i = 0; i < REGIONS; i++) {
        if (i == from || model->alias_of[i] == from) {
            model->alias_of[i] = into;
        }
    }
    return true;
}

static void merge(struct store_world *world, struct model *model, unsigned from, unsigned into)
{
    const struct family_merge change = {
        .actor_user_id = SLICE("anna"), .from = model->ids[from], .into = model->ids[into]};
    struct store_txn *txn = store_world_begin(world);
    uint64_t seq = 0;
    enum err err = family_merge(&world->ctx, txn, paper_org(), &change, &seq);

    if (model_merge(model, from, into)) {
        assert_int_equal(err, OK);
        assert_int_equal(store_commit(txn), OK);
        return;
    }
    assert_int_equal(err, from == into ? ERR_INVALID : ERR_PRECONDITION);
    store_abort(txn);
    fault_init(&world->fault, &world->arena);
}

static void split(struct store_world *world, struct model *model, unsigned region)
{
    const struct family_split change = {.actor_user_id = SLICE("anna"),
                                        .family = model->ids[region]};
    struct store_txn *txn = store_world_begin(world);
    uint64_t seq = 0;
    enum err err = family_split(&world->ctx, txn, paper_org(), &change, &seq);

    if (model->alias_of[region] != NONE) {
        model->alias_of[region] = NONE;
        assert_int_equal(err, OK);
        assert_int_equal(store_commit(txn), OK);
        return;
    }
    assert_int_equal(err, ERR_PRECONDITION);
    store_abort(txn);
    fault_init(&world->fault, &world->arena);
}

/* Documents and distinct layouts of the family of a region, by looking at all documents. */
static void check_family(struct store_world *world, struct store_txn *txn,
                         const struct model *model, unsigned region)
{
    unsigned expected = family_of(model, region);
    struct layout_family_view view;
    struct family_members members;
    struct family_record family;
    bool seen[LAYOUTS] = {false};
    uint64_t documents = 0;
    uint64_t layouts = 0;
    uint64_t seq = 0;

    for (size_t i = 0; i < model->count; i++) {
        const struct model_document *document = &model->documents[i];

        if (family_of(model, document->region) == expected) {
            documents++;
            layouts += !seen[document->tables];
            seen[document->tables] = true;
        }
    }
    assert_int_equal(family_find(txn, paper_org(), model->ids[region], &seq, &family), OK);
    assert_int_equal(seq, model->seqs[expected]);
    assert_memory_equal(family.id.bytes, model->ids[expected].bytes, UUID_BYTES);
    family_members_of(seq, &family, &members);
    for (unsigned i = 0; i < REGIONS; i++) {
        assert_true(model->seqs[i] == 0 || family_members_have(&members, model->seqs[i]) ==
                                               (family_of(model, i) == expected));
    }
    assert_int_equal(family_view_make(&world->arena, txn, paper_org(), &family, &view), OK);
    assert_int_equal(family_view_add_fingerprints(&world->arena, txn, paper_org(), &members, &view),
                     OK);
    assert_int_equal(view.document_count, documents);
    assert_int_equal(view.fingerprint_count, layouts);
}

/* A layout is of one family if all its documents are. */
static void check_layout(struct store_txn *txn, const struct model *model, size_t number)
{
    const struct model_document *document = &model->documents[number];
    struct family_of_layout of_layout;
    struct key_fingerprint fingerprint;
    struct document_known known;
    char name[32] = {0};
    uint64_t shared = model->seqs[family_of(model, document->region)];

    for (size_t i = 0; i < model->count; i++) {
        if (model->documents[i].tables == document->tables &&
            family_of(model, model->documents[i].region) != family_of(model, document->region)) {
            shared = 0;
        }
    }
    (void)snprintf(name, sizeof(name), "document-%04zu", number);
    assert_int_equal(document_find(txn, paper_org(), slice_text(name), &known), OK);
    assert_memory_equal(known.family_id.bytes, model->ids[family_of(model, document->region)].bytes,
                        UUID_BYTES);
    fingerprint = key_fingerprint_of(known.layout_fingerprint);
    assert_int_equal(family_of_layout_read(txn, paper_org(), &fingerprint, &of_layout), OK);
    assert_int_equal(of_layout.family_seq, shared);
}

/* Goal: after every document, merge and split, all documents, layouts and families are those of a model
 * that looks at all documents; impossible changes are refused. Method: random steps over a few families,
 * which share layouts. */
static void test_model(void **state)
{
    struct store_world *world = *state;
    struct model *model = arena_calloc(&world->arena, 1, sizeof(*model));

    assert_non_null(model);
    for (unsigned i = 0; i < REGIONS; i++) {
        model->alias_of[i] = NONE;
    }
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned first = draw(world, REGIONS);
        unsigned second = draw(world, REGIONS);
        uint32_t kind = draw(world, 4);
        struct store_txn *txn = NULL;

        if (model->count < 5 || model->seqs[first] == 0 || model->seqs[second] == 0 || kind == 0) {
            ingest(world, model);
        } else if (kind == 1) {
            split(world, model, first);
        } else {
            merge(world, model, first, second);
        }
        assert_int_equal(store_begin(world->backend, STORE_READ, &txn), OK);
        for (unsigned i = 0; i < REGIONS; i++) {
            if (model->seqs[i] != 0) {
                check_family(world, txn, model, i);
            }
        }
        check_layout(txn, model, draw(world, (uint32_t)model->count));
        store_abort(txn);
    }
}

int run_family_changes_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_model, store_world_set_up, store_world_tear_down),
    };

    return cmocka_run_group_tests_name("changes of families", tests, NULL, NULL);
}
