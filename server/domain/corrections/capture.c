/*
 * capture.c: see capture.h. Facts and content are the two parts of a FeedbackEvent's wire bytes: fields below
 * 20, and fields from 20 on. Concatenated they are the message.
 */
#include "server/domain/corrections/capture.h"

#include "server/domain/corrections/example_output.h"
#include "server/domain/corrections/fill_in.h"
#include "server/domain/corrections/findings.h"
#include "server/domain/corrections/reduce.h"
#include "server/domain/events/feedback.h"
#include "server/domain/json/fields_changed.h"
#include "store/base/text.h"

#include <errata/v1/feedback_event.views.h>
#include <event_apply.h>

/* Upper limit of the memory for storing one event: several copies of its texts and their row. */
#define STORE_BYTES_MAX (4u << 20)

static void blame(struct ctx *ctx, struct slice path, const char *field, const char *why)
{
    struct slice name = arena_printf(ctx->arena, "%.*s%s%s", (int)path.size,
                                     (const char *)path.data, path.size > 0 ? "." : "", field);

    fault_add(ctx->fault, name, "%s", why);
}

/* Cuts input_snippet to its maximum length; all other members are kept unchanged. */
static enum err cut_snippet(struct arena *arena, struct slice meta, struct slice *ret_meta)
{
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct slice text = {NULL, 0};
    struct slice cut = {NULL, 0};
    struct buffer buffer = {0};
    enum err err = OK;

    *ret_meta = meta;
    if (!json_member(members_value_of(meta), SLICE("input_snippet"), &value) ||
        value.kind != JSON_STRING || value.text.size <= CAPTURE_SNIPPET_CHARACTERS_MAX) {
        return OK;
    }
    err = json_string(arena, value.text, &text);
    if (err != OK) {
        return err;
    }
    cut = text_first_characters(text, CAPTURE_SNIPPET_CHARACTERS_MAX);
    if (cut.size == text.size) {
        return OK;
    }
    buffer_init(&buffer, arena, meta.size);
    buffer_append(&buffer, slice_of(meta.data, (size_t)(value.text.data - meta.data)));
    json_write_string(&buffer, cut, false);
    buffer_append(&buffer,
                  slice_after(meta, (size_t)(value.text.data - meta.data) + value.text.size));
    *ret_meta = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

static enum err choose_meta(struct ctx *ctx, const struct capture_input *input, struct slice path,
                            struct slice *ret_meta)
{
    if (input->meta_json.size > CAPTURE_META_BYTES_MAX) {
        blame(ctx, path, "meta_json", "more than 65,536 bytes; expected at most 65,536");
        return ERR_INVALID;
    }
    return cut_snippet(ctx->arena, input->meta_json, ret_meta);
}

static enum err reduce_one(struct arena *arena, struct slice json, const struct members *members,
                           const struct members *others, struct slice *ret_json, bool *any_reduced)
{
    bool reduced = false;
    enum err err = reduce_object(arena, json, members, others, ret_json, &reduced);

    *any_reduced = *any_reduced || reduced;
    return err;
}

/* Reduces the corrected output, compared with `before`, by the rules for `after`. */
static enum err reduce_output(struct arena *arena, struct capture_event *event, bool *ret_reduced)
{
    const struct capture_input *input = &event->input;
    struct members before = {NULL, NULL, 0};
    struct members output = {NULL, NULL, 0};
    enum err err = OK;

    if (input->corrected_output_json.size <= REDUCE_BYTES_MAX) {
        event->corrected_output_json = input->corrected_output_json;
        return OK;
    }
    err = members_read(arena, members_value_of(input->before_json), &before);
    if (err == OK) {
        err = members_read(arena, members_value_of(input->corrected_output_json), &output);
    }
    if (err == OK) {
        err = members_compare(arena, &before, &output);
    }
    if (err == OK) {
        err = reduce_one(arena, input->corrected_output_json, &output, &before,
                         &event->corrected_output_json, ret_reduced);
    }
    return err;
}

/* Decides whether the output of a correction can be an example. Compares the texts as they were sent, so that a
 * change that reduction removed from both is still a change. */
static enum err check_output(struct arena *arena, struct capture_event *event)
{
    const struct capture_input *input = &event->input;
    struct slice given = example_output_of(input->after_json, input->corrected_output_json);
    struct slice stored = example_output_of(event->after_json, event->corrected_output_json);
    struct slice output = {NULL, 0};
    bool cut = false;
    enum err err = OK;

