/*
 * sim_requests.c: what callers ask: every method, with texts that state whose they are.
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

/* A body that goes to the pool, and a document that needs several windows of flow control. */
#define LARGE_BODY_BYTES 140000
#define DOCUMENT_BYTES_MAX 40000
#define DOCUMENT_PIECE_BYTES 8000
/* 2025-06-01: the time of events that an integrator imports. */
#define HISTORY_SECONDS INT64_C(500000000) /* 1985, earlier than any jump of the clock */

#define ADMIN "/errata.v1.AdminService/"
#define EVENT "/errata.v1.EventService/"
#define EXTRACTION "/errata.v1.ExtractionService/"
#define FEEDBACK "/errata.v1.FeedbackService/"
#define LAYOUT "/errata.v1.LayoutService/"
#define MAPPING "/errata.v1.MappingService/"
#define PROMPT "/errata.v1.PromptService/"
#define ANALYTICS "/errata.v1.AnalyticsService/"
#define LEARNING "/errata.v1.LearningService/"
#define VERDICT "/errata.v1.VerdictService/"
#define REVIEW "/errata.v1.ReviewService/"

static const char *const paths[SIM_OPS] = {
    [SIM_CAPTURE] = FEEDBACK "CaptureFeedbackEvent",
    [SIM_BATCH] = FEEDBACK "BatchCaptureFeedbackEvents",
    [SIM_INGEST] = LAYOUT "IngestDocument",
    [SIM_INGEST_STREAM] = LAYOUT "IngestDocumentStream",
    [SIM_CREATE_ORG] = ADMIN "CreateOrganization",
    [SIM_CREATE_TOKEN] = ADMIN "CreateToken",
    [SIM_REVOKE_TOKEN] = ADMIN "RevokeToken",
    [SIM_GET_FEEDBACK] = FEEDBACK "GetFeedbackEvent",
    [SIM_EXAMPLES] = PROMPT "GetExamples",
    [SIM_LIST_FEEDBACK] = FEEDBACK "ListFeedbackEvents",
    [SIM_LIST_EVENTS] = EVENT "ListEvents",
    [SIM_GET_EVENT] = EVENT "GetEvent",
    [SIM_WATCH] = EVENT "WatchEvents",
    [SIM_GET_DOCUMENT] = LAYOUT "GetDocument",
    [SIM_LIST_DOCUMENTS] = LAYOUT "ListDocuments",
    [SIM_GET_PROFILE] = LAYOUT "GetProfile",
    [SIM_LIST_PROFILES] = LAYOUT "ListProfiles",
    [SIM_FINGERPRINT] = LAYOUT "ComputeFingerprint",
    [SIM_LIST_ORGS] = ADMIN "ListOrganizations",
    [SIM_LIST_TOKENS] = ADMIN "ListTokens",
    [SIM_SERVER_INFO] = ADMIN "GetServerInfo",
    [SIM_HEALTH] = "/grpc.health.v1.Health/Check",
    [SIM_HEALTH_WATCH] = "/grpc.health.v1.Health/Watch",
    [SIM_DENIED] = FEEDBACK "CaptureFeedbackEvent",
    [SIM_FOREIGN] = FEEDBACK "GetFeedbackEvent",
    [SIM_FOREIGN_TOKENS] = ADMIN "ListTokens",
    [SIM_NONSENSE] = FEEDBACK "CaptureFeedbackEvent",
    [SIM_SUGGEST] = MAPPING "SuggestMapping",
    [SIM_CONFIRM] = MAPPING "ConfirmMapping",
    [SIM_REJECT] = MAPPING "RejectMapping",
    [SIM_JUDGE] = MAPPING "BatchJudgeMappings",
    [SIM_RECORD_MATCHES] = MAPPING "RecordMatches",
    [SIM_EXTRACTION] = EXTRACTION "RecordExtraction",
    [SIM_TEMPLATE] = PROMPT "PutPromptTemplate",
    [SIM_SETTINGS] = ADMIN "UpdateSettings",
    [SIM_MATCH] = MAPPING "MatchLines",
    [SIM_PROMPT] = PROMPT "PreparePrompt",
    [SIM_GET_MAPPING] = MAPPING "GetMapping",
    [SIM_LIST_MAPPINGS] = MAPPING "ListMappings",
    [SIM_ANALYTICS] = ANALYTICS "GetLearningAnalytics",
    [SIM_REPORT] = ANALYTICS "GetExperimentReport",
    [SIM_FOREIGN_REFERENCE] = MAPPING "RecordMatches",
    [SIM_RETRACT] = EVENT "RetractEvent",
    [SIM_VERDICT] = VERDICT "SubmitVerdict",
    [SIM_RULE] = VERDICT "SetLearnedRuleEnabled",
    [SIM_LIST_RULES] = VERDICT "ListLearnedRules",
    [SIM_VERDICT_STATS] = VERDICT "GetVerdictStats",
    [SIM_SCORE] = VERDICT "ScoreDocument",
    [SIM_PROPOSE_RULE] = LEARNING "ProposeArtifact",
    [SIM_RULE_STATE] = LEARNING "SetArtifactState",
    [SIM_IMPORT_RULES] = VERDICT "ImportLearnedRules",
    [SIM_REVIEW] = REVIEW "SubmitReview",
    [SIM_LIST_REVIEWS] = REVIEW "ListReviews",
    [SIM_LIST_FAMILIES] = LAYOUT "ListFamilies",
    [SIM_MERGE] = LAYOUT "MergeFamilies",
    [SIM_SPLIT] = LAYOUT "SplitFamily",
};

