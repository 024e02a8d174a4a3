/*
 * mapping_batch_tests.c: BatchJudgeMappings through calls: its effects are those of single calls, it stores all or
 * nothing, and a repeat gets the same ids.
 */
#include "tests/rpc/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define ITEMS_MAX 1001
#define DAY_US (INT64_C(86400) * 1000000)

enum kind {
    CONFIRM,
    REJECT,
    SUGGEST,
    KINDS
};

/* A judgement of a test. */
struct item {
    enum kind kind;
    struct named named;
    double confidence; /* confidence of SUGGEST */
    const char *actor; /* acting user, or NULL */
};

static char *text(const char *literal)
{
    return (char *)(uintptr_t)literal;
}

/* The messages of one request. */
struct messages {
    Errata__V1__ConfirmMappingRequest confirms[ITEMS_MAX];
    Errata__V1__RejectMappingRequest rejects[ITEMS_MAX];
    Errata__V1__SkuMapping suggestions[ITEMS_MAX];
    Errata__V1__MappingJudgement judgements[ITEMS_MAX];
    Errata__V1__MappingJudgement *list[ITEMS_MAX];
    Google__Protobuf__Timestamp time;
};

static void fill_confirm(Errata__V1__ConfirmMappingRequest *request, const struct item *item)
{
    *request = (Errata__V1__ConfirmMappingRequest)ERRATA__V1__CONFIRM_MAPPING_REQUEST__INIT;
    if (item->named.id != NULL) {
        request->_id_case = ERRATA__V1__CONFIRM_MAPPING_REQUEST___ID_ID;
        request->id = text(item->named.id);
    }
    if (item->named.customer_id != NULL) {
        request->_customer_id_case = ERRATA__V1__CONFIRM_MAPPING_REQUEST___CUSTOMER_ID_CUSTOMER_ID;
        request->customer_id = text(item->named.customer_id);
        request->_internal_sku_case =
            ERRATA__V1__CONFIRM_MAPPING_REQUEST___INTERNAL_SKU_INTERNAL_SKU;
        request->internal_sku = text(item->named.internal_sku);
    }
    if (item->named.customer_sku != NULL) {
        request->_customer_sku_case =
            ERRATA__V1__CONFIRM_MAPPING_REQUEST___CUSTOMER_SKU_CUSTOMER_SKU;
        request->customer_sku = text(item->named.customer_sku);
    }
    if (item->actor != NULL) {
        request->_actor_user_id_case =
            ERRATA__V1__CONFIRM_MAPPING_REQUEST___ACTOR_USER_ID_ACTOR_USER_ID;
        request->actor_user_id = text(item->actor);
    }
}

static void fill_reject(Errata__V1__RejectMappingRequest *request, const struct item *item)
{
    *request = (Errata__V1__RejectMappingRequest)ERRATA__V1__REJECT_MAPPING_REQUEST__INIT;
    if (item->named.id != NULL) {
        request->_id_case = ERRATA__V1__REJECT_MAPPING_REQUEST___ID_ID;
        request->id = text(item->named.id);
        return;
    }
    request->_customer_id_case = ERRATA__V1__REJECT_MAPPING_REQUEST___CUSTOMER_ID_CUSTOMER_ID;
    request->customer_id = text(item->named.customer_id);
    request->_customer_sku_case = ERRATA__V1__REJECT_MAPPING_REQUEST___CUSTOMER_SKU_CUSTOMER_SKU;
    request->customer_sku = text(item->named.customer_sku);
    request->_internal_sku_case = ERRATA__V1__REJECT_MAPPING_REQUEST___INTERNAL_SKU_INTERNAL_SKU;
    request->internal_sku = text(item->named.internal_sku);
}

