/*
 * vector_row.c: see vector_row.h.
 */
#include "server/domain/turns/vector_row.h"

#include <math.h>

/* The integer that represents 1. */
#define UNIT 32767

enum err turn_vector_put(struct arena *arena, struct store_txn *txn, struct org_id org,
                         uint64_t seq, const struct turn_vector *vector)
{
    struct key key = key_org_seq(org, seq);
    size_t size = 1 + vector->space.size + vector->width * 2;
    uint8_t *bytes = NULL;

    if (vector->space.size == 0) {
        return OK;
    }
    bytes = arena_alloc(arena, size);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    bytes[0] = (uint8_t)vector->space.size;
    memcpy(bytes + 1, vector->space.data, vector->space.size);
    for (size_t i = 0; i < vector->width; i++) {
        uint16_t number = (uint16_t)(int16_t)lrintf(vector->values[i] * UNIT);
        uint8_t *at = bytes + 1 + vector->space.size + i * 2;

        at[0] = (uint8_t)(number & 0xFF);
        at[1] = (uint8_t)(number >> 8);
    }
    return store_put(txn, TABLE_TURN_VECTOR, key_slice(&key), slice_of(bytes, size));
}

/* Splits a row into its space and numbers. */
static enum err split(struct slice value, struct slice *ret_space, struct slice *ret_numbers)
{
    if (value.size < 1 || value.size < 1u + value.data[0] ||
        (value.size - 1 - value.data[0]) % 2 != 0) {
        return ERR_CORRUPT;
    }
    *ret_space = slice_of(value.data + 1, value.data[0]);
    *ret_numbers = slice_after(value, 1u + value.data[0]);
    return ret_numbers->size / 2 <= VECTORS_WIDTH_MAX ? OK : ERR_CORRUPT;
}

/* Reads the parts of a row, borrowed from the transaction. */
static enum err get(struct store_txn *txn, struct org_id org, uint64_t seq, struct slice *ret_space,
                    struct slice *ret_numbers)
{
    struct key key = key_org_seq(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_TURN_VECTOR, key_slice(&key), &value);

    return err != OK ? err : split(value, ret_space, ret_numbers);
}

static void read_numbers(struct slice numbers, float *ret_values)
{
    for (size_t i = 0; i < numbers.size / 2; i++) {
        const uint8_t *at = numbers.data + i * 2;

        ret_values[i] = (float)(int16_t)(uint16_t)(at[0] | at[1] << 8) / UNIT;
    }
}

enum err turn_vector_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                          uint64_t seq, struct turn_vector *ret_vector)
{
    struct slice space = {NULL, 0};
    struct slice numbers = {NULL, 0};
    float *values = NULL;
    enum err err = get(txn, org, seq, &space, &numbers);

    if (err != OK) {
        return err;
    }
    values = (float *)arena_alloc(arena, (numbers.size / 2 + 1) * sizeof(float));
    if (values == NULL) {
        return ERR_MEMORY;
    }
    read_numbers(numbers, values);
    *ret_vector = (struct turn_vector){
        .space = space,
        .width = numbers.size / 2,
        .values = values,
    };
    return OK;
}

enum err turn_vector_load(struct store_txn *txn, struct org_id org, uint64_t seq,
                          const struct turn_vector *like, float *ret_values)
{
    struct slice space = {NULL, 0};
    struct slice numbers = {NULL, 0};
    enum err err = get(txn, org, seq, &space, &numbers);

    if (err == OK && (!slice_equal(space, like->space) || numbers.size / 2 != like->width)) {
        err = ERR_NOT_FOUND;
    }
    if (err == OK) {
        read_numbers(numbers, ret_values);
    }
    return err;
}

enum err turn_vector_del(struct store_txn *txn, struct org_id org, uint64_t seq)
{
    struct key key = key_org_seq(org, seq);

    return store_del_if_present(txn, TABLE_TURN_VECTOR, key_slice(&key));
}
