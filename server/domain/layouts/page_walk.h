/*
 * page_walk.h: one page of a list whose items stand as rows in the list's order: begins behind the
 * row where the page before ended, ends when it is full, or before it is larger than a page may be.
 * What is written for a row is the caller's.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_PAGE_WALK_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_PAGE_WALK_H

#include "store/base/buffer.h"
#include "store/key.h"

/* A page of a list ends before it is larger than this, but has at least one item. */
#define PAGE_WALK_BYTES_MAX (1u << 20)

/* What a page is of. */
struct page_request {
    enum store_table table;
    struct key prefix;
    struct slice after; /* the last row of the page before; empty: the first page */
    uint32_t page_size; /* from 1 */
};

struct page_walk {
    struct store_cursor cursor;
    struct page_request request;
    struct buffer *body;
    size_t start; /* of the page in the body */
    size_t before; /* what was written for the current row begins here */
    struct slice key; /* of the current row; empty before the first */
    uint32_t count; /* items that fitted */
    struct key last; /* of the last of them */
    bool more; /* the list goes on behind `last` */
};

MUST_CHECK enum err page_walk_init(struct page_walk *walk, struct store_txn *txn,
                                   const struct page_request *request, struct buffer *body);
/* The next row to append to the body. ERR_NOT_FOUND at the page's end; an item that did not fit any
 * more has then been taken out again. */
MUST_CHECK enum err page_walk_next(struct page_walk *walk, struct slice *ret_key);
/* Takes a zeroed walk too. */
void page_walk_deinit(struct page_walk *walk);

#endif
