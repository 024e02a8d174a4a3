/*
 * fuzz_record.c: any bytes as a row of a table. They are ERR_CORRUPT, or a record that can be
 * encoded, decodes to the same again, and lies in the bytes themselves. The first byte picks the
 * table; for the log's it may put an envelope, or an event's parts, into a row that is whole
 * otherwise.
 */
#include "server/domain/admin/records.h"
#include "server/domain/artifacts/records.h"
#include "server/domain/corrections/records.h"
#include "server/domain/counters/records.h"
#include "server/domain/experiment/records.h"
#include "server/domain/extractions/rows/records.h"
#include "server/domain/guidelines/records.h"
#include "server/domain/layouts/records.h"
#include "server/domain/mappings/records.h"
#include "server/domain/prompts/records.h"
#include "server/domain/quotas/records.h"
#include "server/domain/reviews/records.h"
#include "server/domain/settings/records.h"
#include "server/domain/verdicts/records.h"
#include "store/base/assert.h"
#include "store/log.h"
#include "store/records.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#define ARENA_BYTES ((size_t)16 << 20)

/* check_KIND: decodes; what decodes is written and read again, and both writings are the same. */
#define ROUND_TRIP(kind)                                                                           \
    static void check_##kind(struct arena *arena, struct slice bytes)                              \
    {                                                                                              \
        struct kind##_record record;                                                               \
        struct slice first;                                                                        \
        struct slice second;                                                                       \
        enum err err = record_decode_##kind(bytes, &record);                                       \
                                                                                                   \
        ASSERT(err == OK || err == ERR_CORRUPT);                                                   \
        if (err == OK) {                                                                           \
            ASSERT(record_encode_##kind(arena, &record, &first) == OK);                            \
            ASSERT(record_decode_##kind(first, &record) == OK);                                    \
            ASSERT(record_encode_##kind(arena, &record, &second) == OK);                           \
            ASSERT(slice_equal(first, second));                                                    \
        }                                                                                          \
    }

ROUND_TRIP(envelope)
ROUND_TRIP(org_head)
ROUND_TRIP(layout_head)
ROUND_TRIP(example)
ROUND_TRIP(example_mark)
ROUND_TRIP(retracted_example)
ROUND_TRIP(entity)
ROUND_TRIP(document)
ROUND_TRIP(profile)
ROUND_TRIP(counter)
ROUND_TRIP(organization)
ROUND_TRIP(token)
ROUND_TRIP(idempotency)
ROUND_TRIP(meta)
ROUND_TRIP(layout_stats)
ROUND_TRIP(extraction)
ROUND_TRIP(extraction_key)
ROUND_TRIP(mapping)
ROUND_TRIP(mapping_confirmed)
ROUND_TRIP(prompt_template)
ROUND_TRIP(settings)
ROUND_TRIP(quota)
ROUND_TRIP(artifact)
ROUND_TRIP(learned_rule)
ROUND_TRIP(verdict)
ROUND_TRIP(review)
ROUND_TRIP(review_run)
ROUND_TRIP(review_thresholds)
ROUND_TRIP(fragment_set)
ROUND_TRIP(proposal)

/* The short reading of a layout's head finds the same marks as the whole one. */
static void check_layout_marks(struct arena *arena, struct slice bytes)
{
    struct layout_head_record head;
    struct layout_marks marks;
    uint64_t superseded_by_seq = 0;
    uint64_t carried_count = 0;
    uint64_t carried_sum = 0;
    size_t place = 0;
    enum err err = record_decode_layout_head(bytes, &head);

    (void)arena;
    ASSERT(record_decode_layout_marks(bytes, &marks) == err);
    if (err != OK) {
        return;
    }
    ASSERT(marks.count == head.mark_count);
    ASSERT(marks.first_document_seq == head.first_document_seq);
    ASSERT(marks.first_text_seq == head.first_text_seq);
    ASSERT(marks.bare_count == head.bare_count && marks.bare_sum == head.bare_sum);
    for (size_t i = 0; i < head.mark_count; i++) {
        ASSERT(record_find_mark(&marks, head.marks[i].seq, &place, &superseded_by_seq));
        ASSERT(place == i + 1);
        ASSERT(superseded_by_seq == head.marks[i].superseded_by_seq);
        record_read_carried(&marks, i, &carried_count, &carried_sum);
        ASSERT(carried_count == head.marks[i].carried_count);
        ASSERT(carried_sum == head.marks[i].carried_sum);
    }
}

static bool within(struct slice part, struct slice whole)
{
    return part.size == 0 ||
           (part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

/* The organisation of the rows, whose id packed envelopes leave out. */
static const struct uuid sample_org = {{0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
                                        0x11, 0x11, 0x11, 0x11, 0x11, 0x11}};

/* A row of the log is an event of its place, or ERR_CORRUPT. */
static void check_log(struct arena *arena, struct slice row)
{
    struct event_record record;
    struct event event;
    struct org_id org = {sample_org};
    uint64_t seq = 1;
    enum err err = OK;

    if (record_decode_event(arena, org.uuid, row, &record) == OK) {
        org.uuid = record.envelope.org;
        seq = record.envelope.seq;
    }
    err = log_decode(arena, org, seq, row, &event);
    ASSERT(err == OK || err == ERR_CORRUPT);
    if (err != OK) {
        return;
    }
    ASSERT(event.kind >= 1 && event.kind <= EVENT_KIND_MAX);
    ASSERT(event.subject_count >= 1 && event.subject_count <= EVENT_SUBJECTS_MAX);
    for (size_t i = 0; i < event.subject_count; i++) {
        ASSERT(event.subjects[i].kind >= 1);
        ASSERT(within(event.subjects[i].id, event.envelope));
    }
    ASSERT(within(event.content, row) && within(event.salt, row));
    ASSERT(within(event.actor_user_id, event.envelope));
    org.uuid.bytes[0] ^= 1; /* a packed envelope may take it from the key */
    err = log_decode(arena, org, seq, row, &event);
    ASSERT(err == ERR_CORRUPT || (err == OK && uuid_equal(event.org.uuid, org.uuid)));
    org.uuid.bytes[0] ^= 1;
    ASSERT(log_decode(arena, org, seq + 1, row, &event) == ERR_CORRUPT);
}

static enum err decode_event(struct arena *arena, struct slice bytes,
                             struct event_record *ret_record)
{
    return record_decode_event(arena, sample_org, bytes, ret_record);
}

/* Checks that decoding and encoding an encoded event changes nothing. */
static void check_event(struct arena *arena, struct slice bytes)
{
    struct event_record record;
    struct slice first;
    struct slice second;

    if (decode_event(arena, bytes, &record) != OK || !uuid_equal(record.envelope.org, sample_org)) {
        return;
    }
    ASSERT(record_encode_event(arena, &record, &first) == OK);
    ASSERT(decode_event(arena, first, &record) == OK);
    ASSERT(record_encode_event(arena, &record, &second) == OK);
    ASSERT(slice_equal(first, second));
}

static void check_event_row(struct arena *arena, struct slice bytes)
{
    check_event(arena, bytes);
    check_log(arena, bytes);
}

/* An event whose envelope these bytes are. */
static void check_envelope_row(struct arena *arena, struct slice bytes)
{
    struct event_record record = {.envelope_bytes = bytes, .facts = SLICE("\x0a\x01x")};
    struct slice row;

    check_envelope(arena, bytes);
    if (record_decode_envelope(bytes, &record.envelope) == OK) {
        ASSERT(record_encode_event(arena, &record, &row) == OK);
        check_log(arena, row);
    }
}

static void (*const checks[])(struct arena *arena, struct slice bytes) = {
    check_event_row,         check_envelope_row,    check_org_head,       check_layout_head,
    check_layout_marks,      check_example,         check_example_mark,   check_entity,
    check_retracted_example, check_document,        check_profile,        check_counter,
    check_organization,      check_token,           check_idempotency,    check_meta,
    check_layout_stats,      check_extraction,      check_extraction_key, check_mapping,
    check_mapping_confirmed, check_prompt_template, check_settings,       check_artifact,
    check_learned_rule,      check_verdict,         check_review,         check_review_run,
    check_review_thresholds, check_fragment_set,    check_proposal,       check_quota,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    uint32_t which = fuzz_take_choice(&input, sizeof(checks) / sizeof(checks[0]));
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    checks[which](&arena, input.rest);
    arena_deinit(&arena);
    ASSERT(assert_unexpected_count() == 0);
    return 0;
}
