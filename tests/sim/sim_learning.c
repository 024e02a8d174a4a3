/*
 * sim_learning.c: requests about mappings, prompts, extractions and analytics, and their allowed
 * results. Outcomes cite references that were served before, of their organisation, now and then
 * the same one twice, which counts once across any crashes; and of another one, which is refused.
 */
#include "store/base/assert.h"
#include "tests/sim/sim_crowd.h"

#include <errata/v1/admin_service.pb-c.h>
#include <errata/v1/analytics_service.pb-c.h>
#include <errata/v1/extraction_service.pb-c.h>
#include <errata/v1/mapping_service.pb-c.h>
#include <errata/v1/prompt_service.pb-c.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 4
#define SHARED_SKUS 3
#define SHARED_INTERNAL_SKUS 2
#define SHIPPED_TEMPLATE "pdf_extract_text_v1"
#define ANALYTICS_DAYS 30

/* Texts of one request. */
struct texts {
    char mark[24];
    char customer[24];
    char sku[48];
    char internal[24];
    char name[24];
};

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

static void fill_texts(struct sim_member *member, const struct sim_write *write,
                       struct texts *texts)
{
    struct sim *sim = sim_of(member);
    char whose = (char)('a' + member->caller.org);

    memset(texts, 0, sizeof(*texts));
    if (write != NULL) {
        sim_write_mark(write, 0, texts->mark);
    }
    (void)snprintf(texts->customer, sizeof(texts->customer), "CN%cRY", whose);
    (void)snprintf(texts->sku, sizeof(texts->sku), "CN%cRY-%u", whose,
                   (unsigned)sim_draw(sim, SHARED_SKUS));
    (void)snprintf(texts->internal, sizeof(texts->internal), "INT-%u",
                   (unsigned)sim_draw(sim, SHARED_INTERNAL_SKUS));
    (void)snprintf(texts->name, sizeof(texts->name), "layout-%u",
                   (unsigned)sim_draw(sim, SIM_LAYOUTS));
}

/* --- mappings --- */

static void name_confirmed(Errata__V1__ConfirmMappingRequest *request, struct texts *texts)
{
    request->_customer_id_case = ERRATA__V1__CONFIRM_MAPPING_REQUEST___CUSTOMER_ID_CUSTOMER_ID;
    request->customer_id = texts->customer;
    request->_customer_sku_case = ERRATA__V1__CONFIRM_MAPPING_REQUEST___CUSTOMER_SKU_CUSTOMER_SKU;
    request->customer_sku = texts->sku;
    request->_internal_sku_case = ERRATA__V1__CONFIRM_MAPPING_REQUEST___INTERNAL_SKU_INTERNAL_SKU;
    request->internal_sku = texts->internal;
}

static void mark_confirmed(Errata__V1__ConfirmMappingRequest *request, struct texts *texts)
{
    request->_draft_order_id_case =
        ERRATA__V1__CONFIRM_MAPPING_REQUEST___DRAFT_ORDER_ID_DRAFT_ORDER_ID;
    request->draft_order_id = texts->mark;
}

static void name_rejected(Errata__V1__RejectMappingRequest *request, struct texts *texts)
{
    request->_customer_id_case = ERRATA__V1__REJECT_MAPPING_REQUEST___CUSTOMER_ID_CUSTOMER_ID;
    request->customer_id = texts->customer;
    request->_customer_sku_case = ERRATA__V1__REJECT_MAPPING_REQUEST___CUSTOMER_SKU_CUSTOMER_SKU;
    request->customer_sku = texts->sku;
    request->_internal_sku_case = ERRATA__V1__REJECT_MAPPING_REQUEST___INTERNAL_SKU_INTERNAL_SKU;
    request->internal_sku = texts->internal;
}

static void mark_rejected(Errata__V1__RejectMappingRequest *request, struct texts *texts)
{
    request->_draft_order_id_case =
        ERRATA__V1__REJECT_MAPPING_REQUEST___DRAFT_ORDER_ID_DRAFT_ORDER_ID;
    request->draft_order_id = texts->mark;
}

