/*
 * family_changes_test.c: merges and splits of layout families beside a brute-force model, between documents
 * that join them.
 */
#include "server/domain/events/feedback.h"
#include "server/domain/layouts/families.h"
#include "server/domain/layouts/family_change.h"
#include "server/domain/layouts/family_part.h"
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
#define REGIONS 9 /* number of regions of features: pages of one region have the same sketch */
#define LAYOUTS 4
#define MEMBERS_MAX 60 /* fewer than a family may have */
#define NONE MEMBERS_MAX

struct model_document {
    unsigned region;
    unsigned tables; /* its layout */
    unsigned member; /* the family that it is assigned to, or was moved to */
    uint64_t seq;
};

/* A family, or an alias. */
struct model_member {
    uint64_t seq; /* seq of its event */
    struct uuid id;
    unsigned alias_of; /* NONE: a separate family */
    uint64_t sketches
        [REGIONS]; /* for each sketch the newest document that brought it; 0: there is none */
};

struct model {
    struct model_document documents[STEPS];
    size_t count;
    struct model_member members[MEMBERS_MAX];
    unsigned member_count;
};

static uint32_t draw(struct store_fixture *fixture, uint32_t below)
{
    uint32_t number = 0;

    random_fill(&fixture->random.random, &number, sizeof(number));
    return number % below;
}

static unsigned family_of(const struct model *model, unsigned member)
{
    unsigned alias_of = model->members[member].alias_of;

    return alias_of == NONE ? member : alias_of;
}

static void add_member(struct store_fixture *fixture, struct model *model, uint64_t seq)
{
    struct model_member *added = &model->members[model->member_count++];
    struct store_txn *txn = NULL;
    struct event event;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(log_read(txn, paper_org(), seq, &event), OK);
    *added = (struct model_member){.seq = seq, .id = event.id, .alias_of = NONE};
    store_abort(txn);
}

/* The member with the newest sketch of a region; NONE if there is none. */
static unsigned newest_with(const struct model *model, unsigned region)
{
    unsigned newest = NONE;

    for (unsigned i = 0; i < model->member_count; i++) {
        uint64_t seq = model->members[i].sketches[region];

        if (seq != 0 && (newest == NONE || seq > model->members[newest].sketches[region])) {
            newest = i;
        }
    }
    return newest;
}

static void name_document(size_t number, char name[32])
{
    (void)snprintf(name, 32, "document-%04zu", number);
}

