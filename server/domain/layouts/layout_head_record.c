/*
 * layout_head_record.c: the head row of a layout. A lookup reads it, so it is decoded by hand: first in the
 * order in which it is written, else field by field. Decoding with nanopb would take a multiple of the whole
 * lookup's time. It is encoded with nanopb, so the bytes are those of layouts.proto; a test decodes with both.
 */
#include "server/domain/layouts/records.h"

#include "store/base/assert.h"
#include "store/base/wire.h"
#include "store/record_fast.h"
#include "store/record_pb.h"

#include <record/layouts.pb.h>

/* Fixed-width numbers and packed lists of them are little-endian, as on this machine. */
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
    struct packed carried_count;
    struct packed carried_sum;
};

/* Reads one of the packed lists; returns false for any other field. */
static bool find_list(struct head_lists *lists, uint32_t number, struct packed **ret_list)
{
    switch (number) {
    case errata_record_LayoutHead_mark_seq_tag:
        *ret_list = &lists->seq;
        return true;
    case errata_record_LayoutHead_mark_created_at_us_tag:
        *ret_list = &lists->created_at_us;
        return true;
    case errata_record_LayoutHead_mark_superseded_by_seq_tag:
        *ret_list = &lists->superseded_by_seq;
        return true;
    case errata_record_LayoutHead_mark_carried_count_tag:
        *ret_list = &lists->carried_count;
        return true;
    case errata_record_LayoutHead_mark_carried_sum_tag:
        *ret_list = &lists->carried_sum;
        return true;
    default:
        return false;
    }
}

static bool read_head_field(const struct wire_field *field, struct layout_head_record *head,
                            struct head_lists *lists)
{
    enum wire_type wanted = WIRE_BYTES;
    struct packed *list = NULL;

    if (find_list(lists, field->number, &list)) {
        return field->type == wanted && read_packed(field->bytes, list);
    }
    switch (field->number) {
    case errata_record_LayoutHead_measured_tag:
        head->measured = field->bytes;
        break;
    case errata_record_LayoutHead_feedback_count_tag:
        wanted = WIRE_VARINT;
        head->feedback_count = field->value;
        break;
    case errata_record_LayoutHead_example_count_tag:
        wanted = WIRE_VARINT;
        head->example_count = field->value;
        break;
    case errata_record_LayoutHead_first_document_seq_tag:
        wanted = WIRE_FIXED64;
        head->first_document_seq = field->value;
        break;
    case errata_record_LayoutHead_first_text_seq_tag:
        wanted = WIRE_FIXED64;
        head->first_text_seq = field->value;
        break;
    case errata_record_LayoutHead_updated_at_us_tag:
        wanted = WIRE_FIXED64;
        head->updated_at_us = (int64_t)field->value;
        break;
    case errata_record_LayoutHead_bare_count_tag:
        wanted = WIRE_VARINT;
        head->bare_count = field->value;
        break;
    case errata_record_LayoutHead_bare_sum_tag:
        wanted = WIRE_VARINT;
        head->bare_sum = field->value;
        break;
    default:
        return true; /* a field of a later format; readers may ignore it */
    }
    return field->type == wanted;
}

/* A head as decoded from its bytes. */
struct head_slices {
    struct slice measured;
    uint64_t feedback_count;
    uint64_t example_count;
    struct slice seq;
    struct slice created_at_us;
    struct slice superseded_by_seq;
    uint64_t first_document_seq;
    uint64_t first_text_seq;
    uint64_t updated_at_us;
    uint64_t bare_count;
    uint64_t bare_sum;
    struct slice carried_count;
    struct slice carried_sum;
};

/* A list is omitted if all its values are zero. */
static bool is_whole_or_absent(size_t size, size_t whole)
{
    return size == 0 || size == whole;
}

/* The lists have equal lengths; the list of superseding events and the two lists of carried examples may be
 * omitted. */
static bool are_marks_whole(const struct head_slices *head)
{
    size_t size = head->seq.size;

    return size % sizeof(uint64_t) == 0 && size <= RECORD_MARKS_MAX * sizeof(uint64_t) &&
           head->created_at_us.size == size &&
           is_whole_or_absent(head->superseded_by_seq.size, size) &&
           head->carried_count.size == head->carried_sum.size &&
           is_whole_or_absent(head->carried_count.size, size);
}

