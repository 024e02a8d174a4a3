/*
 * records.c: see records.h. A lookup decodes many example rows, so they are decoded by hand: first in the order
 * in which they are written, else field by field. Decoding with nanopb would take a multiple of the whole
 * lookup's time. Rows are encoded with nanopb, so the bytes are those of corrections.proto; a test decodes with
 * both.
 */
#include "server/domain/corrections/records.h"

#include "store/base/assert.h"
#include "store/base/wire.h"
#include "store/log.h"
#include "store/record_fast.h"
#include "store/record_pb.h"

#include <record/corrections.pb.h>

/* LMDB stores a node of more than half a page in overflow pages. Example rows of which fewer than four fit on a
 * page are padded to that length: with three rows per page, leaves were half empty, the tree was one level
 * deeper, and lookups of 1.2 KB examples a seventh slower. */
#define INLINE_BYTES_MAX 944
#define APART_BYTES_MIN 1984

/* A hash is complete, or omitted: then it is all zeros, as nanopb decodes it. */
static bool read_hint_hash(struct slice bytes, struct example_record *record)
{
    memset(record->hint_hash, 0, KEY_HASH_BYTES);
    if (bytes.size == KEY_HASH_BYTES) {
        memcpy(record->hint_hash, bytes.data, KEY_HASH_BYTES);
    }
    return bytes.size == KEY_HASH_BYTES || bytes.size == 0;
}

static bool read_example_field(const struct wire_field *field, struct example_record *record)
{
    enum wire_type wanted = WIRE_BYTES;

    switch (field->number) {
    case errata_record_ExampleRow_id_tag:
        record->id = field->bytes;
        break;
    case errata_record_ExampleRow_document_hash_tag:
        record->document_hash = field->bytes;
        break;
    case errata_record_ExampleRow_annotator_kind_tag:
        wanted = WIRE_VARINT;
        record->annotator_kind = (uint32_t)field->value;
        break;
    case errata_record_ExampleRow_hint_snippet_bytes_tag:
        wanted = WIRE_VARINT;
        record->hint.snippet_bytes = (uint32_t)field->value;
        break;
    case errata_record_ExampleRow_copy_hash_tag:
        wanted = WIRE_FIXED64;
        record->copy_hash = field->value;
        break;
    case errata_record_ExampleRow_example_tag:
        record->example = field->bytes;
        break;
    case errata_record_ExampleRow_packed_hint_tag:
        record->hint.packed = field->bytes;
        break;
    case errata_record_ExampleRow_hint_hash_tag:
        return field->type == wanted && read_hint_hash(field->bytes, record);
    default:
        return true;
    }
    return field->type == wanted;
}

/* Returns whether only padding is left, whose tag takes two bytes. */
static bool is_read(struct record_fast *reader)
{
    const uint8_t tag = (uint8_t)(errata_record_ExampleRow_padding_tag << 3 | WIRE_BYTES | 0x80);
    struct slice padding = {NULL, 0};

    if (reader->end - reader->at < 2 || reader->at[0] != tag) {
        return reader->at == reader->end;
    }
    reader->at++;
    record_fast_bytes(reader, errata_record_ExampleRow_padding_tag >> 4, &padding);
    return reader->at == reader->end;
}

/* Reads a row in the field order of our encoder; returns false for any other order. */
static bool read_example_in_order(struct slice bytes, struct example_record *record)
{
    struct record_fast reader = record_fast_of(bytes);
    struct slice hint_hash = {NULL, 0};
    uint64_t snippet_bytes = 0;
    uint64_t annotator_kind = 0;

    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_ExampleRow_document_hash_tag),
                      &record->document_hash);
    record_fast_number(&reader, RECORD_NUMBER_TAG(errata_record_ExampleRow_annotator_kind_tag),
                       &annotator_kind);
    record->annotator_kind = (uint32_t)annotator_kind;
    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_ExampleRow_hint_hash_tag),
                      &hint_hash);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_ExampleRow_id_tag), &record->id);
    record_fast_number(&reader, RECORD_NUMBER_TAG(errata_record_ExampleRow_hint_snippet_bytes_tag),
                       &snippet_bytes);
    record->hint.snippet_bytes = (uint32_t)snippet_bytes;
    record_fast_fixed(&reader, RECORD_FIXED_TAG(errata_record_ExampleRow_copy_hash_tag),
                      &record->copy_hash);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_ExampleRow_example_tag),
                      &record->example);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_ExampleRow_packed_hint_tag),
                      &record->hint.packed);
    return is_read(&reader) && read_hint_hash(hint_hash, record);
}

