/*
 * admin_list.c: AdminService's lists: organisations by id, tokens by key id.
 */
#include "server/api/admin/admin_wire.h"
#include "server/auth/auth.h"
#include "server/domain/admin/keys.h"
#include "server/domain/admin/records.h"
#include "server/pipeline/page_token.h"
#include "server/pipeline/service.h"

#include <errata/v1/admin_service.handlers.h>

/* A page under way: the rows that follow a position. */
struct page {
    const struct service *service;
    struct sha256_digest filter;
    size_t size; /* most items */
    struct slice after; /* of the last item of the page before */
    struct key last; /* of the last item; empty if no page follows */
};

/* Reads the page token; its position is the key of the last item of the page before. */
static enum err page_start(struct page *page, const struct service *service,
                           const ProtobufCMessage *filter, int32_t page_size,
                           const char *page_token)
{
    page->service = service;
    page->size = page_size_of(page_size);
    page->last.size = 0;
    return page_token_begin(service, filter, page_token, &page->filter, &page->after);
}

/* Begins the page of a table's rows. */
static enum err page_open(const struct page *page, struct store_txn *txn, enum store_table table,
                          const struct key *prefix, struct page_walk *walk)
{
    const struct page_request request = {
        .table = table,
        .prefix = *prefix,
        .after = page->after,
        .page_size = (uint32_t)page->size,
    };

    return page_walk_init(walk, txn, &request, NULL);
}

/* Ends it; `err` is the walk's. */
static enum err page_close(struct page *page, struct page_walk *walk, enum err err)
{
    page_walk_deinit(walk);
    if (walk->more) {
        page->last = walk->last;
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* The text of next_page_token. */
static enum err page_end(const struct page *page, char **ret_token)
{
    struct slice text;
    enum err err = OK;

    if (page->last.size == 0) {
        return OK;
    }
    err = page_token_write(page->service, &page->filter, key_slice(&page->last), &text);
    if (err == OK) {
        *ret_token = (char *)(uintptr_t)text.data;
    }
    return err;
}

static enum err list_all(struct page *page, struct store_txn *txn,
                         Errata__V1__ListOrganizationsResponse *response)
{
    struct arena *arena = page->service->ctx->arena;
    struct key prefix = key_global_prefix();
    struct page_walk walk;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_open(page, txn, TABLE_ORGANIZATION, &prefix, &walk);

    while (err == OK) {
        struct organization_record record;

        err = page_walk_next(&walk, &key, &value);
        if (err == OK) {
            err = record_decode_organization(value, &record);
        }
        if (err == OK) {
            err = admin_wire_organization(arena, &record,
                                          &response->organizations[response->n_organizations]);
        }
        response->n_organizations += err == OK;
    }
    return page_close(page, &walk, err);
}

static enum err list_own(const struct service *service, struct store_txn *txn,
                         Errata__V1__ListOrganizationsResponse *response)
{
    struct organization_record record;
    enum err err = admin_read_organization(txn, service->principal->org.uuid, &record);

    if (err == OK) {
        err = admin_wire_organization(service->ctx->arena, &record, &response->organizations[0]);
    }
    if (err == OK) {
        response->n_organizations = 1;
    }
    return err;
}

enum err admin_service_list_organizations_read(struct admin_service_list_organizations_call *call)
{
    Errata__V1__ListOrganizationsResponse response = ERRATA__V1__LIST_ORGANIZATIONS_RESPONSE__INIT;
    struct page page;
    enum err err = page_start(&page, call->service, &call->request->base, call->request->page_size,
                              call->request->page_token);

    if (err != OK) {
        return err;
    }
    response.organizations = (Errata__V1__Organization **)arena_calloc(
        call->ctx->arena, page.size, sizeof(Errata__V1__Organization *));
    if (response.organizations == NULL) {
        return ERR_MEMORY;
    }
    err = call->service->principal->server ? list_all(&page, call->txn, &response)
                                           : list_own(call->service, call->txn, &response);
    if (err == OK) {
        err = page_end(&page, &response.next_page_token);
    }
    return err != OK ? err : reply_message(call->body, &response.base);
}

/* The token behind one row of TOKEN_BY_ORG, whose key ends in its key id. */
static enum err read_token_row(struct arena *arena, struct store_txn *txn, struct slice key,
                               Errata__V1__Token **ret_token)
{
    struct token_record record;
    uint32_t key_id = 0;
    enum err err = key_read_token(key, &key_id);

    if (err == OK) {
        err = admin_read_token(txn, key_id, &record);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return admin_wire_token(arena, key_id, &record, ret_token);
}

static enum err list_tokens(struct page *page, struct store_txn *txn, struct org_id org,
                            Errata__V1__ListTokensResponse *response)
{
    struct arena *arena = page->service->ctx->arena;
    struct key prefix = key_org(org);
    struct page_walk walk;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_open(page, txn, TABLE_TOKEN_BY_ORG, &prefix, &walk);

    while (err == OK) {
        err = page_walk_next(&walk, &key, &value);
        if (err == OK) {
            err = read_token_row(arena, txn, key, &response->tokens[response->n_tokens]);
        }
        response->n_tokens += err == OK;
    }
    return page_close(page, &walk, err);
}

enum err admin_service_list_tokens_read(struct admin_service_list_tokens_call *call)
{
    Errata__V1__ListTokensResponse response = ERRATA__V1__LIST_TOKENS_RESPONSE__INIT;
    Errata__V1__ListTokensRequest filter = ERRATA__V1__LIST_TOKENS_REQUEST__INIT;
    char org_text[UUID_TEXT_BYTES + 1] = "";
    struct page page;
    struct org_id org;
    enum err err =
        auth_resolve_org(call->ctx, call->txn, call->org, call->service->principal->server,
                         slice_text(call->request->org_id), &org);

    if (err != OK) {
        return err;
    }
    uuid_format(org.uuid, org_text);
    filter.org_id = org_text;
    err = page_start(&page, call->service, &filter.base, call->request->page_size,
                     call->request->page_token);
    if (err != OK) {
        return err;
    }
    response.tokens = (Errata__V1__Token **)arena_calloc(call->ctx->arena, page.size,
                                                         sizeof(Errata__V1__Token *));
    if (response.tokens == NULL) {
        return ERR_MEMORY;
    }
    err = list_tokens(&page, call->txn, org, &response);
    if (err == OK) {
        err = page_end(&page, &response.next_page_token);
    }
    return err != OK ? err : reply_message(call->body, &response.base);
}