static struct sim *sim_of(const struct sim_member *member)
{
    return member->caller.sim;
}

static struct sim_org *org_of(const struct sim_member *member)
{
    return &sim_of(member)->model->orgs[member->caller.org];
}

struct sim_call *sim_new_call(struct sim_member *member, enum sim_op op)
{
    return sim_call_new(member, op, paths[op]);
}

/* The operation of each kind of write; SIM_INGEST_STREAM also stores a document. */
static const enum sim_op write_ops[] = {
    [SIM_WRITE_CAPTURE] = SIM_CAPTURE,
    [SIM_WRITE_BATCH] = SIM_BATCH,
    [SIM_WRITE_DOCUMENT] = SIM_INGEST,
    [SIM_WRITE_TOKEN] = SIM_CREATE_TOKEN,
    [SIM_WRITE_REVOKE] = SIM_REVOKE_TOKEN,
    [SIM_WRITE_ORG] = SIM_CREATE_ORG,
    [SIM_WRITE_SUGGEST] = SIM_SUGGEST,
    [SIM_WRITE_CONFIRM] = SIM_CONFIRM,
    [SIM_WRITE_REJECT] = SIM_REJECT,
    [SIM_WRITE_JUDGE] = SIM_JUDGE,
    [SIM_WRITE_MATCHES] = SIM_RECORD_MATCHES,
    [SIM_WRITE_EXTRACTION] = SIM_EXTRACTION,
    [SIM_WRITE_TEMPLATE] = SIM_TEMPLATE,
    [SIM_WRITE_SETTINGS] = SIM_SETTINGS,
    [SIM_WRITE_RETRACT] = SIM_RETRACT,
    [SIM_WRITE_VERDICT] = SIM_VERDICT,
    [SIM_WRITE_RULE] = SIM_RULE,
    [SIM_WRITE_REVIEW] = SIM_REVIEW,
    [SIM_WRITE_MERGE] = SIM_MERGE,
    [SIM_WRITE_SPLIT] = SIM_SPLIT,
    [SIM_WRITE_PROPOSAL] = SIM_PROPOSE_RULE,
    [SIM_WRITE_RULE_STATE] = SIM_RULE_STATE,
    [SIM_WRITE_IMPORT] = SIM_IMPORT_RULES,
};

static enum sim_op op_of(const struct sim_write *write)
{
    return write->streamed ? SIM_INGEST_STREAM : write_ops[write->kind];
}

void sim_send_write(struct sim *sim, struct sim_write *write)
{
    struct sim_member *member = (struct sim_member *)write->caller;
    struct sim_call *call = sim_new_call(member, op_of(write));

    call->write = write;
    if (write->tries == 0) {
        write->wall_ahead_us = sim->wall_ahead_us;
        write->crept_us = sim->crept_us;
    }
    if (write->kind == SIM_WRITE_REVOKE) {
        ((struct sim_member *)write->subject)->revoking = true;
    }
    sim_call_start_bytes(call, write->streamed ? slice_of(NULL, 0)
                                               : slice_of(write->request, write->request_bytes));
}