static void fill(struct messages *messages, size_t i, const struct item *item, bool is_history)
{
    Errata__V1__MappingJudgement *judgement = &messages->judgements[i];
    Errata__V1__SkuMapping *suggestion = &messages->suggestions[i];

    *judgement = (Errata__V1__MappingJudgement)ERRATA__V1__MAPPING_JUDGEMENT__INIT;
    messages->list[i] = judgement;
    switch (item->kind) {
    case CONFIRM:
        fill_confirm(&messages->confirms[i], item);
        messages->confirms[i].created_at = is_history ? &messages->time : NULL;
        judgement->judgement_case = ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_CONFIRM;
        judgement->confirm = &messages->confirms[i];
        break;
    case REJECT:
        fill_reject(&messages->rejects[i], item);
        messages->rejects[i].created_at = is_history ? &messages->time : NULL;
        judgement->judgement_case = ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_REJECT;
        judgement->reject = &messages->rejects[i];
        break;
    case SUGGEST:
        *suggestion = (Errata__V1__SkuMapping)ERRATA__V1__SKU_MAPPING__INIT;
        suggestion->customer_id = text(item->named.customer_id);
        suggestion->customer_sku = text(item->named.customer_sku);
        suggestion->internal_sku = text(item->named.internal_sku);
        suggestion->_confidence_case = ERRATA__V1__SKU_MAPPING___CONFIDENCE_CONFIDENCE;
        suggestion->confidence = item->confidence;
        suggestion->created_at = is_history ? &messages->time : NULL;
        judgement->judgement_case = ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_SUGGEST;
        judgement->suggest = suggestion;
        break;
    case KINDS: /* a judgement of an unknown kind */
        break;
    }
}

/* Sends a batch. The exchange is left open if it succeeded, for its reply. */
static struct exchange judge(const struct caller *caller, const struct item *items, size_t count)
{
    struct exchange exchange;
    static struct messages messages;
    const struct exchange_start start = {.path = "errata.v1.MappingService/BatchJudgeMappings",
                                         .authorization = caller->token,
                                         .idempotency_key = caller->key};
    Errata__V1__BatchJudgeMappingsRequest request = ERRATA__V1__BATCH_JUDGE_MAPPINGS_REQUEST__INIT;

    messages.time = (Google__Protobuf__Timestamp)GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    messages.time.seconds = caller->created_at_us / 1000000;
    for (size_t i = 0; i < count; i++) {
        fill(&messages, i, &items[i], caller->created_at_us != 0);
    }
    request.n_judgements = count;
    request.judgements = messages.list;
    exchange_open(&exchange, caller->fixture, &start);
    exchange_send(&exchange, &request.base);
    fixture_run(caller->fixture);
    assert_true(exchange.ended);
    if (exchange.code != STATUS_OK) {
        exchange_close(&exchange);
    }
    return exchange;
}

/* Does the same, and expects it to be stored. */
static Errata__V1__BatchJudgeMappingsResponse *judged(const struct caller *caller,
                                                      const struct item *items, size_t count)
{
    struct exchange exchange = judge(caller, items, count);
    Errata__V1__BatchJudgeMappingsResponse *response =
        exchange_read(&exchange, &errata__v1__batch_judge_mappings_response__descriptor);

    assert_int_equal(exchange.code, STATUS_OK);
    assert_non_null(response);
    assert_int_equal(response->n_judged, count);
    exchange_close(&exchange);
    return response;
}

static const char *event_of(const Errata__V1__BatchJudgeMappingsResponse *response, size_t i)
{
    return response->judged[i]->_event_id_case == ERRATA__V1__JUDGED_MAPPING___EVENT_ID_EVENT_ID
               ? response->judged[i]->event_id
               : NULL;
}

/* Goal: each judgement has its effect and its event, in order, and may follow from those before it. Method: one of
 * each kind, by names, by id and by id with another SKU; suggestions that change nothing. */
