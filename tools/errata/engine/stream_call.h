/*
 * stream_call.h: a method that streams its replies, whose request is filled from the command line (fill.h). With
 * --json, each reply is printed as JSON on a line; otherwise the command takes it.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_STREAM_CALL_H
#define ERRATA_TOOLS_ERRATA_ENGINE_STREAM_CALL_H

#include "tools/errata/engine/request.h"

/* Handles one reply, as wire bytes; its arena is that of `cli`, emptied before each reply. A result other than
 * CLI_OK cancels the stream, and is the result of the command. Also called with --json, but must not print then. */
typedef enum cli_exit stream_call_take(struct cli *cli, struct slice message, void *user);

struct stream_call {
    const char *path; /* path of the method */
    /* Adds members that are not the value of an option; NULL if there are none. */
    enum cli_exit (*fill)(struct request *request, struct cli *cli);
    stream_call_take *take;
    void *user; /* passed to `take` */
};

MUST_CHECK enum cli_exit stream_call_run(struct cli *cli, const struct stream_call *call);

#endif
