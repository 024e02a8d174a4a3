/*
 * keys.h: keys of exposures and their outcomes, built from the parts of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXPOSURES_KEYS_H
#define ERRATA_SERVER_DOMAIN_EXPOSURES_KEYS_H

#include "store/key.h"

struct key key_exposure(struct org_id org, const uint8_t reference_hash[16]);
/* The outcome of an exposure for a subject; `outcome_kind` is the outcome's event kind. The empty
 * subject means that there is none. */
struct key key_outcome(struct org_id org, uint64_t exposure_seq, uint8_t outcome_kind,
                       struct slice subject);

#endif
