/*
 * commands.h: all commands of `errata`, one list per group, and the search for the command of a
 * command line. A list ends with a command without a name.
 */
#ifndef ERRATA_TOOLS_ERRATA_COMMANDS_H
#define ERRATA_TOOLS_ERRATA_COMMANDS_H

#include "tools/errata/cli.h"

extern const struct command call_commands[];
extern const struct command method_commands[];
extern const struct command proto_commands[];
extern const struct command token_commands[];
extern const struct command org_commands[];
extern const struct command correction_commands[];
extern const struct command example_commands[];
extern const struct command prompt_commands[];
extern const struct command extraction_commands[];
extern const struct command mapping_commands[];
extern const struct command verdict_commands[];
extern const struct command rule_commands[];
extern const struct command label_commands[];
extern const struct command review_commands[];
extern const struct command fragment_commands[];
extern const struct command decision_commands[];
extern const struct command proposal_commands[];
extern const struct command guideline_commands[];
extern const struct command agent_commands[];
extern const struct command turn_commands[];
extern const struct command text_commands[];
extern const struct command analytics_commands[];
extern const struct command explain_commands[];
extern const struct command event_commands[];
extern const struct command layout_commands[];
extern const struct command admin_commands[];
extern const struct command health_commands[];
extern const struct command context_commands[];
extern const struct command completion_commands[];
extern const struct command transfer_commands[];

/* Pages about more than one command. */
extern const struct command_topic command_topics[];

/* All commands of the program. */
extern const struct command_set command_set;

/* Reads the whole command line into cli->options, and finds its command. Returns CLI_OK with
 * cli->command NULL if help or the version was requested and printed. */
MUST_CHECK enum cli_exit command_read(struct cli *cli, int count, char **words);

#endif
