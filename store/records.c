/*
 * records.c: see records.h.
 */
#include "store/records.h"
#include "store/base/bytes.h"

#include "store/base/assert.h"
#include "store/base/pack.h"
#include "store/base/timestamp.h"
#include "store/record_fast.h"
#include "store/record_row.h"

#include <record/store.views.h>

#define US_PER_SECOND INT64_C(1000000)

static void take_subjects(struct record_check *check, const struct view_list *list,
                          struct envelope_record *record)
{
    struct slice run = list->run;
    struct slice message = {NULL, 0};
    struct envelope_subject_view subject;

    record_need(check, list->count <= RECORD_SUBJECTS_MAX);
    while (!check->failed && view_next(&run, &message)) {
        record_need(check, envelope_subject_view_read(message, &subject) == OK &&
                               subject.kind != 0 && subject.kind <= UINT8_MAX &&
                               subject.id.size > 0);
        record->subjects[record->subject_count].kind = subject.kind;
        record->subjects[record->subject_count].id = subject.id;
        record->subject_count++;
    }
}

static void take_idempotency(struct record_check *check, struct slice message,
                             struct envelope_record *record)
{
    struct envelope_idempotency_view idempotency;

    record_need(check, envelope_idempotency_view_read(message, &idempotency) == OK);
    memcpy(record->idempotency.org.bytes, idempotency.org, UUID_BYTES);
    memcpy(record->idempotency.key_hash, idempotency.key_hash, KEY_HASH_BYTES);
    memcpy(record->idempotency.request_sha256.bytes, idempotency.request_sha256, SHA256_BYTES);
}

static void envelope_from_message(struct record_check *check, const struct envelope_view *message,
                                  struct envelope_record *record)
{
    memset(record, 0, sizeof(*record));
    memcpy(record->org.bytes, message->org, sizeof(record->org.bytes));
    record->seq = message->seq;
    memcpy(record->id.bytes, message->id, sizeof(record->id.bytes));
    record->kind = message->kind;
    record->annotator = message->annotator;
    record->source = message->source;
    record->recorded_at_us = message->recorded_at_us;
    record->created_at_us = message->created_at_us;
    record->actor_user_id = message->actor_user_id;
    take_subjects(check, &message->subjects, record);
    memcpy(record->facts_sha256.bytes, message->facts_sha256, SHA256_BYTES);
    memcpy(record->content_sha256.bytes, message->content_sha256, SHA256_BYTES);
    memcpy(record->previous_sha256.bytes, message->previous_sha256, SHA256_BYTES);
    record->write_index = message->write_index;
    record->has_idempotency = message->has_idempotency;
    take_idempotency(check, message->idempotency, record);
}

/* A time that the contract can represent; so sums of times and spans fit. */
static bool is_time(int64_t time_us)
{
    return time_us >= TIMESTAMP_SECONDS_MIN * US_PER_SECOND &&
           time_us < (TIMESTAMP_SECONDS_MAX + 1) * US_PER_SECOND;
}

static bool envelope_is_whole(const struct envelope_record *record)
{
    return !bytes_are_zero(record->org.bytes, UUID_BYTES) && record->seq != 0 &&
           !bytes_are_zero(record->id.bytes, UUID_BYTES) && record->kind != 0 &&
           record->annotator != 0 && record->source != 0 && is_time(record->recorded_at_us) &&
           is_time(record->created_at_us) && record->subject_count >= 1 &&
           record->subject_count <= RECORD_SUBJECTS_MAX &&
           !bytes_are_zero(record->facts_sha256.bytes, SHA256_BYTES) &&
           !bytes_are_zero(record->content_sha256.bytes, SHA256_BYTES) &&
           (record->seq == 1) == bytes_are_zero(record->previous_sha256.bytes, SHA256_BYTES) &&
           (!record->has_idempotency || !bytes_are_zero(record->idempotency.org.bytes, UUID_BYTES));
}

enum err record_decode_envelope(struct slice bytes, struct envelope_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct envelope_view message;
    struct envelope_record record;
    enum err err = envelope_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    envelope_from_message(&check, &message, &record);
    record_need(&check, envelope_is_whole(&record));
    if (!check.failed) {
        *ret_record = record;
    }
    return record_check_result(&check);
}

