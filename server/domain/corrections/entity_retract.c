/*
 * entity_retract.c: removes a retracted correction from its entity; see entity_rows_remove in entity_rows.h.
 * For each field of which it was the newest correction, the newest other correction is searched in the rows of
 * both tables. A put invalidates the walk, so rows are changed afterwards.
 */
#include "server/domain/corrections/entity_rows_internal.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/corrections/layout_rows.h"
#include "store/scan.h"

/* A field of the retracted correction, and the newest other correction of it. */
struct heir {
    struct slice name;
    uint64_t seq; /* 0: none is found */
    int64_t created_at_us;
    bool is_superseded; /* the correction has a row in TABLE_ENTITY_PAST */
};

/* Changes by one retraction. */
struct parting {
    const struct event *event;
    const struct feedback_event_view *view;
    uint64_t retraction_seq;
    struct arena row_memory; /* emptied for each row */
    struct entity_live_row row; /* one at a time */
    struct heir heirs[RECORD_NAMES_MAX];
    size_t heir_count;
};

/* Reads the correction's row, deletes it, and lists its fields; a superseded correction has none. */
static enum err take_row(struct ctx *ctx, struct store_txn *txn, struct parting *parting)
{
    const struct event *event = parting->event;
    const struct feedback_event_view *view = parting->view;
    struct key key = key_entity(event->org, view->entity_type, view->entity_id, event->seq);
    struct key past = key_entity_past(event->org, view->entity_type, view->entity_id,
                                      event->created_at_us, event->seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_ENTITY, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        return store_del(txn, TABLE_ENTITY_PAST, key_slice(&past));
    }
    if (err == OK) {
        err = entity_row_read(&parting->row_memory, txn, event->org, event->seq, value,
                              &parting->row);
    }
    for (size_t i = 0; err == OK && i < parting->row.remaining.count; i++) {
        struct heir *heir = &parting->heirs[i];

        *heir = (struct heir){.seq = 0};
        err =
            arena_copy(ctx->arena, parting->row.remaining.items[i], &heir->name) ? OK : ERR_MEMORY;
        parting->heir_count++;
    }
    return err != OK ? err : store_del(txn, TABLE_ENTITY, key_slice(&key));
}

static bool has_name(struct slice run, struct slice wanted)
{
    struct slice name = {NULL, 0};

    while (view_next(&run, &name)) {
        if (slice_equal(name, wanted)) {
            return true;
        }
    }
    return false;
}

static bool is_newer(const struct entity_live_row *row, const struct heir *heir)
{
    return row->created_at_us != heir->created_at_us ? row->created_at_us > heir->created_at_us
                                                     : row->seq > heir->seq;
}

/* Assigns each field to the correction of a row if the field has no newer one. Returns whether a field is still
 * unassigned. */
static bool offer_row(struct parting *parting, bool is_superseded)
{
    const struct entity_live_row *row = &parting->row;
    bool is_wanted = false;

    for (size_t i = 0; i < parting->heir_count; i++) {
        struct heir *heir = &parting->heirs[i];

        if ((heir->seq == 0 || is_newer(row, heir)) && has_name(row->fields_changed, heir->name)) {
            heir->seq = row->seq;
            heir->created_at_us = row->created_at_us;
            heir->is_superseded = is_superseded;
        }
        is_wanted = is_wanted || heir->seq == 0 || is_newer(row, heir);
    }
    return is_wanted;
}

/* Reads the seq in a key of a table. */
static enum err read_seq(enum store_table table, struct slice key, uint64_t *ret_seq)
{
    int64_t created_at_us = 0;

    return table == TABLE_ENTITY ? key_read_entity(key, ret_seq)
                                 : key_read_newest_first(key, &created_at_us, ret_seq);
}

/* Assigns the fields to the rows of a table. Superseded rows are sorted by time, so the walk ends as soon as
 * older rows cannot be assigned. */
