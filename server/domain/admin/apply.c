/*
 * apply.c: derives the rows of organisations and tokens from their events, and reads them. Uses no
 * clock, random numbers or configuration, so a replay writes the same bytes.
 */
#include "server/domain/admin/admin.h"
#include "server/domain/admin/facts.h"
#include "server/domain/admin/keys.h"
#include "server/domain/admin/organization_state.h"
#include "server/domain/admin/records.h"
#include "store/base/assert.h"
#include "store/base/hex.h"

#include <event_apply.h>

static enum err apply_organization_created(struct ctx *ctx, struct store_txn *txn,
                                           const struct event *event)
{
    struct organization_record record = {
        .id = event->org.uuid,
        .created_at_us = event->created_at_us,
    };
    struct key key = key_organization_global(event->org.uuid);
    struct key name_key;
    struct slice bytes;
    struct organization_created_view created;
    enum err err = organization_created_view_read(event->facts, &created);

    if (err != OK) {
        return err;
    }
    record.name = created.name;
    name_key = key_organization_name_global(record.name); /* the first put may invalidate the
                                                           * name */
    err = record_encode_organization(ctx->arena, &record, &bytes);
    if (err != OK) {
        return err;
    }
    err = store_put(txn, TABLE_ORGANIZATION, key_slice(&key), bytes);
    if (err != OK) {
        return err;
    }
    return store_put(txn, TABLE_ORGANIZATION_NAME, key_slice(&name_key),
                     slice_of(event->org.uuid.bytes, UUID_BYTES));
}

/* Writes the row of a token. */
static enum err put_token(struct ctx *ctx, struct store_txn *txn, uint32_t key_id,
                          const struct token_record *record)
{
    struct key key = key_token_global(key_id);
    struct slice bytes;
    enum err err = record_encode_token(ctx->arena, record, &bytes);

    if (err != OK) {
        return err;
    }
    return store_put(txn, TABLE_TOKEN, key_slice(&key), bytes);
}

static enum err apply_token_created(struct ctx *ctx, struct store_txn *txn,
                                    const struct event *event)
{
    struct facts_token_created facts;
    struct token_record record;
    struct key key;
    enum err err = facts_decode_token_created(event->facts, &facts);

    if (err != OK || facts.secret_sha256.size == 0) {
        return err; /* an import left the token out */
    }
    record = (struct token_record){
        .org = event->org.uuid,
        .role = (uint32_t)facts.token.role,
        .server = facts.token.server,
        .user_id = facts.token.user_id,
        .created_by = event->actor_user_id,
        .created_at_us = event->created_at_us,
        .expire_at_us = facts.token.expires_at_us,
    };
    memcpy(record.secret_sha256.bytes, facts.secret_sha256.data, SHA256_BYTES);
    err = put_token(ctx, txn, facts.key_id, &record);
    if (err != OK) {
        return err;
    }
    key = key_token_by_org(event->org, facts.key_id);
    return store_put(txn, TABLE_TOKEN_BY_ORG, key_slice(&key), slice_of(NULL, 0));
}

/* Reads the token that an event of the organisation changes. `ret_has` is false if an import left it out: another organisation
 * may have a token with its key id. */
