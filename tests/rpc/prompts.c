/*
 * prompts.c: see prompts.h.
 */
#include "tests/rpc/prompts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum status_code prompts_put(struct fixture *fixture, const struct exchange_start *start,
                             const char *name, const char *text,
                             Errata__V1__PromptTemplate **ret_template)
{
    Errata__V1__PromptTemplate template = ERRATA__V1__PROMPT_TEMPLATE__INIT;
    Errata__V1__PutPromptTemplateRequest request = ERRATA__V1__PUT_PROMPT_TEMPLATE_REQUEST__INIT;
    Errata__V1__PutPromptTemplateResponse *response = NULL;
    enum status_code code = STATUS_OK;

    template.name = text_of(name);
    template.text = text_of(text);
    template.comment = text_of("why");
    request.prompt_template = &template;
    code = fixture_call(fixture, start, &request.base, &response);
    if (code == STATUS_OK && ret_template != NULL) {
        *ret_template = response->prompt_template;
    }
    return code;
}

void prompts_put_version(struct fixture *fixture, const char *token, const char *name,
                         const char *text, uint32_t version)
{
    const struct exchange_start start = {.path = PUT, .authorization = token};
    Errata__V1__PromptTemplate *template = NULL;

    assert_int_equal(prompts_put(fixture, &start, name, text, &template), STATUS_OK);
    assert_int_equal(template->version, version);
}

Errata__V1__PromptTemplate *prompts_get(struct fixture *fixture, const char *token,
                                        const char *name, int64_t version)
{
    Errata__V1__GetPromptTemplateRequest request = ERRATA__V1__GET_PROMPT_TEMPLATE_REQUEST__INIT;
    Errata__V1__GetPromptTemplateResponse *response = NULL;
    const struct exchange_start start = {.path = GET, .authorization = token};
    enum status_code code = STATUS_OK;

    request.name = text_of(name);
    if (version >= 0) {
        request._version_case = ERRATA__V1__GET_PROMPT_TEMPLATE_REQUEST___VERSION_VERSION;
        request.version = (uint32_t)version;
    }
    code = fixture_call(fixture, &start, &request.base, &response);
    if (code == STATUS_NOT_FOUND) {
        return NULL;
    }
    assert_int_equal(code, STATUS_OK);
    return response->prompt_template;
}

Errata__V1__PreparePromptRequest prompts_of_template(const char *text)
{
    Errata__V1__PreparePromptRequest request = ERRATA__V1__PREPARE_PROMPT_REQUEST__INIT;

    request.source_case = ERRATA__V1__PREPARE_PROMPT_REQUEST__SOURCE_TEMPLATE;
    request.template_ = text_of(text);
    return request;
}

Errata__V1__PreparePromptRequest prompts_of_stored(const char *name)
{
    Errata__V1__PreparePromptRequest request = ERRATA__V1__PREPARE_PROMPT_REQUEST__INIT;

    request.source_case = ERRATA__V1__PREPARE_PROMPT_REQUEST__SOURCE_TEMPLATE_NAME;
    request.template_name = text_of(name);
    return request;
}

void prompts_set_layout(Errata__V1__PreparePromptRequest *request, const char *layout)
{
    request->_layout_fingerprint_case =
        ERRATA__V1__PREPARE_PROMPT_REQUEST___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    request->layout_fingerprint = text_of(layout);
}

void prompts_set_document(Errata__V1__PreparePromptRequest *request, const char *document_id)
{
    request->_document_id_case = ERRATA__V1__PREPARE_PROMPT_REQUEST___DOCUMENT_ID_DOCUMENT_ID;
    request->document_id = text_of(document_id);
}

void prompts_set_context(Errata__V1__PreparePromptRequest *request, struct prompts_entries *entries,
                         const char *name, const char *value)
{
    errata__v1__prepare_prompt_request__context_entry__init(&entries->context);
    entries->context.key = text_of(name);
    entries->context.value = text_of(value);
    entries->context_list[0] = &entries->context;
    request->context = entries->context_list;
    request->n_context = 1;
}

void prompts_set_trusted(Errata__V1__PreparePromptRequest *request, struct prompts_entries *entries,
                         const char *name, const char *value)
{
    errata__v1__prepare_prompt_request__trusted_context_entry__init(&entries->trusted);
    entries->trusted.key = text_of(name);
    entries->trusted.value = text_of(value);
    entries->trusted_list[0] = &entries->trusted;
    request->trusted_context = entries->trusted_list;
    request->n_trusted_context = 1;
}

Errata__V1__PreparePromptResponse *prompts_prepare(struct fixture *fixture, const char *token,
                                                   const Errata__V1__PreparePromptRequest *request)
{
    const struct exchange_start start = {.path = PREPARE, .authorization = token};
    Errata__V1__PreparePromptResponse *response = NULL;

    assert_int_equal(fixture_call(fixture, &start, &request->base, &response), STATUS_OK);
    return response;
}

Errata__V1__FeedbackEvent *prompts_capture(struct fixture *fixture, const char *token,
                                           const char *layout, const char *after, const char *meta)
{
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    Errata__V1__CaptureFeedbackEventResponse *response = NULL;
    const struct exchange_start start = {.path = "errata.v1.FeedbackService/CaptureFeedbackEvent",
                                         .authorization = token};

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    event._layout_fingerprint_case =
        ERRATA__V1__FEEDBACK_EVENT___LAYOUT_FINGERPRINT_LAYOUT_FINGERPRINT;
    event.layout_fingerprint = text_of(layout);
    event.before_json = text_of("{\"qty\":10}");
    event.after_json = text_of(after);
    event.meta_json = text_of(meta);
    event.annotator_kind = ERRATA__V1__ANNOTATOR_KIND__ANNOTATOR_KIND_HUMAN;
    request.event = &event;
    clock_manual_advance(&fixture->clock, 1000000);
    assert_int_equal(fixture_call(fixture, &start, &request.base, &response), STATUS_OK);
    return response->event;
}
