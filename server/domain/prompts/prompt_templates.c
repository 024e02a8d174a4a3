/*
 * prompt_templates.c: the event of a template's version, its row, and finding it again.
 */
#include "server/domain/prompts/prompt_templates.h"

#include "server/domain/prompts/shipped.h"
#include "store/base/wire.h"
#include "store/record.h"

#include <errata/v1/correction_service.fields.h>

/* Fields of a PromptTemplate below this are facts. */
#define CONTENT_FIELD_FIRST 20

enum err prompt_template_prepare(struct ctx *ctx, struct prompt_template_draft *draft)
{
    enum err err = template_read(ctx->arena, draft->text, &draft->read);

    if (err == ERR_INVALID) {
        fault_add(ctx->fault, SLICE("prompt_template.text"),
                  "has more than %d different tokens; a template has at most as many",
                  TEMPLATE_NAMES_MAX);
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

/* The newest version of a name; 0 where the organisation has put none. */
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

/* The facts: what of a PromptTemplate is kept apart from its text. */
static enum err encode_facts(struct ctx *ctx, const struct log_stamp *stamp,
                             const struct prompt_template_draft *draft, uint32_t version,
                             struct slice *ret_facts)
{
    char id[UUID_TEXT_BYTES];
    struct buffer buffer;

    uuid_format(stamp->id, id);
    buffer_init(&buffer, ctx->arena, 256 + draft->name.size + draft->actor_user_id.size);
    wire_put_bytes(&buffer, PROMPT_TEMPLATE_ID_FIELD, slice_of(id, sizeof(id)));
    wire_put_bytes(&buffer, PROMPT_TEMPLATE_NAME_FIELD, draft->name);
    wire_put_varint(&buffer, PROMPT_TEMPLATE_VERSION_FIELD, version);
    for (size_t i = 0; i < draft->read.name_count; i++) {
        wire_put_bytes(&buffer, PROMPT_TEMPLATE_TOKENS_FIELD, draft->read.names[i]);
    }
    wire_put_bytes(&buffer, PROMPT_TEMPLATE_ACTOR_USER_ID_FIELD, draft->actor_user_id);
    wire_put_timestamp(&buffer, PROMPT_TEMPLATE_CREATED_AT_FIELD, stamp->created_at_us);
    *ret_facts = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

static enum err encode_content(struct ctx *ctx, const struct prompt_template_draft *draft,
                               struct slice *ret_content)
{
    struct buffer buffer;

    buffer_init(&buffer, ctx->arena, draft->text.size + draft->comment.size + 16);
    wire_put_bytes(&buffer, PROMPT_TEMPLATE_TEXT_FIELD, draft->text);
    wire_put_bytes_given(&buffer, PROMPT_TEMPLATE_COMMENT_FIELD, draft->comment);
    *ret_content = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

enum err prompt_template_put(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             const struct prompt_template_draft *draft, uint64_t *ret_seq)
{
    struct event_draft event_draft = {
        .org = org,
        .kind = EVENT_PROMPT_TEMPLATE_PUT,
        .annotator = draft->by_program ? ANNOTATOR_CODE : ANNOTATOR_HUMAN,
        .source = SOURCE_LIVE,
        .actor_user_id = draft->actor_user_id,
        .subjects = {{SUBJECT_PROMPT_TEMPLATE, draft->name}},
        .subject_count = 1,
    };
    struct event event;
    uint32_t newest = 0;
    enum err err = newest_version(txn, org, draft->name, &newest);

    if (err == OK) {
        err = log_next_stamp(ctx, txn, org, &event_draft.stamp);
    }
    if (err == OK) {
        err = encode_facts(ctx, &event_draft.stamp, draft, newest + 1, &event_draft.facts);
    }
    if (err == OK) {
        err = encode_content(ctx, draft, &event_draft.content);
    }
    event_draft.created_at_us = event_draft.stamp.created_at_us;
    if (err == OK) {
        err = log_append(ctx, txn, &event_draft, &event);
    }
    if (err == OK) {
        err = prompt_template_apply(ctx, txn, &event);
    }
    if (err == OK) {
        *ret_seq = event.seq;
    }
    return err;
}

enum err prompt_template_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct prompt_template_record record = {.seq = event->seq};
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field;
    struct slice bytes;
    struct key key;
    enum err err = OK;

    while ((err = wire_next(&reader, &field)) == OK) {
        if (field.number == PROMPT_TEMPLATE_NAME_FIELD && field.type == WIRE_BYTES) {
            record.name = field.bytes;
        } else if (field.number == PROMPT_TEMPLATE_VERSION_FIELD && field.type == WIRE_VARINT) {
            record.version = (uint32_t)field.value;
        }
    }
    if (err != ERR_NOT_FOUND || record.name.size == 0 || record.version == 0) {
        return ERR_CORRUPT;
    }
    key = key_prompt_template(event->org, record.name, record.version);
    err = record_encode_prompt_template(ctx->arena, &record, &bytes);
    return err != OK ? err : store_put(txn, TABLE_PROMPT_TEMPLATE, key_slice(&key), bytes);
}

/* A stored event as a template. */
static enum err read_event(const struct event *event, struct prompt_template *ret_template)
{
    struct prompt_template template = {.seq = event->seq, .facts = event->facts};
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field;

    if (event->kind != EVENT_PROMPT_TEMPLATE_PUT) {
        return ERR_CORRUPT;
    }
    while (wire_next(&reader, &field) == OK) {
        if (field.number == PROMPT_TEMPLATE_VERSION_FIELD && field.type == WIRE_VARINT) {
            template.version = (uint32_t)field.value;
        }
    }
    reader = wire_reader_of(event->content);
    for (struct slice rest = event->content; wire_next(&reader, &field) == OK; rest = reader.rest) {
        if (field.number == PROMPT_TEMPLATE_TEXT_FIELD && field.type == WIRE_BYTES) {
            template.text = field.bytes;
        } else if (field.number == PROMPT_TEMPLATE_COMMENT_FIELD) {
            template.comment = slice_of(rest.data, rest.size - reader.rest.size);
        }
    }
    if (template.version == 0 || template.text.size == 0) {
        return ERR_CORRUPT;
    }
    *ret_template = template;
    return OK;
}

/* The template that ships with the server; its facts and comment are made in the arena. */
static enum err make_shipped(struct ctx *ctx, struct prompt_template *ret_template)
{
    struct template template;
    struct buffer facts;
    struct buffer comment;
    enum err err = template_read(ctx->arena, shipped_text(), &template);

    if (err != OK) {
        return err;
    }
    buffer_init(&facts, ctx->arena, 128);
    wire_put_bytes(&facts, PROMPT_TEMPLATE_NAME_FIELD, shipped_name());
    for (size_t i = 0; i < template.name_count; i++) {
        wire_put_bytes(&facts, PROMPT_TEMPLATE_TOKENS_FIELD, template.names[i]);
    }
    buffer_init(&comment, ctx->arena, 64);
    wire_put_bytes(&comment, PROMPT_TEMPLATE_COMMENT_FIELD, shipped_comment());
    *ret_template = (struct prompt_template){
        .facts = buffer_slice(&facts),
        .comment = buffer_slice(&comment),
        .text = shipped_text(),
    };
    return buffer_ok(&facts) && buffer_ok(&comment) ? OK : ERR_MEMORY;
}

/* The newest of `newest` versions, gapless from 1, whose event is not behind `as_of_seq`; 0: none is.
 * Later versions have later events. */
static enum err newest_as_of(struct store_txn *txn, const struct prompt_template_query *query,
                             uint32_t newest, uint32_t *ret_version)
{
    uint32_t low = 0; /* is not behind, or none */
    uint32_t high = newest; /* none behind this is looked at */

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
        return fault_say(ctx->fault, ERR_NOT_FOUND, "no prompt template named '%.*s'",
                         (int)shown.size, (const char *)shown.data);
    }
    if (newest == oldest) {
        return fault_say(ctx->fault, ERR_NOT_FOUND,
                         "the prompt template '%.*s' has no version %u; it has %u alone",
                         (int)shown.size, (const char *)shown.data, query->version, newest);
    }
    return fault_say(ctx->fault, ERR_NOT_FOUND,
                     "the prompt template '%.*s' has no version %u; it has %u to %u",
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
    return read_event(&event, ret_template);
}

void prompt_template_append(struct buffer *body, uint32_t field,
                            const struct prompt_template *template,
                            enum prompt_template_detail detail)
{
    struct slice text = detail == PROMPT_TEMPLATE_WHOLE ? template->text : slice_of(NULL, 0);
    struct slice comment = detail != PROMPT_TEMPLATE_FACTS ? template->comment : slice_of(NULL, 0);
    size_t text_bytes =
        text.size == 0 ? 0 : wire_header_bytes(PROMPT_TEMPLATE_TEXT_FIELD, text.size) + text.size;

    wire_put_header(body, field, template->facts.size + text_bytes + comment.size);
    buffer_append(body, template->facts);
    wire_put_bytes_given(body, PROMPT_TEMPLATE_TEXT_FIELD, text);
    buffer_append(body, comment);
}

enum err prompt_template_append_event(struct buffer *body, uint32_t field,
                                      const struct event *event, enum prompt_template_detail detail)
{
    struct prompt_template template;
    enum err err = read_event(event, &template);

    if (err != OK) {
        return err;
    }
    prompt_template_append(body, field, &template, detail);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}
