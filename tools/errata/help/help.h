/*
 * help.h: prints help at every level: one screen, all commands, one group, one command, one topic.
 * Wrapped at the terminal's width.
 */
#ifndef ERRATA_TOOLS_ERRATA_HELP_HELP_H
#define ERRATA_TOOLS_ERRATA_HELP_HELP_H

#include "tools/errata/help/command.h"
#include "tools/errata/terminal/print.h"

/* Prints the groups and their commands, on one screen of 24 lines. */
void help_print_overview(const struct command_set *set, struct printer *out);
/* Prints all commands, the global options, and the topics. */
void help_print_all(const struct command_set *set, struct printer *out);
void help_print_group(const struct command_set *set, struct printer *out,
                      const struct command_group *group);
void help_print_command(const struct command_set *set, struct printer *out,
                        const struct command *command);
void help_print_topic(const struct command_set *set, struct printer *out,
                      const struct command_topic *topic);

/* Returns a command's words, such as `corrections list`, in the arena. */
struct slice help_command_name(struct arena *arena, const struct command *command);
/* Returns an option with its value name, such as `--role ROLE`, in the arena. */
struct slice help_option_term(struct arena *arena, const struct option_spec *option);
/* Returns the description of an option, with its possible values, allocated in the arena. */
struct slice help_option_meaning(const struct command_set *set, struct arena *arena,
                                 const struct option_spec *option);

#endif
