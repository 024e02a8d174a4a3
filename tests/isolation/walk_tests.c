/*
 * walk_tests.c: what belongs to another organisation is as unknown as what no one has. Two fixtures
 * are the same; in one a stranger names the owner's things, in the other things of the same shape
 * that no one has. Every field of every method that can name something is walked over.
 */
#include "tests/isolation/asker.h"
#include "tests/isolation/dead_letters.h"
#include "tests/isolation/isolation.h"
#include "tests/isolation/measured_rules.h"

#include "store/base/sha256.h"
#include "store/base/wire.h"

#include <errata/v1/decision_service.pb-c.h>
#include <errata/v1/turn_service.pb-c.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OWNERS_AGENT "agent"

#define FAMILIES 11 /* layouts of documents: some remain after merges */
#define ARENA_BYTES (256u << 20)
#define OWNER_STEPS 1200
#define MESSAGES_MAX 16 /* that a request reaches */
/* A number in the owner's log above those of the stranger's, and one in no one's, as long on the
 * wire and in text. */
#define OWNERS_SEQ 30
#define NOBODYS_SEQ 90
#define SHOWN_BYTES_MIN 8 /* minimum length of a text for which messages show the beginning */
#define OWNERS_KEY "owners-key"
#define UNKNOWN_KEY "unknown-key"

static char owners_names[][24] = {"owner-layout-4711", "owner-document-4712", "owner-entity-4713",
                                  "owner-draft-4714", "owner-user-4715"};

struct side {
    struct fixture fixture;
    struct arena arena;
    struct request_maker maker;
    struct asker owner;
    struct asker stranger;
    uint64_t steps;
};

/* Both fixtures; in the second one the strange texts mean those of the owner. */
struct sides {
    struct side real;
    struct side strange;
    unsigned asked[ASKER_METHODS_MAX];
};

/* A field of some message that a request of the method reaches. */
struct probe {
    const struct method_info *method;
    const struct field_info *field;
    struct slice text; /* the owner's */
};

static void begin_step(struct side *side)
{
    side->steps++;
    clock_manual_advance(&side->fixture.clock, 1000);
    random_seeded_init(&side->fixture.random, side->steps);
    side->maker.now_us = side->fixture.clock.wall_us;
}

static struct answer ask(struct side *side, struct asker *asker, const struct question *question)
{
    /* A layout of its own for each: equal measures have equal fingerprints in all organisations. */
    static const struct pdf_page_size pages[] = {
        {595.276, 841.89}, {612.0, 792.0}, {612.0, 1008.0}};
    struct exchange exchange;
    uint32_t page = asker == &side->owner ? 1 + side->steps % 2 : 0;

    side->fixture.documents.answer.text.pages = &pages[page];
    /* Several layout families, of which some are merged. */
    fake_documents_set_sketch(&side->fixture.documents, 100 * (uint32_t)(side->steps % FAMILIES));
    begin_step(side);
    asker_send(asker, question, &exchange);
    fixture_run(&side->fixture);
    return asker_take(asker, question, &exchange);
}

/* The owner calls every method, until every pool has an entry. */
static void fill_owner(struct side *side)
{
    side->owner.pools.names = (struct pool){0};
    for (size_t i = 0; i < sizeof(owners_names) / sizeof(owners_names[0]); i++) {
        pool_put(&side->owner.pools.names, slice_text(owners_names[i]));
    }
    side->maker.pools = &side->owner.pools;
    for (size_t step = 0; step < OWNER_STEPS; step++) {
        const struct method_info *method =
            &contract_methods[maker_draw(&side->maker, contract_method_count)];
        struct question question;

        if (asker_passes_over(method)) {
            continue;
        }
        question = asker_make_question(&side->maker, method);
        (void)ask(side, &side->owner, &question);
    }
    assert_true(pool_size(&side->owner.pools.uuids) > 5);
    assert_true(pool_size(&side->owner.pools.key_ids) > 0);
    assert_true(pool_size(&side->owner.pools.page_tokens) > 0);
}

