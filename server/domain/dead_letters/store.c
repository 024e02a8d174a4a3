/*
 * store.c: decides and appends a dead letter, and its retry; see dead_letters.h. An entry may have any bytes, and a stored
 * text is UTF-8: other bytes are replaced, and the dead letter is then incomplete.
 */
#include "server/domain/dead_letters/dead_letters.h"

#include "server/domain/dead_letters/keys.h"
#include "store/base/bytes.h"
#include "store/base/text.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* The actor of a dead letter. */
#define READER "redis"
/* Stored instead of an invalid byte, or a NUL: U+FFFD. */
#define REPLACEMENT "\xef\xbf\xbd"
/* Bytes of a code point. */
#define CHARACTER_BYTES_MAX 4
/* Bytes of a stored field beside its name and value, and of an event beside its fields and reason: envelope, ids, names. */
#define FIELD_HEAD_BYTES_MAX 16
#define EVENT_HEAD_BYTES_MAX 2048

_Static_assert(DEAD_LETTER_BYTES_MAX + DEAD_LETTER_FIELDS_MAX * FIELD_HEAD_BYTES_MAX +
                       DEAD_LETTER_REASON_BYTES_MAX + EVENT_HEAD_BYTES_MAX <=
                   STORE_VALUE_BYTES_MAX,
               "a dead letter is a row");

/* The fields of an entry, as they are stored. */
struct stored_fields {
    struct arena *arena;
    struct buffer run;
    size_t left; /* bytes that may follow */
    bool incomplete;
};

size_t stream_entry_bytes(const struct stream_entry *entry)
{
    size_t bytes = 0;

    for (size_t i = 0; i < entry->field_count; i++) {
        bytes += entry->fields[i].name.size + entry->fields[i].value.size;
    }
    return bytes;
}

bool stream_entry_is_within_limits(const struct stream_entry *entry)
{
    return !entry->is_cut && entry->field_count <= STREAM_ENTRY_FIELDS_MAX &&
           stream_entry_bytes(entry) <= STREAM_ENTRY_BYTES_MAX;
}

struct sha256_digest stream_entry_hash(const struct stream_entry *entry)
{
    struct sha256_state state;

    if (entry->has_sha256) {
        return entry->sha256;
    }
    sha256_begin(&state);
    for (size_t i = 0; i < entry->field_count; i++) {
        const struct entry_field *field = &entry->fields[i];
        uint8_t sizes[2 * sizeof(uint64_t)];

        bytes_put_be64(sizes, field->name.size);
        bytes_put_be64(sizes + sizeof(uint64_t), field->value.size);
        sha256_add(&state, slice_of(sizes, sizeof(sizes)));
        sha256_add(&state, field->name);
        sha256_add(&state, field->value);
    }
    return sha256_read(&state);
}

/* Takes what is left at most: `bytes` themselves if they are valid UTF-8 without NUL, or else a copy with replacements. */
static struct slice take_text(struct stored_fields *fields, struct slice bytes)
{
    struct slice rest = slice_of(bytes.data, bytes.size < fields->left ? bytes.size : fields->left);
    struct buffer copy;

    if (rest.size == bytes.size && text_is_utf8(rest) &&
        (rest.size == 0 || memchr(rest.data, 0, rest.size) == NULL)) {
        fields->left -= rest.size;
        return rest;
    }
    fields->incomplete = true;
    buffer_init(&copy, fields->arena, rest.size + sizeof(REPLACEMENT));
    while (rest.size > 0 && copy.size + CHARACTER_BYTES_MAX <= fields->left) {
        size_t size = rest.data[0] != 0 ? text_sequence_bytes(rest) : 0;

        buffer_append(&copy, size > 0 ? slice_of(rest.data, size) : SLICE(REPLACEMENT));
        rest = slice_after(rest, size > 0 ? size : 1);
    }
    fields->left -= copy.size;
    return buffer_slice(&copy);
}

static void put_field(struct stored_fields *fields, const struct entry_field *field)
{
    struct dead_letter_field_view view = {.name = take_text(fields, field->name)};

    view.value = take_text(fields, field->value);
    dead_letter_field_view_put(&view, DEAD_LETTER_FIELDS_FIELD, &fields->run);
}

