/*
 * organization_deletion.c: see organization_deletion.h.
 */
#include "server/domain/admin/organization_deletion.h"

#include "server/domain/admin/admin_internal.h"
#include "server/domain/admin/keys.h"
#include "server/domain/admin/organization_state.h"
#include "server/domain/admin/token_scan.h"
#include "server/domain/admin/token_use.h"
#include "store/base/assert.h"
#include "store/log_import.h"

/* Tokens that a step deletes, at most: each has a row by its key id and one by its organisation. */
#define STEP_TOKENS_MAX (LOG_DELETION_ROWS_MAX / 2)

static enum err check_request(struct ctx *ctx, struct store_txn *txn,
                              const struct organization_deletion_request *request,
                              const struct organization_record *record)
{
    struct slice shown = {NULL, 0};
    bool is_refused = false;
    enum err err = organization_state_is_suspended(txn, request->org, &is_refused);

    if (!slice_equal(request->confirm_name, record->name)) {
        shown = fault_shorten(ctx->fault, record->name);
        fault_add(ctx->fault, SLICE("confirm_name"), "not the organisation's name; expected '%.*s'",
                  (int)shown.size, (const char *)shown.data);
        return ERR_INVALID;
    }
    if (err == OK && !is_refused) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "org_id: the organisation is active; expected a suspended one "
                         "(errata org suspend)");
    }
    return err;
}

/* Appends an event to the log of the server's own organisation. */
static enum err append(struct ctx *ctx, struct store_txn *txn, struct event_draft *draft,
                       const struct organization_deleted_view *facts, struct uuid org,
                       struct work_result *ret_result)
{
    enum err err = log_next_stamp(ctx, txn, draft->org, &draft->stamp);

    if (err != OK) {
        return err;
    }
    if (!view_encode_parts(&organization_deleted_view_type, facts, ctx->arena, &draft->facts,
                           &draft->content)) {
        return ERR_MEMORY;
    }
    err = event_draft_add_id(ctx->arena, draft, SUBJECT_ORGANIZATION, org);
    return err != OK ? err : admin_draft_append(ctx, txn, draft, ret_result);
}

static enum err begin(struct ctx *ctx, struct store_txn *txn, const struct admin_actor *actor,
                      const struct organization_deletion_request *request,
                      const struct organization_record *record, struct work_result *ret_result)
{
    struct organization_deleted_view facts = {
        .org_id = request->org.uuid,
        .organization_created_at_us = record->created_at_us,
        .has_organization_created_at = true,
        .reason = request->reason,
    };
    struct log_deletion deletion = {.org = request->org};
    struct event_draft draft;
    struct log_head head;
    enum err err = organization_state_find_server(txn, &deletion.audit_org);

    if (err == OK) {
        err = log_read_head(txn, request->org, &head);
    }
    /* The row is the transaction's, and the first put may move it. */
    if (err == OK && !arena_copy(ctx->arena, record->name, &facts.name)) {
        err = ERR_MEMORY;
    }
    if (err != OK) {
        return err;
    }
    facts.event_count = head.last_seq;
    admin_draft_fill(&draft, deletion.audit_org, EVENT_ORGANIZATION_DELETED, actor);
    err = append(ctx, txn, &draft, &facts, request->org.uuid, ret_result);
    if (err != OK) {
        return err;
    }
    deletion.audit_seq = ret_result->first_seq;
    return log_deletion_put(ctx, txn, &deletion);
}

enum err organization_deletion_begin(struct ctx *ctx, struct store_txn *txn,
                                     const struct admin_actor *actor,
                                     const struct organization_deletion_request *request,
                                     struct work_result *ret_result)
{
    struct organization_record record;
    struct log_deletion deletion;
    enum err err = organization_state_check_caller(ctx, txn, actor, request->caller_org);

    if (err == OK) {
        err = log_deletion_read(txn, request->org, &deletion);
    }
    if (err == OK) {
        *ret_result =
            (struct work_result){.org = deletion.audit_org, .first_seq = deletion.audit_seq};
        return OK;
    }
    if (err == ERR_NOT_FOUND) {
        err = admin_read_organization(txn, request->org.uuid, &record);
    }
    if (err == OK) {
        err = check_request(ctx, txn, request, &record);
    }
    return err != OK ? err : begin(ctx, txn, actor, request, &record, ret_result);
}

