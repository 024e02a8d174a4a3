/*
 * command.h: the commands of a program, as tables: commands by group, their options, the words that
 * options take, pages about more than one command. They are the only source of the parsing of a
 * command line, help, completion and the manual page, so they cannot disagree.
 *
 * The name of a value in usage (`--role ROLE`, `FILE|FOLDER...`) specifies its kind: words of one
 * kind have the same name everywhere, which selects their completion. `A|B` means one of both,
 * `[A]` may be omitted, `A...` may be repeated.
 */
#ifndef ERRATA_TOOLS_ERRATA_HELP_COMMAND_H
#define ERRATA_TOOLS_ERRATA_HELP_COMMAND_H

#include "store/base/slice.h"
#include "tools/errata/terminal/options.h"

/* Maximum examples of a command. */
#define COMMAND_EXAMPLES_MAX 5

/* Exit codes of the program; `errata help exit-codes` lists them. */
enum cli_exit {
    CLI_OK = 0,
    CLI_CALL_FAILED = 1, /* the server returned an error, or reported that it is not serving */
    CLI_USAGE = 2,
    CLI_NO_CONNECTION = 3, /* no response: no connection, or the connection was lost */
    CLI_LOCAL = 4, /* a file could not be read, or the output not be written */
    CLI_DAMAGED = 5, /* a verification found damage */
    CLI_INTERRUPTED = 130 /* stopped by SIGINT, after reporting the completed part */
};

struct cli;
struct command_call;

struct command_example {
    const char *
        line; /* command line; NULL ends the list. A line may continue after a backslash and a line feed */
    const char *what; /* description of the example; NULL if it needs none */
};

/* Description of one command, such as `token create`. */
struct command {
    const char *group; /* NULL for a command of one word */
    const char *name; /* NULL ends a list */
    const char *arguments; /* arguments in the usage line; NULL: none */
    const char *summary; /* one line for lists */
    const char *help; /* full description, in sentences */
    struct command_example examples[COMMAND_EXAMPLES_MAX + 1];
    const char *exits; /* sentences about exit codes, if they differ from the general ones */
    const struct option_spec *options; /* NULL: none but the global ones */
    bool hidden; /* used by programs; omitted from all lists */
    enum cli_exit (*run)(struct cli *cli);
    const struct command_call
        *call; /* description of a command that calls one method; NULL: use `run` */
};

/* Commands that belong together. */
struct command_group {
    const char *section; /* the task; groups of one section are adjacent */
    const char *name; /* name of the group; NULL: commands without a group */
    const char *summary; /* summary of a group that has a name */
    const struct command *commands;
    const char
        *brief; /* the summary if it is on one line with the commands; NULL: the summary fits */
};

/* A page about more than one command, or a program's environment. */
struct command_topic {
    const char *name; /* NULL ends a list */
    const char *title;
    const char *manual; /* the title of its section of the manual page, in capitals */
    const char *text; /* text of the topic, in sentences; NULL: only `entries` */
    const struct option_spec *entries; /* a term and its meaning each; NULL: none */
};

/* A possible value of an option or argument. */
struct command_word {
    struct slice word;
    struct slice meaning; /* description; or empty */
};

struct command_set {
    const char *program;
    const char *summary; /* one-line description */
    const char *about; /* sentences */
    const struct command_group *groups; /* ends with a group without commands */
    const struct option_spec *options; /* options of all commands */
    const struct command_topic *topics;
    /* Returns the index-th word of a value name such as ROLE, by the contract; false after the last
     * one, and for names of free text. */
    bool (*word)(struct slice name, size_t index, struct command_word *ret_word);
};

/* Iterates over all commands; returns NULL at the end. Start with a zeroed iterator. */
struct command_walk {
    size_t group;
    size_t command;
};

const struct command *command_next(const struct command_set *set, struct command_walk *walk);

/* Finds a command; NULL if there is none. With group NULL finds commands of one word. */
const struct command *command_find(const struct command_set *set, const char *group,
                                   const char *name);
const struct command_group *command_find_group(const struct command_set *set, const char *name);
const struct command_topic *command_find_topic(const struct command_set *set, const char *name);
/* Returns the most similar first word of a command line or, with a group, second word; empty if
 * none is similar. With `topics`, topics count as first words. */
struct slice command_nearest(const struct command_set *set, const char *group, const char *typed,
                             bool topics);

/* Iterates over the values in a description of arguments, such as `METHOD [JSON|@FILE|-]`: each
 * `FILE|FOLDER` in turn, without brackets and dots. */
struct command_values {
    const char *rest;
    bool optional; /* the last value is in brackets */
    bool repeated; /* the last value ends in dots */
};

/* Returns the minimum and maximum number of words of a command line, according to the arguments. */
struct command_words {
    size_t min;
    size_t max;
};

struct command_words command_count_words(const struct command *command);
bool command_next_value(struct command_values *values, struct slice *ret_value);
/* Splits `A|B`: the first alternative, which is cut off; false at the end. */
bool command_next_choice(struct slice *value, struct slice *ret_choice);

#endif
