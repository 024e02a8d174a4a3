/*
 * help.h: what a program can do, for people, at every level: everything in one screen, all commands,
 * one group, one command, one topic. Wrapped at the terminal's width.
 */
#ifndef ERRATA_TOOLS_ERRATA_HELP_HELP_H
#define ERRATA_TOOLS_ERRATA_HELP_HELP_H

#include "tools/errata/help/command.h"
#include "tools/errata/terminal/print.h"

/* Groups and words, on one screen of 24 lines. */
void help_print_overview(const struct command_set *set, struct printer *out);
/* All commands, the options of all, and the topics. */
void help_print_all(const struct command_set *set, struct printer *out);
void help_print_group(const struct command_set *set, struct printer *out,
                      const struct command_group *group);
void help_print_command(const struct command_set *set, struct printer *out,
                        const struct command *command);
void help_print_topic(const struct command_set *set, struct printer *out,
                      const struct command_topic *topic);

/* `corrections list` of a command, in the arena. */
struct slice help_command_name(struct arena *arena, const struct command *command);
/* `--role ROLE`, in the arena. */
struct slice help_option_term(struct arena *arena, const struct option_spec *option);
/* Returns the description of an option, with its possible values, allocated in the arena. */
struct slice help_option_meaning(const struct command_set *set, struct arena *arena,
                                 const struct option_spec *option);

#endif
