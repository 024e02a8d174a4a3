/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/artifacts/keys.h"

#include "store/base/bytes.h"

struct key key_artifact(struct org_id org, uint64_t artifact_seq)
{
    return key_org_seq(org, artifact_seq);
}

static struct key key_pair(struct org_id org, uint64_t artifact_seq, uint64_t event_seq)
{
    struct key key = key_org_seq(org, artifact_seq);

    key_put_be64(&key, event_seq);
    return key;
}

struct key key_artifact_life(struct org_id org, uint64_t artifact_seq, uint64_t event_seq)
{
    return key_pair(org, artifact_seq, event_seq);
}

struct key key_artifact_evidence(struct org_id org, uint64_t artifact_seq, uint64_t event_seq)
{
    return key_pair(org, artifact_seq, event_seq);
}

enum err key_read_artifact_evidence(struct slice key, uint64_t *ret_event_seq)
{
    if (key.size != KEY_ORG_BYTES + 2 * sizeof(uint64_t)) {
        return ERR_CORRUPT;
    }
    *ret_event_seq = bytes_get_be64(key.data + KEY_ORG_BYTES + sizeof(uint64_t));
    return OK;
}
