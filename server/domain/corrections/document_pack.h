/*
 * document_pack.h: a document's prepared example in its row. Most of its text is in the row of the newest
 * correction that it shows (EXAMPLE), so it is packed with this row as the dictionary. A row of EXAMPLE never
 * changes, and apply rewrites the document's row if that correction is removed.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_PACK_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_DOCUMENT_PACK_H

#include "server/domain/corrections/document_example.h"

/* Where the row of a correction is. */
struct document_pack_place {
    struct org_id org;
    struct key_fingerprint fingerprint;
    struct document_place place;
};

/* Packs an example into the arena; `newest` is the place of the newest correction that it shows. Returns
 * ERR_CORRUPT if that has no row. */
MUST_CHECK enum err document_pack(struct arena *arena, struct store_txn *txn,
                                  const struct document_pack_place *newest,
                                  const struct example_record *example, struct slice *ret_packed);
/* Unpacks an example into the arena. Returns ERR_CORRUPT for bytes that document_pack did not write. */
MUST_CHECK enum err document_unpack(struct arena *arena, struct store_txn *txn,
                                    const struct document_pack_place *newest, struct slice packed,
                                    struct example_record *ret_example);

#endif
