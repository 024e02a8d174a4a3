/*
 * stub_call.c: blocking calls with typed requests and replies: stores a correction, then prints the examples
 * that go into the next prompt. For programs without an event loop.
 *
 *   ERRATA_SERVER=127.0.0.1:7443 ERRATA_TOKEN_FILE=token ./stub_call
 */
#include <errata/details.h>
#include <errata/v1/feedback_service.client.h>
#include <errata/v1/prompt_service.client.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints why a call failed, with each invalid field of the request. */
static void explain(const struct errata_status *status)
{
    struct errata_details *details = NULL;

    fprintf(stderr, "%s: %s\n", errata_code_name(status->code), status->message);
    if (errata_details_read(status, &details) != ERRATA_OK) {
        return;
    }
    for (size_t i = 0; i < details->violation_count; i++) {
        fprintf(stderr, "  %s: %s\n", details->violations[i].field,
                details->violations[i].description);
    }
    errata_details_free(details);
}

static int capture(struct errata_blocking *blocking)
{
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    const Errata__V1__CaptureFeedbackEventResponse *reply = NULL;
    struct errata_answer *answer = NULL;
    enum errata_result result = ERRATA_OK;

    errata_feedback_event_set_event_type(
        &event, ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED);
    errata_feedback_event_set_layout_fingerprint(&event, "supplier-7");
    errata_feedback_event_set_actor_user_id(&event, "ada");
    errata_feedback_event_set_before_json(&event, "{\"qty\": 10}");
    errata_feedback_event_set_after_json(&event, "{\"qty\": 12}");
    errata_feedback_event_set_meta_json(&event, "{\"input_snippet\": \"12 pcs of ABC-123\"}");
    errata_capture_feedback_event_request_set_event(&request, &event);

    result = errata_capture_feedback_event_wait(blocking, &request, NULL, &answer, &reply);
    if (result != ERRATA_OK) { /* the call was not started */
        fprintf(stderr, "%s\n", errata_result_text(result));
        return 1;
    }
    if (reply == NULL) { /* the call failed */
        explain(errata_answer_status(answer));
    } else {
        printf("stored as %s\n", reply->event->id);
    }
    errata_answer_free(answer); /* also frees the reply */
    return reply == NULL;
}

static int print_examples(struct errata_blocking *blocking)
{
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    const Errata__V1__GetExamplesResponse *reply = NULL;
    struct errata_options options;
    struct errata_answer *answer = NULL;
    enum errata_result result = ERRATA_OK;

    errata_options_init(&options);
    options.timeout_ms = 2000;
    errata_get_examples_request_set_layout_fingerprint(&request, "supplier-7");
    result = errata_get_examples_wait(blocking, &request, &options, &answer, &reply);
    if (result != ERRATA_OK) {
        fprintf(stderr, "%s\n", errata_result_text(result));
        return 1;
    }
    if (reply == NULL) {
        explain(errata_answer_status(answer));
    } else {
        printf("for the prompt: %s\n", reply->hint_examples_json);
    }
    errata_answer_free(answer);
    return reply == NULL;
}

int main(void)
{
    struct errata_channel_config config;
    struct errata_blocking *blocking = NULL;
    char problem[256];
    int failed = 0;

    errata_channel_config_init(&config);
    config.server = getenv("ERRATA_SERVER");
    config.token_file = getenv("ERRATA_TOKEN_FILE");
    config.user_agent = "stub-call/1.0";
    if (errata_blocking_open(&config, problem, sizeof(problem), &blocking) != ERRATA_OK) {
        fprintf(stderr, "%s\n", problem);
        return 2;
    }
    failed = capture(blocking) != 0 || print_examples(blocking) != 0;
    errata_blocking_close(blocking);
    return failed;
}
