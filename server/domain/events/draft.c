/*
 * draft.c: see draft.h.
 */
#include "server/domain/events/draft.h"

#include "store/base/assert.h"

void event_time_check(struct ctx *ctx, const struct event_time *time, struct slice path,
                      int64_t now_us)
{
    struct slice field = {NULL, 0};
    bool is_early = time->is_given && time->created_at_us < 0;
    bool is_late = time->is_given && time->created_at_us > now_us;

    if (!is_early && !is_late) {
        return;
    }
    field = arena_printf(ctx->arena, "%.*s%screated_at", (int)path.size, (const char *)path.data,
                         path.size > 0 ? "." : "");
    fault_add(ctx->fault, field, "%s",
              is_early ? "before 1970; expected a time from 1970 to now"
                       : "in the future; expected a time from 1970 to now");
}

enum err event_time_check_now(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              const struct event_time *time, struct slice path)
{
    struct log_stamp stamp = {0};
    enum err err = log_next_stamp(ctx, txn, org, &stamp);

    if (err == OK) {
        event_time_check(ctx, time, path, stamp.created_at_us);
    }
    return err;
}

enum err event_draft_stamp(struct ctx *ctx, struct store_txn *txn, const struct event_time *time,
                           struct event_draft *draft)
{
    enum err err = draft->stamp.seq != 0 ? OK : log_next_stamp(ctx, txn, draft->org, &draft->stamp);

    if (err == OK) {
        draft->source = event_time_source(time);
        draft->created_at_us = time->is_given ? time->created_at_us : draft->stamp.created_at_us;
    }
    return err;
}

void event_draft_add_subject(struct event_draft *draft, enum subject_kind kind, struct slice id)
{
    if (id.size == 0) {
        return;
    }
    ASSERT(draft->subject_count < EVENT_SUBJECTS_MAX);
    draft->subjects[draft->subject_count] = (struct event_subject){(uint8_t)kind, id};
    draft->subject_count++;
}

enum err event_draft_add_id(struct arena *arena, struct event_draft *draft, enum subject_kind kind,
                            struct uuid id)
{
    char text[UUID_TEXT_BYTES];
    struct slice copy = {NULL, 0};

    uuid_format(id, text);
    if (!arena_copy(arena, slice_of(text, sizeof(text)), &copy)) {
        return ERR_MEMORY;
    }
    event_draft_add_subject(draft, kind, copy);
    return OK;
}

enum err event_draft_append(struct ctx *ctx, struct store_txn *txn, const struct event_draft *draft,
                            event_apply_fn *apply, uint64_t *ret_seq)
{
    struct event event = {0};
    enum err err = log_append(ctx, txn, draft, &event);

    if (err == OK) {
        err = apply(ctx, txn, &event);
    }
    if (err == OK) {
        *ret_seq = event.seq;
    }
    return err;
}