enum err organization_deletion_read(struct store_txn *txn, struct org_id audit_org,
                                    uint64_t audit_seq, struct organization_deleted_view *ret_facts,
                                    int64_t *ret_started_at_us)
{
    struct event event;
    enum err err = log_read(txn, audit_org, audit_seq, &event);

    if (err == OK) {
        err = organization_deleted_view_read(event.facts, ret_facts);
    }
    if (err == OK) {
        *ret_started_at_us = event.created_at_us;
    }
    return err;
}

/* Deletes tokens by the list of the organisation's, after the last one that was deleted. */
static enum err delete_tokens(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              size_t tokens_max, struct organization_deletion_position *position,
                              size_t *ret_count)
{
    const struct scan_range range = {.table = TABLE_TOKEN_BY_ORG,
                                     .prefix = key_org(org),
                                     .after = key_slice(&position->token),
                                     .rows_max = (uint32_t)tokens_max};
    uint32_t *key_ids = arena_calloc(ctx->arena, tokens_max, sizeof(*key_ids));
    struct scan scan = {.row_count = 0};
    size_t count = 0;
    enum err err = key_ids == NULL ? ERR_MEMORY : scan_init(&scan, txn, &range);

    while (err == OK && count < tokens_max) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_token(key, &key_ids[count]);
            count += err == OK;
        }
    }
    scan_deinit(&scan);
    err = err == ERR_NOT_FOUND ? OK : err;
    for (size_t i = 0; i < count && err == OK; i++) {
        struct key token = key_token_global(key_ids[i]);
        struct key listed = key_token_by_org(org, key_ids[i]);

        err = store_del_if_present(txn, TABLE_TOKEN, key_slice(&token));
        if (err == OK) {
            err = token_use_delete(txn, key_ids[i]);
        }
        if (err == OK) {
            err = store_del(txn, TABLE_TOKEN_BY_ORG, key_slice(&listed));
        }
    }
    if (count > 0) {
        position->token = key_token_by_org(org, key_ids[count - 1]);
    }
    position->has_no_tokens = count == 0;
    *ret_count = 2 * count;
    return err;
}

enum err organization_deletion_step(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                    size_t rows_max,
                                    struct organization_deletion_position *position,
                                    size_t *ret_count)
{
    struct log_deletion deletion;
    size_t tokens_max = rows_max / 2 < STEP_TOKENS_MAX ? rows_max / 2 : STEP_TOKENS_MAX;
    size_t count = 0;
    enum err err = log_deletion_read(txn, org, &deletion);

    ASSERT(rows_max > 0 && rows_max <= LOG_DELETION_ROWS_MAX);
    if (err == OK && !position->has_no_tokens) {
        err = delete_tokens(ctx, txn, org, tokens_max > 0 ? tokens_max : 1, position, &count);
    }
    if (err == OK && count == 0) {
        err = log_deletion_delete_rows(ctx, txn, org, rows_max, &position->rows, &count);
    }
    if (err == OK && count > 0) {
        deletion.row_count += count;
        err = log_deletion_put(ctx, txn, &deletion);
    }
    if (err == OK) {
        *ret_count = count;
    }
    return err;
}

/* Examines the next tokens of all organisations. */
static enum err check_tokens(struct store_txn *txn, struct org_id org, uint32_t tokens_max,
                             struct organization_deletion_check *check)
{
    struct scan scan = {.row_count = 0};
    struct token_record token;
    uint32_t key_id = 0;
    enum err err = token_scan_init(&scan, txn, key_slice(&check->token), tokens_max);

    while (err == OK && !check->has_rows) {
        err = token_scan_next(&scan, &token, &key_id);
        if (err == OK) {
            check->has_rows = uuid_equal(token.org, org.uuid);
            check->token = key_token_global(key_id);
        }
    }
    check->has_ended = check->has_rows || (err == ERR_NOT_FOUND && !scan.is_cut);
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err organization_deletion_check(struct store_txn *txn, struct org_id org, uint32_t tokens_max,
                                     struct organization_deletion_check *check)
{
    enum err err = OK;

