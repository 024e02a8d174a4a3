/*
 * command.h: what a command line program has to offer, as tables: commands by group, their options,
 * the words that options take, pages about more than one command. They are the only source of the
 * parsing of a command line, help, completion and the manual page, so they cannot disagree.
 *
 * The name of a value in usage (`--role ROLE`, `FILE|FOLDER...`) specifies its kind: words of one kind
 * have one name everywhere, by which they are completed. `A|B` is one of both, `[A]` may be left out,
 * `A...` may be repeated.
 */
#ifndef ERRATA_TOOLS_ERRATA_HELP_COMMAND_H
#define ERRATA_TOOLS_ERRATA_HELP_COMMAND_H

#include "store/base/slice.h"
#include "tools/errata/terminal/options.h"

/* Of a command: more than a few are not read. */
#define COMMAND_EXAMPLES_MAX 5

/* How the program ends; `errata help exit-codes` lists them. */
enum cli_exit {
    CLI_OK = 0,
    CLI_CALL_FAILED = 1, /* the server answered with an error, or that it does not serve */
    CLI_USAGE = 2,
    CLI_NO_CONNECTION = 3, /* no answer came: no connection, or it was lost */
    CLI_LOCAL = 4, /* a file could not be read, or the output not be written */
    CLI_DAMAGED = 5, /* a verification found damage */
    CLI_INTERRUPTED = 130 /* stopped by SIGINT, after reporting what was done */
};

struct cli;
struct command_call;

struct command_example {
    const char *line; /* as it is typed; NULL ends a list. A line feed follows a backslash */
    const char *what; /* its purpose; NULL if the line is clear */
};

/* One command, such as `token create`. */
struct command {
    const char *group; /* NULL for a command of one word */
    const char *name; /* NULL ends a list */
    const char *arguments; /* what follows the name in usage; NULL: nothing */
    const char *summary; /* one line, for lists: what it does */
    const char *help; /* sentences: all that there is to know */
    struct command_example examples[COMMAND_EXAMPLES_MAX + 1];
    const char *exits; /* sentences about exit codes, where they mean more than everywhere */
    const struct option_spec *options; /* NULL: none but the global ones */
    bool hidden; /* for programs: in no list */
    enum cli_exit (*run)(struct cli *cli);
    const struct command_call *call; /* of a command that is one method; NULL: `run` knows */
};

/* Commands that belong together. */
struct command_group {
    const char *section; /* the task; groups of one section are adjacent */
    const char *name; /* of the group; NULL: each command is one word */
    const char *summary; /* of a group with a name */
    const struct command *commands;
    const char
        *brief; /* the summary if it is on one line with the commands; NULL: the summary fits */
};

/* A page about more than one command, or a program's environment. */
struct command_topic {
    const char *name; /* NULL ends a list */
    const char *title;
    const char *manual; /* the title of its section of the manual page, in capitals */
    const char *text; /* sentences; NULL: it is `entries` alone */
    const struct option_spec *entries; /* a term and its meaning each; NULL: none */
};

/* One of the words that a value may be. */
struct command_word {
    struct slice word;
    struct slice meaning; /* or empty */
};

struct command_set {
    const char *program;
    const char *summary; /* one line */
    const char *about; /* sentences */
    const struct command_group *groups; /* ended by one without commands */
    const struct option_spec *options; /* of every command */
    const struct command_topic *topics;
    /* The index-th word of a value name such as ROLE, by the contract; false after the last, and
     * for names of free text. */
    bool (*word)(struct slice name, size_t index, struct command_word *ret_word);
};

/* Walks all commands; NULL at the end. Start with a zeroed one. */
struct command_walk {
    size_t group;
    size_t command;
};

const struct command *command_next(const struct command_set *set, struct command_walk *walk);

/* NULL if there is none; a group of NULL finds commands of one word. */
const struct command *command_find(const struct command_set *set, const char *group,
                                   const char *name);
const struct command_group *command_find_group(const struct command_set *set, const char *name);
const struct command_topic *command_find_topic(const struct command_set *set, const char *name);
/* The nearest first word of a command line, or (with a group) second word; empty where none is near.
 * Topics count as first words where `topics`. */
struct slice command_nearest(const struct command_set *set, const char *group, const char *typed,
                             bool topics);

/* Walks the values that arguments ask for, such as `METHOD [JSON|@FILE|-]`: each `FILE|FOLDER` in
 * turn, without brackets and dots. */
struct command_values {
    const char *rest;
    bool optional; /* the last value is in brackets */
    bool repeated; /* the last value ends in dots */
};

/* The numbers of words that a command line has at least and at most, according to the arguments. */
struct command_words {
    size_t min;
    size_t max;
};

struct command_words command_count_words(const struct command *command);
bool command_next_value(struct command_values *values, struct slice *ret_value);
/* Splits `A|B`: the first alternative, which is cut off; false at the end. */
bool command_next_choice(struct slice *value, struct slice *ret_choice);

#endif
