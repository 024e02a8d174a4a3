/*
 * fragment_sets.c: writes and reads the events and rows of fragment sets; see fragment_sets.h. fragment_set_list.c lists
 * them.
 */
#include "server/domain/reviews/fragment_sets.h"

#include "server/domain/events/draft.h"
#include "server/domain/reviews/fragment_sets_internal.h"
#include "server/domain/reviews/keys.h"
#include "server/domain/reviews/records.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/base/text.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

static bool is_longer(struct slice text, size_t characters_max)
{
    return text_first_characters(text, characters_max).size < text.size;
}

void fragment_set_check(struct ctx *ctx, const struct fragment_set_draft *draft)
{
    if (is_longer(draft->set.label_focus_fields, FRAGMENT_LABEL_CHARACTERS_MAX) ||
        text_has_control(draft->set.label_focus_fields)) {
        fault_add(ctx->fault, SLICE("fragment_set.label_focus_fields"),
                  "too long, or has control characters; expected one line of at most %d characters",
                  FRAGMENT_LABEL_CHARACTERS_MAX);
    }
}

bool fragment_fits(struct slice text)
{
    return text.size > 0 && !is_longer(text, FRAGMENT_CHARACTERS_MAX);
}

static enum err read_row(struct store_txn *txn, struct org_id org, uint32_t version,
                         struct fragment_set_record *ret_record)
{
    struct key key = key_fragment_set(org, version);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_FRAGMENT_SET, key_slice(&key), &value);

    return err != OK ? err : record_decode_fragment_set(value, ret_record);
}

/* Returns the newest version; 0: there is none. */
static enum err newest_version(struct store_txn *txn, struct org_id org, uint32_t *ret_version)
{
    struct key prefix = key_org(org);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, txn, TABLE_FRAGMENT_SET, key_slice(&prefix),
                                     slice_of(NULL, 0), STORE_ASCENDING);

    *ret_version = 0;
    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK && key.size != KEY_ORG_BYTES + sizeof(uint32_t)) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_version = ~bytes_get_be32(key.data + KEY_ORG_BYTES);
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* --- reading --- */

/* Finds the last approval up to an event, and its set; zeros if there is none. */
static enum err find_approval(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                              uint64_t *ret_approval_seq, uint64_t *ret_seq)
{
    struct key prefix = key_org(org);
    struct key from = key_fragment_approval(org, as_of_seq);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, txn, TABLE_FRAGMENT_APPROVAL, key_slice(&prefix),
                                     key_slice(&from), STORE_ASCENDING);

    *ret_approval_seq = 0;
    *ret_seq = 0;
    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK) {
        err = key_read_org_newest_seq(key, ret_approval_seq);
    }
    if (err == OK) {
        err = log_read_id_row(value, ret_seq);
    }
    store_cursor_deinit(&cursor);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err fragment_sets_active_seq(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                                  uint64_t *ret_seq)
{
    uint64_t approval_seq = 0;

    return find_approval(txn, org, as_of_seq, &approval_seq, ret_seq);
}

enum err fragment_set_approval_find(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                                    uint64_t *ret_approval_seq)
{
    uint64_t seq = 0;

    return find_approval(txn, org, as_of_seq, ret_approval_seq, &seq);
}

enum err fragment_sets_read_put(struct store_txn *txn, struct org_id org, uint64_t seq,
                                struct fragment_set_view *ret_view)
{
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK && event.kind != EVENT_FRAGMENT_SET_PUT) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        err = view_read_parts(&fragment_set_view_type, event.facts, event.content, ret_view);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Copies the fragments of a stored set to their indices. */
static enum err take_fragments(struct slice run, struct fragment_set *set)
{
    struct slice message = {NULL, 0};

