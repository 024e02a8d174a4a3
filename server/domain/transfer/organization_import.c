/*
 * organization_import.c: see organization_import.h.
 */
#include "server/domain/transfer/organization_import.h"

#include "server/domain/admin/organization_state.h"
#include "server/domain/events/subject.h"
#include "server/domain/retention/retention.h"
#include "server/domain/transfer/import_check.h"
#include "server/domain/transfer/import_facts.h"
#include "store/log_deletion.h"
#include "store/log_import.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>
#include <inttypes.h>

/* Memory of one event: its row, and what apply makes of it. */
#define EVENT_BYTES_MAX (32u << 20)
/* Events that are examined for the end of an import: about 10 ms. */
#define END_EXAMINED_MAX 10000

/* A write of an import. */
struct importing {
    struct ctx *ctx;
    struct store_txn *txn;
    const struct organization_import *import;
    struct org_id org;
    struct import_place place; /* the last stored event */
    size_t first; /* first event of the request that is not stored yet */
    uint64_t ended_seq; /* of the event that ended this import before; 0: it has not ended */
};

/* Finds the event that ended the import of this export. The export's own event, which has its id, is before it; between them
 * are the events that were recorded during the export. */
static enum err find_end(struct importing *importing)
{
    const struct uuid export_id = importing->import->source.export_id;
    struct log_walk walk = {.org = importing->org};
    uint64_t seq = 0;
    enum err err = log_find(importing->txn, importing->org, export_id, &seq);

    if (err == OK) {
        err = log_walk_init(&walk, importing->txn, importing->org, seq + 1, STORE_ASCENDING);
    }
    for (size_t i = 0; i < END_EXAMINED_MAX && err == OK && importing->ended_seq == 0; i++) {
        struct organization_imported_view facts;
        struct event event;

        err = log_walk_next(&walk, &event);
        if (err != OK || event.kind != EVENT_ORGANIZATION_IMPORTED) {
            continue;
        }
        err = organization_imported_view_read(event.facts, &facts);
        if (err == OK && uuid_equal(facts.export_id, export_id)) {
            importing->ended_seq = event.seq;
        }
    }
    log_walk_deinit(&walk);
    return err == OK && importing->ended_seq == 0 ? ERR_NOT_FOUND : err;
}

/* Finds the organisation that is being imported under the name, or was; a new id if the name is free. */
static enum err find_org(struct importing *importing, bool *ret_is_new)
{
    const struct organization_import *import = importing->import;
    struct ctx *ctx = importing->ctx;
    struct slice shown = fault_shorten(ctx->fault, import->name);
    struct uuid export_id = import->source.export_id;
    bool is_deleted = false;
    enum err err = admin_find_organization(importing->txn, import->name, &importing->org.uuid);

    *ret_is_new = err == ERR_NOT_FOUND;
    if (err == ERR_NOT_FOUND) {
        importing->org.uuid = uuid_v7(clock_wall_us(ctx->clock), ctx->random);
        return OK;
    }
    if (err == OK) {
        err = log_deletion_is_marked(importing->txn, importing->org, &is_deleted);
    }
    if (err == OK) {
        err = is_deleted ? ERR_NOT_FOUND
                         : log_import_read(importing->txn, importing->org, &export_id);
    }
    if (err == ERR_NOT_FOUND && !is_deleted) {
        err = find_end(importing);
    }
    if (err == ERR_NOT_FOUND) {
        return fault_say(ctx->fault, ERR_EXISTS, "name: '%.*s' exists; expected another name",
                         (int)shown.size, (const char *)shown.data);
    }
    if (err == OK && !uuid_equal(export_id, import->source.export_id)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "name: another export is being imported as '%.*s'; expected that export, "
                         "another name, or the organisation to be deleted first",
                         (int)shown.size, (const char *)shown.data);
    }
    return err;
}

static enum err read_place(struct importing *importing)
{
    struct log_head head;
    struct event last;
    enum err err = log_read_head(importing->txn, importing->org, &head);

    if (err == OK && head.last_seq > 0) {
        err = log_read(importing->txn, importing->org, head.last_seq, &last);
    }
    if (err != OK || head.last_seq == 0) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    importing->place =
        (struct import_place){last.seq, last.id, last.recorded_at_us, last.write_index};
    return OK;
}

/* Checks all that is not stored yet, before anything is put. */
static enum err check(struct importing *importing)
{
    const struct organization_import *import = importing->import;
    struct ctx *ctx = importing->ctx;
    struct import_place place = importing->place;
    size_t i = 0;

    while (i < import->event_count && import->events[i].seq <= place.seq) {
        i++;
    }
    importing->first = i;
    while (i < import->event_count && fault_result(ctx->fault) == OK) {
        import_check_event(ctx, &import->events[i], i, &place);
        i++;
    }
    if (import->has_end && fault_result(ctx->fault) == OK &&
        (import->source.event_count != place.seq || place.seq == 0)) {
        fault_add(ctx->fault, SLICE("end.event_count"),
                  "%" PRIu64 "; expected %" PRIu64 ", the number of the last event",
                  import->source.event_count, place.seq);
    }
    return fault_result(ctx->fault);
}

/* Replaces the exported organisation's id in the subjects; `id` is memory of the new one. */
static void replace_subjects(const struct importing *importing, char id[UUID_TEXT_BYTES],
                             struct event *event)
{
    char exported[UUID_TEXT_BYTES];

    uuid_format(importing->import->source.org_id, exported);
    uuid_format(importing->org.uuid, id);
    for (size_t i = 0; i < event->subject_count; i++) {
        if (event->subjects[i].kind == SUBJECT_ORGANIZATION &&
            slice_equal(event->subjects[i].id, slice_of(exported, sizeof(exported)))) {
            event->subjects[i].id = slice_of(id, UUID_TEXT_BYTES);
        }
    }
}

