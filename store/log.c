/*
 * log.c: appends, reads and finds events. log_apply_envelope writes the generic rows of events of
 * any kind, for appends and replays.
 */
#include "store/log.h"

#include "store/backend_ops.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/log_deletion.h"
#include "store/log_import.h"
#include "store/records.h"

_Static_assert(EVENT_SUBJECTS_MAX == RECORD_SUBJECTS_MAX, "an event and its record hold as many");
_Static_assert(EVENT_SALT_BYTES == RECORD_SALT_BYTES, "an event's salt is its record's");

/* The head of its row. */
static enum err read_head(struct store_txn *txn, struct org_id org, struct log_head *ret_head)
{
    struct key key = key_org(org);
    struct org_head_record record;
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_ORG_HEAD, key_slice(&key), &value);

    if (err == ERR_NOT_FOUND) {
        memset(ret_head, 0, sizeof(*ret_head));
        return OK;
    }
    if (err == OK) {
        err = record_decode_org_head(value, &record);
    }
    if (err != OK) {
        return err;
    }
    /* No event can follow a head with these values, so it is corrupt. */
    if (record.last_seq == UINT64_MAX || record.last_recorded_at_us == INT64_MAX) {
        return ERR_CORRUPT;
    }
    ret_head->last_seq = record.last_seq;
    ret_head->last_recorded_at_us = record.last_recorded_at_us;
    ret_head->stored_bytes = record.stored_bytes;
    ret_head->last_envelope_sha256 = record.last_envelope_sha256;
    return OK;
}

enum err log_read_head(struct store_txn *txn, struct org_id org, struct log_head *ret_head)
{
    struct txn_log_head *kept = &txn->log_head;
    enum err err = OK;

    if (kept->is_known && uuid_equal(kept->org.uuid, org.uuid)) {
        *ret_head = kept->head;
        return OK;
    }
    err = read_head(txn, org, ret_head);
    if (err == OK && txn->access == STORE_READ) {
        *kept = (struct txn_log_head){.is_known = true, .org = org, .head = *ret_head};
    }
    return err;
}

enum err log_read_newest(struct store_txn *txn, int64_t *ret_recorded_at_us)
{
    struct org_id org;
    int64_t newest_us = 0;
    enum err err = store_next_org(txn, TABLE_ORG_HEAD, NULL, &org.uuid);

    while (err == OK) {
        struct log_head head = {.last_recorded_at_us = 0};

        err = log_read_head(txn, org, &head);
        if (err == OK && head.last_recorded_at_us > newest_us) {
            newest_us = head.last_recorded_at_us;
        }
        if (err == OK || err == ERR_CORRUPT) {
            err = store_next_org(txn, TABLE_ORG_HEAD, &org.uuid, &org.uuid);
        }
    }
    if (err == ERR_NOT_FOUND) {
        *ret_recorded_at_us = newest_us;
        return OK;
    }
    return err;
}

void log_begin_write(struct store_txn *txn, const struct event_idempotency *key)
{
    memset(&txn->log_write, 0, sizeof(txn->log_write));
    if (key != NULL && key->present) {
        txn->log_write.idempotency = *key;
    }
}

/* Returns whether events may be decided for an organisation. */
static enum err check_open(struct store_txn *txn, struct org_id org)
{
    bool is_marked = false;
    enum err err = log_deletion_is_marked(txn, org, &is_marked);

    if (err == OK && is_marked) {
        return ERR_ORGANIZATION_DELETED;
    }
    if (err == OK) {
        err = log_import_is_marked(txn, org, &is_marked);
    }
    return err == OK && is_marked ? ERR_ORGANIZATION_IMPORTING : err;
}

enum err log_next_stamp(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                        struct log_stamp *ret_stamp)
{
    struct log_stamp stamp = {.created_at_us = clock_wall_us(ctx->clock)};
    struct log_head head;
    struct event last;
    enum err err = check_open(txn, org);

