/*
 * example_source.h: the rows of examples of one layout for a lookup, newest first: of one table, or, for a lookup of the
 * past, of EXAMPLE and EXAMPLE_RETRACTED merged. Rows are prefetched in groups, because the hot path is measured; a scan
 * (store/scan.h) would step to one at a time. The caller bounds the number of rows.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_SOURCE_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_SOURCE_H

#include "store/backend.h"

/* A row; slices are borrowed from the transaction. */
struct example_row {
    struct slice key;
    struct slice value;
    bool is_retracted; /* of TABLE_EXAMPLE_RETRACTED */
};

/* The caller opens and closes the cursors. */
struct example_source {
    struct store_cursor cursor;
    bool is_merged; /* with the rows of `retracted` */
    struct store_cursor retracted;
    struct example_row next[2]; /* of `cursor`, and of `retracted` */
    bool has_next[2];
};

/* Returns the next row. ERR_NOT_FOUND after the last one. */
MUST_CHECK enum err example_source_next(struct example_source *source, struct example_row *ret_row);
/* Returns the next rows, at most `wanted`; fewer are the last ones. */
MUST_CHECK enum err example_source_gather(struct example_source *source, size_t wanted,
                                          struct example_row *rows, size_t *ret_count);

#endif
