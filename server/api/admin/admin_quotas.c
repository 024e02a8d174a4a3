/*
 * admin_quotas.c: AdminService's SetQuota and ListQuotas: the limits of organisations and tokens,
 * and what is in use of them.
 */
#include "server/api/admin/admin_wire.h"
#include "server/auth/quota_book.h"
#include "server/pipeline/caller.h"
#include "store/base/assert.h"
#include "store/base/wire.h"

#include <errata/v1/admin_service.fields.h>
#include <errata/v1/admin_service.handlers.h>
#include <errata/v1/admin_service.views.h>

static struct quota_view change_of(const Errata__V1__Quota *quota)
{
    return (struct quota_view){
        .requests_per_second = quota->requests_per_second,
        .has_requests_per_second = quota->_requests_per_second_case != 0,
        .request_burst = quota->request_burst,
        .has_request_burst = quota->_request_burst_case != 0,
        .concurrent_streams = quota->concurrent_streams,
        .has_concurrent_streams = quota->_concurrent_streams_case != 0,
        .stored_bytes = quota->stored_bytes,
        .has_stored_bytes = quota->_stored_bytes_case != 0,
        .pdf_jobs = quota->pdf_jobs,
        .has_pdf_jobs = quota->_pdf_jobs_case != 0,
    };
}

/* Returns whose quota a request names. */
static enum err find_holder(struct admin_service_set_quota_call *call,
                            struct quota_holder *ret_holder)
{
    struct slice key_id = slice_text(call->request->key_id);
    struct quota_holder holder = {.is_token = key_id.size > 0};
    enum err err = caller_resolve_org(call->service, call->txn, call->request->org_id, &holder.org);

    if (err != OK) {
        return err;
    }
    if (UNEXPECTED(holder.is_token && !admin_parse_key_id(key_id, &holder.key_id))) {
        return ERR_INTERNAL; /* check_request has refused such a request */
    }
    if (!holder.is_token && !call->service->principal->server) {
        return fault_say(call->ctx->fault, ERR_DENIED,
                         "key_id: empty, and the token has no server flag; expected the key id of "
                         "a token, since only a token with that flag sets an organisation's quota");
    }
    *ret_holder = holder;
    return OK;
}

enum err admin_service_set_quota_write(struct admin_service_set_quota_call *call)
{
    const struct admin_actor actor = admin_wire_actor(call->service);
    const struct quota_view change = change_of(call->request->quota);
    struct quota_holder holder;
    enum err err = find_holder(call, &holder);

    if (err == OK && actor.user_id.size == 0) {
        err = ERR_MEMORY;
    }
    return err != OK ? err
                     : quota_set(call->ctx, call->txn, &actor, &holder, &change, call->result);
}

enum err admin_service_set_quota_answer(struct admin_service_set_quota_call *call)
{
    struct slice quota = {NULL, 0};
    struct event event;
    enum err err = OK;

    if (call->result->first_seq != 0) { /* 0: there was no limit, and none was set */
        err = log_read(call->txn, call->result->org, call->result->first_seq, &event);
        err = err == OK ? quota_after_event(&event, &quota) : err;
    }
    if (err == OK) {
        wire_put_bytes(call->body, SET_QUOTA_RESPONSE_QUOTA_FIELD, quota);
    }
    return err;
}

/* Appends a quota, with what its holder has in use. */
static enum err put_usage(struct admin_service_list_quotas_call *call,
                          const struct quota_holder *holder, const struct quota_record *quota)
{
    int64_t now_us = clock_monotonic_us(call->ctx->clock);
    struct quota_in_use in_use = quota_book_usage(call->service->quotas, holder, quota, now_us);
    const struct quota_view limits = quota_view_of(quota);
    char key_id[ADMIN_KEY_ID_TEXT_BYTES];
    struct log_head head = {0};
    struct quota_usage_view view = {
        .key_id = slice_of(key_id, holder->is_token ? sizeof(key_id) : 0),
        .has_quota = true,
        .requests_available = in_use.requests_available,
        .has_requests_available = quota->requests_per_second != 0,
        .concurrent_streams = in_use.streams,
        .has_stored_bytes = !holder->is_token,
        .pdf_jobs = in_use.pdf_jobs,
    };
    enum err err = holder->is_token ? OK : log_read_head(call->txn, holder->org, &head);

    if (err == OK && !view_encode(&quota_view_type, &limits, call->ctx->arena, &view.quota)) {
        err = ERR_MEMORY;
    }
    if (err != OK) {
        return err;
    }
    view.stored_bytes = head.stored_bytes;
    admin_format_key_id(holder->key_id, key_id);
    quota_usage_view_put(&view, LIST_QUOTAS_RESPONSE_QUOTAS_FIELD, call->body);
    return OK;
}

enum err admin_service_list_quotas_read(struct admin_service_list_quotas_call *call)
{
    struct quota_holder holder;
    struct quota_record quota;
    struct quota_list list;
    struct org_id org;
    enum err err = caller_resolve_org(call->service, call->txn, call->request->org_id, &org);

    if (err != OK) {
        return err; /* NOT_FOUND has another meaning below */
    }
    err = quota_list_begin(call->txn, org, call->page, &list);
    while (err == OK) {
        err = quota_list_next(call->txn, &list, &holder, &quota);
        if (err == OK) {
            err = put_usage(call, &holder, &quota);
        }
    }
    return err == ERR_NOT_FOUND ? OK : err;
}
