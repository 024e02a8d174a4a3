/*
 * fill.h: a request filled from the command line. The descriptor of the method says what each option and
 * word is: options.def and words.def name the members, `@FILE` in the value's name lets it be read from a
 * file, and SPAN|TIME counts from now on, TIME|SPAN back from now.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_FILL_H
#define ERRATA_TOOLS_ERRATA_ENGINE_FILL_H

#include "server/codec/contract.h"
#include "tools/errata/engine/request.h"

/* Adds a member for each given option of the command, and for each word, that the request or a message
 * directly in it has, and for each other option that a message in such a message has. Reports a required member that is missing. */
MUST_CHECK enum cli_exit fill_request(struct request *request, struct cli *cli,
                                      const struct method_info *method);
/* The same without words, with the members of `message` alone and no check of required ones. */
MUST_CHECK enum cli_exit fill_message(struct request *request, struct cli *cli,
                                      const struct message_info *message);

#endif
