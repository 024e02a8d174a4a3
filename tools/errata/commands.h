/*
 * commands.h: all commands, one list a group, and how a command line finds its command. A list ends
 * with a command without a name.
 */
#ifndef ERRATA_TOOLS_ERRATA_COMMANDS_H
#define ERRATA_TOOLS_ERRATA_COMMANDS_H

#include "tools/errata/cli.h"

extern const struct command call_commands[];
extern const struct command method_commands[];
extern const struct command token_commands[];
extern const struct command org_commands[];
extern const struct command correction_commands[];
extern const struct command example_commands[];
extern const struct command event_commands[];
extern const struct command layout_commands[];
extern const struct command admin_commands[];
extern const struct command health_commands[];

/* Options that every command takes, before or behind its name. */
extern const struct option_spec command_global_options[];

/* Reads the whole command line into cli->options, and finds its command. CLI_OK with cli->command
 * NULL where `--help`, `--version` or nothing was asked for and has been answered. */
MUST_CHECK enum cli_exit command_read(struct cli *cli, int count, char **words);

#endif
