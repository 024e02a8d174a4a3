/*
 * completion.h: the candidates for the next word of a command line, for the completion of shells.
 * The line is read by the same tables as in the program itself; the candidates for a value follow
 * from its name in usage, or come from the caller if no table has them.
 *
 * A candidate is printed as `WORD<tab>MEANING`. A line `:files PREFIX` asks the shell for names of
 * files after a part of the word.
 */
#ifndef ERRATA_TOOLS_ERRATA_HELP_COMPLETION_H
#define ERRATA_TOOLS_ERRATA_HELP_COMPLETION_H

#include "store/base/arena.h"
#include "tools/errata/help/command.h"
#include "tools/errata/terminal/print.h"

/* Maximum words before the cursor; longer lines are not completed. */
#define COMPLETION_WORDS_MAX 256

struct completion {
    const struct command_set *set;
    struct printer *out;
    struct arena *arena;
    struct slice before; /* part of the word at the cursor before the value, such as `--role=` */
    struct slice typed; /* typed part of the value */
    size_t taken; /* bytes of the word that the shell already has and that must not be printed */
    bool files; /* the shell offers files already */
    struct options options; /* options given so far, which select the server */
    const struct command *command; /* command read so far; or NULL */
    const struct command_group *group; /* group of the command; or NULL */
    /* Offers the possible values of `name` if no table has them; may be NULL. */
    void (*offer)(void *user, struct completion *completion, struct slice name);
    void *user;
};

/* Prints the candidates for the last of `words`, which may be empty; the words before it are
 * complete. The program's name is not included. */
void completion_run(struct completion *completion, char **words, size_t count);

/* Offers one candidate; nothing if it does not begin with the typed text, ignoring case. */
void completion_offer(struct completion *completion, struct slice word, struct slice meaning);

/* Splits a line as a shell does, up to its end, into words without their quotes; the last one may
 * be empty. Returns 0 for more than COMPLETION_WORDS_MAX words, and if memory is exhausted. */
size_t completion_split(struct arena *arena, const char *line, char **words);

#endif