static enum err give_subjects(struct arena *arena, const struct envelope_record *record,
                              struct view_list *ret_list)
{
    struct buffer run;

    buffer_init(&run, arena, 0);
    for (size_t i = 0; i < record->subject_count; i++) {
        const struct envelope_subject_view subject = {.kind = record->subjects[i].kind,
                                                      .id = record->subjects[i].id};

        envelope_subject_view_put(&subject, ENVELOPE_SUBJECTS_FIELD, &run);
    }
    ret_list->run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}

static enum err give_idempotency(struct arena *arena, const struct envelope_record *record,
                                 struct slice *ret_bytes)
{
    struct envelope_idempotency_view idempotency;

    memcpy(idempotency.org, record->idempotency.org.bytes, UUID_BYTES);
    memcpy(idempotency.key_hash, record->idempotency.key_hash, KEY_HASH_BYTES);
    memcpy(idempotency.request_sha256, record->idempotency.request_sha256.bytes, SHA256_BYTES);
    return record_encode(arena, &envelope_idempotency_view_type, &idempotency, ret_bytes);
}

enum err record_encode_envelope(struct arena *arena, const struct envelope_record *record,
                                struct slice *ret_bytes)
{
    struct envelope_view message;
    enum err err = OK;

    if (UNEXPECTED(!envelope_is_whole(record))) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    memcpy(message.org, record->org.bytes, UUID_BYTES);
    message.seq = record->seq;
    memcpy(message.id, record->id.bytes, UUID_BYTES);
    message.kind = record->kind;
    message.annotator = record->annotator;
    message.source = record->source;
    message.recorded_at_us = record->recorded_at_us;
    message.created_at_us = record->created_at_us;
    message.actor_user_id = record->actor_user_id;
    memcpy(message.facts_sha256, record->facts_sha256.bytes, SHA256_BYTES);
    memcpy(message.content_sha256, record->content_sha256.bytes, SHA256_BYTES);
    memcpy(message.previous_sha256, record->previous_sha256.bytes, SHA256_BYTES);
    message.write_index = record->write_index;
    message.has_idempotency = record->has_idempotency;
    err = give_subjects(arena, record, &message.subjects);
    if (err == OK && record->has_idempotency) {
        err = give_idempotency(arena, record, &message.idempotency);
    }
    return err != OK ? err : record_encode(arena, &envelope_view_type, &message, ret_bytes);
}

/* Returns the dictionary of the packed envelope: the organisation, which is in the key. The seq is
 * not part of it, since it is read from the row to detect misplaced rows. */
static struct slice envelope_dictionary(const struct uuid *org)
{
    return slice_of(org->bytes, sizeof(org->bytes));
}

/* Builds the dictionary of the packed facts: the values of the envelope in the forms in which facts
 * contain them. Values at the start of facts are last, at the smallest distance. */
static enum err make_facts_dictionary(struct arena *arena, const struct event_record *record,
                                      struct slice *ret_dictionary)
{
    char org[UUID_TEXT_BYTES];
    char id[UUID_TEXT_BYTES];
    struct buffer buffer = {0};

    uuid_format(record->envelope.org, org);
    uuid_format(record->envelope.id, id);
    buffer_init(&buffer, arena,
                WIRE_TIMESTAMP_BYTES_MAX + record->envelope_bytes.size + sizeof(org) + sizeof(id));
    wire_put_timestamp(&buffer, 1, record->envelope.created_at_us);
    buffer_append(&buffer, record->envelope_bytes);
    buffer_append(&buffer, slice_of(org, sizeof(org)));
    buffer_append(&buffer, slice_of(id, sizeof(id)));
    *ret_dictionary = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

/* Unpacks bytes into the arena. */
static enum err unpack(struct arena *arena, struct slice dictionary, struct slice packed,
                       struct slice *ret_bytes)
{
    uint8_t *bytes = NULL;
    size_t size = 0;

