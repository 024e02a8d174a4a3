/*
 * app_plain.c: the plain requests that are answered: the page for people; /healthz and /readyz, for
 * supervisors and load balancers. They need no token, and reveal only what grpc.health.v1 does.
 */
#include "server/app/app_internal.h"

#include "server/web/web.h"

#define APP_PLAIN_TEXT "text/plain; charset=utf-8"

/* Answers while the loop runs: a supervisor restarts a server that does not. */
static void answer_alive(void *user, const struct plain_request *request,
                         struct plain_response *ret_response)
{
    (void)user;
    (void)request;
    *ret_response = (struct plain_response){
        .status = 200, .content_type = SLICE(APP_PLAIN_TEXT), .body = SLICE("ok\n")};
}

/* Answers 200 while reads are served, as the health of "" is; the lines name the other parts. */
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

void app_plain_make(struct app *app)
{
    static const struct plain_handler handlers[] = {
        {{(const uint8_t *)"/healthz", 8}, answer_alive},
        {{(const uint8_t *)"/readyz", 7}, answer_ready},
        {{(const uint8_t *)WEB_PAGE_PATH, sizeof(WEB_PAGE_PATH) - 1}, web_answer},
        {{(const uint8_t *)WEB_FILES_PATH, sizeof(WEB_FILES_PATH) - 1}, web_answer},
    };

    app->plain = (struct plain_table){
        .handlers = handlers, .count = sizeof(handlers) / sizeof(handlers[0]), .user = app};
}