/* Replaces what belongs to the exported organisation, or to its server, in facts. */
static enum err replace_facts(const struct importing *importing, struct arena *arena,
                              struct event *event)
{
    const struct import_ids ids = {importing->import->source.org_id, importing->org.uuid};

    if (event->kind == EVENT_ORGANIZATION_CREATED) {
        return organization_import_created(arena, importing->org, importing->import->name,
                                           &event->facts);
    }
    if (event->kind == EVENT_TOKEN_CREATED) {
        return organization_export_token(arena, event->facts, &event->facts);
    }
    return import_facts_replace(arena, event, &ids, &event->facts);
}

/* Stores one event, and applies it; `ctx` has memory of its own. */
static enum err store_event(const struct importing *importing, struct ctx *ctx,
                            const struct event *given)
{
    char id[UUID_TEXT_BYTES];
    struct event event = *given;
    struct event stored;
    enum err err = OK;

    event.org = importing->org;
    replace_subjects(importing, id, &event);
    err = replace_facts(importing, ctx->arena, &event);
    if (err == OK) {
        err = log_append_imported(ctx, importing->txn, &event, &stored);
    }
    if (err == OK) {
        err = retention_remove_imported(ctx, importing->txn, &stored);
    }
    if (err == OK) {
        err = domain_apply(ctx, importing->txn, &stored);
    }
    return err;
}

/* What apply finds wrong is the file's fault: everything else in the store was checked when it was written. */
static enum err refuse(struct ctx *ctx, size_t index, const struct event *event, enum err err)
{
    if (err != ERR_CORRUPT && err != ERR_NOT_FOUND && err != ERR_EXISTS) {
        return err;
    }
    return fault_say(ctx->fault, ERR_INVALID,
                     "events[%zu].facts: those of event %" PRIu64
                     " do not follow from the events before it; expected an undamaged export",
                     index, event->seq);
}

static enum err store_events(struct importing *importing)
{
    const struct organization_import *import = importing->import;
    struct ctx ctx = *importing->ctx;
    struct arena memory;
    enum err err = OK;

    arena_init(&memory, EVENT_BYTES_MAX);
    ctx.arena = &memory;
    for (size_t i = importing->first; i < import->event_count && err == OK; i++) {
        err = store_event(importing, &ctx, &import->events[i]);
        if (err != OK) {
            err = refuse(importing->ctx, i, &import->events[i], err);
        }
        arena_reset(&memory);
    }
    arena_deinit(&memory);
    return err;
}

/* Removes the mark, and records the import. */
static enum err end(const struct importing *importing, const struct admin_actor *actor,
                    struct work_result *result)
{
    struct work_result ended;
    enum err err = log_import_end(importing->txn, importing->org);

    if (err == OK) {
        err = organization_import_end(importing->ctx, importing->txn, actor, importing->org,
                                      &importing->import->source, &ended);
    }
    if (err == OK) {
        result->first_seq = result->count > 0 ? result->first_seq : ended.first_seq;
        result->count++;
    }
    return err;
}

static enum err store_all(struct importing *importing, const struct admin_actor *actor, bool is_new,
                          struct work_result *ret_result)
{
    const struct organization_import *import = importing->import;
    struct work_result result = {.org = importing->org, .first_seq = importing->place.seq};
    enum err err = OK;

    result.count = (uint32_t)(import->event_count - importing->first);
    if (result.count > 0) {
        result.first_seq = importing->place.seq + 1;
    }
    if (is_new && result.count > 0) {
        err = log_import_begin(importing->ctx, importing->txn, importing->org,
                               import->source.export_id);
    }
    if (err == OK) {
        err = store_events(importing);
    }
    if (err == OK && import->has_end) {
        err = end(importing, actor, &result);
    }
    if (err == OK) {
        *ret_result = result;
    }
    return err;
}

enum err organization_import_write(struct ctx *ctx, struct store_txn *txn,
                                   const struct admin_actor *actor,
                                   const struct organization_import *import,
                                   struct work_result *ret_result)
{
    struct importing importing = {.ctx = ctx, .txn = txn, .import = import};
    bool is_new = false;
    enum err err = organization_state_check_caller(ctx, txn, actor, import->caller_org);

    if (err != OK) {
        return err;
    }
    import_check_header(ctx, &import->source);
    err = fault_result(ctx->fault);
    if (err == OK) {
        err = find_org(&importing, &is_new);
    }
    if (err == OK && importing.ended_seq != 0) {
        *ret_result = (struct work_result){.org = importing.org, .first_seq = importing.ended_seq};
        return OK;
    }
    if (err == OK && !is_new) {
        err = read_place(&importing);
    }
    if (err == OK) {
        err = check(&importing);
    }
    return err != OK ? err : store_all(&importing, actor, is_new, ret_result);
}

enum err organization_import_after(struct store_txn *txn, const struct work_result *result,
                                   struct organization_import_state *ret_state)
{
    uint64_t last_seq =
        result->count > 0 ? result->first_seq + result->count - 1 : result->first_seq;
    struct event last;
    enum err err = OK;

    *ret_state = (struct organization_import_state){.imported_seq = last_seq};
    if (last_seq == 0) {
        return OK;
    }
    err = log_read(txn, result->org, last_seq, &last);
    /* The end of this import, or one that the export contains: only the former comes without the mark. */
    if (err == OK && last.kind == EVENT_ORGANIZATION_IMPORTED) {
        bool is_marked = false;

        err = log_import_is_marked(txn, result->org, &is_marked);
        ret_state->completed = !is_marked;
        ret_state->imported_seq = is_marked ? last_seq : last_seq - 1;
    }
    return err;
}