    for (size_t i = 0; i < FRAGMENT_PAIRS; i++) {
        set->fragments[i].text = slice_of(NULL, 0);
    }
    while (view_next(&run, &message)) {
        struct prompt_fragment_view view;
        enum err err = prompt_fragment_view_read(message, &view);
        size_t place = FRAGMENT_PAIRS;

        if (err == OK) {
            place = fragment_place(view.signal, view.placeholder);
        }
        if (place == FRAGMENT_PAIRS) {
            return ERR_CORRUPT;
        }
        set->fragments[place].text = view.text;
    }
    return OK;
}

enum err fragment_set_read(struct store_txn *txn, struct org_id org, uint64_t seq,
                           struct fragment_set *ret_set)
{
    struct fragment_set_view view;
    struct fragment_set set = *fragment_set_default();
    enum err err = OK;

    if (seq != 0) {
        err = fragment_sets_read_put(txn, org, seq, &view);
    }
    if (seq != 0 && err == OK) {
        set.seq = seq;
        set.version = view.version;
        if (view.label_focus_fields.size > 0) {
            set.label_focus_fields = view.label_focus_fields;
        }
        err = take_fragments(view.fragments.run, &set);
    }
    if (err == OK) {
        *ret_set = set;
    }
    return err;
}

enum err fragment_set_active(struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                             struct fragment_set *ret_set)
{
    uint64_t seq = 0;
    enum err err = fragment_sets_active_seq(txn, org, as_of_seq, &seq);

    return err != OK ? err : fragment_set_read(txn, org, seq, ret_set);
}

/* --- writing --- */

static enum err encode(struct ctx *ctx, const struct fragment_set_draft *draft, uint32_t version,
                       struct event_draft *event)
{
    struct fragment_set_view view = {
        .id = event->stamp.id,
        .version = version,
        .state = FRAGMENT_SET_STATE_DRAFT,
        .actor_user_id = event->actor_user_id,
        .has_actor_user_id = true,
        .created_at_us = event->created_at_us,
        .has_created_at = true,
        .label_focus_fields = draft->set.label_focus_fields,
        .comment = draft->comment,
    };
    enum err err = fragment_sets_put_fragments(ctx->arena, &draft->set, &view.fragments.run);

    if (err == OK && !view_encode_parts(&fragment_set_view_type, &view, ctx->arena, &event->facts,
                                        &event->content)) {
        err = ERR_MEMORY;
    }
    return err;
}

/* Starts the draft of an event by the caller, with the organisation as its subject. */
static enum err begin(struct ctx *ctx, struct store_txn *txn, const struct event_caller *caller,
                      struct event_draft *draft)
{
    const struct event_time now = {.is_given = false};
    const struct slice none = {NULL, 0};
    enum annotator_kind annotator = ANNOTATOR_KIND_UNSPECIFIED;
    enum err err = actor_resolve(ctx, caller, none, none, false, &draft->actor_user_id);

    if (err == OK) {
        err = annotator_resolve(ctx, caller, none, none, &annotator);
    }
    draft->annotator = (enum annotator)annotator;
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &now, draft);
    }
    return err != OK ? err
                     : event_draft_add_id(ctx->arena, draft, SUBJECT_ORGANIZATION, draft->org.uuid);
}

enum err fragment_set_put(struct ctx *ctx, struct store_txn *txn,
                          const struct fragment_set_draft *draft, uint64_t *ret_seq)
{
    struct event_draft event = {.org = draft->org, .kind = EVENT_FRAGMENT_SET_PUT};
    uint32_t newest = 0;
    enum err err = newest_version(txn, draft->org, &newest);

    if (err == OK) {
        err = begin(ctx, txn, &draft->caller, &event);
    }
    if (err == OK) {
        err = encode(ctx, draft, newest + 1, &event);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &event, reviews_apply, ret_seq);
}

