/*
 * event_wire.c: see event_wire.h.
 */
#include "server/api/events/event_wire.h"

#include "server/codec/check.h"
#include "server/domain/admin/admin.h"
#include "server/domain/events/retraction.h"
#include "server/domain/events/subject.h"
#include "server/domain/layouts/documents.h"
#include "store/base/wire.h"

#include <errata/contract_messages.h>
#include <errata/v1/event.views.h>
#include <errata/v1/organization_transfer.fields.h>

/* Maximum size of a field's tag and length. */
#define TAG_BYTES_MAX 16

/* Typical size of the subjects of an event. */
#define SUBJECTS_BYTES 256

_Static_assert(EVENT_SUBJECT_KIND_LAYOUT == (int)SUBJECT_LAYOUT &&
                   EVENT_SUBJECT_KIND_ITEM == (int)SUBJECT_ITEM &&
                   EVENT_SUBJECT_KIND_AGENT == (int)SUBJECT_AGENT &&
                   EVENT_SUBJECT_KIND_PROPOSAL == (int)SUBJECT_PROPOSAL &&
                   EVENT_SUBJECT_KIND_TURN == (int)SUBJECT_TURN &&
                   EVENT_SUBJECT_KIND_DECISION == (int)SUBJECT_DECISION &&
                   EVENT_SUBJECT_KIND_DEAD_LETTER == (int)SUBJECT_DEAD_LETTER &&
                   EVENT_SOURCE_LIVE == (int)SOURCE_LIVE &&
                   EVENT_SOURCE_SYSTEM == (int)SOURCE_SYSTEM,
               "the numbers of stored events are those of the contract");

static enum err put_subjects(struct arena *arena, const struct event *event, uint32_t field,
                             struct slice *ret_run)
{
    struct buffer run;

