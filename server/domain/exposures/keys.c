/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/exposures/keys.h"

struct key key_exposure(struct org_id org, const uint8_t reference_hash[16])
{
    struct key key = key_org(org);

    key_put_bytes(&key, reference_hash, KEY_HASH_BYTES);
    return key;
}

struct key key_outcome(struct org_id org, uint64_t exposure_seq, uint8_t outcome_kind,
                       struct slice subject)
{
    struct key key = key_org_seq(org, exposure_seq);

    key_put_byte(&key, outcome_kind);
    key_put_hash(&key, subject);
    return key;
}
