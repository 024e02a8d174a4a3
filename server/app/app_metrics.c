/*
 * app_metrics.c: --metrics-listen: an address of its own that answers only /metrics, /healthz and
 * /readyz, without a token, by HTTP/1.1. It knows no method, so it makes no calls. It is open until
 * the server has drained, so that the end is seen, too.
 */
#include "server/app/app_internal.h"

#include "server/http/http_protocol.h"
#include "store/base/logger.h"

static const struct method_info *find_no_method(struct slice path)
{
    (void)path;
    return NULL;
}

static void on_metrics_tick(void *user, int64_t now_us)
{
    const struct app *app = (const struct app *)user;

    call_server_tick(app->metrics.calls, now_us);
}

static const struct http_protocol *const metrics_protocols[] = {&http_plain_protocol};

enum err app_metrics_bind(struct app *app)
{
    const struct config *config = app->config;

    if (config->metrics_host[0] == '\0') {
        return OK;
    }
    return net_bind(config->metrics_host, config->metrics_port, &app->fault, &app->metrics.bound);
}

enum err app_metrics_make(struct app *app)
{
    struct app_metrics *metrics = &app->metrics;
    struct call_config calls = call_config_default(pipeline_handlers(app->pipeline));
    struct net_protocol protocol;
    const struct net_config net = {
        .clock = app->ctx.clock,
        .connections_max = APP_METRICS_CONNECTIONS_MAX,
        .protocols = &protocol,
        .protocol_count = 1,
        .on_tick = on_metrics_tick,
        .user = app,
    };
    enum err err = OK;

    if (metrics->bound.socket < 0) {
        return OK;
    }
    calls.find_method = find_no_method;
    calls.plain = &app->open_plain;
    err = call_server_new(&calls, clock_monotonic_us(app->ctx.clock), &metrics->calls);
    if (err != OK) {
        return err;
    }
    err = http_server_new(metrics->calls, metrics_protocols, 1, &metrics->cors, &metrics->http);
    if (err != OK) {
        return err;
    }
    err = http1_server_new(metrics->http, app->ctx.clock, &metrics->http1);
    if (err != OK) {
        return err;
    }
    protocol = http1_server_protocol(metrics->http1);
    return net_server_new(&app->loop, &net, &metrics->net);
}

enum err app_metrics_listen(struct app *app)
{
    struct app_metrics *metrics = &app->metrics;
    enum err err = OK;

    if (metrics->net == NULL) {
        return OK;
    }
    err = net_server_listen(metrics->net, &metrics->bound, &app->fault);
    if (err == OK) {
        logger_printf(LOGGER_INFO, "metrics on %s", metrics->bound.address);
    }
    return err;
}

static void on_metrics_closed(void *user)
{
    struct app *app = (struct app *)user;

    app->metrics.open = false;
    app_close_if_idle(app);
}

void app_metrics_close(struct app *app)
{
    if (app->metrics.net != NULL) {
        app->metrics.open = true;
        net_server_close(app->metrics.net, on_metrics_closed, app);
    }
}

void app_metrics_free(struct app *app)
{
    net_server_free(app->metrics.net);
    http1_server_free(app->metrics.http1);
    http_server_free(app->metrics.http);
    call_server_free(app->metrics.calls);
    net_unbind(&app->metrics.bound);
}
