/*
 * families_test.c: documents that join layout families: beside a brute-force model, in one
 * transaction, and at the limit of sketches.
 */
#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/family_assign.h"
#include "server/domain/layouts/family_rows.h"
#include "server/domain/layouts/profiles.h"
#include "tests/unit/layouts/documents_tests.h"
#include "tests/unit/layouts/papers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DOCUMENTS 300
#define LAYOUTS 7

/* Features from `first` on, all words: two such sketches share those in both ranges. */
static struct family_sketch words(uint32_t first, uint32_t count)
{
    struct family_sketch sketch = {.count = count};

    for (uint32_t i = 0; i < count; i++) {
        sketch.features[i] = 8 * (first + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
    return sketch;
}

static uint32_t draw(struct store_fixture *fixture)
{
    uint32_t number = 0;

    random_fill(&fixture->random.random, &number, sizeof(number));
    return number;
}

static uint64_t ingest(struct store_fixture *fixture, unsigned number, unsigned tables,
                       const struct family_sketch *sketch)
{
    char name[32] = {0};
    struct document_measures measures;

    (void)snprintf(name, sizeof(name), "document-%04u", number);
    measures = paper(name);
    measures.table_count = tables;
    measures.sketch = *sketch;
    return paper_ingest(fixture, &measures);
}

/* The family id of a stored document; the empty text if it has none. */
static void family_of(struct store_fixture *fixture, uint64_t seq, char id[37])
{
    Errata__V1__IngestDocumentResponse *answer = paper_answer(fixture, seq);

    (void)snprintf(id, 37, "%s",
                   answer->document->layout_family_id == NULL ? ""
                                                              : answer->document->layout_family_id);
    errata__v1__ingest_document_response__free_unpacked(answer, NULL);
}

/* ---- the model ---- */

struct model_document {
    uint64_t seq;
    uint64_t family; /* the seq of its family's first document; 0: none */
    unsigned tables; /* determines its layout */
    struct family_sketch sketch;
    bool kept; /* its sketch is stored with its sequence number */
    bool first; /* its sketch is stored as the family's first one */
};

struct model {
    struct model_document documents[DOCUMENTS];
    size_t count;
};

static bool same_sketch(const struct family_sketch *a, const struct family_sketch *b)
{
    return a->count == b->count && memcmp(a->features, b->features, 4 * (size_t)a->count) == 0;
}

/* The family of the most similar kept sketch, the newest of equals; 0: none is similar enough. */
static uint64_t model_assign(const struct model *model, const struct family_sketch *sketch)
{
    struct family_similarity best = {.of = 0};
    uint64_t family = 0;

    for (size_t i = 0; i < model->count; i++) {
        const struct model_document *document = &model->documents[i];
        struct family_similarity similarity;

        if (document->kept && family_sketch_is_family(sketch, &document->sketch, &similarity) &&
            family_similarity_order(similarity, best) >= 0) {
            best = similarity;
            family = document->family;
        }
    }
    return family;
}

/* Of the family's other stored sketches, drops the equal one, or the oldest if there are too
 * many. */
static void model_keep(struct model *model, struct model_document *added)
{
    struct model_document *oldest = NULL;
    size_t kept = 0;

    added->kept = true;
    added->first = added->family == added->seq;
    for (size_t i = 0; i < model->count; i++) {
        struct model_document *document = &model->documents[i];

        if (document == added || !document->kept || document->family != added->family) {
            continue;
        }
        if (same_sketch(&document->sketch, &added->sketch)) {
            document->kept = false;
            added->first = document->first;
            return;
        }
        kept++;
        oldest = oldest == NULL && !document->first ? document : oldest;
    }
    if (kept == FAMILY_ROW_SKETCHES_MAX) {
        oldest->kept = false;
    }
}

static void model_add(struct model *model, uint64_t seq, unsigned tables,
                      const struct family_sketch *sketch)
{
    struct model_document *added = &model->documents[model->count];
    uint64_t family = 0;

    if (sketch->count >= FAMILY_SKETCH_FEATURES_MIN) {
        family = model_assign(model, sketch);
        family = family == 0 ? seq : family;
    }
    *added =
        (struct model_document){.seq = seq, .family = family, .tables = tables, .sketch = *sketch};
    model->count++;
    if (family != 0) {
        model_keep(model, added);
    }
}

static void check_sketches(struct store_txn *txn, const struct model *model)
{
    size_t kept = 0;

    for (size_t i = 0; i < model->count; i++) {
        const struct model_document *document = &model->documents[i];
        struct key key = key_family_sketch(paper_org(), document->seq);
        struct family_sketch_record record;
        struct slice value = {NULL, 0};
        enum err err = store_get(txn, TABLE_FAMILY_SKETCH, key_slice(&key), &value);

        assert_int_equal(err, document->kept ? OK : ERR_NOT_FOUND);
        if (document->kept) {
            kept++;
            assert_int_equal(record_decode_family_sketch(value, &record), OK);
            assert_int_equal(record.family_seq, document->family);
        }
    }
    assert_int_equal(store_fixture_count_rows(txn, TABLE_FAMILY_SKETCH, paper_org()), kept);
}

/* Returns the counts of a family by a scan of all documents. */
static void check_family(struct store_txn *txn, const struct model *model, uint64_t family_seq)
{
    struct family_record family;
    uint64_t documents = 0;
    uint64_t layouts = 0;
    size_t sketches = 0;
    bool seen[LAYOUTS] = {false};

    assert_int_equal(family_row_read(txn, paper_org(), family_seq, &family), OK);
    for (size_t i = 0; i < model->count; i++) {
        const struct model_document *document = &model->documents[i];

        if (document->family == family_seq) {
            documents++;
            layouts += !seen[document->tables];
            seen[document->tables] = true;
            sketches += document->kept;
            assert_true(!document->first || !document->kept ||
                        family.sketch_seqs[0] == document->seq);
        }
    }
    assert_int_equal(family.document_count, documents);
    assert_int_equal(family.fingerprint_count, layouts);
    assert_int_equal(family.sketch_count, sketches);
}

/* A profile names a family only if all its documents are in it. */
static void check_profiles(struct store_fixture *fixture, struct store_txn *txn,
                           const struct model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        const struct model_document *document = &model->documents[i];
        struct family_record family = {.document_count = 0};
        struct document_facts facts;
        struct profile profile;
        struct event event;
        uint64_t shared = document->family;

        for (size_t j = 0; j < model->count; j++) {
            if (model->documents[j].tables == document->tables &&
                model->documents[j].family != shared) {
                shared = 0;
            }
        }
        assert_int_equal(log_read(txn, paper_org(), document->seq, &event), OK);
        assert_int_equal(document_facts_read(event.facts, &facts), OK);
        assert_int_equal(profile_find(&fixture->arena, txn, paper_org(),
                                      facts.document.layout_fingerprint, &profile),
                         OK);
        assert_int_equal(profile.view.has_layout_family_id, shared != 0);
        if (shared != 0) {
            assert_int_equal(family_row_read(txn, paper_org(), shared, &family), OK);
            assert_memory_equal(profile.view.layout_family_id.bytes, family.id.bytes, UUID_BYTES);
        }
    }
}

/* Goal: families, their sketches and their counts are those of a model that compares every document
 * with every kept sketch. Method: random sketches that overlap, some repeated, some too small. */
static void test_families_equal_the_model(void **state)
{
    struct store_fixture *fixture = *state;
    struct model *model = arena_calloc(&fixture->arena, 1, sizeof(*model));
    struct store_txn *txn = NULL;

    assert_non_null(model);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        /* Three regions of features; in the first one there are many sketches of one family. */
        uint32_t region = draw(fixture) % 8;
        uint32_t first = (region < 6 ? 0 : region * 1000) + draw(fixture) % 30;
        struct family_sketch sketch = words(first, 20 + draw(fixture) % 20);
        unsigned tables = draw(fixture) % LAYOUTS;

        if (draw(fixture) % 20 == 0) {
            sketch.count = 0;
        }
        model_add(model, ingest(fixture, i, tables, &sketch), tables, &sketch);
    }
    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    check_sketches(txn, model);
    for (size_t i = 0; i < model->count; i++) {
        const struct model_document *document = &model->documents[i];
        struct document_record row;
        char name[32] = {0};

        (void)snprintf(name, sizeof(name), "document-%04u", (unsigned)i);
        assert_int_equal(document_row_read(txn, paper_org(), slice_text(name), &row), OK);
        assert_int_equal(row.family_seq, document->family);
        if (document->family == document->seq) {
            check_family(txn, model, document->family);
        }
    }
    check_profiles(fixture, txn, model);
    store_abort(txn);
}