static void ingest(struct store_fixture *fixture, struct model *model)
{
    struct model_document *added = &model->documents[model->count];
    char name[32] = {0};
    struct document_measures measures;

    *added = (struct model_document){draw(fixture, REGIONS), draw(fixture, LAYOUTS), 0, 0};
    name_document(model->count, name);
    model->count++;
    measures = paper(name);
    measures.table_count = added->tables;
    measures.sketch.count = 20;
    for (uint32_t i = 0; i < 20; i++) {
        measures.sketch.features[i] =
            8 * (1000 * added->region + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
    added->member = newest_with(model, added->region);
    added->seq = paper_ingest(fixture, &measures);
    if (added->member == NONE) {
        added->member = model->member_count;
        add_member(fixture, model, added->seq);
    }
    model->members[added->member].sketches[added->region] = added->seq;
}

/* Returns whether a change of these families is possible: no merge of an alias, nor of a family with itself. */
static bool model_merge(struct model *model, unsigned from, unsigned into)
{
    into = family_of(model, into);
    if (model->members[from].alias_of != NONE || into == from) {
        return false;
    }
    for (unsigned i = 0; i < model->member_count; i++) {
        if (i == from || model->members[i].alias_of == from) {
            model->members[i].alias_of = into;
        }
    }
    return true;
}

/* Ends a refused change, and checks that the refusal was expected. */
static void end_refused(struct store_fixture *fixture, struct store_txn *txn, enum err err,
                        enum err expected)
{
    assert_int_equal(err, expected);
    store_abort(txn);
    fault_init(&fixture->fault, &fixture->arena);
}

static void merge(struct store_fixture *fixture, struct model *model, unsigned from, unsigned into)
{
    const struct family_merge change = {.actor_user_id = SLICE("anna"),
                                        .from = model->members[from].id,
                                        .into = model->members[into].id};
    struct store_txn *txn = store_fixture_begin(fixture);
    uint64_t seq = 0;
    enum err err = family_merge(&fixture->ctx, txn, paper_org(), &change, &seq);

    if (model_merge(model, from, into)) {
        assert_int_equal(err, OK);
        assert_int_equal(store_commit(txn), OK);
        return;
    }
    end_refused(fixture, txn, err, from == into ? ERR_INVALID : ERR_PRECONDITION);
}

static void split(struct store_fixture *fixture, struct model *model, unsigned member)
{
    const struct family_split change = {.actor_user_id = SLICE("anna"),
                                        .family = model->members[member].id};
    struct store_txn *txn = store_fixture_begin(fixture);
    uint64_t seq = 0;
    enum err err = family_split(&fixture->ctx, txn, paper_org(), &change, &seq);

    if (model->members[member].alias_of != NONE) {
        model->members[member].alias_of = NONE;
        assert_int_equal(err, OK);
        assert_int_equal(store_commit(txn), OK);
        return;
    }
    end_refused(fixture, txn, err, ERR_PRECONDITION);
}

/* Gives a member without sketches those of its remaining documents. */
static void model_reseed(struct model *model, unsigned member)
{
    struct model_member *lost = &model->members[member];

    for (unsigned i = 0; i < REGIONS; i++) {
        if (lost->sketches[i] != 0) {
            return;
        }
    }
    for (size_t i = 0; i < model->count; i++) {
        const struct model_document *document = &model->documents[i];

        if (document->member == member) {
            lost->sketches[document->region] = document->seq;
        }
    }
}

/* Moves the chosen documents into the newest member. */
static void model_part(struct model *model, const bool *chosen)
{
    unsigned part = model->member_count - 1;

    for (size_t i = 0; i < model->count; i++) {
        struct model_document *document = &model->documents[i];
        uint64_t *sketch = &model->members[document->member].sketches[document->region];

        if (!chosen[i]) {
            continue;
        }
        if (*sketch == document->seq) {
            *sketch = 0;
        }
        document->member = part;
        model->members[part].sketches[document->region] = document->seq;
    }
    for (unsigned i = 0; i < part; i++) {
        model_reseed(model, i);
    }
}

/* Splits about a third of the documents of a family off, sometimes all of them or one of another family. */
static void part(struct store_fixture *fixture, struct model *model, unsigned member)
{
    struct slice ids[STEPS];
    char names[STEPS][32];
    bool chosen[STEPS] = {false};
    struct family_split change = {SLICE("anna"), false, model->members[member].id, ids, 0};
    struct store_txn *txn = NULL;
    uint32_t among = 1 + draw(fixture, 4);
    size_t total = 0;
    uint64_t seq = 0;
    bool strange = false;
    enum err err = OK;

    for (size_t i = 0; i < model->count; i++) {
        bool is_of = family_of(model, model->documents[i].member) == family_of(model, member);

        total += is_of;
        chosen[i] = draw(fixture, is_of ? among : 500) == 0;
        strange = strange || (chosen[i] && !is_of);
        name_document(i, names[change.document_count]);
        ids[change.document_count] = slice_text(names[change.document_count]);
        change.document_count += chosen[i];
    }
    if (change.document_count == 0 || model->member_count == MEMBERS_MAX) {
        return;
    }
    txn = store_fixture_begin(fixture);
    err = family_split(&fixture->ctx, txn, paper_org(), &change, &seq);
    if (strange || change.document_count == total) {
        end_refused(fixture, txn, err, ERR_PRECONDITION);
        return;
    }
    assert_int_equal(err, OK);
    assert_int_equal(store_commit(txn), OK);
    add_member(fixture, model, seq);
    model_part(model, chosen);
}

static void check_sketches(struct store_txn *txn, const struct model_member *member)
{
    struct family_record family;
    size_t expected = 0;

    for (unsigned i = 0; i < REGIONS; i++) {
        expected += member->sketches[i] != 0;
    }
    assert_int_equal(family_row_read(txn, paper_org(), member->seq, &family), OK);
    assert_int_equal(family.sketch_count, expected);
}

/* Counts the documents and distinct layouts of a family by a scan of all documents. */
static void count_documents(const struct model *model, unsigned family, uint64_t *ret_documents,
                            uint64_t *ret_layouts)
{
    bool seen[LAYOUTS] = {false};

    *ret_documents = 0;
    *ret_layouts = 0;
    for (size_t i = 0; i < model->count; i++) {
        const struct model_document *document = &model->documents[i];

        if (family_of(model, document->member) == family) {
            *ret_documents += 1;
            *ret_layouts += !seen[document->tables];
            seen[document->tables] = true;
        }
    }
}

/* Compares the family of a member with the model. */
static void check_family(struct store_fixture *fixture, struct store_txn *txn,
                         const struct model *model, unsigned member)
{
    unsigned expected = family_of(model, member);
    struct layout_family_view view;
    struct family_members members;
    struct family_record family;
    uint64_t documents = 0;
    uint64_t layouts = 0;
    uint64_t seq = 0;

    count_documents(model, expected, &documents, &layouts);
    assert_int_equal(family_find(txn, paper_org(), model->members[member].id, &seq, &family), OK);
    assert_int_equal(seq, model->members[expected].seq);
    assert_memory_equal(family.id.bytes, model->members[expected].id.bytes, UUID_BYTES);
    family_members_of(seq, &family, &members);
    for (unsigned i = 0; i < model->member_count; i++) {
        assert_int_equal(family_members_have(&members, model->members[i].seq),
                         family_of(model, i) == expected);
    }
    assert_int_equal(family_view_make(&fixture->arena, txn, paper_org(), &family, &view), OK);
    assert_int_equal(
        family_view_add_fingerprints(&fixture->arena, txn, paper_org(), &members, &view), OK);
    assert_int_equal(view.document_count, documents);
    assert_int_equal(view.fingerprint_count, layouts);
    check_sketches(txn, &model->members[member]);
}

/* Compares a document with the model, and its layout: it is of one family if all its documents are. */
static void check_layout(struct store_txn *txn, const struct model *model, size_t number)
{
    const struct model_document *document = &model->documents[number];
    unsigned family = family_of(model, document->member);
    struct family_of_layout of_layout;
    struct key_fingerprint fingerprint;
    struct document_known known;
    char name[32] = {0};
    uint64_t shared = model->members[family].seq;

    for (size_t i = 0; i < model->count; i++) {
        if (model->documents[i].tables == document->tables &&
            family_of(model, model->documents[i].member) != family) {
            shared = 0;
        }
    }
    name_document(number, name);
    assert_int_equal(document_find(txn, paper_org(), slice_text(name), &known), OK);
    assert_memory_equal(known.family_id.bytes, model->members[family].id.bytes, UUID_BYTES);
    fingerprint = key_fingerprint_of(known.layout_fingerprint);
    assert_int_equal(family_of_layout_read(txn, paper_org(), &fingerprint, &of_layout), OK);
    assert_int_equal(of_layout.family_seq, shared);
}

static void change(struct store_fixture *fixture, struct model *model)
{
    uint32_t kind = model->count < 5 ? 0 : draw(fixture, 5);
    unsigned first = kind == 0 ? 0 : draw(fixture, model->member_count);

    switch (kind) {
    case 1:
        split(fixture, model, first);
        break;
    case 2:
        part(fixture, model, first);
        break;
    case 3:
        merge(fixture, model, first, draw(fixture, model->member_count));
        break;
    default:
        ingest(fixture, model);
        break;
    }
}

/* Goal: after every document, merge and split, all documents, layouts and families are those of a model
 * that examines all documents; impossible changes are refused. Method: random steps over a few families,
 * which share layouts. */
static void test_merges_and_splits_equal_the_model(void **state)
{
    struct store_fixture *fixture = *state;
    struct model *model = arena_calloc(&fixture->arena, 1, sizeof(*model));

    assert_non_null(model);
    for (unsigned step = 0; step < STEPS; step++) {
        struct store_txn *txn = NULL;

        change(fixture, model);
        assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
        for (unsigned i = 0; i < model->member_count; i++) {
            check_family(fixture, txn, model, i);
        }
        check_layout(txn, model, draw(fixture, (uint32_t)model->count));
        store_abort(txn);
    }
}

/* Tries to split a document off; the write is undone. */
static enum err try_part(struct store_fixture *fixture, struct uuid family, const char *document_id)
{
    const struct slice id = slice_text(document_id);
    const struct family_split change = {SLICE("anna"), false, family, &id, 1};
    struct store_txn *txn = store_fixture_begin(fixture);
    uint64_t seq = 0;
    enum err err = family_split(&fixture->ctx, txn, paper_org(), &change, &seq);

    store_abort(txn);
    fault_init(&fixture->fault, &fixture->arena);
    return err;
}

/* Adds the rows of events `first` to `last` that name the first document. */
static void add_events(struct store_fixture *fixture, uint64_t first, uint64_t last)
{
    struct store_txn *txn = store_fixture_begin(fixture);

    for (uint64_t seq = first; seq <= last; seq++) {
        struct key key =
            key_feedback_subject(paper_org(), SUBJECT_DOCUMENT, SLICE("document-0000"), 1, seq);

        assert_int_equal(store_put(txn, TABLE_FEEDBACK_SUBJECT, key_slice(&key), slice_of(NULL, 0)),
                         OK);
    }
    assert_int_equal(store_commit(txn), OK);
}

/* Goal: a split is refused if its documents have more feedback events than one write may read. Method: rows of as many
 * events as are allowed, then of one more. */
static void test_split_of_too_many_events_is_refused(void **state)
{
    struct store_fixture *fixture = *state;
    struct model *model = arena_calloc(&fixture->arena, 1, sizeof(*model));
    struct uuid family;

    assert_non_null(model);
    while (model->count < 40) {
        ingest(fixture, model);
    }
    family = model->members[model->documents[0].member].id;
    add_events(fixture, 1001, 1000 + FAMILY_PART_EVENTS_MAX);
    assert_int_equal(try_part(fixture, family, "document-0000"), OK);
    add_events(fixture, 1000, 1000);
    assert_int_equal(try_part(fixture, family, "document-0000"), ERR_PRECONDITION);
}

int run_family_changes_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_merges_and_splits_equal_the_model,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_split_of_too_many_events_is_refused,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("changes of families", tests, NULL, NULL);
}
