/*
 * layout_head_record.c: the head row of a layout. A lookup reads it, so it is first read field by field in the order
 * in which it is written (store/record_fast.h), which takes a fraction of a view's time; a test reads it both ways.
 */
#include "server/domain/layouts/records.h"

#include "store/base/assert.h"
#include "store/base/wire.h"
#include "store/record_fast.h"
#include "store/record_row.h"

#include <record/layouts.views.h>

/* Fixed-width numbers and packed lists of them are little-endian, as on this machine. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packed lists are read by copying");

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

static bool is_head_whole(const struct head_slices *head)
{
    return are_marks_whole(head) && is_whole_or_absent(head->measured.size, SHA256_BYTES);
}

/* Reads a head in the field order of our encoder; returns false for any other order and for invalid heads. */
static bool read_head_in_order(struct slice bytes, struct head_slices *ret_head)
{
    struct record_fast reader = record_fast_of(bytes);
    struct head_slices head = {0};

    record_fast_bytes(&reader, RECORD_BYTES_TAG(LAYOUT_HEAD_MEASURED_FIELD), &head.measured);
    record_fast_number(&reader, RECORD_NUMBER_TAG(LAYOUT_HEAD_FEEDBACK_COUNT_FIELD),
                       &head.feedback_count);
    record_fast_number(&reader, RECORD_NUMBER_TAG(LAYOUT_HEAD_EXAMPLE_COUNT_FIELD),
                       &head.example_count);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(LAYOUT_HEAD_MARK_SEQ_FIELD), &head.seq);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(LAYOUT_HEAD_MARK_CREATED_AT_US_FIELD),
                      &head.created_at_us);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(LAYOUT_HEAD_MARK_SUPERSEDED_BY_SEQ_FIELD),
                      &head.superseded_by_seq);
    record_fast_fixed(&reader, RECORD_FIXED_TAG(LAYOUT_HEAD_FIRST_DOCUMENT_SEQ_FIELD),
                      &head.first_document_seq);
    record_fast_fixed(&reader, RECORD_FIXED_TAG(LAYOUT_HEAD_FIRST_TEXT_SEQ_FIELD),
                      &head.first_text_seq);
    record_fast_fixed(&reader, RECORD_FIXED_TAG(LAYOUT_HEAD_UPDATED_AT_US_FIELD),
                      &head.updated_at_us);
    record_fast_number(&reader, RECORD_NUMBER_TAG(LAYOUT_HEAD_BARE_COUNT_FIELD), &head.bare_count);
    record_fast_number(&reader, RECORD_NUMBER_TAG(LAYOUT_HEAD_BARE_SUM_FIELD), &head.bare_sum);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(LAYOUT_HEAD_MARK_CARRIED_COUNT_FIELD),
                      &head.carried_count);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(LAYOUT_HEAD_MARK_CARRIED_SUM_FIELD),
                      &head.carried_sum);
    if (reader.at != reader.end || !is_head_whole(&head)) {
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

/* Reads a head; first as a lookup does, then as any row. */
static enum err read_head(struct slice bytes, struct head_slices *ret_head)
{
    struct layout_head_view view;

    if (read_head_in_order(bytes, ret_head)) {
        return OK;
    }
    if (layout_head_view_read(bytes, &view) != OK) {
        return ERR_CORRUPT;
    }
    *ret_head = (struct head_slices){
        .measured = view.measured,
        .feedback_count = view.feedback_count,
        .example_count = view.example_count,
        .seq = view.mark_seq.run,
        .created_at_us = view.mark_created_at_us.run,
        .superseded_by_seq = view.mark_superseded_by_seq.run,
        .first_document_seq = view.first_document_seq,
        .first_text_seq = view.first_text_seq,
        .updated_at_us = (uint64_t)view.updated_at_us,
        .bare_count = view.bare_count,
        .bare_sum = view.bare_sum,
        .carried_count = view.mark_carried_count.run,
        .carried_sum = view.mark_carried_sum.run,
    };
    return is_head_whole(ret_head) ? OK : ERR_CORRUPT;
}

enum err record_decode_layout_head(struct slice bytes, struct layout_head_record *ret_record)
{
    struct head_slices slices;
    enum err err = read_head(bytes, &slices);

    if (err == OK) {
        copy_head(&slices, ret_record);
    }
    return err;
}

enum err record_decode_layout_measured(struct slice bytes, struct slice *ret_measured)
{
    struct record_fast reader = record_fast_of(bytes);
    struct layout_head_record head;
    enum err err = OK;

    *ret_measured = slice_of(NULL, 0);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(LAYOUT_HEAD_MEASURED_FIELD), ret_measured);
    if (ret_measured->size != SHA256_BYTES) {
        err = record_decode_layout_head(bytes, &head);
        *ret_measured = err == OK ? head.measured : slice_of(NULL, 0);
    }
    return err;
}

enum err record_decode_layout_marks(struct slice bytes, struct layout_marks *ret_marks)
{
    struct head_slices slices;
    enum err err = read_head(bytes, &slices);

    if (err != OK) {
        return err;
    }
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

/* Each member of the marks is a list of its own. */
static enum err list_marks(struct arena *arena, const struct layout_head_record *record,
                           struct layout_head_view *view)
{
    bool carried = is_any_carried(record);
    const bool is_listed[] = {true, true, is_any_superseded(record), carried, carried};
    struct view_list *lists[] = {&view->mark_seq, &view->mark_created_at_us,
                                 &view->mark_superseded_by_seq, &view->mark_carried_count,
                                 &view->mark_carried_sum};
    uint64_t numbers[sizeof(lists) / sizeof(lists[0])][RECORD_MARKS_MAX];
    enum err err = OK;

    for (size_t i = 0; i < record->mark_count; i++) {
        numbers[0][i] = record->marks[i].seq;
        numbers[1][i] = (uint64_t)record->marks[i].created_at_us;
        numbers[2][i] = record->marks[i].superseded_by_seq;
        numbers[3][i] = record->marks[i].carried_count;
        numbers[4][i] = record->marks[i].carried_sum;
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && err == OK; i++) {
        if (is_listed[i]) {
            err = record_list(arena, numbers[i], record->mark_count, true, lists[i]);
        }
    }
    return err;
}

enum err record_encode_layout_head(struct arena *arena, const struct layout_head_record *record,
                                   struct slice *ret_bytes)
{
    struct layout_head_view view = {
        .measured = record->measured,
        .feedback_count = record->feedback_count,
        .example_count = record->example_count,
        .first_document_seq = record->first_document_seq,
        .first_text_seq = record->first_text_seq,
        .updated_at_us = record->updated_at_us,
        .bare_count = record->bare_count,
        .bare_sum = record->bare_sum,
    };
    enum err err = OK;

    if (UNEXPECTED(record->mark_count > RECORD_MARKS_MAX) ||
        UNEXPECTED(record->measured.size != 0 && record->measured.size != SHA256_BYTES)) {
        return ERR_INTERNAL;
    }
    err = list_marks(arena, record, &view);
    return err != OK ? err : record_encode(arena, &layout_head_view_type, &view, ret_bytes);
}