static void test_each_judgement_has_its_event(void **state)
{
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    const struct named known = {"c1", "K-1", "X", NULL};
    Errata__V1__BatchJudgeMappingsResponse *response = NULL;
    Errata__V1__SkuMapping *mapping = NULL;
    struct judged first = {NULL, NULL};
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    assert_int_equal(mappings_confirm(&caller, &known, NULL, &first), STATUS_OK);

    const struct item items[] = {
        {CONFIRM, {"c1", "A-1", "X", NULL}, 0, "ann"},
        {CONFIRM, {"c1", " a-1", "Y", NULL}, 0, NULL}, /* supersedes the previous one */
        {SUGGEST, {"c1", "B-1", "X", NULL}, 0.5, NULL},
        {SUGGEST, {"c1", "b-1", "x", NULL}, 0.5, NULL}, /* changes nothing */
        {SUGGEST, {"c1", "B-1", "X", NULL}, 0.75, NULL},
        {REJECT, {"c1", "C-1", "X", NULL}, 0, NULL},
        {SUGGEST, {"c1", "C-1", "X", NULL}, 0.5, NULL}, /* changes nothing */
        {REJECT, {NULL, NULL, NULL, first.mapping->id}, 0, NULL},
        {CONFIRM, {NULL, "K-2", NULL, first.mapping->id}, 0, NULL},
    };

    seq = mappings_last_seq(&caller);
    response = judged(&caller, items, sizeof(items) / sizeof(items[0]));
    assert_int_equal(mappings_last_seq(&caller), seq + 7);
    for (size_t i = 0; i < response->n_judged; i++) {
        assert_int_equal(event_of(response, i) == NULL, i == 3 || i == 6);
    }
    for (size_t i = 3; i < 5; i++) {
        assert_string_equal(response->judged[2]->mapping_id, response->judged[i]->mapping_id);
    }
    assert_string_equal(response->judged[5]->mapping_id, response->judged[6]->mapping_id);
    assert_string_equal(response->judged[7]->mapping_id, first.mapping->id);
    assert_string_equal(mappings_event(&caller, event_of(response, 0))->actor_user_id, "ann");
    assert_int_equal(mappings_get(&caller, response->judged[0]->mapping_id, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, SUPERSEDED);
    assert_int_equal(mappings_get(&caller, response->judged[4]->mapping_id, &mapping), STATUS_OK);
    assert_true(mapping->confidence == 0.75);
    assert_int_equal(mappings_get(&caller, first.mapping->id, &mapping), STATUS_OK);
    assert_int_equal(mapping->status, REJECTED);
    assert_string_equal(mappings_match_one(&caller, "c1", "a-1")->internal_sku, "Y");
    assert_string_equal(mappings_match_one(&caller, "c1", "k-2")->internal_sku, "X");
    fixture_deinit(&fixture);
}

static void draw_item(struct fixture *fixture, struct item *item, const char *customer)
{
    static const char *const skus[] = {"ab-1", "AB-1 ", "ab-2", "c"};
    static const char *const internals[] = {"X", "Y", "x"};
    uint8_t draws[4];

    random_fill(&fixture->random.random, draws, sizeof(draws));
    *item = (struct item){.kind = draws[0] % KINDS,
                          .named = {customer, skus[draws[1] % 4], internals[draws[2] % 3], NULL},
                          .confidence = draws[3] % 4 / 4.0};
}

static void judge_singly(const struct caller *caller, const struct item *item)
{
    switch (item->kind) {
    case CONFIRM:
        assert_int_equal(mappings_confirm(caller, &item->named, NULL, NULL), STATUS_OK);
        break;
    case REJECT:
        assert_int_equal(mappings_reject(caller, &item->named, NULL), STATUS_OK);
        break;
    case SUGGEST:
    case KINDS:
        assert_int_equal(mappings_suggest(caller, &item->named, item->confidence, NULL), STATUS_OK);
    }
}

static Errata__V1__ListMappingsResponse *list(const struct caller *caller, const char *customer)
{
    const struct exchange_start start = {.path = "errata.v1.MappingService/ListMappings",
                                         .authorization = caller->token};
    Errata__V1__ListMappingsRequest request = ERRATA__V1__LIST_MAPPINGS_REQUEST__INIT;
    Errata__V1__ListMappingsResponse *response = NULL;

    request.customer_id = text(customer);
    assert_int_equal(fixture_call(caller->fixture, &start, &request.base, &response), STATUS_OK);
    return response;
}

/* Goal: a batch has the effect of its judgements one by one, and a repeat under its key gets the same bytes,
 * regardless of later writes. Method: random batches for one customer, the same singly for another; each batch
 * twice, the second time after the next one; live and backdated. */
static void test_batch_equals_single_calls(void **state)
{
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    struct item items[2][20];
    char keys[2][16] = {"", ""};
    int64_t times[2] = {0, 0};
    struct slice answers[2];
    Errata__V1__ListMappingsResponse *lists[2];

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    for (size_t round = 0; round < 60; round++) {
        size_t now = round % 2;
        size_t before = 1 - now;
        struct exchange exchange;

        (void)snprintf(keys[now], sizeof(keys[0]), "key-%zu", round);
        times[now] = round % 3 == 2 ? FIXTURE_START_US - (int64_t)(round % 7 + 1) * DAY_US : 0;
        clock_manual_advance(&fixture.clock, 1000000);
        for (size_t i = 0; i < 20; i++) {
            draw_item(&fixture, &items[now][i], "c1");
        }
        caller.created_at_us = times[now];
        caller.key = keys[now];
        exchange = judge(&caller, items[now], 20);
        assert_int_equal(exchange.code, STATUS_OK);
        assert_true(exchange_read_bytes(&exchange, &answers[now]));
        exchange_close(&exchange);
        caller.key = NULL;
        for (size_t i = 0; i < 20; i++) {
            struct item single = items[now][i];

            single.named.customer_id = "c2";
            judge_singly(&caller, &single);
        }
        if (round > 0) {
            struct slice again = {NULL, 0};
            uint64_t seq = mappings_last_seq(&caller);

            caller.key = keys[before];
            caller.created_at_us = times[before];
            exchange = judge(&caller, items[before], 20);
            assert_true(exchange_read_bytes(&exchange, &again));
            exchange_close(&exchange);
            assert_true(slice_equal(again, answers[before]));
            assert_int_equal(mappings_last_seq(&caller), seq);
        }
    }
    lists[0] = list(&caller, "c1");
    lists[1] = list(&caller, "c2");
    assert_true(lists[0]->n_mappings >= 6);
    assert_int_equal(lists[0]->n_mappings, lists[1]->n_mappings);
    for (size_t i = 0; i < lists[0]->n_mappings; i++) {
        const Errata__V1__SkuMapping *a = lists[0]->mappings[i];
        const Errata__V1__SkuMapping *b = lists[1]->mappings[i];

        assert_string_equal(a->customer_sku, b->customer_sku);
        assert_string_equal(a->internal_sku, b->internal_sku);
        assert_int_equal(a->status, b->status);
        assert_true(a->confidence == b->confidence);
        assert_int_equal(a->support_count, b->support_count);
    }
    fixture_deinit(&fixture);
}

/* Goal: with one invalid judgement nothing is stored; each is named by its place. Method: every mistake among valid
 * ones, and together. */
static void test_invalid_judgement_refuses_the_batch(void **state)
{
    static const struct {
        struct item item;
        enum status_code code;
        const char *field; /* field named in the message or the details */
    } bad[] = {
        {{KINDS, {NULL, NULL, NULL, NULL}, 0, NULL}, STATUS_INVALID_ARGUMENT, "judgements[1]"},
        {{CONFIRM, {"c1", " ", "X", NULL}, 0, NULL},
         STATUS_INVALID_ARGUMENT,
         "judgements[1].confirm.customer_sku"},
        {{REJECT, {"c1", "A", "\t", NULL}, 0, NULL},
         STATUS_INVALID_ARGUMENT,
         "judgements[1].reject.internal_sku"},
        {{SUGGEST, {"c1", "A", "X", NULL}, 1.5, NULL},
         STATUS_INVALID_ARGUMENT,
         "judgements[1].suggest.confidence"},
        {{REJECT, {NULL, NULL, NULL, "01890000-0000-7000-8000-000000000000"}, 0, NULL},
         STATUS_NOT_FOUND,
         "judgements[1].reject.id"},
        {{CONFIRM, {NULL, "B", NULL, "01890000-0000-7000-8000-000000000000"}, 0, NULL},
         STATUS_NOT_FOUND,
         "judgements[1].confirm.id"},
    };
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    seq = mappings_last_seq(&caller);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct item items[] = {{CONFIRM, {"c1", "A", "X", NULL}, 0, NULL},
                                     bad[i].item,
                                     {SUGGEST, {"c1", "B", "X", NULL}, 0.5, NULL}};
        struct exchange exchange = judge(&caller, items, 3);

        assert_int_equal(exchange.code, bad[i].code);
        assert_true(slice_has(exchange.message, bad[i].field) ||
                    slice_has(exchange.details, bad[i].field));
        assert_int_equal(mappings_last_seq(&caller), seq);
    }
    const struct item both[] = {bad[1].item, bad[1].item};
    struct exchange exchange = judge(&caller, both, 2);

    assert_true(slice_has(exchange.details, "judgements[0].confirm.customer_sku"));
    assert_true(slice_has(exchange.details, "judgements[1].confirm.customer_sku"));
    fixture_deinit(&fixture);
}

