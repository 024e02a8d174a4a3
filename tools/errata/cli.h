/*
 * cli.h: the state of one run: the parsed command line, the output streams, memory, the settings of the
 * server, and the connection, which is opened when a command first needs it.
 */
#ifndef ERRATA_TOOLS_ERRATA_CLI_H
#define ERRATA_TOOLS_ERRATA_CLI_H

#include "client/blocking.h"
#include "store/base/ctx.h"
#include "tools/errata/config/settings.h"
#include "tools/errata/help/command.h"
#include "tools/errata/terminal/progress.h"

/* The memory of one run: a request, its reply and their JSON, each at most 64 MiB. */
#define CLI_ARENA_BYTES_MAX ((size_t)1024 * 1024 * 1024)

struct cli {
    const struct command *command; /* NULL until the command is found */
    const struct command_group
        *group; /* group of the command; NULL for a command without a group */
    struct options options;
    struct printer out;
    struct printer err;
    struct progress
        progress; /* progress of long work, written to `err`; both printers hide it before they write */
    struct arena arena; /* temporary memory; long commands empty it between steps */
    struct arena kept; /* memory for the lifetime of the program */
    struct fault fault;
    struct ctx ctx; /* context with the arena and the fault above */
    bool json; /* --json: print replies as JSON */
    unsigned indent; /* indentation of decoded JSON; 0: one line */
    int title_columns; /* width of the titles of members; 0: the usual width */
    int64_t timeout_ms; /* time limit of a call; 0: the command's default */
    bool read_input; /* standard input has been read, and cannot be read again */
    bool once; /* calls are not retried */
    bool resolved; /* the settings below are resolved */
    struct settings settings; /* resolved settings, allocated in `kept` */
    struct slice token; /* token of all calls, or empty; allocated in `kept` */
    struct tls_context *tls; /* co-owned; NULL: cleartext, or not resolved yet */
    struct client_blocking *client; /* owned; NULL until cli_connect */
    uint32_t failed_code; /* the gRPC status of the last call that failed; 0: none has */
};

/* Starts the progress line of long work. */
void cli_progress(struct cli *cli);
/* Reports a mistake in the command line, with a pointer to help. */
MUST_CHECK enum cli_exit cli_usage(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* Reports that the server has no such resource, or several. */
MUST_CHECK enum cli_exit cli_failed(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* Reports a local failure. */
MUST_CHECK enum cli_exit cli_local(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* Prints a note on standard error; with --json as {"note": ...}. */
void cli_note(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
