/*
 * retract.h: the request and the reply of a command that retracts an event of one kind, by EventService/RetractEvent.
 */
#ifndef ERRATA_TOOLS_ERRATA_CORRECTIONS_RETRACT_H
#define ERRATA_TOOLS_ERRATA_CORRECTIONS_RETRACT_H

#include "store/base/json.h"
#include "tools/errata/engine/request.h"

/* Adds the event that the first word of the command line names; `kind` is the name of that word in
 * usage. */
MUST_CHECK enum cli_exit retract_fill(struct request *request, struct cli *cli, struct slice kind);
/* Prints the id of the retraction; of an event that was retracted before, that of the first one. */
MUST_CHECK enum cli_exit retract_print(struct cli *cli, struct json_value reply);

#endif
