/*
 * settings.c: see settings.h.
 */
#include "tools/errata/config/settings.h"

#include <strings.h>

static bool is_given(const char *value)
{
    return value != NULL && value[0] != '\0';
}

bool settings_need_contexts(const struct settings_given *given)
{
    return is_given(given->context_option) ||
           (!is_given(given->server_option) && !is_given(given->server_variable));
}

/* Finds the context to read, if any. */
static enum err choose_context(const struct settings_given *given, const struct contexts *contexts,
                               struct fault *fault, struct settings *settings)
{
    struct slice name = contexts->current;

    settings->context_source = SETTINGS_DEFAULT;
    if (is_given(given->context_option)) {
        name = slice_text(given->context_option);
        settings->context_source = SETTINGS_OPTION;
    } else if (!settings_need_contexts(given)) {
        name = slice_of(NULL, 0);
    } else if (is_given(given->context_variable)) {
        name = slice_text(given->context_variable);
        settings->context_source = SETTINGS_ENVIRONMENT;
    }
    if (name.size == 0) {
        settings->context_source = SETTINGS_NOWHERE;
        return OK;
    }
    settings->context = contexts_find(contexts, name);
    if (settings->context == NULL) {
        return fault_say(fault, ERR_NOT_FOUND, "unknown context \"%.*s\"", (int)name.size,
                         (const char *)name.data);
    }
    return OK;
}

/* Returns whether the context is given on the command line, which has precedence over the
 * environment. */
static bool goes_first(const struct settings *settings)
{
    return settings->context_source == SETTINGS_OPTION;
}

static void choose_server(const struct settings_given *given, struct settings *settings)
{
    struct slice of_context =
        settings->context != NULL ? settings->context->server : slice_of(NULL, 0);

    if (is_given(given->server_option)) {
        settings->server = slice_text(given->server_option);
        settings->server_source = SETTINGS_OPTION;
    } else if (is_given(given->server_variable) && !(goes_first(settings) && of_context.size > 0)) {
        settings->server = slice_text(given->server_variable);
        settings->server_source = SETTINGS_ENVIRONMENT;
    } else if (of_context.size > 0) {
        settings->server = of_context;
        settings->server_source = SETTINGS_CONTEXT;
    } else {
        settings->server = SLICE(SETTINGS_SERVER_DEFAULT);
        settings->server_source = SETTINGS_DEFAULT;
    }
}

/* Returns whether the chosen server has the same host and port as the context's server. */
static bool is_contexts_server(const struct settings *settings)
{
    struct slice server = settings->context->server;
    struct settings_address chosen;
    struct settings_address own;

    return settings_split_server(settings->server, &chosen) &&
           settings_split_server(server.size > 0 ? server : SLICE(SETTINGS_SERVER_DEFAULT), &own) &&
           chosen.port == own.port && chosen.host.size == own.host.size &&
           strncasecmp((const char *)chosen.host.data, (const char *)own.host.data,
                       own.host.size) == 0;
}

static void choose_token(const struct settings_given *given, struct settings *settings)
{
    const struct context *context = settings->context;
    bool of_context = context != NULL && (context->token.size > 0 || context->token_file.size > 0);
    bool may = of_context && is_contexts_server(settings);

    settings->token_withheld = of_context && !may && !is_given(given->token_file_option) &&
                               !is_given(given->token_file_variable);
    if (is_given(given->token_file_option)) {
        settings->token_file = slice_text(given->token_file_option);
        settings->token_source = SETTINGS_OPTION;
    } else if (is_given(given->token_file_variable) && !(goes_first(settings) && may)) {
        settings->token_file = slice_text(given->token_file_variable);
        settings->token_source = SETTINGS_ENVIRONMENT;
    } else if (may) {
        settings->token = context->token;
        settings->token_file = context->token.size > 0 ? slice_of(NULL, 0) : context->token_file;
        settings->token_source = SETTINGS_CONTEXT;
    }
}

bool settings_tls_given(const struct settings_tls_given *given)
{
    return is_given(given->tls) || is_given(given->ca) || is_given(given->client_cert) ||
           is_given(given->client_key);
}

static struct context_tls tls_of(const struct settings_tls_given *given)
{
    return (struct context_tls){.on = true,
                                .ca = slice_text(given->ca),
                                .client_cert = slice_text(given->client_cert),
                                .client_key = slice_text(given->client_key)};
}

/* A context with TLS needs it wherever its token may go, so that the token is never sent in cleartext. */
static void choose_tls(const struct settings_given *given, struct settings *settings)
{
    const struct context *context = settings->context;

    if (settings_tls_given(&given->tls_options)) {
        settings->tls = tls_of(&given->tls_options);
        settings->tls_source = SETTINGS_OPTION;
    } else if (context != NULL && context->tls.on && is_contexts_server(settings)) {
        settings->tls = context->tls;
        settings->tls_source = SETTINGS_CONTEXT;
    } else if (settings_tls_given(&given->tls_variables)) {
        settings->tls = tls_of(&given->tls_variables);
        settings->tls_source = SETTINGS_ENVIRONMENT;
    }
}

enum err settings_resolve(const struct settings_given *given, const struct contexts *contexts,
                          struct fault *fault, struct settings *ret_settings)
{
    struct settings settings = {.server_source = SETTINGS_NOWHERE};
    enum err err = choose_context(given, contexts, fault, &settings);

    if (err != OK) {
        return err;
    }
    choose_server(given, &settings);
    choose_token(given, &settings);
    choose_tls(given, &settings);
    *ret_settings = settings;
    return OK;
}

/* --- addresses --- */

/* Finds the colon before the port; NULL if there is none. */
static const uint8_t *find_port(struct slice server)
{
    const uint8_t *first = server.size > 0 ? memchr(server.data, ':', server.size) : NULL;
    const uint8_t *last = server.size > 0 ? memrchr(server.data, ':', server.size) : NULL;
    bool bracketed = server.size > 0 && server.data[0] == '[';

    if (last == NULL || (!bracketed && first != last)) {
        return NULL;
    }
    return bracketed && last[-1] != ']' ? NULL : last;
}

/* Parses a port from 1 to 65535 in decimal; returns 0 if it is malformed. */
static uint16_t read_port(struct slice text)
{
    uint32_t port = 0;

    for (size_t i = 0; i < text.size && port <= UINT16_MAX; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return 0;
        }
        port = port * 10 + (uint32_t)(text.data[i] - '0');
    }
    return port <= UINT16_MAX ? (uint16_t)port : 0;
}

bool settings_split_server(struct slice server, struct settings_address *ret_address)
{
    const uint8_t *colon = find_port(server);
    struct slice host = server;
    struct slice port_text = SLICE(SETTINGS_PORT_DEFAULT);
    uint16_t port = 0;

    if (colon != NULL) {
        host = slice_of(server.data, (size_t)(colon - server.data));
        port_text = slice_after(server, host.size + 1);
    }
    if (host.size >= 2 && host.data[0] == '[' && host.data[host.size - 1] == ']') {
        host = slice_of(host.data + 1, host.size - 2);
    }
    port = read_port(port_text);
    if (host.size == 0 || port == 0) {
        return false;
    }
    *ret_address = (struct settings_address){host, port};
    return true;
}
