/*
 * options.h: checks the options of a call, and converts them for the lower channel.
 */
#ifndef ERRATA_CLIENT_LIBRARY_OPTIONS_H
#define ERRATA_CLIENT_LIBRARY_OPTIONS_H

#include "client/stub.h"

#include <errata/client.h>

/* Maximum length of a method's path. */
#define LIBRARY_METHOD_BYTES_MAX 255

/* Borrows from itself and from the caller's options, while a call is started. */
struct library_options {
    struct client_options lower;
    struct client_metadata metadata[ERRATA_METADATA_MAX + 1]; /* the idempotency key is the last */
};

/* Finds a method of the contract by its path, with or without a leading slash; NULL for an unknown
 * or bidirectional one. */
const struct method_info *library_method(const char *path);
/* NULL options are all defaults. With a token of the channel, `authorization` is refused. Returns
 * false for invalid options. */
MUST_CHECK bool library_options_read(const struct errata_options *options, bool has_token,
                                     struct library_options *ret_options);

#endif
