/*
 * quotas.c: see quotas.h. A change reads the present limits, applies the change, and appends both
 * complete: so the response, the row and the history all follow from the event. A change to equal limits has the
 * response of the event that set them.
 */
#include "server/domain/quotas/quotas.h"

#include "server/domain/events/draft.h"
#include "server/domain/quotas/keys.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Newest events of a holder among which the one that set its limits is searched: after that, it has only few. */
#define EVENTS_SEARCHED_MAX 64

static struct key key_of(const struct quota_holder *holder)
{
    return holder->is_token ? key_quota_of_token(holder->org, holder->key_id)
                            : key_quota_of_org(holder->org);
}

enum err quota_read(struct store_txn *txn, const struct quota_holder *holder,
                    struct quota_record *ret_quota)
{
    struct key key = key_of(holder);
    struct slice bytes = {NULL, 0};
    enum err err = store_get(txn, TABLE_QUOTA, key_slice(&key), &bytes);

    if (err == ERR_NOT_FOUND) {
        *ret_quota = (struct quota_record){0};
        return OK;
    }
    return err != OK ? err : record_decode_quota(bytes, ret_quota);
}

enum err quota_check_stored_bytes(struct store_txn *txn, struct org_id org,
                                  uint64_t stored_bytes_max)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);

    return err == OK && stored_bytes_max != 0 && head.stored_bytes >= stored_bytes_max ? ERR_QUOTA
                                                                                       : err;
}

struct quota_view quota_view_of(const struct quota_record *quota)
{
    return (struct quota_view){
        .requests_per_second = quota->requests_per_second,
        .has_requests_per_second = quota->requests_per_second != 0,
        .request_burst = quota->request_burst,
        .has_request_burst = quota->request_burst != 0,
        .concurrent_streams = quota->concurrent_streams,
        .has_concurrent_streams = quota->concurrent_streams != 0,
        .stored_bytes = quota->stored_bytes,
        .has_stored_bytes = quota->stored_bytes != 0,
        .pdf_jobs = quota->pdf_jobs,
        .has_pdf_jobs = quota->pdf_jobs != 0,
    };
}

static struct quota_record record_of(const struct quota_view *view)
{
    return (struct quota_record){
        .requests_per_second = view->requests_per_second,
        .request_burst = view->request_burst,
        .concurrent_streams = view->concurrent_streams,
        .pdf_jobs = view->pdf_jobs,
        .stored_bytes = view->stored_bytes,
    };
}

/* Returns the limits after a change. */
static struct quota_record changed(const struct quota_record *before,
                                   const struct quota_view *change)
{
    struct quota_record after = *before;

    if (change->has_requests_per_second) {
        after.requests_per_second = change->requests_per_second;
    }
    if (change->has_request_burst) {
        after.request_burst = change->request_burst;
    }
    if (change->has_concurrent_streams) {
        after.concurrent_streams = change->concurrent_streams;
    }
    if (change->has_stored_bytes) {
        after.stored_bytes = change->stored_bytes;
    }
    if (change->has_pdf_jobs) {
        after.pdf_jobs = change->pdf_jobs;
    }
    return after;
}

static enum err check_change(struct fault *fault, const struct quota_holder *holder,
                             const struct quota_view *change)
{
    if (!change->has_requests_per_second && !change->has_request_burst &&
        !change->has_concurrent_streams && !change->has_stored_bytes && !change->has_pdf_jobs) {
        fault_add(fault, SLICE("quota"),
                  "empty; expected at least one of requests_per_second, request_burst, "
                  "concurrent_streams, stored_bytes and pdf_jobs");
    }
    if (holder->is_token && change->has_stored_bytes) {
        fault_add(fault, SLICE("quota.stored_bytes"),
                  "given for a token; expected no value, since only organisations store bytes");
    }
    return fault_result(fault);
}

/* Encodes the facts: a QuotaSet. `key_id` is the text of a token's key id. */
static enum err encode_facts(struct arena *arena, struct slice key_id,
                             const struct quota_record *before, const struct quota_record *after,
                             struct slice *ret_facts)
{
    struct quota_view before_view = quota_view_of(before);
    struct quota_view after_view = quota_view_of(after);
    struct quota_set_view facts = {.key_id = key_id, .has_before = true, .has_after = true};

    return view_encode(&quota_view_type, &before_view, arena, &facts.before) &&
                   view_encode(&quota_view_type, &after_view, arena, &facts.after) &&
                   view_encode(&quota_set_view_type, &facts, arena, ret_facts)
               ? OK
               : ERR_MEMORY;
}

