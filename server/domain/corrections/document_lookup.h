/*
 * document_lookup.h: the examples of DOCUMENT grouping for a lookup, row by row. A lookup of the present walks over the
 * documents' rows and copies their prepared bytes if its filters are the default ones. A lookup of the past walks over the
 * layout's examples, including those that were retracted since, and makes the example of each document again. The caller
 * leaves out the own document and copies (examples_filter.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_LOOKUP_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_LOOKUP_H

#include "server/domain/corrections/document_example.h"
#include "server/domain/corrections/example_source.h"
#include "server/domain/corrections/examples_filter.h"

struct document_lookup {
    struct arena *arena; /* for examples that are made */
    struct document_query query; /* without a document */
    bool is_past;
    /* What identifies the documents and layouts that were met. Not zeroed, since most lookups meet few. */
    uint64_t met[EXAMPLES_ROWS_MAX];
    size_t met_count;
};

/* An example. Slices die with the transaction or the arena. */
struct document_answer {
    bool is_found; /* false: the row gives none, and the other members are not set */
    bool superseded;
    uint32_t event_count;
    struct document_place place; /* of its newest event */
    struct uuid id; /* of that event */
    struct example_record record;
};

/* Begins a lookup. */
void document_lookup_init(struct document_lookup *lookup, const struct examples_query *query,
                          const struct examples_filter *filter);
/* Sets the layout of the rows that follow; `marks` are filled before the first of them. */
void document_lookup_set_layout(struct document_lookup *lookup,
                                const struct key_fingerprint *fingerprint,
                                const struct layout_marks *marks);
/* Forgets which documents were met. */
void document_lookup_restart(struct document_lookup *lookup);
/* Returns the example of a row: of EXAMPLE_DOCUMENT, or, of the past, of EXAMPLE and EXAMPLE_RETRACTED; newest first. */
MUST_CHECK enum err document_lookup_row(struct document_lookup *lookup, struct store_txn *txn,
                                        const struct example_row *row,
                                        struct document_answer *ret_answer);
/* Returns the example of the document that a row of EXAMPLE names, in the present, too: the caller's rows are those of
 * single corrections. None for a document that was met before. */
MUST_CHECK enum err document_lookup_example(struct document_lookup *lookup, struct store_txn *txn,
                                            const struct example_row *row,
                                            struct document_answer *ret_answer);

#endif
