/*
 * options.h: what a caller asks with a call, checked, in the words of the channel below.
 */
#ifndef ERRATA_CLIENT_LIBRARY_OPTIONS_H
#define ERRATA_CLIENT_LIBRARY_OPTIONS_H

#include "client/stub.h"

#include <errata/client.h>

/* Maximum length of a method's path. */
#define LIBRARY_METHOD_BYTES_MAX 255

/* Borrows from itself and from what the caller gave, while a call is started. */
struct library_options {
    struct client_options lower;
    struct client_metadata metadata[ERRATA_METADATA_MAX + 1]; /* the idempotency key is the last */
};

/* A method of the contract by its path, with a slash in front or without; NULL for one that is
 * unknown or streams both ways. */
const struct method_info *library_method(const char *path);
/* NULL options are all defaults. A channel that has a token takes no `authorization`. False for what may
 * not be sent. */
MUST_CHECK bool library_options_read(const struct errata_options *options, bool has_token,
                                     struct library_options *ret_options);

#endif
