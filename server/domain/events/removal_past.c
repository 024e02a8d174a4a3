/*
 * removal_past.c: see removal_past.h.
 */
#include "server/domain/events/removal_past.h"

#include "server/domain/events/subject.h"
#include "store/scan.h"

#include <errata/v1/event.views.h>
#include <inttypes.h>

enum err removal_check_floor(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                             enum content_class class, uint64_t seq, const char *noun)
{
    uint64_t floor_seq = 0;
    enum err err = removal_floor(txn, org, class, &floor_seq);

    return err != OK || seq >= floor_seq
               ? err
               : fault_say(ctx->fault, ERR_PRECONDITION,
                           "as_of: event %" PRIu64 " is below the floor of retention; expected "
                           "event %" PRIu64 " or a later one, since the content of %s until then "
                           "was removed",
                           seq, floor_seq, noun);
}

/* Target of a read of the past. */
struct search {
    enum content_class class;
    bool has_floor; /* now: retention has removed content of the class */
};

/* Adds a removal; `ret_is_last`: none before it matters, since it has set the floor of that time, or since there was none. */
static enum err add(const struct event *event, const struct search *search,
                    struct removal_past *past, bool *ret_is_last)
{
    struct content_swept_view swept = {.floor_seq = 0};
    struct content_erased_view erased = {.example_count = 0};
    bool is_swept = event->kind == EVENT_CONTENT_SWEPT;
    bool is_erased = event->kind == EVENT_CONTENT_ERASED;
    enum err err = OK;

    *ret_is_last = false;
    if (is_swept) {
        err = content_swept_view_read(event->facts, &swept);
    } else if (is_erased) {
        err = content_erased_view_read(event->facts, &erased);
    }
    if (err == OK && event->seq > past->seq) {
        past->example_count += swept.example_count + erased.example_count;
    } else if (err == OK && !search->has_floor) {
        *ret_is_last = is_swept || is_erased;
    } else if (err == OK && is_swept && swept.content_class == search->class) {
        past->floor_seq = swept.floor_seq;
        *ret_is_last = true;
    }
    return err;
}

/* Adds the removals, from the last one. */
static enum err add_removals(struct store_txn *txn, struct org_id org, const struct search *search,
                             struct removal_past *past)
{
    struct scan_range range = {
        .table = TABLE_SUBJECT, .order = STORE_ASCENDING, .rows_max = REMOVAL_PAST_ROWS_MAX};
    char id[UUID_TEXT_BYTES];
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    bool is_last = false;
    enum err err = OK;

    uuid_format(org.uuid, id);
    range.prefix = key_subject_prefix(org, SUBJECT_ORGANIZATION, slice_of(id, sizeof(id)));
    err = scan_init(&scan, txn, &range);
    while (err == OK && !is_last) {
        int64_t created_at_us = 0;
        uint64_t event_seq = 0;
        struct event event;

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &created_at_us, &event_seq);
        }
        if (err == OK) {
            err = log_read(txn, org, event_seq, &event);
            err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        if (err == OK) {
            err = add(&event, search, past, &is_last);
        }
    }
    past->example_count += scan.is_cut ? 1 : 0;
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err removal_past_read(struct store_txn *txn, struct org_id org, enum content_class class,
                           uint64_t seq, struct removal_past *ret_past)
{
    struct search search = {.class = class};
    uint64_t floor_seq = 0;
    bool has_erased = false;
    enum err err = removal_floor(txn, org, class, &floor_seq);

    *ret_past = (struct removal_past){.seq = seq};
    if (err == OK) {
        err = removal_has_erased(txn, org, &has_erased);
    }
    search.has_floor = floor_seq != 0;
    return err != OK || (!search.has_floor && !has_erased)
               ? err
               : add_removals(txn, org, &search, ret_past);
}

enum err removal_is_later(struct store_txn *txn, const struct event *event,
                          const struct removal_past *past, bool *ret_is_later)
{
    uint64_t erased_by_seq = 0;
    enum err err = removal_erased_by(txn, event->org, event->seq, &erased_by_seq);

    *ret_is_later = erased_by_seq != 0 ? erased_by_seq > past->seq : event->seq > past->floor_seq;
    return err;
}
