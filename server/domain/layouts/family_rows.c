/*
 * family_rows.c: see family_rows.h. A family's row lists the keys of its sketches. A sketch's key is the seq of
 * the newest document that has it, so the organisation's oldest sketch is the first row.
 */
#include "server/domain/layouts/family_rows.h"

#include "store/base/bytes.h"
#include "store/scan.h"

enum err family_row_read(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                         struct family_record *ret_family)
{
    struct key key = key_family(org, family_seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_FAMILY, key_slice(&key), &value);

    return err != OK ? err : record_decode_family(value, ret_family);
}

enum err family_row_write(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          uint64_t family_seq, const struct family_record *family)
{
    struct key key = key_family(org, family_seq);
    struct slice value = {NULL, 0};
    enum err err = record_encode_family(ctx->arena, family, &value);

    return err != OK ? err : store_put(txn, TABLE_FAMILY, key_slice(&key), value);
}

static void forget_sketch(struct family_record *family, size_t place)
{
    family->sketch_count--;
    memmove(&family->sketch_seqs[place], &family->sketch_seqs[place + 1],
            (family->sketch_count - place) * sizeof(family->sketch_seqs[0]));
}

static enum err delete_sketch(struct store_txn *txn, struct org_id org, uint64_t seq)
{
    struct key key = key_family_sketch(org, seq);
    enum err err = store_del(txn, TABLE_FAMILY_SKETCH, key_slice(&key));

    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err read_sketch(struct store_txn *txn, struct org_id org, uint64_t seq,
                            struct family_sketch_record *ret_record)
{
    struct key key = key_family_sketch(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_FAMILY_SKETCH, key_slice(&key), &value);

