/*
 * increment_check.c: checks that an increment continues a store: for each log, that its events follow on the last one
 * of the store, or on one of those that the store has of the file already; that it ends as the file says; and
 * that the store has no organisation that the file does not account for. Changes nothing.
 */
#include "server/domain/replay/increment_internal.h"

#include "server/domain/admin/organization_deletion.h"
#include "store/base/bytes.h"
#include "store/log_deletion.h"

#include <inttypes.h>

#define EVENT_ARENA_BYTES (16u << 20)

struct checking {
    const struct increment_source *source;
    struct store_txn *txn;
    struct fault *fault;
    struct arena events; /* memory of one event */
    struct increment_findings *findings;
    struct buffer known; /* ids of the organisations that have a log in the file, ascending */
    struct increment_log log; /* the log that is being read */
    struct log_head head; /* its head in the store */
    uint64_t next_seq; /* of its next event; 0: no log is being read */
};

static enum err say_differs(const struct checking *checking, const char *what)
{
    char id[UUID_TEXT_BYTES];

    uuid_format(checking->log.org.uuid, id);
    return fault_say(
        checking->fault, ERR_PRECONDITION,
        "%s: the log of organisation %.*s %s; expected the store that the backup before "
        "this increment was restored to, without later writes",
        checking->source->name, UUID_TEXT_BYTES, id, what);
}

/* Checks that the log which was read is complete. */
static enum err end_log(struct checking *checking)
{
    const struct increment_log *log = &checking->log;
    bool is_whole = checking->next_seq == log->last_seq + 1;

    if (checking->next_seq == 0) {
        return OK;
    }
    checking->next_seq = 0;
    return is_whole ? OK
                    : increment_say_malformed(checking->source, checking->fault,
                                              "lacks events of an organisation");
}

static enum err begin_log(struct checking *checking, const struct increment_log *log)
{
    const struct buffer *known = &checking->known;
    struct log_head *head = &checking->head;
    bool is_marked = false;
    enum err err = log_read_head(checking->txn, log->org, head);

    if (err == OK) {
        err = log_deletion_is_marked(checking->txn, log->org, &is_marked);
    }
    if (err != OK) {
        return err;
    }
    if (log->after_seq > log->last_seq || replay_is_no_org(log->org.uuid) ||
        (known->size > 0 &&
         memcmp(known->data + known->size - UUID_BYTES, log->org.uuid.bytes, UUID_BYTES) >= 0)) {
        return increment_say_malformed(checking->source, checking->fault,
                                       "has organisations out of order");
    }
    buffer_append(&checking->known, slice_of(log->org.uuid.bytes, UUID_BYTES));
    checking->log = *log;
    checking->next_seq = log->after_seq + 1;
    checking->findings->organizations++;
    if (is_marked) {
        return say_differs(checking, "is being deleted in the store");
    }
    if (head->last_seq < log->after_seq) {
        return fault_say(checking->fault, ERR_PRECONDITION,
                         "%s: continues a log after event %" PRIu64 ", and the store has %" PRIu64
                         "; expected the increments between them to be restored first",
                         checking->source->name, log->after_seq, head->last_seq);
    }
    if (head->last_seq > log->last_seq) {
        return say_differs(checking, "has later events in the store");
    }
    if (head->last_seq == log->last_seq &&
        memcmp(head->last_envelope_sha256.bytes, log->last_envelope_sha256.bytes, SHA256_BYTES) !=
            0) {
        return say_differs(checking, "has other events in the store");
    }
    return buffer_ok(&checking->known) ? OK : ERR_MEMORY;
}

static enum err note_deletion(struct checking *checking, const struct event *event)
{
    struct organization_deleted_view facts;
    enum err err = OK;

    if (event->kind != EVENT_ORGANIZATION_DELETED) {
        return OK;
    }
    err = organization_deleted_view_read(event->facts, &facts);
    if (err == OK) {
        buffer_append(&checking->findings->deleted, slice_of(facts.org_id.bytes, UUID_BYTES));
    }
    return err;
}

/* Checks an event that the store does not have. */
static enum err check_new(struct checking *checking, uint64_t seq, struct slice row)
{
    const struct log_head *head = &checking->head;
    struct event event;
    enum err err = log_decode(&checking->events, checking->log.org, seq, row, &event);

    if (err == OK && seq == head->last_seq + 1 &&
        memcmp(event.previous_sha256.bytes, head->last_envelope_sha256.bytes, SHA256_BYTES) != 0) {
        return say_differs(checking, "has other events in the store");
    }
    if (err == OK) {
        err = note_deletion(checking, &event);
    }
    if (err == OK) {
        checking->findings->events++;
    }
    return err == ERR_CORRUPT ? increment_say_malformed(checking->source, checking->fault,
                                                        "has an event that does not decode")
                              : err;
}

