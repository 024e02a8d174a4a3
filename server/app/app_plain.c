/*
 * app_plain.c: the plain requests that are answered: the page for people; /healthz and /readyz, for
 * supervisors and load balancers, which reveal only what grpc.health.v1 does; /openapi.json; and /metrics,
 * which needs a token.
 */
#include "server/app/app_internal.h"

#include "server/metrics/metrics.h"
#include "server/rest/openapi.h"
#include "server/web/web.h"

#define APP_PLAIN_TEXT "text/plain; charset=utf-8"

/* Responds as long as the loop runs; a supervisor restarts a server that does not respond. */
static void answer_alive(void *user, const struct plain_request *request,
                         struct plain_response *ret_response)
{
    (void)user;
    (void)request;
    *ret_response = (struct plain_response){
        .status = 200, .content_type = SLICE(APP_PLAIN_TEXT), .body = SLICE("ok\n")};
}

/* Responds with 200 while reads are served, like the health of ""; the lines name the other parts. */
static void answer_ready(void *user, const struct plain_request *request,
                         struct plain_response *ret_response)
{
    const struct app *app = (const struct app *)user;
    bool ready = app->env.health[HEALTH_PART_SERVER] == HEALTH_SERVING;
    struct buffer body;

    buffer_init(&body, request->arena, 256);
    buffer_append(&body, ready ? SLICE("ready\n") : SLICE("not ready\n"));
    for (unsigned part = 0; part < HEALTH_PART_COUNT; part++) {
        struct slice name = env_part_name((enum health_part)part);

        if (name.size > 0) {
            buffer_append(&body, name);
            buffer_append(&body, app->env.health[part] == HEALTH_SERVING ? SLICE(" SERVING\n")
                                                                         : SLICE(" NOT_SERVING\n"));
        }
    }
    *ret_response = (struct plain_response){.status = ready ? 200 : 503,
                                            .content_type = SLICE(APP_PLAIN_TEXT),
                                            .body = buffer_slice(&body)};
}

static void write_metrics(const struct app *app, const struct plain_request *request,
                          struct plain_response *ret_response)
{
    struct buffer body;

    buffer_init(&body, request->arena, (size_t)64 * 1024);
    metrics_write(&app->env, app->ctx.clock, &body);
    *ret_response = buffer_ok(&body)
                        ? (struct plain_response){.status = 200,
                                                  .content_type = SLICE(METRICS_CONTENT_TYPE),
                                                  .body = buffer_slice(&body)}
                        : (struct plain_response){.status = 500,
                                                  .content_type = SLICE(APP_PLAIN_TEXT),
                                                  .body = SLICE("no memory for the metrics\n")};
}

/* The metrics cover all organisations, so only a token with the `server` flag gets them. */
static void answer_metrics(void *user, const struct plain_request *request,
                           struct plain_response *ret_response)
{
    struct app *app = (struct app *)user;
    struct fault fault;
    enum err err = OK;

    fault_init(&fault, request->arena);
    err = pipeline_admit_server(app->pipeline, request, &fault);
    if (err == OK) {
        write_metrics(app, request, ret_response);
        return;
    }
    *ret_response = (struct plain_response){
        .status = err == ERR_UNAUTHENTICATED ? 401 : (err == ERR_DENIED ? 403 : 503),
        .content_type = SLICE(APP_PLAIN_TEXT),
        .body = fault.message.size > 0 ? fault.message : slice_text(err_text(err)),
    };
}

static void answer_open_metrics(void *user, const struct plain_request *request,
                                struct plain_response *ret_response)
{
    write_metrics((const struct app *)user, request, ret_response);
}

static void answer_openapi(void *user, const struct plain_request *request,
                           struct plain_response *ret_response)
{
    (void)user;
    (void)request;
    *ret_response = (struct plain_response){
        .status = 200, .content_type = SLICE("application/json"), .body = openapi_json};
}

void app_plain_make(struct app *app)
{
    static const struct plain_handler handlers[] = {
        {{(const uint8_t *)"/healthz", 8}, answer_alive},
        {{(const uint8_t *)"/readyz", 7}, answer_ready},
        {{(const uint8_t *)WEB_PAGE_PATH, sizeof(WEB_PAGE_PATH) - 1}, web_answer},
        {{(const uint8_t *)WEB_FILES_PATH, sizeof(WEB_FILES_PATH) - 1}, web_answer},
        {{(const uint8_t *)"/metrics", 8}, answer_metrics},
        {{(const uint8_t *)"/openapi.json", 13}, answer_openapi},
    };
    /* Responds on --metrics-listen. */
    static const struct plain_handler open_handlers[] = {
        {{(const uint8_t *)"/healthz", 8}, answer_alive},
        {{(const uint8_t *)"/readyz", 7}, answer_ready},
        {{(const uint8_t *)"/metrics", 8}, answer_open_metrics},
    };

    app->plain = (struct plain_table){
        .handlers = handlers, .count = sizeof(handlers) / sizeof(handlers[0]), .user = app};
    app->open_plain =
        (struct plain_table){.handlers = open_handlers,
                             .count = sizeof(open_handlers) / sizeof(open_handlers[0]),
                             .user = app};
}