static void name_suggested(Errata__V1__SkuMapping *mapping, struct texts *texts)
{
    /* The SKU is unique: the suggestion is stored, and never changes other confirmed mappings. */
    memcpy(texts->sku, "sku ", 4);
    memcpy(texts->sku + 4, texts->mark, sizeof(texts->mark));
    mapping->customer_id = texts->customer;
    mapping->customer_sku = texts->sku;
    mapping->internal_sku = texts->internal;
    mapping->_confidence_case = ERRATA__V1__SKU_MAPPING___CONFIDENCE_CONFIDENCE;
}

static void suggest(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_SUGGEST);
    Errata__V1__SuggestMappingRequest request = ERRATA__V1__SUGGEST_MAPPING_REQUEST__INIT;
    Errata__V1__SkuMapping mapping = ERRATA__V1__SKU_MAPPING__INIT;
    struct texts texts;

    fill_texts(member, write, &texts);
    name_suggested(&mapping, &texts);
    mapping.confidence = (double)sim_draw(sim, 1001) / 1000;
    request.mapping = &mapping;
    sim_send_new_write(sim, write, &request.base);
}

static void confirm(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    const struct sim_write *suggested = sim_draw_write(member, SIM_WRITE_SUGGEST, false);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_CONFIRM);
    Errata__V1__ConfirmMappingRequest request = ERRATA__V1__CONFIRM_MAPPING_REQUEST__INIT;
    struct texts texts;

    fill_texts(member, write, &texts);
    if (suggested != NULL && sim_draw(sim, 2) == 0) {
        request._id_case = ERRATA__V1__CONFIRM_MAPPING_REQUEST___ID_ID;
        request.id = (char *)(uintptr_t)suggested->ids[0];
    } else {
        name_confirmed(&request, &texts);
    }
    mark_confirmed(&request, &texts);
    sim_send_new_write(sim, write, &request.base);
}

static void reject(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    const struct sim_write *suggested = sim_draw_write(member, SIM_WRITE_SUGGEST, false);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_REJECT);
    Errata__V1__RejectMappingRequest request = ERRATA__V1__REJECT_MAPPING_REQUEST__INIT;
    struct texts texts;

    fill_texts(member, write, &texts);
    if (suggested != NULL && sim_draw(sim, 2) == 0) {
        request._id_case = ERRATA__V1__REJECT_MAPPING_REQUEST___ID_ID;
        request.id = (char *)(uintptr_t)suggested->ids[0];
    } else {
        name_rejected(&request, &texts);
    }
    mark_rejected(&request, &texts);
    sim_send_new_write(sim, write, &request.base);
}

/* The messages of one judgement in a batch. */
struct judgement {
    struct texts texts;
    Errata__V1__MappingJudgement message;
    Errata__V1__ConfirmMappingRequest confirm;
    Errata__V1__RejectMappingRequest reject;
    Errata__V1__SkuMapping suggest;
};

static void fill_judgement(struct judgement *judgement, enum sim_write_kind kind)
{
    Errata__V1__MappingJudgement *message = &judgement->message;

    *message = (Errata__V1__MappingJudgement)ERRATA__V1__MAPPING_JUDGEMENT__INIT;
    if (kind == SIM_WRITE_SUGGEST) {
        judgement->suggest = (Errata__V1__SkuMapping)ERRATA__V1__SKU_MAPPING__INIT;
        name_suggested(&judgement->suggest, &judgement->texts);
        message->judgement_case = ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_SUGGEST;
        message->suggest = &judgement->suggest;
    } else if (kind == SIM_WRITE_CONFIRM) {
        judgement->confirm =
            (Errata__V1__ConfirmMappingRequest)ERRATA__V1__CONFIRM_MAPPING_REQUEST__INIT;
        name_confirmed(&judgement->confirm, &judgement->texts);
        mark_confirmed(&judgement->confirm, &judgement->texts);
        message->judgement_case = ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_CONFIRM;
        message->confirm = &judgement->confirm;
    } else {
        judgement->reject =
            (Errata__V1__RejectMappingRequest)ERRATA__V1__REJECT_MAPPING_REQUEST__INIT;
        name_rejected(&judgement->reject, &judgement->texts);
        mark_rejected(&judgement->reject, &judgement->texts);
        message->judgement_case = ERRATA__V1__MAPPING_JUDGEMENT__JUDGEMENT_REJECT;
        message->reject = &judgement->reject;
    }
}

