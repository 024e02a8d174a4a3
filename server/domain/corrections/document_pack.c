/*
 * document_pack.c: see document_pack.h. The dictionary is the row of the newest correction, then the field
 * `event_ids` of its event.
 */
#include "server/domain/corrections/document_pack.h"

#include "store/base/pack.h"
#include "store/base/wire.h"

#include <errata/v1/prompt_service.fields.h>

/* The field of an event's id: tag, size, text. */
#define EVENT_ID_BYTES (2 + UUID_TEXT_BYTES)

static enum err make_dictionary(struct arena *arena, struct store_txn *txn,
                                const struct document_pack_place *newest,
                                struct slice *ret_dictionary)
{
    struct key key = key_example(newest->org, &newest->fingerprint, newest->place.created_at_us,
                                 newest->place.seq);
    struct example_record correction;
    struct slice row = {NULL, 0};
    uint8_t *bytes = NULL;
    enum err err = store_get(txn, TABLE_EXAMPLE, key_slice(&key), &row);

    if (err == OK) {
        err = record_decode_example(row, &correction);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    bytes = arena_alloc(arena, row.size + EVENT_ID_BYTES);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    memcpy(bytes, row.data, row.size);
    bytes[row.size] = EXAMPLE_EVENT_IDS_FIELD << 3 | WIRE_BYTES;
    bytes[row.size + 1] = UUID_TEXT_BYTES;
    uuid_format(example_id_restore(&correction, newest->place.created_at_us),
                (char *)bytes + row.size + 2);
    *ret_dictionary = slice_of(bytes, row.size + EVENT_ID_BYTES);
    return OK;
}

enum err document_pack(struct arena *arena, struct store_txn *txn,
                       const struct document_pack_place *newest,
                       const struct example_record *example, struct slice *ret_packed)
{
    struct slice dictionary = {NULL, 0};
    struct slice bytes = {NULL, 0};
    enum err err = make_dictionary(arena, txn, newest, &dictionary);

    if (err == OK) {
        err = record_encode_example_part(arena, example, &bytes);
    }
    return err != OK ? err : pack_write(arena, dictionary, bytes, ret_packed);
}

enum err document_unpack(struct arena *arena, struct store_txn *txn,
                         const struct document_pack_place *newest, struct slice packed,
                         struct example_record *ret_example)
{
    struct slice dictionary = {NULL, 0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum err err = make_dictionary(arena, txn, newest, &dictionary);

    if (err != OK) {
        return err;
    }
    if (!pack_read_size(packed, &size)) {
        return ERR_CORRUPT;
    }
    bytes = arena_alloc(arena, size);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    return pack_read(dictionary, packed, bytes)
               ? record_decode_example(slice_of(bytes, size), ret_example)
               : ERR_CORRUPT;
}
