/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/extractions/rows/keys.h"

#include "store/base/bytes.h"

struct key key_extraction(struct org_id org, uint64_t seq)
{
    return key_org_seq(org, seq);
}

struct key key_extraction_subject_prefix(struct org_id org, enum subject_kind kind, struct slice id)
{
    return key_subject_prefix(org, (uint8_t)kind, id);
}

struct key key_extraction_subject(struct org_id org, enum subject_kind kind, struct slice id,
                                  int64_t served_at_us, uint64_t seq)
{
    return key_subject(org, (uint8_t)kind, id, served_at_us, seq);
}

struct key key_extraction_key(struct org_id org, enum extraction_key_kind kind, struct slice id)
{
    return key_subject_prefix(org, (uint8_t)kind, id);
}

struct key key_extraction_kept_prefix(struct org_id org, uint64_t correction_seq)
{
    return key_org_seq(org, correction_seq);
}

struct key key_extraction_kept(struct org_id org, uint64_t correction_seq, uint64_t seq)
{
    struct key key = key_extraction_kept_prefix(org, correction_seq);

    key_put_be64(&key, seq);
    return key;
}

enum err key_read_extraction_kept(struct slice key, uint64_t *ret_seq)
{
    if (key.size != KEY_ORG_BYTES + 2 * sizeof(*ret_seq)) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(key.data + KEY_ORG_BYTES + sizeof(*ret_seq));
    return OK;
}
