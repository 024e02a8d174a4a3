/*
 * import_facts.c: see import_facts.h. Ids are texts of one size, so each is replaced where it is.
 */
#include "server/domain/transfer/import_facts.h"

#include "server/codec/check.h"
#include "store/base/wire.h"

#include <errata/contract_messages.h>
#include <errata/v1/event.fields.h>

/* An open message. */
struct open_message {
    const struct message_info *message;
    struct wire_reader reader;
};

struct replacing {
    uint8_t *facts; /* the copy */
    char exported[UUID_TEXT_BYTES];
    char imported[UUID_TEXT_BYTES];
    struct open_message open[CHECK_DEPTH_MAX];
    size_t depth;
};

/* Replaces a field, or opens the message in it. */
static enum err handle(struct replacing *replacing, const struct field_info *field,
                       struct slice bytes)
{
    if (field->type == FIELD_MESSAGE) {
        if (replacing->depth == CHECK_DEPTH_MAX) {
            return ERR_CORRUPT;
        }
        replacing->open[replacing->depth] =
            (struct open_message){field->message, wire_reader_of(bytes)};
        replacing->depth++;
    } else if (slice_equal(field->name, SLICE("org_id")) &&
               slice_equal(bytes, slice_of(replacing->exported, UUID_TEXT_BYTES))) {
        memcpy(replacing->facts + (bytes.data - replacing->facts), replacing->imported,
               UUID_TEXT_BYTES);
    }
    return OK;
}

/* Handles the next field of the innermost open message; closes it at its end. */
static enum err handle_next(struct replacing *replacing)
{
    struct open_message *open = &replacing->open[replacing->depth - 1];
    const struct field_info *field = NULL;
    struct wire_field wire;
    enum err err = wire_next(&open->reader, &wire);

    if (err == ERR_NOT_FOUND) {
        replacing->depth--;
        return OK;
    }
    if (err != OK) {
        return ERR_CORRUPT;
    }
    field = wire.type == WIRE_BYTES ? contract_find_field(open->message, wire.number) : NULL;
    return field != NULL ? handle(replacing, field, wire.bytes) : OK;
}

enum err import_facts_replace(struct arena *arena, const struct event *event,
                              const struct import_ids *ids, struct slice *ret_facts)
{
    const struct field_info *payload =
        contract_find_field(&contract_errata_v1_event,
                            EVENT_FEEDBACK_EVENT_FIELD + (uint32_t)event->kind - EVENT_FEEDBACK);
    struct slice facts = event->facts;
    struct replacing replacing;
    enum err err = OK;

    if (payload == NULL || facts.size == 0) {
        *ret_facts = facts;
        return payload == NULL ? ERR_CORRUPT : OK;
    }
    replacing.facts = arena_alloc(arena, facts.size);
    if (replacing.facts == NULL) {
        return ERR_MEMORY;
    }
    memcpy(replacing.facts, facts.data, facts.size);
    facts.data = replacing.facts;
    uuid_format(ids->exported, replacing.exported);
    uuid_format(ids->imported, replacing.imported);
    replacing.open[0] = (struct open_message){payload->message, wire_reader_of(facts)};
    replacing.depth = 1;
    while (err == OK && replacing.depth > 0) {
        err = handle_next(&replacing);
    }
    *ret_facts = facts;
    return err;
}