/* Goal: two documents of a new layout in one batch are of one family. Method: both in one transaction,
 * beside a third of another layout. */
static void test_documents_of_one_batch_share_a_family(void **state)
{
    struct store_fixture *fixture = *state;
    struct family_sketch sketches[] = {words(0, 30), words(500, 30), words(2, 30)};
    const char *names[] = {"a", "b", "c"};
    struct store_txn *txn = store_fixture_begin(fixture);
    uint64_t seqs[3] = {0};
    char ids[3][37];

    for (size_t i = 0; i < 3; i++) {
        struct document_measures measures = paper(names[i]);
        struct document_event *event = NULL;

        measures.sketch = sketches[i];
        assert_int_equal(document_prepare(&fixture->ctx, &measures, SLICE("anna"), &event), OK);
        assert_int_equal(document_store(&fixture->ctx, txn, paper_org(), event, &seqs[i]), OK);
    }
    assert_int_equal(store_commit(txn), OK);
    for (size_t i = 0; i < 3; i++) {
        family_of(fixture, seqs[i], ids[i]);
    }
    assert_int_equal(strlen(ids[0]), 36);
    assert_string_equal(ids[0], ids[2]);
    assert_string_not_equal(ids[0], ids[1]);
}

/* Goal: a document that was stored without a fingerprint gets its family once it has one; one without
 * enough features never does. Method: the same bytes twice, the first time cut; a scan. */
