/*
 * example_layout.h: the layout whose examples a request asks for, if it names only a document.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_LAYOUT_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_LAYOUT_H

#include "server/domain/corrections/examples.h"

/* Returns the layout that the query names, else that of its document if it was ingested, else the one that
 * the document's newest extraction named; empty if none is known, or was by the query's `as_of`. Borrowed
 * from the query or the transaction. */
MUST_CHECK enum err example_layout_find(struct store_txn *txn, const struct examples_query *query,
                                        struct slice *ret_fingerprint);

#endif