void sim_send_new_write(struct sim *sim, struct sim_write *write, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(size + 1);

    ASSERT(bytes != NULL);
    (void)protobuf_c_message_pack(message, bytes);
    sim_write_set_request(write, slice_of(bytes, size));
    free(bytes);
    sim_send_write(sim, write);
}

/* --- captures --- */

/* Texts of one event, for the length of a request. */
struct texts {
    Google__Protobuf__Timestamp created_at;
    char mark[24];
    char layout[24];
    char entity[24];
    char document[24];
    char before[96];
    char *after;
    char meta[96];
};

static const Errata__V1__FeedbackEventType types[] = {
    ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
    ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED,
};

/* One in sixty has a text so long that the pool checks the body. */
static void fill_event(struct sim_member *member, const struct sim_write *write, unsigned item,
                       Errata__V1__FeedbackEvent *event, struct texts *texts)
{
    struct sim *sim = sim_of(member);
    const struct sim_write *extracted = NULL;
    char whose = (char)('a' + member->caller.org);
    size_t filler = sim_draw(sim, 60) == 0 ? LARGE_BODY_BYTES : (size_t)sim_draw(sim, 300);
    size_t head = 0;

    errata__v1__feedback_event__init(event);
    sim_write_mark(write, item, texts->mark);
    (void)snprintf(texts->layout, sizeof(texts->layout), "layout-%u", write->layout);
    (void)snprintf(texts->entity, sizeof(texts->entity), "line-%u", (unsigned)sim_draw(sim, 4));
    (void)snprintf(texts->before, sizeof(texts->before), "{\"qty\":%u,\"note\":\"CN%cRY\"}",
                   (unsigned)sim_draw(sim, 100), whose);
    (void)snprintf(texts->meta, sizeof(texts->meta), "{\"input_snippet\":\"CN%cRY of %s\"}", whose,
                   texts->mark);
    texts->after = malloc(filler + 128);
    ASSERT(texts->after != NULL);
    head = (size_t)snprintf(texts->after, 128, "{\"qty\":%u,\"note\":\"CN%cRY %s\",\"more\":\"",
                            (unsigned)sim_draw(sim, 100), whose, texts->mark);
    memset(texts->after + head, 'f', filler);
    memcpy(texts->after + head + filler, "\"}", 3);
    event->event_type = types[sim_draw(sim, 2)];
    event->_layout_fingerprint_case =
        ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    event->layout_fingerprint = texts->layout;
    event->_draft_order_id_case = ERRATA__V1__FEEDBACK_EVENT___DRAFT_ORDER_ID_DRAFT_ORDER_ID;
    event->draft_order_id = texts->mark;
    event->_entity_type_case = ERRATA__V1__FEEDBACK_EVENT___ENTITY_TYPE_ENTITY_TYPE;
    event->entity_type = (char *)(uintptr_t) "draft_order_line";
    event->_entity_id_case = ERRATA__V1__FEEDBACK_EVENT___ENTITY_ID_ENTITY_ID;
    event->entity_id = texts->entity;
    extracted = sim_draw(sim, 3) == 0 ? sim_draw_write(member, SIM_WRITE_EXTRACTION, false) : NULL;
    if (extracted != NULL) {
        sim_write_mark(extracted->twin != NULL ? extracted->twin : extracted, 0, texts->document);
        event->_document_id_case = ERRATA__V1__FEEDBACK_EVENT___DOCUMENT_ID_DOCUMENT_ID;
        event->document_id = texts->document;
    }
    if (member->role == ROLE_INTEGRATOR) {
        google__protobuf__timestamp__init(&texts->created_at);
        texts->created_at.seconds = HISTORY_SECONDS + (int64_t)sim_draw(sim, 1000000);
        event->created_at = &texts->created_at;
    }
    event->before_json = texts->before;
    event->after_json = texts->after;
    event->meta_json = texts->meta;
    event->annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN;
}

