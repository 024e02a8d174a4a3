/*
 * sim_judge.c: whether a caller may get the result that it got. Failures (no server, no time, no
 * room) are allowed while something is wrong; a wrong response never is.
 */
#include "store/base/assert.h"
#include "tests/sim/sim_crowd.h"

#include <errata/v1/admin_service.pb-c.h>
#include <errata/v1/event_service.pb-c.h>
#include <errata/v1/feedback_service.pb-c.h>
#include <errata/v1/layout_service.pb-c.h>
#include <errata/v1/prompt_service.pb-c.h>
#include <grpc/health/v1/health.pb-c.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* gRPC's codes, as far as they are judged. */
enum {
    CODE_OK = 0,
    CODE_CANCELLED = 1,
    CODE_INVALID_ARGUMENT = 3,
    CODE_DEADLINE_EXCEEDED = 4,
    CODE_NOT_FOUND = 5,
    CODE_ALREADY_EXISTS = 6,
    CODE_PERMISSION_DENIED = 7,
    CODE_RESOURCE_EXHAUSTED = 8,
    CODE_FAILED_PRECONDITION = 9,
    CODE_INTERNAL = 13,
    CODE_UNAVAILABLE = 14,
    CODE_UNAUTHENTICATED = 16
};

#define WRITE_TRIES_MAX 5

static struct sim *sim_of(const struct sim_call *call)
{
    return call->member->caller.sim;
}

static void wrong(const struct sim_call *call, const char *what)
{
    sim_fail(sim_of(call), "call %" PRIu64 " (%.*s of caller %u): %s", call->number,
             (int)call->method->name.size, (const char *)call->method->name.data,
             call->member->caller.number, what);
}

/* --- replies --- */

static void judge_watch(struct sim_call *call, struct slice reply)
{
    Errata__V1__WatchEventsResponse *message =
        errata__v1__watch_events_response__unpack(NULL, reply.size, reply.data);
    struct sim_member *member = call->member;

    if (message == NULL || message->event == NULL) {
        wrong(call, "a watch sent something that is not an event");
    } else if (message->event->seq != member->watch_next) {
        sim_fail(sim_of(call), "caller %u was shown event %" PRIu64 " in the place of %" PRIu64,
                 member->caller.number, message->event->seq, member->watch_next);
    } else {
        member->watch_next++;
        sim_of(call)->counts[SIM_WATCHED]++;
        sim_model_show(sim_of(call), member->caller.org, message->event->seq, message->event->id);
    }
    errata__v1__watch_events_response__free_unpacked(message, NULL);
}

void sim_judge_reply(struct sim_call *call, struct slice reply)
{
    if (call->op == SIM_WATCH) {
        judge_watch(call, reply);
    } else if (call->op != SIM_HEALTH_WATCH && call->replies > 1) {
        wrong(call, "more than one reply");
    }
}

static bool same_text(const char *one, const char *other)
{
    return strcmp(one, other) == 0;
}

/* The texts are those that were sent; viewers are shown none. */
static bool has_content(const struct sim_call *call, const Errata__V1__FeedbackEvent *read,
                        const Errata__V1__FeedbackEvent *sent)
{
    if (call->member->role == ROLE_VIEWER) {
        return read->before_json[0] == '\0' && read->after_json[0] == '\0' &&
               read->meta_json[0] == '\0';
    }
    return same_text(read->before_json, sent->before_json) &&
           same_text(read->meta_json, sent->meta_json) &&
           (read->reduced || same_text(read->after_json, sent->after_json));
}

/* A read event equals the reply of its write, and the data sent. */
static void judge_event(struct sim_call *call, struct slice reply)
{
    const struct sim_write *write = call->about;
    Errata__V1__GetFeedbackEventResponse *read =
        errata__v1__get_feedback_event_response__unpack(NULL, reply.size, reply.data);
    Errata__V1__CaptureFeedbackEventResponse *reported =
        errata__v1__capture_feedback_event_response__unpack(NULL, write->answer_bytes,
                                                            write->answer);
    Errata__V1__CaptureFeedbackEventRequest *sent =
        errata__v1__capture_feedback_event_request__unpack(NULL, write->request_bytes,
                                                           write->request);

    if (read == NULL || read->event == NULL || reported == NULL || sent == NULL) {
        wrong(call, "no event was answered");
    } else if (!same_text(read->event->id, reported->event->id) ||
               read->event->created_at->seconds != reported->event->created_at->seconds ||
               read->event->created_at->nanos != reported->event->created_at->nanos ||
               !same_text(read->event->draft_order_id, sent->event->draft_order_id) ||
               !has_content(call, read->event, sent->event)) {
        wrong(call, "an event is not what it was");
    }
    errata__v1__get_feedback_event_response__free_unpacked(read, NULL);
    errata__v1__capture_feedback_event_response__free_unpacked(reported, NULL);
    errata__v1__capture_feedback_event_request__free_unpacked(sent, NULL);
}

