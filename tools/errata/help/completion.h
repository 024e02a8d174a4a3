/*
 * completion.h: what may come next on a command line, for the completion of shells. The line is read
 * as far as it goes by the same tables as the program's own reading; what a value may be comes from
 * its name in usage, and from the caller for what no table knows.
 *
 * A candidate is printed as `WORD<tab>MEANING`. A line `:files PREFIX` asks the shell for names of
 * files after a part of the word.
 */
#ifndef ERRATA_TOOLS_ERRATA_HELP_COMPLETION_H
#define ERRATA_TOOLS_ERRATA_HELP_COMPLETION_H

#include "store/base/arena.h"
#include "tools/errata/help/command.h"
#include "tools/errata/terminal/print.h"

/* More words than this before the cursor are not completed. */
#define COMPLETION_WORDS_MAX 256

struct completion {
    const struct command_set *set;
    struct printer *out;
    struct arena *arena;
    struct slice before; /* part of the word at the cursor before the value, such as `--role=` */
    struct slice typed; /* typed part of the value */
    size_t taken; /* bytes of the word that the shell has already, and must not get again */
    bool files; /* the shell was asked for files: once is enough */
    struct options options; /* options given so far, which select the server */
    const struct command *command; /* command read so far; or NULL */
    const struct command_group *group; /* group of the command; or NULL */
    /* Offers what `name` may be, where no table knows it; may be NULL. */
    void (*offer)(void *user, struct completion *completion, struct slice name);
    void *user;
};

/* Prints the candidates for the last of `words`, which may be empty; the words before it are whole. The
 * program's own name is not among them. */
void completion_run(struct completion *completion, char **words, size_t count);

/* Offers one candidate; nothing where it does not begin as the value was typed, ignoring case. */
void completion_offer(struct completion *completion, struct slice word, struct slice meaning);

/* Splits a line as a shell does, up to its end, into words without their quotes; the last one may be
 * empty. 0 where it holds more than COMPLETION_WORDS_MAX, or without memory. */
size_t completion_split(struct arena *arena, const char *line, char **words);

#endif