/* Reads a head in the field order of our encoder; returns false for any other order and for invalid heads. */
static bool read_head_in_order(struct slice bytes, struct head_slices *ret_head)
{
    struct record_fast reader = record_fast_of(bytes);
    struct head_slices head = {0};

    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_LayoutHead_measured_tag),
                      &head.measured);
    record_fast_number(&reader, RECORD_NUMBER_TAG(errata_record_LayoutHead_feedback_count_tag),
                       &head.feedback_count);
    record_fast_number(&reader, RECORD_NUMBER_TAG(errata_record_LayoutHead_example_count_tag),
                       &head.example_count);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_LayoutHead_mark_seq_tag), &head.seq);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_LayoutHead_mark_created_at_us_tag),
                      &head.created_at_us);
    record_fast_bytes(&reader,
                      RECORD_BYTES_TAG(errata_record_LayoutHead_mark_superseded_by_seq_tag),
                      &head.superseded_by_seq);
    record_fast_fixed(&reader, RECORD_FIXED_TAG(errata_record_LayoutHead_first_document_seq_tag),
                      &head.first_document_seq);
    record_fast_fixed(&reader, RECORD_FIXED_TAG(errata_record_LayoutHead_first_text_seq_tag),
                      &head.first_text_seq);
    record_fast_fixed(&reader, RECORD_FIXED_TAG(errata_record_LayoutHead_updated_at_us_tag),
                      &head.updated_at_us);
    record_fast_number(&reader, RECORD_NUMBER_TAG(errata_record_LayoutHead_bare_count_tag),
                       &head.bare_count);
    record_fast_number(&reader, RECORD_NUMBER_TAG(errata_record_LayoutHead_bare_sum_tag),
                       &head.bare_sum);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_LayoutHead_mark_carried_count_tag),
                      &head.carried_count);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_LayoutHead_mark_carried_sum_tag),
                      &head.carried_sum);
    if (reader.at != reader.end || !are_marks_whole(&head) ||
        (head.measured.size != 0 && head.measured.size != SHA256_BYTES)) {
        return false;
    }
    *ret_head = head;
    return true;
}

static uint64_t number_at(const uint8_t *list, size_t place)
{
    uint64_t number = 0;

    memcpy(&number, list + place * sizeof(number), sizeof(number));
    return number;
}

static void copy_head(const struct head_slices *head, struct layout_head_record *record)
{
    record->measured = head->measured;
    record->feedback_count = head->feedback_count;
    record->example_count = head->example_count;
    record->mark_count = head->seq.size / sizeof(uint64_t);
    for (size_t i = 0; i < record->mark_count; i++) {
        record->marks[i].seq = number_at(head->seq.data, i);
        record->marks[i].created_at_us = (int64_t)number_at(head->created_at_us.data, i);
        record->marks[i].superseded_by_seq =
            head->superseded_by_seq.size > 0 ? number_at(head->superseded_by_seq.data, i) : 0;
        record->marks[i].carried_count =
            head->carried_count.size > 0 ? number_at(head->carried_count.data, i) : 0;
        record->marks[i].carried_sum =
            head->carried_sum.size > 0 ? number_at(head->carried_sum.data, i) : 0;
    }
    record->bare_count = head->bare_count;
    record->bare_sum = head->bare_sum;
    record->first_document_seq = head->first_document_seq;
    record->first_text_seq = head->first_text_seq;
    record->updated_at_us = (int64_t)head->updated_at_us;
}

/* Reads the head with its fields in any order. */
static enum err read_head_by_field(struct slice bytes, struct layout_head_record *head,
                                   struct head_lists *lists)
{
    struct wire_reader reader = wire_reader_of(bytes);
    struct wire_field field = {0};
    enum err err = OK;

    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (!read_head_field(&field, head, lists)) {
            return ERR_CORRUPT;
        }
    }
    return err == ERR_NOT_FOUND ? OK : ERR_CORRUPT;
}

enum err record_decode_layout_head(struct slice bytes, struct layout_head_record *ret_record)
{
    struct head_slices slices;
    struct layout_head_record head;
    struct head_lists lists;

    if (read_head_in_order(bytes, &slices)) {
        copy_head(&slices, ret_record);
        return OK;
    }
    memset(&head, 0, sizeof(head));
    memset(&lists, 0, sizeof(lists));
    if (read_head_by_field(bytes, &head, &lists) != OK ||
        lists.seq.count != lists.created_at_us.count ||
        !is_whole_or_absent(lists.superseded_by_seq.count, lists.seq.count) ||
        lists.carried_count.count != lists.carried_sum.count ||
        !is_whole_or_absent(lists.carried_count.count, lists.seq.count) ||
        (head.measured.size != 0 && head.measured.size != SHA256_BYTES)) {
        return ERR_CORRUPT;
    }
    head.mark_count = lists.seq.count;
    for (size_t i = 0; i < lists.seq.count; i++) {
        head.marks[i].seq = lists.seq.items[i];
        head.marks[i].created_at_us = (int64_t)lists.created_at_us.items[i];
        head.marks[i].superseded_by_seq = lists.superseded_by_seq.items[i];
        head.marks[i].carried_count = lists.carried_count.items[i];
        head.marks[i].carried_sum = lists.carried_sum.items[i];
    }
    *ret_record = head;
    return OK;
}

enum err record_decode_layout_measured(struct slice bytes, struct slice *ret_measured)
{
    struct record_fast reader = record_fast_of(bytes);
    struct layout_head_record head;
    enum err err = OK;

    *ret_measured = slice_of(NULL, 0);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(errata_record_LayoutHead_measured_tag),
                      ret_measured);
    if (ret_measured->size != SHA256_BYTES) {
        err = record_decode_layout_head(bytes, &head);
        *ret_measured = err == OK ? head.measured : slice_of(NULL, 0);
    }
    return err;
}

enum err record_decode_layout_marks(struct slice bytes, struct layout_marks *ret_marks)
{
    struct head_slices slices;
    struct layout_head_record head;
    enum err err = OK;

