/*
 * command_call.h: a command that is one method of the contract. Its request is filled from the
 * command line by the descriptor (fill.h), its reply is shown by the table of its resource
 * (view.h): a list in pages, a read as lines, a write as the id of the written resource. The
 * functions below replace one of these steps.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_COMMAND_CALL_H
#define ERRATA_TOOLS_ERRATA_ENGINE_COMMAND_CALL_H

#include "tools/errata/engine/request.h"
#include "tools/errata/engine/view.h"

/* The option of writes: --idempotency-key KEY. */
#define IDEMPOTENCY_OPTION                                                                         \
    {                                                                                              \
        "idempotency-key", "KEY", "key that makes the write safe to repeat for 24 hours"           \
    }

/* The option of commands that can administer another organisation: --org ORG. */
#define ORG_OPTION                                                                                 \
    {                                                                                              \
        "org", "ORG", "another organisation, by id or name; needs a token with the server flag"    \
    }

struct command_call {
    const char *method; /* path of the method */
    /* Adds members that are not the value of an option; NULL if there are none. */
    enum cli_exit (*fill)(struct request *request, struct cli *cli);
    /* Prints the reply to a single call in another form. */
    enum cli_exit (*print)(struct cli *cli, struct json_value reply);
    /* Checks the reply to a single call after it is printed, in any form. */
    enum cli_exit (*check)(struct cli *cli, struct json_value reply);
    /* Lists only: prints the members of the first page other than its rows, as CSV if requested. */
    enum cli_exit (*head)(struct cli *cli, struct json_value reply);
    view_colour *colour; /* colours of the rows of a list */
    const char *nothing; /* message for a list without rows */
};

/* The members of a struct command whose method is PATH; the rest are members of struct command_call. */
#define COMMAND_CALL(path, ...)                                                                    \
    .run = command_call_run, .call = &(const struct command_call)                                  \
    {                                                                                              \
        .method = "/errata.v1." path, __VA_ARGS__                                                  \
    }

MUST_CHECK enum cli_exit command_call_run(struct cli *cli);
/* Makes a single call as COMMAND_CALL describes it, for a command with further steps. */
MUST_CHECK enum cli_exit command_call_once(struct cli *cli, const struct command_call *call);
/* Returns the member of a reply that contains its rows; NULL for a method that is not a list. */
const struct field_info *command_call_rows(const struct method_info *method);

#endif