    if (err == OK) {
        err = record_decode_family_sketch(value, ret_record);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err family_sketch_find(struct store_txn *txn, struct org_id org,
                            const struct family_record *family, struct slice sketch,
                            size_t *ret_place)
{
    struct family_sketch_record kept;
    size_t place = 0;

    for (; place < family->sketch_count; place++) {
        enum err err = read_sketch(txn, org, family->sketch_seqs[place], &kept);

        if (err != OK) {
            return err;
        }
        if (slice_equal(kept.sketch, sketch)) {
            break;
        }
    }
    *ret_place = place;
    return OK;
}

enum err family_sketch_drop(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq)
{
    struct family_sketch_record sketch;
    struct family_record family;
    enum err err = read_sketch(txn, org, seq, &sketch);

    if (err == OK) {
        err = family_row_read(txn, org, sketch.family_seq, &family);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    for (size_t i = 0; i < family.sketch_count; i++) {
        if (family.sketch_seqs[i] == seq) {
            forget_sketch(&family, i);
            break;
        }
    }
    err = family_row_write(ctx, txn, org, sketch.family_seq, &family);
    return err != OK ? err : delete_sketch(txn, org, seq);
}

/* Stores a document's sketch: replaces an equal first sketch of the family in place; otherwise appends it as
 * the newest, and if the family is full removes the oldest one after the first. */
static enum err keep_sketch(struct ctx *ctx, struct store_txn *txn,
                            const struct family_addend *addend, struct family_record *family)
{
    const struct family_sketch_record record = {addend->family_seq, addend->sketch};
    struct key key = key_family_sketch(addend->org, addend->event_seq);
    struct slice value = {NULL, 0};
    size_t place = 0;
    bool is_first = false;
    enum err err = family_sketch_find(txn, addend->org, family, addend->sketch, &place);

    if (err != OK) {
        return err;
    }
    is_first = place == 0;
    if (place == family->sketch_count && place == FAMILY_ROW_SKETCHES_MAX) {
        place = 1;
    }
    if (place < family->sketch_count) {
        err = delete_sketch(txn, addend->org, family->sketch_seqs[place]);
        forget_sketch(family, place);
    }
    if (err == OK) {
        err = record_encode_family_sketch(ctx->arena, &record, &value);
    }
    if (err != OK) {
        return err;
    }
    place = is_first ? 0 : family->sketch_count;
    memmove(&family->sketch_seqs[place + 1], &family->sketch_seqs[place],
            (family->sketch_count - place) * sizeof(family->sketch_seqs[0]));
    family->sketch_seqs[place] = addend->event_seq;
    family->sketch_count++;
    return store_append(txn, TABLE_FAMILY_SKETCH, key_slice(&key), value);
}

/* Counts a document of a layout in a family (0: in none); `ret_first`: it is the first of both, and `since_seq` is kept. */
static enum err count_layout(struct store_txn *txn, const struct family_addend *addend,
                             uint64_t since_seq, bool *ret_first)
{
    struct key key = key_layout_family(addend->org, &addend->fingerprint, addend->family_seq);
    uint8_t row[LAYOUT_FAMILY_BYTES];
    struct slice value = {NULL, 0};
    uint64_t count = 0;
    uint64_t first_seq = since_seq;
    enum err err = store_get(txn, TABLE_LAYOUT_FAMILY, key_slice(&key), &value);

    *ret_first = err == ERR_NOT_FOUND;
    if (err == OK && value.size != sizeof(row)) {
        err = ERR_CORRUPT;
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (!*ret_first) {
        count = bytes_get_be64(value.data);
        first_seq = bytes_get_be64(value.data + sizeof(count));
    }
    bytes_put_be64(row, count + 1);
    bytes_put_be64(row + sizeof(count), first_seq);
    return store_put(txn, TABLE_LAYOUT_FAMILY, key_slice(&key), slice_of(row, sizeof(row)));
}

/* Lists the document, and its layout, under its family. */
static enum err enter_lists(struct store_txn *txn, const struct family_addend *addend,
                            bool first_of_layout)
{
    struct key document = key_family_document(addend->org, addend->family_seq,
                                              addend->created_at_us, addend->event_seq);
    struct key layout = key_family_layout(addend->org, addend->family_seq, &addend->fingerprint);
    enum err err = store_put(txn, TABLE_FAMILY_DOCUMENT, key_slice(&document), slice_of(NULL, 0));

    if (err == OK && first_of_layout) {
        err = store_put(txn, TABLE_FAMILY_LAYOUT, key_slice(&layout),
                        slice_of(addend->measured.bytes, SHA256_BYTES));
    }
    return err;
}

enum err family_rows_enter(struct store_txn *txn, const struct family_addend *addend,
                           uint64_t since_seq)
{
    bool first_of_layout = false;
    enum err err = count_layout(txn, addend, since_seq, &first_of_layout);

    return err != OK ? err : enter_lists(txn, addend, first_of_layout);
}

/* The family's row before the document; that of a new family if the document makes it. */
static enum err read_or_make(struct store_txn *txn, const struct family_addend *addend,
                             struct family_record *ret_family)
{
    enum err err = OK;

    if (addend->family_seq != addend->event_seq) {
        err = family_row_read(txn, addend->org, addend->family_seq, ret_family);
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *ret_family = (struct family_record){
        .id = addend->event_id,
        .first_seen_at_us = addend->created_at_us,
        .last_seen_at_us = addend->created_at_us,
    };
    return OK;
}

enum err family_rows_add(struct ctx *ctx, struct store_txn *txn, const struct family_addend *addend)
{
    struct family_record family;
    bool first_of_layout = false;
    enum err err = count_layout(txn, addend, addend->event_seq, &first_of_layout);

    if (err != OK || addend->family_seq == 0) {
        return err;
    }
    if (addend->dropped_seq != 0) {
        err = family_sketch_drop(ctx, txn, addend->org, addend->dropped_seq);
    }
    if (err == OK) {
        err = read_or_make(txn, addend, &family);
    }
    if (err == OK) {
        err = keep_sketch(ctx, txn, addend, &family);
    }
    if (err == OK) {
        err = enter_lists(txn, addend, first_of_layout);
    }
    if (err != OK) {
        return err;
    }
    family.document_count++;
    family.fingerprint_count += first_of_layout ? 1 : 0;
    if (family.first_seen_at_us > addend->created_at_us) {
        family.first_seen_at_us = addend->created_at_us; /* the clock was ahead at the first */
    }
    if (family.last_seen_at_us < addend->created_at_us) {
        family.last_seen_at_us = addend->created_at_us;
    }
    return family_row_write(ctx, txn, addend->org, addend->family_seq, &family);
}

/* Adds the family of a row of LAYOUT_FAMILY; `ret_shared` is false if earlier rows have another one. */
static enum err add_of_layout(struct store_txn *txn, struct org_id org, struct slice key,
                              struct family_of_layout *family, bool *ret_shared)
{
    struct family_record record;
    uint64_t seq = 0;
    enum err err = key_read_last_seq(key, &seq);

    if (err == OK && seq != 0) {
        err = family_resolve(txn, org, seq, &seq, &record);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *ret_shared = !family->any || family->family_seq == seq;
    family->family_seq = *ret_shared ? seq : 0;
    family->any = true;
    return err;
}

/* Reads rows until two of them belong to different families: at most one row for each member of a family, and
 * one more. */
enum err family_of_layout_read(struct store_txn *txn, struct org_id org,
                               const struct key_fingerprint *fingerprint,
                               struct family_of_layout *ret_family)
{
    const struct scan_range range = {
        .table = TABLE_LAYOUT_FAMILY,
        .prefix = key_layout_prefix(org, fingerprint),
        .rows_max = FAMILY_MEMBERS_MAX + 1,
    };
    struct family_of_layout family = {.family_seq = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct scan scan = {.row_count = 0};
    bool shared = true;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK && shared) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = add_of_layout(txn, org, key, &family, &shared);
        }
    }
    scan_deinit(&scan);
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_family = family;
    return OK;
}

enum err layout_is_of_family(struct store_txn *txn, struct org_id org,
                             const struct key_fingerprint *fingerprint,
                             const struct family_members *members, bool *ret_is)
{
    *ret_is = false;
    for (size_t i = 0; i < members->count && !*ret_is; i++) {
        struct key key = key_layout_family(org, fingerprint, members->seqs[i]);
        struct slice value = {NULL, 0};
        enum err err = store_get(txn, TABLE_LAYOUT_FAMILY, key_slice(&key), &value);

        if (err != OK && err != ERR_NOT_FOUND) {
            return err;
        }
        *ret_is = err == OK;
    }
    return OK;
}