static void judge_examples(struct sim_call *call, struct slice reply)
{
    Errata__V1__GetExamplesResponse *read =
        errata__v1__get_examples_response__unpack(NULL, reply.size, reply.data);
    const struct sim_org *org = &sim_of(call)->model->orgs[call->member->caller.org];
    uint64_t left = org->acknowledged_by_layout[call->layout]; /* others were retracted since */
    uint64_t known = call->least < left ? call->least : left;
    uint64_t least = known < 3 ? known : 3;

    if (read == NULL || read->n_examples < least) {
        sim_fail(sim_of(call), "call %" PRIu64 ": %zu examples of a layout with %" PRIu64,
                 call->number, read == NULL ? 0 : read->n_examples, call->least);
    } else {
        sim_keep_reference(call, SIM_REFERENCE_EXAMPLES, read->exposure_ref);
    }
    errata__v1__get_examples_response__free_unpacked(read, NULL);
}

/* A page was read: the next one, or the end, after which everything must have been seen. */
static void page_done(struct sim_call *call, const char *next, uint64_t found)
{
    call->seen += found;
    if (next[0] != '\0' && call->pages < SIM_PAGES_MAX) {
        (void)snprintf(call->page_token, sizeof(call->page_token), "%s", next);
        sim_next_page(call);
    } else if (next[0] == '\0' && call->seen < call->least) {
        sim_fail(sim_of(call),
                 "call %" PRIu64 ": a list of %" PRIu64 " where %" PRIu64 " were stored",
                 call->number, call->seen, call->least);
    }
}

static void judge_feedback_page(struct sim_call *call, struct slice reply)
{
    Errata__V1__ListFeedbackEventsResponse *page =
        errata__v1__list_feedback_events_response__unpack(NULL, reply.size, reply.data);

    if (page == NULL) {
        wrong(call, "no list was answered");
    } else {
        page_done(call, page->next_page_token, page->n_events);
    }
    errata__v1__list_feedback_events_response__free_unpacked(page, NULL);
}

static void judge_document_page(struct sim_call *call, struct slice reply)
{
    Errata__V1__ListDocumentsResponse *page =
        errata__v1__list_documents_response__unpack(NULL, reply.size, reply.data);

    if (page == NULL) {
        wrong(call, "no list was answered");
    } else {
        page_done(call, page->next_page_token, page->n_documents);
    }
    errata__v1__list_documents_response__free_unpacked(page, NULL);
}

/* Numbers go down by one, over pages too, and end at 1. */
static void judge_log_page(struct sim_call *call, struct slice reply)
{
    Errata__V1__ListEventsResponse *page =
        errata__v1__list_events_response__unpack(NULL, reply.size, reply.data);
    uint64_t found = 0;

    for (size_t i = 0; page != NULL && i < page->n_events; i++) {
        const Errata__V1__Event *event = page->events[i];

        if (call->last_seq != 0 && event->seq != call->last_seq - 1) {
            wrong(call, "the log has a gap");
        }
        call->last_seq = event->seq;
        found += event->kind == ERRATA__V1__EVENT_KIND__EVENT_KIND_FEEDBACK;
        sim_model_show(sim_of(call), call->member->caller.org, event->seq, event->id);
    }
    if (page == NULL) {
        wrong(call, "no list was answered");
    } else if (page->next_page_token[0] == '\0' && call->last_seq > 1) {
        wrong(call, "the log does not begin with 1");
    } else {
        page_done(call, page->next_page_token, found);
    }
    errata__v1__list_events_response__free_unpacked(page, NULL);
}

static void judge_get_event(struct sim_call *call, struct slice reply)
{
    Errata__V1__GetEventResponse *read =
        errata__v1__get_event_response__unpack(NULL, reply.size, reply.data);

    if (read == NULL || read->event == NULL || read->event->seq != call->last_seq) {
        wrong(call, "another event than was asked for");
    } else {
        sim_model_show(sim_of(call), call->member->caller.org, read->event->seq, read->event->id);
    }
    errata__v1__get_event_response__free_unpacked(read, NULL);
}

