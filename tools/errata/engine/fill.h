/*
 * fill.h: builds a request from the command line by the descriptor of the method: options.def and
 * words.def have the members' names if they differ from the options', `@FILE` in a value's name
 * allows reading it from a file, a span for SPAN|TIME is added to the present time, one for
 * TIME|SPAN is subtracted from it, and a SIZE may have a unit.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_FILL_H
#define ERRATA_TOOLS_ERRATA_ENGINE_FILL_H

#include "server/codec/contract.h"
#include "tools/errata/engine/request.h"

/* Adds a member for each given option of the command, and for each word, that the request or a message
 * directly in it has, and for each other option that a message in such a message has. Reports a required member that is missing. */
MUST_CHECK enum cli_exit fill_request(struct request *request, struct cli *cli,
                                      const struct method_info *method);
/* Does the same without words, for only the members of `message`, and does not check required
 * ones. */
MUST_CHECK enum cli_exit fill_message(struct request *request, struct cli *cli,
                                      const struct message_info *message);

#endif
