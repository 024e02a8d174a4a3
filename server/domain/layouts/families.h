/*
 * families.h: reads layout families: a single one, a list of all, and those nearest to a document.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILIES_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILIES_H

#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/sketch/family_sketch.h"
#include "store/base/buffer.h"
#include "store/log.h"
#include "store/page.h"

#include <errata/v1/layout_service.views.h>

/* Maximum fingerprints in the response of GetFamily: 1,000 take 66 KB. ListProfiles returns all of them. */
#define FAMILY_FINGERPRINTS_MAX 1000

/* Finds the family with this id, or the one into which it was merged. ERR_NOT_FOUND if this organisation has no
 * such family. */
MUST_CHECK enum err family_find(struct store_txn *txn, struct org_id org, struct uuid id,
                                uint64_t *ret_family_seq, struct family_record *ret_family);
/* A LayoutFamily without its fingerprints, with the counts of all its members; in the arena. */
MUST_CHECK enum err family_view_make(struct arena *arena, struct store_txn *txn, struct org_id org,
                                     const struct family_record *family,
                                     struct layout_family_view *ret_view);
/* Sets `layout_fingerprints` of the LayoutFamily, in the arena: each once, at most FAMILY_FINGERPRINTS_MAX. If
 * these are all, also sets their count. */
MUST_CHECK enum err family_view_add_fingerprints(struct arena *arena, struct store_txn *txn,
                                                 struct org_id org,
                                                 const struct family_members *members,
                                                 struct layout_family_view *view);
/* Adds `example_count` to the LayoutFamily. */
MUST_CHECK enum err family_view_add_examples(struct store_txn *txn, struct org_id org,
                                             const struct family_members *members,
                                             struct layout_family_view *view);
/* A Warning, in the arena, that `alias` was merged into the family with `id`. */
MUST_CHECK enum err family_put_merged_warning(struct arena *arena, struct uuid alias,
                                              struct uuid id, uint32_t field, struct buffer *body);

/* A list of families without their aliases, newest first: rows of a page that was opened with
 * family_list_begin. */
MUST_CHECK enum err family_list_begin(struct store_txn *txn, struct org_id org, struct page *page);
/* The next family. ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err family_list_next(struct page *page, uint64_t *ret_family_seq,
                                     struct family_record *ret_family);

#define FAMILY_NEAREST_DEFAULT 5
#define FAMILY_NEAREST_MAX 20

/* A measured document with its sketch. */
struct family_document {
    uint64_t seq; /* seq of its event */
    uint64_t family_seq; /* resolved (family_members.h); 0: none */
    struct family_sketch sketch; /* without features: the document has none */
};

/* ERR_NOT_FOUND for a document that this organisation does not have. */
MUST_CHECK enum err family_document_read(struct store_txn *txn, struct org_id org,
                                         struct slice document_id,
                                         struct family_document *ret_document);

/* The most similar page of one family. */
struct family_near {
    uint64_t family_seq; /* resolved (family_members.h) */
    uint64_t sketch_seq; /* key of the sketch: of the newest document with it */
    bool matches; /* similar enough to be of the document's family */
    struct family_similarity similarity;
};

/* Compares a document with all sketches except its own. Returns at most `max` families, most similar first; of
 * equally similar ones the one with the newest sketch. */
MUST_CHECK enum err family_nearest(struct store_txn *txn, struct org_id org,
                                   const struct family_document *document, size_t max,
                                   struct family_near ret_near[FAMILY_NEAREST_MAX],
                                   size_t *ret_count);
/* Builds a NearestFamily in the arena: the family, the features by kind, and a sentence. */
MUST_CHECK enum err family_near_view(struct arena *arena, struct store_txn *txn, struct org_id org,
                                     const struct family_document *document,
                                     const struct family_near *near,
                                     struct nearest_family_view *ret_view);

#endif
