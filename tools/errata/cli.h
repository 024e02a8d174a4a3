/*
 * cli.h: what every command gets: the command line as read, where to print, memory for the length of
 * the program, and the connection, which is made when a command first needs it.
 */
#ifndef ERRATA_TOOLS_ERRATA_CLI_H
#define ERRATA_TOOLS_ERRATA_CLI_H

#include "client/blocking.h"
#include "store/base/ctx.h"
#include "tools/errata/terminal/options.h"
#include "tools/errata/terminal/progress.h"

/* What one run may take: a request, its reply and their JSON, each at most 64 MiB. */
#define CLI_ARENA_BYTES_MAX ((size_t)1024 * 1024 * 1024)

/* How the program ends; `errata --help` lists them. */
enum cli_exit {
    CLI_OK = 0,
    CLI_CALL_FAILED =
        1, /* the server answered with an error, or the health check with not serving */
    CLI_USAGE = 2,
    CLI_NO_CONNECTION = 3, /* no answer came: no connection, or it was lost */
    CLI_LOCAL = 4, /* a file could not be read, or the output not be written */
    CLI_INTERRUPTED = 130 /* stopped by SIGINT, where what was done until then is told */
};

struct command;

struct cli {
    const struct command *command;
    struct options options;
    struct printer out;
    struct printer err;
    struct progress progress; /* of long work, on `err`; both printers hide it */
    struct arena arena;
    struct fault fault;
    struct ctx ctx; /* over the arena and the fault above */
    bool json; /* --json: replies as they are */
    unsigned indent; /* of decoded JSON; 0: one line */
    int64_t timeout_ms; /* of a call; 0: the command's own */
    struct client_blocking *client; /* owned; NULL until cli_connect */
};

/* One command, such as `token create`. */
struct command {
    const char *group; /* NULL for a command of one word */
    const char *name;
    const char *arguments; /* what follows the name in usage */
    const char *summary; /* one line, for lists */
    const char *help; /* what it does, and examples */
    const struct option_spec *options; /* NULL: none but the global ones */
    size_t words_min;
    size_t words_max;
    enum cli_exit (*run)(struct cli *cli);
};

/* Starts the line of progress of long work. */
void cli_progress(struct cli *cli);
/* Says what is wrong with the command line, and where help is. */
MUST_CHECK enum cli_exit cli_usage(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* Says what failed on this side. */
MUST_CHECK enum cli_exit cli_local(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