    if (!pack_read_size(packed, &size)) {
        return ERR_CORRUPT;
    }
    bytes = arena_alloc(arena, size + 1);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    *ret_bytes = slice_of(bytes, size);
    return pack_read(dictionary, packed, bytes) ? OK : ERR_CORRUPT;
}

static enum err unpack_event(struct arena *arena, const struct uuid *org,
                             const struct event_record_view *message, struct event_record *record)
{
    struct slice dictionary = {NULL, 0};
    enum err err = OK;

    if (message->packed_envelope.size > 0) {
        err = unpack(arena, envelope_dictionary(org), message->packed_envelope,
                     &record->envelope_bytes);
    }
    if (err == OK) {
        err = record_decode_envelope(record->envelope_bytes, &record->envelope);
    }
    if (err != OK || message->packed_facts.size == 0) {
        return err;
    }
    err = make_facts_dictionary(arena, record, &dictionary);
    return err != OK ? err : unpack(arena, dictionary, message->packed_facts, &record->facts);
}

enum err record_decode_event(struct arena *arena, struct uuid org, struct slice bytes,
                             struct event_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct event_record_view message;
    struct event_record record;
    enum err err = event_record_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record.envelope_bytes = message.envelope;
    record.facts = message.facts;
    record.content = message.content;
    record.salt = message.salt;
    record_need(&check, record.salt.size == 0 || record.salt.size == RECORD_SALT_BYTES);
    record.content_removed = message.content_removed;
    record_need(&check, record.envelope_bytes.size == 0 || message.packed_envelope.size == 0);
    record_need(&check, record.facts.size == 0 || message.packed_facts.size == 0);
    record_need(&check, (record.content.size == 0) == (record.salt.size == 0));
    record_need(&check, !record.content_removed || record.content.size == 0);
    if (check.failed) {
        return ERR_CORRUPT;
    }
    err = unpack_event(arena, &org, &message, &record);
    if (err == OK) {
        *ret_record = record;
    }
    return err;
}

enum err record_event_is_removed(struct slice bytes, bool *ret_is_removed)
{
    struct event_record_view message;
    enum err err = event_record_view_read(bytes, &message);

    if (err == OK) {
        *ret_is_removed = message.content_removed;
    }
    return err;
}

/* Sets one of the two fields: the packed one, unless it would be longer. */
static enum err pack_shorter(struct arena *arena, struct slice dictionary, struct slice bytes,
                             struct slice *ret_packed, struct slice *ret_plain)
{
    struct slice packed = {NULL, 0};
    enum err err = pack_write(arena, dictionary, bytes, &packed);

    if (err == ERR_INVALID || (err == OK && packed.size >= bytes.size)) {
        *ret_plain = bytes;
        return OK;
    }
    *ret_packed = packed;
    return err;
}

enum err record_encode_event(struct arena *arena, const struct event_record *record,
                             struct slice *ret_bytes)
{
    struct event_record_view message = {
        .salt = record->salt,
        .content = record->content,
        .content_removed = record->content_removed,
    };
    struct slice dictionary = {NULL, 0};
    enum err err = OK;

    if (UNEXPECTED(record->envelope_bytes.size == 0) ||
        UNEXPECTED(record->content_removed && record->content.size > 0) ||
        UNEXPECTED(record->salt.size != (record->content.size > 0 ? RECORD_SALT_BYTES : 0))) {
        return ERR_INTERNAL;
    }
    err = pack_shorter(arena, envelope_dictionary(&record->envelope.org), record->envelope_bytes,
                       &message.packed_envelope, &message.envelope);
    if (err == OK) {
        err = make_facts_dictionary(arena, record, &dictionary);
    }
    if (err == OK) {
        err = pack_shorter(arena, dictionary, record->facts, &message.packed_facts, &message.facts);
    }
    return err != OK ? err : record_encode(arena, &event_record_view_type, &message, ret_bytes);
}

/* Reads a head in the field order of our encoder, as every lookup does; returns false for any other
 * order. */
static bool read_org_head_in_order(struct slice bytes, struct org_head_record *ret_record)
{
    struct record_fast reader = record_fast_of(bytes);
    struct slice digest = {NULL, 0};
    uint64_t seq = 0;
    uint64_t recorded_at_us = 0;
    uint64_t stored_bytes = 0;

    record_fast_number(&reader, RECORD_NUMBER_TAG(ORG_HEAD_LAST_SEQ_FIELD), &seq);
    record_fast_number(&reader, RECORD_NUMBER_TAG(ORG_HEAD_LAST_RECORDED_AT_US_FIELD),
                       &recorded_at_us);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(ORG_HEAD_LAST_ENVELOPE_SHA256_FIELD), &digest);
    record_fast_number(&reader, RECORD_NUMBER_TAG(ORG_HEAD_STORED_BYTES_FIELD), &stored_bytes);
    if (reader.at != reader.end || seq == 0 || digest.size != SHA256_BYTES ||
        bytes_are_zero(digest.data, SHA256_BYTES)) {
        return false;
    }
    ret_record->last_seq = seq;
    ret_record->last_recorded_at_us = (int64_t)recorded_at_us;
    memcpy(ret_record->last_envelope_sha256.bytes, digest.data, SHA256_BYTES);
    ret_record->stored_bytes = stored_bytes;
    return true;
}

