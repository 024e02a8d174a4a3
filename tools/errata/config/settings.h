/*
 * settings.h: chooses the server, TLS and the token: from the command line, else the environment, else the
 * context, else the default. A context's token is sent only to that context's server, however the server
 * is named. Pure: the caller passes the values and the contexts.
 */
#ifndef ERRATA_TOOLS_ERRATA_CONFIG_SETTINGS_H
#define ERRATA_TOOLS_ERRATA_CONFIG_SETTINGS_H

#include "tools/errata/config/contexts.h"

/* The default port. */
#define SETTINGS_PORT_DEFAULT "7443"
#define SETTINGS_SERVER_DEFAULT "127.0.0.1:" SETTINGS_PORT_DEFAULT

/* The origin of a setting. */
enum settings_source {
    SETTINGS_NOWHERE, /* the value is not set */
    SETTINGS_OPTION, /* the command line */
    SETTINGS_ENVIRONMENT,
    SETTINGS_CONTEXT,
    SETTINGS_DEFAULT
};

/* TLS as the user gave it; NULL or "" if absent. Any of them requires TLS. */
struct settings_tls_given {
    const char *tls; /* any text */
    const char *ca; /* path */
    const char *client_cert; /* path */
    const char *client_key; /* path */
};

/* The values given by the user; NULL or "" if absent. */
struct settings_given {
    const char *server_option; /* --server */
    const char *token_file_option; /* --token-file */
    const char *context_option; /* --context */
    const char *server_variable; /* ERRATA_SERVER */
    const char *token_file_variable; /* ERRATA_TOKEN_FILE */
    const char *context_variable; /* ERRATA_CONTEXT */
    struct settings_tls_given tls_options; /* --tls, --ca, --client-cert, --client-key */
    struct settings_tls_given tls_variables; /* ERRATA_TLS, ERRATA_CA, ... */
};

/* The texts are borrowed from settings_given and from the contexts. */
struct settings {
    struct slice server; /* HOST or HOST:PORT, not validated yet */
    enum settings_source server_source;
    struct slice token_file; /* path of the token file; or empty */
    struct slice token; /* token text of a context; or empty */
    enum settings_source token_source;
    const struct context *context; /* the context that was read, used or not; or NULL */
    enum settings_source context_source; /* SETTINGS_DEFAULT for the current context */
    struct context_tls tls; /* the files are those of its source */
    enum settings_source tls_source; /* SETTINGS_NOWHERE: cleartext */
    bool token_withheld; /* the context has a token, but it is for another server */
};

/* A server's address; the host is borrowed and has no brackets. */
struct settings_address {
    struct slice host;
    uint16_t port;
};

/* Returns whether TLS is given. */
bool settings_tls_given(const struct settings_tls_given *given);
/* Splits HOST, HOST:PORT or [HOST]:PORT; false if it is malformed. An IPv6 address with a port needs the
 * brackets. */
bool settings_split_server(struct slice server, struct settings_address *ret_address);
/* Returns whether the result may depend on contexts. If not, their file need not be read. */
bool settings_need_contexts(const struct settings_given *given);
/* ERR_NOT_FOUND, with a message in `fault`, if the named context does not exist. */
MUST_CHECK enum err settings_resolve(const struct settings_given *given,
                                     const struct contexts *contexts, struct fault *fault,
                                     struct settings *ret_settings);

#endif
