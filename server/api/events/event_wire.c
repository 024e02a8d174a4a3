/*
 * event_wire.c: a stored event as errata.v1.Event.
 */
#include "server/api/events/event_wire.h"

#include "server/domain/admin/admin.h"
#include "server/domain/layouts/documents.h"

#include <errata/v1/event.views.h>

/* What an envelope takes on the wire beside its texts, generously. */
#define ENVELOPE_BYTES 256

static const struct slice subject_names[] = {
    [SUBJECT_LAYOUT] = {(const uint8_t *)"layout", 6},
    [SUBJECT_DOCUMENT] = {(const uint8_t *)"document", 8},
    [SUBJECT_DRAFT_ORDER] = {(const uint8_t *)"draft_order", 11},
    [SUBJECT_ENTITY] = {(const uint8_t *)"entity", 6},
    [SUBJECT_ORGANIZATION] = {(const uint8_t *)"organization", 12},
    [SUBJECT_TOKEN] = {(const uint8_t *)"token", 5},
    [SUBJECT_EXPOSURE] = {(const uint8_t *)"exposure", 8},
    [SUBJECT_PROMPT_TEMPLATE] = {(const uint8_t *)"prompt_template", 15},
};

#define SUBJECT_NAMES_COUNT (sizeof(subject_names) / sizeof(subject_names[0]))

static struct slice subject_name(enum subject_kind kind)
{
    return (size_t)kind < SUBJECT_NAMES_COUNT ? subject_names[kind] : slice_of(NULL, 0);
}

bool event_wire_find_subject(struct slice name, enum subject_kind *ret_kind)
{
    for (size_t kind = 1; kind < SUBJECT_NAMES_COUNT; kind++) {
        if (slice_equal(name, subject_names[kind])) {
            *ret_kind = (enum subject_kind)kind;
            return true;
        }
    }
    return false;
}

static struct slice source_name(enum event_source source)
{
    switch (source) {
    case SOURCE_LIVE:
        return SLICE("live");
    case SOURCE_BACKFILL:
        return SLICE("backfill");
    case SOURCE_SYSTEM:
        return SLICE("system");
    }
    return slice_of(NULL, 0);
}

static enum err put_subjects(struct arena *arena, const struct event *event, struct slice *ret_run)
{
    struct buffer run;

    buffer_init(&run, arena, ENVELOPE_BYTES);
    for (size_t i = 0; i < event->subject_count; i++) {
        const struct subject_view subject = {
            .kind = subject_name(event->subjects[i].kind),
            .id = event->subjects[i].id,
        };

        subject_view_put(&subject, EVENT_SUBJECTS_FIELD, &run);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static struct slice digest_slice(const struct sha256_digest *digest)
{
    return slice_of(digest->bytes, SHA256_BYTES);
}

/* All but the payload, whose fields have higher numbers. */
static enum err put_envelope(struct arena *arena, struct buffer *body, const struct event *event)
{
    struct event_view view = {
        .id = event->id,
        .seq = event->seq,
        .kind = (enum event_kind)event->kind,
        .actor_user_id = event->actor_user_id,
        .has_actor_user_id = event->actor_user_id.size != 0,
        .annotator_kind = (enum annotator_kind)event->annotator,
        .source = source_name(event->source),
        .recorded_at_us = event->recorded_at_us,
        .has_recorded_at = true,
        .created_at_us = event->created_at_us,
        .has_created_at = true,
        .facts_sha256 = digest_slice(&event->facts_sha256),
        .content_sha256 = digest_slice(&event->content_sha256),
        .previous_sha256 = digest_slice(&event->previous_sha256),
        .content_removed = event->content_removed,
    };
    enum err err = put_subjects(arena, event, &view.subjects.run);

    event_view_write(&view, body);
    return err;
}

/* A payload whose two runs one behind the other are the message. */
static void put_runs(struct buffer *body, uint32_t field, struct slice facts, struct slice content)
{
    wire_put_header(body, field, facts.size + content.size);
    buffer_append(body, facts);
    buffer_append(body, content);
}

/* The payload: facts and content are two runs that together are the message; of a document, the
 * message within it. */
static enum err put_payload(struct arena *arena, struct buffer *body, const struct event *event,
                            bool with_content)
{
    struct slice facts = event->facts;
    struct slice content = with_content ? event->content : slice_of(NULL, 0);
    struct document_ingested_view ingested;
    enum err err = OK;

    switch (event->kind) {
    case EVENT_FEEDBACK:
        put_runs(body, EVENT_FEEDBACK_EVENT_FIELD, facts, content);
        return OK;
    case EVENT_ORGANIZATION_CREATED:
        wire_put_bytes(body, EVENT_ORGANIZATION_CREATED_FIELD, facts);
        return OK;
    case EVENT_TOKEN_CREATED:
        err = admin_public_facts(event, &facts);
        if (err == OK) {
            wire_put_bytes(body, EVENT_TOKEN_CREATED_FIELD, facts);
        }
        return err;
    case EVENT_TOKEN_REVOKED:
        wire_put_bytes(body, EVENT_TOKEN_REVOKED_FIELD, facts);
        return OK;
    case EVENT_DOCUMENT_INGESTED:
        err = document_ingested_of_event(arena, event, with_content, &ingested);
        if (err == OK) {
            document_ingested_view_put(&ingested, EVENT_DOCUMENT_INGESTED_FIELD, body);
        }
        return err;
    case EVENT_MAPPING_SUGGESTED:
        wire_put_bytes(body, EVENT_MAPPING_SUGGESTED_FIELD, facts);
        return OK;
    case EVENT_MAPPING_APPLIED:
        wire_put_bytes(body, EVENT_MAPPING_APPLIED_FIELD, facts);
        return OK;
    case EVENT_EXPOSURE_RECORDED:
        wire_put_bytes(body, EVENT_EXPOSURE_RECORDED_FIELD, facts);
        return OK;
    case EVENT_EXTRACTION_RECORDED:
        wire_put_bytes(body, EVENT_EXTRACTION_RECORDED_FIELD, facts);
        return OK;
    case EVENT_PROMPT_TEMPLATE_PUT:
        put_runs(body, EVENT_PROMPT_TEMPLATE_FIELD, facts, content);
        return OK;
    case EVENT_SETTINGS_UPDATED:
        wire_put_bytes(body, EVENT_SETTINGS_UPDATED_FIELD, facts);
        return OK;
    }
    return ERR_CORRUPT;
}

enum err event_wire_put(struct arena *arena, struct buffer *body, uint32_t field,
                        const struct event *event, bool with_content)
{
    struct buffer encoded;
    enum err err = OK;

    buffer_init(&encoded, arena, ENVELOPE_BYTES + event->facts.size + event->content.size);
    err = put_envelope(arena, &encoded, event);
    if (err == OK) {
        err = put_payload(arena, &encoded, event, with_content);
    }
    if (err != OK) {
        return err;
    }
    if (!buffer_ok(&encoded)) {
        return ERR_MEMORY;
    }
    wire_put_bytes(body, field, buffer_slice(&encoded));
    return OK;
}
