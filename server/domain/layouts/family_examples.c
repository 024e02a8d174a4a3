/*
 * family_examples.c: see family_examples.h.
 */
#include "server/domain/layouts/family_examples.h"

#include "server/domain/layouts/document_facts.h"
#include "server/domain/layouts/records.h"
#include "store/base/bytes.h"
#include "store/scan.h"

enum err family_example_family(struct store_txn *txn, struct org_id org,
                               const struct feedback_event_view *view, uint64_t *ret_family_seq)
{
    struct document_record document = {.family_seq = 0};
    enum err err = OK;

    if (view->document_id.size > 0) {
        err = document_row_read(txn, org, view->document_id, &document);
        err = err == ERR_NOT_FOUND ? OK : err;
    } else if (view->has_layout_family_id) {
        err = log_find(txn, org, view->layout_family_id, &document.family_seq);
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (err == OK) {
        *ret_family_seq = document.family_seq;
    }
    return err;
}

/* The parts of a row's value. */
#define ANNOTATOR_AT sizeof(struct key_fingerprint)
#define RETRACTION_AT (ANNOTATOR_AT + 1)
#define VALUE_BYTES_MAX (RETRACTION_AT + sizeof(uint64_t))

enum err family_example_read(struct slice key, struct slice value,
                             struct family_example *ret_example)
{
    if (value.size != RETRACTION_AT && value.size != VALUE_BYTES_MAX) {
        return ERR_CORRUPT;
    }
    memcpy(ret_example->fingerprint.bytes, value.data, sizeof(ret_example->fingerprint.bytes));
    ret_example->annotator_kind = value.data[ANNOTATOR_AT];
    ret_example->retracted_by_seq =
        value.size == VALUE_BYTES_MAX ? bytes_get_be64(value.data + RETRACTION_AT) : 0;
    return key_read_newest_first(key, &ret_example->created_at_us, &ret_example->seq);
}

static enum err read_count(struct store_txn *txn, const struct key *key, uint64_t *ret_count)
{
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_FAMILY_EXAMPLE_COUNT, key_slice(key), &value);

    *ret_count = 0;
    if (err == OK && value.size != sizeof(*ret_count)) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_count = bytes_get_be64(value.data);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

/* Adds 1 to the examples of a family, or subtracts it; a family without examples has no row. */
static enum err count(struct store_txn *txn, struct org_id org, uint64_t family_seq, bool adds)
{
    struct key key = key_family_prefix(org, family_seq);
    uint64_t number = 0;
    uint8_t value[sizeof(number)];
    enum err err = read_count(txn, &key, &number);

    if (err == OK && !adds && number == 0) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err;
    }
    number += adds ? 1 : (uint64_t)-1;
    bytes_put_be64(value, number);
    return number == 0 ? store_del(txn, TABLE_FAMILY_EXAMPLE_COUNT, key_slice(&key))
                       : store_put(txn, TABLE_FAMILY_EXAMPLE_COUNT, key_slice(&key),
                                   slice_of(value, sizeof(value)));
}

static enum err put_row(struct store_txn *txn, enum store_table table, struct org_id org,
                        uint64_t family_seq, const struct family_example *example)
{
    struct key key = key_family_example(org, family_seq, example->created_at_us, example->seq);
    bool is_retracted = example->retracted_by_seq != 0;
    uint8_t value[VALUE_BYTES_MAX];

    memcpy(value, example->fingerprint.bytes, sizeof(example->fingerprint.bytes));
    value[ANNOTATOR_AT] = (uint8_t)example->annotator_kind;
    bytes_put_be64(value + RETRACTION_AT, example->retracted_by_seq);
    return store_put(txn, table, key_slice(&key),
                     slice_of(value, is_retracted ? VALUE_BYTES_MAX : RETRACTION_AT));
}

enum err family_example_put(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                            const struct family_example *example)
{
    enum err err = OK;

    if (family_seq == 0) {
        return OK;
    }
    err = put_row(txn, TABLE_FAMILY_EXAMPLE, org, family_seq, example);
    return err != OK || example->retracted_by_seq != 0 ? err : count(txn, org, family_seq, true);
}

/* Reads whether a family has a row of an example, and whether the example was retracted. */
static enum err find_row(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                         const struct family_example *example, bool *ret_is_retracted)
{
    struct key key = key_family_example(org, family_seq, example->created_at_us, example->seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_FAMILY_EXAMPLE, key_slice(&key), &value);

    if (err == OK) {
        *ret_is_retracted = value.size == VALUE_BYTES_MAX;
    }
    return err;
}

enum err family_example_retract(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                                const struct family_example *example)
{
    bool was_retracted = false;
    enum err err =
        family_seq == 0 ? ERR_NOT_FOUND : find_row(txn, org, family_seq, example, &was_retracted);