/* Goal: a batch has 1 to 1,000 judgements. Method: none, 1,000 and one more. */
static void test_batch_size_is_bounded(void **state)
{
    static struct item items[ITEMS_MAX];
    static char skus[ITEMS_MAX][16];
    struct fixture fixture;
    struct caller caller = {.fixture = &fixture};

    (void)state;
    fixture_init(&fixture);
    caller.token = fixture.admin;
    for (size_t i = 0; i < ITEMS_MAX; i++) {
        (void)snprintf(skus[i], sizeof(skus[0]), "sku-%zu", i);
        items[i] = (struct item){CONFIRM, {"c1", skus[i], "X", NULL}, 0, NULL};
    }
    assert_int_equal(judge(&caller, items, 0).code, STATUS_INVALID_ARGUMENT);
    assert_int_equal(judge(&caller, items, ITEMS_MAX).code, STATUS_INVALID_ARGUMENT);
    (void)judged(&caller, items, ITEMS_MAX - 1);
    assert_string_equal(mappings_match_one(&caller, "c1", "sku-999")->internal_sku, "X");
    fixture_deinit(&fixture);
}

/* Goal: permissions are those of single calls, checked before anything is stored. Method: a VIEWER; an INTEGRATOR
 * with and without a time; a person who names another, after a judgement that is permitted. */
