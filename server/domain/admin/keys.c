/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/admin/keys.h"

#include "store/base/bytes.h"

struct key key_organization_global(struct uuid organization)
{
    struct key key = key_global_prefix();

    key_put_bytes(&key, organization.bytes, sizeof(organization.bytes));
    return key;
}

struct key key_organization_name_global(struct slice name)
{
    struct key key = key_global_prefix();

    key_put_hash(&key, name);
    return key;
}

struct key key_token_global(uint32_t key_id)
{
    struct key key = key_global_prefix();

    key_put_be32(&key, key_id);
    return key;
}

struct key key_token_by_org(struct org_id org, uint32_t key_id)
{
    struct key key = key_org(org);

    key_put_be32(&key, key_id);
    return key;
}

enum err key_read_token(struct slice key, uint32_t *ret_key_id)
{
    if (key.size != KEY_ORG_BYTES + sizeof(uint32_t)) {
        return ERR_CORRUPT;
    }
    *ret_key_id = bytes_get_be32(key.data + KEY_ORG_BYTES);
    return OK;
}
