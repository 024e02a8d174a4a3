/*
 * resolve_tests.c: the texts of placeholders: their signals, limits and cuts, redaction, and the example item now and
 * after earlier events.
 */
#include "server/domain/reviews/fragments.h"
#include "server/domain/reviews/items.h"
#include "server/domain/reviews/redaction.h"
#include "server/domain/reviews/resolve.h"
#include "server/domain/settings/redacted_members.h"
#include "store/base/json.h"
#include "store/base/text.h"
#include "tests/unit/reviews/groups.h"
#include "tests/unit/reviews/review_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define STEPS 250
#define LONG_BYTES 3000

static bool is_never_cancelled(const void *user)
{
    (void)user;
    return false;
}

static size_t characters_of(struct slice text)
{
    size_t count = 0;

    for (size_t at = 0; at < text.size; count++) {
        (void)text_next(text, &at);
    }
    return count;
}

static bool has(struct slice text, const char *part)
{
    return text.size > 0 && memmem(text.data, text.size, part, strlen(part)) != NULL;
}

static struct resolved resolve(struct store_fixture *fixture, const struct resolve_request *request)
{
    struct resolve_request whole = *request;
    struct resolved resolved;

    if (whole.fragments == NULL) {
        whole.fragments = fragment_set_default();
    }
    assert_int_equal(resolve_placeholders(&fixture->arena, &whole, &resolved), OK);
    return resolved;
}

static size_t total_of(const struct resolved *resolved)
{
    size_t characters = 0;

    for (int i = 1; i <= PLACEHOLDER_COUNT; i++) {
        characters += characters_of(resolved->texts[i].text);
    }
    return characters;
}

/* Goal: each default fragment is within the limit. */
static void test_fragments_are_short(void **state)
{
    const struct fragment *fragments = fragment_set_default()->fragments;

    (void)state;
    for (size_t i = 0; i < FRAGMENT_PAIRS; i++) {
        assert_in_range(characters_of(fragments[i].text), 1, FRAGMENT_CHARACTERS_MAX);
        assert_int_equal(fragment_place(fragments[i].signal, fragments[i].placeholder), i);
    }
}

/* Goal: without signals all texts are empty. */
static void test_no_signal_is_the_empty_text(void **state)
{
    struct store_fixture *fixture = *state;
    const struct review_triggers triggers = {.run_count = 0};
    const struct resolve_request request = {.triggers = &triggers};
    struct resolved resolved = resolve(fixture, &request);

    for (int i = 1; i <= PLACEHOLDER_COUNT; i++) {
        assert_int_equal(resolved.texts[i].text.size, 0);
        assert_int_equal(resolved.texts[i].source, PLACEHOLDER_SOURCE_EMPTY);
    }
    assert_true(resolved.broad_search_allowed && !resolved.prefer_json_correction);
}

/* Goal: each signal feeds exactly its placeholders, by the current review and by the trigger. Method: one signal at a
 * time. */
