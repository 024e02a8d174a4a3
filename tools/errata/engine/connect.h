/*
 * connect.h: the connection to the server, and calls in proto JSON. Failures are reported on standard
 * error before these functions return; callers pass the exit code on.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_CONNECT_H
#define ERRATA_TOOLS_ERRATA_ENGINE_CONNECT_H

#include "store/base/buffer.h"
#include "store/base/json.h"
#include "tools/errata/cli.h"

/* The default time limit of a unary call. */
#define CONNECT_TIMEOUT_MS 30000

/* Sets the address and the token (where.h). The texts are valid until the program ends. */
MUST_CHECK enum cli_exit cli_channel_config(struct cli *cli,
                                            struct client_connection_config *ret_config);
/* Does the same for a channel that retries. */
MUST_CHECK enum cli_exit cli_lasting_config(struct cli *cli,
                                            struct client_channel_loop_config *ret_config);
/* Opens the channel; does nothing if it is open. */
MUST_CHECK enum cli_exit cli_connect(struct cli *cli);
/* Closes the channel, so that the next call opens a new one. */
void cli_disconnect(struct cli *cli);

/* Encodes a request's JSON; refuses unknown members. */
MUST_CHECK enum cli_exit cli_encode(struct cli *cli, const struct method_info *method,
                                    struct slice json, struct slice *ret_wire);
/* Does the same, but leaves errors in cli->fault instead of reporting them. */
MUST_CHECK enum err cli_try_encode(struct cli *cli, const struct method_info *method,
                                   struct slice json, struct buffer *ret_wire);
/* Decodes a reply into JSON, in `arena`, on one line or indented. */
MUST_CHECK enum cli_exit cli_decode(struct cli *cli, const struct method_info *method,
                                    struct slice wire, struct arena *arena, struct slice *ret_json);
/* Reads --timeout, --metadata and --idempotency-key. */
MUST_CHECK enum cli_exit cli_call_options(struct cli *cli, const struct method_info *method,
                                          struct client_options *ret_options);

/* Makes a unary call by path with the request's JSON; returns the reply as JSON on one line. */
MUST_CHECK enum cli_exit cli_call(struct cli *cli, const char *path, struct slice json,
                                  struct slice *ret_reply);
/* Does the same, and parses the reply. */
MUST_CHECK enum cli_exit cli_call_reply(struct cli *cli, const char *path, struct slice json,
                                        struct json_value *ret_reply);
/* Makes a unary call with the caller's options and memory from `arena`. Returns OK even if the call
 * failed; its status is not reported. */
MUST_CHECK enum cli_exit cli_call_status(struct cli *cli, const struct client_request *request,
                                         struct arena *arena, struct client_result *ret_result);
/* Does the same, but reports a failed call; returns the reply as JSON. */
MUST_CHECK enum cli_exit cli_call_with(struct cli *cli, const struct client_request *request,
                                       struct arena *arena, struct slice *ret_reply);
/* Returns the method with this path. Asserts that it exists. */
const struct method_info *cli_method(const char *path);

#endif
