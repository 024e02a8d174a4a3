/*
 * increment_read.c: reads an increment record by record, with a bound on each.
 */
#include "server/domain/replay/increment_internal.h"

#include "store/base/bytes.h"

enum err increment_say_malformed(const struct increment_source *source, struct fault *fault,
                                 const char *what)
{
    return fault_say(fault, ERR_CORRUPT,
                     "%s: %s; expected an increment that `errata admin backup --since` wrote",
                     source->name, what);
}

enum err increment_reader_init(struct increment_reader *reader,
                               const struct increment_source *source, struct arena *arena,
                               struct fault *fault)
{
    *reader = (struct increment_reader){.source = source, .at = source->begin, .fault = fault};
    reader->payload = arena_alloc(arena, INCREMENT_PAYLOAD_BYTES_MAX);
    return reader->payload != NULL ? OK : ERR_MEMORY;
}

/* Returns whether there is such a type, and a payload of it may have the size. */
static bool size_is_valid(uint8_t type, uint32_t size)
{
    switch ((enum increment_type)type) {
    case INCREMENT_ORGANIZATION:
        return size == INCREMENT_ORGANIZATION_BYTES;
    case INCREMENT_DELETING:
        return size == UUID_BYTES;
    case INCREMENT_EVENT:
    case INCREMENT_TURN_VECTOR:
        return size > sizeof(uint64_t) && size <= INCREMENT_PAYLOAD_BYTES_MAX;
    case INCREMENT_META:
        return size > 1 && size <= INCREMENT_PAYLOAD_BYTES_MAX;
    }
    return false;
}

enum err increment_reader_next(struct increment_reader *reader, struct increment_record *ret_record)
{
    const struct increment_source *source = reader->source;
    uint8_t head[INCREMENT_HEAD_BYTES];
    uint32_t size = 0;
    enum err err = OK;

    if (reader->at == source->end) {
        return ERR_NOT_FOUND;
    }
    if (source->end - reader->at < sizeof(head)) {
        return increment_say_malformed(source, reader->fault, "ends within a record");
    }
    err = source->read(source->user, reader->at, head, sizeof(head));
    if (err != OK) {
        return err;
    }
    reader->at += sizeof(head);
    size = bytes_get_be32(head + 1);
    if (!size_is_valid(head[0], size) || size > source->end - reader->at) {
        return increment_say_malformed(source, reader->fault, "has bytes that are not a record");
    }
    err = source->read(source->user, reader->at, reader->payload, size);
    if (err != OK) {
        return err;
    }
    reader->at += size;
    *ret_record = (struct increment_record){.type = (enum increment_type)head[0],
                                            .payload = slice_of(reader->payload, size)};
    return OK;
}

struct increment_log increment_read_log(struct slice payload)
{
    struct increment_log log = {
        .after_seq = bytes_get_be64(payload.data + INCREMENT_AFTER_AT),
        .last_seq = bytes_get_be64(payload.data + INCREMENT_LAST_AT),
    };

    memcpy(log.org.uuid.bytes, payload.data, UUID_BYTES);
    memcpy(log.last_envelope_sha256.bytes, payload.data + INCREMENT_DIGEST_AT, SHA256_BYTES);
    return log;
}

uint64_t increment_read_seq(struct slice payload)
{
    return bytes_get_be64(payload.data);
}

bool increment_has_id(const struct buffer *ids, struct uuid id)
{
    for (size_t at = 0; at < ids->size; at += UUID_BYTES) {
        if (memcmp(ids->data + at, id.bytes, UUID_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

static bool key_is_of(struct slice key, const char *name)
{
    struct key of = key_meta_global(slice_text(name));

    return key.size >= of.size && memcmp(key.data, of.bytes, of.size) == 0;
}

bool increment_has_meta(struct slice key)
{
    static const char *const left_out[] = {KEY_META_FORMAT, KEY_META_PROBE, KEY_META_JOURNAL,
                                           KEY_META_DELETION, KEY_META_RESTORE};

    for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
        if (key_is_of(key, left_out[i])) {
            return false;
        }
    }
    return true;
}
