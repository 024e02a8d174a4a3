/*
 * put_item.c: ReviewService/PutItem.
 */
#include "server/domain/reviews/items.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/service.h"
#include "store/base/wire.h"

#include <errata/v1/review_service.fields.h>
#include <errata/v1/review_service.handlers.h>

enum err review_service_put_item_write(struct review_service_put_item_call *call)
{
    const Errata__V1__RunItem *item = call->request->item;
    const struct run_item_request request = {
        .org = call->org,
        .caller = caller_of(call->service),
        .actor_user_id = slice_text(item->actor_user_id),
        .run_id = slice_text(item->run_id),
        .item_id = slice_text(item->item_id),
        .time = time_given(item->created_at),
        .item_json = slice_text(item->item_json),
    };
    enum err err = run_item_put(call->ctx, call->txn, &request, &call->result->first_seq);

    if (err == OK) {
        call->result->count = 1;
    }
    return err;
}

enum err review_service_put_item_answer(struct review_service_put_item_call *call)
{
    struct event event;
    enum err err = log_read(call->txn, call->result->org, call->result->first_seq, &event);

    if (err == OK && event.kind != EVENT_RUN_ITEM_PUT) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    wire_put_header(call->body, PUT_ITEM_RESPONSE_ITEM_FIELD,
                    event.facts.size + event.content.size);
    buffer_append(call->body, event.facts);
    buffer_append(call->body, event.content);
    return OK;
}