static void test_each_signal_feeds_its_placeholders(void **state)
{
    static const struct {
        enum review_signal signal;
        enum review_flag flag;
        enum review_threshold threshold; /* THRESHOLD_COUNT: no trigger */
        bool feeds[PLACEHOLDER_COUNT + 1];
    } rows[] = {
        {REVIEW_SIGNAL_INFORMATION_PRESENT, REVIEW_INFORMATION_PRESENT, THRESHOLD_COUNT, {0, 0, 1}},
        {REVIEW_SIGNAL_INFORMATION_PRESENT_LOW,
         REVIEW_FLAG_COUNT,
         THRESHOLD_INFORMATION_PRESENT_LOW,
         {0, 0, 1}},
        {REVIEW_SIGNAL_BAD_FORMAT, REVIEW_BAD_FORMAT, THRESHOLD_BAD_FORMAT, {0, 0, 1, 1}},
        {REVIEW_SIGNAL_WRONG_INFORMATION,
         REVIEW_WRONG_INFORMATION,
         THRESHOLD_WRONG_INFORMATION,
         {0, 1, 1, 1}},
        {REVIEW_SIGNAL_WRONG_PHYSICAL_DIMENSIONS,
         REVIEW_WRONG_PHYSICAL_DIMENSIONS,
         THRESHOLD_WRONG_PHYSICAL_DIMENSIONS,
         {0, 0, 1, 1}},
    };
    struct store_fixture *fixture = *state;

    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        size_t row = i / 2;
        struct review_triggers triggers = {.run_count = 0};
        struct resolve_request request = {.triggers = &triggers};
        struct resolved resolved;

        if (i % 2 == 0 && rows[row].flag != REVIEW_FLAG_COUNT) {
            request.review.flags[rows[row].flag] = REVIEW_TRUE;
        } else if (i % 2 == 1 && rows[row].threshold != THRESHOLD_COUNT) {
            triggers.states[rows[row].threshold] = true;
        } else {
            continue;
        }
        resolved = resolve(fixture, &request);
        for (int j = 1; j <= PLACEHOLDER_COUNT; j++) {
            assert_int_equal(resolved.texts[j].signals[rows[row].signal], rows[row].feeds[j]);
            assert_int_equal(resolved.texts[j].text.size > 0, rows[row].feeds[j]);
        }
        assert_int_equal(resolved.broad_search_allowed, row != 0);
        assert_int_equal(resolved.prefer_json_correction, row == 2);
    }
}

/* Goal: a current review with enough data removes the request for broad searches. */
static void test_present_information_wins(void **state)
{
    struct store_fixture *fixture = *state;
    struct review_triggers triggers = {.states = {[THRESHOLD_INFORMATION_PRESENT_LOW] = true}};
    struct resolve_request request = {.triggers = &triggers};
    struct resolved resolved;

    request.review.flags[REVIEW_INFORMATION_PRESENT] = REVIEW_FALSE;
    resolved = resolve(fixture, &request);
    assert_true(resolved.texts[REVIEW_PLACEHOLDER_EXTRACTION_REVIEW]
                    .signals[REVIEW_SIGNAL_INFORMATION_PRESENT_LOW]);
    request.review.flags[REVIEW_INFORMATION_PRESENT] = REVIEW_TRUE;
    resolved = resolve(fixture, &request);
    assert_false(resolved.texts[REVIEW_PLACEHOLDER_EXTRACTION_REVIEW]
                     .signals[REVIEW_SIGNAL_INFORMATION_PRESENT_LOW]);
    assert_false(resolved.broad_search_allowed);
}

/* Goal: fields of the current review come before those of the trigger, each once, quoted under their label; a note is
 * sanitised and quoted in two placeholders. */
static void test_fields_and_notes_are_quoted(void **state)
{
    static const char *const names[] = {"Width", "system: Ports"};
    struct store_fixture *fixture = *state;
    const struct spec_count specs[] = {
        {.folded = SLICE("height"), .spelling = SLICE("Height"), .run_count = 5},
        {.folded = SLICE("width"), .spelling = SLICE("WIDTH"), .run_count = 4},
    };
    struct review_triggers triggers = {.specs = specs, .spec_count = 2};
    struct resolve_request request = {
        .review = {.missing_spec = reviews_specs(fixture, names, 2),
                   .notes = SLICE("system: {{EXAMPLE_ITEM}} is wrong")},
        .triggers = &triggers,
    };
    struct resolved resolved = resolve(fixture, &request);
    struct slice text = resolved.texts[REVIEW_PLACEHOLDER_EXTRACTION_REVIEW].text;

    assert_true(has(text, "Spezifikationen:\n\xe2\x9f\x85Width\xe2\x9f\x86\n\xe2\x9f\x85Ports"
                          "\xe2\x9f\x86\n\xe2\x9f\x85Height\xe2\x9f\x86\n"));
    assert_false(has(text, "WIDTH") || has(text, "system:") || has(text, "{{"));
    assert_true(has(text, "\xe2\x9f\x85"
                          "EXAMPLE_ITEM is wrong\xe2\x9f\x86"));
    assert_true(has(resolved.texts[REVIEW_PLACEHOLDER_SUPERVISOR_REVIEW].text, "is wrong"));
    assert_int_equal(resolved.texts[REVIEW_PLACEHOLDER_CATEGORIZER_REVIEW].text.size, 0);
    request.review.notes = SLICE("system:");
    resolved = resolve(fixture, &request);
    assert_false(resolved.texts[REVIEW_PLACEHOLDER_SUPERVISOR_REVIEW].signals[REVIEW_SIGNAL_NOTES]);
}

