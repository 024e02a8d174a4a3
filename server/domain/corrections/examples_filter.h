/*
 * examples_filter.h: decides which examples a request is served, for all sources of rows. A lookup passes its
 * rows newest first; a served row excludes its older copies. Whether an event is an example was decided when it
 * was captured (findings.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_FILTER_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_FILTER_H

#include "server/domain/corrections/examples.h"
#include "server/domain/corrections/records.h"

/* Filled by examples_filter_init; members beyond `served_count` are not set. */
struct examples_filter {
    uint64_t as_of_seq; /* the last visible event; UINT64_MAX: all are visible */
    bool include_superseded;
    uint32_t annotator_kinds; /* annotator kinds whose examples are served */
    bool omits_own; /* omit examples of the document whose hash is `own_hash` */
    uint8_t own_hash[EXAMPLE_DOCUMENT_HASH_BYTES];
    uint32_t served_count;
    uint64_t served[EXAMPLES_LIMIT_MAX]; /* `copy_hash` of each served example */
};

/* `default_kinds` are used if the query lists no annotator kinds. */
void examples_filter_init(const struct examples_query *query, uint32_t default_kinds,
                          struct examples_filter *ret_filter);
/* Returns whether a row may be served according to its own bytes: it existed, its annotator kind is wanted, and
 * it is neither of the requested document nor a copy of a served one. Does not need the mark. */
bool examples_filter_passes(const struct examples_filter *filter, uint64_t seq,
                            const struct example_record *row);
/* Does the same for the example of a document, whose corrections have passed the other filters. */
bool examples_filter_passes_document(const struct examples_filter *filter,
                                     const struct example_record *row);
/* Returns whether an example with this mark was superseded at the requested time; 0: it never was. */
static inline bool examples_filter_is_superseded(const struct examples_filter *filter,
                                                 uint64_t superseded_by_seq)
{
    return superseded_by_seq != 0 && superseded_by_seq <= filter->as_of_seq;
}
/* Records that a row is served; at most EXAMPLES_LIMIT_MAX times. */
void examples_filter_take(struct examples_filter *filter, const struct example_record *row);

#endif
