/*
 * token.h: checks bearer tokens, and reads them from files.
 */
#ifndef ERRATA_CLIENT_TOKEN_H
#define ERRATA_CLIENT_TOKEN_H

#include "client/problem.h"
#include "store/base/slice.h"

/* Errata's tokens have less than 100 bytes; a token for a proxy before it may have a few thousand. */
#define TOKEN_BYTES_MAX 4096

/* Returns whether the token is printable ASCII without spaces, of 1 to TOKEN_BYTES_MAX bytes. */
bool token_valid(struct slice token);
/* Reads the token in a file of one line, without its line ending, and terminates it with a NUL. Returns
 * false with a problem if the file cannot be read or holds no valid token. Does not check the file's
 * permissions. */
MUST_CHECK bool token_read_file(const char *path, const struct problem *problem,
                                char ret_token[TOKEN_BYTES_MAX + 1]);

#endif
