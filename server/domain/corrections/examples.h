/*
 * examples.h: the newest corrections of a layout as few-shot examples: the lookup that everything else
 * exists for. One seek in the layout's cluster, then as many steps as examples; stored bytes are
 * copied into the answer unparsed, and what changes about them comes from the head row, which also says
 * whether the layout's documents are all scans, and how sure extractions were with and without each
 * example; a document that is named is looked up by one more get, and the organisation's holdout. After
 * the examples is a reference that proves the response. It allocates nothing but the answer's own bytes.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_H

#include "server/domain/events/annotator_kinds.h"
#include "server/domain/exposures/exposures.h"
#include "server/domain/settings/settings_cache.h"
#include "store/base/buffer.h"

#include <errata/v1/example_grouping.fields.h>
#include <errata/v1/match_mode.fields.h>
#include <errata/v1/prompt_service.fields.h>

#define EXAMPLES_LIMIT_DEFAULT 3
#define EXAMPLES_LIMIT_MAX 20
/* Rows that one lookup passes over at most: only filters and time travel make it pass any. Where it
 * ends with places left and rows after it, the answer says `incomplete`. */
#define EXAMPLES_ROWS_MAX 2000
/* Rows of a family that one lookup passes over at most. It opens the clusters of as many layouts as it may serve
 * examples, so this bounds the rows of kinds of annotators that are not wanted, of retracted examples and of the
 * layout that is asked about. */
#define EXAMPLES_FAMILY_ROWS_MAX 500

/* What to answer. */
struct examples_query {
    struct org_id org;
    struct slice layout_fingerprint;
    struct slice document_id; /* that is to be extracted; empty: not given */
    uint32_t limit; /* 1 to EXAMPLES_LIMIT_MAX */
    enum example_view view;
    enum example_grouping grouping; /* UNSPECIFIED: the organisation's setting */
    enum match_mode match_mode; /* UNSPECIFIED: the organisation's setting */
    bool include_superseded;
    bool include_own; /* examples of the document `document_id`, too */
    uint32_t
        annotator_kinds; /* whose examples (annotator_kinds.h); 0: the organisation's setting */
    bool has_as_of; /* time travel: as after the event `as_of_seq` */
    uint64_t as_of_seq;
    const struct exposure_key
        *exposure_key; /* what the reference is made with; NULL: none is wanted */
    int64_t now_us; /* wall clock, for the reference */
    struct settings_cache *settings_cache; /* of the calling thread; NULL: none */
    struct arena *arena; /* for examples that DOCUMENT grouping has to make */
};

/* What a lookup found, for those who put it into a text of their own and answer a reference for that.
 * Slices live in the arena that was given, or are literals. */
struct examples_found {
    struct slice hint_examples_json; /* empty: none */
    struct uuid example_ids[EXAMPLES_LIMIT_MAX]; /* in the order in which they are served */
    size_t count;
    struct exposed_artifact
        artifacts[EXAMPLES_LIMIT_MAX]; /* those of the examples; of a document that is held out,
                                                              those of the examples that it would have got */
    size_t artifact_count;
    enum match_level match_level;
    enum experiment_arm arm;
    bool layout_ready; /* in an arm: the layout has enough examples for the experiment */
    enum withheld withheld;
    uint64_t as_of_seq; /* the last event that it could know of */
    bool incomplete;
    struct exposed_documents documents; /* for the reference */
};

/* Appends the wire bytes of a GetExamplesResponse: no examples if the document is held out, but a reference that names
 * those that it would have got.
 * ERR_MEMORY, or what the store says. */
MUST_CHECK enum err examples_write(struct store_txn *txn, const struct examples_query *query,
                                   struct buffer *body);
/* The same lookup as values; `query->view` is not looked at. An empty layout_fingerprint finds none,
 * but has its arm. */
MUST_CHECK enum err examples_find(struct arena *arena, struct store_txn *txn,
                                  const struct examples_query *query,
                                  struct examples_found *ret_found);

#endif