static void test_later_fingerprint_assigns_a_family(void **state)
{
    struct store_fixture *fixture = *state;
    struct document_measures cut = paper("a");
    struct document_measures scan = paper("b");
    char id[37];

    cut.has_table_count = false;
    cut.sketch = words(0, 30);
    family_of(fixture, paper_ingest(fixture, &cut), id);
    assert_string_equal(id, "");
    cut.has_table_count = true;
    family_of(fixture, paper_ingest(fixture, &cut), id);
    assert_int_equal(strlen(id), 36);
    family_of(fixture, paper_ingest(fixture, &scan), id);
    assert_string_equal(id, "");
}

/* Adds sketches of one family until the organisation has `count`, in the order of their keys. */
static void fill_sketches(struct store_fixture *fixture, uint64_t family_seq, uint64_t first_seq,
                          size_t count)
{
    struct store_txn *txn = store_fixture_begin(fixture);
    struct family_sketch sketch = words(900000, FAMILY_SKETCH_FEATURES_MIN);
    uint8_t bytes[FAMILY_SKETCH_BYTES_MAX];
    const struct family_sketch_record record = {
        family_seq, slice_of(bytes, family_sketch_encode(&sketch, bytes))};
    struct slice value = {NULL, 0};

    assert_int_equal(record_encode_family_sketch(&fixture->arena, &record, &value), OK);
    for (size_t i = 0; i < count; i++) {
        struct key key = key_family_sketch(paper_org(), first_seq + i);

        assert_int_equal(store_put(txn, TABLE_FAMILY_SKETCH, key_slice(&key), value), OK);
    }
    assert_int_equal(store_commit(txn), OK);
}

static bool has_sketch(struct store_fixture *fixture, uint64_t seq)
{
    struct key key = key_family_sketch(paper_org(), seq);
    struct slice value = {NULL, 0};
    struct store_txn *txn = NULL;
    enum err err = OK;

    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    err = store_get(txn, TABLE_FAMILY_SKETCH, key_slice(&key), &value);
    store_abort(txn);
    return err == OK;
}

/* Goal: at the limit a new sketch replaces the oldest of the organisation, whose family is then not
 * recognised; a sketch that its family has replaces no sketch of another family. Method: rows up to the
 * limit. */
static void test_new_sketch_replaces_the_oldest_at_the_limit(void **state)
{
    struct store_fixture *fixture = *state;
    struct family_sketch old = words(0, 30);
    struct family_sketch second = words(500, 30);
    struct family_sketch third = words(1000, 30);
    uint64_t first = ingest(fixture, 1, 1, &old);
    uint64_t next = ingest(fixture, 2, 1, &second);
    char before[37];
    char after[37];
    struct store_txn *txn = NULL;

    fill_sketches(fixture, next, 1000000, FAMILY_SKETCHES_MAX - 2);
    (void)ingest(fixture, 3, 1, &old); /* the same sketch: moves to its newest document */
    assert_false(has_sketch(fixture, first));
    assert_true(has_sketch(fixture, next));
    (void)ingest(fixture, 4, 1, &third);
    assert_false(has_sketch(fixture, next));
    assert_int_equal(store_begin(fixture->backend, STORE_READ, &txn), OK);
    assert_int_equal(store_fixture_count_rows(txn, TABLE_FAMILY_SKETCH, paper_org()),
                     FAMILY_SKETCHES_MAX);
    store_abort(txn);
    family_of(fixture, next, before);
    family_of(fixture, ingest(fixture, 5, 1, &second), after);
    assert_string_not_equal(before, after);
}

int run_families_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_families_equal_the_model, store_fixture_set_up,
                                        store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_documents_of_one_batch_share_a_family,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_later_fingerprint_assigns_a_family,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_new_sketch_replaces_the_oldest_at_the_limit,
                                        store_fixture_set_up, store_fixture_tear_down),
    };

    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