static void capture(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_CAPTURE);
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__FeedbackEvent event;
    struct texts texts;

    write->layout = (unsigned)sim_draw(sim, SIM_LAYOUTS);
    fill_event(member, write, 0, &event, &texts);
    request.event = &event;
    sim_send_new_write(sim, write, &request.base);
    free(texts.after);
}

static void batch(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_BATCH);
    Errata__V1__BatchCaptureFeedbackEventsRequest request =
        ERRATA__V1__BATCH_CAPTURE_FEEDBACK_EVENTS_REQUEST__INIT;
    Errata__V1__FeedbackEvent events[SIM_ITEMS_MAX];
    Errata__V1__FeedbackEvent *places[SIM_ITEMS_MAX];
    struct texts texts[SIM_ITEMS_MAX];

    write->items = 1 + (unsigned)sim_draw(sim, SIM_ITEMS_MAX);
    write->layout = (unsigned)sim_draw(sim, SIM_LAYOUTS);
    for (unsigned i = 0; i < write->items; i++) {
        fill_event(member, write, i, &events[i], &texts[i]);
        places[i] = &events[i];
    }
    request.n_events = write->items;
    request.events = places;
    sim_send_new_write(sim, write, &request.base);
    for (unsigned i = 0; i < write->items; i++) {
        free(texts[i].after);
    }
}

/* Events that may be retracted are no longer expected in replies. */
static void count_retracted(struct sim_org *org, const struct sim_write *write)
{
    if (write->kind == SIM_WRITE_VERDICT) {
        org->acknowledged_verdicts--;
    } else if (write->kind == SIM_WRITE_CAPTURE) {
        org->acknowledged_by_layout[write->layout]--;
    }
}

/* Retracts a capture, a verdict or a review that was acknowledged, perhaps one that others retract. */
static bool retract(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    static const enum sim_write_kind others[] = {SIM_WRITE_VERDICT, SIM_WRITE_REVIEW};
    enum sim_write_kind kind = sim_draw(sim, 2) == 0 ? others[sim_draw(sim, 2)] : SIM_WRITE_CAPTURE;
    struct sim_write *captured = (struct sim_write *)(uintptr_t)sim_draw_write(member, kind, false);
    struct sim_write *write = NULL;
    Errata__V1__RetractEventRequest request = ERRATA__V1__RETRACT_EVENT_REQUEST__INIT;
    char reason[48];
    char mark[24];

    if (captured == NULL) {
        return false;
    }
    if (!captured->is_retracted) {
        captured->is_retracted = true;
        count_retracted(&sim->model->orgs[captured->org], captured);
    }
    write = sim_model_add(sim, &member->caller, SIM_WRITE_RETRACT);
    sim_write_mark(write, 0, mark);
    (void)snprintf(reason, sizeof(reason), "CN%cRY %s", (char)('a' + member->caller.org), mark);
    request.event_id = captured->ids[0];
    request.reason = reason;
    sim_send_new_write(sim, write, &request.base);
    return true;
}

static void nonsense(struct sim_member *member, enum sim_op op)
{
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    char after[] = "{\"qty\":";
    char valid[] = "{\"qty\":1}";

    event.event_type = types[0];
    event.before_json = valid;
    event.after_json = op == SIM_NONSENSE ? after : valid;
    request.event = &event;
    sim_call_start(sim_new_call(member, op), &request.base);
}

/* --- documents --- */

static void ingest(struct sim_member *member, bool streamed)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_DOCUMENT);
    Errata__V1__IngestDocumentRequest request = ERRATA__V1__INGEST_DOCUMENT_REQUEST__INIT;
    size_t size = 60 + (size_t)sim_draw(sim, sim_draw(sim, 4) == 0 ? DOCUMENT_BYTES_MAX : 500);
    uint8_t *content = malloc(size);
    char mark[24];
    int head = 0;

    ASSERT(content != NULL);
    sim_write_mark(write, 0, mark);
    memset(content, ' ', size);
    head = snprintf((char *)content, size, "%%PDF-1.4 CN%cRY %s\n",
                    (char)('a' + member->caller.org), mark);
    content[head] = ' ';
    write->streamed = streamed;
    if (streamed) {
        sim_write_set_request(write, slice_of(content, size));
        sim_send_write(sim, write);
    } else {
        request.document_id = mark;
        request.content = (ProtobufCBinaryData){size, content};
        sim_send_new_write(sim, write, &request.base);
    }
    free(content);
}

