/*
 * facts.c: see facts.h. The facts of an EVENT_TOKEN_CREATED are a StoredToken
 * (proto/errata/payload/token.proto).
 */
#include "server/domain/admin/facts.h"

#include <errata/payload/token.views.h>

enum err facts_encode_token_created(struct arena *arena, uint32_t key_id,
                                    const struct admin_token_draft *token, struct slice *ret_facts)
{
    char key_id_text[ADMIN_KEY_ID_TEXT_BYTES];
    struct stored_token_view stored = {
        .secret_sha256 = slice_of(token->secret_sha256.bytes, SHA256_BYTES),
    };
    struct token_created_view created = {
        .key_id = slice_of(key_id_text, sizeof(key_id_text)),
        .role = (enum role)token->role,
        .server = token->server,
        .user_id = token->user_id,
        .has_user_id = token->user_id.size > 0,
        .expires_at_us = token->expire_at_us,
        .has_expires_at = token->expire_at_us != 0,
    };

    admin_format_key_id(key_id, key_id_text);
    return view_encode(&token_created_view_type, &created, arena, &stored.token_created) &&
                   view_encode(&stored_token_view_type, &stored, arena, ret_facts)
               ? OK
               : ERR_MEMORY;
}

enum err facts_encode_token_revoked(struct arena *arena, uint32_t key_id, struct slice *ret_facts)
{
    char key_id_text[ADMIN_KEY_ID_TEXT_BYTES];
    const struct token_revoked_view revoked = {
        .key_id = slice_of(key_id_text, sizeof(key_id_text)),
    };

    admin_format_key_id(key_id, key_id_text);
    return view_encode(&token_revoked_view_type, &revoked, arena, ret_facts) ? OK : ERR_MEMORY;
}

static enum err read_stored(struct slice facts, struct stored_token_view *ret_stored)
{
    enum err err = stored_token_view_read(facts, ret_stored);

    return err == OK && ret_stored->secret_sha256.size != SHA256_BYTES &&
                   ret_stored->secret_sha256.size != 0
               ? ERR_CORRUPT
               : err;
}

enum err facts_public(struct slice facts, struct slice *ret_public)
{
    struct stored_token_view stored;
    enum err err = read_stored(facts, &stored);

    if (err == OK) {
        *ret_public = stored.token_created;
    }
    return err;
}

enum err facts_decode_token_created(struct slice facts, struct facts_token_created *ret_token)
{
    struct stored_token_view stored;
    enum err err = read_stored(facts, &stored);

    if (err == OK) {
        err = token_created_view_read(stored.token_created, &ret_token->token);
    }
    if (err != OK || !admin_parse_key_id(ret_token->token.key_id, &ret_token->key_id)) {
        return ERR_CORRUPT;
    }
    ret_token->secret_sha256 = stored.secret_sha256;
    return OK;
}

enum err facts_decode_token_revoked(struct slice facts, uint32_t *ret_key_id)
{
    struct token_revoked_view revoked;
    enum err err = token_revoked_view_read(facts, &revoked);

    return err == OK && !admin_parse_key_id(revoked.key_id, ret_key_id) ? ERR_CORRUPT : err;
}

enum err facts_encode_token_rotated(struct arena *arena, const struct facts_token_rotated *rotated,
                                    struct slice *ret_facts)
{
    char key_id[ADMIN_KEY_ID_TEXT_BYTES];
    char replaced_by[ADMIN_KEY_ID_TEXT_BYTES];
    const struct token_rotated_view view = {
        .key_id = slice_of(key_id, sizeof(key_id)),
        .replaced_by = slice_of(replaced_by, sizeof(replaced_by)),
        .expires_at_us = rotated->expire_at_us,
        .has_expires_at = true,
        .previous_expires_at_us = rotated->previous_expire_at_us,
        .has_previous_expires_at = rotated->previous_expire_at_us != 0,
    };

    admin_format_key_id(rotated->key_id, key_id);
    admin_format_key_id(rotated->replaced_by, replaced_by);
    return view_encode(&token_rotated_view_type, &view, arena, ret_facts) ? OK : ERR_MEMORY;
}

enum err facts_decode_token_rotated(struct slice facts, struct facts_token_rotated *ret_rotated)
{
    struct facts_token_rotated rotated = {0};
    struct token_rotated_view view;
    enum err err = token_rotated_view_read(facts, &view);

    if (err != OK || !admin_parse_key_id(view.key_id, &rotated.key_id) ||
        !admin_parse_key_id(view.replaced_by, &rotated.replaced_by)) {
        return ERR_CORRUPT;
    }
    rotated.expire_at_us = view.expires_at_us;
    rotated.previous_expire_at_us = view.has_previous_expires_at ? view.previous_expires_at_us : 0;
    *ret_rotated = rotated;
    return OK;
}