    if (err == ERR_NOT_FOUND) {
        return OK;
    }
    if (err == OK) {
        err = put_row(txn, TABLE_FAMILY_EXAMPLE, org, family_seq, example);
    }
    return err != OK || was_retracted ? err : count(txn, org, family_seq, false);
}

enum err family_example_remove(struct store_txn *txn, struct org_id org, uint64_t family_seq,
                               const struct family_example *example)
{
    struct key key = key_family_example(org, family_seq, example->created_at_us, example->seq);
    bool was_retracted = false;
    enum err err =
        family_seq == 0 ? ERR_NOT_FOUND : find_row(txn, org, family_seq, example, &was_retracted);

    if (err == ERR_NOT_FOUND) {
        return OK;
    }
    if (err == OK) {
        err = store_del(txn, TABLE_FAMILY_EXAMPLE, key_slice(&key));
    }
    return err != OK || was_retracted ? err : count(txn, org, family_seq, false);
}

enum err family_example_move(struct store_txn *txn, struct org_id org, uint64_t from_seq,
                             uint64_t to_seq, const struct family_example *example)
{
    enum err err = family_example_remove(txn, org, from_seq, example);

    if (err == OK) {
        err = put_row(txn, TABLE_FAMILY_EXAMPLE_MOVED, org, from_seq, example);
    }
    return err != OK ? err : family_example_put(txn, org, to_seq, example);
}

enum err family_examples_count(struct store_txn *txn, struct org_id org,
                               const struct family_members *members, uint64_t *ret_count)
{
    uint64_t total = 0;

    for (size_t i = 0; i < members->count; i++) {
        struct key key = key_family_prefix(org, members->seqs[i]);
        uint64_t number = 0;
        enum err err = read_count(txn, &key, &number);

        if (err != OK) {
            return err;
        }
        total += number;
    }
    *ret_count = total;
    return OK;
}

/* Reads the example of a feedback event. ERR_NOT_FOUND if the event names another document, or has no
 * row among the examples of its layout. */
static enum err read_example(struct store_txn *txn, struct org_id org, uint64_t seq,
                             struct slice document_id, struct family_example *ret_example)
{
    struct slice value = {NULL, 0};
    struct feedback_event_view view;
    struct event event;
    struct key key;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK) {
        err = feedback_view_read(&event, &view);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (!feedback_is_correction(view.event_type) || view.layout_fingerprint.size == 0 ||
        !slice_equal(view.document_id, document_id)) {
        return ERR_NOT_FOUND;
    }
    *ret_example = (struct family_example){
        .fingerprint = key_fingerprint_of(view.layout_fingerprint),
        .annotator_kind = event.annotator,
        .created_at_us = event.created_at_us,
        .seq = seq,
    };
    key = key_example(org, &ret_example->fingerprint, event.created_at_us, seq);
    return store_get(txn, TABLE_EXAMPLE, key_slice(&key), &value);
}

/* Reads the newest examples of a document. They are moved afterwards, since a scan does not allow puts. */
static enum err read_examples(struct store_txn *txn, struct org_id org, struct slice document_id,
                              struct family_example *examples, size_t *ret_count)
{
    const struct scan_range range = {
        .table = TABLE_FEEDBACK_SUBJECT,
        .prefix = key_feedback_subject_prefix(org, SUBJECT_DOCUMENT, document_id),
        .rows_max = FAMILY_EXAMPLES_MOVED_MAX,
    };
    struct scan scan = {.row_count = 0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    int64_t created_at_us = 0;
    uint64_t seq = 0;
    size_t count = 0;
    enum err err = scan_init(&scan, txn, &range);

    while (err == OK) {
        err = scan_next(&scan, &key, &value);
        if (err != OK) {
            break;
        }
        err = key_read_newest_first(key, &created_at_us, &seq);
        if (err == OK) {
            err = read_example(txn, org, seq, document_id, &examples[count]);
            count += err == OK ? 1 : 0;
            err = err == ERR_NOT_FOUND ? OK : err;
        }
    }
    scan_deinit(&scan);
    *ret_count = count;
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err family_examples_move(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                              struct slice document_id, uint64_t from_seq, uint64_t to_seq)
{
    struct family_example *examples =
        arena_calloc(ctx->arena, FAMILY_EXAMPLES_MOVED_MAX, sizeof(*examples));
    size_t count = 0;
    enum err err =
        examples == NULL ? ERR_MEMORY : read_examples(txn, org, document_id, examples, &count);

    for (size_t i = 0; i < count && err == OK; i++) {
        err = family_example_remove(txn, org, from_seq, &examples[i]);
        if (err == OK) {
            err = family_example_put(txn, org, to_seq, &examples[i]);
        }
    }
    return err;
}