/* Sends the next piece; false if there is no room for it, or if the call has ended. */
static bool send_piece(struct sim_call *call)
{
    const struct sim_write *write = call->write;
    Errata__V1__IngestDocumentStreamRequest request =
        ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST__INIT;
    size_t left = write->request_bytes - call->sent_bytes;
    size_t size = left < DOCUMENT_PIECE_BYTES ? left : DOCUMENT_PIECE_BYTES;
    uint8_t bytes[DOCUMENT_PIECE_BYTES + 128];
    char mark[24];
    enum err err = OK;

    sim_write_mark(write, 0, mark);
    if (!call->named) {
        request._document_id_case =
            ERRATA__V1__INGEST_DOCUMENT_STREAM_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
        request.document_id = mark;
    }
    request.content = (ProtobufCBinaryData){size, write->request + call->sent_bytes};
    size = protobuf_c_message_pack(&request.base, bytes);
    err = client_call_send(call->member->caller.channel, call->handle, slice_of(bytes, size));
    if (err != OK && err != ERR_BUSY && err != ERR_CANCELLED) {
        sim_fail(sim_of(call->member), "a piece is not taken: %s", err_name(err));
    }
    if (err == OK) {
        call->named = true;
        call->sent_bytes += request.content.len;
    }
    return err == OK;
}

void sim_send_document(struct sim_call *call)
{
    while (call->handle != NULL && call->sent_bytes < call->write->request_bytes) {
        if (!send_piece(call)) {
            return;
        }
    }
    if (call->handle != NULL) {
        enum err err = client_call_half_close(call->member->caller.channel, call->handle);

        if (err != OK && err != ERR_CANCELLED) {
            sim_fail(sim_of(call->member), "a half-close is not taken: %s", err_name(err));
        }
    }
}

/* --- the administrators' --- */

void sim_request_token(struct sim *sim, struct sim_member *by, struct sim_member *subject)
{
    struct sim_write *write = sim_model_add(sim, &by->caller, SIM_WRITE_TOKEN);
    Errata__V1__CreateTokenRequest request = ERRATA__V1__CREATE_TOKEN_REQUEST__INIT;
    Errata__V1__Token token = ERRATA__V1__TOKEN__INIT;

    write->org = subject->caller.org;
    write->subject = &subject->caller;
    token.role = (Errata__V1__Role)subject->role;
    if (subject->role == ROLE_OPERATOR || subject->role == ROLE_REVIEWER) {
        token._user_id_case = ERRATA__V1__TOKEN___USER_ID_USER_ID;
        token.user_id = (char *)(uintptr_t) "anna";
    }
    request.token = &token;
    if (subject->caller.org != by->caller.org) {
        request.org_id = sim->model->orgs[subject->caller.org].id;
    }
    sim_send_new_write(sim, write, &request.base);
}

void sim_request_org(struct sim *sim, struct sim_member *by, unsigned org)
{
    struct sim_write *write = sim_model_add(sim, &by->caller, SIM_WRITE_ORG);
    Errata__V1__CreateOrganizationRequest request = ERRATA__V1__CREATE_ORGANIZATION_REQUEST__INIT;
    Errata__V1__Organization organization = ERRATA__V1__ORGANIZATION__INIT;

    write->org = org;
    (void)snprintf(sim->model->orgs[org].name, sizeof(sim->model->orgs[org].name), "CN%cRY",
                   (char)('a' + org));
    organization.name = sim->model->orgs[org].name;
    request.organization = &organization;
    sim_send_new_write(sim, write, &request.base);
}

/* A member that can be spared: one that was made on the way. */
static struct sim_member *draw_spare(struct sim_member *by)
{
    struct sim_crowd *crowd = sim_of(by)->crowd;

    for (unsigned i = crowd->member_room; i < crowd->member_count; i++) {
        struct sim_member *member = &crowd->members[i];

        if (member->ready && !member->revoking && member->caller.org == by->caller.org) {
            return member;
        }
    }
    return NULL;
}

