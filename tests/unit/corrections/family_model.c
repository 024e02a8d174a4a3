/*
 * family_model.c: see family_model.h.
 */
#include "tests/unit/corrections/family_model.h"

#include "server/domain/fingerprint/fingerprint.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/family_change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

unsigned family_model_draw(struct fixture *fixture, unsigned below)
{
    uint32_t value = 0;

    random_fill(&fixture->random.random, &value, sizeof(value));
    return value % below;
}

/* Sketches and layouts overlap: layout 1 has documents with one sketch, the others have several. */
unsigned family_model_layout_of(unsigned paper)
{
    return 1 + paper / FAMILIES % PAPER_LAYOUTS;
}

/* The sketch of a document; 0: none. */
static unsigned sketch_of(unsigned paper)
{
    return family_model_layout_of(paper) == 1 ? 1 : paper % (FAMILIES + 1);
}

struct slice family_model_name_of(struct fixture *fixture, const char *kind, unsigned number)
{
    return number == 0 ? slice_of(NULL, 0) : arena_printf(&fixture->arena, "%s-%u", kind, number);
}

static struct document_measures measures_of(struct fixture *fixture, unsigned paper, bool cut)
{
    static const struct document_page page = {595.28, 841.89};
    struct slice name = family_model_name_of(fixture, "document", paper);
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
        .table_count = family_model_layout_of(paper),
        .fp_version = SLICE("1/22.12.0"),
    };

    if (sketch_of(paper) != 0 && !cut) {
        measures.sketch.count = SKETCH_FEATURES;
    }
    for (uint32_t i = 0; i < measures.sketch.count; i++) {
        measures.sketch.features[i] =
            8 * (1000 * sketch_of(paper) + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
    return measures;
}

void family_model_init(struct family_model *model, uint64_t seed)
{
    memset(model, 0, sizeof(*model));
    fixture_init(&model->fixture, seed);
    for (unsigned paper = 1; paper <= PAPERS; paper++) {
        struct document_measures measures = measures_of(&model->fixture, paper, false);
        unsigned layout = family_model_layout_of(paper);
        struct layout_fingerprint found;

        assert_int_equal(fingerprint_of_measures(&model->fixture.arena, &measures, &found), OK);
        memcpy(model->texts[layout], found.text, sizeof(found.text));
        model->fingerprints[layout] = slice_of(model->texts[layout], sizeof(found.text));
    }
    model->fingerprints[LAYOUTS] = SLICE("a layout without documents");
}

unsigned family_model_member_of(const struct family_model *model, unsigned paper, uint64_t now)
{
    const struct family_paper *of = &model->papers[paper];
    unsigned member = 0;

    for (size_t i = 0; i < of->member_count && of->member_seqs[i] <= now; i++) {
        member = of->members[i];
    }
    return member;
}

/* Adds a measured document to the family with the newest equal sketch. */
static void join(struct family_model *model, unsigned number)
{
    struct family_paper *paper = &model->papers[number];
    unsigned sketch = sketch_of(number);
    unsigned member = sketch;

    for (unsigned i = 1; i <= MEMBERS; i++) {
        if (model->sketches[i][sketch] > model->sketches[member][sketch]) {
            member = i;
        }
    }
    paper->members[0] = member;
    paper->member_seqs[0] = paper->seq;
    paper->member_count = 1;
    model->sketches[member][sketch] = paper->seq;
}

/* Ingests a paper, whole or with its rulings cut short; a repeated one changes nothing. */
static void ingest(struct family_model *model, struct store_txn *txn)
{
    struct fixture *fixture = &model->fixture;
    unsigned number = 1 + family_model_draw(fixture, PAPERS - 2);
    struct family_paper *paper = &model->papers[number];
    bool cut = family_model_draw(fixture, 3) == 0;
    struct document_measures measures = measures_of(fixture, number, cut);
    struct document_event *event = NULL;
    uint64_t seq = 0;

    assert_int_equal(document_prepare(&fixture->ctx, &measures, SLICE("anna"), &event), OK);
    assert_int_equal(document_store(&fixture->ctx, txn, fixture->org, event, &seq), OK);
    if (paper->first_seq == 0 || (paper->seq == 0 && !cut)) {
        model->count++;
        assert_int_equal(seq, model->count);
        paper->first_seq = paper->first_seq == 0 ? seq : paper->first_seq;
        paper->seq = cut ? 0 : seq;
        if (!cut && sketch_of(number) != 0) {
            join(model, number);
        }
    }
}

/* Planned event and the request of its caller. */
static struct family_fact draw_fact(struct family_model *model, struct capture_input *ret_input)
{
    struct fixture *fixture = &model->fixture;
    unsigned layout =
        family_model_draw(fixture, 3) == 0 ? 1 + family_model_draw(fixture, LAYOUTS) : 0;
    bool empty = family_model_draw(fixture, 6) == 0;
    struct family_fact fact = {
        .created_at_us = fixture->clock.wall_us - (int64_t)family_model_draw(fixture, 20) * STEP_US,
        .paper = family_model_draw(fixture, 6) == 0 ? 0 : 1 + family_model_draw(fixture, PAPERS),
        .layout = layout,
        .entity = family_model_draw(fixture, 2) == 0 ? 0 : 1 + family_model_draw(fixture, ENTITIES),
        .value = 1 + family_model_draw(fixture, 20),
        .corrects = true, /* an empty output removes the field */
        .annotator_kind =
            family_model_draw(fixture, 5) == 0 ? ANNOTATOR_KIND_CODE : ANNOTATOR_KIND_HUMAN,
    };
    const struct family_paper *paper = &model->papers[fact.paper];

    *ret_input = (struct capture_input){
        .event_type = FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
        .document_id = family_model_name_of(fixture, "document", fact.paper),
        .layout_fingerprint = model->fingerprints[layout],
        .entity_type = fact.entity != 0 ? SLICE("line") : slice_of(NULL, 0),
        .entity_id = family_model_name_of(fixture, "line", fact.entity),
        .annotator_kind = fact.annotator_kind,
        .time = {true, fact.created_at_us},
        .actor_user_id = SLICE("anna"),
        .before_json = SLICE("{\"qty\":0}"),
        .after_json =
            empty ? SLICE("{}") : arena_printf(&fixture->arena, "{\"qty\":%u}", fact.value),
        .meta_json = SLICE("{\"input_snippet\":\"Pos 1\"}"),
    };
    if (layout == 0 && fact.paper != 0 && paper->seq != 0) {
        fact.layout = family_model_layout_of(fact.paper);
    }
    fact.example = !empty && fact.layout != 0;
    return fact;
}

static void capture(struct family_model *model, struct store_txn *txn)
{
    const struct event_caller caller = fixture_admin();
    struct fixture *fixture = &model->fixture;
    struct capture_event events[3];
    size_t count = 1 + family_model_draw(fixture, 3);
    uint64_t seq = 0;

    for (size_t i = 0; i < count; i++) {
        struct capture_input input;

        model->facts[model->count + 1 + i] = draw_fact(model, &input);
        assert_int_equal(
            capture_prepare(&fixture->ctx, &caller, &input, SLICE("event"), &events[i]), OK);
    }
    assert_int_equal(capture_store(&fixture->ctx, txn, fixture->org, events, count, &seq), OK);
    assert_int_equal(seq, model->count + 1);
    model->count += count;
}

/* Retracts a random example, whose row stays in its family and names the retraction. */
static void retract(struct family_model *model)
{
    uint64_t seq = 1 + family_model_draw(&model->fixture, (unsigned)model->count);

    if (!model->facts[seq].example || model->facts[seq].retracted_by != 0) {
        return;
    }
    model->count++;
    model->facts[seq].retracted_by = model->count;
    model->facts[model->count] = (struct family_fact){.example = false};
    assert_int_equal(fixture_retract(&model->fixture, seq), model->count);
}

/* The seq of the event that made a family; UINT64_MAX: it does not exist yet. */
uint64_t family_model_seq_of_family(const struct family_model *model, unsigned family)
{
    uint64_t first = UINT64_MAX;

    if (family > FAMILIES) {
        return family - FAMILIES <= model->part_count ? model->part_seqs[family - FAMILIES - 1]
                                                      : UINT64_MAX;
    }
    for (unsigned i = 1; i <= PAPERS; i++) {
        if (sketch_of(i) == family && model->papers[i].seq != 0 && model->papers[i].seq < first) {
            first = model->papers[i].seq;
        }
    }
    return first;
}

/* Finds the families as they were after the event `now`: `ret_root[f]` is the one that f is merged into, or f. */
void family_model_find_roots(const struct family_model *model, uint64_t now,
                             unsigned ret_root[MEMBERS + 1])
{
    for (unsigned i = 0; i <= MEMBERS; i++) {
        ret_root[i] = i;
    }
    for (uint64_t seq = 1; seq <= model->count && seq <= now; seq++) {
        const struct family_fact *fact = &model->facts[seq];
        unsigned into = ret_root[fact->into];

        if (fact->merged == 0) {
            continue;
        }
        for (unsigned i = 1; i <= MEMBERS && fact->into != 0; i++) {
            ret_root[i] = ret_root[i] == fact->merged ? into : ret_root[i];
        }
        ret_root[fact->merged] = fact->into != 0 ? into : fact->merged;
    }
}

static struct uuid id_of(struct family_model *model, struct store_txn *txn, uint64_t seq)
{
    struct event event;

    assert_int_equal(log_read(txn, model->fixture.org, seq, &event), OK);
    return event.id;
}

/* Merges a family into another, or splits it off if it is merged. */
static void change_families(struct family_model *model)
{
    struct store_txn *txn = fixture_begin(&model->fixture, STORE_WRITE);
    struct fixture *fixture = &model->fixture;
    unsigned merged = 1 + family_model_draw(fixture, MEMBERS);
    unsigned into = 1 + family_model_draw(fixture, MEMBERS);
    uint64_t merged_seq = family_model_seq_of_family(model, merged);
    uint64_t into_seq = family_model_seq_of_family(model, into);
    unsigned roots[MEMBERS + 1];
    uint64_t seq = 0;

    family_model_find_roots(model, UINT64_MAX, roots);
    log_begin_write(txn, NULL);
    if (merged_seq != UINT64_MAX && roots[merged] != merged) {
        const struct family_split change = {.actor_user_id = SLICE("anna"),
                                            .family = id_of(model, txn, merged_seq)};

        assert_int_equal(family_split(&fixture->ctx, txn, fixture->org, &change, &seq), OK);
        into = 0;
    } else if (merged_seq != UINT64_MAX && into_seq != UINT64_MAX && roots[into] != merged) {
        const struct family_merge change = {SLICE("anna"), false, id_of(model, txn, merged_seq),
                                            id_of(model, txn, into_seq)};

        assert_int_equal(family_merge(&fixture->ctx, txn, fixture->org, &change, &seq), OK);
    }
    assert_int_equal(store_commit(txn), OK);
    if (seq != 0) {
        model->count++;
        assert_int_equal(seq, model->count);
        model->facts[seq] = (struct family_fact){.merged = merged, .into = into};
    }
}

/* Gives a member without sketches those of its documents. */
static void reseed(struct family_model *model, unsigned member)
{
    for (unsigned i = 1; i <= FAMILIES; i++) {
        if (model->sketches[member][i] != 0) {
            return;
        }
    }
    for (unsigned i = 1; i <= PAPERS; i++) {
        uint64_t *newest = &model->sketches[member][sketch_of(i)];

        if (family_model_member_of(model, i, UINT64_MAX) == member &&
            model->papers[i].seq > *newest) {
            *newest = model->papers[i].seq;
        }
    }
}

/* Moves the chosen documents into the family that the last event made. */
static void move(struct family_model *model, const bool *chosen)
{
    unsigned part = FAMILIES + model->part_count;

    for (unsigned i = 1; i <= PAPERS; i++) {
        struct family_paper *paper = &model->papers[i];
        unsigned sketch = sketch_of(i);
        unsigned member = family_model_member_of(model, i, UINT64_MAX);

        if (!chosen[i]) {
            continue;
        }
        if (model->sketches[member][sketch] == paper->seq) {
            model->sketches[member][sketch] = 0;
        }
        if (model->sketches[part][sketch] < paper->seq) {
            model->sketches[part][sketch] = paper->seq;
        }
        paper->members[paper->member_count] = part;
        paper->member_seqs[paper->member_count] = model->count;
        paper->member_count++;
    }
    for (unsigned i = 1; i < part; i++) {
        reseed(model, i);
    }
}

/* Chooses some documents of the family of a random one; false if that has none, or all or none were chosen. */
static bool choose(struct family_model *model, bool *chosen, unsigned *ret_root)
{
    unsigned roots[MEMBERS + 1];
    unsigned among = 1 + family_model_draw(&model->fixture, 4);
    size_t count = 0;
    size_t total = 0;

    family_model_find_roots(model, UINT64_MAX, roots);
    *ret_root = roots[family_model_member_of(model, 1 + family_model_draw(&model->fixture, PAPERS),
                                             UINT64_MAX)];
    for (unsigned i = 1; i <= PAPERS; i++) {
        bool is_of = roots[family_model_member_of(model, i, UINT64_MAX)] == *ret_root;

        chosen[i] = is_of && family_model_draw(&model->fixture, among) == 0;
        total += is_of;
        count += chosen[i];
    }
    return *ret_root != 0 && count > 0 && count < total;
}

/* Moves some documents of a family into a new one. */
static void part(struct family_model *model)
{
    struct fixture *fixture = &model->fixture;
    struct slice ids[PAPERS];
    struct family_split change = {.actor_user_id = SLICE("anna"), .document_ids = ids};
    struct store_txn *txn = NULL;
    bool chosen[PAPERS + 1] = {false};
    unsigned root = 0;
    uint64_t seq = 0;

    if (model->part_count == PARTS || !choose(model, chosen, &root)) {
        return;
    }
    for (unsigned i = 1; i <= PAPERS; i++) {
        if (chosen[i]) {
            ids[change.document_count] = family_model_name_of(fixture, "document", i);
            change.document_count++;
        }
    }
    txn = fixture_begin(fixture, STORE_WRITE);
    change.family = id_of(model, txn, family_model_seq_of_family(model, root));
    log_begin_write(txn, NULL);
    assert_int_equal(family_split(&fixture->ctx, txn, fixture->org, &change, &seq), OK);
    assert_int_equal(store_commit(txn), OK);
    model->count++;
    assert_int_equal(seq, model->count);
    model->facts[seq] = (struct family_fact){.example = false};
    model->part_seqs[model->part_count] = seq;
    model->part_count++;
    move(model, chosen);
}

/* Several ingestions and corrections in one write; after it perhaps a retraction, and a merge or a split. */
void family_model_write_some(struct family_model *model)
{
    struct store_txn *txn = fixture_begin(&model->fixture, STORE_WRITE);
    unsigned steps = 1 + family_model_draw(&model->fixture, 4);

    clock_manual_advance(&model->fixture.clock, STEP_US);
    for (unsigned i = 0; i < steps && model->count < EVENTS; i++) {
        log_begin_write(txn, NULL);
        if (family_model_draw(&model->fixture, 4) == 0) {
            ingest(model, txn);
        } else {
            capture(model, txn);
        }
    }
    assert_int_equal(store_commit(txn), OK);
    if (family_model_draw(&model->fixture, 4) == 0) {
        retract(model);
    }
    if (family_model_draw(&model->fixture, 8) == 0) {
        change_families(model);
    }
    if (family_model_draw(&model->fixture, 12) == 0) {
        part(model);
    }
    fixture_forget(&model->fixture);
}

void family_model_fill(struct family_model *model)
{
    while (model->count < EVENTS) {
        family_model_write_some(model);
    }
}