static void side_init(struct side *side)
{
    *side = (struct side){0};
    fixture_init(&side->fixture);
    arena_init(&side->arena, ARENA_BYTES);
    random_seeded_init(&side->maker.random, 5);
    side->maker.arena = &side->arena;
    side->maker.keys[0] = OWNERS_KEY;
    side->maker.keys[1] = OWNERS_KEY;
    asker_init(&side->owner, &side->fixture, &side->arena, "owner");
    asker_init(&side->stranger, &side->fixture, &side->arena, "stranger");
    fill_owner(side);
    side->maker.pools = &side->stranger.pools;
}

static void side_deinit(struct side *side)
{
    fixture_deinit(&side->fixture);
    arena_deinit(&side->arena);
}

static struct sides *sides_new(void)
{
    struct sides *sides = calloc(1, sizeof(*sides));

    assert_non_null(sides);
    side_init(&sides->real);
    side_init(&sides->strange);
    return sides;
}

static void sides_free(struct sides *take_sides)
{
    side_deinit(&take_sides->real);
    side_deinit(&take_sides->strange);
    free(take_sides);
}

/* Replaces each `from` by `to`, which has the same length. */
static void replace(struct slice bytes, struct slice from, struct slice to)
{
    uint8_t *at = (uint8_t *)(uintptr_t)bytes.data;
    size_t left = bytes.size;

    assert_int_equal(from.size, to.size);
    while (left > 0) {
        uint8_t *found = memmem(at, left, from.data, from.size);

        if (found == NULL) {
            return;
        }
        memcpy(found, to.data, to.size);
        left -= (size_t)(found - at) + to.size;
        at = found + to.size;
    }
}

/* A text, or as much of it as a message shows; and the hash of it that is answered for bytes. */
static void replace_all(struct answer *answer, struct slice from, struct slice to)
{
    struct slice parts[] = {answer->message, answer->details, answer->replies};
    char hash_from[2 * SHA256_BYTES + 1];
    char hash_to[2 * SHA256_BYTES + 1];
    struct sha256_digest digest_from = sha256(from);
    struct sha256_digest digest_to = sha256(to);

    sha256_format(&digest_from, hash_from);
    sha256_format(&digest_to, hash_to);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        for (size_t size = from.size; size >= SHOWN_BYTES_MIN || size == from.size; size--) {
            replace(parts[i], slice_of(from.data, size), slice_of(to.data, size));
        }
        replace(parts[i], slice_of(hash_from, sizeof(hash_from) - 1),
                slice_of(hash_to, sizeof(hash_to) - 1));
    }
}

static bool slice_contains(struct slice whole, struct slice part)
{
    return memmem(whole.data, whole.size, part.data, part.size) != NULL;
}

static struct answer ask_target(struct side *side, const struct probe *probe, struct slice text,
                                uint64_t number)
{
    struct pools known = side->stranger.pools;
    struct question question;
    struct answer answer;
    bool there = false;

    random_seeded_init(&side->maker.random, side->steps);
    side->maker.target = probe->field;
    side->maker.target_text = text;
    side->maker.target_number = number;
    question = asker_make_question(&side->maker, probe->method);
    question.idempotency_key = NULL;
    for (size_t i = 0; i < question.part_count; i++) {
        there = there || text.size == 0 || slice_contains(question.parts[i], text);
    }
    if (!there) {
        fail_msg("no request of %.*s has its %.*s: teach request_maker.c the way there",
                 (int)probe->method->path.size, (const char *)probe->method->path.data,
                 (int)probe->field->name.size, (const char *)probe->field->name.data);
    }
    answer = ask(side, &side->stranger, &question);
    side->stranger.pools =
        known; /* texts learned from one request must not be used in later ones */
    return answer;
}