    if (check->table == TABLE_COUNT) {
        return check_tokens(txn, org, tokens_max, check);
    }
    err = log_deletion_table_has_rows(txn, org, (enum store_table)check->table, &check->has_rows);
    check->has_ended = check->has_rows;
    check->table++;
    return err;
}

/* Removes the rows that have no organisation in their keys. After a rebuild they are missing, and another organisation may
 * have the name. */
static enum err remove_own_rows(struct store_txn *txn, struct uuid org, struct slice name)
{
    struct key key = key_organization_global(org);
    struct key name_key = key_organization_name_global(name);
    struct slice named = {NULL, 0};
    enum err err = store_del_if_present(txn, TABLE_ORGANIZATION, key_slice(&key));

    if (err == OK) {
        err = store_get(txn, TABLE_ORGANIZATION_NAME, key_slice(&name_key), &named);
    }
    if (err == OK && slice_equal(named, slice_of(org.bytes, UUID_BYTES))) {
        return store_del(txn, TABLE_ORGANIZATION_NAME, key_slice(&name_key));
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Reads what the event of the end repeats of that of the beginning, into the arena. */
static enum err read_begin(struct ctx *ctx, struct store_txn *txn,
                           const struct log_deletion *deletion, struct event *ret_event,
                           struct organization_deleted_view *ret_facts)
{
    enum err err =
        log_read_copy(ctx->arena, txn, deletion->audit_org, deletion->audit_seq, ret_event);

    return err != OK ? err : organization_deleted_view_read(ret_event->facts, ret_facts);
}

/* The beginning of a deletion, for its end. */
struct begun {
    struct log_deletion deletion;
    struct event event;
    struct organization_deleted_view facts;
};

/* Removes what is left, and reads the beginning. */
static enum err finish(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       struct begun *ret_begun)
{
    bool has = false;
    enum err err = log_deletion_read(txn, org, &ret_begun->deletion);

    if (err == OK) {
        err = log_deletion_has_rows(txn, org, &has);
    }
    if (err == OK) {
        err =
            has ? ERR_PRECONDITION
                : read_begin(ctx, txn, &ret_begun->deletion, &ret_begun->event, &ret_begun->facts);
    }
    if (err == OK) {
        err = remove_own_rows(txn, org.uuid, ret_begun->facts.name);
    }
    if (err == OK) {
        err = log_import_end(txn, org);
    }
    return err != OK ? err : log_deletion_end(txn, org);
}

enum err organization_deletion_finish(struct ctx *ctx, struct store_txn *txn, struct org_id org)
{
    struct begun begun;

    return finish(ctx, txn, org, &begun);
}

enum err organization_deletion_end(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                   struct work_result *ret_result)
{
    struct admin_actor actor = {.annotator = ANNOTATOR_CODE, .source = SOURCE_SYSTEM};
    struct event_draft draft;
    struct begun begun;
    enum err err = finish(ctx, txn, org, &begun);

    if (err != OK) {
        return err;
    }
    begun.facts.completed = true;
    begun.facts.deleted_row_count = begun.deletion.row_count;
    begun.facts.started_seq = begun.deletion.audit_seq;
    actor.user_id = begun.event.actor_user_id;
    admin_draft_fill(&draft, begun.deletion.audit_org, EVENT_ORGANIZATION_DELETED, &actor);
    return append(ctx, txn, &draft, &begun.facts, org.uuid, ret_result);
}

bool admin_row_owner(enum store_table table, struct slice key, struct slice value,
                     struct uuid *ret_owner)
{
    struct token_record token;

    if (table == TABLE_ORGANIZATION && key.size == KEY_ORG_BYTES + UUID_BYTES) {
        memcpy(ret_owner->bytes, key.data + KEY_ORG_BYTES, UUID_BYTES);
        return true;
    }
    if (table == TABLE_ORGANIZATION_NAME && value.size == UUID_BYTES) {
        memcpy(ret_owner->bytes, value.data, UUID_BYTES);
        return true;
    }
    if (table != TABLE_TOKEN || record_decode_token(value, &token) != OK) {
        return false;
    }
    *ret_owner = token.org;
    return true;
}