static bool revoke(struct sim_member *by)
{
    struct sim *sim = sim_of(by);
    struct sim_member *subject = draw_spare(by);
    Errata__V1__RevokeTokenRequest request = ERRATA__V1__REVOKE_TOKEN_REQUEST__INIT;
    struct sim_write *write = NULL;

    if (subject == NULL) {
        return false;
    }
    write = sim_model_add(sim, &by->caller, SIM_WRITE_REVOKE);
    write->subject = &subject->caller;
    request.key_id = subject->key_id;
    sim_send_new_write(sim, write, &request.base);
    return true;
}

static bool make_token(struct sim_member *by)
{
    struct sim *sim = sim_of(by);
    struct sim_member *subject =
        sim_crowd_add(sim, by->caller.org, sim_draw(sim, 2) == 0 ? ROLE_VIEWER : ROLE_SERVICE);

    if (subject != NULL) {
        sim_request_token(sim, by, subject);
    }
    return subject != NULL;
}

/* --- reads --- */

const struct sim_write *sim_draw_write(struct sim_member *member, enum sim_write_kind kind,
                                       bool foreign)
{
    const struct sim_write *drawn = NULL;
    uint64_t count = 0;

    for (const struct sim_write *at = sim_of(member)->model->writes; at != NULL; at = at->next) {
        if (at->acknowledged && at->kind == kind && (at->org != member->caller.org) == foreign &&
            sim_draw(sim_of(member), ++count) == 0) {
            drawn = at;
        }
    }
    return drawn;
}

static void get_feedback(struct sim_member *member, const struct sim_write *write, enum sim_op op)
{
    Errata__V1__GetFeedbackEventRequest request = ERRATA__V1__GET_FEEDBACK_EVENT_REQUEST__INIT;
    struct sim_call *call = sim_new_call(member, op);

    call->about = write;
    request.id = (char *)(uintptr_t)write->ids[0];
    sim_call_start(call, &request.base);
}

static void get_document(struct sim_member *member, const struct sim_write *write)
{
    Errata__V1__GetDocumentRequest request = ERRATA__V1__GET_DOCUMENT_REQUEST__INIT;
    char mark[24];

    sim_write_mark(write, 0, mark);
    request.key_case = ERRATA__V1__GET_DOCUMENT_REQUEST__KEY_DOCUMENT_ID;
    request.document_id = mark;
    sim_call_start(sim_new_call(member, SIM_GET_DOCUMENT), &request.base);
}

void sim_request_about(struct sim_member *member, const struct sim_write *write)
{
    if (write->kind == SIM_WRITE_CAPTURE) {
        get_feedback(member, write, SIM_GET_FEEDBACK);
    } else if (write->kind == SIM_WRITE_DOCUMENT) {
        get_document(member, write);
    } else if (write->kind == SIM_WRITE_SUGGEST) {
        sim_request_mapping(member, write);
    }
}

static void examples(struct sim_member *member)
{
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    unsigned layout = (unsigned)sim_draw(sim_of(member), SIM_LAYOUTS);
    struct sim_call *call = sim_new_call(member, SIM_EXAMPLES);
    char name[24];

    (void)snprintf(name, sizeof(name), "layout-%u", layout);
    call->layout = layout;
    call->least = org_of(member)->acknowledged_by_layout[layout];
    request.layout_fingerprint = name;
    request.include_superseded = 1; /* includes all acknowledged events */
    sim_call_start(call, &request.base);
}

/* A page of the walk that this call continues with. */
static void send_page(struct sim_call *call)
{
    Errata__V1__ListEventsRequest log = ERRATA__V1__LIST_EVENTS_REQUEST__INIT;
    Errata__V1__ListFeedbackEventsRequest events = ERRATA__V1__LIST_FEEDBACK_EVENTS_REQUEST__INIT;
    Errata__V1__ListDocumentsRequest documents = ERRATA__V1__LIST_DOCUMENTS_REQUEST__INIT;
    int32_t page_size = 3 + (int32_t)(call->least / 4);

    if (call->op == SIM_LIST_EVENTS) {
        log.page_size = page_size;
        log.page_token = call->page_token;
        sim_call_start(call, &log.base);
    } else if (call->op == SIM_LIST_FEEDBACK) {
        events.page_size = page_size;
        events.page_token = call->page_token;
        sim_call_start(call, &events.base);
    } else {
        documents.page_size = page_size;
        documents.page_token = call->page_token;
        sim_call_start(call, &documents.base);
    }
}

