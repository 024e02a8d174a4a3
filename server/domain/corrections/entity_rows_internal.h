/*
 * entity_rows_internal.h: functions for adding and removing a correction of an entity; for this folder's own
 * files.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_ENTITY_ROWS_INTERNAL_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_ENTITY_ROWS_INTERNAL_H

#include "server/domain/corrections/entity_rows.h"
#include "server/domain/corrections/layout_rows.h"
#include "server/domain/corrections/records.h"

/* Memory for reading one row: an event's envelope and facts, each with its dictionary. */
#define ENTITY_ROW_BYTES_MAX ((size_t)4 << 20)

/* A row with its event, in the memory for rows and in pages of the store. */
struct entity_live_row {
    uint64_t seq;
    int64_t created_at_us;
    struct slice layout_fingerprint; /* empty: the event is not an example, or not any more */
    struct slice document_id;
    struct slice fields_changed; /* all its fields, as a run (store/base/view.h) */
    size_t field_count; /* number of fields of the event */
    struct record_names remaining; /* at least one name */
};

/* Reads a row and its event; `memory` is reset first. An empty value is read as all fields remaining. */
MUST_CHECK enum err entity_row_read(struct arena *memory, struct store_txn *txn, struct org_id org,
                                    uint64_t seq, struct slice value,
                                    struct entity_live_row *ret_row);
/* Writes the remaining fields of a correction; `field_count` is the number of all its fields. */
MUST_CHECK enum err entity_row_write(struct ctx *ctx, struct store_txn *txn, const struct key *key,
                                     struct entity_record *record, size_t field_count);
/* Rewrites the example of the document of a correction that `event` superseded, or that is no longer superseded
 * because `event` was retracted, unless the caller does so for `event` itself. `document_id` is not borrowed
 * from a page. */
MUST_CHECK enum err entity_row_show(struct ctx *ctx, struct store_txn *txn,
                                    const struct example_place *place, struct slice document_id,
                                    const struct event *event,
                                    const struct feedback_event_view *view);
/* Puts the row of a superseded correction. `view` may be of any correction of the entity. */
MUST_CHECK enum err entity_past_put(struct store_txn *txn, struct org_id org,
                                    const struct feedback_event_view *view, int64_t created_at_us,
                                    uint64_t seq);

#endif
