/*
 * lmdb_page.h: LMDB's data file as bytes: its two meta pages, and the pages of its trees, read by
 * code that validates everything. For the check at open (lmdb_check.c): LMDB itself trusts every
 * number in its file, and follows a wrong one into invalid memory. The layout is that of LMDB 0.9
 * (data version 1) on a 64-bit machine, in the machine's byte order. A `problem` is a literal that
 * completes the sentence "page N: ..."; NULL if nothing is wrong.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_PAGE_H
#define ERRATA_STORE_LMDB_LMDB_PAGE_H

#include "store/base/attributes.h"
#include "store/base/slice.h"

/* LMDB uses the machine's page size, up to this. */
#define LMDB_PAGE_BYTES_MIN 512u
#define LMDB_PAGE_BYTES_MAX 32768u
#define LMDB_PAGE_HEAD_BYTES 16u
/* The relevant part of a meta page; at the front of pages 0 and 1. */
#define LMDB_META_BYTES 152u
#define LMDB_META_COUNT 2u
/* A tree's description in a meta page, and in the value of a table's name. */
#define LMDB_TREE_BYTES 48u
/* LMDB's cursors have at most this many levels. */
#define LMDB_DEPTH_MAX 32u
#define LMDB_PAGE_NONE UINT64_MAX

enum lmdb_page_kind {
    LMDB_PAGE_BRANCH = 0x01, /* the flags of such a page on disk */
    LMDB_PAGE_LEAF = 0x02,
    LMDB_PAGE_OVERFLOW = 0x04
};

struct lmdb_tree {
    uint16_t flags; /* flags of LMDB's table: 0 except for the free list */
    uint16_t depth; /* number of levels; 0: empty */
    uint64_t leaf_pages;
    uint64_t entries;
    uint64_t root; /* page of the root; LMDB_PAGE_NONE: empty */
};

struct lmdb_meta {
    uint32_t page_bytes;
    struct lmdb_tree free_list; /* pages that no snapshot uses */
    struct lmdb_tree names; /* names of the tables */
    uint64_t last_page;
    uint64_t txn; /* the commit that wrote it; its last bit selects the meta page */
};

/* A page in memory; the caller owns the bytes. */
struct lmdb_page {
    const uint8_t *bytes;
    uint32_t size;
    uint64_t number; /* number of the page */
};

/* An entry of a page that lmdb_page_check accepted; slices point into the page. */
struct lmdb_node {
    struct slice key; /* the first one of a branch may be anything: it counts as lower than all */
    uint64_t child; /* child page, for a branch */
    struct slice value; /* value, for a leaf; NULL with its size if it is on overflow pages */
    uint64_t overflow; /* the first of them; LMDB_PAGE_NONE: none */
    bool is_tree; /* for a leaf: the value is the tree of a table */
};

/* Reads LMDB_META_BYTES of meta page `number` (0 or 1). */
MUST_CHECK const char *lmdb_meta_read(const uint8_t *bytes, uint64_t number,
                                      struct lmdb_meta *ret_meta);
struct lmdb_tree lmdb_tree_read(const uint8_t *bytes);

/* Checks that the page is of this kind, with nodes that are within it and fill it. */
MUST_CHECK const char *lmdb_page_check(const struct lmdb_page *page, enum lmdb_page_kind kind);
uint32_t lmdb_page_count(const struct lmdb_page *page);
struct lmdb_node lmdb_page_node(const struct lmdb_page *page, uint32_t index);
/* Checks the header of a run of overflow pages. The run may be longer than its value needs: LMDB
 * replaces a value by a shorter one in place. */
MUST_CHECK const char *lmdb_overflow_check(const struct lmdb_page *page, uint64_t count_min,
                                           uint64_t *ret_count);
/* Returns how many pages a value of this size needs. */
uint64_t lmdb_overflow_count(uint32_t page_bytes, uint64_t value_bytes);

#endif
