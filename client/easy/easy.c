/*
 * easy.c: errata/easy.h over the blocking stubs. The answer of the last call is kept, since
 * returned texts are parts of it.
 */
#include <errata/details.h>
#include <errata/easy.h>
#include <errata/v1/feedback_service.client.h>
#include <errata/v1/prompt_service.client.h>

#include "store/base/json.h"

#include <stdio.h>
#include <stdlib.h>

/* A status code, a message, and the first invalid fields. */
#define ERROR_BYTES 2048
/* The JSON text of a correction's snippet; the server accepts 64 KiB of it. */
#define META_BYTES_MAX ((size_t)1 << 20)

/* Maximum attempts of a call: an unreachable server is reported after waits of half a second in
 * total, since a pipeline can continue without examples. */
#define EASY_ATTEMPTS_MAX 4

struct errata_easy {
    struct errata_blocking *blocking; /* owned; NULL: the opening failed */
    struct errata_answer *answer; /* owned: of the last call; NULL: none */
    enum errata_code code;
    char error[ERROR_BYTES]; /* empty if `code` is OK */
};

static const char out_of_memory[] = "RESOURCE_EXHAUSTED: out of memory";

/* --- errors --- */

static void set_error(struct errata_easy *easy, enum errata_code code, const char *message)
{
    easy->code = code;
    (void)snprintf(easy->error, sizeof(easy->error), "%s: %s", errata_code_name(code), message);
}

/* Records that a function of the library refused to start the call. */
static void set_result(struct errata_easy *easy, enum errata_result result)
{
    bool invalid = result == ERRATA_INVALID || result == ERRATA_TOO_LARGE;

    set_error(easy, invalid ? ERRATA_CODE_INVALID_ARGUMENT : ERRATA_CODE_RESOURCE_EXHAUSTED,
              errata_result_text(result));
}

/* Appends the invalid fields of a request, as far as there is room. */
static void add_violations(struct errata_easy *easy, const struct errata_status *status)
{
    struct errata_details *details = NULL;

    if (errata_details_read(status, &details) != ERRATA_OK) {
        return;
    }
    for (size_t i = 0; i < details->violation_count; i++) {
        size_t size = strlen(easy->error);

        (void)snprintf(easy->error + size, sizeof(easy->error) - size, "; %s: %s",
                       details->violations[i].field, details->violations[i].description);
    }
    errata_details_free(details);
}

/* Records how a call ended, and keeps its answer. Returns whether it has a reply. */
static bool finish(struct errata_easy *easy, enum errata_result result,
                   struct errata_answer *take_answer, bool has_reply)
{
    const struct errata_status *status = NULL;

    easy->answer = take_answer;
    if (result != ERRATA_OK) {
        set_result(easy, result);
        return false;
    }
    status = errata_answer_status(take_answer);
    if (!has_reply) {
        set_error(easy, status->code, status->message);
        add_violations(easy, status);
        return false;
    }
    return true;
}

/* Discards the last call. Returns false, and keeps the error, if no call can be made. */
static bool begin(struct errata_easy *easy)
{
    if (easy == NULL || easy->blocking == NULL) {
        return false;
    }
    errata_answer_free(easy->answer);
    easy->answer = NULL;
    easy->code = ERRATA_CODE_OK;
    easy->error[0] = '\0';
    return true;
}

/* --- opening and closing --- */

struct errata_easy *errata_easy_open_config(const struct errata_channel_config *config)
{
    struct errata_easy *easy = calloc(1, sizeof(*easy));
    char problem[ERROR_BYTES / 2] = "";
    enum errata_result result = ERRATA_OK;

    if (easy == NULL) {
        return NULL;
    }
    result = errata_blocking_open(config, problem, sizeof(problem), &easy->blocking);
    if (result == ERRATA_INVALID) {
        set_error(easy, ERRATA_CODE_INVALID_ARGUMENT, problem);
    } else if (result != ERRATA_OK) {
        set_result(easy, result);
    }
    return easy;
}

/* Returns a variable's value if it is set and not empty. */
static const char *variable(const char *name)
{
    const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe): read at the opening only */

    return value != NULL && value[0] != '\0' ? value : NULL;
}

struct errata_easy *errata_easy_open(const char *server)
{
    struct errata_channel_config config;