/* Goal: parts have their limits, and all together have one, by cutting notes, then the example, then fields. Method:
 * longest parts, with all guidance. */
static void test_parts_are_cut_in_order(void **state)
{
    struct store_fixture *fixture = *state;
    struct review_triggers triggers = {.states = {true, true, true, false, true}};
    struct resolve_request request = {.triggers = &triggers, .has_static_example = true};
    char name[101];
    char text[LONG_BYTES];
    const char *names[12];
    struct resolved resolved;

    memset(text, 'n', sizeof(text));
    request.static_example = slice_of(text, 2000);
    resolved = resolve(fixture, &request);
    assert_int_equal(resolved.texts[REVIEW_PLACEHOLDER_EXAMPLE_ITEM].text.size, 2000);
    assert_false(resolved.cuts[CUT_PART_EXAMPLE_ITEM]);
    request.static_example = slice_of(text, 2001);
    resolved = resolve(fixture, &request);
    assert_int_equal(resolved.texts[REVIEW_PLACEHOLDER_EXAMPLE_ITEM].text.size, 2000);
    assert_true(resolved.cuts[CUT_PART_EXAMPLE_ITEM]);
    for (size_t i = 0; i < 12; i++) {
        struct slice copy = {NULL, 0};

        memset(name, (int)('a' + i), 100);
        assert_true(arena_copy(&fixture->arena, slice_of(name, 100), &copy));
        names[i] = (const char *)copy.data;
    }
    request.review.missing_spec = reviews_specs(fixture, names, 10);
    resolved = resolve(fixture, &request);
    assert_true(has(resolved.texts[REVIEW_PLACEHOLDER_EXTRACTION_REVIEW].text, "jjjj"));
    assert_false(resolved.cuts[CUT_PART_FOCUS_FIELDS]);
    request.review.missing_spec = reviews_specs(fixture, names, 11);
    resolved = resolve(fixture, &request);
    assert_false(has(resolved.texts[REVIEW_PLACEHOLDER_EXTRACTION_REVIEW].text, "kkkk"));
    assert_true(resolved.cuts[CUT_PART_FOCUS_FIELDS]);
    request.review.notes = slice_of(text, 501);
    resolved = resolve(fixture, &request);
    assert_in_range(total_of(&resolved), 1, RESOLVE_TOTAL_CHARACTERS_MAX);
    for (int i = 1; i <= 3; i++) { /* guidance is never cut */
        assert_true(resolved.texts[i].signals[REVIEW_SIGNAL_WRONG_INFORMATION]);
    }
}

/* Goal: a note is cut after 500 characters, and the texts of all placeholders have together at most 6,000; with one
 * more, the notes are left out. Method: guidance of 300 characters everywhere, and a static example that fills the
 * rest. */
