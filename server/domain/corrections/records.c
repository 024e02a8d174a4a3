/*
 * records.c: see records.h. A lookup decodes many example rows, so they are first read field by field in the order in
 * which they are written (store/record_fast.h), which takes a fraction of a view's time; a test reads them both ways.
 */
#include "server/domain/corrections/records.h"

#include "store/base/assert.h"
#include "store/base/wire.h"
#include "store/log.h"
#include "store/record_fast.h"
#include "store/record_row.h"

#include <record/corrections.views.h>

/* LMDB stores a node of more than half a page in overflow pages. Example rows of which fewer than four fit on a
 * page are padded to that length: with three rows per page, leaves were half empty, the tree was one level
 * deeper, and lookups of 1.2 KB examples a seventh slower. */
#define INLINE_BYTES_MAX 944
#define APART_BYTES_MIN 1984

/* A hash is complete, or omitted: then it is all zeros, as in a view. */
static bool read_hint_hash(struct slice bytes, struct example_record *record)
{
    memset(record->hint_hash, 0, KEY_HASH_BYTES);
    if (bytes.size == KEY_HASH_BYTES) {
        memcpy(record->hint_hash, bytes.data, KEY_HASH_BYTES);
    }
    return bytes.size == KEY_HASH_BYTES || bytes.size == 0;
}

/* Returns whether only padding is left, whose tag takes two bytes. */
static bool is_read(struct record_fast *reader)
{
    const uint8_t tag = (uint8_t)(EXAMPLE_ROW_PADDING_FIELD << 3 | WIRE_BYTES | 0x80);
    struct slice padding = {NULL, 0};

    if (reader->end - reader->at < 2 || reader->at[0] != tag) {
        return reader->at == reader->end;
    }
    reader->at++;
    record_fast_bytes(reader, EXAMPLE_ROW_PADDING_FIELD >> 4, &padding);
    return reader->at == reader->end;
}

/* Reads a row in the field order of our encoder; returns false for any other order. */
static bool read_example_in_order(struct slice bytes, struct example_record *record)
{
    struct record_fast reader = record_fast_of(bytes);
    struct slice hint_hash = {NULL, 0};
    uint64_t snippet_bytes = 0;
    uint64_t annotator_kind = 0;

    record_fast_bytes(&reader, RECORD_BYTES_TAG(EXAMPLE_ROW_DOCUMENT_HASH_FIELD),
                      &record->document_hash);
    record_fast_number(&reader, RECORD_NUMBER_TAG(EXAMPLE_ROW_ANNOTATOR_KIND_FIELD),
                       &annotator_kind);
    record->annotator_kind = (uint32_t)annotator_kind;
    record_fast_bytes(&reader, RECORD_BYTES_TAG(EXAMPLE_ROW_HINT_HASH_FIELD), &hint_hash);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(EXAMPLE_ROW_ID_FIELD), &record->id);
    record_fast_number(&reader, RECORD_NUMBER_TAG(EXAMPLE_ROW_HINT_SNIPPET_BYTES_FIELD),
                       &snippet_bytes);
    record->hint.snippet_bytes = (uint32_t)snippet_bytes;
    record_fast_fixed(&reader, RECORD_FIXED_TAG(EXAMPLE_ROW_COPY_HASH_FIELD), &record->copy_hash);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(EXAMPLE_ROW_EXAMPLE_FIELD), &record->example);
    record_fast_bytes(&reader, RECORD_BYTES_TAG(EXAMPLE_ROW_PACKED_HINT_FIELD),
                      &record->hint.packed);
    return is_read(&reader) && read_hint_hash(hint_hash, record);
}

static bool read_example_view(struct slice bytes, struct example_record *record)
{
    struct example_row_view view;

    if (example_row_view_read(bytes, &view) != OK) {
        return false;
    }
    *record = (struct example_record){
        .id = view.id,
        .document_hash = view.document_hash,
        .annotator_kind = view.annotator_kind,
        .example = view.example,
        .hint = {.snippet_bytes = view.hint_snippet_bytes, .packed = view.packed_hint},
        .copy_hash = view.copy_hash,
    };
    memcpy(record->hint_hash, view.hint_hash, KEY_HASH_BYTES);
    return true;
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
        if (!read_example_view(bytes, &record)) {
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
    struct example_row_view message = {
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
    return record_encode(arena, &example_row_view_type, &message, ret_bytes);
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
    struct example_mark_view message;

    if (example_mark_view_read(bytes, &message) != OK) {
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
    struct example_mark_view message = {.superseded_by_seq = record->superseded_by_seq,
                                        .carried_count = record->carried_count,
                                        .carried_sum = record->carried_sum};

    if (UNEXPECTED(!says_something(record))) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &example_mark_view_type, &message, ret_bytes);
}

enum err record_decode_retracted_example(struct slice bytes,
                                         struct retracted_example_record *ret_record)
{
    struct record_check check = {.failed = false};
    struct retracted_example_row_view message;
    enum err err = retracted_example_row_view_read(bytes, &message);

    if (err != OK) {
        return err;
    }
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
    struct retracted_example_row_view message = {.retracted_by_seq = record->retracted_by_seq,
                                                 .superseded_by_seq = record->superseded_by_seq,
                                                 .row = record->row};

    if (UNEXPECTED(record->retracted_by_seq == 0) || UNEXPECTED(record->row.size == 0)) {
        return ERR_INTERNAL;
    }
    return record_encode(arena, &retracted_example_row_view_type, &message, ret_bytes);
}

static enum err take_names(const struct view_list *list, struct record_names *ret_names)
{
    struct slice run = list->run;
    struct slice message = {NULL, 0};
    struct name_view name;
    enum err err = list->count <= RECORD_NAMES_MAX ? OK : ERR_CORRUPT;

    ret_names->count = 0;
    while (err == OK && view_next(&run, &message)) {
        err = name_view_read(message, &name);
        ret_names->items[ret_names->count] = name.text;
        ret_names->count++;
    }
    return err;
}

enum err record_decode_entity(struct slice bytes, struct entity_record *ret_record)
{
    struct entity_row_view message;
    enum err err = entity_row_view_read(bytes, &message);

    return err != OK ? err : take_names(&message.remaining, &ret_record->remaining);
}

enum err record_encode_entity(struct arena *arena, const struct entity_record *record,
                              struct slice *ret_bytes)
{
    struct entity_row_view message;
    struct buffer names;

    if (UNEXPECTED(record->remaining.count > RECORD_NAMES_MAX)) {
        return ERR_INTERNAL;
    }
    memset(&message, 0, sizeof(message));
    buffer_init(&names, arena, 0);
    for (size_t i = 0; i < record->remaining.count; i++) {
        const struct name_view name = {.text = record->remaining.items[i]};

        name_view_put(&name, ENTITY_ROW_REMAINING_FIELD, &names);
    }
    message.remaining.run = buffer_slice(&names);
    return buffer_ok(&names) ? record_encode(arena, &entity_row_view_type, &message, ret_bytes)
                             : ERR_MEMORY;
}
