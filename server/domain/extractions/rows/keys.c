/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/extractions/rows/keys.h"

struct key key_extraction(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

struct key key_extraction_subject_prefix(struct org_id org, enum subject_kind kind, struct slice id)
{
    return key_subject_prefix(org, kind, id);
}

struct key key_extraction_subject(struct org_id org, enum subject_kind kind, struct slice id,
                                  int64_t served_at_us, uint64_t seq)
{
    return key_subject(org, kind, id, served_at_us, seq);
}

struct key key_extraction_key(struct org_id org, enum extraction_key_kind kind, struct slice id)
{
    return key_subject_prefix(org, kind, id);
}