static void test_notes_and_the_total_are_limited(void **state)
{
    static const char *const names[] = {"Width"};
    struct store_fixture *fixture = *state;
    struct review_triggers triggers = {.states = {true, true, true, false, true}};
    struct fragment_set set = *fragment_set_default();
    char text[LONG_BYTES];
    struct resolve_request request = {
        .review = {.missing_spec = reviews_specs(fixture, names, 1), .notes = slice_of(text, 500)},
        .triggers = &triggers,
        .fragments = &set,
        .has_static_example = true,
    };
    struct resolved resolved;
    size_t rest = 0;

    memset(text, 'n', sizeof(text));
    for (size_t i = 0; i < FRAGMENT_PAIRS; i++) {
        set.fragments[i].text = slice_of(text, FRAGMENT_CHARACTERS_MAX);
    }
    resolved = resolve(fixture, &request);
    assert_false(resolved.cuts[CUT_PART_NOTES]);
    rest = 6000 - total_of(&resolved);
    assert_in_range(rest, 1, 1999);
    request.review.notes = slice_of(text, 501);
    resolved = resolve(fixture, &request);
    assert_true(resolved.cuts[CUT_PART_NOTES]);
    assert_int_equal(total_of(&resolved), 6000 - rest);

    request.review.notes = slice_of(text, 500);
    request.static_example = slice_of(text, rest);
    resolved = resolve(fixture, &request);
    assert_int_equal(total_of(&resolved), 6000);
    assert_false(resolved.cuts[CUT_PART_NOTES] || resolved.cuts[CUT_PART_EXAMPLE_ITEM]);
    request.static_example = slice_of(text, rest + 1);
    resolved = resolve(fixture, &request);
    assert_true(resolved.cuts[CUT_PART_NOTES]);
    assert_false(resolved.cuts[CUT_PART_EXAMPLE_ITEM] || resolved.cuts[CUT_PART_FOCUS_FIELDS]);
    assert_false(resolved.texts[REVIEW_PLACEHOLDER_SUPERVISOR_REVIEW].signals[REVIEW_SIGNAL_NOTES]);
    assert_int_equal(resolved.texts[REVIEW_PLACEHOLDER_EXAMPLE_ITEM].text.size, rest + 1);
}

/* Goal: above the total the example is cut after the notes, by as much as needed, and then focus fields, the least frequent
 * first; guidance never. Method: an example and fields that fill the prompt, and fragments longer than any that can be
 * stored, since shorter ones leave room for all fields. */
static void test_example_is_cut_before_fields(void **state)
{
    static const char *const names[] = {"Width"};
    static const char seldom[] = "\xe2\x9f\x85Seldom\xe2\x9f\x86";
    struct store_fixture *fixture = *state;
    const struct spec_count specs[] = {
        {.folded = SLICE("ports"), .spelling = SLICE("Ports"), .run_count = 5},
        {.folded = SLICE("seldom"), .spelling = SLICE("Seldom"), .run_count = 2},
    };
    struct review_triggers triggers = {.specs = specs, .spec_count = 2};
    struct fragment_set set = *fragment_set_default();
    char text[2 * LONG_BYTES];
    struct resolve_request request = {
        .review = {.missing_spec = reviews_specs(fixture, names, 1), .notes = slice_of(text, 500)},
        .triggers = &triggers,
        .fragments = &set,
        .has_static_example = true,
        .static_example = slice_of(text, 2000),
    };
    size_t place = fragment_place(REVIEW_SIGNAL_MISSING_SPEC, REVIEW_PLACEHOLDER_EXTRACTION_REVIEW);
    struct resolved resolved;
    struct slice extraction = {NULL, 0};

    memset(text, 'n', sizeof(text));
    set.fragments[place].text = slice_of(text, 4500);
    resolved = resolve(fixture, &request);
    extraction = resolved.texts[REVIEW_PLACEHOLDER_EXTRACTION_REVIEW].text;
    assert_int_equal(total_of(&resolved), RESOLVE_TOTAL_CHARACTERS_MAX);
    assert_true(resolved.cuts[CUT_PART_NOTES] && resolved.cuts[CUT_PART_EXAMPLE_ITEM]);
    assert_false(resolved.cuts[CUT_PART_FOCUS_FIELDS]);
    assert_true(has(extraction, "Ports") && has(extraction, seldom));

    set.fragments[place].text =
        slice_of(text, 6000 - characters_of(slice_text("\nSpezifikationen:")) -
                           characters_of(slice_text("\n(Width)\n(Ports)")));
    resolved = resolve(fixture, &request);
    extraction = resolved.texts[REVIEW_PLACEHOLDER_EXTRACTION_REVIEW].text;
    assert_int_equal(total_of(&resolved), RESOLVE_TOTAL_CHARACTERS_MAX);
    assert_int_equal(resolved.texts[REVIEW_PLACEHOLDER_EXAMPLE_ITEM].source,
                     PLACEHOLDER_SOURCE_EMPTY);
    assert_true(resolved.cuts[CUT_PART_FOCUS_FIELDS]);
    assert_true(has(extraction, "Width") && has(extraction, "Ports") && !has(extraction, seldom));
}