static void judge(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_JUDGE);
    Errata__V1__BatchJudgeMappingsRequest request = ERRATA__V1__BATCH_JUDGE_MAPPINGS_REQUEST__INIT;
    struct judgement judgements[SIM_ITEMS_MAX];
    Errata__V1__MappingJudgement *places[SIM_ITEMS_MAX];

    write->items = 2 + (unsigned)sim_draw(sim, SIM_ITEMS_MAX - 1);
    for (unsigned i = 0; i < write->items; i++) {
        fill_texts(member, write, &judgements[i].texts);
        sim_write_mark(write, i, judgements[i].texts.mark);
        fill_judgement(&judgements[i], sim_judgement_of(write, i));
        places[i] = &judgements[i].message;
    }
    request.n_judgements = write->items;
    request.judgements = places;
    sim_send_new_write(sim, write, &request.base);
}

static void match(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    Errata__V1__MatchLinesRequest request = ERRATA__V1__MATCH_LINES_REQUEST__INIT;
    Errata__V1__DraftLine lines[LINES_MAX];
    Errata__V1__DraftLine *places[LINES_MAX];
    struct texts texts[LINES_MAX];
    struct sim_call *call = sim_new_call(member, SIM_MATCH);

    request.n_lines = 1 + (size_t)sim_draw(sim, LINES_MAX);
    request.lines = places;
    for (size_t i = 0; i < request.n_lines; i++) {
        fill_texts(member, NULL, &texts[i]);
        errata__v1__draft_line__init(&lines[i]);
        lines[i].customer_id = texts[i].customer;
        lines[i].customer_sku = texts[i].sku;
        places[i] = &lines[i];
    }
    call->least = request.n_lines;
    sim_call_start(call, &request.base);
}

/* --- outcomes that cite --- */

/* Sends an outcome that was recorded again by another member, under another idempotency key: it counts once. Of
 * matches the first event is the answer; an extraction is replaced by another event. False if there is none. */
static bool cite_again(struct sim_member *member, enum sim_write_kind kind)
{
    struct sim *sim = sim_of(member);
    const struct sim_write *first = sim_draw_write(member, kind, false);
    struct sim_write *write = NULL;

    if (first == NULL || !first->cites || sim_draw(sim, 2) != 0) {
        return false;
    }
    write = sim_model_add(sim, &member->caller, kind);
    write->items = 0;
    write->twin = first->twin != NULL ? first->twin : first;
    sim_write_set_request(write, slice_of(first->request, first->request_bytes));
    sim_send_write(sim, write);
    return true;
}

static bool record_matches(struct sim_member *member, const struct sim_member *whose)
{
    struct sim *sim = sim_of(member);
    Errata__V1__RecordMatchesRequest request = ERRATA__V1__RECORD_MATCHES_REQUEST__INIT;
    struct sim_write *write = NULL;
    struct texts texts;

    if (whose->references[SIM_REFERENCE_MATCHES][0] == '\0') {
        return false;
    }
    request.exposure_ref = (char *)(uintptr_t)whose->references[SIM_REFERENCE_MATCHES];
    if (whose != member) {
        sim_call_start(sim_new_call(member, SIM_FOREIGN_REFERENCE), &request.base);
        return true;
    }
    write = sim_model_add(sim, &member->caller, SIM_WRITE_MATCHES);
    write->cites = true;
    fill_texts(member, write, &texts);
    request._draft_order_id_case =
        ERRATA__V1__RECORD_MATCHES_REQUEST___DRAFT_ORDER_ID_DRAFT_ORDER_ID;
    request.draft_order_id = texts.mark;
    sim_send_new_write(sim, write, &request.base);
    return true;
}

