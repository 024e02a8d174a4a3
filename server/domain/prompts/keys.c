/*
 * keys.c: see keys.h. FORMAT.md shows the bytes.
 */
#include "server/domain/prompts/keys.h"

struct key key_prompt_template_prefix(struct org_id org, struct slice name)
{
    struct key key = key_org(org);

    key_put_padded(&key, name, KEY_NAME_BYTES);
    key_put_hash(&key, name);
    return key;
}

struct key key_prompt_template(struct org_id org, struct slice name, uint32_t version)
{
    struct key key = key_prompt_template_prefix(org, name);

    key_put_be32(&key, ~version);
    return key;
}
