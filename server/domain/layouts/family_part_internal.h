/*
 * family_part_internal.h: the parts of a split by documents (family_part.h).
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_PART_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_PART_INTERNAL_H

#include "server/domain/layouts/family_members.h"
#include "server/domain/layouts/family_part.h"
#include "server/domain/layouts/keys.h"

#include <errata/payload/payload.views.h>

/* A document to be moved. */
struct family_part_document {
    struct slice document_id;
    size_t index; /* index in the request */
    uint64_t seq; /* seq of the event that has its measures */
    uint64_t member_seq; /* seq of the member that it is assigned to */
    int64_t created_at_us;
    struct sha256_digest measured; /* the fingerprint is the hex digits of this */
    struct key_fingerprint fingerprint;
};

/* A sketch to be stored. */
struct family_part_sketch {
    uint64_t seq; /* key of the sketch: of the newest document with it */
    struct slice sketch;
};

/* A member of the old family that loses documents. */
struct family_part_member {
    uint64_t seq;
    struct family_record record; /* row of the family after the split */
    struct family_part_sketch *reseeds; /* new sketches of remaining documents, oldest first */
    size_t reseed_count;
};

/* Its memory is in ctx->arena. */
struct family_part {
    struct org_id org;
    uint64_t from_seq; /* seq of the old family, which is not an alias */
    struct family_members members; /* members of the old family */
    struct family_part_document *documents; /* ascending by `seq` */
    size_t count;
    struct family_part_member *changed; /* members that lose documents */
    size_t changed_count;
    struct family_record family; /* the new family, without its id */
    struct family_part_sketch sketches[FAMILY_ROW_SKETCHES_MAX]; /* sketches of the new family */
    uint64_t *dropped; /* keys of the organisation's oldest sketches, if it would have too many */
    size_t dropped_count;
};

/* Plans everything but the sketches; `part` has `org` and `from_seq`, and else zeros. ERR_INVALID, ERR_NOT_FOUND or
 * ERR_PRECONDITION with a message for documents that cannot be moved. The ids are borrowed. */
MUST_CHECK enum err family_part_plan(struct ctx *ctx, struct store_txn *txn,
                                     const struct slice *document_ids, size_t count,
                                     struct family_part *part);
/* Returns whether the document of this event is to be moved. */
bool family_part_moves(const struct family_part *part, uint64_t seq);
/* Decides which sketches the new family, and members without remaining ones, get, and which ones of the organisation
 * they replace. */
MUST_CHECK enum err family_part_plan_sketches(struct ctx *ctx, struct store_txn *txn,
                                              struct family_part *part);
/* Adds these decisions to the event's facts; the runs are in the arena. */
MUST_CHECK enum err family_part_put_sketches(struct arena *arena, const struct family_part *part,
                                             struct family_split_internal_view *internal);
/* Reads them from the event's facts instead of family_part_plan_sketches. */
MUST_CHECK enum err family_part_read_sketches(struct ctx *ctx, struct store_txn *txn,
                                              const struct family_split_internal_view *internal,
                                              struct family_part *part);
/* Writes the rows; the event makes the new family. */
MUST_CHECK enum err family_part_write(struct ctx *ctx, struct store_txn *txn,
                                      const struct event *event, struct family_part *part);

#endif