    if (err == OK) {
        err = log_read_head(txn, org, &head);
    }
    if (err != OK) {
        return err;
    }
    stamp.seq = head.last_seq + 1;
    if (head.last_seq == 0 || stamp.created_at_us > head.last_recorded_at_us) {
        stamp.recorded_at_us = stamp.created_at_us;
        stamp.id = uuid_v7(stamp.recorded_at_us, ctx->random);
    } else {
        err = log_read(txn, org, head.last_seq, &last);
        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        stamp.recorded_at_us = head.last_recorded_at_us;
        stamp.id = uuid_v7_next(last.id, ctx->random);
    }
    *ret_stamp = stamp;
    return OK;
}

static struct sha256_digest content_digest(struct slice salt, struct slice content)
{
    struct slice pieces[] = {salt, content};

    return sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));
}

/* Builds the envelope of a draft. */
static enum err seal(struct ctx *ctx, const struct store_txn *txn, const struct event_draft *draft,
                     const struct log_head *head, struct event_record *record)
{
    const struct txn_log_write *write = &txn->log_write;
    struct envelope_record envelope = {
        .org = draft->org.uuid,
        .seq = draft->stamp.seq,
        .id = draft->stamp.id,
        .kind = draft->kind,
        .annotator = draft->annotator,
        .source = draft->source,
        .recorded_at_us = draft->stamp.recorded_at_us,
        .created_at_us = draft->created_at_us,
        .actor_user_id = draft->actor_user_id,
        .subject_count = draft->subject_count,
        .facts_sha256 = sha256(draft->facts),
        .content_sha256 = content_digest(record->salt, draft->content),
        .previous_sha256 = head->last_envelope_sha256,
        .write_index = write->next_index,
    };

    for (size_t i = 0; i < draft->subject_count; i++) {
        envelope.subjects[i].kind = draft->subjects[i].kind;
        envelope.subjects[i].id = draft->subjects[i].id;
    }
    if (write->idempotency.present && write->next_index == 0) {
        envelope.has_idempotency = true;
        envelope.idempotency.org = write->idempotency.org.uuid;
        memcpy(envelope.idempotency.key_hash, write->idempotency.key_hash, KEY_HASH_BYTES);
        envelope.idempotency.request_sha256 = write->idempotency.request_sha256;
    }
    record->envelope = envelope;
    return record_encode_envelope(ctx->arena, &envelope, &record->envelope_bytes);
}

/* Records the event for the log's engine. */
static enum err note_range(struct store_txn *txn, struct org_id org, uint64_t seq)
{
    struct log_range *range = NULL;

    for (size_t i = txn->log_range_count; i > 0; i--) {
        range = &txn->log_ranges[i - 1];
        if (uuid_equal(range->org.uuid, org.uuid)) {
            range->count++;
            return OK;
        }
    }
    if (UNEXPECTED(txn->log_range_count == TXN_LOG_RANGES_MAX)) {
        return ERR_INTERNAL;
    }
    range = &txn->log_ranges[txn->log_range_count++];
    range->org = org;
    range->first_seq = seq;
    range->count = 1;
    return OK;
}

static enum err check_draft(const struct event_draft *draft, const struct log_head *head)
{
    if (UNEXPECTED(draft->stamp.seq != head->last_seq + 1) ||
        UNEXPECTED(draft->subject_count < 1 || draft->subject_count > EVENT_SUBJECTS_MAX) ||
        UNEXPECTED(draft->source != SOURCE_BACKFILL &&
                   draft->created_at_us != draft->stamp.created_at_us)) {
        return ERR_INTERNAL;
    }
    return OK;
}

/* Encodes the row of an event. */
static enum err encode(struct ctx *ctx, const struct event_record *record, struct slice *ret_bytes)
{
    enum err err = record_encode_event(ctx->arena, record, ret_bytes);

