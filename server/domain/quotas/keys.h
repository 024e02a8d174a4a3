/*
 * keys.h: keys of quotas, built from the parts of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_QUOTAS_KEYS_H
#define ERRATA_SERVER_DOMAIN_QUOTAS_KEYS_H

#include "store/key.h"

/* The quota of an organisation. */
struct key key_quota_of_org(struct org_id org);
/* The quotas of its tokens, and that of one. */
struct key key_quota_of_tokens(struct org_id org);
struct key key_quota_of_token(struct org_id org, uint32_t key_id);
/* Reads the key id of a token's row. ERR_CORRUPT for a key of another form. */
MUST_CHECK enum err key_read_quota_token(struct slice key, uint32_t *ret_key_id);

#endif