    if (!feedback_is_correction(input->event_type)) {
        return OK;
    }
    err = example_output_cut(arena, stored, &output, &cut);
    if (err == OK) {
        err = example_output_check(arena, input->before_json, given, output, &event->no_example);
    }
    event->output_reduced = event->output_reduced || cut;
    return err;
}

static enum err derive(struct arena *arena, struct capture_event *event,
                       struct fields_changed *fields)
{
    const struct capture_input *input = &event->input;
    struct members before = {NULL, NULL, 0};
    struct members after = {NULL, NULL, 0};
    bool after_reduced = false;
    bool output_reduced = false;
    enum err err = members_read(arena, members_value_of(input->before_json), &before);

    if (err == OK) {
        err = members_read(arena, members_value_of(input->after_json), &after);
    }
    if (err == OK) {
        err = members_compare(arena, &before, &after);
    }
    if (err == OK) {
        err = fields_changed_derive(arena, &before, &after, members_value_of(event->meta_json),
                                    fields);
    }
    if (err == OK) {
        err = reduce_one(arena, input->before_json, &before, &after, &event->before_json,
                         &event->reduced);
    }
    if (err == OK) {
        err = reduce_one(arena, input->after_json, &after, &before, &event->after_json,
                         &after_reduced);
    }
    if (err == OK) {
        err = reduce_output(arena, event, &output_reduced);
    }
    event->reduced = event->reduced || after_reduced || output_reduced;
    event->output_reduced = input->corrected_output_json.size > 0 ? output_reduced : after_reduced;
    return err != OK ? err : check_output(arena, event);
}

/* The run of fields_changed. */
static enum err encode_fields(struct arena *arena, const struct fields_changed *fields,
                              struct slice *ret_run)
{
    struct buffer run = {0};

