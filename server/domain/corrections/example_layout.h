/*
 * example_layout.h: finds the layout whose examples are requested if the request names only a document.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_LAYOUT_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_LAYOUT_H

#include "server/domain/corrections/examples.h"

/* Returns the first of these that is known by the query's `as_of`: the layout that the query names, that of its
 * document if it was ingested, the one that the document's newest extraction named. Empty if none is known.
 * Borrowed from the query or the transaction. */
MUST_CHECK enum err example_layout_find(struct store_txn *txn, const struct examples_query *query,
                                        struct slice *ret_fingerprint);

#endif
