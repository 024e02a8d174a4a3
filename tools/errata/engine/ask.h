/*
 * ask.h: a command that is one call: its request is made from the command line, its reply printed as
 * it is, or for people. Lists, which are many calls, are in paging.h.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_ASK_H
#define ERRATA_TOOLS_ERRATA_ENGINE_ASK_H

#include "tools/errata/engine/reply.h"
#include "tools/errata/engine/request.h"

struct ask {
    const char *path; /* of the method */
    /* Adds the request's members; NULL: it has none. */
    enum cli_exit (*fill)(struct request *request, struct cli *cli);
    /* Prints the reply where --json was not given. */
    enum cli_exit (*print)(struct cli *cli, struct json_value reply);
};

MUST_CHECK enum cli_exit ask_run(struct cli *cli, const struct ask *ask);

#endif
