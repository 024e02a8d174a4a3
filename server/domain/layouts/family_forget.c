/*
 * family_forget.c: removes an example from the families that have or had it; see family_example_forget in
 * family_examples.h. Its document is of one family now; TABLE_DOCUMENT_MOVED has the earlier ones.
 */
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/family_past.h"
#include "store/scan.h"

/* Deletes the rows of an example in one family, those for reads of the past too. */
static enum err forget_in(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                          const struct family_example *example)
{
    struct key key = key_family_example(org, family_seq, example->created_at_us, example->seq);
    enum err err = family_example_remove(txn, org, family_seq, example);

    return err != OK ? err : store_del_if_present(txn, TABLE_FAMILY_EXAMPLE_MOVED, key_slice(&key));
}

/* Deletes the rows of an example in the families that its document was moved from. */
static enum err forget_in_moved(struct store_txn *txn, struct org_id org, struct slice document_id,
                                const struct family_example *example)
{
    const struct scan_range range = {
        .table = TABLE_DOCUMENT_MOVED,
        .prefix = key_document(org, document_id),
        .rows_max = FAMILY_PAST_ROWS_MAX,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t family_seq = 0;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err = log_read_id_row(value, &family_seq);
        }
        if (err == OK) {
            err = forget_in(txn, org, family_seq, example);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err family_example_forget(struct store_txn *txn, struct org_id org,
                               const struct feedback_event_view *view,
                               const struct family_example *example)
{
    uint64_t family_seq = 0;
    enum err err = family_example_family(txn, org, view, &family_seq);

    if (err == OK) {
        err = forget_in(txn, org, family_seq, example);
    }
    return err != OK || view->document_id.size == 0
               ? err
               : forget_in_moved(txn, org, view->document_id, example);
}
