/*
 * token.h: the token that a channel's calls carry: what may be one, and how a file gives one.
 */
#ifndef ERRATA_CLIENT_LIBRARY_TOKEN_H
#define ERRATA_CLIENT_LIBRARY_TOKEN_H

#include "client/library/problem.h"
#include "store/base/slice.h"

/* A token of Errata's own is below 100 bytes; one for a proxy in front of it may be a few thousand. */
#define TOKEN_BYTES_MAX 4096

/* Printable ASCII without blanks, 1 to TOKEN_BYTES_MAX bytes. */
bool token_valid(struct slice token);
/* The file's token, with a NUL, without the line's end behind it. False with a problem for what can't be
 * read or is no token. Who may read the file is the system's business. */
MUST_CHECK bool token_read_file(const char *path, const struct problem *problem,
                                char ret_token[TOKEN_BYTES_MAX + 1]);

#endif
