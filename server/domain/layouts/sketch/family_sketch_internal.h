/*
 * family_sketch_internal.h: the bits of a feature, for this folder.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_SKETCH_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_SKETCH_INTERNAL_H

#include "server/domain/layouts/sketch/family_sketch.h"

/* The lowest bits hold the kind: the order of features, and so the choice of the smallest, depends on
 * the hash alone. */
#define FEATURE_KIND_MASK UINT32_C(7)

_Static_assert(FAMILY_FEATURE_KINDS <= FEATURE_KIND_MASK + 1, "a kind fits into its bits");

#endif
