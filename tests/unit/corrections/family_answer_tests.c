/*
 * family_answer_tests.c: lookups of examples by layout family, of single corrections and of documents, against a model.
 * Seeds are fixed.
 */
#include "server/domain/corrections/examples.h"
#include "store/base/wire.h"
#include "tests/unit/corrections/family_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SEEDS 6

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

static bool is_newer(const struct family_model *model, uint64_t a, uint64_t b)
{
    int64_t a_us = model->facts[a].created_at_us;
    int64_t b_us = model->facts[b].created_at_us;

    return a_us != b_us ? a_us > b_us : a > b;
}

static bool is_retracted(const struct family_fact *fact, uint64_t now)
{
    return fact->retracted_by != 0 && fact->retracted_by <= now;
}

/* Returns whether a newer correction of the same line existed then. */
static bool is_superseded(const struct family_model *model, uint64_t seq, uint64_t now)
{
    const struct family_fact *fact = &model->facts[seq];

    for (uint64_t i = 1; i <= model->count && i <= now && fact->entity != 0; i++) {
        const struct family_fact *other = &model->facts[i];

        if (other->corrects && other->entity == fact->entity && !is_retracted(other, now) &&
            is_newer(model, i, seq)) {
            return true;
        }
    }
    return false;
}

/* The family of a document then; 0: none. */
static unsigned family_of_paper(const struct family_model *model, unsigned paper, uint64_t now,
                                const unsigned *roots)
{
    return roots[family_model_member_of(model, paper, now)];
}

