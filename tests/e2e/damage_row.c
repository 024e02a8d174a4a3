/*
 * damage_row.c: changes one row of a store that no one has open, bypassing the server: for tests of
 * verification and rebuild.
 *   damage_row DIR TABLE missing|other|short|extra N    the table's N-th row, of all organisations,
 *   from 0
 * Prints the key in hex.
 */
#include "store/base/assert.h"
#include "store/lmdb/lmdb.h"

#include <stdio.h>
#include <stdlib.h>

#define ARENA_BYTES (16u << 20)
#define PREFIX_BYTES UUID_BYTES

struct row {
    uint8_t key[STORE_KEY_BYTES_MAX];
    size_t key_bytes;
    uint8_t value[STORE_VALUE_BYTES_MAX];
    size_t value_bytes;
};

static enum store_table find_table(const char *name)
{
    for (int i = 0; i < TABLE_COUNT; i++) {
        if (strcmp(store_table_name((enum store_table)i), name) == 0) {
            return (enum store_table)i;
        }
    }
    (void)fprintf(stderr, "there is no table %s\n", name);
    exit(2);
}

/* Counts `left` down over an organisation's rows; true once the row is found. */
static bool find_in_org(struct store_txn *txn, enum store_table table, struct uuid org,
                        unsigned long *left, struct row *row)
{
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    bool found = false;

    ASSERT(store_cursor_init(&cursor, txn, table, slice_of(org.bytes, PREFIX_BYTES),
                             slice_of(NULL, 0), STORE_ASCENDING) == OK);
    while (!found && store_cursor_next(&cursor, &key, &value) == OK) {
        found = (*left)-- == 0;
    }
    if (found) {
        memcpy(row->key, key.data, key.size);
        memcpy(row->value, value.data, value.size);
        row->key_bytes = key.size;
        row->value_bytes = value.size;
    }
    store_cursor_deinit(&cursor);
    return found;
}

static void find_row(struct store_backend *backend, enum store_table table, unsigned long number,
                     struct row *row)
{
    struct store_txn *txn = NULL;
    struct uuid org;
    unsigned long left = number;
    bool found = false;

    ASSERT(store_begin(backend, STORE_READ, &txn) == OK);
    if (store_next_org(txn, table, NULL, &org) == OK) {
        do {
            found = find_in_org(txn, table, org, &left, row);
        } while (!found && store_next_org(txn, table, &org, &org) == OK);
    }
    store_abort(txn);
    if (!found) {
        (void)fprintf(stderr, "the table has no row %lu\n", number);
        exit(2);
    }
}

static void change_row(struct store_backend *backend, enum store_table table, const char *how,
                       struct row *row)
{
    struct slice key = slice_of(row->key, row->key_bytes);
    struct store_txn *txn = NULL;

    ASSERT(store_begin(backend, STORE_WRITE, &txn) == OK);
    if (strcmp(how, "missing") == 0) {
        ASSERT(store_del(txn, table, key) == OK);
    } else if (strcmp(how, "extra") == 0) {
        row->key[row->key_bytes - 1] ^= 0x55;
        ASSERT(store_put(txn, table, key, slice_of(row->value, row->value_bytes)) == OK);
    } else if (strcmp(how, "short") == 0) {
        ASSERT(row->value_bytes > 0);
        ASSERT(store_put(txn, table, key, slice_of(row->value, row->value_bytes - 1)) == OK);
    } else {
        ASSERT(row->value_bytes > 0);
        row->value[row->value_bytes - 1] ^= 1;
        ASSERT(store_put(txn, table, key, slice_of(row->value, row->value_bytes)) == OK);
    }
    ASSERT(store_commit(txn) == OK);
}

int main(int argc, char **argv)
{
    static struct row row;
    struct store_lmdb_config config = {.path = argc == 5 ? argv[1] : ""};
    struct store_backend *backend = NULL;
    struct arena arena;
    struct fault fault;

    arena_init(&arena, ARENA_BYTES);
    fault_init(&fault, &arena);
    if (store_lmdb_open(&config, &fault, &backend) != OK) {
        (void)fprintf(stderr, "damage_row: %.*s\n", (int)fault.message.size,
                      (const char *)fault.message.data);
        return 1;
    }
    find_row(backend, find_table(argv[2]), strtoul(argv[4], NULL, 10), &row);
    change_row(backend, find_table(argv[2]), argv[3], &row);
    store_lmdb_close(backend);
    arena_deinit(&arena);
    for (size_t i = 0; i < row.key_bytes; i++) {
        (void)printf("%02x", row.key[i]);
    }
    (void)printf("\n");
    return 0;
}
