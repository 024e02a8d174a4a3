/*
 * examples_filter.h: which examples a request is served: one decision for every source of rows. A lookup asks
 * about rows newest first; each that it serves is then a reason not to serve its older copies. What an
 * example is at all was decided when it was captured (findings.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_FILTER_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_FILTER_H

#include "server/domain/corrections/examples.h"
#include "server/domain/corrections/records.h"

/* Filled by examples_filter_init; members beyond `served_count` are not set. */
struct examples_filter {
    uint64_t as_of_seq; /* the last event that may be seen; UINT64_MAX: all */
    bool include_superseded;
    uint32_t annotator_kinds; /* whose examples */
    bool omits_own; /* examples of the document whose hash is `own_hash` */
    uint8_t own_hash[EXAMPLE_DOCUMENT_HASH_BYTES];
    uint32_t served_count;
    uint64_t served[EXAMPLES_LIMIT_MAX]; /* `copy_hash` of each example that was served */
};

/* `default_kinds` are the kinds of annotators of a query that lists none. */
void examples_filter_init(const struct examples_query *query, uint32_t default_kinds,
                          struct examples_filter *ret_filter);
/* Returns whether a row may be served as far as its own bytes say: it existed, its annotator's kind is wanted, it is
 * not the own document's, and not a copy of a served one. Needs no mark. */
bool examples_filter_passes(const struct examples_filter *filter, uint64_t seq,
                            const struct example_record *row);
/* Returns the same for the example of a document, whose corrections passed the other filters. */
bool examples_filter_passes_document(const struct examples_filter *filter,
                                     const struct example_record *row);
/* Returns whether an example was superseded at the time that is asked about; 0: it was never. */
static inline bool examples_filter_is_superseded(const struct examples_filter *filter,
                                                 uint64_t superseded_by_seq)
{
    return superseded_by_seq != 0 && superseded_by_seq <= filter->as_of_seq;
}
/* Notes that a row is served, at most EXAMPLES_LIMIT_MAX times. */
void examples_filter_take(struct examples_filter *filter, const struct example_record *row);

#endif
