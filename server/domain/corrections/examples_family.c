/*
 * examples_family.c: see examples_family.h. Rows of a family name layouts; the cluster of a layout is opened
 * once, at the first of its examples that may be served.
 */
#include "server/domain/corrections/examples_family.h"

#include "server/domain/corrections/example_family.h"
#include "server/domain/layouts/records.h"
#include "store/base/bytes.h"

/* Reads the feedback event of an example, borrowed from the transaction. */
static enum err read_view(struct store_txn *txn, struct org_id org, uint64_t seq,
                          struct event *event, struct feedback_event_view *ret_view)
{
    enum err err = log_read(txn, org, seq, event);

    if (err == OK) {
        err = feedback_view_read(event, ret_view);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Returns whether an example with a row in the family of `member_seq` belonged to it after the event `as_of_seq`. */
static enum err had_example(struct store_txn *txn, struct org_id org, uint64_t seq,
                            uint64_t member_seq, uint64_t as_of_seq, bool *ret_had)
{
    struct feedback_event_view view;
    struct event event;
    enum err err = OK;

    *ret_had = true;
    if (as_of_seq == UINT64_MAX) {
        return OK;
    }
    err = read_view(txn, org, seq, &event, &view);
    return err != OK ? err : example_family_had(txn, org, &view, member_seq, as_of_seq, ret_had);
}

/* Returns whether a member has an older example in a table. */
static enum err has_older_row(struct store_txn *txn, const struct examples_family_place *place,
                              enum store_table table, uint64_t member_seq, bool *ret_has)
{
    struct key after = key_family_example(place->org, member_seq, place->created_at_us, place->seq);
    const struct scan_range range = {
        .table = table,
        .prefix = key_family_prefix(place->org, member_seq),
        .after = key_slice(&after),
        .rows_max = 1,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    if (err == OK) {
        err = scan_next(&scan, &key, &value);
    }
    scan_deinit(&scan);
    *ret_has = err == OK;
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Returns whether the family has, or in a read of the past had, an example that is older. */
static enum err has_older(struct store_txn *txn, const struct examples_family_place *place,
                          bool *ret_has)
{
    bool is_past = place->as_of_seq != UINT64_MAX;
    enum err err = OK;

    *ret_has = false;
    for (size_t i = 0; i < place->members->count && err == OK && !*ret_has; i++) {
        uint64_t member_seq = place->members->seqs[i];

        err = has_older_row(txn, place, TABLE_FAMILY_EXAMPLE, member_seq, ret_has);
        if (err == OK && is_past && !*ret_has) {
            err = has_older_row(txn, place, TABLE_FAMILY_EXAMPLE_MOVED, member_seq, ret_has);
        }
    }
    return err;
}

/* Returns whether a member has the example, or, in a read of the past, had it then. */
static enum err member_has(struct store_txn *txn, const struct examples_family_place *place,
                           uint64_t member_seq, bool *ret_has)
{
    struct key key = key_family_example(place->org, member_seq, place->created_at_us, place->seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_FAMILY_EXAMPLE, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND && place->as_of_seq != UINT64_MAX) {
        err = store_get(txn, TABLE_FAMILY_EXAMPLE_MOVED, key_slice(&key), &value);
    }
    *ret_has = err == OK;
    if (err == OK) {
        return had_example(txn, place->org, place->seq, member_seq, place->as_of_seq, ret_has);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err examples_family_has(struct store_txn *txn, const struct examples_family_place *place,
                             bool *ret_has, bool *ret_has_older)
{
    enum err err = OK;

    *ret_has = false;
    *ret_has_older = true;
    for (size_t i = 0; i < place->members->count && err == OK && !*ret_has; i++) {
        err = member_has(txn, place, place->members->seqs[i], ret_has);
    }
    return err != OK || *ret_has ? err : has_older(txn, place, ret_has_older);
}

/* A row of the family. */
struct family_row {
    uint64_t family_seq; /* seq of the member */
    struct family_example example;
};

/* Finds the text of a layout's fingerprint: from its head if it was measured, else from the event of its
 * example. */
static enum err find_text(struct store_txn *txn, struct org_id org, const struct family_row *row,
                          struct examples_family_layout *layout)
{
    struct feedback_event_view view;
    struct sha256_digest measured;
    struct slice bytes = {NULL, 0};
    struct event event;
    enum err err = record_decode_layout_measured(layout->head, &bytes);

    if (err == OK && bytes.size == 0) {
        err = read_view(txn, org, row->example.seq, &event, &view);
        if (err == OK) {
            layout->text = view.layout_fingerprint;
        }
        return err;
    }
    if (err == OK) {
        memcpy(measured.bytes, bytes.data, SHA256_BYTES);
        sha256_format(&measured, layout->digits);
        layout->text = slice_of(layout->digits, sizeof(layout->digits));
    }
    return err;
}

/* Reads the row of an example, unless it was retracted, and the head of its cluster. The head is usually the
 * next row, since the first example that is read of a layout is its newest. */
static enum err read_head(struct store_txn *txn, struct org_id org,
                          const struct family_example *example, struct slice *ret_value,
                          struct slice *ret_head)
{
    struct key prefix = key_layout_prefix(org, &example->fingerprint);
    struct key head = key_layout_head(org, &example->fingerprint);
    struct key from = key_example(org, &example->fingerprint, example->created_at_us, example->seq);
    struct store_cursor cursor = {0};
    struct slice key = {NULL, 0};
    enum err err = store_cursor_init(&cursor, txn, TABLE_EXAMPLE, key_slice(&prefix),
                                     key_slice(&from), STORE_ASCENDING);

    for (int i = 0; i < 2 && err == OK && !slice_equal(key, key_slice(&head)); i++) {
        err = store_cursor_next(&cursor, &key, ret_head);
        if (err == OK && slice_equal(key, key_slice(&from))) {
            *ret_value = *ret_head;
        }
    }
    store_cursor_deinit(&cursor);
    if (err == OK && !slice_equal(key, key_slice(&head))) {
        err = store_get(txn, TABLE_EXAMPLE, key_slice(&head), ret_head);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Opens the cluster of a row's layout; `ret_value` as of read_head. */
static enum err open_layout(struct examples_family_walk *walk, struct store_txn *txn,
                            const struct family_row *row, struct slice *ret_value)
{
    const struct examples_family_range *range = walk->range;
    struct examples_family_layout *layout = &walk->layouts[walk->layout_count];
    enum err err = read_head(txn, range->org, &row->example, ret_value, &layout->head);

    if (err != OK) {
        return err;
    }
    layout->fingerprint = row->example.fingerprint;
    layout->text = slice_of(NULL, 0);
    walk->layout_count++;
    return range->with_text ? find_text(txn, range->org, row, layout) : OK;
}

static bool is_same(const struct key_fingerprint *a, const struct key_fingerprint *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

/* Finds the layout of a row; if necessary opens it and reads the example's row. Returns NULL if too many
 * layouts are open. */
static enum err find_layout(struct examples_family_walk *walk, struct store_txn *txn,
                            const struct family_row *row, struct examples_family_row *ret_row)
{
    size_t place = 0;

    while (place < walk->layout_count &&
           !is_same(&walk->layouts[place].fingerprint, &row->example.fingerprint)) {
        place++;
    }
    ret_row->layout = place < walk->range->layouts_max ? &walk->layouts[place] : NULL;
    ret_row->value = slice_of(NULL, 0);
    return place == walk->layout_count && ret_row->layout != NULL
               ? open_layout(walk, txn, row, &ret_row->value)
               : OK;
}

/* Returns whether an example may be served according to its row of the family. */
static enum err may_serve(struct store_txn *txn, const struct examples_family_range *range,
                          const struct family_row *row, bool *ret_may)
{
    const struct family_example *example = &row->example;
    const struct examples_filter *filter = range->filter;
    bool is_retracted =
        example->retracted_by_seq != 0 && example->retracted_by_seq <= filter->as_of_seq;

    *ret_may = !is_retracted && example->seq <= filter->as_of_seq &&
               (filter->annotator_kinds >> example->annotator_kind & 1) != 0 &&
               !is_same(&example->fingerprint, range->except);
    return *ret_may ? had_example(txn, range->org, example->seq, row->family_seq, filter->as_of_seq,
                                  ret_may)
                    : OK;
}

/* Reads the example's own row, unless that was read with its layout. A row of FAMILY_EXAMPLE_MOVED names no retraction after
 * its split, so that the example may have been retracted. */
static enum err read_example(struct store_txn *txn, struct org_id org,
                             const struct family_example *example,
                             struct examples_family_row *ret_row)
{
    enum err err = OK;

    ret_row->key = key_example(org, &example->fingerprint, example->created_at_us, example->seq);
    ret_row->is_retracted = example->retracted_by_seq != 0;
    if (!ret_row->is_retracted) {
        if (ret_row->value.size > 0) {
            return OK;
        }
        err = store_get(txn, TABLE_EXAMPLE, key_slice(&ret_row->key), &ret_row->value);
        ret_row->is_retracted = err == ERR_NOT_FOUND;
    }
    if (ret_row->is_retracted) {
        err = store_get(txn, TABLE_EXAMPLE_RETRACTED, key_slice(&ret_row->key), &ret_row->value);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err examples_family_init(struct examples_family_walk *walk, struct store_txn *txn,
                              const struct examples_family_range *range)
{
    struct key after =
        key_family_example(range->org, range->members->seqs[0], range->as_of_us, UINT64_MAX);
    const struct family_range rows = {
        .table = TABLE_FAMILY_EXAMPLE,
        .has_past = range->filter->as_of_seq != UINT64_MAX,
        .past_table = TABLE_FAMILY_EXAMPLE_MOVED,
        .org = range->org,
        .members = range->members,
        .after = range->filter->as_of_seq != UINT64_MAX ? key_slice(&after) : slice_of(NULL, 0),
    };

    walk->range = range;
    walk->layout_count = 0;
    walk->row_count = 0;
    walk->is_cut = false;
    return family_walk_init(&walk->rows, range->arena, txn, &rows);
}

/* Reads the next row of the family. */
static enum err next_row(struct examples_family_walk *walk, struct family_row *ret_row)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = family_walk_next(&walk->rows, &key, &value);

    if (err == OK && walk->row_count == EXAMPLES_FAMILY_ROWS_MAX) {
        walk->is_cut = true;
        return ERR_NOT_FOUND;
    }
    if (err == OK) {
        walk->row_count++;
        err = family_example_read(key, value, &ret_row->example);
    }
    if (err == OK) {
        ret_row->family_seq = bytes_get_be64(key.data + KEY_ORG_BYTES);
    }
    return err;
}

enum err examples_family_next(struct examples_family_walk *walk, struct store_txn *txn,
                              struct examples_family_row *ret_row)
{
    struct family_row row;
    bool may = false;
    enum err err = OK;

    while (err == OK && !may) {
        err = next_row(walk, &row);
        if (err == OK) {
            err = may_serve(txn, walk->range, &row, &may);
        }
    }
    if (err == OK) {
        err = find_layout(walk, txn, &row, ret_row);
    }
    if (err == OK && ret_row->layout == NULL) {
        walk->is_cut = true;
        err = ERR_NOT_FOUND;
    }
    return err != OK ? err : read_example(txn, walk->range->org, &row.example, ret_row);
}

void examples_family_deinit(struct examples_family_walk *walk)
{
    family_walk_deinit(&walk->rows);
}