/* Texts of earlier probes that a reply shows again: a turn has the words with which it was recorded. */
static void replace_earlier(struct sides *sides, struct answer *strange)
{
    const struct pools *owners = &sides->real.owner.pools;
    const struct pool *pools[] = {&owners->names, &owners->uuids, &owners->key_ids,
                                  &owners->page_tokens, &owners->references};

    for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++) {
        for (size_t j = 0; j < pool_size(pools[i]); j++) {
            struct slice text = pools[i]->texts[j];

            replace_all(strange, maker_strange(&sides->strange.arena, text), text);
        }
    }
}

static void compare_probe(struct sides *sides, const struct probe *probe)
{
    struct slice text = maker_strange(&sides->strange.arena, probe->text);
    struct answer real = ask_target(&sides->real, probe, probe->text, OWNERS_SEQ);
    struct answer strange = ask_target(&sides->strange, probe, text, NOBODYS_SEQ);
    const char *what = (const char *)arena_printf(
                           &sides->real.arena, "where %.*s is '%.*s'", (int)probe->field->name.size,
                           (const char *)probe->field->name.data, (int)probe->text.size,
                           (const char *)probe->text.data)
                           .data;

    if (probe->text.size > 0) {
        replace_all(&strange, text, probe->text);
    } else {
        replace(strange.message, SLICE("90"), SLICE("30"));
        replace(strange.details, SLICE("90"), SLICE("30"));
    }
    sides->asked[probe->method->index]++;
    if (probe->method->transaction == METHOD_NO_TRANSACTION) {
        assert_int_equal(
            real.code,
            strange.code); /* the result is computed from the text, without stored data */
    } else {
        if (!slice_equal(real.replies, strange.replies)) {
            replace_earlier(sides, &strange);
        }
        assert_same_answer(&real, &strange, what);
    }
}

/* All of the owner's texts that could be in the field, and some that should not. */
static void walk_field(struct sides *sides, const struct method_info *method,
                       const struct field_info *field)
{
    const struct pools *owners = &sides->real.owner.pools;
    const struct pool *pools[] = {&owners->names, &owners->uuids, &owners->key_ids,
                                  &owners->page_tokens, &owners->references};
    struct probe probe = {.method = method, .field = field};

    if (field->type == FIELD_UINT64 || field->type == FIELD_INT64) {
        compare_probe(sides, &probe);
    }
    if (field->type != FIELD_STRING && field->type != FIELD_BYTES) {
        return;
    }
    for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++) {
        bool fits = pools[i] == pools_of(&sides->real.owner.pools, field);

        for (size_t j = 0; j < pool_size(pools[i]) && (fits || j < 1); j++) {
            probe.text = pools[i]->texts[j];
            compare_probe(sides, &probe);
        }
    }
}

/* The messages that requests of a method reach; returns how many. */
static size_t reach(const struct method_info *method, const struct message_info **messages)
{
    size_t count = 1;

    messages[0] = method->request;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < messages[i]->count; j++) {
            const struct field_info *field = &messages[i]->fields[j];
            bool known = field->type != FIELD_MESSAGE || field->rules.output_only ||
                         field->message->well_known != MESSAGE_PLAIN;

            for (size_t k = 0; k < count && !known; k++) {
                known = messages[k] == field->message;
            }
            if (!known) {
                assert_true(count < MESSAGES_MAX);
                messages[count++] = field->message;
            }
        }
    }
    return count;
}

static void walk_method(struct sides *sides, const struct method_info *method)
{
    const struct message_info *messages[MESSAGES_MAX];
    size_t count = reach(method, messages);

    for (size_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < messages[i]->count; j++) {
            if (!messages[i]->fields[j].rules.output_only) {
                walk_field(sides, method, &messages[i]->fields[j]);
            }
        }
    }
}

