/*
 * message.h: prints the fields of a message of the contract, with their rules: for people and as JSON.
 */
#ifndef ERRATA_TOOLS_ERRATA_METHODS_MESSAGE_H
#define ERRATA_TOOLS_ERRATA_METHODS_MESSAGE_H

#include "store/base/buffer.h"
#include "tools/errata/cli.h"

/* Maximum depth of printed messages within messages. */
#define MESSAGE_DEPTH_MAX 4
/* Maximum messages and enums of one method. */
#define MESSAGE_COUNT_MAX 64

/* `Service` of `package.Service`. */
struct slice message_short_name(struct slice name);
/* Prints a heading and a row per field: for a request, the fields that may be set, with their
 * rules; for a reply, all. */
MUST_CHECK enum cli_exit message_print(struct cli *cli, const struct message_info *message,
                                       bool request);
/* Appends `"full.name": [{"name", "type", ...}, ...]` of each message of a method. */
void message_add_json(struct buffer *json, const struct method_info *method);

#endif