static void judge_tokens(struct sim_call *call, struct slice reply)
{
    const struct sim *sim = sim_of(call);
    Errata__V1__ListTokensResponse *page =
        errata__v1__list_tokens_response__unpack(NULL, reply.size, reply.data);

    for (size_t i = 0; page != NULL && i < page->n_tokens; i++) {
        if (!same_text(page->tokens[i]->org_id, sim->model->orgs[call->member->caller.org].id)) {
            wrong(call, "a token of another organisation");
        }
    }
    errata__v1__list_tokens_response__free_unpacked(page, NULL);
}

/* --- writes --- */

static void judge_token(struct sim_call *call, struct slice reply)
{
    struct sim *sim = sim_of(call);
    struct sim_write *write = call->write;
    struct sim_member *subject = (struct sim_member *)write->subject;
    Errata__V1__CreateTokenResponse *reported =
        errata__v1__create_token_response__unpack(NULL, reply.size, reply.data);

    if (reported == NULL || reported->token == NULL || reported->secret[0] == '\0') {
        wrong(call, "no token was answered");
    } else {
        struct sim_org *org = &sim->model->orgs[subject->caller.org];

        (void)snprintf(org->id, sizeof(org->id), "%s", reported->token->org_id);
        sim_crowd_give_token(sim, subject, reported->secret, reported->token->key_id);
    }
    errata__v1__create_token_response__free_unpacked(reported, NULL);
}

static void judge_org(struct sim_call *call, struct slice reply)
{
    struct sim *sim = sim_of(call);
    Errata__V1__CreateOrganizationResponse *reported =
        errata__v1__create_organization_response__unpack(NULL, reply.size, reply.data);

    if (reported == NULL || reported->organization == NULL) {
        wrong(call, "no organisation was answered");
    } else {
        struct sim_org *org = &sim->model->orgs[call->write->org];

        (void)snprintf(org->id, sizeof(org->id), "%s", reported->organization->id);
    }
    errata__v1__create_organization_response__free_unpacked(reported, NULL);
}

static void on_send_again(struct sim *sim, void *object, uint64_t number)
{
    struct sim_write *write = object;

    (void)number;
    if (!sim->crowd->finishing) {
        sim->counts[SIM_REPEATS]++;
        sim_send_write(sim, write);
    }
}

static void send_again(struct sim_call *call, int64_t delay_us)
{
    if (call->write->tries < WRITE_TRIES_MAX || !sim_of(call)->crowd->set_up) {
        sim_at(sim_of(call), delay_us, on_send_again, call->write, 0);
    }
}

static void write_done(struct sim_call *call, struct slice reply)
{
    struct sim *sim = sim_of(call);
    struct sim_write *write = call->write;
    bool first = !write->acknowledged;
    struct sim_member *subject = (struct sim_member *)write->subject;

    sim_model_acknowledge(sim, write, reply);
    if (!first || sim->failed) {
        return;
    }
    switch (write->kind) {
    case SIM_WRITE_TOKEN:
        judge_token(call, reply);
        break;
    case SIM_WRITE_ORG:
        judge_org(call, reply);
        break;
    case SIM_WRITE_REVOKE:
        subject->revoked = true;
        (void)sim_request(subject, SIM_LIST_EVENTS); /* it is no longer admitted */
        break;
    case SIM_WRITE_CAPTURE:
    case SIM_WRITE_BATCH:
    case SIM_WRITE_DOCUMENT:
    case SIM_WRITE_SUGGEST:
    case SIM_WRITE_CONFIRM:
    case SIM_WRITE_REJECT:
    case SIM_WRITE_JUDGE:
    case SIM_WRITE_MATCHES:
    case SIM_WRITE_EXTRACTION:
    case SIM_WRITE_TEMPLATE:
    case SIM_WRITE_SETTINGS:
    case SIM_WRITE_RETRACT:
    case SIM_WRITE_VERDICT:
    case SIM_WRITE_RULE:
    case SIM_WRITE_MERGE:
    case SIM_WRITE_SPLIT:
    case SIM_WRITE_REVIEW:
    case SIM_WRITE_PROPOSAL:
    case SIM_WRITE_RULE_STATE:
    case SIM_WRITE_IMPORT:
        if (sim_draw(sim, 2) == 0) {
            sim_request_about(call->member, write);
        }
        break;
    }
    if (write->kind != SIM_WRITE_TOKEN && sim_draw(sim, 4) == 0) {
        send_again(call, sim_delay(sim, 0, 5 * SIM_S));
    }
    if (!sim->crowd->set_up) {
        sim_crowd_setup_next(sim);
    }
}

