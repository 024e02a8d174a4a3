/*
 * prompt_templates.c: writes and reads the event and the row of a template's version.
 */
#include "server/domain/prompts/prompt_templates.h"

#include "server/domain/events/draft.h"
#include "server/domain/prompts/keys.h"
#include "server/domain/prompts/records.h"
#include "server/domain/prompts/shipped.h"
#include "store/base/assert.h"

#include <event_apply.h>

enum err prompt_template_prepare(struct ctx *ctx, struct prompt_template_draft *draft)
{
    enum err err = template_read(ctx->arena, draft->text, &draft->read);

    if (err == ERR_INVALID) {
        fault_add(ctx->fault, SLICE("prompt_template.text"),
                  "too many different placeholders; expected at most %d", TEMPLATE_NAMES_MAX);
    }
    return err;
}

static enum err read_row(struct store_txn *txn, struct org_id org, struct slice name,
                         uint32_t version, struct prompt_template_record *ret_record)
{
    struct key key = key_prompt_template(org, name, version);
    struct slice bytes;
    enum err err = store_get(txn, TABLE_PROMPT_TEMPLATE, key_slice(&key), &bytes);

    return err != OK ? err : record_decode_prompt_template(bytes, ret_record);
}

/* Returns the newest version of a name; 0 if the organisation has none. Reads one row. */
static enum err newest_version(struct store_txn *txn, struct org_id org, struct slice name,
                               uint32_t *ret_version)
{
    struct key prefix = key_prompt_template_prefix(org, name);
    struct prompt_template_record record = {.version = 0};
    struct store_cursor cursor = {0};
    struct slice key;
    struct slice value;
    enum err err = store_cursor_init(&cursor, txn, TABLE_PROMPT_TEMPLATE, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK) {
        err = record_decode_prompt_template(value, &record);
    }
    store_cursor_deinit(&cursor);
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_version = record.version;
    return OK;
}

/* Builds the run of a template's tokens. */
static enum err put_tokens(struct arena *arena, const struct template *template,
                           struct slice *ret_run)
{
    struct buffer run;

    buffer_init(&run, arena, 256);
    for (size_t i = 0; i < template->name_count; i++) {
        prompt_template_view_add_tokens(&run, template->names[i]);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

/* Encodes facts and content of the event. */
static enum err encode(struct ctx *ctx, const struct prompt_template_draft *draft, uint32_t version,
                       struct event_draft *event)
{
    struct prompt_template_view view = {
        .id = event->stamp.id,
        .name = draft->name,
        .version = version,
        .actor_user_id = draft->actor_user_id,
        .has_actor_user_id = true,
        .created_at_us = event->stamp.created_at_us,
        .has_created_at = true,
        .text = draft->text,
        .comment = draft->comment,
    };
    enum err err = put_tokens(ctx->arena, &draft->read, &view.tokens.run);

    if (err == OK && !view_encode_parts(&prompt_template_view_type, &view, ctx->arena,
                                        &event->facts, &event->content)) {
        err = ERR_MEMORY;
    }
    return err;
}

enum err prompt_template_put(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct prompt_template_draft *draft, uint64_t *ret_seq)
{
    struct event_draft event_draft = {
        .org = org,
        .kind = EVENT_PROMPT_TEMPLATE_PUT,
        .annotator = draft->by_program ? ANNOTATOR_CODE : ANNOTATOR_HUMAN,
        .actor_user_id = draft->actor_user_id,
        .subjects = {{SUBJECT_PROMPT_TEMPLATE, draft->name}},
        .subject_count = 1,
    };
    const struct event_time now = {.is_given = false};
    uint32_t newest = 0;
    enum err err = newest_version(txn, org, draft->name, &newest);

    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &event_draft);
    }
    if (err == OK) {
        err = encode(ctx, draft, newest + 1, &event_draft);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &event_draft, prompts_apply, ret_seq);
}

