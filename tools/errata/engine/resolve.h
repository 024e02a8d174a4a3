/*
 * resolve.h: the values that a server lists, by the names that usage gives them (words.def): the member
 * that a word fills, candidates for completion, and whole ids for their unique prefixes.
 */
#ifndef ERRATA_TOOLS_ERRATA_ENGINE_RESOLVE_H
#define ERRATA_TOOLS_ERRATA_ENGINE_RESOLVE_H

#include "server/codec/contract.h"
#include "tools/errata/cli.h"

/* An ambiguous prefix lists so many candidates at most. */
#define RESOLVE_CANDIDATES_MAX 10
/* A shorter text is not taken for the prefix of a fingerprint, which may be any text. */
#define RESOLVE_FINGERPRINT_BYTES_MIN 8

/* Offers a value with what it means. */
typedef void resolve_offer(void *user, struct slice value, struct slice meaning);

/* The member that a word named so fills; NULL for other names. */
const char *resolve_member(struct slice name);
/* Returns whether a server lists the values of the name. */
bool resolve_is_known(struct slice name);
/* The whole id of which a text is the only prefix. Ids and names that are whole stay as they are, and
 * so does text that no measured fingerprint begins with. Reports an unknown or ambiguous id. */
MUST_CHECK enum cli_exit resolve_prefix(struct cli *cli, struct slice name, struct slice given,
                                        struct slice *ret_value);
/* Offers the newest values that begin with what was typed. */
void resolve_list(struct cli *cli, struct slice name, struct slice typed, resolve_offer *offer,
                  void *user);

#endif
