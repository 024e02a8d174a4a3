/*
 * request.h: a request's JSON, made from the options of a command line. Members that were not given
 * are left out; the codec then says what the contract does not allow.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_REQUEST_H
#define ERRATA_TOOLS_ERRATA_ENGINE_REQUEST_H

#include "store/base/buffer.h"
#include "tools/errata/cli.h"

struct request {
    struct buffer json;
    bool has_member; /* the object that is open has one */
};

/* How an option becomes a member. */
enum request_kind {
    REQUEST_TEXT, /* as text; numbers and enum words are read from text too */
    REQUEST_ARGUMENT, /* as text that may stand in @FILE or on standard input */
    REQUEST_TRUE, /* a flag */
    REQUEST_TIME_AGO, /* a time, or a span before now */
    REQUEST_TIME_AHEAD, /* a time, or a span after now */
    REQUEST_DAY /* a day, or a span before today */
};

struct request_member {
    const char *option; /* NULL ends a list */
    const char *member; /* the proto name */
    enum request_kind kind;
};

void request_begin(struct request *request, struct cli *cli);
void request_text(struct request *request, const char *member, struct slice value);
void request_raw(struct request *request, const char *member, struct slice json);
/* Adds JSON that a person wrote, once it is known to be an object: what is wrong is told by its own
 * places. `what` names it in that sentence. */
MUST_CHECK enum cli_exit request_object(struct request *request, struct cli *cli,
                                        const char *member, const char *what, struct slice json);
void request_open(struct request *request, const char *member);
void request_close(struct request *request);
/* Adds a member for each option of the list that was given. */
MUST_CHECK enum cli_exit request_add_options(struct request *request, struct cli *cli,
                                             const struct request_member *members);
/* Adds `entity_type` and `entity_id` of --entity TYPE/ID, where it was given. */
MUST_CHECK enum cli_exit request_add_entity(struct request *request, struct cli *cli);
/* Adds an array of the values of an option that may stand several times; texts may stand in @FILE or
 * on standard input where `argument`. */
MUST_CHECK enum cli_exit request_add_list(struct request *request, struct cli *cli,
                                          const char *option, const char *member, bool argument);
/* Adds a map of the values KEY=VALUE of such an option; a VALUE may stand in @FILE or on standard
 * input. */
MUST_CHECK enum cli_exit request_add_map(struct request *request, struct cli *cli,
                                         const char *option, const char *member);
/* Ends the request; the slice dies with the cli's arena. */
struct slice request_end(struct request *request);

#endif
