/*
 * family_sketch_internal.h: the bits of a feature, for this folder.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_SKETCH_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_SKETCH_FAMILY_SKETCH_INTERNAL_H

#include "server/domain/layouts/sketch/family_sketch.h"

/* The lowest bits hold the kind, so that the order of features, and with it the choice of the
 * smallest ones, depends only on the hash. */
#define FEATURE_KIND_MASK UINT32_C(7)

_Static_assert(FAMILY_FEATURE_KINDS <= FEATURE_KIND_MASK + 1, "a kind fits into its bits");

#endif
