/*
 * read.c: stored dead letters and their list; see dead_letters.h.
 */
#include "server/domain/dead_letters/dead_letters.h"
#include "server/domain/dead_letters/keys.h"

#include <errata/v1/event.views.h>

static enum err read_letter(struct store_txn *txn, struct org_id org, uint64_t seq,
                            struct dead_letter *ret_letter)
{
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK && event.kind != EVENT_DEAD_LETTER_STORED) {
        err = ERR_NOT_FOUND;
    }
    if (err != OK) {
        return err;
    }
    *ret_letter = (struct dead_letter){.seq = seq, .content_removed = event.content_removed};
    return view_read_parts(&dead_letter_view_type, event.facts, event.content, &ret_letter->view);
}

enum err dead_letter_find(struct ctx *ctx, struct store_txn *txn, struct org_id org, struct uuid id,
                          struct dead_letter *ret_letter)
{
    uint64_t seq = 0;
    enum err err = log_find(txn, org, id, &seq);

    if (err == OK) {
        err = read_letter(txn, org, seq, ret_letter);
    }
    if (err == OK) {
        struct key key = key_dead_letter_retry(org, seq);

        err = log_get_id_row(txn, TABLE_DEAD_LETTER_RETRY, &key, &ret_letter->retried_seq);
    }
    return err != ERR_NOT_FOUND
               ? err
               : fault_say(ctx->fault, err,
                           "dead_letter_id: not found in this organisation; expected an id that "
                           "ListDeadLetters returned");
}

enum err dead_letter_read_entry(struct ctx *ctx, const struct dead_letter *letter,
                                struct stream_entry *ret_entry)
{
    struct slice run = letter->view.fields.run;
    struct slice element = {NULL, 0};
    struct entry_field *fields =
        arena_calloc(ctx->arena, letter->view.fields.count + 1, sizeof(*fields));
    size_t count = 0;

    if (letter->view.incomplete || letter->content_removed) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "dead_letter_id: its entry is not stored whole; expected a dead letter "
                         "without `incomplete` whose content was not erased");
    }
    if (fields == NULL) {
        return ERR_MEMORY;
    }
    while (view_next(&run, &element)) {
        struct dead_letter_field_view field;
        enum err err = dead_letter_field_view_read(element, &field);

        if (err != OK) {
            return err;
        }
        fields[count++] = (struct entry_field){field.name, field.value};
    }
    *ret_entry = (struct stream_entry){.stream = letter->view.stream,
                                       .id = letter->view.entry_id,
                                       .fields = fields,
                                       .field_count = count};
    return OK;
}

enum err dead_letter_read_retry(struct store_txn *txn, struct org_id org, uint64_t seq,
                                struct uuid *ret_feedback_id)
{
    struct dead_letter_retried_view view;
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK && event.kind != EVENT_DEAD_LETTER_RETRIED) {
        err = ERR_NOT_FOUND;
    }
    if (err == OK) {
        err = dead_letter_retried_view_read(event.facts, &view);
    }
    if (err == OK) {
        *ret_feedback_id = view.feedback_id;
    }
    return err;
}

enum err dead_letter_list_begin(struct store_txn *txn, struct org_id org, struct page *page)
{
    const struct scan_range range = {.table = TABLE_DEAD_LETTER,
                                     .prefix = key_org(org),
                                     .order = STORE_ASCENDING,
                                     .after = page->after};

    return page_open(page, txn, &range);
}

enum err dead_letter_list_next(struct store_txn *txn, struct org_id org, struct page *page,
                               struct dead_letter_view *ret_view)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    struct dead_letter letter;
    uint64_t seq = 0;
    enum err err = page_next(page, &key, &value);

    if (err != OK) {
        return err;
    }
    err = log_read_id_row(value, &seq);
    if (err == OK) {
        err = read_letter(txn, org, seq, &letter);
    }
    if (err == OK) {
        *ret_view = letter.view;
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}