static void extraction(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_EXTRACTION);
    Errata__V1__RecordExtractionRequest request = ERRATA__V1__RECORD_EXTRACTION_REQUEST__INIT;
    Errata__V1__Extraction one = ERRATA__V1__EXTRACTION__INIT;
    char *references[SIM_REFERENCES];
    struct texts texts;

    fill_texts(member, write, &texts);
    one._document_id_case = ERRATA__V1__EXTRACTION___DOCUMENT_ID_DOCUMENT_ID;
    one.document_id = texts.mark;
    one.layout_fingerprint = texts.name;
    one._confidence_case = ERRATA__V1__EXTRACTION___CONFIDENCE_CONFIDENCE;
    one.confidence = (double)sim_draw(sim, 1001) / 1000;
    one._field_count_case = ERRATA__V1__EXTRACTION___FIELD_COUNT_FIELD_COUNT;
    one.field_count = 1 + (uint32_t)sim_draw(sim, 20);
    one.exposure_refs = references;
    for (unsigned i = 0; i < SIM_REFERENCES; i++) {
        if (member->references[i][0] != '\0' && sim_draw(sim, 2) == 0) {
            references[one.n_exposure_refs++] = member->references[i];
        }
    }
    write->cites = one.n_exposure_refs > 0;
    request.extraction = &one;
    sim_send_new_write(sim, write, &request.base);
}

/* --- prompts, settings --- */

static void prompt(struct sim_member *member)
{
    Errata__V1__PreparePromptRequest request = ERRATA__V1__PREPARE_PROMPT_REQUEST__INIT;
    struct texts texts;
    char name[] = SHIPPED_TEMPLATE;

    fill_texts(member, NULL, &texts);
    request.source_case = ERRATA__V1__PREPARE_PROMPT_REQUEST__SOURCE_TEMPLATE_NAME;
    request.template_name = name;
    request._layout_fingerprint_case =
        ERRATA__V1__PREPARE_PROMPT_REQUEST___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    request.layout_fingerprint = texts.name;
    sim_call_start(sim_new_call(member, SIM_PROMPT), &request.base);
}

static void put_template(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_TEMPLATE);
    Errata__V1__PutPromptTemplateRequest request = ERRATA__V1__PUT_PROMPT_TEMPLATE_REQUEST__INIT;
    Errata__V1__PromptTemplate one = ERRATA__V1__PROMPT_TEMPLATE__INIT;
    char text[64];
    struct texts texts;

    fill_texts(member, write, &texts);
    (void)snprintf(text, sizeof(text), "{{hint_examples}} %s", texts.customer);
    one.name = texts.name;
    one.text = text;
    one.comment = texts.mark;
    request.prompt_template = &one;
    sim_send_new_write(sim, write, &request.base);
}

static void update_settings(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_SETTINGS);
    Errata__V1__UpdateSettingsRequest request = ERRATA__V1__UPDATE_SETTINGS_REQUEST__INIT;
    Errata__V1__OrganizationSettings settings = ERRATA__V1__ORGANIZATION_SETTINGS__INIT;

    settings._holdout_percent_case =
        ERRATA__V1__ORGANIZATION_SETTINGS___HOLDOUT_PERCENT_HOLDOUT_PERCENT;
    settings.holdout_percent = (uint32_t)sim_draw(sim, 101);
    request.settings = &settings;
    sim_send_new_write(sim, write, &request.base);
}

/* --- reads --- */

void sim_request_mapping(struct sim_member *member, const struct sim_write *write)
{
    Errata__V1__GetMappingRequest request = ERRATA__V1__GET_MAPPING_REQUEST__INIT;
    struct sim_call *call = sim_new_call(member, SIM_GET_MAPPING);

    call->about = write;
    request.id = (char *)(uintptr_t)write->ids[0];
    sim_call_start(call, &request.base);
}

static void list_mappings(struct sim_member *member)
{
    Errata__V1__ListMappingsRequest request = ERRATA__V1__LIST_MAPPINGS_REQUEST__INIT;
    struct sim_call *call = sim_new_call(member, SIM_LIST_MAPPINGS);

    call->least = sim_of(member)->model->orgs[member->caller.org].acknowledged_suggestions;
    request.page_size = 1000;
    sim_call_start(call, &request.base);
}

