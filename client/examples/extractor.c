/*
 * extractor.c: a small service that extracts orders and uses Errata. Before each extraction it
 * requests examples of the order's layout, and continues without them if Errata is unavailable.
 * Corrections are stored in the background. Both use one channel on one libuv loop.
 *
 *   extractor FILE ...     extracts these files, then exits
 *   extractor FOLDER       extracts each *.txt that is moved into it, until SIGINT or SIGTERM
 *
 * ERRATA_SERVER and ERRATA_TOKEN_FILE name the server and the token. order.h describes an order, and the
 * functions that simulate the model and the person.
 */
#include "order.h"

#include <errata/captures.h>
#include <errata/v1/feedback_service.client.h>
#include <errata/v1/prompt_service.client.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

/* The longest time that a document waits for its examples. */
#define LOOKUP_TIMEOUT_MS 250
/* The longest time at the end to store queued corrections. */
#define DRAIN_MS 5000

struct service {
    uv_loop_t loop;
    struct errata_channel *channel;
    struct errata_captures *captures;
    uv_fs_event_t folder;
    uv_signal_t signals[2];
    const char *folder_path; /* NULL: files were named; the service exits after the last */
    unsigned extracting; /* number of documents waiting for their examples */
    bool ending;
};

struct job {
    struct service *service;
    struct order order;
};

/* --- the end --- */

static void on_captures_closed(void *user, const struct errata_captures_statistics *statistics)
{
    struct service *service = (struct service *)user;

    printf("corrections: %" PRIu64 " added, %" PRIu64 " stored, %" PRIu64 " dropped\n",
           statistics->added, statistics->stored,
           statistics->dropped[ERRATA_DROP_FULL] + statistics->dropped[ERRATA_DROP_REFUSED] +
               statistics->dropped[ERRATA_DROP_EXPIRED] + statistics->dropped[ERRATA_DROP_CLOSED]);
    errata_channel_close(service->channel, NULL, NULL); /* the last handle on the loop */
}

static void end_when_done(struct service *service)
{
    if (service->ending && service->extracting == 0) {
        errata_captures_close(service->captures, DRAIN_MS, on_captures_closed, service);
        service->ending = false; /* once */
    }
}

/* --- corrections --- */

/* Writes a JSON string. */
static void write_json_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\') {
            fprintf(to, "\\%c", *at);
        } else if ((unsigned char)*at < 0x20) {
            fprintf(to, "\\u%04x", (unsigned)*at);
        } else {
            fputc(*at, to);
        }
    }
    fputc('"', to);
}

/* Returns {NAME: TEXT} or {NAME: TEXT, "qty": QUANTITY}, to be freed; NULL if memory is exhausted. */
static char *write_json(const char *name, const char *text, const long *quantity)
{
    char *json = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&json, &size);

    if (to == NULL) {
        return NULL;
    }
    fputc('{', to);
    write_json_text(to, name);
    fputs(": ", to);
    write_json_text(to, text);
    if (quantity != NULL) {
        fprintf(to, ", \"qty\": %ld", *quantity);
    }
    fputc('}', to);
    return fclose(to) == 0 ? json : NULL;
}

/* Adds a correction to the queue, which copies it. Never blocks. */
static void capture(void *user, const struct order *order, const struct order_item *item,
                    long quantity)
{
    struct service *service = (struct service *)user;
    Errata__V1__FeedbackEvent event = ERRATA__V1__FEEDBACK_EVENT__INIT;
    Errata__V1__CaptureFeedbackEventRequest request =
        ERRATA__V1__CAPTURE_FEEDBACK_EVENT_REQUEST__INIT;
    char *before = write_json("sku", item->sku, &item->quantity);
    char *after = write_json("sku", item->sku, &quantity);
    char *meta = write_json("input_snippet", item->line, NULL);
    enum errata_result result = ERRATA_OK;

    if (before == NULL || after == NULL || meta == NULL) {
        result = ERRATA_MEMORY;
        goto out;
    }
    errata_feedback_event_set_event_type(
        &event, ERRATA__V1__FEEDBACK_EVENT_TYPE__FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED);
    errata_feedback_event_set_layout_fingerprint(&event, order->layout);
    errata_feedback_event_set_document_id(&event, order->id);
    errata_feedback_event_set_actor_user_id(&event, "ada"); /* the person who checks orders */
    errata_feedback_event_set_entity_type(&event, "order_item");
    errata_feedback_event_set_entity_id(&event, item->sku);
    errata_feedback_event_set_before_json(&event, before);
    errata_feedback_event_set_after_json(&event, after);
    errata_feedback_event_set_meta_json(&event, meta);
    errata_capture_feedback_event_request_set_event(&request, &event);
    result = errata_captures_add(service->captures, &request);
    printf("  %s corrected to %ld\n", item->sku, quantity);
out:
    if (result !=
        ERRATA_OK) { /* the capture is lost: a service would count it or store it elsewhere */
        fprintf(stderr, "%s: correction lost: %s\n", order->id, errata_result_text(result));
    }
    free(before);
    free(after);
    free(meta);
}

/* Called for each correction that the queue could not store. */
static void on_drop(void *user, enum errata_drop why, struct errata_bytes request,
                    const struct errata_status *status)
{
    static const char *const reasons[] = {"full", "refused", "expired", "closed"};

    (void)user;
    (void)request; /* the encoded request, for example to store it elsewhere */
    fprintf(stderr, "correction dropped (%s): %s\n", reasons[why],
            status != NULL ? status->message : "it was not sent");
}

/* --- documents --- */