static enum err offer_rows(struct store_txn *txn, struct parting *parting, enum store_table table)
{
    const struct scan_range range = {
        .table = table,
        .prefix = key_entity_prefix(parting->event->org, parting->view->entity_type,
                                    parting->view->entity_id),
        .rows_max = ENTITY_ROWS_MAX,
    };
    bool is_superseded = table == TABLE_ENTITY_PAST;
    bool is_wanted = true;
    struct scan scan = {.rows_max = 0};
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK && (is_wanted || !is_superseded)) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        uint64_t seq = 0;

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = read_seq(table, key, &seq);
        }
        if (err == OK) {
            err = entity_row_read(&parting->row_memory, txn, parting->event->org, seq, value,
                                  &parting->row);
        }
        if (err == OK) {
            is_wanted = offer_row(parting, is_superseded);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Handles the correction of a row that is no longer superseded: removes the mark of its example. `document_id`
 * is not borrowed from a page. */
static enum err free_row(struct ctx *ctx, struct store_txn *txn, const struct parting *parting,
                         const struct example_place *place, bool has_layout,
                         struct slice document_id)
{
    struct key past = key_entity_past(place->org, parting->view->entity_type,
                                      parting->view->entity_id, place->created_at_us, place->seq);
    enum err err = store_del(txn, TABLE_ENTITY_PAST, key_slice(&past));

    if (err != OK || !has_layout) {
        return err;
    }
    err = layout_rows_unmark(ctx, txn, place, parting->retraction_seq);
    return err != OK ? err
                     : entity_row_show(ctx, txn, place, document_id, parting->event, parting->view);
}

/* Adds to the row of an heir all fields that it gets: the one at `first`, and later ones. */
static enum err give_fields(struct ctx *ctx, struct store_txn *txn, struct parting *parting,
                            size_t first)
{
    const struct event *event = parting->event;
    const struct heir *heir = &parting->heirs[first];
    struct key key =
        key_entity(event->org, parting->view->entity_type, parting->view->entity_id, heir->seq);
    struct entity_record *record = arena_calloc(ctx->arena, 1, sizeof(*record));
    struct slice value = {NULL, 0};
    struct slice document_id = {NULL, 0};
    struct example_place place;
    bool has_layout = false;
    enum err err = record != NULL ? OK : ERR_MEMORY;

    if (err == OK && !heir->is_superseded) {
        err = store_get(txn, TABLE_ENTITY, key_slice(&key), &value);
    }
    if (err == OK) {
        err =
            entity_row_read(&parting->row_memory, txn, event->org, heir->seq, value, &parting->row);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    /* Must precede the first put, which invalidates borrowed slices. */
    has_layout = parting->row.layout_fingerprint.size > 0;
    place = (struct example_place){
        .org = event->org,
        .fingerprint = key_fingerprint_of(parting->row.layout_fingerprint),
        .created_at_us = heir->created_at_us,
        .seq = heir->seq,
    };
    if (!heir->is_superseded) {
        *record = (struct entity_record){.remaining = parting->row.remaining};
    }
    for (size_t i = first; i < parting->heir_count; i++) {
        if (parting->heirs[i].seq == heir->seq && record->remaining.count < RECORD_NAMES_MAX) {
            record->remaining.items[record->remaining.count] = parting->heirs[i].name;
            record->remaining.count++;
        }
    }
    if (!arena_copy(ctx->arena, parting->row.document_id, &document_id)) {
        return ERR_MEMORY;
    }
    err = entity_row_write(ctx, txn, &key, record, parting->row.field_count);
    return err != OK || !heir->is_superseded
               ? err
               : free_row(ctx, txn, parting, &place, has_layout, document_id);
}

/* Returns whether an earlier field has the same heir, which has received all its fields by then. */
static bool was_given(const struct parting *parting, size_t place)
{
    for (size_t i = 0; i < place; i++) {
        if (parting->heirs[i].seq == parting->heirs[place].seq) {
            return true;
        }
    }
    return false;
}

/* Passes the fields to their heirs. */
static enum err part(struct ctx *ctx, struct store_txn *txn, struct parting *parting)
{
    enum err err = take_row(ctx, txn, parting);

    if (err != OK || parting->heir_count == 0) {
        return err;
    }
    err = offer_rows(txn, parting, TABLE_ENTITY);
    if (err == OK) {
        err = offer_rows(txn, parting, TABLE_ENTITY_PAST);
    }
    for (size_t i = 0; i < parting->heir_count && err == OK; i++) {
        if (parting->heirs[i].seq != 0 && !was_given(parting, i)) {
            err = give_fields(ctx, txn, parting, i);
        }
    }
    return err;
}

enum err entity_rows_remove(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                            const struct feedback_event_view *view, uint64_t retraction_seq)
{
    struct parting *parting = arena_alloc(ctx->arena, sizeof(*parting));
    enum err err = OK;

    if (parting == NULL) {
        return ERR_MEMORY;
    }
    parting->event = event;
    parting->view = view;
    parting->retraction_seq = retraction_seq;
    parting->heir_count = 0;
    arena_init(&parting->row_memory, ENTITY_ROW_BYTES_MAX);
    err = part(ctx, txn, parting);
    arena_deinit(&parting->row_memory);
    return err;
}
