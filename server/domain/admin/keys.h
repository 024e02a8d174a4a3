/*
 * keys.h: keys of organisations and tokens, built from the parts of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_KEYS_H
#define ERRATA_SERVER_DOMAIN_ADMIN_KEYS_H

#include "store/key.h"

struct key key_organization_global(struct uuid organization);
struct key key_organization_name_global(struct slice name);
struct key key_token_global(uint32_t key_id);
struct key key_token_by_org(struct org_id org, uint32_t key_id);
/* The key id of either token table. ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_token(struct slice key, uint32_t *ret_key_id);

#endif