enum err prompts_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct prompt_template_record record = {.seq = event->seq};
    struct prompt_template_view view;
    struct slice bytes;
    struct key key;
    enum err err = prompt_template_view_read(event->facts, &view);

    ASSERT(prompts_applies(event->kind));
    if (err != OK || view.version == 0) {
        return ERR_CORRUPT;
    }
    record.name = view.name;
    record.version = view.version;
    key = key_prompt_template(event->org, record.name, record.version);
    err = record_encode_prompt_template(ctx->arena, &record, &bytes);
    return err != OK ? err : store_put(txn, TABLE_PROMPT_TEMPLATE, key_slice(&key), bytes);
}

enum err prompt_template_of_event(const struct event *event, struct prompt_template *ret_template)
{
    struct prompt_template_view view;
    enum err err = ERR_CORRUPT;

    if (event->kind == EVENT_PROMPT_TEMPLATE_PUT) {
        err = view_read_parts(&prompt_template_view_type, event->facts, event->content, &view);
    }
    if (err != OK || view.version == 0 || view.text.size == 0) {
        return ERR_CORRUPT;
    }
    *ret_template = (struct prompt_template){.seq = event->seq, .view = view};
    return OK;
}

/* Returns the template that ships with the server; its tokens are listed in the arena. */
static enum err make_shipped(struct ctx *ctx, struct prompt_template *ret_template)
{
    struct template template;
    enum err err = template_read(ctx->arena, shipped_text(), &template);

    if (err != OK) {
        return err;
    }
    *ret_template = (struct prompt_template){
        .view =
            {
                .name = shipped_name(),
                .text = shipped_text(),
                .comment = shipped_comment(),
            },
    };
    return put_tokens(ctx->arena, &template, &ret_template->view.tokens.run);
}

/* Returns the newest version whose event is not after `as_of_seq`; 0 if there is none. Versions are
 * numbered from 1 to `newest` without gaps. Later versions have later events. */
static enum err newest_as_of(struct store_txn *txn, const struct prompt_template_query *query,
                             uint32_t newest, uint32_t *ret_version)
{
    uint32_t low = 0; /* this version, or 0, is not after as_of_seq */
    uint32_t high = newest; /* versions above this one are */

    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        struct prompt_template_record record;
        enum err err = read_row(txn, query->org, query->name, middle, &record);

        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        if (record.seq <= query->as_of_seq) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    *ret_version = low;
    return OK;
}

static enum err say_not_found(struct ctx *ctx, const struct prompt_template_query *query,
                              uint32_t newest, bool ships)
{
    struct slice shown = fault_shorten(ctx->fault, query->name);
    uint32_t oldest = ships ? 0 : 1;

    if (newest < oldest) {
        return fault_say(ctx->fault, ERR_NOT_FOUND,
                         "name: no prompt template '%.*s'; expected the name of a stored template",
                         (int)shown.size, (const char *)shown.data);
    }
    if (newest == oldest) {
        return fault_say(ctx->fault, ERR_NOT_FOUND,
                         "version: the prompt template '%.*s' has no version %u; expected %u",
                         (int)shown.size, (const char *)shown.data, query->version, newest);
    }
    return fault_say(ctx->fault, ERR_NOT_FOUND,
                     "version: the prompt template '%.*s' has no version %u; expected %u to %u",
                     (int)shown.size, (const char *)shown.data, query->version, oldest, newest);
}

enum err prompt_template_find(struct ctx *ctx, struct store_txn *txn,
                              const struct prompt_template_query *query,
                              struct prompt_template *ret_template)
{
    bool ships = slice_equal(query->name, shipped_name());
    struct prompt_template_record record;
    struct event event;
    uint32_t newest = 0;
    uint32_t version = query->version;
    enum err err = newest_version(txn, query->org, query->name, &newest);

    if (err == OK && query->as_of_seq != UINT64_MAX) {
        err = newest_as_of(txn, query, newest, &newest);
    }
    if (err != OK) {
        return err;
    }
    if (!query->has_version) {
        version = newest;
    }
    if (version == 0 && ships) {
        return make_shipped(ctx, ret_template);
    }
    if (version == 0 || version > newest) {
        return say_not_found(ctx, query, newest, ships);
    }
    err = read_row(txn, query->org, query->name, version, &record);
    if (err == OK) {
        err = log_read(txn, query->org, record.seq, &event);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return prompt_template_of_event(&event, ret_template);
}