    if (err != OK || ret_bytes->size <= STORE_VALUE_BYTES_MAX) {
        return err;
    }
    return fault_say(ctx->fault, ERR_TOO_LARGE,
                     "request: %zu bytes as an event; expected at most %d, with less text",
                     ret_bytes->size, STORE_VALUE_BYTES_MAX);
}

/* Stores a sealed record as the next event of the log, with its generic rows. */
static enum err store_record(struct ctx *ctx, struct store_txn *txn,
                             const struct event_record *record, struct event *ret_event)
{
    struct org_id org = {.uuid = record->envelope.org};
    uint64_t seq = record->envelope.seq;
    struct key key = key_event(org, seq);
    struct event event;
    struct slice bytes = {NULL, 0};
    enum err err = encode(ctx, record, &bytes);

    if (err == OK) {
        err = log_decode(ctx->arena, org, seq, bytes, &event);
    }
    if (err == OK) {
        err = store_append(txn, TABLE_EVENT, key_slice(&key), bytes);
    }
    if (err == OK) {
        err = log_apply_envelope(ctx, txn, &event);
    }
    if (err == OK) {
        err = note_range(txn, org, seq);
    }
    if (err != OK) {
        return err;
    }
    if (event.recorded_at_us > txn->newest_recorded_at_us) {
        txn->newest_recorded_at_us = event.recorded_at_us;
    }
    *ret_event = event;
    return OK;
}

enum err log_append(struct ctx *ctx, struct store_txn *txn, const struct event_draft *draft,
                    struct event *ret_event)
{
    uint8_t salt[EVENT_SALT_BYTES];
    struct event_record record = {.facts = draft->facts, .content = draft->content};
    struct log_head head;
    enum err err = log_read_head(txn, draft->org, &head);

    if (err == OK) {
        err = check_draft(draft, &head);
    }
    if (err != OK) {
        return err;
    }
    if (draft->content.size > 0) {
        random_fill(ctx->random, salt, sizeof(salt));
        record.salt = slice_of(salt, sizeof(salt));
    }
    err = seal(ctx, txn, draft, &head, &record);
    if (err == OK) {
        err = store_record(ctx, txn, &record, ret_event);
    }
    if (err == OK) {
        txn->log_write.next_index++;
    }
    return err;
}

/* Builds the envelope of an imported event, as seal does that of a draft. */
static enum err seal_imported(struct ctx *ctx, const struct event *event,
                              const struct log_head *head, struct event_record *record)
{
    struct envelope_record envelope = {
        .org = event->org.uuid,
        .seq = head->last_seq + 1,
        .id = event->id,
        .kind = event->kind,
        .annotator = event->annotator,
        .source = event->source,
        .recorded_at_us = event->recorded_at_us,
        .created_at_us = event->created_at_us,
        .actor_user_id = event->actor_user_id,
        .subject_count = event->subject_count,
        .facts_sha256 = sha256(event->facts),
        .content_sha256 = event->content_removed ? event->content_sha256
                                                 : content_digest(event->salt, event->content),
        .previous_sha256 = head->last_envelope_sha256,
        .write_index = event->write_index,
    };

    for (size_t i = 0; i < event->subject_count; i++) {
        envelope.subjects[i].kind = event->subjects[i].kind;
        envelope.subjects[i].id = event->subjects[i].id;
    }
    *record = (struct event_record){.envelope = envelope,
                                    .facts = event->facts,
                                    .content = event->content,
                                    .salt = event->salt,
                                    .content_removed = event->content_removed};
    return record_encode_envelope(ctx->arena, &envelope, &record->envelope_bytes);
}

enum err log_append_imported(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                             struct event *ret_event)
{
    struct event_record record;
    struct log_head head;
    enum err err = log_read_head(txn, event->org, &head);

    if (err == OK && event->seq != head.last_seq + 1) {
        err = ERR_INVALID;
    }
    if (err == OK) {
        err = seal_imported(ctx, event, &head, &record);
    }
    return err != OK ? err : store_record(ctx, txn, &record, ret_event);
}

