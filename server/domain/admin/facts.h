/*
 * facts.h: the facts of organisation and token events; for this folder only.
 */
#ifndef ERRATA_SERVER_DOMAIN_ADMIN_FACTS_H
#define ERRATA_SERVER_DOMAIN_ADMIN_FACTS_H

#include "server/domain/admin/admin.h"

#include <errata/v1/event.views.h>

/* The content of a TOKEN_CREATED event. Slices are borrowed from the facts. */
struct facts_token_created {
    struct token_created_view token;
    uint32_t key_id; /* key id of `token` */
    struct slice secret_sha256; /* SHA256_BYTES; empty: an import left the token out */
};

MUST_CHECK enum err facts_encode_token_created(struct arena *arena, uint32_t key_id,
                                               const struct admin_token_draft *token,
                                               struct slice *ret_facts);
MUST_CHECK enum err facts_encode_token_revoked(struct arena *arena, uint32_t key_id,
                                               struct slice *ret_facts);

/* ERR_CORRUPT for other bytes. */
MUST_CHECK enum err facts_decode_token_created(struct slice facts,
                                               struct facts_token_created *ret_token);
MUST_CHECK enum err facts_decode_token_revoked(struct slice facts, uint32_t *ret_key_id);
/* The content of a TOKEN_ROTATED event. */
struct facts_token_rotated {
    uint32_t key_id; /* the old token */
    uint32_t replaced_by; /* key id of the new token */
    int64_t expire_at_us; /* time at which the old token ends; not 0 */
    int64_t previous_expire_at_us; /* 0: it never expired */
};

MUST_CHECK enum err facts_encode_token_rotated(struct arena *arena,
                                               const struct facts_token_rotated *rotated,
                                               struct slice *ret_facts);
MUST_CHECK enum err facts_decode_token_rotated(struct slice facts,
                                               struct facts_token_rotated *ret_rotated);
/* TokenCreated's own bytes within the facts of its event. */
MUST_CHECK enum err facts_public(struct slice facts, struct slice *ret_public);

#endif
