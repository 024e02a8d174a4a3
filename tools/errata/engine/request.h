/*
 * request.h: builds a request's JSON from the options of a command line. Members that are not given are
 * left out; the codec reports violations of the contract.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_REQUEST_H
#define ERRATA_TOOLS_ERRATA_ENGINE_REQUEST_H

#include "store/base/buffer.h"
#include "store/base/json.h"
#include "tools/errata/cli.h"

/* Maximum members of a request itself, without those of nested messages; more than any request
 * has. */
#define REQUEST_MEMBERS_MAX 32

struct request {
    struct buffer json;
    bool has_member; /* the open object has a member */
    unsigned depth; /* depth of the open object; 0: the request itself */
    const char *members[REQUEST_MEMBERS_MAX]; /* members of the request; borrowed */
    size_t member_count;
};

/* Returns whether the request itself (not a nested message) has a member. */
bool request_has(const struct request *request, const char *member);
void request_begin(struct request *request, struct cli *cli);
void request_text(struct request *request, const char *member, struct slice value);
void request_raw(struct request *request, const char *member, struct slice json);
/* Adds JSON from the command line after checking that it is an object. `what` names it in errors, whose
 * positions count within it. */
MUST_CHECK enum cli_exit request_object(struct request *request, struct cli *cli,
                                        const char *member, const char *what, struct slice json);
/* Appends an object unchanged, except that objects in members such as `before_json` are converted
 * to texts. */
void request_objects_to_texts(struct json_value object, struct buffer *json);
void request_open(struct request *request, const char *member);
void request_close(struct request *request);
/* Adds `entity_type` and `entity_id` of --entity TYPE/ID, if it was given. */
MUST_CHECK enum cli_exit request_add_entity(struct request *request, struct cli *cli);
/* Adds an array of the values of an option that may be repeated; with `argument`, a value may be @FILE or
 * - for standard input. */
MUST_CHECK enum cli_exit request_add_list(struct request *request, struct cli *cli,
                                          const char *option, const char *member, bool argument);
/* Adds a map of the values KEY=VALUE of such an option; a VALUE may be @FILE or - for standard
 * input. */
MUST_CHECK enum cli_exit request_add_map(struct request *request, struct cli *cli,
                                         const char *option, const char *member);
/* Ends the request; the slice is valid as long as the arena of `cli`. */
struct slice request_end(struct request *request);

#endif