    errata_channel_config_init(&config);
    config.server = server != NULL ? server : variable("ERRATA_SERVER");
    config.token_file = variable("ERRATA_TOKEN_FILE");
    config.ca_file = variable("ERRATA_CA");
    config.client_cert_file = variable("ERRATA_CLIENT_CERT");
    config.client_key_file = variable("ERRATA_CLIENT_KEY");
    config.tls =
        config.ca_file != NULL || config.client_cert_file != NULL || variable("ERRATA_TLS") != NULL;
    config.attempts_max = EASY_ATTEMPTS_MAX;
    return errata_easy_open_config(&config);
}

void errata_easy_close(struct errata_easy *take_easy)
{
    if (take_easy == NULL) {
        return;
    }
    errata_answer_free(take_easy->answer);
    errata_blocking_close(take_easy->blocking);
    free(take_easy);
}

const char *errata_easy_error(const struct errata_easy *easy)
{
    return easy != NULL ? easy->error : out_of_memory;
}

enum errata_code errata_easy_code(const struct errata_easy *easy)
{
    return easy != NULL ? easy->code : ERRATA_CODE_RESOURCE_EXHAUSTED;
}

struct errata_blocking *errata_easy_blocking(struct errata_easy *easy)
{
    return easy != NULL ? easy->blocking : NULL;
}

/* --- calls --- */

const char *errata_easy_examples(struct errata_easy *easy, const char *layout,
                                 const char *document_id)
{
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    const Errata__V1__GetExamplesResponse *reply = NULL;
    struct errata_answer *answer = NULL;
    enum errata_result result = ERRATA_OK;

    if (!begin(easy)) {
        return "";
    }
    errata_get_examples_request_set_layout_fingerprint(&request, layout != NULL ? layout : "");
    errata_get_examples_request_set_document_id(&request, document_id);
    request.view = ERRATA__V1__EXAMPLE_VIEW__EXAMPLE_VIEW_HINTS;
    result = errata_get_examples_wait(easy->blocking, &request, NULL, &answer, &reply);
    return finish(easy, result, answer, reply != NULL) ? reply->hint_examples_json : "";
}

/* Returns {"input_snippet": TEXT}, terminated by a NUL; NULL if memory is exhausted. */
static const char *write_meta(struct arena *arena, const char *snippet)
{
    struct buffer json;

    buffer_init(&json, arena, strlen(snippet) + 64);
    buffer_append(&json, SLICE("{\"input_snippet\": "));
    json_write_string(&json, slice_text(snippet), false);
    buffer_append(&json, SLICE("}"));
    buffer_append_byte(&json, 0);
    return buffer_ok(&json) ? (const char *)buffer_slice(&json).data : NULL;
}

/* Sends a correction; `meta` is the JSON of its snippet, or NULL. */
static const char *capture(struct errata_easy *easy, const struct errata_correction *correction,
                           const char *meta_json)
{
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    const Errata__V1__CaptureFeedbackEventResponse *reply = NULL;
    struct errata_answer *answer = NULL;
    enum errata_result result = ERRATA_OK;

    event.event_type =
        ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    errata_feedback_event_set_layout_fingerprint(&event, correction->layout);
    errata_feedback_event_set_document_id(&event, correction->document_id);
    errata_feedback_event_set_actor_user_id(&event, correction->actor_user_id);
    if (correction->before_json != NULL) {
        errata_feedback_event_set_before_json(&event, correction->before_json);
    }
    if (correction->after_json != NULL) {
        errata_feedback_event_set_after_json(&event, correction->after_json);
    }
    if (meta_json != NULL) {
        errata_feedback_event_set_meta_json(&event, meta_json);
    }
    request.event = &event;
    result = errata_capture_feedback_event_wait(easy->blocking, &request, NULL, &answer, &reply);
    return finish(easy, result, answer, reply != NULL && reply->event != NULL) ? reply->event->id
                                                                               : "";
}

const char *errata_easy_correct(struct errata_easy *easy,
                                const struct errata_correction *correction)
{
    struct arena arena;
    const char *meta_json = NULL;
    const char *id = "";

    if (!begin(easy)) {
        return "";
    }
    if (correction == NULL) {
        set_error(easy, ERRATA_CODE_INVALID_ARGUMENT, "correction: NULL; expected a correction");
        return "";
    }
    arena_init(&arena, META_BYTES_MAX);
    if (correction->input_snippet != NULL) {
        meta_json = write_meta(&arena, correction->input_snippet);
    }
    if (correction->input_snippet != NULL && meta_json == NULL) {
        set_result(easy, ERRATA_TOO_LARGE);
    } else {
        id = capture(easy, correction, meta_json);
    }
    arena_deinit(&arena);
    return id;
}
