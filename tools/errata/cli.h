/*
 * cli.h: what every command gets: the command line as read, where to print, memory for the length of
 * the program, which server is asked, and the connection, which is made when a command first needs it.
 */
#ifndef ERRATA_TOOLS_ERRATA_CLI_H
#define ERRATA_TOOLS_ERRATA_CLI_H

#include "client/blocking.h"
#include "store/base/ctx.h"
#include "tools/errata/config/settings.h"
#include "tools/errata/help/command.h"
#include "tools/errata/terminal/progress.h"

/* What one run may take: a request, its reply and their JSON, each at most 64 MiB. */
#define CLI_ARENA_BYTES_MAX ((size_t)1024 * 1024 * 1024)

struct cli {
    const struct command *command; /* NULL until it is found */
    const struct command_group *group; /* of it; NULL for a command of one word */
    struct options options;
    struct printer out;
    struct printer err;
    struct progress progress; /* of long work, on `err`; both printers hide it */
    struct arena arena; /* long commands empty it between two steps */
    struct arena kept; /* for the length of the program */
    struct fault fault;
    struct ctx ctx; /* over the arena and the fault above */
    bool json; /* --json: replies as they are */
    unsigned indent; /* of decoded JSON; 0: one line */
    int64_t timeout_ms; /* of a call; 0: the command's own */
    bool read_input; /* standard input was read: there is no second time */
    bool once; /* calls are not tried again, whatever happens */
    bool resolved; /* the settings below have been worked out */
    struct settings settings; /* in `kept` */
    struct slice token; /* that calls carry, or empty; in `kept` */
    struct client_blocking *client; /* owned; NULL until cli_connect */
};

/* Starts the line of progress of long work. */
void cli_progress(struct cli *cli);
/* Says what is wrong with the command line, and where help is. */
MUST_CHECK enum cli_exit cli_usage(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* Reports that the server has no such thing, or several. */
MUST_CHECK enum cli_exit cli_failed(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* Says what failed on this side. */
MUST_CHECK enum cli_exit cli_local(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* Says on standard error what is no part of the output; with --json as {"note": ...}. */
void cli_note(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
