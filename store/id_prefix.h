/*
 * id_prefix.h: the first characters of an id as typed by a user: a UUID's canonical text, or
 * hexadecimal digits. Rows that are in the order of the id's bytes are found by one seek; only half
 * of the last byte may be left to compare.
 */
#ifndef ERRATA_STORE_ID_PREFIX_H
#define ERRATA_STORE_ID_PREFIX_H

#include "store/page.h"

struct id_prefix {
    uint8_t bytes[SHA256_BYTES]; /* large enough for an id of any kind */
    size_t digit_count; /* number of hexadecimal digits; 0: every id matches */
};

/* Parses the beginning of a UUID, in either case; the empty text is valid. Returns false for text
 * with which no UUID begins. */
MUST_CHECK bool id_prefix_parse_uuid(struct slice text, struct id_prefix *ret_prefix);
/* Parses at most `bytes_max` bytes in hexadecimal digits; returns false for other text. */
MUST_CHECK bool id_prefix_parse_hex(struct slice text, size_t bytes_max,
                                    struct id_prefix *ret_prefix);
/* Returns whether an id, given as bytes, begins with the prefix. */
bool id_prefix_matches(const struct id_prefix *prefix, struct slice id);
/* Appends the whole bytes of the prefix to a key. */
void id_prefix_put(const struct id_prefix *prefix, struct key *key);

/* Makes a page of the rows of a table whose key is an organisation and an id with this prefix. */
MUST_CHECK enum err id_prefix_open_page(const struct id_prefix *prefix, struct store_txn *txn,
                                        enum store_table table, struct key organization,
                                        struct page *page);
/* Returns the next row; errors as page_next. */
MUST_CHECK enum err id_prefix_next_row(const struct id_prefix *prefix, struct page *page,
                                       struct slice *ret_key, struct slice *ret_value);

#endif
