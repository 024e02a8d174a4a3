/*
 * sim_reviews.c: requests about reviews of runs, and their allowed results. Reviews share few subcategories, and runs
 * have several reviews.
 */
#include "tests/sim/sim_crowd.h"

#include <errata/v1/review_service.pb-c.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SUBCATEGORIES 3
#define RUNS 12
#define DECISIONS 3
#define PAGE_SIZE 1000

static struct sim *sim_of(const struct sim_member *member)
{
    return member->caller.sim;
}

static void wrong(const struct sim_call *call, const char *what)
{
    sim_fail(sim_of(call->member), "call %" PRIu64 " (%.*s of caller %u): %s", call->number,
             (int)call->method->name.size, (const char *)call->method->name.data,
             call->member->caller.number, what);
}

/* Names carry the organisation's canary; the mark of the write is the item. */
static void submit(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_REVIEW);
    Errata__V1__SubmitReviewRequest request = ERRATA__V1__SUBMIT_REVIEW_REQUEST__INIT;
    Errata__V1__Review one = ERRATA__V1__REVIEW__INIT;
    char letter = (char)('a' + member->caller.org);
    char mark[24] = "";
    char run[24] = "";
    char subcategory[24] = "";
    char *missing[] = {subcategory};

    sim_write_mark(write, 0, mark);
    (void)snprintf(run, sizeof(run), "CN%cRY-run-%u", letter, (unsigned)sim_draw(sim, RUNS));
    (void)snprintf(subcategory, sizeof(subcategory), "CN%cRY-%u", letter,
                   (unsigned)sim_draw(sim, SUBCATEGORIES));
    one.run_id = run;
    one.subcategory = subcategory;
    one._item_id_case = ERRATA__V1__REVIEW___ITEM_ID_ITEM_ID;
    one.item_id = mark;
    one.decision =
        (Errata__V1__ReviewDecision)(ERRATA__V1__REVIEW_DECISION__REVIEW_DECISION_REVIEWED +
                                     sim_draw(sim, DECISIONS));
    one.missing_spec = missing;
    one.n_missing_spec = (size_t)sim_draw(sim, 2);
    request.review = &one;
    sim_send_new_write(sim, write, &request.base);
}

static void list_reviews(struct sim_member *member)
{
    Errata__V1__ListReviewsRequest request = ERRATA__V1__LIST_REVIEWS_REQUEST__INIT;
    struct sim_call *call = sim_new_call(member, SIM_LIST_REVIEWS);

    call->least = sim_of(member)->model->orgs[member->caller.org].acknowledged_reviews;
    request.page_size = PAGE_SIZE;
    sim_call_start(call, &request.base);
}

bool sim_request_reviews(struct sim_member *member, enum sim_op op)
{
    if (op == SIM_REVIEW) {
        submit(member);
    } else {
        list_reviews(member);
    }
    return true;
}

/* Newest first, and none of those that were acknowledged is left out. */
void sim_judge_reviews(struct sim_call *call, struct slice reply)
{
    Errata__V1__ListReviewsResponse *page =
        errata__v1__list_reviews_response__unpack(NULL, reply.size, reply.data);

    if (page == NULL || (page->next_page_token[0] == '\0' && page->n_reviews < call->least)) {
        wrong(call, "fewer reviews than were acknowledged");
    }
    for (size_t i = 1; page != NULL && i < page->n_reviews; i++) {
        const Google__Protobuf__Timestamp *before = page->reviews[i - 1]->created_at;
        const Google__Protobuf__Timestamp *after = page->reviews[i]->created_at;

        if (after->seconds > before->seconds ||
            (after->seconds == before->seconds && after->nanos > before->nanos)) {
            wrong(call, "a newer review after an older one");
        }
    }
    errata__v1__list_reviews_response__free_unpacked(page, NULL);
}

void sim_keep_review_id(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__SubmitReviewResponse *submitted =
        errata__v1__submit_review_response__unpack(NULL, answer.size, answer.data);

    if (submitted == NULL || submitted->review == NULL) {
        sim_fail(sim, "the answer to write %" PRIu64 " has no review", write->number);
    } else {
        (void)snprintf(write->ids[0], SIM_ID_BYTES, "%s", submitted->review->id);
    }
    errata__v1__submit_review_response__free_unpacked(submitted, NULL);
}