/* Goal: another organisation's ids, names, key ids, page tokens and numbers reveal nothing, in any
 * field of any method. Method: each of them in each field, and the same with unknown values: the
 * replies are equal except for the value sent. Reads first, since writes store different texts. */
static void test_foreign_values_look_unknown_in_every_field(void **state)
{
    struct sides *sides = sides_new();
    unsigned asked = 0;

    (void)state;
    for (int writes = 0; writes < 2; writes++) {
        for (uint32_t i = 0; i < contract_method_count; i++) {
            const struct method_info *method = &contract_methods[i];

            if (!asker_passes_over(method) && (method->transaction == METHOD_WRITE) == writes) {
                walk_method(sides, method);
                asked += sides->asked[i];
            }
        }
    }
    assert_true(asked > 500);
    sides_free(sides);
}

static void expect_ok(struct side *side, const char *path, const ProtobufCMessage *request)
{
    const struct exchange_start start = {.path = path, .authorization = side->owner.token};

    begin_step(side);
    assert_int_equal(fixture_call(&side->fixture, &start, request, NULL), STATUS_OK);
}

/* Two layouts that an experiment compares: with corrections enough, and an extraction each. */
static void make_experiments(struct side *side)
{
    Errata__V1__OrganizationSettings settings = ERRATA__V1__ORGANIZATION_SETTINGS__INIT;
    Errata__V1__UpdateSettingsRequest update = ERRATA__V1__UPDATE_SETTINGS_REQUEST__INIT;
    Errata__V1__Extraction extraction = ERRATA__V1__EXTRACTION__INIT;
    Errata__V1__RecordExtractionRequest record = ERRATA__V1__RECORD_EXTRACTION_REQUEST__INIT;
    char layout[32];

    settings._holdout_percent_case =
        ERRATA__V1__ORGANIZATION_SETTINGS___HOLDOUT_PERCENT_HOLDOUT_PERCENT;
    settings.holdout_percent = 50;
    update.settings = &settings;
    expect_ok(side, "errata.v1.AdminService/UpdateSettings", &update.base);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(layout, sizeof(layout), "compared %d", i);
        for (int j = 0; j < 3; j++) {
            begin_step(side);
            (void)fixture_capture(&side->fixture, side->owner.token, NULL, layout);
        }
        extraction.layout_fingerprint = layout;
        extraction._document_id_case = ERRATA__V1__EXTRACTION___DOCUMENT_ID_DOCUMENT_ID;
        extraction.document_id = layout;
        extraction._confidence_case = ERRATA__V1__EXTRACTION___CONFIDENCE_CONFIDENCE;
        extraction.confidence = 0.5;
        record.extraction = &extraction;
        expect_ok(side, "errata.v1.ExtractionService/RecordExtraction", &record.base);
    }
}

/* Two rules, for which weights are suggested. */
static void make_rules(struct side *side)
{
    begin_step(side);
    make_measured_rules(&side->fixture, side->owner.token);
}

/* Two reviews of a run, and a fragment set beside the one of the server. */
static void make_reviews(struct side *side)
{
    Errata__V1__FragmentSet set = ERRATA__V1__FRAGMENT_SET__INIT;
    Errata__V1__PutFragmentSetRequest put = ERRATA__V1__PUT_FRAGMENT_SET_REQUEST__INIT;
    Errata__V1__Review review = ERRATA__V1__REVIEW__INIT;
    Errata__V1__SubmitReviewRequest submit = ERRATA__V1__SUBMIT_REVIEW_REQUEST__INIT;
    char run[] = "run";

    review.run_id = run;
    review.subcategory = run;
    review.decision = ERRATA__V1__REVIEW_DECISION__REVIEW_DECISION_REVIEWED;
    submit.review = &review;
    for (int i = 0; i < 2; i++) {
        expect_ok(side, "errata.v1.ReviewService/SubmitReview", &submit.base);
    }
    set.label_focus_fields = run;
    put.fragment_set = &set;
    expect_ok(side, "errata.v1.ReviewService/PutFragmentSet", &put.base);
}

