/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/quotas/keys.h"

#include "store/base/bytes.h"

/* The byte after the organisation. */
#define OF_ORG 0
#define OF_TOKEN 1

struct key key_quota_of_org(struct org_id org)
{
    struct key key = key_org(org);

    key_put_byte(&key, OF_ORG);
    return key;
}

struct key key_quota_of_tokens(struct org_id org)
{
    struct key key = key_org(org);

    key_put_byte(&key, OF_TOKEN);
    return key;
}

struct key key_quota_of_token(struct org_id org, uint32_t key_id)
{
    struct key key = key_quota_of_tokens(org);

    key_put_be32(&key, key_id);
    return key;
}

enum err key_read_quota_token(struct slice key, uint32_t *ret_key_id)
{
    if (key.size != KEY_ORG_BYTES + 1 + sizeof(*ret_key_id) ||
        key.data[KEY_ORG_BYTES] != OF_TOKEN) {
        return ERR_CORRUPT;
    }
    *ret_key_id = bytes_get_be32(key.data + KEY_ORG_BYTES + 1);
    return OK;
}