static enum err put_head(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         const struct log_head *head)
{
    struct key key = key_org(org);
    const struct org_head_record record = {
        .last_seq = head->last_seq,
        .last_recorded_at_us = head->last_recorded_at_us,
        .last_envelope_sha256 = head->last_envelope_sha256,
        .stored_bytes = head->stored_bytes,
    };
    struct slice bytes = {NULL, 0};
    enum err err = record_encode_org_head(ctx->arena, &record, &bytes);

    return err != OK ? err : store_put(txn, TABLE_ORG_HEAD, key_slice(&key), bytes);
}

/* Makes an event the last one. */
static enum err advance_head(struct ctx *ctx, struct store_txn *txn, const struct event *event,
                             const struct log_head *before)
{
    const struct log_head head = {
        .last_seq = event->seq,
        .last_recorded_at_us = event->recorded_at_us,
        .last_envelope_sha256 = sha256(event->envelope),
        .stored_bytes = before->stored_bytes + event->facts.size + event->content.size,
    };

    return put_head(ctx, txn, event->org, &head);
}

enum err log_apply_envelope(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct key id = key_event_id(event->org, event->id);
    struct key subject = key_subject(event->org, event->subjects[0].kind, event->subjects[0].id,
                                     event->created_at_us, event->seq);
    struct key backfill = key_backfill(event->org, event->created_at_us, event->seq);
    struct slice nothing = {NULL, 0};
    struct log_head head;
    uint8_t seq[sizeof(event->seq)];
    enum err err = log_read_head(txn, event->org, &head);

    if (err != OK) {
        return err;
    }
    if (event->seq != head.last_seq + 1 ||
        memcmp(event->previous_sha256.bytes, head.last_envelope_sha256.bytes, SHA256_BYTES) != 0) {
        return ERR_CORRUPT;
    }
    bytes_put_be64(seq, event->seq);
    err = advance_head(ctx, txn, event, &head);
    if (err == OK) {
        err = store_append(txn, TABLE_EVENT_ID, key_slice(&id), slice_of(seq, sizeof(seq)));
    }
    if (err == OK) {
        err = store_put(txn, TABLE_SUBJECT, key_slice(&subject), nothing);
    }
    if (err == OK &&
        event_is_apart(event, head.last_seq > 0 ? head.last_recorded_at_us : INT64_MIN)) {
        err = store_put(txn, TABLE_BACKFILL, key_slice(&backfill), nothing);
    }
    return err;
}

static bool event_fits(const struct event *event)
{
    return event->kind <= EVENT_KIND_MAX && event->annotator <= ANNOTATOR_LLM &&
           event->source <= SOURCE_SYSTEM;
}

enum err log_decode(struct arena *arena, struct org_id org, uint64_t seq, struct slice record,
                    struct event *ret_event)
{
    struct event_record row;
    struct event event;
    enum err err = record_decode_event(arena, org.uuid, record, &row);

    if (err != OK) {
        return err;
    }
    memset(&event, 0, sizeof(event));
    event.org.uuid = row.envelope.org;
    event.seq = row.envelope.seq;
    event.id = row.envelope.id;
    event.kind = (enum event_kind_number)row.envelope.kind;
    event.annotator = (enum annotator)row.envelope.annotator;
    event.source = (enum log_source)row.envelope.source;
    event.recorded_at_us = row.envelope.recorded_at_us;
    event.created_at_us = row.envelope.created_at_us;
    event.actor_user_id = row.envelope.actor_user_id;
    event.subject_count = row.envelope.subject_count;
    for (size_t i = 0; i < row.envelope.subject_count; i++) {
        event.subjects[i].kind = (uint8_t)row.envelope.subjects[i].kind;
        event.subjects[i].id = row.envelope.subjects[i].id;
    }
    event.facts = row.facts;
    event.content = row.content;
    event.content_removed = row.content_removed;
    event.salt = row.salt;
    event.facts_sha256 = row.envelope.facts_sha256;
    event.content_sha256 = row.envelope.content_sha256;
    event.previous_sha256 = row.envelope.previous_sha256;
    event.write_index = row.envelope.write_index;
    event.idempotency.present = row.envelope.has_idempotency;
    event.idempotency.org.uuid = row.envelope.idempotency.org;
    memcpy(event.idempotency.key_hash, row.envelope.idempotency.key_hash, KEY_HASH_BYTES);
    event.idempotency.request_sha256 = row.envelope.idempotency.request_sha256;
    event.envelope = row.envelope_bytes;
    if (!uuid_equal(event.org.uuid, org.uuid) || event.seq != seq || !event_fits(&event)) {
        return ERR_CORRUPT;
    }
    *ret_event = event;
    return OK;
}

