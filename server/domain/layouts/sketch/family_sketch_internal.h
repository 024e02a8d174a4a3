/*
 * family_sketch_internal.h: the bits of a feature, and its hash, for this folder.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_SKETCH_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_SKETCH_INTERNAL_H

#include "server/domain/layouts/sketch/family_sketch.h"

/* The lowest bits hold the kind, so that the order of features, and with it the choice of the
 * smallest ones, depends only on the hash. */
#define FEATURE_KIND_MASK UINT32_C(7)

_Static_assert(FAMILY_SECTION_BODY <= FEATURE_KIND_MASK, "a kind or a section fits into its bits");

/* The hash of a text, with a kind or a section. */
uint32_t family_feature_of(struct slice text, uint32_t kind);
/* Orders features, for qsort. */
int family_feature_order(const void *left, const void *right);

#endif