static bool says_nothing_stored(const struct client_status *status)
{
    return status->code == CODE_RESOURCE_EXHAUSTED || status->code == CODE_INVALID_ARGUMENT ||
           (status->message.size > 0 &&
            (memmem(status->message.data, status->message.size, "nothing was stored", 18) != NULL ||
             memmem(status->message.data, status->message.size, "too much to do", 14) != NULL));
}

/* A write ended without its answer. */
static void write_in_doubt(struct sim_call *call, const struct client_status *status)
{
    struct sim *sim = sim_of(call);
    struct sim_write *write = call->write;
    bool nothing = status->from_server && status->attempts == 1 && says_nothing_stored(status);

    if (!nothing) {
        write->maybe = true;
        sim->counts[SIM_UNKNOWN]++;
    }
    if (!sim->crowd->set_up || sim_draw(sim, 3) != 0) {
        send_again(call, sim_delay(sim, 10 * SIM_MS, 5 * SIM_S));
    }
}

/* The key of a token that was made already: its secret is lost, another one is made. */
static void token_exists(struct sim_call *call, const struct client_status *status)
{
    struct sim *sim = sim_of(call);
    struct sim_write *write = call->write;

    if (write->tries == 1 && status->attempts <= 1) {
        wrong(call, "a token exists that was never made");
        return;
    }
    if (!write->acknowledged && !((struct sim_member *)write->subject)->ready) {
        write->maybe = true;
        sim_request_token(sim, call->member, (struct sim_member *)write->subject);
    }
}

/* --- ends --- */

static void judge_ok(struct sim_call *call)
{
    struct slice reply = slice_of(call->reply, call->reply_bytes);

    switch (call->op) {
    case SIM_GET_FEEDBACK:
        judge_event(call, reply);
        return;
    case SIM_EXAMPLES:
        judge_examples(call, reply);
        return;
    case SIM_LIST_FEEDBACK:
        judge_feedback_page(call, reply);
        return;
    case SIM_LIST_EVENTS:
        judge_log_page(call, reply);
        return;
    case SIM_LIST_DOCUMENTS:
        judge_document_page(call, reply);
        return;
    case SIM_GET_EVENT:
        judge_get_event(call, reply);
        return;
    case SIM_LIST_TOKENS:
        judge_tokens(call, reply);
        return;
    case SIM_CAPTURE:
    case SIM_BATCH:
    case SIM_INGEST:
    case SIM_INGEST_STREAM:
    case SIM_CREATE_ORG:
    case SIM_CREATE_TOKEN:
    case SIM_REVOKE_TOKEN:
    case SIM_SUGGEST:
    case SIM_CONFIRM:
    case SIM_REJECT:
    case SIM_JUDGE:
    case SIM_RECORD_MATCHES:
    case SIM_EXTRACTION:
    case SIM_TEMPLATE:
    case SIM_SETTINGS:
    case SIM_RETRACT:
    case SIM_VERDICT:
    case SIM_RULE:
    case SIM_MERGE:
    case SIM_SPLIT:
    case SIM_REVIEW:
    case SIM_PROPOSE_RULE:
    case SIM_RULE_STATE:
    case SIM_IMPORT_RULES:
        write_done(call, reply);
        return;
    case SIM_MATCH:
    case SIM_PROMPT:
    case SIM_GET_MAPPING:
    case SIM_LIST_MAPPINGS:
    case SIM_ANALYTICS:
        sim_judge_learning(call, reply);
        return;
    case SIM_LIST_RULES:
    case SIM_VERDICT_STATS:
    case SIM_SCORE:
        sim_judge_verdicts(call, reply);
        return;
    case SIM_LIST_FAMILIES:
        sim_judge_families(call, reply);
        return;
    case SIM_LIST_REVIEWS:
        sim_judge_reviews(call, reply);
        return;
    case SIM_FOREIGN_REFERENCE:
        wrong(call, "another organisation's reference was taken");
        return;
    case SIM_DENIED:
        wrong(call, "a viewer wrote");
        return;
    case SIM_FOREIGN:
    case SIM_FOREIGN_TOKENS:
        wrong(call, "another organisation's thing was answered");
        return;
    case SIM_NONSENSE:
        wrong(call, "nonsense was taken");
        return;
    case SIM_WATCH:
        wrong(call, "a watch ended with OK");
        return;
    case SIM_GET_DOCUMENT:
    case SIM_GET_PROFILE:
    case SIM_LIST_PROFILES:
    case SIM_FINGERPRINT:
    case SIM_LIST_ORGS:
    case SIM_SERVER_INFO:
    case SIM_HEALTH:
    case SIM_HEALTH_WATCH:
    case SIM_REPORT:
    case SIM_OPS:
        return;
    }
}

