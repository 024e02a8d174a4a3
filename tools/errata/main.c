/*
 * main.c: the command `errata`: reads the command line, runs one command, ends with its exit code.
 */
#include "server/tls/stream/tls_context.h"
#include "tools/errata/commands.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/input.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static enum cli_exit run(struct cli *cli, int count, char **words)
{
    enum cli_exit result = command_read(cli, count, words);
    const char *timeout = options_get(&cli->options, "timeout");
    const char *name = timeout != NULL ? "--timeout" : "ERRATA_TIMEOUT";

    if (result != CLI_OK || cli->command == NULL) {
        return result;
    }
    timeout = timeout != NULL ? timeout : getenv("ERRATA_TIMEOUT");
    if (timeout != NULL && timeout[0] != '\0' && !input_duration(timeout, &cli->timeout_ms)) {
        return cli_usage(cli,
                         "%s \"%s\": invalid duration; expected a duration such as 500ms, 5s or 2m",
                         name, timeout);
    }
    return cli->command->run(cli);
}

/* Flushes the output. A failed write is an error, unless the reader has closed the pipe. */
static enum cli_exit flush_output(struct cli *cli, enum cli_exit result)
{
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return result;
    }
    if (errno == EPIPE || errno == 0) {
        return result;
    }
    return cli_local(cli, "the output can't be written: %s", strerror(errno));
}

int main(int count, char **words)
{
    struct cli cli = {.command = NULL};
    enum cli_exit result = CLI_OK;

    /* A closed pipe is an error of the write, not the end of the program. */
    (void)signal(SIGPIPE, SIG_IGN);
    arena_init(&cli.arena, CLI_ARENA_BYTES_MAX);
    arena_init(&cli.kept, CLI_ARENA_BYTES_MAX);
    fault_init(&cli.fault, &cli.arena);
    cli.ctx = (struct ctx){&cli.arena, clock_system(), random_system(), &cli.fault};
    printer_init(&cli.out, stdout, false);
    printer_init(&cli.err, stderr, false);
    result = flush_output(&cli, run(&cli, count, words));
    cli_disconnect(&cli);
    tls_context_unref(cli.tls);
    arena_deinit(&cli.kept);
    arena_deinit(&cli.arena);
    return (int)result;
}
