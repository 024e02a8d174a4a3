/*
 * failure.h: failures as people read them: what happened, every bad field, when to try again, and
 * what to do about it.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_FAILURE_H
#define ERRATA_TOOLS_ERRATA_ENGINE_FAILURE_H

#include "tools/errata/cli.h"

/* A call that ended with anything but OK: with --json one JSON object on standard error. */
MUST_CHECK enum cli_exit failure_print_status(struct cli *cli, const struct client_status *status);
/* A request or reply that the codec refused; bad fields are in cli->fault. */
MUST_CHECK enum cli_exit failure_print_fault(struct cli *cli, enum err err, const char *what);
/* A call that could not be started. */
MUST_CHECK enum cli_exit failure_print_start(struct cli *cli, enum err err);

#endif