static void ask_analytics(struct sim_member *member, enum sim_op op)
{
    Errata__V1__GetLearningAnalyticsRequest learned =
        ERRATA__V1__GET_LEARNING_ANALYTICS_REQUEST__INIT;
    Errata__V1__GetExperimentReportRequest report = ERRATA__V1__GET_EXPERIMENT_REPORT_REQUEST__INIT;

    sim_call_start(sim_new_call(member, op), op == SIM_ANALYTICS ? &learned.base : &report.base);
}

/* Draws a member of another organisation; NULL if there is none yet. */
static const struct sim_member *draw_stranger(const struct sim_member *member)
{
    struct sim_crowd *crowd = sim_of(member)->crowd;

    for (unsigned i = 0; i < crowd->member_count; i++) {
        const struct sim_member *other = &crowd->members[i];

        if (other->caller.org != member->caller.org &&
            other->references[SIM_REFERENCE_MATCHES][0] != '\0') {
            return other;
        }
    }
    return NULL;
}

/* Writes; true if one was begun. */
static bool request_write(struct sim_member *member, enum sim_op op)
{
    if (op == SIM_SUGGEST) {
        suggest(member);
    } else if (op == SIM_CONFIRM) {
        confirm(member);
    } else if (op == SIM_REJECT) {
        reject(member);
    } else if (op == SIM_JUDGE) {
        judge(member);
    } else if (op == SIM_EXTRACTION) {
        if (!cite_again(member, SIM_WRITE_EXTRACTION)) {
            extraction(member);
        }
    } else if (op == SIM_TEMPLATE) {
        put_template(member);
    } else {
        update_settings(member);
    }
    return true;
}

bool sim_request_learning(struct sim_member *member, enum sim_op op)
{
    const struct sim_member *stranger = NULL;

    if (op == SIM_RECORD_MATCHES) {
        return cite_again(member, SIM_WRITE_MATCHES) || record_matches(member, member);
    }
    if (op == SIM_FOREIGN_REFERENCE) {
        stranger = draw_stranger(member);
        return stranger != NULL && record_matches(member, stranger);
    }
    if (op == SIM_MATCH) {
        match(member);
    } else if (op == SIM_PROMPT) {
        prompt(member);
    } else if (op == SIM_LIST_MAPPINGS) {
        list_mappings(member);
    } else if (op == SIM_ANALYTICS || op == SIM_REPORT) {
        ask_analytics(member, op);
    } else {
        return request_write(member, op);
    }
    return true;
}

/* --- allowed results --- */

void sim_keep_reference(struct sim_call *call, enum sim_reference kind, const char *reference)
{
    size_t size = strlen(reference);

    if (size == 0 || size >= SIM_REFERENCE_BYTES) {
        wrong(call, "no reference was answered");
        return;
    }
    memcpy(call->member->references[kind], reference, size + 1);
}

static void judge_match(struct sim_call *call, struct slice reply)
{
    Errata__V1__MatchLinesResponse *read =
        errata__v1__match_lines_response__unpack(NULL, reply.size, reply.data);

    if (read == NULL || read->n_lines != call->least) {
        wrong(call, "not a match for each line");
    } else {
        sim_keep_reference(call, SIM_REFERENCE_MATCHES, read->exposure_ref);
    }
    errata__v1__match_lines_response__free_unpacked(read, NULL);
}

static void judge_prompt(struct sim_call *call, struct slice reply)
{
    Errata__V1__PreparePromptResponse *read =
        errata__v1__prepare_prompt_response__unpack(NULL, reply.size, reply.data);

    if (read == NULL || read->prompt[0] == '\0') {
        wrong(call, "no prompt was answered");
    } else {
        sim_keep_reference(call, SIM_REFERENCE_PROMPT, read->exposure_ref);
    }
    errata__v1__prepare_prompt_response__free_unpacked(read, NULL);
}