    buffer_init(&run, arena, SUBJECTS_BYTES);
    for (size_t i = 0; i < event->subject_count; i++) {
        struct subject_view subject = {.id = event->subjects[i].id};

        if (!event_subject_kind_from_wire(event->subjects[i].kind, &subject.kind)) {
            return ERR_CORRUPT;
        }
        subject_view_put(&subject, field, &run);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static struct slice digest_slice(const struct sha256_digest *digest)
{
    return slice_of(digest->bytes, SHA256_BYTES);
}

/* Encodes the event's retraction, if it was retracted. */
static enum err fill_retraction(struct store_txn *txn, const struct event *event,
                                struct event_view *view)
{
    struct retraction retraction;
    enum err err = retraction_read(txn, event->org, event->seq, &retraction);

    if (err != OK || retraction.seq == 0) {
        return err;
    }
    view->has_retracted_at = true;
    view->retracted_at_us = retraction.retracted_at_us;
    view->has_retracted_by = retraction.retracted_by.size > 0;
    view->retracted_by = retraction.retracted_by;
    view->has_retraction_reason = retraction.reason.size > 0;
    view->retraction_reason = retraction.reason;
    return OK;
}

/* Encodes the event without its payload. */
static enum err fill_envelope(struct arena *arena, struct store_txn *txn, const struct event *event,
                              struct event_view *view)
{
    enum err err = OK;

    *view = (struct event_view){
        .id = event->id,
        .seq = event->seq,
        .kind = (enum event_kind)event->kind,
        .actor_user_id = event->actor_user_id,
        .has_actor_user_id = event->actor_user_id.size != 0,
        .annotator_kind = (enum annotator_kind)event->annotator,
        .source = (enum event_source)event->source,
        .recorded_at_us = event->recorded_at_us,
        .has_recorded_at = true,
        .created_at_us = event->created_at_us,
        .has_created_at = true,
        .facts_sha256 = digest_slice(&event->facts_sha256),
        .content_sha256 = digest_slice(&event->content_sha256),
        .previous_sha256 = digest_slice(&event->previous_sha256),
        .content_removed = event->content_removed,
    };
    err = put_subjects(arena, event, EVENT_SUBJECTS_FIELD, &view->subjects.run);
    return err != OK ? err : fill_retraction(txn, event, view);
}

/* Appends the payload's message: facts and content, which concatenated are the message or, for a
 * document, the message within it. A token's hash is omitted. */
static enum err read_payload(struct arena *arena, const struct event *event,
                             struct slice *ret_payload)
{
    struct document_ingested_view ingested;
    struct buffer whole;
    enum err err = OK;

    if (event->kind == EVENT_TOKEN_CREATED) {
        return admin_public_facts(event, ret_payload);
    }
    if (event->content.size == 0) {
        *ret_payload = event->facts;
        return OK;
    }
    if (event->kind == EVENT_DOCUMENT_INGESTED) {
        err = document_ingested_of_event(arena, event, &ingested);
        if (err == OK &&
            !view_encode(&document_ingested_view_type, &ingested, arena, ret_payload)) {
            err = ERR_MEMORY;
        }
        return err;
    }
    buffer_init(&whole, arena, event->facts.size + event->content.size);
    buffer_append(&whole, event->facts);
    buffer_append(&whole, event->content);
    *ret_payload = buffer_slice(&whole);
    return buffer_ok(&whole) ? OK : ERR_MEMORY;
}

/* Returns the payload's field number: the fields of payloads are the last ones of an event, in the
 * order of the numbers of the kinds (the generator checks this). */
static uint32_t payload_field(enum event_kind_number kind)
{
    return EVENT_FEEDBACK_EVENT_FIELD + (uint32_t)kind - EVENT_FEEDBACK;
}

/* Appends the event of the view, with its payload. */
static enum err put(struct arena *arena, struct buffer *body, uint32_t field,
                    const struct event *event, const struct event_view *view)
{
    struct slice envelope = {NULL, 0};
    struct slice payload = {NULL, 0};
    struct buffer whole;
    enum err err = read_payload(arena, event, &payload);

    if (err != OK) {
        return err;
    }
    if (!view_encode(&event_view_type, view, arena, &envelope)) {
        return ERR_MEMORY;
    }
    buffer_init(&whole, arena, envelope.size + payload.size + TAG_BYTES_MAX);
    buffer_append(&whole, envelope);
    wire_put_bytes(&whole, payload_field(event->kind), payload);
    wire_put_bytes(body, field, buffer_slice(&whole));
    return buffer_ok(&whole) && buffer_ok(body) ? OK : ERR_MEMORY;
}

enum err event_wire_put(struct arena *arena, struct store_txn *txn, struct buffer *body,
                        uint32_t field, const struct event *event)
{
    struct event_view view;
    enum err err = fill_envelope(arena, txn, event, &view);

    return err != OK ? err : put(arena, body, field, event, &view);
}

enum err event_wire_put_payload(struct arena *arena, struct buffer *body, uint32_t field,
                                const struct event *event)
{
    const struct event_view view = {.seq = 0};

    return put(arena, body, field, event, &view);
}

enum err event_wire_read_subjects(struct arena *arena, const struct event *event,
                                  struct slice *ret_run)
{
    return put_subjects(arena, event, EXPORTED_EVENT_SUBJECTS_FIELD, ret_run);
}

enum err event_wire_check(const struct ctx *ctx, const struct event *event)
{
    const struct field_info *field =
        contract_find_field(&contract_errata_v1_event, payload_field(event->kind));
    struct ctx checked = *ctx;
    struct fault fault;
    struct slice payload = {NULL, 0};
    enum err err = read_payload(ctx->arena, event, &payload);

    fault_init(&fault, ctx->arena); /* its paths are those of the payload, not of the request */
    checked.fault = &fault;
    if (err == OK) {
        err = field != NULL ? check_stored_message(&checked, field->message, payload) : ERR_INVALID;
    }
    return err == OK || err == ERR_MEMORY ? err : ERR_INVALID;
}
