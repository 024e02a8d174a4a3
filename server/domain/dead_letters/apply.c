/*
 * apply.c: applies a dead letter, which is then listed, and its retry, which removes it from the list.
 */
#include "server/domain/dead_letters/dead_letters.h"
#include "server/domain/dead_letters/keys.h"
#include "store/base/assert.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

static enum err apply_stored(struct store_txn *txn, const struct event *event)
{
    struct dead_letter_view view;
    struct key key = key_dead_letter(event->org, event->seq);
    enum err err = view_read_parts(&dead_letter_view_type, event->facts, event->content, &view);

    if (err == OK) {
        err = view.entry_sha256.size == SHA256_BYTES ? OK : ERR_CORRUPT;
    }
    if (err == OK) {
        err = log_put_id_row(txn, TABLE_DEAD_LETTER, &key, event->seq);
    }
    if (err != OK) {
        return err;
    }
    key = key_dead_letter_entry(event->org, view.stream, view.entry_id, view.entry_sha256);
    return log_put_id_row(txn, TABLE_DEAD_LETTER_ENTRY, &key, event->seq);
}

static enum err apply_retried(struct store_txn *txn, const struct event *event)
{
    struct dead_letter_retried_view view;
    struct key key;
    enum err err = dead_letter_retried_view_read(event->facts, &view);

    if (err != OK) {
        return err;
    }
    key = key_dead_letter(event->org, view.dead_letter_seq);
    err = store_del(txn, TABLE_DEAD_LETTER, key_slice(&key));
    if (err == OK) {
        key = key_dead_letter_retry(event->org, view.dead_letter_seq);
        err = log_put_id_row(txn, TABLE_DEAD_LETTER_RETRY, &key, event->seq);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

enum err dead_letters_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    (void)ctx;
    ASSERT(dead_letters_applies(event->kind));
    return event->kind == EVENT_DEAD_LETTER_STORED ? apply_stored(txn, event)
                                                   : apply_retried(txn, event);
}