    buffer_init(&run, arena, 64);
    for (size_t i = 0; i < fields->count; i++) {
        feedback_event_view_add_fields_changed(&run, fields->names[i]);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

enum err capture_prepare(struct ctx *ctx, const struct event_caller *caller,
                         const struct capture_input *input, struct slice path,
                         struct capture_event *ret_event)
{
    struct fields_changed *fields = arena_alloc(ctx->arena, sizeof(*fields));
    struct capture_event event = {.input = *input, .path = path};
    struct json_value snippet = {JSON_NULL, {NULL, 0}};
    enum err err = OK;

    if (fields == NULL) {
        return ERR_MEMORY;
    }
    err = actor_resolve(ctx, caller, path, input->actor_user_id, input->time.is_given,
                        &event.input.actor_user_id);
    if (err == OK) {
        err =
            annotator_resolve(ctx, caller, path, input->actor_user_id, &event.input.annotator_kind);
    }
    if (err != OK) {
        return err;
    }
    event.annotator_assumed = input->annotator_kind == ANNOTATOR_KIND_UNSPECIFIED &&
                              event.input.annotator_kind == ANNOTATOR_KIND_CODE;
    event_time_check(ctx, &input->time, path, INT64_MAX);
    err = fault_result(ctx->fault);
    if (err == OK) {
        err = choose_meta(ctx, input, path, &event.meta_json);
    }
    if (err == OK) {
        err = derive(ctx->arena, &event, fields);
    }
    if (err == OK) {
        err = encode_fields(ctx->arena, fields, &event.fields);
    }
    if (err == OK) {
        event.has_snippet =
            json_member(members_value_of(event.meta_json), SLICE("input_snippet"), &snippet);
        *ret_event = event;
    }
    return err;
}

/* Encodes facts and content of the event. */
static enum err encode(struct ctx *ctx, const struct capture_event *captured,
                       const struct findings *findings, struct event_draft *draft)
{
    const struct capture_input *input = &captured->input;
    const struct feedback_event_view view = {
        .id = draft->stamp.id,
        .org_id = draft->org.uuid,
        .actor_user_id = input->actor_user_id,
        .has_actor_user_id = input->actor_user_id.size > 0,
        .event_type = input->event_type,
        .entity_type = input->entity_type,
        .has_entity_type = input->entity_type.size > 0,
        .entity_id = input->entity_id,
        .has_entity_id = input->entity_id.size > 0,
        .draft_order_id = input->draft_order_id,
        .has_draft_order_id = input->draft_order_id.size > 0,
        .document_id = input->document_id,
        .has_document_id = input->document_id.size > 0,
        .layout_fingerprint = input->layout_fingerprint,
        .has_layout_fingerprint = input->layout_fingerprint.size > 0,
        .layout_family_id = captured->layout_family_id,
        .has_layout_family_id = captured->has_layout_family_id,
        .fields_changed = {.run = captured->fields},
        .created_at_us = draft->created_at_us,
        .has_created_at = true,
        .reduced = captured->reduced,
        .mapping_changes = {.run = input->mapping_changes},
        .is_example = findings->is_example,
        .has_is_example = true,
        .warnings = {.run = findings->warnings},
        .output_reduced = captured->output_reduced,
        .before_json = captured->before_json,
        .after_json = captured->after_json,
        .corrected_output_json = captured->corrected_output_json,
        .meta_json = captured->meta_json,
    };

    return view_encode_parts(&feedback_event_view_type, &view, ctx->arena, &draft->facts,
                             &draft->content)
               ? OK
               : ERR_MEMORY;
}

/* The first of these that the event names is the main subject: the layout, the document, the draft order, the
 * entity. An event that names none of them has its organisation as subject. */
static enum err add_subjects(struct ctx *ctx, const struct capture_input *input,
                             struct event_draft *draft)
{
    struct slice entity = {NULL, 0};

    if (input->entity_type.size > 0 && input->entity_id.size > 0) {
        entity = arena_printf(ctx->arena, "%.*s/%.*s", (int)input->entity_type.size,
                              (const char *)input->entity_type.data, (int)input->entity_id.size,
                              (const char *)input->entity_id.data);
        if (entity.size == 0) {
            return ERR_MEMORY;
        }
    }
    event_draft_add_subject(draft, SUBJECT_LAYOUT, input->layout_fingerprint);
    event_draft_add_subject(draft, SUBJECT_DOCUMENT, input->document_id);
    event_draft_add_subject(draft, SUBJECT_DRAFT_ORDER, input->draft_order_id);
    event_draft_add_subject(draft, SUBJECT_ENTITY, entity);
    return draft->subject_count > 0
               ? OK
               : event_draft_add_id(ctx->arena, draft, SUBJECT_ORGANIZATION, draft->org.uuid);
}

/* Decides whether the event is an example, appends it to the log and applies it. */
static enum err store_one(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          const struct capture_event *captured, uint64_t *ret_seq)
{
    struct capture_event filled = *captured;
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_FEEDBACK,
        .annotator = (enum annotator)captured->input.annotator_kind,
        .actor_user_id = captured->input.actor_user_id,
    };
    struct findings findings = {.is_example = false};
    enum err err = fill_in_event(ctx, txn, org, &filled);

    if (captured->input.stamp != NULL) {
        draft.stamp = *captured->input.stamp;
    }
    if (err == OK) {
        err = findings_decide(ctx->arena, &filled, &findings);
    }
    if (err == OK) {
        err = event_draft_stamp(ctx, txn, &filled.input.time, &draft);
    }
    if (err == OK) {
        err = encode(ctx, &filled, &findings, &draft);
    }
    if (err == OK) {
        err = add_subjects(ctx, &filled.input, &draft);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, corrections_apply, ret_seq);
}

/* Stores the events in order. Each uses its own memory, so that a batch needs only the memory of its largest
 * event. */
static enum err store_all(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          const struct capture_event *events, size_t count, uint64_t *ret_first_seq)
{
    struct ctx inner = *ctx;
    struct arena arena;
    uint64_t seq = 0;
    enum err err = OK;

    arena_init(&arena, STORE_BYTES_MAX);
    inner.arena = &arena;
    for (size_t i = 0; i < count && err == OK; i++) {
        err = store_one(&inner, txn, org, &events[i], &seq);
        *ret_first_seq = i == 0 ? seq : *ret_first_seq;
        arena_reset(&arena);
    }
    arena_deinit(&arena);
    return err;
}

/* Checked before the first put: no event may be dated in the future. */
static enum err check_times(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                            const struct capture_event *events, size_t count)
{
    struct log_stamp stamp = {0};
    enum err err = log_next_stamp(ctx, txn, org, &stamp);

    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < count; i++) {
        event_time_check(ctx, &events[i].input.time, events[i].path, stamp.created_at_us);
    }
    return fault_result(ctx->fault);
}

enum err capture_store(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                       const struct capture_event *events, size_t count, uint64_t *ret_first_seq)
{
    uint64_t first_seq = 0;
    enum err err = check_times(ctx, txn, org, events, count);

    if (err == OK) {
        err = store_all(ctx, txn, org, events, count, &first_seq);
    }
    if (err == OK) {
        *ret_first_seq = first_seq;
    }
    return err;
}
