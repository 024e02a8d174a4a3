/*
 * record_example.c: records of layouts and their examples. The two that a lookup reads, the head row
 * and the example rows, are decoded by hand: nanopb takes a multiple of the whole lookup's time for
 * them. They are encoded by nanopb, so the bytes are those of record.proto, and a test decodes by
 * both.
 */
#include "store/record_pb.h"

#include "store/base/assert.h"
#include "store/base/wire.h"

#include <record.pb.h>

#define FAMILY_BYTES 16

/* A packed list of little-endian numbers of 64 bits, as this machine keeps them. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packed lists are read by copying");

struct packed {
    uint64_t items[RECORD_MARKS_MAX];
    size_t count;
};

static bool read_packed(struct slice bytes, struct packed *list)
{
    size_t count = bytes.size / sizeof(uint64_t);

    if (bytes.size % sizeof(uint64_t) != 0 || count > RECORD_MARKS_MAX - list->count) {
        return false;
    }
    if (count > 0) {
        memcpy(list->items + list->count, bytes.data, bytes.size);
    }
    list->count += count;
    return true;
}

struct head_lists {
    struct packed seq;
    struct packed created_at_us;
    struct packed superseded_by_seq;
};

static bool read_head_field(const struct wire_field *field, struct layout_head_record *head,
                            struct head_lists *lists)
{
    enum wire_type wanted = WIRE_BYTES;
    bool fits = true;

    switch (field->number) {
    case errata_record_LayoutHead_family_id_tag:
        head->family_id = field->bytes;
        break;
    case errata_record_LayoutHead_feedback_count_tag:
        wanted = WIRE_VARINT;
        head->feedback_count = field->value;
        break;
    case errata_record_LayoutHead_example_count_tag:
        wanted = WIRE_VARINT;
        head->example_count = field->value;
        break;
    case errata_record_LayoutHead_mark_seq_tag:
        fits = read_packed(field->bytes, &lists->seq);
        break;
    case errata_record_LayoutHead_mark_created_at_us_tag:
        fits = read_packed(field->bytes, &lists->created_at_us);
        break;
    case errata_record_LayoutHead_mark_superseded_by_seq_tag:
        fits = read_packed(field->bytes, &lists->superseded_by_seq);
        break;
    default:
        return true; /* a field of a later format, which a reader may leave alone */
    }
    return fits && field->type == wanted;
}

enum err record_decode_layout_head(struct slice bytes, struct layout_head_record *ret_record)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct layout_head_record head;
    struct head_lists lists;
    struct wire_field field = {0};
    enum err err = OK;

    head.family_id = slice_of(NULL, 0);
    head.feedback_count = 0;
    head.example_count = 0;
    lists.seq.count = 0;
    lists.created_at_us.count = 0;
    lists.superseded_by_seq.count = 0;
    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (!read_head_field(&field, &head, &lists)) {
            return ERR_CORRUPT;
        }
    }
    if (err != ERR_NOT_FOUND || lists.seq.count != lists.created_at_us.count ||
        lists.seq.count != lists.superseded_by_seq.count ||
        (head.family_id.size != 0 && head.family_id.size != FAMILY_BYTES)) {
        return ERR_CORRUPT;
    }
    ret_record->family_id = head.family_id;
    ret_record->feedback_count = head.feedback_count;
    ret_record->example_count = head.example_count;
    ret_record->mark_count = lists.seq.count;
    for (size_t i = 0; i < lists.seq.count; i++) {
        ret_record->marks[i].seq = lists.seq.items[i];
        ret_record->marks[i].created_at_us = (int64_t)lists.created_at_us.items[i];
        ret_record->marks[i].superseded_by_seq = lists.superseded_by_seq.items[i];
    }
    return OK;
}

enum err record_encode_layout_head(struct arena *arena, const struct layout_head_record *record,
                                   struct slice *ret_bytes)
{
    errata_record_LayoutHead message;

    if (UNEXPECTED(record->mark_count > RECORD_MARKS_MAX) ||
        UNEXPECTED(record->family_id.size != 0 && record->family_id.size != FAMILY_BYTES)) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    message.family_id = record->family_id;
    message.feedback_count = record->feedback_count;
    message.example_count = record->example_count;
    message.mark_seq_count = (pb_size_t)record->mark_count;
    message.mark_created_at_us_count = (pb_size_t)record->mark_count;
    message.mark_superseded_by_seq_count = (pb_size_t)record->mark_count;
    for (size_t i = 0; i < record->mark_count; i++) {
        message.mark_seq[i] = record->marks[i].seq;
        message.mark_created_at_us[i] = record->marks[i].created_at_us;
        message.mark_superseded_by_seq[i] = record->marks[i].superseded_by_seq;
    }
    return record_pb_encode(arena, &errata_record_LayoutHead_msg, &message, ret_bytes);
}

static bool read_example_field(const struct wire_field *field, struct example_record *record)
{
    enum wire_type wanted = WIRE_BYTES;

    switch (field->number) {
    case errata_record_ExampleRow_seq_tag:
        wanted = WIRE_VARINT;
        record->seq = field->value;
        break;
    case errata_record_ExampleRow_created_at_us_tag:
        wanted = WIRE_VARINT;
        record->created_at_us = (int64_t)field->value;
        break;
    case errata_record_ExampleRow_document_hash_tag:
        record->document_hash = field->bytes;
        break;
    case errata_record_ExampleRow_example_tag:
        record->example = field->bytes;
        break;
    case errata_record_ExampleRow_hint_tag:
        record->hint = field->bytes;
        break;
    default:
        return true;
    }
    return field->type == wanted;
}

enum err record_decode_example(struct slice bytes, struct example_record *ret_record)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct example_record record;
    struct wire_field field = {0};
    enum err err = OK;

    memset(&record, 0, sizeof(record));
    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (!read_example_field(&field, &record)) {
            return ERR_CORRUPT;
        }
    }
    if (err != ERR_NOT_FOUND || record.seq == 0 ||
        (record.document_hash.size != 0 && record.document_hash.size != RECORD_HASH_BYTES)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_example(struct arena *arena, const struct example_record *record,
                               struct slice *ret_bytes)
{
    errata_record_ExampleRow message = {
        .seq = record->seq,
        .created_at_us = record->created_at_us,
        .document_hash = record->document_hash,
        .example = record->example,
        .hint = record->hint,
    };

    if (UNEXPECTED(record->seq == 0) ||
        UNEXPECTED(record->document_hash.size != 0 &&
                   record->document_hash.size != RECORD_HASH_BYTES)) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_ExampleRow_msg, &message, ret_bytes);
}

enum err record_decode_example_mark(struct slice bytes, struct example_mark_record *ret_record)
{
    errata_record_ExampleMark message;
    enum err err = OK;

    memset(&message, 0, sizeof(message));
    err = record_pb_decode(bytes, &errata_record_ExampleMark_msg, &message);
    if (err != OK || message.superseded_by_seq == 0) {
        return ERR_CORRUPT;
    }
    ret_record->superseded_by_seq = message.superseded_by_seq;
    return OK;
}

enum err record_encode_example_mark(struct arena *arena, const struct example_mark_record *record,
                                    struct slice *ret_bytes)
{
    errata_record_ExampleMark message = {.superseded_by_seq = record->superseded_by_seq};

    if (UNEXPECTED(record->superseded_by_seq == 0)) {
        return ERR_INTERNAL;
    }
    return record_pb_encode(arena, &errata_record_ExampleMark_msg, &message, ret_bytes);
}
