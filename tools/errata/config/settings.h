/*
 * settings.h: which server, and which token: what the command line says, else the environment, else
 * the context, else the default. A token of a context goes to that context's server alone, whoever
 * names another server. Pure: who asks gives the values and the contexts.
 */
#ifndef ERRATA_TOOLS_ERRATA_CONFIG_SETTINGS_H
#define ERRATA_TOOLS_ERRATA_CONFIG_SETTINGS_H

#include "tools/errata/config/contexts.h"

/* The port of a server that is given without one. */
#define SETTINGS_PORT_DEFAULT "7443"
#define SETTINGS_SERVER_DEFAULT "127.0.0.1:" SETTINGS_PORT_DEFAULT

/* Where a setting comes from. */
enum settings_source {
    SETTINGS_NOWHERE, /* it has no value */
    SETTINGS_OPTION, /* the command line */
    SETTINGS_ENVIRONMENT,
    SETTINGS_CONTEXT,
    SETTINGS_DEFAULT
};

/* What was given; NULL or "" where it was not. */
struct settings_given {
    const char *server_option; /* --server */
    const char *token_file_option; /* --token-file */
    const char *context_option; /* --context */
    const char *server_variable; /* ERRATA_SERVER */
    const char *token_file_variable; /* ERRATA_TOKEN_FILE */
    const char *context_variable; /* ERRATA_CONTEXT */
};

/* Texts are borrowed from what was given and from the contexts. */
struct settings {
    struct slice server; /* HOST or HOST:PORT, not checked yet */
    enum settings_source server_source;
    struct slice token_file; /* or empty */
    struct slice token; /* its text, of a context; or empty */
    enum settings_source token_source;
    const struct context *context; /* the one that was looked at, used or not; or NULL */
    enum settings_source context_source; /* SETTINGS_DEFAULT: the current one */
    bool token_withheld; /* the context has a token, but it is for another server */
};

/* Whether contexts can make a difference: where not, their file need not be read. */
bool settings_need_contexts(const struct settings_given *given);
/* ERR_NOT_FOUND, with a sentence in `fault`, for a context that is named but not there. */
MUST_CHECK enum err settings_resolve(const struct settings_given *given,
                                     const struct contexts *contexts, struct fault *fault,
                                     struct settings *ret_settings);

#endif
