/*
 * connect.h: the connection to the server, and calls in proto JSON. Everything that fails has been
 * said on standard error when these return; callers pass the exit code on.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_CONNECT_H
#define ERRATA_TOOLS_ERRATA_ENGINE_CONNECT_H

#include "store/base/buffer.h"
#include "tools/errata/cli.h"

/* How long a unary call may take unless --timeout says otherwise. */
#define CONNECT_TIMEOUT_MS 30000

/* Where to connect and with what token (where.h). The texts live as long as the program. */
MUST_CHECK enum cli_exit cli_channel_config(struct cli *cli,
                                            struct client_connection_config *ret_config);
/* The same for a channel that tries again. */
MUST_CHECK enum cli_exit cli_lasting_config(struct cli *cli,
                                            struct client_channel_loop_config *ret_config);
/* Connects there; does nothing where that was done. */
MUST_CHECK enum cli_exit cli_connect(struct cli *cli);
/* Drops the connection, so that the next call makes a new one. */
void cli_disconnect(struct cli *cli);

/* Turns a request's JSON into bytes; members that the contract does not know are refused. */
MUST_CHECK enum cli_exit cli_encode(struct cli *cli, const struct method_info *method,
                                    struct slice json, struct slice *ret_wire);
/* The same, but says nothing: what is wrong is in cli->fault. */
MUST_CHECK enum err cli_try_encode(struct cli *cli, const struct method_info *method,
                                   struct slice json, struct buffer *ret_wire);
/* Turns a reply's bytes into JSON, in `arena`, on one line or indented. */
MUST_CHECK enum cli_exit cli_decode(struct cli *cli, const struct method_info *method,
                                    struct slice wire, struct arena *arena, struct slice *ret_json);
/* The metadata and timeout that the command line asks for: --metadata, --idempotency-key. */
MUST_CHECK enum cli_exit cli_call_options(struct cli *cli, const struct method_info *method,
                                          struct client_options *ret_options);

/* A unary call by path with the request's JSON; the reply as JSON on one line. */
MUST_CHECK enum cli_exit cli_call(struct cli *cli, const char *path, struct slice json,
                                  struct slice *ret_reply);
/* The same with options of the caller's, all memory from `arena`. */
MUST_CHECK enum cli_exit cli_call_with(struct cli *cli, const struct client_request *request,
                                       struct arena *arena, struct slice *ret_reply);
/* The method of a path that the contract has. */
const struct method_info *cli_method(const char *path);

#endif
