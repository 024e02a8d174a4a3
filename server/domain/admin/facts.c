/*
 * facts.c: the bytes of the facts of organisation and token events, written and read field by field.
 * Stored for ever: numbers never change. A TOKEN_CREATED event's facts are a message of our own: the
 * public TokenCreated in field 1, the SHA-256 of the secret in field 2.
 */
#include "server/domain/admin/facts.h"

#include "store/base/wire.h"

#include <errata/v1/event.fields.h>

/* Fields of the message around TokenCreated. */
enum {
    PRIVATE_PUBLIC = 1,
    PRIVATE_SECRET_SHA256 = 2
};

static enum err finish(const struct buffer *buffer, struct slice *ret_facts)
{
    if (!buffer_ok(buffer)) {
        return ERR_MEMORY;
    }
    *ret_facts = buffer_slice(buffer);
    return OK;
}

enum err facts_encode_organization_created(struct arena *arena, struct org_id org,
                                           struct slice name, struct slice *ret_facts)
{
    struct buffer buffer;
    char id[UUID_TEXT_BYTES];

    uuid_format(org.uuid, id);
    buffer_init(&buffer, arena, name.size + 64);
    wire_put_bytes(&buffer, ORGANIZATION_CREATED_ORGANIZATION_ID_FIELD, slice_of(id, sizeof(id)));
    wire_put_bytes(&buffer, ORGANIZATION_CREATED_NAME_FIELD, name);
    return finish(&buffer, ret_facts);
}

static void put_key_id(struct buffer *buffer, uint32_t field, uint32_t key_id)
{
    char text[ADMIN_KEY_ID_TEXT_BYTES];

    admin_format_key_id(key_id, text);
    wire_put_bytes(buffer, field, slice_of(text, sizeof(text)));
}

enum err facts_encode_token_created(struct arena *arena, uint32_t key_id,
                                    const struct admin_token_draft *token, struct slice *ret_facts)
{
    struct buffer public_part;
    struct buffer buffer;

    buffer_init(&public_part, arena, token->user_id.size + 64);
    put_key_id(&public_part, TOKEN_CREATED_KEY_ID_FIELD, key_id);
    wire_put_varint(&public_part, TOKEN_CREATED_ROLE_FIELD, token->role);
    if (token->server) {
        wire_put_varint(&public_part, TOKEN_CREATED_SERVER_FIELD, 1);
    }
    if (token->user_id.size != 0) {
        wire_put_bytes(&public_part, TOKEN_CREATED_USER_ID_FIELD, token->user_id);
    }
    if (token->expire_at_us != 0) {
        wire_put_timestamp(&public_part, TOKEN_CREATED_EXPIRE_TIME_FIELD, token->expire_at_us);
    }
    if (!buffer_ok(&public_part)) {
        return ERR_MEMORY;
    }
    buffer_init(&buffer, arena, public_part.size + 48);
    wire_put_bytes(&buffer, PRIVATE_PUBLIC, buffer_slice(&public_part));
    wire_put_bytes(&buffer, PRIVATE_SECRET_SHA256,
                   slice_of(token->secret_sha256.bytes, SHA256_BYTES));
    return finish(&buffer, ret_facts);
}

enum err facts_encode_token_revoked(struct arena *arena, uint32_t key_id, struct slice *ret_facts)
{
    struct buffer buffer;

    buffer_init(&buffer, arena, 16);
    put_key_id(&buffer, TOKEN_REVOKED_KEY_ID_FIELD, key_id);
    return finish(&buffer, ret_facts);
}

/* The bytes of one field of a stored message; ERR_CORRUPT without it. */
static enum err find_bytes(struct slice message, uint32_t number, struct slice *ret_bytes)
{
    struct wire_reader reader = wire_reader_of(message);
    struct wire_field field;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == number && field.type == WIRE_BYTES) {
            *ret_bytes = field.bytes;
            return OK;
        }
    }
    return ERR_CORRUPT;
}

enum err facts_decode_organization_created(struct slice facts, struct slice *ret_name)
{
    return find_bytes(facts, ORGANIZATION_CREATED_NAME_FIELD, ret_name);
}

enum err facts_public(struct slice facts, struct slice *ret_public)
{
    return find_bytes(facts, PRIVATE_PUBLIC, ret_public);
}

/* Takes one field of TokenCreated over; ERR_CORRUPT where it is not what it must be. */
static enum err take_token_field(const struct wire_field *field, struct facts_token_created *token)
{
    switch (field->number) {
    case TOKEN_CREATED_KEY_ID_FIELD:
        return admin_parse_key_id(field->bytes, &token->key_id) ? OK : ERR_CORRUPT;
    case TOKEN_CREATED_ROLE_FIELD:
        token->role = (uint32_t)field->value;
        return OK;
    case TOKEN_CREATED_SERVER_FIELD:
        token->server = field->value != 0;
        return OK;
    case TOKEN_CREATED_USER_ID_FIELD:
        token->user_id = field->bytes;
        return OK;
    case TOKEN_CREATED_EXPIRE_TIME_FIELD:
        return wire_read_timestamp(field->bytes, &token->expire_at_us) == OK ? OK : ERR_CORRUPT;
    default:
        return OK; /* a later version's field */
    }
}

enum err facts_decode_token_created(struct slice facts, struct facts_token_created *ret_token)
{
    struct facts_token_created token = {0};
    struct wire_reader reader;
    struct wire_field field;
    struct slice public_part;
    struct slice secret_sha256;
    enum err err = facts_public(facts, &public_part);

    if (err != OK) {
        return err;
    }
    err = find_bytes(facts, PRIVATE_SECRET_SHA256, &secret_sha256);
    if (err != OK || secret_sha256.size != SHA256_BYTES) {
        return ERR_CORRUPT;
    }
    memcpy(token.secret_sha256.bytes, secret_sha256.data, SHA256_BYTES);
    reader = wire_reader_of(public_part);
    while ((err = wire_next(&reader, &field)) == OK) {
        if (take_token_field(&field, &token) != OK) {
            return ERR_CORRUPT;
        }
    }
    if (err != ERR_NOT_FOUND || token.role == 0) {
        return ERR_CORRUPT;
    }
    *ret_token = token;
    return OK;
}

enum err facts_decode_token_revoked(struct slice facts, uint32_t *ret_key_id)
{
    struct slice text;
    enum err err = find_bytes(facts, TOKEN_REVOKED_KEY_ID_FIELD, &text);

    if (err != OK) {
        return err;
    }
    return admin_parse_key_id(text, ret_key_id) ? OK : ERR_CORRUPT;
}