/* Finds the set of a version; seq 0 for the shipped one. */
static enum err find_version(struct ctx *ctx, struct store_txn *txn,
                             const struct fragment_set_approval *approval, uint64_t *ret_seq)
{
    struct fragment_set_record record = {.seq = 0};
    uint32_t newest = 0;
    enum err err = OK;

    if (approval->version > 0) {
        err = read_row(txn, approval->org, approval->version, &record);
    }
    if (err == OK) {
        *ret_seq = record.seq;
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    err = newest_version(txn, approval->org, &newest);
    return err != OK ? err
                     : fault_say(ctx->fault, ERR_NOT_FOUND,
                                 "version: there is no fragment set %u; expected 0 to %u",
                                 approval->version, newest);
}

/* Reads the version in use, which must not be the one that is approved. */
static enum err read_previous(struct ctx *ctx, struct store_txn *txn,
                              const struct fragment_set_approval *approval, uint64_t seq,
                              uint32_t *ret_version)
{
    struct fragment_set_view view = {.version = 0};
    uint64_t active_seq = 0;
    enum err err = fragment_sets_active_seq(txn, approval->org, FRAGMENT_SETS_NOW, &active_seq);

    if (err == OK && active_seq == seq) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "version: the fragment set %u is already in use; expected another version",
                         approval->version);
    }
    if (err == OK && active_seq != 0) {
        err = fragment_sets_read_put(txn, approval->org, active_seq, &view);
    }
    if (err == OK) {
        *ret_version = view.version;
    }
    return err;
}

enum err fragment_set_approve(struct ctx *ctx, struct store_txn *txn,
                              const struct fragment_set_approval *approval, uint64_t *ret_seq)
{
    struct event_draft event = {.org = approval->org, .kind = EVENT_FRAGMENT_SET_APPROVED};
    struct fragment_set_approved_view facts = {.version = approval->version};
    enum err err = OK;

    if (approval->caller.user_id.size == 0) {
        return fault_say(ctx->fault, ERR_DENIED,
                         "the token has no user; expected a token that is bound to the user who "
                         "approves");
    }
    err = find_version(ctx, txn, approval, &facts.seq);
    if (err == OK) {
        err = read_previous(ctx, txn, approval, facts.seq, &facts.previous_version);
    }
    if (err == OK) {
        err = begin(ctx, txn, &approval->caller, &event);
    }
    if (err == OK &&
        !view_encode(&fragment_set_approved_view_type, &facts, ctx->arena, &event.facts)) {
        err = ERR_MEMORY;
    }
    return err != OK ? err : event_draft_append(ctx, txn, &event, reviews_apply, ret_seq);
}

/* --- applying --- */

static enum err put_row(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint32_t version,
                        const struct fragment_set_record *record)
{
    struct key key = key_fragment_set(org, version);
    struct slice value = {NULL, 0};
    enum err err = record_encode_fragment_set(ctx->arena, record, &value);

    return err != OK ? err : store_put(txn, TABLE_FRAGMENT_SET, key_slice(&key), value);
}

static enum err apply_approved(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct fragment_set_approved_view facts;
    struct fragment_set_record record = {.seq = 0};
    struct key key = key_fragment_approval(event->org, event->seq);
    enum err err = fragment_set_approved_view_read(event->facts, &facts);

    if (err == OK && facts.version > 0) {
        err = read_row(txn, event->org, facts.version, &record);
    }
    if (err == ERR_NOT_FOUND || (err == OK && record.seq != facts.seq)) {
        err = ERR_CORRUPT;
    }
    if (err == OK && facts.version > 0) {
        record.approved_seq = event->seq;
        err = put_row(ctx, txn, event->org, facts.version, &record);
    }
    if (err != OK) {
        return err;
    }
    return log_put_id_row(txn, TABLE_FRAGMENT_APPROVAL, &key, facts.seq);
}

enum err fragment_set_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    const struct fragment_set_record record = {.seq = event->seq};
    struct fragment_set_view view;
    enum err err = OK;

    if (event->kind == EVENT_FRAGMENT_SET_APPROVED) {
        return apply_approved(ctx, txn, event);
    }
    ASSERT(event->kind == EVENT_FRAGMENT_SET_PUT);
    err = fragment_set_view_read(event->facts, &view);
    if (err != OK || view.version == 0) {
        return ERR_CORRUPT;
    }
    return put_row(ctx, txn, event->org, view.version, &record);
}