enum err record_decode_org_head(struct slice bytes, struct org_head_record *ret_record)
{
    struct org_head_view message;
    enum err err = OK;

    if (read_org_head_in_order(bytes, ret_record)) {
        return OK;
    }
    err = org_head_view_read(bytes, &message);
    if (err != OK) {
        return err;
    }
    if (message.last_seq == 0 || bytes_are_zero(message.last_envelope_sha256, SHA256_BYTES)) {
        return ERR_CORRUPT;
    }
    ret_record->last_seq = message.last_seq;
    ret_record->last_recorded_at_us = message.last_recorded_at_us;
    memcpy(ret_record->last_envelope_sha256.bytes, message.last_envelope_sha256, SHA256_BYTES);
    ret_record->stored_bytes = message.stored_bytes;
    return OK;
}

enum err record_encode_org_head(struct arena *arena, const struct org_head_record *record,
                                struct slice *ret_bytes)
{
    struct org_head_view message = {
        .last_seq = record->last_seq,
        .last_recorded_at_us = record->last_recorded_at_us,
        .stored_bytes = record->stored_bytes,
    };

    if (UNEXPECTED(record->last_seq == 0)) {
        return ERR_INTERNAL;
    }
    memcpy(message.last_envelope_sha256, record->last_envelope_sha256.bytes, SHA256_BYTES);
    return record_encode(arena, &org_head_view_type, &message, ret_bytes);
}

enum err record_decode_idempotency(struct slice bytes, struct idempotency_record *ret_record)
{
    struct idempotency_row_view message;
    enum err err = idempotency_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    if (bytes_are_zero(message.log_org, UUID_BYTES) ||
        (message.first_seq == 0 && message.count != 0)) {
        return ERR_CORRUPT;
    }
    memcpy(ret_record->request_sha256.bytes, message.request_sha256, SHA256_BYTES);
    memcpy(ret_record->log_org.bytes, message.log_org, UUID_BYTES);
    ret_record->first_seq = message.first_seq;
    ret_record->count = message.count;
    return OK;
}

enum err record_encode_idempotency(struct arena *arena, const struct idempotency_record *record,
                                   struct slice *ret_bytes)
{
    struct idempotency_row_view message = {
        .first_seq = record->first_seq,
        .count = record->count,
    };

    if (UNEXPECTED(bytes_are_zero(record->log_org.bytes, UUID_BYTES)) ||
        UNEXPECTED(record->first_seq == 0 && record->count != 0)) {
        return ERR_INTERNAL;
    }
    memcpy(message.request_sha256, record->request_sha256.bytes, SHA256_BYTES);
    memcpy(message.log_org, record->log_org.bytes, UUID_BYTES);
    return record_encode(arena, &idempotency_row_view_type, &message, ret_bytes);
}

enum err record_decode_meta(struct slice bytes, struct meta_record *ret_record)
{
    struct meta_row_view message;
    enum err err = meta_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    ret_record->number = message.number;
    ret_record->bytes = message.value;
    return OK;
}

enum err record_encode_meta(struct arena *arena, const struct meta_record *record,
                            struct slice *ret_bytes)
{
    struct meta_row_view message = {.number = record->number, .value = record->bytes};

    return record_encode(arena, &meta_row_view_type, &message, ret_bytes);
}
