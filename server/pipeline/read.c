/*
 * read.c: the common parts of all reads around the method's own function: the point in time of
 * `as_of`, the page of a list and its token, and the redaction for a VIEWER. Generated tables have
 * the offsets of the fields in requests.
 */
#include "server/pipeline/page_token.h"
#include "server/pipeline/rpc.h"

#include "server/codec/redact.h"
#include "server/pipeline/caller.h"
#include "store/base/wire.h"

#define PAGE_SIZE_DEFAULT 50
/* Maximum page_size; larger values are reduced to it (AIP-158). A page also ends at
 * PAGE_BYTES_MAX. */
#define PAGE_SIZE_MAX 1000

/* Returns the member of a request at a generated offset. */
static const void *member(const void *request, size_t offset)
{
    return (const uint8_t *)request + offset;
}

/* Returns the maximum number of items of a page. The contract's rules refuse a negative
 * page_size. */
static uint32_t page_size_of(int32_t page_size)
{
    if (page_size <= 0) {
        return PAGE_SIZE_DEFAULT;
    }
    return page_size < PAGE_SIZE_MAX ? (uint32_t)page_size : PAGE_SIZE_MAX;
}

/* Clears the organisation of a request if it is the caller's own, since an empty one means the
 * same. */
static void clear_own_org(const struct rpc *rpc, const char **org_id)
{
    struct uuid uuid;

    if (uuid_parse(slice_text(*org_id), &uuid) && uuid_equal(uuid, rpc->principal.org.uuid)) {
        *org_id = protobuf_c_empty_string;
    }
}

/* Computes the digest of the request without its page_size and page_token, which differ from page to page. */
static enum err hash_filter(const struct rpc *rpc, const struct method_list *list,
                            struct sha256_digest *ret_filter)
{
    struct arena *arena = rpc->ctx.arena;
    const ProtobufCMessage *request = rpc->request;
    size_t struct_bytes = request->descriptor->sizeof_message;
    uint8_t *filter = arena_alloc(arena, struct_bytes);
    const ProtobufCMessage *message = (const ProtobufCMessage *)(const void *)filter;
    uint8_t *bytes = NULL;

    if (filter == NULL) {
        return ERR_MEMORY;
    }
    memcpy(filter, request, struct_bytes);
    *(int32_t *)(void *)(filter + list->page_size) = 0;
    *(const char **)(void *)(filter + list->page_token) = protobuf_c_empty_string;
    if (list->org_id != 0) {
        clear_own_org(rpc, (const char **)(void *)(filter + list->org_id));
    }
    bytes = arena_alloc(arena, protobuf_c_message_get_packed_size(message) + 1);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    *ret_filter = sha256(slice_of(bytes, protobuf_c_message_pack(message, bytes)));
    return OK;
}

static enum err begin_page(const struct rpc *rpc, struct buffer *body,
                           struct sha256_digest *ret_filter, struct page *page)
{
    const struct method_list *list = &rpc->handler->list;
    const int32_t *size = member(rpc->request, list->page_size);
    const char *const *token = member(rpc->request, list->page_token);
    struct slice after = {NULL, 0};
    enum err err = hash_filter(rpc, list, ret_filter);

    if (err == OK) {
        err = page_token_read(&rpc->service, ret_filter, slice_text(*token), &after);
    }
    page_init(page, page_size_of(*size), after, body);
    return err;
}

/* Appends the token of the next page, if there is one. */
static enum err end_page(const struct rpc *rpc, struct page *page,
                         const struct sha256_digest *filter)
{
    struct slice text = {NULL, 0};
    enum err err = OK;

    if (!page->more) {
        return OK;
    }
    err = page_token_write(&rpc->service, filter, key_slice(&page->last), &text);
    if (err != OK) {
        return err;
    }
    wire_put_bytes(page->body, rpc->handler->list.next_page_token, text);
    return buffer_ok(page->body) ? OK : ERR_MEMORY;
}

static enum err read_list(struct rpc *rpc, struct method_call *call)
{
    struct sha256_digest filter;
    struct page page;
    enum err err = begin_page(rpc, call->body, &filter, &page);

    if (err == OK) {
        call->page = &page;
        err = rpc->handler->read(call);
    }
    if (err == OK) {
        err = end_page(rpc, &page, &filter);
    }
    page_deinit(&page);
    return err;
}

/* Reads `as_of` of the request: a seq, or a time, for which the last event is looked up. */
static enum err find_as_of(const struct rpc *rpc, struct store_txn *txn, struct as_of *ret_as_of)
{
    const struct method_as_of *fields = &rpc->handler->as_of;
    const uint32_t *given = NULL;

    *ret_as_of = (struct as_of){.seq = UINT64_MAX};
    if (fields->seq_number == 0) {
        return OK;
    }
    given = member(rpc->request, fields->given);
    ret_as_of->is_given = *given != 0;
    if (*given == fields->seq_number) {
        ret_as_of->seq = *(const uint64_t *)member(rpc->request, fields->seq);
    } else if (*given == fields->time_number) {
        const Google__Protobuf__Timestamp *const *time = member(rpc->request, fields->time);

        return log_seq_at(txn, rpc->principal.org, timestamp_us(*time), &ret_as_of->seq);
    }
    return OK;
}

enum err rpc_read(struct rpc *rpc, struct store_txn *txn, struct buffer *body)
{
    struct method_call call = rpc_method_call(rpc, txn, body);
    size_t start = body->size;
    enum err err = find_as_of(rpc, txn, &call.as_of);

    if (err == OK) {
        err = rpc->handler->list.next_page_token != 0 ? read_list(rpc, &call)
                                                      : rpc->handler->read(&call);
    }
    if (err == OK && !buffer_ok(body)) {
        err = ERR_MEMORY;
    }
    return err != OK ? err : rpc_redact(rpc, body, start);
}

enum err rpc_find_cost(struct rpc *rpc, struct store_txn *txn, enum read_cost *ret_cost)
{
    struct method_call call = rpc_method_call(rpc, txn, NULL);
    enum err err = OK;

    if (rpc->method->execution == METHOD_BY_COST) {
        err = find_as_of(rpc, txn, &call.as_of);
        if (err == OK) {
            err = rpc->handler->cost(&call);
        }
    }
    if (err == OK && call.cost == READ_IS_SHORT) {
        rpc->prepared = call.prepared;
    }
    *ret_cost = call.cost;
    return err;
}

enum err rpc_redact(const struct rpc *rpc, struct buffer *body, size_t start)
{
    if (rpc->method->open || rpc->principal.role != ROLE_VIEWER) {
        return OK;
    }
    return redact_content(rpc->method->reply, body, start);
}