static enum err put_fields(struct arena *arena, const struct stream_entry *entry,
                           struct dead_letter_view *view)
{
    struct stored_fields fields = {
        .arena = arena,
        .left = DEAD_LETTER_BYTES_MAX,
        .incomplete = entry->is_cut || entry->field_count > DEAD_LETTER_FIELDS_MAX,
    };

    buffer_init(&fields.run, arena, 0);
    for (size_t i = 0; i < entry->field_count && i < DEAD_LETTER_FIELDS_MAX; i++) {
        put_field(&fields, &entry->fields[i]);
    }
    view->fields.run = buffer_slice(&fields.run);
    view->incomplete = fields.incomplete;
    return buffer_ok(&fields.run) ? OK : ERR_MEMORY;
}

enum err dead_letter_find_entry(struct store_txn *txn, struct org_id org,
                                const struct stream_entry *entry, uint64_t *ret_seq)
{
    struct sha256_digest digest = stream_entry_hash(entry);
    struct key key = key_dead_letter_entry(org, entry->stream, entry->id,
                                           slice_of(digest.bytes, sizeof(digest.bytes)));
    enum err err = log_get_id_row(txn, TABLE_DEAD_LETTER_ENTRY, &key, ret_seq);

    return err == OK && *ret_seq == 0 ? ERR_NOT_FOUND : err;
}

static enum err append(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       struct dead_letter_view *view, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    struct event_draft draft = {.org = org,
                                .kind = EVENT_DEAD_LETTER_STORED,
                                .annotator = ANNOTATOR_CODE,
                                .actor_user_id = SLICE(READER)};
    enum err err = event_draft_stamp(ctx, txn, &now, &draft);

    if (err != OK) {
        return err;
    }
    view->id = draft.stamp.id;
    view->created_at_us = draft.created_at_us;
    view->has_created_at = true;
    if (!view_encode_parts(&dead_letter_view_type, view, ctx->arena, &draft.facts,
                           &draft.content)) {
        return ERR_MEMORY;
    }
    err = event_draft_add_id(ctx->arena, &draft, SUBJECT_DEAD_LETTER, draft.stamp.id);
    return err != OK ? err : event_draft_append(ctx, txn, &draft, dead_letters_apply, ret_seq);
}

enum err dead_letter_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                           const struct stream_entry *entry, struct slice reason, uint64_t *ret_seq)
{
    struct sha256_digest digest = stream_entry_hash(entry);
    struct dead_letter_view view = {
        .stream = entry->stream,
        .entry_id = entry->id,
        .entry_sha256 = slice_of(digest.bytes, sizeof(digest.bytes)),
        .reason = text_first_bytes(reason, DEAD_LETTER_REASON_BYTES_MAX),
    };
    enum err err = dead_letter_find_entry(txn, org, entry, ret_seq);

    if (err != ERR_NOT_FOUND) {
        return err;
    }
    err = put_fields(ctx->arena, entry, &view);
    return err != OK ? err : append(ctx, txn, org, &view, ret_seq);
}

enum err dead_letter_mark_retried(struct ctx *ctx, struct store_txn *txn,
                                  const struct dead_letter_retry *retry, uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    const struct slice none = {NULL, 0};
    const struct dead_letter_retried_view view = {.dead_letter_id = retry->letter->view.id,
                                                  .dead_letter_seq = retry->letter->seq,
                                                  .feedback_id = retry->feedback_id};
    struct event_draft draft = {.org = retry->org, .kind = EVENT_DEAD_LETTER_RETRIED};
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    enum err err = actor_resolve(ctx, &retry->caller, none, none, false, &draft.actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, &retry->caller, none, none, &annotator);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, &draft);
    }
    if (err != OK) {
        return err;
    }
    draft.annotator = (enum annotator)annotator;
    if (!view_encode_parts(&dead_letter_retried_view_type, &view, ctx->arena, &draft.facts,
                           &draft.content)) {
        return ERR_MEMORY;
    }
    err = event_draft_add_id(ctx->arena, &draft, SUBJECT_DEAD_LETTER, retry->letter->view.id);
    return err != OK ? err : event_draft_append(ctx, txn, &draft, dead_letters_apply, ret_seq);
}
