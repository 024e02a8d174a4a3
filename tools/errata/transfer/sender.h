/*
 * sender.h: stores rows of an import, some hundred at a time: first it looks up the stored ones, then it sends
 * the others, each in a separate call under the idempotency key of its source_ref and time. So a repeat changes
 * nothing, at any time, and an interrupted import can be continued.
 */
#ifndef ERRATA_TOOLS_ERRATA_TRANSFER_SENDER_H
#define ERRATA_TOOLS_ERRATA_TRANSFER_SENDER_H

#include "store/base/sha256.h"
#include "tools/errata/import/import_request.h"
#include "tools/errata/transfer/tally.h"

/* Maximum rows that are sent together, and the memory that the records of them may take. */
#define SENDER_ROWS_MAX 1024
#define SENDER_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define SENDER_KEY_BYTES (7 + 2 * SHA256_BYTES)

struct sender_row {
    struct import_row row; /* borrowed from the sender's arena, as are the requests */
    struct import_request request;
    struct slice store_wire;
    struct slice lookup_wire;
    struct tally_place place;
    bool is_stored;
    bool has_failed;
    char key[SENDER_KEY_BYTES];
};

struct sender {
    struct cli *cli;
    struct tally *tally;
    struct arena arena; /* rows and records of the current batch; the reader uses it too */
    struct sender_row *rows; /* owned */
    size_t count;
    size_t next; /* next of the running calls */
    bool looks_up; /* the calls are lookups */
    enum cli_exit exit;
};

/* Initializes the sender; returns false without memory. */
MUST_CHECK bool sender_init(struct sender *sender, struct cli *cli, struct tally *tally);
void sender_deinit(struct sender *sender);
/* Checks a row by the contract and adds it to the batch; returns false with cli->fault. */
MUST_CHECK bool sender_add(struct sender *sender, const struct import_source *source,
                           const struct import_choices *choices, const struct import_row *row,
                           const struct tally_place *place);
/* Only checks a row. */
MUST_CHECK bool sender_check(struct sender *sender, const struct import_source *source,
                             const struct import_choices *choices, const struct import_row *row);
/* Empties the arena if no row needs it, and sends the batch if it is full, or in any case with `all`. */
MUST_CHECK enum cli_exit sender_step(struct sender *sender, bool all);

#endif
