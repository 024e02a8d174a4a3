/*
 * app_tests.c: values that the app reads from another store or another process.
 */
#include "tests/unit/app/app_tests.h"

#include "server/app/rebuild.h"
#include "server/app/verify_message.h"
#include "store/memory/memory.h"
#include "tests/support/store/store_fixture.h"

static void put(struct store_backend *backend, const char *name, struct slice value)
{
    struct key key = key_meta_global(slice_text(name));
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(backend, STORE_WRITE, &txn), OK);
    assert_int_equal(store_put(txn, TABLE_META, key_slice(&key), value), OK);
    assert_int_equal(store_commit(txn), OK);
}

static void expect(struct store_backend *backend, const char *name, enum err wanted,
                   struct slice value)
{
    struct key key = key_meta_global(slice_text(name));
    struct slice found = {NULL, 0};
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(backend, STORE_READ, &txn), OK);
    assert_int_equal(store_get(txn, TABLE_META, key_slice(&key), &found), wanted);
    assert_true(wanted != OK || slice_equal(found, value));
    store_abort(txn);
}

/* Goal: a server's own values are copied into a rebuilt store, values about the old store are not.
 * Method: names before and after those of the store, in both stores. */
static void test_only_server_values_are_carried_into_a_rebuilt_store(void **state)
{
    struct store_fixture *fixture = *state;
    struct store_backend *made = NULL;

    assert_int_equal(store_memory_open(&made), OK);
    put(fixture->backend, "format", SLICE("old"));
    put(fixture->backend, "probe", SLICE("old"));
    put(fixture->backend, "format2", SLICE("mine"));
    put(fixture->backend, "page_token_key", SLICE("key"));
    put(fixture->backend, "probes", slice_of(NULL, 0));
    put(made, "format", SLICE("new"));
    assert_int_equal(rebuild_carry_local(fixture->backend, made), OK);
    expect(made, "format", OK, SLICE("new"));
    expect(made, "probe", ERR_NOT_FOUND, slice_of(NULL, 0));
    expect(made, "format2", OK, SLICE("mine"));
    expect(made, "page_token_key", OK, SLICE("key"));
    expect(made, "probes", OK, slice_of(NULL, 0));
    store_memory_close(made);
}

/* Goal: invalid bools, indices and unterminated texts are rejected, for any bytes. Method: a valid
 * message; then each field with a value just out of range. */
static void test_invalid_message_is_rejected(void **state)
{
    static struct verify_message whole = {
        .stage = VERIFY_AT_COMPARE, .ended = true, .damaged = true};
    static struct verify_message torn;
    static const size_t bools[] = {offsetof(struct verify_message, ended),
                                   offsetof(struct verify_message, damaged)};

    (void)state;
    assert_true(verify_message_holds(&whole));
    for (size_t i = 0; i < sizeof(bools) / sizeof(bools[0]); i++) {
        for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
            torn = whole;
            ((uint8_t *)&torn)[bools[i]] = (uint8_t)byte;
            assert_int_equal(verify_message_holds(&torn), byte <= 1);
        }
    }
    torn = whole;
    memset(torn.why, 'x', sizeof(torn.why));
    assert_false(verify_message_holds(&torn));
    torn = whole;
    torn.err = ERR_COUNT;
    assert_false(verify_message_holds(&torn));
    torn = whole;
    torn.report.difference_count = REPLAY_DIFFERENCES_MAX + 1;
    assert_true(verify_message_holds(&torn));
    torn.report.differences[REPLAY_DIFFERENCES_MAX - 1].key_bytes = STORE_KEY_BYTES_MAX + 1;
    assert_false(verify_message_holds(&torn));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_server_values_are_carried_into_a_rebuilt_store,
                                        store_fixture_set_up, store_fixture_tear_down),
        cmocka_unit_test(test_invalid_message_is_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + run_address_file_tests() +
           run_damage_tests() + run_supervisor_tests();
}