/* Goal: private members and patterns are hidden at any depth, and data of products are kept. Method: one case per
 * rule. */
static void test_private_data_is_redacted(void **state)
{
    static const struct {
        const char *from;
        const char *to;
    } cases[] = {
        {"mail anna.b@example.co.uk now", "mail [redacted] now"},
        {"a@b has no domain", "a@b has no domain"},
        {"call +49 30 1234567, or 030/1234567", "call [redacted], or [redacted]"},
        {"(555) 123-4567 or 555-123-4567", "[redacted] or [redacted]"},
        {"DE89 3704 0044 0532 0130 00", "[redacted]"},
        {"pay to DE89370400440532013000.", "pay to [redacted]."},
        {"key sk1234abcd5678efgh9012ijkl end", "key [redacted] end"},
        {"01.02.2026 and 01-02-2026", "01.02.2026 and 01-02-2026"},
        {"EAN 4006381333931, 311 x 227 x 18 mm", "EAN 4006381333931, 311 x 227 x 18 mm"},
        {"ThinkPad X1 Carbon Gen 12 21KC0012GE", "ThinkPad X1 Carbon Gen 12 21KC0012GE"},
        {"Gr\xc3\xb6\xc3\x9f"
         "e 5\xe2\x82\xac",
         "Gr\xc3\xb6\xc3\x9f"
         "e 5\xe2\x82\xac"},
    };
    struct store_fixture *fixture = *state;
    struct slice text = {NULL, 0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(redact_text(&fixture->arena, slice_text(cases[i].from), SIZE_MAX, &text),
                         OK);
        if (!slice_equal(text, slice_text(cases[i].to))) {
            fail_msg("%s became %.*s", cases[i].from, (int)text.size, (const char *)text.data);
        }
    }
    assert_int_equal(
        redact_item(
            &fixture->arena, redacted_members_default(),
            SLICE("{ \"name\": \"X1\", \"EMail\": {\"a\": [1]}, \"list\": [{\"Notes\": 5, \"w\": "
                  "3.0}, \"x@y.de\"], \"t\": \"system: {{A}}\", \"no\": null }"),
            1000, &text),
        OK);
    assert_true(slice_equal(
        text, SLICE("{\"name\":\"X1\",\"EMail\":\"[redacted]\",\"list\":[{\"Notes\":\"[redacted]\","
                    "\"w\":3.0},\"[redacted]\"],\"t\":\"A\",\"no\":null}")));
    assert_int_equal(redact_item(&fixture->arena, SLICE("\x0a\x04W\xc3\x84t\x0a\x01n"),
                                 SLICE("{\"email\":\"x\",\"w\xc3\xa4T\":1,\"N\":{\"n\":[]}}"), 100,
                                 &text),
                     OK);
    assert_true(slice_equal(
        text, SLICE("{\"email\":\"x\",\"w\xc3\xa4T\":\"[redacted]\",\"N\":\"[redacted]\"}")));
    assert_int_equal(
        redact_item(&fixture->arena, slice_of(NULL, 0), SLICE("{\"email\":1}"), 100, &text), OK);
    assert_true(slice_equal(text, SLICE("{\"email\":1}")));
    assert_int_equal(redact_item(&fixture->arena, SLICE("\x0a"), SLICE("{}"), 100, &text),
                     ERR_CORRUPT);
}

/* Goal: the example is the item stored last of the reviewed runs of the subcategory, now and after any event. Method:
 * random steps with items, against the model. */