static enum err check_event(struct checking *checking, struct slice payload)
{
    uint64_t seq = increment_read_seq(payload);
    enum err err = OK;

    if (checking->next_seq == 0 || seq != checking->next_seq || seq > checking->log.last_seq) {
        return increment_say_malformed(checking->source, checking->fault,
                                       "has events out of order");
    }
    if (seq > checking->head.last_seq) {
        err = check_new(checking, seq, slice_after(payload, sizeof(uint64_t)));
        arena_reset(&checking->events);
    }
    checking->next_seq++;
    return err;
}

/* Checks that a vector belongs to an event of the log that was read last. */
static enum err check_vector(const struct checking *checking, struct slice payload)
{
    uint64_t seq = increment_read_seq(payload);

    return seq > checking->log.after_seq && seq <= checking->log.last_seq
               ? OK
               : increment_say_malformed(checking->source, checking->fault,
                                         "has a vector of no event");
}

static enum err check_meta(struct checking *checking, struct slice payload)
{
    size_t key_bytes = payload.data[0];
    bool is_right = key_bytes > KEY_ORG_BYTES && key_bytes <= STORE_KEY_BYTES_MAX &&
                    key_bytes + 1 < payload.size && bytes_are_zero(payload.data + 1, KEY_ORG_BYTES);

    return is_right
               ? OK
               : increment_say_malformed(checking->source, checking->fault, "has an invalid key");
}

static enum err check_record(struct checking *checking, const struct increment_record *record)
{
    struct increment_log log;
    enum err err = OK;

    if (record->type == INCREMENT_EVENT) {
        return check_event(checking, record->payload);
    }
    if (record->type == INCREMENT_TURN_VECTOR) {
        return check_vector(checking, record->payload);
    }
    err = end_log(checking);
    if (err == OK && record->type == INCREMENT_ORGANIZATION) {
        log = increment_read_log(record->payload);
        err = begin_log(checking, &log);
    } else if (err == OK && record->type == INCREMENT_DELETING) {
        buffer_append(&checking->findings->deleting, record->payload);
    } else if (err == OK) {
        err = check_meta(checking, record->payload);
    }
    return err;
}

/* Checks that each log of the store is in the file, or is deleted by it. Both are in ascending order. */
static enum err check_others(struct checking *checking)
{
    const struct buffer *known = &checking->known;
    size_t at = 0;
    struct uuid org;
    enum err err = replay_next_log(checking->txn, NULL, &org);

    while (err == OK) {
        while (at < known->size && memcmp(known->data + at, org.bytes, UUID_BYTES) < 0) {
            at += UUID_BYTES;
        }
        if ((at == known->size || memcmp(known->data + at, org.bytes, UUID_BYTES) != 0) &&
            !increment_has_id(&checking->findings->deleted, org)) {
            checking->log.org.uuid = org;
            return say_differs(checking, "is not in the file");
        }
        err = replay_next_log(checking->txn, &org, &org);
    }
    return err == ERR_NOT_FOUND ? OK : err;
}

static enum err check_records(struct checking *checking, const struct increment_target *target,
                              struct arena *arena)
{
    struct increment_reader reader;
    struct increment_record record;
    enum err err = increment_reader_init(&reader, checking->source, arena, checking->fault);

    while (err == OK) {
        err = increment_reader_next(&reader, &record);
        if (err == OK) {
            err = check_record(checking, &record);
        }
        if (err == OK && target->on_progress != NULL) {
            target->on_progress(target->user, false, reader.at, checking->source->end);
        }
    }
    return err == ERR_NOT_FOUND ? end_log(checking) : err;
}

enum err increment_check(const struct increment_source *source,
                         const struct increment_target *target, struct arena *arena,
                         struct increment_findings *ret_findings)
{
    struct checking checking = {.source = source, .fault = target->fault, .findings = ret_findings};
    enum err err = store_begin(target->backend, STORE_READ, &checking.txn);

    if (err != OK) {
        return err;
    }
    *ret_findings = (struct increment_findings){.organizations = 0};
    buffer_init(&ret_findings->deleted, arena, 0);
    buffer_init(&ret_findings->deleting, arena, 0);
    buffer_init(&checking.known, arena, 0);
    arena_init(&checking.events, EVENT_ARENA_BYTES);
    err = check_records(&checking, target, arena);
    if (err == OK) {
        err = buffer_ok(&ret_findings->deleted) && buffer_ok(&ret_findings->deleting)
                  ? check_others(&checking)
                  : ERR_MEMORY;
    }
    arena_deinit(&checking.events);
    store_abort(checking.txn);
    return err;
}
