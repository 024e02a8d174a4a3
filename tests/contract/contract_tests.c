/*
 * contract_tests.c: runs every group over each back end.
 */
#include "tests/contract/contract.h"

#include "store/base/fault.h"
#include "store/journal/journal.h"
#include "store/journal/segments.h"
#include "store/lmdb/lmdb.h"
#include "store/memory/memory.h"
#include "tests/support/store/temp_folder.h"

#include <stdlib.h>

/* Enough for these tests, and quick to open under sanitizers. */
#define MAP_BYTES (1ull << 30)
#define RESERVE_BYTES 4096
#define KEY_ORG_BYTES 16
/* Small enough that memtables are stored all the time, and segments are used again. */
#define MEMTABLE_BYTES 1

struct fixture {
    struct contract contract; /* must be the first member: the state of a test */
    struct temp_folder folder;
    struct store_backend *tables; /* below the journal */
};

struct contract_key contract_key(uint8_t org, const char *name)
{
    struct contract_key key = {.size = KEY_ORG_BYTES + strlen(name)};

    assert_true(key.size <= sizeof(key.bytes));
    memset(key.bytes, org, KEY_ORG_BYTES);
    memcpy(key.bytes + KEY_ORG_BYTES, name, strlen(name));
    return key;
}

struct slice contract_slice(const struct contract_key *key)
{
    return slice_of(key->bytes, key->size);
}

struct store_txn *contract_begin(void **state, enum store_access access)
{
    struct contract *contract = *state;
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(contract->backend, access, &txn), OK);
    return txn;
}

void contract_commit(struct store_txn *txn)
{
    assert_int_equal(store_commit(txn), OK);
}

void contract_put(struct store_txn *txn, uint8_t org, const char *name, const char *value)
{
    struct contract_key key = contract_key(org, name);

    assert_int_equal(store_put(txn, CONTRACT_TABLE, contract_slice(&key), slice_text(value)), OK);
}

void contract_expect(struct store_txn *txn, uint8_t org, const char *name, const char *value)
{
    struct contract_key key = contract_key(org, name);
    struct slice found = {NULL, 0};
    enum err err = store_get(txn, CONTRACT_TABLE, contract_slice(&key), &found);

    if (value == NULL) {
        assert_int_equal(err, ERR_NOT_FOUND);
        return;
    }
    assert_int_equal(err, OK);
    assert_true(slice_equal(found, slice_text(value)));
}

static int setup_memory(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    *state = fixture;
    assert_int_equal(store_memory_open(&fixture->contract.backend), OK);
    return 0;
}

static int teardown_memory(void **state)
{
    struct fixture *fixture = *state;

    store_memory_close(fixture->contract.backend);
    free(fixture);
    return 0;
}

static int setup_lmdb(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct store_lmdb_config config = {.map_bytes = MAP_BYTES, .reserve_bytes = RESERVE_BYTES};
    struct arena arena;
    struct fault fault;

    assert_non_null(fixture);
    *state = fixture;
    temp_folder_init(&fixture->folder);
    config.path = fixture->folder.path;
    arena_init(&arena, SIZE_MAX);
    fault_init(&fault, &arena);
    assert_int_equal(store_lmdb_open(&config, &fault, &fixture->contract.backend), OK);
    arena_deinit(&arena);
    return 0;
}

static int teardown_lmdb(void **state)
{
    struct fixture *fixture = *state;

    store_lmdb_close(fixture->contract.backend);
    temp_folder_deinit(&fixture->folder);
    free(fixture);
    return 0;
}

/* `memtable_bytes`: 0: nothing is stored in the tables while a test runs. */
static int setup_journal(void **state, size_t memtable_bytes)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct store_journal_config config = {.segment_bytes = 8 * STORE_JOURNAL_SEGMENT_BYTES_MIN,
                                          .memtable_bytes = memtable_bytes,
                                          .random = random_system(),
                                          .clock = clock_system()};
    struct arena arena;
    struct fault fault;

    assert_non_null(fixture);
    *state = fixture;
    temp_folder_init(&fixture->folder);
    assert_int_equal(store_memory_open(&fixture->tables), OK);
    config.tables = fixture->tables;
    config.path = fixture->folder.path;
    arena_init(&arena, SIZE_MAX);
    fault_init(&fault, &arena);
    assert_int_equal(store_journal_open(&config, &fault, &fixture->contract.backend), OK);
    arena_deinit(&arena);
    return 0;
}

static int setup_journal_in_memory(void **state)
{
    return setup_journal(state, 0);
}

static int setup_journal_stored(void **state)
{
    return setup_journal(state, MEMTABLE_BYTES);
}

static int teardown_journal(void **state)
{
    struct fixture *fixture = *state;

    store_journal_close(fixture->contract.backend);
    store_memory_close(fixture->tables);
    temp_folder_deinit(&fixture->folder);
    free(fixture);
    return 0;
}

int main(void)
{
    int failed = 0;

    failed += contract_run_transactions(setup_memory, teardown_memory);
    failed += contract_run_cursors(setup_memory, teardown_memory);
    failed += contract_run_model(setup_memory, teardown_memory);
    failed += contract_run_transactions(setup_lmdb, teardown_lmdb);
    failed += contract_run_cursors(setup_lmdb, teardown_lmdb);
    failed += contract_run_model(setup_lmdb, teardown_lmdb);
    failed += contract_run_transactions(setup_journal_in_memory, teardown_journal);
    failed += contract_run_cursors(setup_journal_in_memory, teardown_journal);
    failed += contract_run_model(setup_journal_in_memory, teardown_journal);
    failed += contract_run_transactions(setup_journal_stored, teardown_journal);
    failed += contract_run_cursors(setup_journal_stored, teardown_journal);
    failed += contract_run_model(setup_journal_stored, teardown_journal);
    return failed == 0 ? 0 : 1;
}