/* A mapping that was suggested still exists, after any judgements. */
static void judge_mapping(struct sim_call *call, struct slice reply)
{
    const struct sim_write *write = call->about;
    Errata__V1__GetMappingResponse *read =
        errata__v1__get_mapping_response__unpack(NULL, reply.size, reply.data);
    Errata__V1__SuggestMappingRequest *sent =
        errata__v1__suggest_mapping_request__unpack(NULL, write->request_bytes, write->request);

    if (read == NULL || read->mapping == NULL || sent == NULL) {
        wrong(call, "no mapping was answered");
    } else if (strcmp(read->mapping->id, write->ids[0]) != 0 ||
               strcmp(read->mapping->customer_id, sent->mapping->customer_id) != 0 ||
               strcmp(read->mapping->customer_sku, sent->mapping->customer_sku) != 0 ||
               strcmp(read->mapping->internal_sku, sent->mapping->internal_sku) != 0) {
        wrong(call, "a mapping is not what it was");
    }
    errata__v1__get_mapping_response__free_unpacked(read, NULL);
    errata__v1__suggest_mapping_request__free_unpacked(sent, NULL);
}

static void judge_mappings(struct sim_call *call, struct slice reply)
{
    Errata__V1__ListMappingsResponse *page =
        errata__v1__list_mappings_response__unpack(NULL, reply.size, reply.data);

    if (page == NULL || (page->n_mappings < call->least && page->next_page_token[0] == '\0')) {
        wrong(call, "fewer mappings than were suggested");
    }
    errata__v1__list_mappings_response__free_unpacked(page, NULL);
}

static void judge_analytics(struct sim_call *call, struct slice reply)
{
    Errata__V1__GetLearningAnalyticsResponse *read =
        errata__v1__get_learning_analytics_response__unpack(NULL, reply.size, reply.data);

    if (read == NULL || read->n_events_by_day != ANALYTICS_DAYS ||
        read->corrected_count > read->extraction_count) {
        wrong(call, "not the last 30 days");
    }
    errata__v1__get_learning_analytics_response__free_unpacked(read, NULL);
}

void sim_judge_learning(struct sim_call *call, struct slice reply)
{
    if (call->op == SIM_MATCH) {
        judge_match(call, reply);
    } else if (call->op == SIM_PROMPT) {
        judge_prompt(call, reply);
    } else if (call->op == SIM_GET_MAPPING) {
        judge_mapping(call, reply);
    } else if (call->op == SIM_LIST_MAPPINGS) {
        judge_mappings(call, reply);
    } else if (call->op == SIM_ANALYTICS) {
        judge_analytics(call, reply);
    }
}

/* --- ids of what was stored --- */

static void keep(struct sim *sim, struct sim_write *write, const char *id)
{
    if (id == NULL || id[0] == '\0') {
        sim_fail(sim, "the answer to write %" PRIu64 " has no id", write->number);
        return;
    }
    (void)snprintf(write->ids[0], SIM_ID_BYTES, "%s", id);
}

static void keep_judged_ids(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__BatchJudgeMappingsResponse *judged =
        errata__v1__batch_judge_mappings_response__unpack(NULL, answer.size, answer.data);

    if (judged == NULL || judged->n_judged != write->items) {
        sim_fail(sim, "the answer to batch %" PRIu64 " has not %u judgements", write->number,
                 write->items);
    }
    for (unsigned i = 0; judged != NULL && i < judged->n_judged && i < SIM_ITEMS_MAX; i++) {
        if (judged->judged[i]->event_id != NULL) {
            (void)snprintf(write->ids[i], SIM_ID_BYTES, "%s", judged->judged[i]->event_id);
        } else if (sim_judgement_of(write, i) != SIM_WRITE_SUGGEST) {
            sim_fail(sim, "judgement %u of batch %" PRIu64 " has no event", i, write->number);
        } /* a suggestion that changes nothing stores none */
    }
    errata__v1__batch_judge_mappings_response__free_unpacked(judged, NULL);
}