/* Appends the event of a change and applies it. */
static enum err append(struct ctx *ctx, struct store_txn *txn, const struct admin_actor *actor,
                       const struct quota_holder *holder, const struct quota_record quotas[2],
                       uint64_t *ret_seq)
{
    const struct event_time now = {.is_given = false};
    char key_id_text[ADMIN_KEY_ID_TEXT_BYTES];
    struct slice key_id = slice_of(key_id_text, holder->is_token ? sizeof(key_id_text) : 0);
    struct event_draft draft = {
        .org = holder->org,
        .kind = EVENT_QUOTA_SET,
        .annotator = actor->annotator,
        .actor_user_id = actor->user_id,
    };
    enum err err = event_draft_stamp(ctx, txn, &now, &draft);

    admin_format_key_id(holder->key_id, key_id_text);
    if (err == OK) {
        err = encode_facts(ctx->arena, key_id, &quotas[0], &quotas[1], &draft.facts);
    }
    if (err == OK && !holder->is_token) {
        err = event_draft_add_id(ctx->arena, &draft, SUBJECT_ORGANIZATION, holder->org.uuid);
    }
    event_draft_add_subject(&draft, SUBJECT_TOKEN, key_id);
    return err != OK ? err : event_draft_append(ctx, txn, &draft, quotas_apply, ret_seq);
}

static bool is_equal(const struct quota_record *a, const struct quota_record *b)
{
    return a->requests_per_second == b->requests_per_second &&
           a->request_burst == b->request_burst && a->concurrent_streams == b->concurrent_streams &&
           a->pdf_jobs == b->pdf_jobs && a->stored_bytes == b->stored_bytes;
}

/* Returns whether an event left its holder with these limits. */
static enum err has_set(struct store_txn *txn, struct org_id org, uint64_t seq,
                        const struct quota_record *quota, bool *ret_has)
{
    struct slice bytes = {NULL, 0};
    struct quota_view view;
    struct quota_record after;
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    *ret_has = false;
    if (err != OK || event.kind != EVENT_QUOTA_SET) {
        return err;
    }
    err = quota_after_event(&event, &bytes);
    if (err == OK) {
        err = quota_view_read(bytes, &view);
    }
    if (err == OK) {
        after = record_of(&view);
        *ret_has = is_equal(&after, quota);
    }
    return err;
}

/* Finds an event that left a holder with these limits among its newest ones; 0: none did. */
static enum err find_set(struct store_txn *txn, const struct quota_holder *holder,
                         const struct quota_record *quota, uint64_t *ret_seq)
{
    char text[UUID_TEXT_BYTES];
    struct slice id = slice_of(text, holder->is_token ? ADMIN_KEY_ID_TEXT_BYTES : sizeof(text));
    uint8_t kind = holder->is_token ? SUBJECT_TOKEN : SUBJECT_ORGANIZATION;
    struct scan_range range = {.table = TABLE_SUBJECT, .rows_max = EVENTS_SEARCHED_MAX};
    struct scan scan = {.row_count = 0};
    bool has = false;
    uint64_t seq = 0;
    enum err err = OK;

    if (holder->is_token) {
        admin_format_key_id(holder->key_id, text);
    } else {
        uuid_format(holder->org.uuid, text);
    }
    range.prefix = key_subject_prefix(holder->org, kind, id);
    err = scan_init(&scan, txn, &range);
    while (err == OK && !has) {
        struct slice key = {NULL, 0};
        struct slice value = {NULL, 0};
        int64_t created_at_us = 0;

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = key_read_newest_first(key, &created_at_us, &seq);
        }
        if (err == OK) {
            err = has_set(txn, holder->org, seq, quota, &has);
        }
    }
    scan_deinit(&scan);
    *ret_seq = has ? seq : 0;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err quota_set(struct ctx *ctx, struct store_txn *txn, const struct admin_actor *actor,
                   const struct quota_holder *holder, const struct quota_view *change,
                   struct work_result *ret_result)
{
    struct quota_record quotas[2];
    struct token_record token;
    uint64_t seq = 0;
    enum err err = check_change(ctx->fault, holder, change);

