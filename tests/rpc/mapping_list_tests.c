/*
 * mapping_list_tests.c: ListMappings through calls: every filter against a model that keeps all mappings in an
 * array, and the order across customers.
 */
#include "tests/rpc/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define CUSTOMERS 3
#define INTERNALS 3
#define FACTS (CUSTOMERS * INTERNALS * 8)
/* More than the mappings that one call examines. */
#define MANY 2100

/* Customer SKUs as written, in the order of their first 24 folded bytes; the last two agree in those. */
static const char *const skus[] = {"a",
                                   "AB-1",
                                   "ab-2",
                                   "B",
                                   "b\xc3\x9c",
                                   "c 56789012345678901234",
                                   "c 5678901234567890123456-b",
                                   "c 5678901234567890123456-A"};

#define SKUS (sizeof(skus) / sizeof(skus[0]))

static const char *const customers[CUSTOMERS] = {"zeta", "acme", "mu"};
static const char *const internals[INTERNALS] = {"I-1", "i-2", "I-10"};

/* A mapping, as indexes of the names above. */
struct fact {
    size_t customer;
    size_t sku;
    size_t internal;
    bool confirmed;
};

struct model {
    struct fixture fixture;
    struct caller admin;
    struct fact facts[FACTS]; /* in the order of creation */
    size_t count;
};

static void add(struct model *model, const struct fact *fact)
{
    const struct named named = {.customer_id = customers[fact->customer],
                                .customer_sku = skus[fact->sku],
                                .internal_sku = internals[fact->internal]};

    if (fact->confirmed) {
        assert_int_equal(mappings_confirm(&model->admin, &named, "", NULL), STATUS_OK);
    } else {
        assert_int_equal(mappings_suggest(&model->admin, &named, 0.5, NULL), STATUS_OK);
    }
    model->facts[model->count] = *fact;
    model->count++;
}

/* Creates one mapping of each name in an order that no index has; of each customer's SKU one is confirmed. */
static void init(struct model *model)
{
    memset(model, 0, sizeof(*model));
    fixture_init(&model->fixture);
    model->admin = (struct caller){.fixture = &model->fixture, .token = model->fixture.admin};
    for (size_t i = 0; i < FACTS; i++) {
        size_t n = i * 29 % FACTS; /* 29 and FACTS are coprime */
        const struct fact fact = {.customer = n % CUSTOMERS,
                                  .internal = n / CUSTOMERS % INTERNALS,
                                  .sku = n / (CUSTOMERS * INTERNALS),
                                  .confirmed = n / CUSTOMERS % INTERNALS == 1};

        add(model, &fact);
    }
}

/* The filter of a list; SIZE_MAX: any. */
struct wanted {
    size_t customer;
    size_t internal;
    const char *prefix; /* folded */
    bool only_confirmed;
};

static bool fits(const struct wanted *wanted, const struct fact *fact)
{
    static const char *const folded[] = {"a",
                                         "ab-1",
                                         "ab-2",
                                         "b",
                                         "b\xc3\xbc",
                                         "c 56789012345678901234",
                                         "c 5678901234567890123456-b",
                                         "c 5678901234567890123456-a"};

    return (wanted->customer == SIZE_MAX || wanted->customer == fact->customer) &&
           (wanted->internal == SIZE_MAX || wanted->internal == fact->internal) &&
           (!wanted->only_confirmed || fact->confirmed) &&
           strncmp(folded[fact->sku], wanted->prefix, strlen(wanted->prefix)) == 0;
}

/* The place of a SKU in the order, which has the same 24 bytes for the last two. */
static size_t place_of(const struct fact *fact)
{
    return fact->sku < SKUS - 1 ? fact->sku : SKUS - 2;
}

/* Lists the selected facts in the order of the list; returns their number. */
static size_t expect(const struct model *model, const struct wanted *wanted,
                     const struct fact *expected[FACTS])
{
    size_t count = 0;

    for (size_t i = 0; i < model->count; i++) {
        const struct fact *fact = &model->facts[i];
        size_t at = count;

        if (!fits(wanted, fact)) {
            continue;
        }
        for (; at > 0 && place_of(expected[at - 1]) > place_of(fact); at--) {
            expected[at] = expected[at - 1];
        }
        expected[at] = fact;
        count++;
    }
    return count;
}

static void compare_one(const Errata__V1__SkuMapping *mapping, const struct fact *fact)
{
    assert_string_equal(mapping->customer_id, customers[fact->customer]);
    assert_string_equal(mapping->customer_sku, skus[fact->sku]);
    assert_string_equal(mapping->internal_sku, internals[fact->internal]);
}