static enum err read_changed_token(struct store_txn *txn, const struct event *event,
                                   uint32_t key_id, struct token_record *ret_record, bool *ret_has)
{
    struct key key = key_token_by_org(event->org, key_id);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_TOKEN_BY_ORG, key_slice(&key), &value);

    *ret_has = err == OK;
    if (err == OK) {
        err = admin_read_token(txn, key_id, ret_record);
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err apply_token_revoked(struct ctx *ctx, struct store_txn *txn,
                                    const struct event *event)
{
    struct token_record record;
    uint32_t key_id = 0;
    bool has = false;
    enum err err = facts_decode_token_revoked(event->facts, &key_id);

    if (err == OK) {
        err = read_changed_token(txn, event, key_id, &record, &has);
    }
    if (err != OK || !has) {
        return err;
    }
    record.revoked_at_us = event->created_at_us;
    return put_token(ctx, txn, key_id, &record);
}

static enum err apply_token_rotated(struct ctx *ctx, struct store_txn *txn,
                                    const struct event *event)
{
    struct facts_token_rotated rotated;
    struct token_record record;
    bool has = false;
    enum err err = facts_decode_token_rotated(event->facts, &rotated);

    if (err == OK) {
        err = read_changed_token(txn, event, rotated.key_id, &record, &has);
    }
    if (err != OK || !has) {
        return err;
    }
    record.expire_at_us = rotated.expire_at_us;
    record.is_replaced = true;
    record.replaced_by = rotated.replaced_by;
    return put_token(ctx, txn, rotated.key_id, &record);
}

enum err admin_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    ASSERT(admin_applies(event->kind));
    if (event->kind == EVENT_ORGANIZATION_CREATED) {
        return apply_organization_created(ctx, txn, event);
    }
    if (event->kind == EVENT_TOKEN_CREATED) {
        return apply_token_created(ctx, txn, event);
    }
    if (event->kind == EVENT_ORGANIZATION_STATE_SET) {
        return organization_state_apply(ctx, txn, event);
    }
    if (event->kind == EVENT_ORGANIZATION_DELETED || event->kind == EVENT_ORGANIZATION_EXPORTED ||
        event->kind == EVENT_ORGANIZATION_IMPORTED) {
        return OK; /* audited only; the first says that another log is not replayed any more */
    }
    return event->kind == EVENT_TOKEN_REVOKED ? apply_token_revoked(ctx, txn, event)
                                              : apply_token_rotated(ctx, txn, event);
}

enum err admin_public_facts(const struct event *event, struct slice *ret_public)
{
    return facts_public(event->facts, ret_public);
}

enum err admin_created_key_id(const struct event *event, uint32_t *ret_key_id)
{
    struct facts_token_created facts;
    enum err err = facts_decode_token_created(event->facts, &facts);

    if (err == OK) {
        *ret_key_id = facts.key_id;
    }
    return err;
}

enum err admin_read_organization(struct store_txn *txn, struct uuid id,
                                 struct organization_record *ret_organization)
{
    struct key key = key_organization_global(id);
    struct slice bytes;
    enum err err = store_get(txn, TABLE_ORGANIZATION, key_slice(&key), &bytes);

    if (err != OK) {
        return err;
    }
    return record_decode_organization(bytes, ret_organization);
}

enum err admin_find_organization(struct store_txn *txn, struct slice name, struct uuid *ret_id)
{
    struct key key = key_organization_name_global(name);
    struct slice value;
    enum err err = store_get(txn, TABLE_ORGANIZATION_NAME, key_slice(&key), &value);

    if (err == OK && value.size != sizeof(ret_id->bytes)) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        memcpy(ret_id->bytes, value.data, sizeof(ret_id->bytes));
    }
    return err;
}

enum err admin_read_token(struct store_txn *txn, uint32_t key_id, struct token_record *ret_token)
{
    struct key key = key_token_global(key_id);
    struct slice bytes;
    enum err err = store_get(txn, TABLE_TOKEN, key_slice(&key), &bytes);

    if (err != OK) {
        return err;
    }
    return record_decode_token(bytes, ret_token);
}

enum err admin_has_organization(struct store_txn *txn, bool *ret_has)
{
    struct key prefix = key_global_prefix();
    struct store_cursor cursor = {0};
    struct slice key;
    struct slice value;
    enum err err = store_cursor_init(&cursor, txn, TABLE_ORGANIZATION, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    store_cursor_deinit(&cursor);
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_has = err == OK;
    return OK;
}

void admin_format_key_id(uint32_t key_id, char text[ADMIN_KEY_ID_TEXT_BYTES])
{
    for (unsigned i = 0; i < ADMIN_KEY_ID_TEXT_BYTES; i++) {
        text[i] = hex_digit(key_id >> (28 - 4 * i));
    }
}

bool admin_parse_key_id(struct slice text, uint32_t *ret_key_id)
{
    uint32_t key_id = 0;

    if (text.size != ADMIN_KEY_ID_TEXT_BYTES) {
        return false;
    }
    for (size_t i = 0; i < text.size; i++) {
        int value = hex_value(text.data[i]);

        if (value < 0 || hex_digit((uint32_t)value) != (char)text.data[i]) {
            return false; /* upper case is refused too: a key id has only one text form */
        }
        key_id = key_id << 4 | (uint32_t)value;
    }
    *ret_key_id = key_id;
    return true;
}
