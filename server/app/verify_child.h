/*
 * verify_child.h: `erratad --verify-copy --data DIR`: the child that checks a copy of the store, made by
 * the server in DIR/copy: every page, then every row beside what a replay into DIR/made makes. It
 * knows the copy alone, and no secret that is not in it. Tells over standard output
 * (verify_message.h); a crash without a last message is damage that it could not survive.
 */
#ifndef ERRATA_SERVER_APP_VERIFY_CHILD_H
#define ERRATA_SERVER_APP_VERIFY_CHILD_H

#include "server/app/config.h"

#define VERIFY_COPY_FOLDER "copy"
#define VERIFY_MADE_FOLDER "made"

/* The map that rebuilt tables need at most, of a log in a store that uses so much: pages of a tree are
 * half full at least, and what a batch frees is used again after the next one. */
uint64_t verify_made_map_bytes(const struct config *config, uint64_t used_bytes);
/* Returns the exit status (app.h). */
int verify_child_run(const struct config *config);

#endif