void sim_next_page(struct sim_call *call)
{
    struct sim_call *next = sim_new_call(call->member, call->op);

    memcpy(next->page_token, call->page_token, sizeof(next->page_token));
    next->least = call->least;
    next->seen = call->seen;
    next->last_seq = call->last_seq;
    next->pages = call->pages + 1;
    send_page(next);
}

static void list(struct sim_member *member, enum sim_op op)
{
    struct sim_call *call = sim_new_call(member, op);

    call->least = op == SIM_LIST_DOCUMENTS ? org_of(member)->acknowledged_documents
                                           : org_of(member)->acknowledged_events;
    send_page(call);
}

static bool get_event(struct sim_member *member)
{
    Errata__V1__GetEventRequest request = ERRATA__V1__GET_EVENT_REQUEST__INIT;
    struct sim_call *call = NULL;

    if (org_of(member)->shown_last == 0) {
        return false;
    }
    call = sim_new_call(member, SIM_GET_EVENT);
    request.key_case = ERRATA__V1__GET_EVENT_REQUEST__KEY_SEQ;
    request.seq = 1 + sim_draw(sim_of(member), org_of(member)->shown_last);
    call->last_seq = request.seq;
    sim_call_start(call, &request.base);
    return true;
}

void sim_request_watch(struct sim_member *member)
{
    Errata__V1__WatchEventsRequest request = ERRATA__V1__WATCH_EVENTS_REQUEST__INIT;

    request.from_seq = member->watch_next;
    sim_call_start(sim_new_call(member, SIM_WATCH), &request.base);
}

static void read_layouts(struct sim_member *member, enum sim_op op)
{
    Errata__V1__GetProfileRequest profile = ERRATA__V1__GET_PROFILE_REQUEST__INIT;
    Errata__V1__ListProfilesRequest profiles = ERRATA__V1__LIST_PROFILES_REQUEST__INIT;
    Errata__V1__ComputeFingerprintRequest compute = ERRATA__V1__COMPUTE_FINGERPRINT_REQUEST__INIT;
    char metadata[] = "{\"page_count\":1}";
    char layout[] = "layout-0";

    if (op == SIM_GET_PROFILE) {
        profile.layout_fingerprint = layout;
        sim_call_start(sim_new_call(member, op), &profile.base);
    } else if (op == SIM_LIST_PROFILES) {
        sim_call_start(sim_new_call(member, op), &profiles.base);
    } else {
        compute.metadata_json = metadata;
        sim_call_start(sim_new_call(member, op), &compute.base);
    }
}

static bool read_admin(struct sim_member *member, enum sim_op op)
{
    struct sim *sim = sim_of(member);
    Errata__V1__ListOrganizationsRequest orgs = ERRATA__V1__LIST_ORGANIZATIONS_REQUEST__INIT;
    Errata__V1__ListTokensRequest tokens = ERRATA__V1__LIST_TOKENS_REQUEST__INIT;
    Errata__V1__GetServerInfoRequest info = ERRATA__V1__GET_SERVER_INFO_REQUEST__INIT;
    unsigned other = (unsigned)sim_draw(sim, sim->model->org_count);

    if (op == SIM_LIST_ORGS) {
        sim_call_start(sim_new_call(member, op), &orgs.base);
    } else if (op == SIM_SERVER_INFO) {
        sim_call_start(sim_new_call(member, op), &info.base);
    } else {
        if (op == SIM_FOREIGN_TOKENS) {
            if (other == member->caller.org || member->server) {
                return false;
            }
            tokens.org_id = sim->model->orgs[other].id;
        }
        sim_call_start(sim_new_call(member, op), &tokens.base);
    }
    return true;
}