/* Two decisions on the output of an agent. */
static void make_decisions(struct side *side)
{
    Errata__V1__Decision decision = ERRATA__V1__DECISION__INIT;
    Errata__V1__RecordDecisionRequest record = ERRATA__V1__RECORD_DECISION_REQUEST__INIT;
    char agent[] = OWNERS_AGENT;
    char name[32];

    decision.gate_id = decision.epic_id = decision.agent_name = agent;
    decision.decision_id = name;
    decision.decision = ERRATA__V1__DECISION_OUTCOME__DECISION_OUTCOME_APPROVED;
    record.decision = &decision;
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof(name), "decision %d", i);
        expect_ok(side, "errata.v1.DecisionService/RecordDecision", &record.base);
    }
}

/* Two turns of a session. */
static void make_turns(struct side *side)
{
    Errata__V1__Turn turn = ERRATA__V1__TURN__INIT;
    Errata__V1__RecordTurnRequest record = ERRATA__V1__RECORD_TURN_REQUEST__INIT;
    char session[] = "session";
    char name[32];

    turn.session_id = turn.query = session;
    turn.turn_id = name;
    turn.validation_outcome = ERRATA__V1__VALIDATION_OUTCOME__VALIDATION_OUTCOME_APPROVE;
    record.turn = &turn;
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof(name), "turn %d", i);
        expect_ok(side, "errata.v1.TurnService/RecordTurn", &record.base);
    }
}

/* Two mappings and two templates. */
static void make_pairs(struct side *side)
{
    Errata__V1__SkuMapping mapping = ERRATA__V1__SKU_MAPPING__INIT;
    Errata__V1__SuggestMappingRequest suggest = ERRATA__V1__SUGGEST_MAPPING_REQUEST__INIT;
    Errata__V1__PromptTemplate template = ERRATA__V1__PROMPT_TEMPLATE__INIT;
    Errata__V1__PutPromptTemplateRequest put = ERRATA__V1__PUT_PROMPT_TEMPLATE_REQUEST__INIT;
    char name[32];

    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof(name), "pair %d", i);
        mapping.customer_id = mapping.customer_sku = mapping.internal_sku = name;
        mapping._confidence_case = ERRATA__V1__SKU_MAPPING___CONFIDENCE_CONFIDENCE;
        mapping.confidence = 0.5;
        suggest.mapping = &mapping;
        expect_ok(side, "errata.v1.MappingService/SuggestMapping", &suggest.base);
        template.name = template.text = name;
        put.prompt_template = &template;
        expect_ok(side, "errata.v1.PromptService/PutPromptTemplate", &put.base);
    }
}

/* The owner's first page of one, so that there is a next; empty if there is none. */
static struct slice take_page_token(struct side *side, const struct method_info *method)
{
    struct question question = {.method = method, .part_count = 1};
    struct buffer request;

    buffer_init(&request, &side->arena, 16);
    for (uint32_t i = 0; i < method->request->count; i++) {
        if (slice_equal(method->request->fields[i].name, SLICE("page_size"))) {
            wire_put_varint(&request, method->request->fields[i].number, 1);
        } else if (slice_equal(method->request->fields[i].name, SLICE("agent_name")) &&
                   method->request->fields[i].rules.required) {
            wire_put_bytes(&request, method->request->fields[i].number, SLICE(OWNERS_AGENT));
        }
    }
    question.parts[0] = buffer_slice(&request);
    side->owner.page_token[method->index] = slice_of(NULL, 0);
    assert_int_equal(ask(side, &side->owner, &question).code, STATUS_OK);
    return side->owner.page_token[method->index];
}

static bool is_paged(const struct method_info *method)
{
    for (uint32_t i = 0; i < method->request->count; i++) {
        if (method->request->fields[i].rules.format == FORMAT_PAGE_TOKEN) {
            return true;
        }
    }
    return false;
}

