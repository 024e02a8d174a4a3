/*
 * document_lookup.h: the examples of DOCUMENT grouping for a lookup, row by row. A lookup of the present walks
 * over the documents' rows and unpacks their prepared bytes if its filters are the default ones. A lookup of the
 * past walks over the layout's examples, including those retracted since, and rebuilds the example of each
 * document. The caller excludes the requested document and copies of it (examples_filter.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_LOOKUP_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_LOOKUP_H

#include "server/domain/corrections/document_example.h"
#include "server/domain/corrections/example_source.h"
#include "server/domain/corrections/examples_filter.h"

struct document_lookup {
    struct arena *arena; /* memory for examples that are built */
    struct document_query query; /* without a document */
    bool is_past;
    /* The identifiers of the documents and layouts that the walk has met. Not zeroed, since most lookups meet
     * few. */
    uint64_t met[EXAMPLES_ROWS_MAX];
    size_t met_count;
};

/* An example. Slices are borrowed from the transaction or the arena. */
struct document_answer {
    bool is_found; /* false: the row has no example, and the other members are not set */
    bool superseded;
    uint32_t event_count;
    struct document_place place; /* place of its newest event */
    struct uuid id; /* id of that event */
    struct example_record record;
};

/* Begins a lookup. */
void document_lookup_init(struct document_lookup *lookup, const struct examples_query *query,
                          const struct examples_filter *filter);
/* Sets the layout of the following rows. The caller fills `marks` before the first of them. */
void document_lookup_set_layout(struct document_lookup *lookup,
                                const struct key_fingerprint *fingerprint,
                                const struct layout_marks *marks);
/* Clears the set of met documents. */
void document_lookup_restart(struct document_lookup *lookup);
/* Returns the example of a row of EXAMPLE_DOCUMENT or, for a lookup of the past, of EXAMPLE and
 * EXAMPLE_RETRACTED; newest first. */
MUST_CHECK enum err document_lookup_row(struct document_lookup *lookup, struct store_txn *txn,
                                        const struct example_row *row,
                                        struct document_answer *ret_answer);
/* Returns the example of the document that a row of EXAMPLE names, for a caller that walks over rows of single
 * corrections; also for a lookup of the present. Returns none for a document that was met before. */
MUST_CHECK enum err document_lookup_example(struct document_lookup *lookup, struct store_txn *txn,
                                            const struct example_row *row,
                                            struct document_answer *ret_answer);

#endif
