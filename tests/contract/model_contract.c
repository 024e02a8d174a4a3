/*
 * model_contract.c: many random operations against a model that is too simple to be wrong: an array
 * that says for each of some thousand keys whether it is there and with which value.
 */
#include "tests/contract/contract.h"

#include "store/base/bytes.h"
#include "store/base/random.h"

#include <stdlib.h>

#define MODEL_KEYS 4096
#define MODEL_ROUNDS 60
#define MODEL_OPERATIONS 400

/* 0: not there; else what the value is made from. */
struct model {
    uint32_t values[MODEL_KEYS];
};

/* Key and value of a row. Keys sort as their numbers; the low bits make organisations of 64 keys. */
static struct contract_key model_key(uint32_t number)
{
    struct contract_key key = contract_key((uint8_t)(1 + number / 64), "");

    bytes_put_be32(key.bytes + key.size, number);
    key.size += sizeof(number);
    return key;
}

static struct slice model_value(uint32_t value, uint8_t bytes[2048])
{
    size_t size = value % 5 == 0 ? value % 2048 : value % 40;

    memset(bytes, (int)(value & 0xff), size);
    return slice_of(bytes, size);
}

static uint32_t draw(struct random_seeded *random, uint32_t below)
{
    uint32_t number = 0;

    random_fill(&random->random, &number, sizeof(number));
    return number % below;
}

static void change(struct store_txn *txn, struct random_seeded *random, struct model *model)
{
    uint32_t number = draw(random, MODEL_KEYS);
    struct contract_key key = model_key(number);
    uint8_t bytes[2048];

    if (draw(random, 3) == 0) {
        enum err wanted = model->values[number] != 0 ? OK : ERR_NOT_FOUND;

        assert_int_equal(store_del(txn, CONTRACT_TABLE, contract_slice(&key)), wanted);
        model->values[number] = 0;
    } else {
        uint32_t value = 1 + draw(random, 1u << 20);

        assert_int_equal(
            store_put(txn, CONTRACT_TABLE, contract_slice(&key), model_value(value, bytes)), OK);
        model->values[number] = value;
    }
}

/* Walks one organisation in one order, from its end or from a random key, against the model. */
static void walk(struct store_txn *txn, struct random_seeded *random, const struct model *model)
{
    uint32_t first = draw(random, MODEL_KEYS / 64) * 64;
    bool up = draw(random, 2) == 0;
    uint32_t start = draw(random, 2) == 0 ? (up ? first : first + 63) : first + draw(random, 64);
    uint32_t count = up ? first + 64 - start : start - first + 1;
    struct contract_key prefix = contract_key((uint8_t)(1 + first / 64), "");
    struct contract_key from = model_key(start);
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint8_t bytes[2048];

    assert_int_equal(store_cursor_init(&cursor, txn, CONTRACT_TABLE, contract_slice(&prefix),
                                       contract_slice(&from),
                                       up ? STORE_ASCENDING : STORE_DESCENDING),
                     OK);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = up ? start + i : start - i;
        struct contract_key wanted = model_key(number);

        if (model->values[number] == 0) {
            continue;
        }
        assert_int_equal(store_cursor_next(&cursor, &key, &value), OK);
        assert_true(slice_equal(key, contract_slice(&wanted)));
        assert_true(slice_equal(value, model_value(model->values[number], bytes)));
    }
    assert_int_equal(store_cursor_next(&cursor, &key, &value), ERR_NOT_FOUND);
    store_cursor_deinit(&cursor);
}

static void compare_all(struct store_txn *txn, const struct model *model)
{
    uint8_t bytes[2048];

    for (uint32_t number = 0; number < MODEL_KEYS; number++) {
        struct contract_key key = model_key(number);
        struct slice value = {NULL, 0};
        enum err err = store_get(txn, CONTRACT_TABLE, contract_slice(&key), &value);

        assert_int_equal(err, model->values[number] != 0 ? OK : ERR_NOT_FOUND);
        if (err == OK) {
            assert_true(slice_equal(value, model_value(model->values[number], bytes)));
        }
    }
}

/* Goal: any mix of puts, deletes, walks, commits and aborts gives the result of the model, in the
 * writer and in a reader of the snapshot before. Method: seeded rounds of random operations. */
static void test_random_operations_equal_the_model(void **state)
{
    struct model *model = calloc(1, sizeof(*model));
    struct model *attempt = calloc(1, sizeof(*attempt));
    struct random_seeded random;

    assert_non_null(model);
    assert_non_null(attempt);
    random_seeded_init(&random, 20260101);
    for (int round = 0; round < MODEL_ROUNDS; round++) {
        struct store_txn *reader = contract_begin(state, STORE_READ);
        struct store_txn *writer = contract_begin(state, STORE_WRITE);

        *attempt = *model;
        for (int i = 0; i < MODEL_OPERATIONS; i++) {
            change(writer, &random, attempt);
            if (i % 8 == 0) {
                walk(writer, &random, attempt);
                walk(reader, &random, model);
            }
        }
        compare_all(writer, attempt);
        if (draw(&random, 4) == 0) {
            store_abort(writer);
            compare_all(reader, model);
        } else {
            contract_commit(writer);
            compare_all(reader, model);
            *model = *attempt;
        }
        store_reset(reader);
        assert_int_equal(store_renew(reader), OK);
        compare_all(reader, model);
        store_abort(reader);
    }
    free(attempt);
    free(model);
}

int contract_run_model(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_operations_equal_the_model, setup, teardown),
    };

    return cmocka_run_group_tests_name("store model", tests, NULL, NULL);
}