    if (err == OK && holder->is_token) {
        err = admin_find_token(ctx, txn, holder->org, holder->key_id, &token);
    }
    if (err == OK) {
        err = quota_read(txn, holder, &quotas[0]);
    }
    if (err != OK) {
        return err;
    }
    quotas[1] = changed(&quotas[0], change);
    if (is_equal(&quotas[0], &quotas[1])) {
        err = find_set(txn, holder, &quotas[0], &seq);
        if (err != OK) {
            return err;
        }
        if (seq != 0 || !quota_record_is_set(&quotas[0])) {
            *ret_result = (struct work_result){.org = holder->org, .first_seq = seq};
            return OK;
        }
    }
    err = append(ctx, txn, actor, holder, quotas, &seq);
    if (err == OK) {
        *ret_result = (struct work_result){.org = holder->org, .first_seq = seq, .count = 1};
    }
    return err;
}

enum err quota_inherit(struct ctx *ctx, struct store_txn *txn, const struct admin_actor *actor,
                       struct org_id org, const uint32_t key_ids[2], struct work_result *result)
{
    const struct quota_holder old = {.org = org, .is_token = true, .key_id = key_ids[0]};
    const struct quota_holder new = {.org = org, .is_token = true, .key_id = key_ids[1]};
    struct quota_record quotas[2] = {{0}};
    uint64_t seq = 0;
    enum err err = quota_read(txn, &old, &quotas[1]);

    if (err != OK || !quota_record_is_set(&quotas[1])) {
        return err;
    }
    err = append(ctx, txn, actor, &new, quotas, &seq);
    if (err == OK) {
        result->count++;
    }
    return err;
}

/* Reads the facts of an event, and whose quota it set. */
static enum err read_facts(const struct event *event, struct quota_set_view *ret_facts,
                           struct quota_holder *ret_holder)
{
    struct quota_holder holder = {.org = event->org};
    enum err err = quota_set_view_read(event->facts, ret_facts);

    if (err != OK) {
        return err;
    }
    holder.is_token = ret_facts->key_id.size > 0;
    if (holder.is_token && !admin_parse_key_id(ret_facts->key_id, &holder.key_id)) {
        return ERR_CORRUPT;
    }
    *ret_holder = holder;
    return OK;
}

enum err quota_after_event(const struct event *event, struct slice *ret_quota)
{
    struct quota_set_view facts;
    struct quota_holder holder;
    enum err err =
        event->kind == EVENT_QUOTA_SET ? read_facts(event, &facts, &holder) : ERR_CORRUPT;

    if (err == OK) {
        *ret_quota = facts.after;
    }
    return err;
}

enum err quotas_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct quota_set_view facts;
    struct quota_holder holder;
    struct quota_view after;
    struct quota_record record;
    struct slice bytes = {NULL, 0};
    struct key key;
    enum err err = read_facts(event, &facts, &holder);

    ASSERT(quotas_applies(event->kind));
    if (err == OK) {
        err = quota_view_read(facts.after, &after);
    }
    if (err != OK) {
        return err;
    }
    key = key_of(&holder);
    record = record_of(&after);
    if (!quota_record_is_set(&record)) {
        return store_del_if_present(txn, TABLE_QUOTA, key_slice(&key));
    }
    err = record_encode_quota(ctx->arena, &record, &bytes);
    return err != OK ? err : store_put(txn, TABLE_QUOTA, key_slice(&key), bytes);
}

enum err quota_list_begin(struct store_txn *txn, struct org_id org, struct page *page,
                          struct quota_list *ret_list)
{
    struct scan_range range = {
        .table = TABLE_QUOTA, .prefix = key_quota_of_tokens(org), .order = STORE_ASCENDING};

    *ret_list = (struct quota_list){.org = org, .page = page, .first = key_quota_of_org(org)};
    if (!slice_equal(page->after, key_slice(&ret_list->first))) {
        range.after = page->after;
    }
    return page_open(page, txn, &range);
}

enum err quota_list_next(struct store_txn *txn, struct quota_list *list,
                         struct quota_holder *ret_holder, struct quota_record *ret_quota)
{
    struct quota_holder holder = {.org = list->org};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = OK;

    if (list->page->after.size == 0 && list->page->row_count == 0) {
        if (!page_look(list->page) || !page_begin(list->page, key_slice(&list->first))) {
            return ERR_NOT_FOUND;
        }
        *ret_holder = holder;
        return quota_read(txn, &holder, ret_quota);
    }
    err = page_next(list->page, &key, &value);
    if (err != OK) {
        return err;
    }
    holder.is_token = true;
    err = key_read_quota_token(key, &holder.key_id);
    if (err == OK) {
        err = record_decode_quota(value, ret_quota);
    }
    *ret_holder = holder;
    return err;
}