enum err log_read(struct store_txn *txn, struct org_id org, uint64_t seq, struct event *ret_event)
{
    struct key key = key_event(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EVENT, key_slice(&key), &value);

    return err != OK ? err : log_decode(&txn->unpacked, org, seq, value, ret_event);
}

enum err log_read_copy(struct arena *arena, struct store_txn *txn, struct org_id org, uint64_t seq,
                       struct event *ret_event)
{
    struct key key = key_event(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EVENT, key_slice(&key), &value);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    if (!arena_copy(arena, value, &value)) {
        return ERR_MEMORY;
    }
    return log_decode(arena, org, seq, value, ret_event);
}

enum err log_read_id_row(struct slice value, uint64_t *ret_seq)
{
    if (value.size != sizeof(*ret_seq)) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(value.data);
    return OK;
}

enum err log_get_id_row(struct store_txn *txn, enum store_table table, const struct key *key,
                        uint64_t *ret_seq)
{
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, table, key_slice(key), &value);

    *ret_seq = 0;
    if (err == OK) {
        err = log_read_id_row(value, ret_seq);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err log_put_id_row(struct store_txn *txn, enum store_table table, const struct key *key,
                        uint64_t seq)
{
    uint8_t value[sizeof(seq)];

    bytes_put_be64(value, seq);
    return store_put(txn, table, key_slice(key), slice_of(value, sizeof(value)));
}

enum err log_find(struct store_txn *txn, struct org_id org, struct uuid id, uint64_t *ret_seq)
{
    struct key key = key_event_id(org, id);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EVENT_ID, key_slice(&key), &value);

    return err != OK ? err : log_read_id_row(value, ret_seq);
}

enum err log_seq_at(struct store_txn *txn, struct org_id org, int64_t time_us, uint64_t *ret_seq)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);
    uint64_t low = 0; /* last event recorded at or before the time (0: before the first) */
    uint64_t high = 0; /* first event recorded after the time */

    if (err != OK) {
        return err;
    }
    high = head.last_seq + 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        struct event event;

        err = log_read(txn, org, middle, &event);
        if (err != OK) {
            return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        }
        if (event.recorded_at_us <= time_us) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *ret_seq = low;
    return OK;
}

enum err log_walk_init(struct log_walk *walk, struct store_txn *txn, struct org_id org,
                       uint64_t from_seq, enum store_order order)
{
    struct key prefix = key_org(org);
    struct key from = {.size = 0};

    if (from_seq > 0) {
        from = key_event(org, from_seq);
    }
    walk->org = org;
    walk->memory = NULL;
    return store_cursor_init(&walk->cursor, txn, TABLE_EVENT, key_slice(&prefix), key_slice(&from),
                             order);
}

enum err log_walk_next(struct log_walk *walk, struct event *ret_event)
{
    struct arena *memory = walk->memory;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = store_cursor_next(&walk->cursor, &key, &value);

    if (err == OK) {
        err = key_read_event(key, &seq);
    }
    if (memory != NULL) {
        arena_reset(memory);
    } else {
        memory = &walk->cursor.txn->unpacked;
    }
    return err != OK ? err : log_decode(memory, walk->org, seq, value, ret_event);
}