static void keep_mapping_ids(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__SuggestMappingResponse *suggested = NULL;
    Errata__V1__ConfirmMappingResponse *confirmed = NULL;
    Errata__V1__RejectMappingResponse *rejected = NULL;

    if (write->kind == SIM_WRITE_JUDGE) {
        keep_judged_ids(sim, write, answer);
    } else if (write->kind == SIM_WRITE_SUGGEST) {
        suggested = errata__v1__suggest_mapping_response__unpack(NULL, answer.size, answer.data);
        keep(sim, write,
             suggested != NULL && suggested->mapping != NULL ? suggested->mapping->id : NULL);
        errata__v1__suggest_mapping_response__free_unpacked(suggested, NULL);
    } else if (write->kind == SIM_WRITE_CONFIRM) {
        confirmed = errata__v1__confirm_mapping_response__unpack(NULL, answer.size, answer.data);
        keep(sim, write, confirmed != NULL ? confirmed->event_id : NULL);
        errata__v1__confirm_mapping_response__free_unpacked(confirmed, NULL);
    } else {
        rejected = errata__v1__reject_mapping_response__unpack(NULL, answer.size, answer.data);
        keep(sim, write, rejected != NULL ? rejected->event_id : NULL);
        errata__v1__reject_mapping_response__free_unpacked(rejected, NULL);
    }
}

static void keep_other_ids(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__RecordMatchesResponse *matches = NULL;
    Errata__V1__RecordExtractionResponse *recorded = NULL;
    Errata__V1__PutPromptTemplateResponse *put = NULL;

    if (write->kind == SIM_WRITE_MATCHES) {
        matches = errata__v1__record_matches_response__unpack(NULL, answer.size, answer.data);
        keep(sim, write, matches != NULL ? matches->event_id : NULL);
        errata__v1__record_matches_response__free_unpacked(matches, NULL);
    } else if (write->kind == SIM_WRITE_EXTRACTION) {
        recorded = errata__v1__record_extraction_response__unpack(NULL, answer.size, answer.data);
        keep(sim, write,
             recorded != NULL && recorded->extraction != NULL ? recorded->extraction->id : NULL);
        errata__v1__record_extraction_response__free_unpacked(recorded, NULL);
    } else {
        put = errata__v1__put_prompt_template_response__unpack(NULL, answer.size, answer.data);
        keep(sim, write,
             put != NULL && put->prompt_template != NULL ? put->prompt_template->id : NULL);
        errata__v1__put_prompt_template_response__free_unpacked(put, NULL);
    }
}

void sim_keep_learning_ids(struct sim *sim, struct sim_write *write, struct slice answer)
{
    if (write->kind == SIM_WRITE_SUGGEST || write->kind == SIM_WRITE_CONFIRM ||
        write->kind == SIM_WRITE_REJECT || write->kind == SIM_WRITE_JUDGE) {
        keep_mapping_ids(sim, write, answer);
    } else if (write->kind == SIM_WRITE_VERDICT) {
        sim_keep_verdict_id(sim, write, answer);
    } else if (write->kind == SIM_WRITE_PROPOSAL || write->kind == SIM_WRITE_RULE_STATE ||
               write->kind == SIM_WRITE_IMPORT) {
        sim_keep_rule_id(sim, write, answer);
    } else if (write->kind == SIM_WRITE_REVIEW) {
        sim_keep_review_id(sim, write, answer);
    } else if (write->kind == SIM_WRITE_MERGE || write->kind == SIM_WRITE_SPLIT) {
        sim_keep_family_event_id(sim, write, answer);
    } else if (write->kind != SIM_WRITE_SETTINGS && write->kind != SIM_WRITE_RULE) {
        keep_other_ids(sim, write, answer);
    }
    if (write->twin != NULL && write->twin->acknowledged &&
        (strcmp(write->twin->ids[0], write->ids[0]) == 0) ==
            (write->kind == SIM_WRITE_EXTRACTION)) {
        sim_fail(sim, "write %" PRIu64 " cites what write %" PRIu64 " did: %s event", write->number,
                 write->twin->number, write->kind == SIM_WRITE_EXTRACTION ? "the same" : "another");
    }
}
