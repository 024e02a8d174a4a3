/*
 * record_row.h: what the records.c of a row's owner shares. A row is a message of proto/record, read and written as a
 * view (store/base/view.h).
 */
#ifndef ERRATA_STORE_RECORD_ROW_H
#define ERRATA_STORE_RECORD_ROW_H

#include "store/base/view.h"

/* Encodes a row. Fails only with ERR_MEMORY. */
MUST_CHECK enum err record_encode(struct arena *arena, const struct view_type *type,
                                  const void *view, struct slice *ret_bytes);

/* State of checking a record: one line per rule, the result is read once. */
struct record_check {
    bool failed;
};

void record_need(struct record_check *check, bool fact);

/* Copies the numbers of a list; `is_fixed`: a list of fixed64 or sfixed64. One with more than `max` numbers fails the
 * check. Returns how many there are. */
size_t record_numbers(struct record_check *check, const struct view_list *list, bool is_fixed,
                      uint64_t *ret_numbers, size_t max);

/* Makes a list of numbers in the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err record_list(struct arena *arena, const uint64_t *numbers, size_t count,
                                bool is_fixed, struct view_list *ret_list);

static inline enum err record_check_result(const struct record_check *check)
{
    return check->failed ? ERR_CORRUPT : OK;
}

#endif
