/*
 * records.c: see records.h.
 */
#include "server/domain/reviews/records.h"

#include "store/base/assert.h"
#include "store/base/wire.h"
#include "store/record_row.h"

#include <errata/v1/review.fields.h>
#include <record/reviews.views.h>

#define FLAG_BITS 2
#define FLAG_MASK 3u

/* Returns whether the bytes are text fields with one field number. */
static bool is_list(struct slice run, uint32_t number)
{
    struct wire_reader reader = wire_reader_of(run);
    struct wire_field field;
    enum err err = wire_next(&reader, &field);

    while (err == OK && field.number == number && field.type == WIRE_BYTES) {
        err = wire_next(&reader, &field);
    }
    return err == ERR_NOT_FOUND;
}

static uint32_t flags_to_row(const struct review_record *record)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < REVIEW_FLAG_COUNT; i++) {
        bits |= (uint32_t)record->flags[i] << (FLAG_BITS * i);
    }
    return bits;
}

/* Returns false for bits that no row has. */
static bool flags_from_row(uint32_t bits, struct review_record *record)
{
    for (uint32_t i = 0; i < REVIEW_FLAG_COUNT; i++) {
        uint32_t answer = bits >> (FLAG_BITS * i) & FLAG_MASK;

        if (answer > REVIEW_TRUE) {
            return false;
        }
        record->flags[i] = (enum review_answer)answer;
    }
    return bits >> (FLAG_BITS * REVIEW_FLAG_COUNT) == 0;
}

static bool review_fits(const struct review_record *record)
{
    return record->decision != 0 && record->subcategory.size > 0 && record->reviews_needed != 0 &&
           is_list(record->missing_spec, REVIEW_MISSING_SPEC_FIELD);
}

static bool run_fits(const struct review_run_record *record)
{
    bool is_empty =
        record->newest_created_at_us == 0 && record->subcategory.size == 0 && !record->is_reviewed;

    return record->run_id.size > 0 &&
           (record->newest_seq != 0 ? record->subcategory.size > 0 : is_empty);
}

enum err record_decode_review(struct slice bytes, struct review_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct review_row_view message;
    struct review_record record;
    enum err err = review_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct review_record){
        .decision = message.decision,
        .subcategory = message.subcategory,
        .missing_spec = message.missing_spec,
        .reviewed_by = message.reviewed_by,
        .reviews_needed = message.reviews_needed,
        .retracted_seq = message.retracted_seq,
    };
    record_need(&check, flags_from_row(message.flags, &record));
    record_need(&check, review_fits(&record));
    if (!check.failed) {
        *ret_record = record;
    }
    return record_check_result(&check);
}

enum err record_encode_review(struct arena *arena, const struct review_record *record,
                              struct slice *ret_bytes)
{
    struct review_row_view message = {
        .decision = record->decision,
        .subcategory = record->subcategory,
        .flags = flags_to_row(record),
        .missing_spec = record->missing_spec,
        .reviewed_by = record->reviewed_by,
        .reviews_needed = record->reviews_needed,
        .retracted_seq = record->retracted_seq,
    };

    if (UNEXPECTED(!review_fits(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &review_row_view_type, &message, ret_bytes);
}

enum err record_decode_review_run(struct slice bytes, struct review_run_record *ret_record)
{
    struct review_run_row_view message;
    struct review_run_record record;
    enum err err = review_run_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct review_run_record){
        .run_id = message.run_id,
        .review_count = message.review_count,
        .newest_seq = message.newest_seq,
        .newest_created_at_us = message.newest_created_at_us,
        .subcategory = message.subcategory,
        .is_reviewed = message.is_reviewed,
        .item_seq = message.item_seq,
    };
    if (!run_fits(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_review_run(struct arena *arena, const struct review_run_record *record,
                                  struct slice *ret_bytes)
{
    struct review_run_row_view message = {
        .run_id = record->run_id,
        .review_count = record->review_count,
        .newest_seq = record->newest_seq,
        .newest_created_at_us = record->newest_created_at_us,
        .subcategory = record->subcategory,
        .is_reviewed = record->is_reviewed,
        .item_seq = record->item_seq,
    };

    if (UNEXPECTED(!run_fits(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &review_run_row_view_type, &message, ret_bytes);
}

static bool thresholds_fit(const struct review_thresholds_record *record)
{
    for (size_t i = 0; i < THRESHOLD_COUNT; i++) {
        if (record->values[i] > REVIEW_WINDOW_RUNS) {
            return false;
        }
    }
    return record->seq != 0 && record->reviews_needed <= REVIEWS_NEEDED_MAX;
}

enum err record_decode_review_thresholds(struct slice bytes,
                                         struct review_thresholds_record *ret_record)
{
    struct review_thresholds_row_view message;
    struct review_thresholds_record record;
    enum err err = review_thresholds_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct review_thresholds_record){
        .seq = message.seq,
        .values = {message.bad_format, message.wrong_information, message.wrong_physical_dimensions,
                   message.missing_spec, message.information_present_low},
        .reviews_needed = message.reviews_needed,
    };
    if (!thresholds_fit(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_review_thresholds(struct arena *arena,
                                         const struct review_thresholds_record *record,
                                         struct slice *ret_bytes)
{
    struct review_thresholds_row_view message = {
        .seq = record->seq,
        .bad_format = record->values[THRESHOLD_BAD_FORMAT],
        .wrong_information = record->values[THRESHOLD_WRONG_INFORMATION],
        .wrong_physical_dimensions = record->values[THRESHOLD_WRONG_PHYSICAL_DIMENSIONS],
        .missing_spec = record->values[THRESHOLD_MISSING_SPEC],
        .information_present_low = record->values[THRESHOLD_INFORMATION_PRESENT_LOW],
        .reviews_needed = record->reviews_needed,
    };

    if (UNEXPECTED(!thresholds_fit(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &review_thresholds_row_view_type, &message, ret_bytes);
}

static bool fragment_set_fits(const struct fragment_set_record *record)
{
    return record->seq != 0 && (record->approved_seq == 0 || record->approved_seq > record->seq);
}

enum err record_decode_fragment_set(struct slice bytes, struct fragment_set_record *ret_record)
{
    struct fragment_set_row_view message;
    struct fragment_set_record record;
    enum err err = fragment_set_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
    record = (struct fragment_set_record){
        .seq = message.seq,
        .approved_seq = message.approved_seq,
    };
    if (!fragment_set_fits(&record)) {
        return ERR_CORRUPT;
    }
    *ret_record = record;
    return OK;
}

enum err record_encode_fragment_set(struct arena *arena, const struct fragment_set_record *record,
                                    struct slice *ret_bytes)
{
    struct fragment_set_row_view message = {
        .seq = record->seq,
        .approved_seq = record->approved_seq,
    };

    if (UNEXPECTED(!fragment_set_fits(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &fragment_set_row_view_type, &message, ret_bytes);
}