static void extract(struct job *job, const char *hint_examples_json)
{
    struct service *service = job->service;
    struct order *order = &job->order;
    char *prompt = order_write_prompt(order, hint_examples_json);

    if (prompt != NULL) {
        order_extract(order, prompt);
        printf("%s: extracted %s examples\n", order->id,
               hint_examples_json[0] != '\0' ? "with" : "without");
        for (size_t i = 0; i < order->item_count; i++) {
            printf("  %s: %ld\n", order->items[i].sku, order->items[i].quantity);
        }
        order_read_corrections(order, capture, service);
        (void)fflush(stdout);
    }
    free(prompt);
    free(job);
    service->extracting--;
    end_when_done(service);
}

static void on_examples(void *user, const struct errata_status *status,
                        const Errata__V1__GetExamplesResponse *reply)
{
    struct job *job = (struct job *)user;

    if (reply == NULL) { /* examples improve the extraction, but are not required */
        fprintf(stderr, "%s: no examples: %s: %s\n", job->order.id, errata_code_name(status->code),
                status->message);
    }
    extract(job, reply != NULL ? reply->hint_examples_json : "");
}

static void handle(struct service *service, const char *path)
{
    struct job *job = (struct job *)malloc(sizeof(*job));
    Errata__V1__GetExamplesRequest request = ERRATA__V1__GET_EXAMPLES_REQUEST__INIT;
    struct errata_options options;
    enum errata_result result = ERRATA_OK;

    if (job == NULL || !order_read(&job->order, path)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        free(job);
        return;
    }
    job->service = service;
    service->extracting++;
    errata_options_init(&options);
    options.timeout_ms = LOOKUP_TIMEOUT_MS;
    errata_get_examples_request_set_layout_fingerprint(&request, job->order.layout);
    errata_get_examples_request_set_document_id(&request, job->order.id);
    errata_get_examples_request_set_view(
        &request,
        ERRATA__V1__EXAMPLE_VIEW__EXAMPLE_VIEW_HINTS); /* requests only the text for the prompt */
    result = errata_get_examples(service->channel, &request, &options, on_examples, job, NULL);
    if (result != ERRATA_OK) { /* no callback follows */
        fprintf(stderr, "%s: no examples: %s\n", job->order.id, errata_result_text(result));
        extract(job, "");
    }
}

/* --- a folder --- */

static void on_folder(uv_fs_event_t *folder, const char *name, int events, int failed)
{
    struct service *service = (struct service *)folder->data;
    size_t size = name != NULL ? strlen(name) : 0;
    char path[1024];

    if (failed != 0 || (events & UV_RENAME) == 0 || size < 5 ||
        strcmp(name + size - 4, ".txt") != 0) {
        return;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", service->folder_path, name);
    handle(service, path);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct service *service = (struct service *)signal->data;

    (void)number;
    uv_close((uv_handle_t *)&service->folder, NULL);
    uv_close((uv_handle_t *)&service->signals[0], NULL);
    uv_close((uv_handle_t *)&service->signals[1], NULL);
    service->ending = true;
    end_when_done(service);
}

/* Returns 0, or an error of libuv. */
static int watch(struct service *service, const char *path)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    int failed = 0;

    service->folder_path = path;
    service->folder.data = service;
    (void)uv_fs_event_init(&service->loop, &service->folder);
    for (size_t i = 0; i < 2; i++) {
        service->signals[i].data = service;
        (void)uv_signal_init(&service->loop, &service->signals[i]);
        failed = uv_signal_start(&service->signals[i], on_signal, numbers[i]);
        if (failed != 0) {
            return failed;
        }
    }
    return uv_fs_event_start(&service->folder, on_folder, path, 0);
}

static bool is_folder(const char *path)
{
    uv_fs_t request;
    bool folder = uv_fs_stat(NULL, &request, path, NULL) == 0 &&
                  (request.statbuf.st_mode & S_IFMT) == S_IFDIR;

    uv_fs_req_cleanup(&request);
    return folder;
}

/* --- the beginning --- */

static int open_errata(struct service *service)
{
    struct errata_channel_config channel;
    struct errata_captures_config captures;
    enum errata_result result = ERRATA_OK;
    char problem[256];

    errata_channel_config_init(&channel);
    channel.server = getenv("ERRATA_SERVER");
    channel.token_file = getenv("ERRATA_TOKEN_FILE");
    channel.user_agent = "extractor/1.0";
    result =
        errata_channel_open(&service->loop, &channel, problem, sizeof(problem), &service->channel);
    if (result != ERRATA_OK) {
        fprintf(stderr, "%s\n", problem);
        return 2;
    }
    errata_captures_config_init(&captures);
    captures.on_drop = on_drop;
    captures.user = service;
    result = errata_captures_open(&service->loop, service->channel, &captures, &service->captures);
    if (result != ERRATA_OK) {
        fprintf(stderr, "%s\n", errata_result_text(result));
        return 2;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static struct service service;
    int failed = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: extractor FILE ... | FOLDER\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN); /* a lost connection is an error, not a signal */
    if (uv_loop_init(&service.loop) != 0 || open_errata(&service) != 0) {
        return 2;
    }
    if (argc == 2 && is_folder(argv[1])) {
        failed = watch(&service, argv[1]);
    } else {
        for (int i = 1; i < argc; i++) {
            handle(&service, argv[i]);
        }
        service.ending = true;
        end_when_done(&service);
    }
    if (failed != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], uv_strerror(failed));
        return 1;
    }
    (void)uv_run(&service.loop, UV_RUN_DEFAULT); /* runs until all handles are closed */
    return uv_loop_close(&service.loop) == 0 ? 0 : 1;
}