/* Reads the row with its fields in any order. */
static enum err read_example_by_field(struct slice bytes, struct example_record *record)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct wire_field field = {0};
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (!read_example_field(&field, record)) {
            return ERR_CORRUPT;
        }
    }
    return err == ERR_NOT_FOUND ? OK : ERR_CORRUPT;
}

struct slice example_id_shorten(const struct uuid *id, int64_t created_at_us)
{
    struct uuid timed = *id;

    uuid_v7_put_time(&timed, created_at_us);
    return uuid_equal(timed, *id)
               ? slice_of(id->bytes + UUID_TIME_BYTES, UUID_BYTES - UUID_TIME_BYTES)
               : slice_of(id->bytes, UUID_BYTES);
}

struct uuid example_id_restore(const struct example_record *record, int64_t created_at_us)
{
    struct uuid id;

    if (record->id.size == UUID_BYTES) {
        memcpy(id.bytes, record->id.data, UUID_BYTES);
        return id;
    }
    ASSERT(record->id.size == UUID_BYTES - UUID_TIME_BYTES);
    memcpy(id.bytes + UUID_TIME_BYTES, record->id.data, UUID_BYTES - UUID_TIME_BYTES);
    uuid_v7_put_time(&id, created_at_us);
    return id;
}

static bool example_is_whole(const struct example_record *record)
{
    return (record->id.size == UUID_BYTES || record->id.size == UUID_BYTES - UUID_TIME_BYTES) &&
           (record->document_hash.size == 0 ||
            record->document_hash.size == EXAMPLE_DOCUMENT_HASH_BYTES) &&
           record->annotator_kind >= ANNOTATOR_HUMAN && record->annotator_kind <= ANNOTATOR_LLM;
}

enum err record_decode_example(struct slice bytes, struct example_record *ret_record)
{
    struct example_record record = {0};

