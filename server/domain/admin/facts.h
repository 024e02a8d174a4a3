/*
 * facts.h: the bytes of the facts of organisation and token events; for this folder alone.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_FACTS_H
#define ERRATA_SERVER_DOMAIN_ADMIN_FACTS_H

#include "server/domain/admin/admin.h"

/* What a TOKEN_CREATED event says. Slices are borrowed from the facts. */
struct facts_token_created {
    uint32_t key_id;
    uint32_t role;
    bool server;
    struct slice user_id;
    int64_t expire_at_us; /* 0: never */
    struct sha256_digest secret_sha256;
};

MUST_CHECK enum err facts_encode_organization_created(struct arena *arena, struct org_id org,
                                                      struct slice name, struct slice *ret_facts);
MUST_CHECK enum err facts_encode_token_created(struct arena *arena, uint32_t key_id,
                                               const struct admin_token_draft *token,
                                               struct slice *ret_facts);
MUST_CHECK enum err facts_encode_token_revoked(struct arena *arena, uint32_t key_id,
                                               struct slice *ret_facts);

/* ERR_CORRUPT for bytes that are none. */
MUST_CHECK enum err facts_decode_organization_created(struct slice facts, struct slice *ret_name);
MUST_CHECK enum err facts_decode_token_created(struct slice facts,
                                               struct facts_token_created *ret_token);
MUST_CHECK enum err facts_decode_token_revoked(struct slice facts, uint32_t *ret_key_id);
/* TokenCreated's own bytes within the facts of its event. */
MUST_CHECK enum err facts_public(struct slice facts, struct slice *ret_public);

#endif