void log_walk_deinit(struct log_walk *walk)
{
    store_cursor_deinit(&walk->cursor);
}

/* Counts bytes of an organisation's events no more. */
static enum err uncount(struct ctx *ctx, struct store_txn *txn, struct org_id org, size_t bytes)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);

    if (err == OK && bytes > head.stored_bytes) {
        err = ERR_CORRUPT;
    }
    if (err != OK) {
        return err;
    }
    head.stored_bytes -= bytes;
    return put_head(ctx, txn, org, &head);
}

enum err log_remove_content(struct ctx *ctx, struct store_txn *txn, struct org_id org, uint64_t seq)
{
    struct key key = key_event(org, seq);
    struct event_record record;
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EVENT, key_slice(&key), &value);

    if (err == OK && !arena_copy(ctx->arena, value, &value)) {
        err = ERR_MEMORY;
    }
    if (err == OK) {
        err = record_decode_event(ctx->arena, org.uuid, value, &record);
    }
    if (err != OK || record.content.size == 0) {
        return err;
    }
    err = uncount(ctx, txn, org, record.content.size);
    if (err != OK) {
        return err;
    }
    record.content_removed = true;
    record.content = slice_of(NULL, 0);
    record.salt = slice_of(NULL, 0);
    err = record_encode_event(ctx->arena, &record, &value);
    return err != OK ? err : store_put(txn, TABLE_EVENT, key_slice(&key), value);
}

enum err log_content_is_removed(struct store_txn *txn, struct org_id org, uint64_t seq,
                                bool *ret_is_removed)
{
    struct key key = key_event(org, seq);
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_EVENT, key_slice(&key), &value);

    return err != OK ? err : record_event_is_removed(value, ret_is_removed);
}

static bool digest_is(const struct sha256_digest *a, struct sha256_digest b)
{
    return memcmp(a->bytes, b.bytes, SHA256_BYTES) == 0;
}

bool log_event_holds(const struct event *event)
{
    return digest_is(&event->facts_sha256, sha256(event->facts)) &&
           (event->content_removed ||
            digest_is(&event->content_sha256, content_digest(event->salt, event->content)));
}

/* Returns whether an event continues the chain of the previous one. */
static bool event_is_chained(const struct event *event, const struct log_check *check)
{
    return event->seq == check->last_seq + 1 &&
           digest_is(&event->previous_sha256, check->last_envelope_sha256) &&
           log_event_holds(event);
}

static enum err verify_events(struct log_walk *walk, uint64_t limit, struct log_check *check)
{
    for (uint64_t i = 0; i < limit; i++) {
        struct event event;
        enum err err = log_walk_next(walk, &event);

        if (err != OK) {
            return err == ERR_NOT_FOUND ? OK : err;
        }
        if (!event_is_chained(&event, check)) {
            return ERR_CORRUPT;
        }
        check->last_seq = event.seq;
        check->last_envelope_sha256 = sha256(event.envelope);
    }
    return OK;
}

enum err log_verify_chain(struct store_txn *txn, struct org_id org, uint64_t limit,
                          struct log_check *check)
{
    struct log_walk walk;
    struct log_head head;
    uint64_t wanted = 0;
    enum err err = log_read_head(txn, org, &head);

    if (err != OK) {
        return err;
    }
    if (check->last_seq > head.last_seq) {
        return ERR_CORRUPT;
    }
    wanted = head.last_seq - check->last_seq < limit ? head.last_seq : check->last_seq + limit;
    err = log_walk_init(&walk, txn, org, check->last_seq + 1, STORE_ASCENDING);
    if (err == OK) {
        err = verify_events(&walk, limit, check);
    }
    log_walk_deinit(&walk);
    if (err != OK) {
        return err;
    }
    if (check->last_seq != wanted ||
        (wanted == head.last_seq &&
         !digest_is(&check->last_envelope_sha256, head.last_envelope_sha256))) {
        return ERR_CORRUPT;
    }
    return OK;
}
