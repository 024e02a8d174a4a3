/*
 * record.h: what a commit writes to the journal: its number, and each row that it changed, once.
 *   crc 4, size of the rows 4, number 8, rows
 *   row: table 1, operation 1, key size 1, value size 4, key, value
 * Numbers are big-endian. The CRC is that of zlib, over all that follows it, and continues the one of the
 * record before it in the segment (of the segment's header for the first), so that bytes of an
 * earlier use of the segment are not taken for a record.
 */
#ifndef ERRATA_STORE_JOURNAL_RECORD_H
#define ERRATA_STORE_JOURNAL_RECORD_H

#include "store/journal/memtable.h"

#define RECORD_HEAD_BYTES 16

/* A record that is being built. Zero it before the first use; its memory is kept for the next one. */
struct record {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    bool failed; /* out of memory */
};

/* Starts an empty record. */
void record_begin(struct record *record);
void record_add(struct record *record, const struct memtable_row *row);
/* Completes the record. `chain` is the CRC of the preceding bytes; the record's own CRC is
 * returned. ERR_MEMORY if an addition failed. */
MUST_CHECK enum err record_end(struct record *record, uint64_t number, uint32_t chain,
                               uint32_t *ret_crc);
void record_deinit(struct record *record);

/* A record that was read. Slices are borrowed from its bytes. */
struct record_view {
    uint64_t number;
    uint32_t crc;
    size_t size; /* including the header */
    struct slice rows;
};

/* Reads the record at the start of the bytes. Returns false if there is no record that continues this chain. */
bool record_read(struct slice bytes, uint32_t chain, struct record_view *ret_view);
/* Returns whether the bytes, which should be the record `number`, are followed by a record of a later commit: then they
 * were damaged. A record that was cut off is the last one, since the next is written only after it is
 * durable; those of an earlier use of the segment have smaller numbers. */
bool record_is_damaged(struct slice bytes, uint64_t number);
/* Reads the first row and removes it from the slice; `ret_table` is the table's number in the
 * record. ERR_NOT_FOUND if there are no rows, ERR_CORRUPT for bytes that are not a row. */
MUST_CHECK enum err record_next(struct slice *rows, uint8_t *ret_table,
                                struct memtable_row *ret_row);

#endif