/* Results that are allowed although nothing is wrong with the server. */
static bool is_right_refusal(const struct sim_call *call, const struct client_status *status)
{
    const struct sim *sim = sim_of(call);

    switch (status->code) {
    case CODE_PERMISSION_DENIED:
        return call->op == SIM_DENIED;
    case CODE_NOT_FOUND:
        return call->op == SIM_FOREIGN || call->op == SIM_FOREIGN_TOKENS ||
               call->op == SIM_GET_PROFILE;
    case CODE_INVALID_ARGUMENT:
        return call->op == SIM_NONSENSE || call->op == SIM_FOREIGN_REFERENCE ||
               call->op == SIM_MERGE || /* a family and itself */
               ((call->op == SIM_INGEST || call->op == SIM_INGEST_STREAM) &&
                sim->profile.document_bad > 0);
    case CODE_ALREADY_EXISTS:
        /* An organisation or a rule is there already, and a clock days ahead has forgotten the key. */
        return call->op == SIM_CREATE_TOKEN ||
               ((call->op == SIM_CREATE_ORG || call->op == SIM_PROPOSE_RULE) &&
                !sim_model_knows_key(sim, call->write));
    case CODE_FAILED_PRECONDITION: /* others changed the families */
        return call->op == SIM_MERGE || call->op == SIM_SPLIT;
    case CODE_UNAUTHENTICATED:
        return call->member->revoking;
    case CODE_CANCELLED:
        return call->cancelled || sim->crowd->finishing;
    case CODE_DEADLINE_EXCEEDED:
        return call->op == SIM_HEALTH_WATCH;
    default: /* a server's number */
        return false;
    }
}

/* Results that are allowed while something is wrong. */
static bool is_trouble(const struct sim_call *call, const struct client_status *status)
{
    if (call->strict) {
        return false;
    }
    return status->code == CODE_UNAVAILABLE || status->code == CODE_DEADLINE_EXCEEDED ||
           status->code == CODE_RESOURCE_EXHAUSTED ||
           (status->code == CODE_INTERNAL && sim_of(call)->counts[SIM_POINTS] > 0);
}

static void on_watch_again(struct sim *sim, void *object, uint64_t number)
{
    (void)number;
    sim_crowd_watch(sim, object);
}

static void watch_ended(struct sim_call *call)
{
    struct sim *sim = sim_of(call);

    call->member->watches = false;
    if (!call->member->revoking && !sim->crowd->finishing) {
        sim_at(sim, sim_delay(sim, SIM_MS, SIM_S), on_watch_again, call->member, 0);
    }
}

void sim_judge_end(struct sim_call *call, const struct client_status *status)
{
    struct sim *sim = sim_of(call);

    if (status->code == CODE_OK) {
        if (call->was_revoked && !call->method->open) {
            wrong(call, "a revoked token was let in");
        } else if (call->replies == 0) {
            wrong(call, "OK without a reply");
        } else {
            judge_ok(call);
        }
    } else if (!is_right_refusal(call, status) && !is_trouble(call, status)) {
        sim_fail(sim, "call %" PRIu64 " (%.*s of caller %u) ended with %u: %.*s", call->number,
                 (int)call->method->name.size, (const char *)call->method->name.data,
                 call->member->caller.number, status->code, (int)status->message.size,
                 (const char *)status->message.data);
    } else if (call->op == SIM_CREATE_TOKEN && status->code == CODE_ALREADY_EXISTS) {
        token_exists(call, status);
    } else if (call->write != NULL) {
        write_in_doubt(call, status);
    }
    if (call->op == SIM_WATCH) {
        watch_ended(call);
    }
}