    if (read_head_in_order(bytes, &slices)) {
        ret_marks->seq = slices.seq.data;
        ret_marks->superseded_by_seq =
            slices.superseded_by_seq.size > 0 ? slices.superseded_by_seq.data : NULL;
        ret_marks->count = slices.seq.size / sizeof(uint64_t);
        ret_marks->carried_count = slices.carried_count.size > 0 ? slices.carried_count.data : NULL;
        ret_marks->carried_sum = slices.carried_sum.data;
        ret_marks->bare_count = slices.bare_count;
        ret_marks->bare_sum = slices.bare_sum;
        ret_marks->first_document_seq = slices.first_document_seq;
        ret_marks->first_text_seq = slices.first_text_seq;
        return OK;
    }
    err = record_decode_layout_head(bytes, &head);
    if (err != OK) {
        return err;
    }
    for (size_t i = 0; i < head.mark_count; i++) {
        ret_marks->joined_seq[i] = head.marks[i].seq;
        ret_marks->joined_superseded_by_seq[i] = head.marks[i].superseded_by_seq;
        ret_marks->joined_carried_count[i] = head.marks[i].carried_count;
        ret_marks->joined_carried_sum[i] = head.marks[i].carried_sum;
    }
    ret_marks->seq = (const uint8_t *)ret_marks->joined_seq;
    ret_marks->superseded_by_seq = (const uint8_t *)ret_marks->joined_superseded_by_seq;
    ret_marks->carried_count = (const uint8_t *)ret_marks->joined_carried_count;
    ret_marks->carried_sum = (const uint8_t *)ret_marks->joined_carried_sum;
    ret_marks->bare_count = head.bare_count;
    ret_marks->bare_sum = head.bare_sum;
    ret_marks->count = head.mark_count;
    ret_marks->first_document_seq = head.first_document_seq;
    ret_marks->first_text_seq = head.first_text_seq;
    return OK;
}

bool record_find_mark(const struct layout_marks *marks, uint64_t seq, size_t *place,
                      uint64_t *ret_superseded_by_seq)
{
    for (size_t i = *place; i < marks->count; i++) {
        if (number_at(marks->seq, i) == seq) {
            *ret_superseded_by_seq =
                marks->superseded_by_seq != NULL ? number_at(marks->superseded_by_seq, i) : 0;
            *place = i + 1;
            return true;
        }
    }
    return false;
}

void record_read_carried(const struct layout_marks *marks, size_t place, uint64_t *ret_count,
                         uint64_t *ret_sum)
{
    ASSERT(place < marks->count);
    *ret_count = marks->carried_count != NULL ? number_at(marks->carried_count, place) : 0;
    *ret_sum = marks->carried_count != NULL ? number_at(marks->carried_sum, place) : 0;
}

/* Returns whether an extraction carried one of the examples. */
static bool is_any_carried(const struct layout_head_record *record)
{
    for (size_t i = 0; i < record->mark_count; i++) {
        if (record->marks[i].carried_count != 0 || record->marks[i].carried_sum != 0) {
            return true;
        }
    }
    return false;
}

/* Returns whether one of the examples is superseded. */
static bool is_any_superseded(const struct layout_head_record *record)
{
    for (size_t i = 0; i < record->mark_count; i++) {
        if (record->marks[i].superseded_by_seq != 0) {
            return true;
        }
    }
    return false;
}

enum err record_encode_layout_head(struct arena *arena, const struct layout_head_record *record,
                                   struct slice *ret_bytes)
{
    errata_record_LayoutHead message;

    if (UNEXPECTED(record->mark_count > RECORD_MARKS_MAX) ||
        UNEXPECTED(record->measured.size != 0 && record->measured.size != SHA256_BYTES)) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    message.measured = record->measured;
    message.feedback_count = record->feedback_count;
    message.example_count = record->example_count;
    message.first_document_seq = record->first_document_seq;
    message.first_text_seq = record->first_text_seq;
    message.updated_at_us = record->updated_at_us;
    message.mark_seq_count = (pb_size_t)record->mark_count;
    message.mark_created_at_us_count = (pb_size_t)record->mark_count;
    message.bare_count = record->bare_count;
    message.bare_sum = record->bare_sum;
    if (is_any_superseded(record)) {
        message.mark_superseded_by_seq_count = (pb_size_t)record->mark_count;
    }
    if (is_any_carried(record)) {
        message.mark_carried_count_count = (pb_size_t)record->mark_count;
        message.mark_carried_sum_count = (pb_size_t)record->mark_count;
    }
    for (size_t i = 0; i < record->mark_count; i++) {
        message.mark_seq[i] = record->marks[i].seq;
        message.mark_created_at_us[i] = record->marks[i].created_at_us;
        message.mark_superseded_by_seq[i] = record->marks[i].superseded_by_seq;
        message.mark_carried_count[i] = record->marks[i].carried_count;
        message.mark_carried_sum[i] = record->marks[i].carried_sum;
    }
    return record_pb_encode(arena, &errata_record_LayoutHead_msg, &message, ret_bytes);
}
