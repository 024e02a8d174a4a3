/*
 * git.h: runs the git program in a repository, without hooks, and with only the repository's configuration. Names and
 * texts from a server never become arguments; they are written to its input.
 */
#ifndef ERRATA_TOOLS_ERRATA_MIRROR_GIT_H
#define ERRATA_TOOLS_ERRATA_MIRROR_GIT_H

#include "tools/errata/cli.h"

/* The folder of the repository in its work tree. */
#define GIT_FOLDER ".git"
/* Bytes of an object's name in hexadecimal digits: SHA-1, or SHA-256. */
#define GIT_NAME_BYTES_MAX 64

struct git {
    struct cli *cli;
    int folder; /* the work tree; also open in each git process, so that its lock is held until the last one ends */
};

struct git_call {
    const char *const *arguments; /* ends with NULL; the first is the subcommand */
    int input; /* standard input; -1: none */
    struct arena *arena; /* memory of the output; NULL: it is not read */
};

/* Runs git and returns its output. A failure is reported, with git's message. */
MUST_CHECK enum cli_exit git_run(const struct git *git, const struct git_call *call,
                                 struct slice *ret_output);
/* Does the same, but returns whether git succeeded instead of reporting its failure. */
MUST_CHECK enum cli_exit git_ask(const struct git *git, const struct git_call *call,
                                 bool *ret_succeeded, struct slice *ret_output);
/* Creates a file in memory, for the input of git, to which the caller writes; returns -1 without memory. */
int git_input_new(void);

#endif
