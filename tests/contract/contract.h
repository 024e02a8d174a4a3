/*
 * contract.h: one back end under test. Every group runs over each of them, so nothing in the tests
 * may know which it is. Keys are 16 bytes of one organisation's number, then a text.
 */
#ifndef ERRATA_TESTS_CONTRACT_CONTRACT_H
#define ERRATA_TESTS_CONTRACT_CONTRACT_H

#include "store/backend.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Fresh and empty for each test. */
struct contract {
    struct store_backend *backend;
};

struct contract_key {
    uint8_t bytes[STORE_KEY_BYTES_MAX];
    size_t size;
};

struct contract_key contract_key(uint8_t org, const char *name);
struct slice contract_slice(const struct contract_key *key);

struct store_txn *contract_begin(void **state, enum store_access access);
void contract_commit(struct store_txn *txn);
void contract_put(struct store_txn *txn, uint8_t org, const char *name, const char *value);
/* `value` is the stored value; NULL: there is none. */
void contract_expect(struct store_txn *txn, uint8_t org, const char *name, const char *value);

#define CONTRACT_TABLE TABLE_SUBJECT

/* A group for each back end: its tests get a fresh one each. Returns the number of failed tests. */
int contract_run_transactions(CMFixtureFunction setup, CMFixtureFunction teardown);
int contract_run_cursors(CMFixtureFunction setup, CMFixtureFunction teardown);
int contract_run_model(CMFixtureFunction setup, CMFixtureFunction teardown);

#endif
