/*
 * view.c: see view.h.
 */
#include "server/domain/corrections/view.h"

#include "store/base/wire.h"

bool feedback_is_correction(enum event_type event_type)
{
    return event_type == EVENT_TYPE_EXTRACTION_LINE_CORRECTED ||
           event_type == EVENT_TYPE_EXTRACTION_FIELD_CORRECTED;
}

/* Where a text field goes; NULL for a field that is none. */
static struct slice *text_of(struct feedback_view *view, uint32_t number)
{
    switch (number) {
    case FEEDBACK_EVENT_ENTITY_TYPE_FIELD:
        return &view->entity_type;
    case FEEDBACK_EVENT_ENTITY_ID_FIELD:
        return &view->entity_id;
    case FEEDBACK_EVENT_DRAFT_ORDER_ID_FIELD:
        return &view->draft_order_id;
    case FEEDBACK_EVENT_DOCUMENT_ID_FIELD:
        return &view->document_id;
    case FEEDBACK_EVENT_LAYOUT_FINGERPRINT_FIELD:
        return &view->layout_fingerprint;
    case FEEDBACK_EVENT_BEFORE_JSON_FIELD:
        return &view->before_json;
    case FEEDBACK_EVENT_AFTER_JSON_FIELD:
        return &view->after_json;
    case FEEDBACK_EVENT_CORRECTED_OUTPUT_JSON_FIELD:
        return &view->corrected_output_json;
    case FEEDBACK_EVENT_META_JSON_FIELD:
        return &view->meta_json;
    default:
        return NULL;
    }
}

static enum err read_field(struct feedback_view *view, const struct wire_field *field)
{
    struct slice *text = text_of(view, field->number);

    if (text != NULL) {
        *text = field->bytes;
        return field->type == WIRE_BYTES ? OK : ERR_CORRUPT;
    }
    if (field->number == FEEDBACK_EVENT_EVENT_TYPE_FIELD) {
        return event_type_from_wire((int32_t)field->value, &view->event_type) ? OK : ERR_CORRUPT;
    }
    if (field->number == FEEDBACK_EVENT_REDUCED_FIELD) {
        view->reduced = field->value != 0;
    } else if (field->number == FEEDBACK_EVENT_FIELDS_CHANGED_FIELD) {
        if (field->type != WIRE_BYTES || view->fields.count == FIELDS_CHANGED_MAX) {
            return ERR_CORRUPT;
        }
        view->fields.names[view->fields.count] = field->bytes;
        view->fields.count++;
    }
    return OK;
}

static enum err read_run(struct feedback_view *view, struct slice run)
{
    struct wire_reader reader = wire_reader_of(run);
    struct wire_field field = {0};
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        err = read_field(view, &field);
        if (err != OK) {
            return err;
        }
    }
    return err == ERR_NOT_FOUND ? OK : ERR_CORRUPT;
}

enum err feedback_view_read(const struct event *event, struct feedback_view *ret_view)
{
    enum err err = OK;

    memset(ret_view, 0, offsetof(struct feedback_view, fields));
    memset(&ret_view->fields.count, 0,
           sizeof(*ret_view) - offsetof(struct feedback_view, fields.count));
    err = read_run(ret_view, event->facts);
    return err != OK ? err : read_run(ret_view, event->content);
}
