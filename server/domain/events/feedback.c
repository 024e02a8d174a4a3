/*
 * feedback.c: see feedback.h.
 */
#include "server/domain/events/feedback.h"

/* Bytes of a document or draft order in FEEDBACK_SUBJECT. Half of KEY_HASH_BYTES keeps its rows small; a collision
 * costs a reader one more event, and nothing else. */
#define FEEDBACK_SUBJECT_BYTES 8

bool feedback_is_correction(enum feedback_event_type event_type)
{
    return event_type == FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED ||
           event_type == FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED;
}

enum err feedback_view_read(const struct event *event, struct feedback_event_view *ret_view)
{
    enum err err =
        view_read_parts(&feedback_event_view_type, event->facts, event->content, ret_view);

    return err == OK && ret_view->fields_changed.count > FIELDS_CHANGED_MAX ? ERR_CORRUPT : err;
}

struct key key_feedback_subject_prefix(struct org_id org, enum subject_kind kind, struct slice id)
{
    struct key key = key_org(org);
    uint8_t kind_byte = (uint8_t)kind;
    struct slice pieces[] = {slice_of(&kind_byte, 1), id};
    struct sha256_digest digest = sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));

    key_put_bytes(&key, digest.bytes, FEEDBACK_SUBJECT_BYTES);
    return key;
}

struct key key_feedback_subject(struct org_id org, enum subject_kind kind, struct slice id,
                                int64_t created_at_us, uint64_t seq)
{
    struct key key = key_feedback_subject_prefix(org, kind, id);

    key_put_newest_first(&key, created_at_us, seq);
    return key;
}
