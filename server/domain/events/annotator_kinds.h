/*
 * annotator_kinds.h: sets of kinds of annotators, as bits: 1 << kind. Filters and settings use such
 * sets; requests and stored messages list the kinds.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_ANNOTATOR_KINDS_H
#define ERRATA_SERVER_DOMAIN_EVENTS_ANNOTATOR_KINDS_H

#include "store/base/err.h"
#include "store/base/slice.h"

#include <errata/v1/annotator_kind.fields.h>

#define ANNOTATOR_KINDS_HUMAN (1u << ANNOTATOR_KIND_HUMAN)
#define ANNOTATOR_KINDS_ALL                                                                        \
    (ANNOTATOR_KINDS_HUMAN | 1u << ANNOTATOR_KIND_CODE | 1u << ANNOTATOR_KIND_LLM)

/* Returns whether a number is a set with at least one kind. */
static inline bool annotator_kinds_is_valid(uint32_t kinds)
{
    return kinds != 0 && (kinds & ~ANNOTATOR_KINDS_ALL) == 0;
}

/* Returns the run of a view's list (store/base/view.h) with the kinds of a valid set; it is constant. */
struct slice annotator_kinds_run(uint32_t kinds);
/* Reads such a run. An empty run is the empty set. ERR_CORRUPT for UNSPECIFIED and for unknown numbers. */
MUST_CHECK enum err annotator_kinds_read(struct slice run, uint32_t *ret_kinds);

#endif
