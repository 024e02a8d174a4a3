/*
 * example_layout.h: finds the layout whose examples are requested if the request names only a document.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_LAYOUT_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_LAYOUT_H

#include "server/domain/corrections/examples.h"

/* Sets the layout of a query that names none, to the first of these that is known by its `as_of`: the layout of its
 * document if it was ingested, the one that the document's newest extraction named. It stays empty if none is known. Also
 * sets the state of the document, if it had to be read. Both are borrowed from the transaction. */
MUST_CHECK enum err example_layout_find(struct store_txn *txn, struct examples_query *query);

#endif
