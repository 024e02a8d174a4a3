/*
 * resolve.h: the values that a server lists, by their names in usage (words.def): the member that a
 * word sets, candidates for completion, and whole ids for their unique prefixes.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_RESOLVE_H
#define ERRATA_TOOLS_ERRATA_ENGINE_RESOLVE_H

#include "server/codec/contract.h"
#include "tools/errata/cli.h"

/* Maximum candidates that are listed for an ambiguous prefix. */
#define RESOLVE_CANDIDATES_MAX 10
/* Minimum length of a prefix of a fingerprint, since a fingerprint may be any text. */
#define RESOLVE_FINGERPRINT_BYTES_MIN 8

/* Offers a value with its meaning. */
typedef void resolve_offer(void *user, struct slice value, struct slice meaning);

/* Returns the member that a word with this name sets; NULL for other names. */
const char *resolve_member(struct slice name);
/* Returns whether a server lists the values of the name. */
bool resolve_is_known(struct slice name);
/* Returns the only id that begins with a text, or the id of the organisation with this name.
 * Complete ids, and names of other resources, are returned unchanged, and so is a text with which
 * no measured fingerprint begins. Reports an unknown or ambiguous id. */
MUST_CHECK enum cli_exit resolve_prefix(struct cli *cli, struct slice name, struct slice given,
                                        struct slice *ret_value);
/* Does the same for a given option, and replaces its value, so that the command's output names the whole value. */
MUST_CHECK enum cli_exit resolve_given(struct cli *cli, struct option_given *given,
                                       struct slice *ret_value);
/* Offers the newest values that begin with the typed text. */
void resolve_list(struct cli *cli, struct slice name, struct slice typed, resolve_offer *offer,
                  void *user);

/* Replaces the name or prefix of --org by the id, which lists of the organisation's tokens need, too. */
MUST_CHECK enum cli_exit resolve_org(struct cli *cli);

#endif
