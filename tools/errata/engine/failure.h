/*
 * failure.h: prints failures for people: the error, every invalid field, the time of the next attempt, and advice.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_FAILURE_H
#define ERRATA_TOOLS_ERRATA_ENGINE_FAILURE_H

#include "tools/errata/cli.h"

/* Reports a call that ended with a status other than OK; with --json as one JSON object on standard
 * error. */
MUST_CHECK enum cli_exit failure_print_status(struct cli *cli, const struct client_status *status);
/* Reports a request or reply that the codec refused; the invalid fields are in cli->fault. */
MUST_CHECK enum cli_exit failure_print_fault(struct cli *cli, enum err err, const char *what);
/* Reports a call that could not be started. */
MUST_CHECK enum cli_exit failure_print_start(struct cli *cli, enum err err);

#endif
