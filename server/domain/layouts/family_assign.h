/*
 * family_assign.h: decides the layout family of a document: that of the most similar sketch among all sketches
 * of its organisation, or a new one. It reads in the transaction of the write, so that the second of two
 * documents of a new layout in one batch finds the family that the first one created. The result is recorded in
 * the document's event; apply compares no sketches. A scan over 5,000 sketches takes about 2 ms of CPU time
 * (tests/bench/family_scan.c), and an organisation has at most FAMILY_SKETCHES_MAX, so there is no index and no
 * cache.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_ASSIGN_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_FAMILY_ASSIGN_H

#include "server/domain/layouts/sketch/family_sketch.h"
#include "store/key.h"

/* Maximum sketches of an organisation, for at least 1,250 families: a scan over them takes half of a batch's 20
 * ms. If it is reached, a new sketch replaces the oldest one of the organisation, so a family that had no
 * documents for a long time is no longer recognised: its next document creates a new family, which a user can
 * merge. */
#define FAMILY_SKETCHES_MAX 20000

struct family_assignment {
    uint64_t family_seq; /* seq of the family with the most similar sketch; 0: a new one */
    struct family_match match; /* similarity and key of that sketch */
    uint64_t
        dropped_seq; /* the key of the sketch that this one replaces in the organisation; 0: none */
};

/* `sketch` has features. */
MUST_CHECK enum err family_assign(struct store_txn *txn, struct org_id org,
                                  const struct family_sketch *sketch,
                                  struct family_assignment *ret_assignment);

#endif
