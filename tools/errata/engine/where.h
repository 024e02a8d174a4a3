/*
 * where.h: determines the server and the token of all calls, once, from the command line, the
 * environment and the file of contexts (config/settings.h). All functions report their failures to
 * the user.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_WHERE_H
#define ERRATA_TOOLS_ERRATA_ENGINE_WHERE_H

#include "tools/errata/cli.h"

/* Maximum bytes of a token file; a token has fewer than 100. */
#define WHERE_TOKEN_BYTES_MAX 4096

/* Returns the path of the file of contexts, in `kept`. */
MUST_CHECK enum cli_exit where_config_path(struct cli *cli, const char **ret_path);
/* Reads the contexts of the user into `kept`; none if there is no file. */
MUST_CHECK enum cli_exit where_read_contexts(struct cli *cli, struct contexts *ret_contexts);
/* Reports an unknown context, with the most similar name. */
MUST_CHECK enum cli_exit where_no_context(struct cli *cli, const struct contexts *contexts,
                                          const char *name);
/* Fills cli->settings, without reading a token's file. */
MUST_CHECK enum cli_exit where_settle(struct cli *cli);
/* Returns the options of TLS on the command line. */
struct settings_tls_given where_tls_options(const struct cli *cli);
/* Reads the files of TLS; NULL for cleartext. The caller unrefs it. */
MUST_CHECK enum cli_exit where_open_tls(struct cli *cli, const struct context_tls *tls,
                                        struct tls_context **ret_context);
/* Does the same as where_settle, and fills cli->token and cli->tls. */
MUST_CHECK enum cli_exit where_resolve(struct cli *cli);
/* Checks a token: one line, without trailing spaces and line feeds; `from` names its source in
 * messages. */
MUST_CHECK enum cli_exit where_check_token(struct cli *cli, const char *from, struct slice text,
                                           struct slice *ret_token);
/* Reads the token of a file, into `kept`. */
MUST_CHECK enum cli_exit where_read_token(struct cli *cli, const char *path,
                                          struct slice *ret_token);
/* Splits HOST:PORT or [HOST]:PORT; the host is copied to `kept`. */
MUST_CHECK enum cli_exit where_split_server(struct cli *cli, struct slice server,
                                            const char **ret_host, uint16_t *ret_port);
/* `--server`, `ERRATA_SERVER`, `the context home`, `the default`: describes the origin of the
 * server or the token; in `kept`. */
const char *where_source(struct cli *cli, enum settings_source source, const char *option,
                         const char *variable);
/* Describes the origin of the server as a phrase: `from --server`, `the default`. */
const char *where_server_phrase(struct cli *cli);

#endif
