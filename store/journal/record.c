/*
 * record.c: writes and reads the format described in record.h.
 */
#include "store/journal/record.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define CRC_BYTES 4
#define NUMBER_AT 8
#define ROW_HEAD_BYTES 7
#define CAPACITY_MIN ((size_t)64 * 1024)

static bool reserve(struct record *record, size_t more)
{
    size_t capacity = record->capacity < CAPACITY_MIN ? CAPACITY_MIN : record->capacity;
    uint8_t *bytes = NULL;

    if (record->failed || record->capacity - record->size >= more) {
        return !record->failed;
    }
    while (capacity - record->size < more) {
        capacity *= 2;
    }
    bytes = realloc(record->bytes, capacity);
    if (bytes == NULL) {
        record->failed = true;
        return false;
    }
    record->bytes = bytes;
    record->capacity = capacity;
    return true;
}

void record_begin(struct record *record)
{
    record->size = 0;
    record->failed = false;
    if (reserve(record, RECORD_HEAD_BYTES)) {
        record->size = RECORD_HEAD_BYTES;
    }
}

static void add_bytes(struct record *record, struct slice bytes)
{
    if (bytes.size > 0) {
        memcpy(record->bytes + record->size, bytes.data, bytes.size);
        record->size += bytes.size;
    }
}

void record_add(struct record *record, const struct memtable_row *row)
{
    uint8_t *head = NULL;

    if (!reserve(record, ROW_HEAD_BYTES + row->key.size + row->value.size)) {
        return;
    }
    head = record->bytes + record->size;
    head[0] = (uint8_t)row->table;
    head[1] = (uint8_t)row->op;
    head[2] = (uint8_t)row->key.size;
    bytes_put_be32(head + 3, (uint32_t)row->value.size);
    record->size += ROW_HEAD_BYTES;
    add_bytes(record, row->key);
    add_bytes(record, row->value);
}

static uint32_t checksum(uint32_t chain, const uint8_t *record, size_t size)
{
    return (uint32_t)crc32_z(chain, record + CRC_BYTES, size - CRC_BYTES);
}

enum err record_end(struct record *record, uint64_t number, uint32_t chain, uint32_t *ret_crc)
{
    if (record->failed || record->size - RECORD_HEAD_BYTES > UINT32_MAX) {
        return ERR_MEMORY;
    }
    bytes_put_be32(record->bytes + CRC_BYTES, (uint32_t)(record->size - RECORD_HEAD_BYTES));
    bytes_put_be64(record->bytes + NUMBER_AT, number);
    *ret_crc = checksum(chain, record->bytes, record->size);
    bytes_put_be32(record->bytes, *ret_crc);
    return OK;
}

void record_deinit(struct record *record)
{
    free(record->bytes);
    memset(record, 0, sizeof(*record));
}

/* Reads the header and finds the rows, without checking the CRC. */
static bool read_head(struct slice bytes, struct record_view *ret_view)
{
    size_t size = 0;

    if (bytes.size < RECORD_HEAD_BYTES) {
        return false;
    }
    size = bytes_get_be32(bytes.data + CRC_BYTES);
    if (size == 0 || size > bytes.size - RECORD_HEAD_BYTES) {
        return false;
    }
    ret_view->crc = bytes_get_be32(bytes.data);
    ret_view->number = bytes_get_be64(bytes.data + NUMBER_AT);
    ret_view->size = RECORD_HEAD_BYTES + size;
    ret_view->rows = slice_of(bytes.data + RECORD_HEAD_BYTES, size);
    return true;
}

bool record_read(struct slice bytes, uint32_t chain, struct record_view *ret_view)
{
    return read_head(bytes, ret_view) &&
           checksum(chain, bytes.data, ret_view->size) == ret_view->crc;
}

bool record_is_damaged(struct slice bytes, uint64_t number)
{
    struct record_view damaged;
    struct record_view next;

    return read_head(bytes, &damaged) &&
           record_read(slice_after(bytes, damaged.size), damaged.crc, &next) &&
           next.number > number;
}

static bool is_op(uint8_t op)
{
    return op >= MEMTABLE_PUT && op <= MEMTABLE_DEL;
}

enum err record_next(struct slice *rows, uint8_t *ret_table, struct memtable_row *ret_row)
{
    const uint8_t *head = rows->data;
    size_t key_bytes = 0;
    size_t value_bytes = 0;

    if (rows->size == 0) {
        return ERR_NOT_FOUND;
    }
    if (rows->size < ROW_HEAD_BYTES) {
        return ERR_CORRUPT;
    }
    key_bytes = head[2];
    value_bytes = bytes_get_be32(head + 3);
    if (!is_op(head[1]) || key_bytes > STORE_KEY_BYTES_MAX || value_bytes > STORE_VALUE_BYTES_MAX ||
        key_bytes + value_bytes > rows->size - ROW_HEAD_BYTES) {
        return ERR_CORRUPT;
    }
    *ret_table = head[0];
    ret_row->op = (enum memtable_op)head[1];
    ret_row->key = slice_of(head + ROW_HEAD_BYTES, key_bytes);
    ret_row->value = slice_of(head + ROW_HEAD_BYTES + key_bytes, value_bytes);
    *rows = slice_of(head + ROW_HEAD_BYTES + key_bytes + value_bytes,
                     rows->size - ROW_HEAD_BYTES - key_bytes - value_bytes);
    return OK;
}
