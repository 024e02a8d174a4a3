/*
 * example_source.h: reads the rows of a layout's examples, newest first: from one table or, for a lookup of the
 * past, from EXAMPLE and EXAMPLE_RETRACTED merged. Rows are prefetched in groups, since lookups are the hot
 * path; a scan (store/scan.h) would read one at a time. The caller bounds the number of rows.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_SOURCE_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_SOURCE_H

#include "store/backend.h"

/* A row; slices are borrowed from the transaction. */
struct example_row {
    struct slice key;
    struct slice value;
    bool is_retracted; /* the row is of TABLE_EXAMPLE_RETRACTED */
};

/* The caller opens and closes the cursors. */
struct example_source {
    struct store_cursor cursor;
    bool is_merged; /* rows of `retracted` are merged in */
    struct store_cursor retracted;
    struct example_row next[2]; /* next rows of `cursor` and of `retracted` */
    bool has_next[2];
};

/* Returns the next row. ERR_NOT_FOUND after the last one. */
MUST_CHECK enum err example_source_next(struct example_source *source, struct example_row *ret_row);
/* Returns at most `wanted` next rows; fewer if no others follow. */
MUST_CHECK enum err example_source_gather(struct example_source *source, size_t wanted,
                                          struct example_row *rows, size_t *ret_count);

#endif
