/*
 * verify_child.h: `erratad --verify-copy --data DIR`: the child that checks a copy of the store,
 * made by the server in DIR/copy: every page, then every row against a replay into DIR/made. It
 * reads only the copy, and gets no secrets besides those in it. Reports on standard output
 * (verify_message.h); a crash without a last message means damage that it could not survive.
 */
#ifndef ERRATA_SERVER_APP_VERIFY_CHILD_H
#define ERRATA_SERVER_APP_VERIFY_CHILD_H

#include "server/app/config.h"

#define VERIFY_COPY_FOLDER "copy"
#define VERIFY_MADE_FOLDER "made"

/* Returns the largest map that rebuilt tables need, for a log in a store of this size: pages of a
 * tree are at least half full, and pages that one batch frees are reused by the second next. */
uint64_t verify_made_map_bytes(const struct config *config, uint64_t used_bytes);
/* Returns the exit status (app.h). */
int verify_child_run(const struct config *config);

#endif
