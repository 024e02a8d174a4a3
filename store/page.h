/*
 * page.h: one page of a list: the items that one call returns. A page ends when it has its items,
 * before it is larger than PAGE_BYTES_MAX, or after PAGE_ROWS_MAX rows; `last` is then the position
 * from which the next call continues. The list's owner examines the rows and decides which are
 * items; the caller appends each item to the page's body before it requests the next one. A row for
 * which nothing is appended is not an item.
 *
 * A position is the key of the row that was examined last, or bytes that the list's owner chose.
 * Rows that are added before the position while a list is read are not listed; rows after it are.
 */
#ifndef ERRATA_STORE_PAGE_H
#define ERRATA_STORE_PAGE_H

#include "store/base/buffer.h"
#include "store/scan.h"

/* Maximum rows that one call examines: 2 ms at 1 us per row from memory, so that a filter that
 * matches nothing does not delay other calls. */
#define PAGE_ROWS_MAX 2000
/* A page ends before it is larger than this, but has at least one item: a response has at most 4
 * MiB, and an item with its related data less than the rest: the largest is a decision, whose diff may have 1 MiB. */
#define PAGE_BYTES_MAX (1u << 20)

struct page {
    /* Set by page_init: */
    uint32_t size; /* maximum number of items, from 1 */
    struct slice after; /* `last` of the previous page; empty: first page */
    struct buffer *body; /* the caller appends items to it; NULL: each row is an item */
    /* Results: */
    uint32_t count; /* items */
    struct key last; /* the position of the last examined row */
    bool more; /* the list continues after `last` */
    /* State while the page is created: */
    struct scan scan; /* scan of page_open */
    uint32_t row_count; /* number of rows read */
    size_t start; /* start of the page in the body */
    size_t before; /* size of the body before the item of the current row */
    struct slice at; /* position of the current row; empty: none */
};

void page_init(struct page *page, uint32_t size, struct slice after, struct buffer *body);
/* Accepts a zeroed page too. */
void page_deinit(struct page *page);

/* Continues with the rows of another range; `rows_max` applies to the page. */
MUST_CHECK enum err page_open(struct page *page, struct store_txn *txn,
                              const struct scan_range *range);
/* Returns the next row of the range. ERR_NOT_FOUND at the end of the range or of the page; an item
 * that did not fit was then removed again. */
MUST_CHECK enum err page_next(struct page *page, struct slice *ret_key, struct slice *ret_value);

/* The steps of page_next, for lists that merge several orders, or that end before their range. Each
 * returns false at the end of the page. */
/* Keeps the current row's item, or removes it if it does not fit. */
bool page_keep(struct page *page);
/* Counts an examined row. */
bool page_look(struct page *page);
/* Makes the row with this position the current one. `at` is borrowed until page_keep. */
bool page_begin(struct page *page, struct slice at);

#endif