/* The family whose examples are served; 0: none. */
static unsigned family_of_lookup(const struct family_model *model, const struct asked *asked,
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

        if (family_model_layout_of(i) != asked->layout || seq == 0 || seq > asked->now) {
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

/* Result of the model. */
struct answer {
    struct shown examples[EXAMPLES_LIMIT_MAX];
    uint32_t count;
    bool opened[LAYOUTS + 1]; /* other layouts of the family whose clusters are opened */
    uint32_t opened_count;
    bool incomplete;
};

static void show(const struct family_model *model, const struct asked *asked, uint64_t seq,
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
static void show_document(const struct family_model *model, const struct asked *asked, uint64_t seq,
                          const uint64_t *newest_first, struct shown *shown)
{
    const struct family_fact *first = &model->facts[seq];
    size_t seen = 0;

    for (uint64_t i = 0; i < model->count && seen < SHOWN_MAX; i++) {
        const struct family_fact *fact = &model->facts[newest_first[i]];

        if (fact->example && fact->paper == first->paper && fact->layout == first->layout &&
            newest_first[i] <= asked->now && !is_retracted(fact, asked->now)) {
            seen++;
            show(model, asked, newest_first[i], shown);
        }
    }
}

/* Finds the first correction from `from` on, before `to`, of the line of the one at `place`; `to`: there is none. */
static size_t find_line(const struct family_model *model, const struct shown *shown, size_t place,
                        size_t from, size_t to)
{
    unsigned entity = model->facts[shown->seqs[place]].entity;

    while (from < to && (entity == 0 || model->facts[shown->seqs[from]].entity != entity)) {
        from++;
    }
    return from;
}

/* Lists the lines of the output: each at the place of its oldest correction that is shown, with the value of its
 * newest. */
static void list_values(const struct family_model *model, struct shown *shown)
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
static void serve(const struct family_model *model, const struct asked *asked, uint64_t seq,
                  const uint64_t *newest_first, struct answer *answer)
{
    const struct family_fact *fact = &model->facts[seq];
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

/* The rows that one step of a lookup examines. */
enum step {
    OWN_OF_FAMILY,
    OTHERS_OF_FAMILY,
    OWN
};

static void take_step(const struct family_model *model, const struct asked *asked, enum step step,
                      const uint64_t *newest_first, struct answer *answer)
{
    bool met[PAPERS + 1][LAYOUTS + 1] = {{false}};
    unsigned roots[MEMBERS + 1];
    unsigned family = 0;

    family_model_find_roots(model, asked->now, roots);
    family = family_of_lookup(model, asked, roots);
    for (uint64_t i = 0; i < model->count && answer->count < asked->limit; i++) {
        uint64_t seq = newest_first[i];
        const struct family_fact *fact = &model->facts[seq];

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

static struct answer expect_answer(const struct family_model *model, const struct asked *asked)
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

static uint64_t seq_of(struct family_model *model, struct store_txn *txn, struct slice id_text)
{
    struct uuid id;
    uint64_t seq = 0;

    assert_true(uuid_parse(id_text, &id));
    assert_int_equal(log_find(txn, model->fixture.org, id, &seq), OK);
    return seq;
}

static void report_message(struct family_model *model, struct store_txn *txn, struct slice message,
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
static struct slice ask(struct family_model *model, const struct asked *asked)
{
    struct fixture *fixture = &model->fixture;
    const struct examples_query query = {
        .org = fixture->org,
        .layout_fingerprint = model->fingerprints[asked->layout],
        .document_id = family_model_name_of(fixture, "document", asked->paper),
        .limit = asked->limit,
        .view = EXAMPLE_VIEW_BOTH,
        .match_mode = MATCH_MODE_FAMILY,
        .grouping = asked->by_document ? EXAMPLE_GROUPING_DOCUMENT : EXAMPLE_GROUPING_EVENT,
        .arena = &fixture->arena,
        .include_superseded = asked->include_superseded,
        .include_own = asked->include_own,
        .annotator_kinds = asked->kinds,
        .has_as_of = asked->now != UINT64_MAX,
        .as_of_seq = asked->now,
    };
    struct store_txn *txn = fixture_begin(fixture, STORE_READ);
    struct wire_reader reader;
    struct wire_field field;
    struct buffer body;
    struct buffer text;
    bool incomplete = false;

    buffer_init(&body, &fixture->arena, 4096);
    buffer_init(&text, &fixture->arena, 256);
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

/* Counts of the cases that each run must contain. */
struct seen {
    unsigned others;
    unsigned mixed;
    unsigned cut;
    unsigned documents; /* examples of several corrections, of other layouts */
};

static void check_lookup(struct family_model *model, uint64_t now, struct seen *seen)
{
    struct fixture *fixture = &model->fixture;
    const struct asked asked = {
        .layout = 1 + family_model_draw(fixture, LAYOUTS),
        .paper = family_model_draw(fixture, 3) == 0 ? 0 : 1 + family_model_draw(fixture, PAPERS),
        .now = now,
        .limit = 1 + family_model_draw(fixture,
                                       family_model_draw(fixture, 2) == 0 ? 3 : EXAMPLES_LIMIT_MAX),
        .kinds = family_model_draw(fixture, 4) == 0
                     ? (1u << ANNOTATOR_KIND_HUMAN | 1u << ANNOTATOR_KIND_CODE)
                     : 1u << ANNOTATOR_KIND_HUMAN,
        .include_superseded = family_model_draw(fixture, 3) == 0,
        .include_own = family_model_draw(fixture, 3) == 0,
        .by_document = family_model_draw(fixture, 2) == 0,
    };
    struct answer expected = expect_answer(model, &asked);
    struct slice answered = ask(model, &asked);
    struct buffer text;
    unsigned others = 0;

    buffer_init(&text, &fixture->arena, 256);
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

/* Goal: a lookup by family returns the examples of the model in its order, with their layouts and marks, now and
 * as of every event, of corrections and of documents. Method: random histories; random lookups after each write,
 * and as of each event of the whole history. */
static void test_lookups_equal_model(void **state)
{
    struct seen seen = {.others = 0};

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct family_model model;

        family_model_init(&model, seed);
        while (model.count < EVENTS) {
            family_model_write_some(&model);
            check_lookup(&model, UINT64_MAX, &seen);
            fixture_forget(&model.fixture);
        }
        for (uint64_t now = 1; now <= model.count; now++) {
            for (unsigned i = 0; i < 3; i++) {
                check_lookup(&model, now, &seen);
            }
            fixture_forget(&model.fixture);
        }
        fixture_deinit(&model.fixture);
    }
    assert_true(seen.others > SEEDS * 100 && seen.mixed > SEEDS * 50 && seen.cut > SEEDS &&
                seen.documents > SEEDS * 20);
}

int run_family_answer_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookups_equal_model),
    };

    return cmocka_run_group_tests_name("lookups by family", tests, NULL, NULL);
}