static void test_batch_requires_the_roles_of_single_calls(void **state)
{
    const struct item items[] = {{CONFIRM, {"c1", "A", "X", NULL}, 0, NULL},
                                 {CONFIRM, {"c1", "B", "X", NULL}, 0, "someone else"}};
    struct fixture fixture;
    char token[FIXTURE_TOKEN_BYTES];
    struct caller caller = {.fixture = &fixture, .token = token};
    struct caller admin = {.fixture = &fixture};
    struct exchange exchange;
    uint64_t seq = 0;

    (void)state;
    fixture_init(&fixture);
    admin.token = fixture.admin;
    fixture_make_token(&fixture, fixture.admin, ROLE_VIEWER, token);
    assert_int_equal(judge(&caller, items, 1).code, STATUS_PERMISSION_DENIED);
    fixture_make_token(&fixture, fixture.admin, ROLE_INTEGRATOR, token);
    assert_int_equal(judge(&caller, items, 1).code, STATUS_PERMISSION_DENIED);
    caller.created_at_us = FIXTURE_START_US - DAY_US;
    (void)judged(&caller, items, 1);
    caller.created_at_us = 0;
    fixture_make_token(&fixture, fixture.admin, ROLE_OPERATOR, token);
    (void)judged(&caller, items, 1);
    seq = mappings_last_seq(&admin);
    exchange = judge(&caller, items, 2);
    assert_int_equal(exchange.code, STATUS_PERMISSION_DENIED);
    assert_true(slice_has(exchange.message, "judgements[1].confirm.actor_user_id"));
    assert_int_equal(mappings_last_seq(&admin), seq);
    fixture_deinit(&fixture);
}

int run_mapping_batch_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_judgement_has_its_event),
        cmocka_unit_test(test_batch_equals_single_calls),
        cmocka_unit_test(test_invalid_judgement_refuses_the_batch),
        cmocka_unit_test(test_batch_size_is_bounded),
        cmocka_unit_test(test_batch_requires_the_roles_of_single_calls),
    };

    return cmocka_run_group_tests_name("rpc: mapping batches", tests, NULL, NULL);
}
