/*
 * turns.h: the commands of `errata turns` that make more than one call.
 */
#ifndef ERRATA_TOOLS_ERRATA_TURNS_TURNS_H
#define ERRATA_TOOLS_ERRATA_TURNS_TURNS_H

#include "tools/errata/engine/command_call.h"

/* Prints each turn as `metadata.json`, on a line. */
MUST_CHECK enum cli_exit turns_export(struct cli *cli);
/* Reads messages and answers of a conversation, and prints the feedback of each message on the previous answer. */
MUST_CHECK enum cli_exit turns_chat(struct cli *cli);
/* Prints the basis of a message's reading: the matched words, the similarity, the probability of a
 * rejection. */
void turns_print_evidence(struct cli *cli, struct json_value reply);
/* Prints why a message was read in this way, and the conditions for another result. */
void turns_print_reason(struct cli *cli, struct json_value reply);

#endif