/* Reads a list by pages of `page_size` and compares it with the model. */
static void compare_list(struct model *model, const struct wanted *wanted, const char *internal,
                         int32_t page_size)
{
    const struct exchange_start start = {.path = "errata.v1.MappingService/ListMappings",
                                         .authorization = model->admin.token};
    Errata__V1__ListMappingsRequest request = ERRATA__V1__LIST_MAPPINGS_REQUEST__INIT;
    Errata__V1__ListMappingsResponse *response = NULL;
    const struct fact *expected[FACTS];
    size_t count = expect(model, wanted, expected);
    size_t seen = 0;
    char token[512] = "";

    request.page_size = page_size;
    request.page_token = token;
    request.status = wanted->only_confirmed ? CONFIRMED : 0;
    request.customer_sku_prefix = (char *)(uintptr_t)wanted->prefix;
    request.internal_sku = (char *)(uintptr_t)internal;
    if (wanted->customer != SIZE_MAX) {
        request.customer_id = (char *)(uintptr_t)customers[wanted->customer];
    }
    do {
        assert_int_equal(fixture_call(&model->fixture, &start, &request.base, &response),
                         STATUS_OK);
        for (size_t i = 0; i < response->n_mappings; i++) {
            assert_true(seen < count);
            compare_one(response->mappings[i], expected[seen]);
            seen++;
        }
        (void)snprintf(token, sizeof(token), "%s", response->next_page_token);
    } while (token[0] != '\0');
    assert_int_equal(seen, count);
}

/* Goal: lists are complete and in the stated order, for each combination of filters. Method: all combinations of
 * customer, internal SKU, prefix, status and page size against the model; internal SKUs in another case. */
static void test_filtered_lists_equal_the_model(void **state)
{
    static const char *const prefixes[] = {"", "a", "ab-", "b", "c 5678901234567890123456-a", "x"};
    static const char *const other_case[INTERNALS] = {" i-1", "I-2", "i-10 "};
    struct model model;

    (void)state;
    init(&model);
    for (size_t i = 0; i < (CUSTOMERS + 1) * (INTERNALS + 1) * 2; i++) {
        size_t customer = i % (CUSTOMERS + 1);
        size_t internal = i / (CUSTOMERS + 1) % (INTERNALS + 1);
        const char *text = internal < INTERNALS ? other_case[internal] : "";
        struct wanted wanted = {
            .customer = customer < CUSTOMERS ? customer : SIZE_MAX,
            .internal = internal < INTERNALS ? internal : SIZE_MAX,
            .only_confirmed = i >= (CUSTOMERS + 1) * (INTERNALS + 1),
        };

        for (size_t p = 0; p < sizeof(prefixes) / sizeof(prefixes[0]); p++) {
            wanted.prefix = prefixes[p];
            compare_list(&model, &wanted, text, p % 2 == 0 ? 5 : 1000);
        }
    }
    fixture_deinit(&model.fixture);
}

/* Goal: an internal SKU's mappings, and a prefix without a customer, are found by one seek. Method: one mapping
 * among more others than a call examines. */
static void test_prefix_is_found_by_one_seek(void **state)
{
    struct model model = {.count = 0};
    struct exchange_start list = {.path = "errata.v1.MappingService/ListMappings"};
    Errata__V1__ListMappingsRequest request = ERRATA__V1__LIST_MAPPINGS_REQUEST__INIT;
    Errata__V1__ListMappingsResponse *response = NULL;
    char wanted[] = "the one";
    char none[] = "";

    (void)state;
    fixture_init(&model.fixture);
    model.admin = (struct caller){.fixture = &model.fixture, .token = model.fixture.admin};
    for (int i = 0; i <= MANY; i++) {
        char sku[32];
        const struct named named = {.customer_id = customers[i % CUSTOMERS],
                                    .customer_sku = i == MANY ? wanted : sku,
                                    .internal_sku = i == MANY ? wanted : "another"};

        (void)snprintf(sku, sizeof(sku), "sku-%d", i);
        assert_int_equal(mappings_suggest(&model.admin, &named, 0.5, NULL), STATUS_OK);
    }
    list.authorization = model.admin.token;
    request.internal_sku = wanted;
    assert_int_equal(fixture_call(&model.fixture, &list, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_mappings, 1);
    assert_string_equal(response->next_page_token, "");
    request.internal_sku = none;
    request.customer_sku_prefix = wanted;
    assert_int_equal(fixture_call(&model.fixture, &list, &request.base, &response), STATUS_OK);
    assert_int_equal(response->n_mappings, 1);
    assert_string_equal(response->next_page_token, "");
    fixture_deinit(&model.fixture);
}

int run_mapping_list_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filtered_lists_equal_the_model),
        cmocka_unit_test(test_prefix_is_found_by_one_seek),
    };

    return cmocka_run_group_tests_name("rpc: mapping lists", tests, NULL, NULL);
}