    if (!read_example_in_order(bytes, &record)) {
        memset(&record, 0, sizeof(record));
        if (read_example_by_field(bytes, &record) != OK) {
            return ERR_CORRUPT;
        }
    }
    if (record.annotator_kind == 0) {
        record.annotator_kind = ANNOTATOR_HUMAN;
    }
    if (!example_is_whole(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

static enum err encode_example(struct arena *arena, const struct example_record *record,
                               struct slice padding, struct slice *ret_bytes)
{
    errata_record_ExampleRow message = {
        .id = record->id,
        .document_hash = record->document_hash,
        .annotator_kind = record->annotator_kind == ANNOTATOR_HUMAN ? 0 : record->annotator_kind,
        .hint_snippet_bytes = record->hint.snippet_bytes,
        .copy_hash = record->copy_hash,
        .example = record->example,
        .packed_hint = record->hint.packed,
        .padding = padding,
    };

    if (UNEXPECTED(!example_is_whole(record))) {
        return ERR_INTERNAL;
    }
    memcpy(message.hint_hash, record->hint_hash, KEY_HASH_BYTES);
    return record_pb_encode(arena, &errata_record_ExampleRow_msg, &message, ret_bytes);
}

enum err record_encode_example_part(struct arena *arena, const struct example_record *record,
                                    struct slice *ret_bytes)
{
    return encode_example(arena, record, slice_of(NULL, 0), ret_bytes);
}

enum err record_encode_example(struct arena *arena, const struct example_record *record,
                               struct slice *ret_bytes)
{
    static const uint8_t zeros[APART_BYTES_MIN];
    enum err err = encode_example(arena, record, slice_of(NULL, 0), ret_bytes);

    if (err == OK && ret_bytes->size > INLINE_BYTES_MAX && ret_bytes->size < APART_BYTES_MIN) {
        err = encode_example(arena, record, slice_of(zeros, APART_BYTES_MIN - ret_bytes->size),
                             ret_bytes);
    }
    return err;
}

/* A mark without values has no row. */
static bool says_something(const struct example_mark_record *record)
{
    return record->superseded_by_seq != 0 || record->carried_count != 0 || record->carried_sum != 0;
}

enum err record_decode_example_mark(struct slice bytes, struct example_mark_record *ret_record)
{
    struct example_mark_record record;
    errata_record_ExampleMark message;

    memset(&message, 0, sizeof(message));
    if (record_pb_decode(bytes, &errata_record_ExampleMark_msg, &message) != OK) {
        return ERR_CORRUPT;
    }
    record = (struct example_mark_record){.superseded_by_seq = message.superseded_by_seq,
                                          .carried_count = message.carried_count,
                                          .carried_sum = message.carried_sum};
    if (!says_something(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_example_mark(struct arena *arena, const struct example_mark_record *record,
                                    struct slice *ret_bytes)
{
    errata_record_ExampleMark message = {.superseded_by_seq = record->superseded_by_seq,
                                         .carried_count = record->carried_count,
                                         .carried_sum = record->carried_sum};

    if (UNEXPECTED(!says_something(record))) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_ExampleMark_msg, &message, ret_bytes);
}

enum err record_decode_retracted_example(struct slice bytes,
                                         struct retracted_example_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_RetractedExampleRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_RetractedExampleRow_msg, &message);
    if (err != OK) {
        return err;
    }
    message.row = record_take(&check, message.row);
    record_need(&check, message.retracted_by_seq != 0);
    record_need(&check, message.row.size > 0);
    if (check.failed) {
        return ERR_CORRUPT;
    }
    *ret_record = (struct retracted_example_record){.retracted_by_seq = message.retracted_by_seq,
                                                    .superseded_by_seq = message.superseded_by_seq,
                                                    .row = message.row};
    return OK;
}

enum err record_encode_retracted_example(struct arena *arena,
                                         const struct retracted_example_record *record,
                                         struct slice *ret_bytes)
{
    errata_record_RetractedExampleRow message = {.retracted_by_seq = record->retracted_by_seq,
                                                 .superseded_by_seq = record->superseded_by_seq,
                                                 .row = record->row};

    if (UNEXPECTED(record->retracted_by_seq == 0) || UNEXPECTED(record->row.size == 0)) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_RetractedExampleRow_msg, &message, ret_bytes);
}

static void take_names(struct record_check *check, const errata_record_Name *names, size_t count,
                       struct record_names *ret_names)
{
    ret_names->count = count;
    for (size_t i = 0; i < count; i++) {
        ret_names->items[i] = record_take(check, names[i].text);
    }
}

enum err record_decode_entity(struct slice bytes, struct entity_record *ret_record)
{
    struct record_check check = {.whole = bytes};
    errata_record_EntityRow message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_EntityRow_msg, &message);
    if (err != OK) {
        return err;
    }
    take_names(&check, message.remaining, message.remaining_count, &ret_record->remaining);
    return record_check_result(&check);
}

static void give_names(const struct record_names *names, errata_record_Name *ret_names,
                       pb_size_t *ret_count)
{
    *ret_count = (pb_size_t)names->count;
    for (size_t i = 0; i < names->count; i++) {
        ret_names[i].text = names->items[i];
    }
}

enum err record_encode_entity(struct arena *arena, const struct entity_record *record,
                              struct slice *ret_bytes)
{
    errata_record_EntityRow message;

    if (UNEXPECTED(record->remaining.count > RECORD_NAMES_MAX)) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    give_names(&record->remaining, message.remaining, &message.remaining_count);
    return record_pb_encode(arena, &errata_record_EntityRow_msg, &message, ret_bytes);
}