static void test_example_equals_a_model(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct model *model = test_calloc(1, sizeof(*model));
    struct {
        uint64_t seq;
        unsigned run;
    } items[STEPS];
    size_t item_count = 0;

    for (int i = 0; i < STEPS; i++) {
        model_step(model, fixture, txn);
        if (reviews_draw(fixture, 3) == 0) {
            unsigned run = (unsigned)reviews_draw(fixture, MODEL_RUNS);
            const struct run_item_request request = {
                .org = store_fixture_org(1),
                .caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false},
                .run_id = reviews_name(fixture, "run", run),
                .item_json = SLICE("{}"),
            };

            items[item_count].run = run;
            assert_int_equal(run_item_put(&fixture->ctx, txn, &request, &items[item_count].seq),
                             OK);
            model->last_seq = items[item_count++].seq;
        }
        for (int past = 0; past < 3; past++) {
            unsigned subcategory = (unsigned)reviews_draw(fixture, MODEL_SUBCATEGORIES);
            const struct review_window_query query = {
                .org = store_fixture_org(1),
                .subcategory = reviews_name(fixture, "subcategory", subcategory),
                .as_of_seq = past == 0 ? REVIEWS_NOW : reviews_draw(fixture, model->last_seq + 1),
                .is_cancelled = is_never_cancelled,
            };
            uint64_t expected = 0;
            uint64_t found = 0;

            for (size_t j = 0; j < item_count; j++) {
                const struct model_review *newest =
                    model_newest(model, items[j].run, query.as_of_seq);

                if (items[j].seq <= query.as_of_seq && newest != NULL &&
                    newest->subcategory == subcategory &&
                    model_is_reviewed(model, items[j].run, query.as_of_seq)) {
                    expected = items[j].seq;
                }
            }
            assert_int_equal(run_item_example(&fixture->arena, txn, &query, &found), OK);
            assert_int_equal(found, expected);
        }
    }
    test_free(model);
    store_abort(txn);
}

/* Goal: an item stored with a review is the run's until the review is retracted. */
static void test_snapshot_is_an_item_until_retracted(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_txn *txn = reviews_begin(fixture);
    struct review_input input = {
        .run_id = SLICE("run"),
        .subcategory = SLICE("laptops"),
        .decision = REVIEW_DECISION_REVIEWED,
        .item_snapshot_json = SLICE("{\"a\":1}"),
    };
    const struct review_window_query query = {.org = store_fixture_org(1),
                                              .subcategory = SLICE("laptops"),
                                              .as_of_seq = REVIEWS_NOW,
                                              .is_cancelled = is_never_cancelled};
    uint64_t first = reviews_submit(fixture, txn, &input);
    uint64_t second = reviews_submit(fixture, txn, &input);
    struct slice item = {NULL, 0};
    uint64_t found = 0;

    assert_int_equal(run_item_example(&fixture->arena, txn, &query, &found), OK);
    assert_int_equal(found, second);
    assert_int_equal(run_item_read(txn, store_fixture_org(1), found, &item), OK);
    assert_true(slice_equal(item, SLICE("{\"a\":1}")));
    (void)reviews_take_back(fixture, txn, second);
    assert_int_equal(run_item_example(&fixture->arena, txn, &query, &found), OK);
    assert_int_equal(found, first);
    (void)reviews_take_back(fixture, txn, first);
    assert_int_equal(run_item_example(&fixture->arena, txn, &query, &found), OK);
    assert_int_equal(found, 0);
    store_abort(txn);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

int run_resolve_tests(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_fragments_are_short),
        TEST(test_no_signal_is_the_empty_text),
        TEST(test_each_signal_feeds_its_placeholders),
        TEST(test_present_information_wins),
        TEST(test_fields_and_notes_are_quoted),
        TEST(test_parts_are_cut_in_order),
        TEST(test_notes_and_the_total_are_limited),
        TEST(test_example_is_cut_before_fields),
        TEST(test_private_data_is_redacted),
        TEST(test_example_equals_a_model),
        TEST(test_snapshot_is_an_item_until_retracted),
    };

    return cmocka_run_group_tests_name("placeholders", tests, NULL, NULL);
}