static void health(struct sim_member *member, enum sim_op op)
{
    static const char *const parts[] = {"", "errata.write", "errata.pdf", "errata.admin",
                                        "errata.clock"};
    Grpc__Health__V1__HealthCheckRequest request = GRPC__HEALTH__V1__HEALTH_CHECK_REQUEST__INIT;

    request.service = (char *)(uintptr_t)parts[sim_draw(sim_of(member), 5)];
    sim_call_start(sim_new_call(member, op), &request.base);
}

static bool ask_about(struct sim_member *member, enum sim_op op)
{
    const struct sim_write *write = sim_draw_write(
        member, op == SIM_GET_DOCUMENT ? SIM_WRITE_DOCUMENT : SIM_WRITE_CAPTURE, op == SIM_FOREIGN);

    if (write == NULL) {
        return false;
    }
    if (op == SIM_FOREIGN) {
        get_feedback(member, write, op);
    } else {
        sim_request_about(member, write);
    }
    return true;
}

/* Writes; true if one was begun. */
static bool request_write(struct sim_member *member, enum sim_op op)
{
    if (op == SIM_CAPTURE) {
        capture(member);
    } else if (op == SIM_BATCH) {
        batch(member);
    } else if (op == SIM_RETRACT) {
        return retract(member);
    } else if (op == SIM_CREATE_TOKEN) {
        return make_token(member);
    } else if (op == SIM_REVOKE_TOKEN) {
        return revoke(member);
    } else {
        ingest(member, op == SIM_INGEST_STREAM);
    }
    return true;
}

bool sim_request(struct sim_member *member, enum sim_op op)
{
    switch (op) {
    case SIM_CAPTURE:
    case SIM_BATCH:
    case SIM_INGEST:
    case SIM_INGEST_STREAM:
    case SIM_CREATE_TOKEN:
    case SIM_REVOKE_TOKEN:
    case SIM_RETRACT:
        return request_write(member, op);
    case SIM_GET_FEEDBACK:
    case SIM_FOREIGN:
    case SIM_GET_DOCUMENT:
        return ask_about(member, op);
    case SIM_EXAMPLES:
        examples(member);
        return true;
    case SIM_LIST_FEEDBACK:
    case SIM_LIST_EVENTS:
    case SIM_LIST_DOCUMENTS:
        list(member, op);
        return true;
    case SIM_GET_EVENT:
        return get_event(member);
    case SIM_GET_PROFILE:
    case SIM_LIST_PROFILES:
    case SIM_FINGERPRINT:
        read_layouts(member, op);
        return true;
    case SIM_LIST_ORGS:
    case SIM_LIST_TOKENS:
    case SIM_SERVER_INFO:
    case SIM_FOREIGN_TOKENS:
        return read_admin(member, op);
    case SIM_HEALTH:
    case SIM_HEALTH_WATCH:
        health(member, op);
        return true;
    case SIM_DENIED:
    case SIM_NONSENSE:
        nonsense(member, op);
        return true;
    case SIM_SUGGEST:
    case SIM_CONFIRM:
    case SIM_REJECT:
    case SIM_JUDGE:
    case SIM_RECORD_MATCHES:
    case SIM_EXTRACTION:
    case SIM_TEMPLATE:
    case SIM_SETTINGS:
    case SIM_MATCH:
    case SIM_PROMPT:
    case SIM_LIST_MAPPINGS:
    case SIM_ANALYTICS:
    case SIM_REPORT:
    case SIM_FOREIGN_REFERENCE:
        return sim_request_learning(member, op);
    case SIM_VERDICT:
    case SIM_RULE:
    case SIM_LIST_RULES:
    case SIM_VERDICT_STATS:
    case SIM_SCORE:
        return sim_request_verdicts(member, op);
    case SIM_PROPOSE_RULE:
    case SIM_RULE_STATE:
    case SIM_IMPORT_RULES:
        return sim_request_rules(member, op);
    case SIM_REVIEW:
    case SIM_LIST_REVIEWS:
        return sim_request_reviews(member, op);
    case SIM_LIST_FAMILIES:
    case SIM_MERGE:
    case SIM_SPLIT:
        return sim_request_families(member, op);
    case SIM_WATCH:
    case SIM_CREATE_ORG:
    case SIM_GET_MAPPING:
    case SIM_OPS:
        return false; /* not started here */
    }
    return false;
}
