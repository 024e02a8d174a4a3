/*
 * settings.c: see settings.h.
 */
#include "tools/errata/config/settings.h"

static bool is_given(const char *value)
{
    return value != NULL && value[0] != '\0';
}

bool settings_need_contexts(const struct settings_given *given)
{
    return is_given(given->context_option) ||
           (!is_given(given->server_option) && !is_given(given->server_variable));
}

/* Which context is looked at, if any. */
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
        return fault_say(fault, ERR_NOT_FOUND, "there is no context \"%.*s\"", (int)name.size,
                         (const char *)name.data);
    }
    return OK;
}

/* A context that the command line names goes before the environment. */
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

/* The server is the one that the context's token is for. */
static bool is_contexts_server(const struct settings *settings)
{
    struct slice server = settings->context->server;

    return slice_equal(settings->server, server.size > 0 ? server : SLICE(SETTINGS_SERVER_DEFAULT));
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
    *ret_settings = settings;
    return OK;
}
