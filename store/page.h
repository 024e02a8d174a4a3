/*
 * page.h: one bounded walk over the rows of a prefix: what every list and scan of one call is. It starts
 * after the row where the call before ended, looks at PAGE_ROWS_MAX rows at most, and ends when the page
 * has its items or before it is larger than PAGE_BYTES_MAX. What is written for a row, if anything, is the
 * caller's; a row of which nothing is written is passed over.
 *
 * A place in a list is the key of the row that was looked at last. Rows that come to be before it are
 * not listed, those after it are.
 */
#ifndef ERRATA_STORE_PAGE_H
#define ERRATA_STORE_PAGE_H

#include "store/base/buffer.h"
#include "store/key.h"

/* Rows that one call looks at: 2 ms at 1 us a row from memory, so that a filter that finds nothing does
 * not hold up the calls after it. */
#define PAGE_ROWS_MAX 2000
/* A page ends before it is larger than this, but has at least one item: a reply is 4 MiB at most, and an
 * item with what it refers to far below one. */
#define PAGE_BYTES_MAX (1u << 20)

/* What a page is of. */
struct page_request {
    enum store_table table;
    struct key prefix;
    enum store_order order;
    struct slice
        after; /* `last` of the page before, which begins with prefix; empty: the first page */
    uint32_t page_size; /* items; from 1 */
};

struct page_walk {
    struct store_cursor cursor;
    struct page_request request;
    struct buffer *body; /* NULL: each row is an item, and no bytes are counted */
    size_t start; /* of the page in the body */
    size_t before; /* what was written for the current row begins here */
    struct slice key; /* of the current row; empty before the first */
    uint32_t row_count; /* rows looked at */
    uint32_t count; /* items that fitted */
    struct key last; /* of the last row that was looked at, whose item fitted if it has one */
    bool more; /* the list goes on after `last` */
};

MUST_CHECK enum err page_walk_init(struct page_walk *walk, struct store_txn *txn,
                                   const struct page_request *request, struct buffer *body);
/* The next row; what it gives is appended to the body. ERR_NOT_FOUND at the page's end; an item that did
 * not fit has then been taken out again. */
MUST_CHECK enum err page_walk_next(struct page_walk *walk, struct slice *ret_key,
                                   struct slice *ret_value);
/* Takes a zeroed walk too. */
void page_walk_deinit(struct page_walk *walk);

#endif