/* Goal: a page token belongs to its organisation: in another it is refused like a forged one.
 * Method: each method that has pages, with the owner's request and the owner's token, which the
 * owner can use, and with a token that was never issued. Only a server's administrator sees two
 * organisations. */
static void test_foreign_page_token_is_refused_like_a_forged_one(void **state)
{
    struct sides *sides = sides_new();

    (void)state;
    make_experiments(&sides->real);
    make_experiments(&sides->strange);
    make_pairs(&sides->real);
    make_pairs(&sides->strange);
    make_rules(&sides->real);
    make_rules(&sides->strange);
    make_reviews(&sides->real);
    make_reviews(&sides->strange);
    make_decisions(&sides->real);
    make_decisions(&sides->strange);
    make_dead_letters(&sides->real.fixture, &sides->real.owner, 2);
    make_dead_letters(&sides->strange.fixture, &sides->strange.owner, 2);
    make_turns(&sides->real);
    make_turns(&sides->strange);
    for (uint32_t i = 0; i < contract_method_count; i++) {
        const struct method_info *method = &contract_methods[i];
        struct answer answers[2];

        /* Several guidelines need the votes of several users. */
        if (!is_paged(method) ||
            slice_equal(method->path, SLICE("/errata.v1.AdminService/ListOrganizations")) ||
            slice_starts_with(method->path, SLICE("/errata.v1.GuidelineService/"))) {
            continue;
        }
        for (int strange = 0; strange < 2; strange++) {
            struct side *side = strange ? &sides->strange : &sides->real;
            struct slice token = take_page_token(side, method);
            struct question question;

            if (token.size == 0) {
                fail_msg("%.*s gave no page token", (int)method->path.size,
                         (const char *)method->path.data);
            }
            question = asker_next_page(&side->owner, method, &side->arena, token);
            if (strange) {
                question = asker_next_page(&side->owner, method, &side->arena,
                                           maker_strange(&side->arena, token));
            } else {
                assert_int_equal(ask(side, &side->owner, &question).code, STATUS_OK);
            }
            answers[strange] = ask(side, &side->stranger, &question);
        }
        assert_int_equal(answers[0].code, STATUS_INVALID_ARGUMENT);
        assert_same_answer(&answers[0], &answers[1], "where the page token is the owner's");
    }
    sides_free(sides);
}

/* Goal: an idempotency key that another organisation used is new. Method: each write with the
 * owner's key, and with an unused one. */
static void test_foreign_idempotency_key_is_new(void **state)
{
    struct sides *sides = sides_new();

    (void)state;
    for (uint32_t i = 0; i < contract_method_count; i++) {
        const struct method_info *method = &contract_methods[i];

        for (int round = 0; round < 8 && method->transaction == METHOD_WRITE; round++) {
            struct answer answers[2];

            for (int strange = 0; strange < 2; strange++) {
                struct side *side = strange ? &sides->strange : &sides->real;
                struct question question = asker_make_question(&side->maker, method);

                question.idempotency_key = round % 2 == 1 ? NULL
                                           : strange      ? UNKNOWN_KEY
                                                          : OWNERS_KEY;
                answers[strange] = ask(side, &side->stranger, &question);
            }
            replace_all(&answers[1], SLICE(UNKNOWN_KEY), SLICE(OWNERS_KEY));
            assert_same_answer(&answers[0], &answers[1], "with the owner's idempotency key");
        }
    }
    sides_free(sides);
}

int run_walk_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign_values_look_unknown_in_every_field),
        cmocka_unit_test(test_foreign_page_token_is_refused_like_a_forged_one),
        cmocka_unit_test(test_foreign_idempotency_key_is_new),
    };

    return cmocka_run_group_tests_name("isolation: what is another's", tests, NULL, NULL);
}
