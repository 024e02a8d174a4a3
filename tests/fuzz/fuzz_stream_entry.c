/*
 * fuzz_stream_entry.c: any fields as an entry of the stream of decisions. A refusal has a reason, and an entry that is read is
 * a request that the check of RecordDecision lets pass when it is encoded again; as JSON in `data` it reads to the same.
 */
#include "server/api/decisions/stream_entry.h"
#include "server/codec/check.h"
#include "server/codec/proto_json.h"
#include "store/base/assert.h"
#include "store/base/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#define ARENA_BYTES ((size_t)64 << 20)
#define FIELDS_MAX 16
#define REQUEST_NAME "errata.v1.RecordDecisionRequest"

struct reading {
    struct arena arena;
    struct fault fault;
    struct ctx ctx;
    enum err err;
    struct slice wire; /* of the request that was read */
};

static void reading_init(struct reading *reading)
{
    memset(reading, 0, sizeof(*reading));
    arena_init(&reading->arena, ARENA_BYTES);
    fault_init(&reading->fault, &reading->arena);
    reading->ctx =
        (struct ctx){.arena = &reading->arena, .clock = clock_system(), .fault = &reading->fault};
}

/* The message of a decision in an encoded request. */
static struct slice encode(struct arena *arena, const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = arena_alloc(arena, size + 1);

    ASSERT(bytes != NULL && protobuf_c_message_pack(message, bytes) == size);
    return slice_of(bytes, size);
}

static void read_entry(struct reading *reading, const struct stream_entry *entry)
{
    const struct message_info *message = contract_find_message(SLICE(REQUEST_NAME));
    const Errata__V1__RecordDecisionRequest *request = NULL;
    struct slice joined = {NULL, 0};
    int64_t ahead_us = 0;

    reading->err = stream_entry_read(&reading->ctx, entry, &ahead_us, &request);
    ASSERT((reading->err == ERR_UNAVAILABLE) == (ahead_us > 0));
    if (ahead_us > 0) {
        return;
    }
    if (reading->err == ERR_INVALID) {
        ASSERT(reading->fault.count > 0 && reading->fault.entries[0].description.size > 0);
        return;
    }
    ASSERT(reading->err == OK);
    ASSERT(!entry->is_cut && request->decision != NULL);
    reading->wire = encode(&reading->arena, &request->base);
    ASSERT(check_write_request(&reading->ctx, message, reading->wire, &joined) == OK);
}

/* Reads the decision of a flat entry again, as JSON in `data`. */
static void read_as_data(const struct reading *reading, const struct stream_entry *flat)
{
    const struct message_info *message = contract_find_message(SLICE("errata.v1.Decision"));
    const struct message_info *whole = contract_find_message(SLICE(REQUEST_NAME));
    const struct proto_json_style style = {.plain = false};
    const Errata__V1__RecordDecisionRequest *request = NULL;
    struct entry_field field = {SLICE("data"), {NULL, 0}};
    const struct stream_entry entry = {
        .stream = flat->stream, .id = flat->id, .fields = &field, .field_count = 1};
    struct reading again;
    struct buffer json;
    ProtobufCMessage *decoded = NULL;
    struct slice decision = {NULL, 0};

    reading_init(&again);
    decoded = protobuf_c_message_unpack(&errata__v1__record_decision_request__descriptor, NULL,
                                        reading->wire.size, reading->wire.data);
    ASSERT(decoded != NULL && whole != NULL);
    request = (const Errata__V1__RecordDecisionRequest *)decoded;
    decision = encode(&again.arena, &request->decision->base);
    buffer_init(&json, &again.arena, 0);
    ASSERT(proto_json_write(&again.ctx, message, decision, &style, &json) == OK);
    field.value = buffer_slice(&json);
    if (request->n_exposure_refs == 0) {
        read_entry(&again, &entry);
        ASSERT(again.err == OK && slice_equal(again.wire, reading->wire));
    }
    protobuf_c_message_free_unpacked(decoded, NULL);
    arena_deinit(&again.arena);
}

static struct slice take_name(struct fuzz_input *input)
{
    static const char *const names[] = {
        "decision_id",        "gate_id",     "epic_id",       "decision",
        "agent_name",         "reviewer_id", "tags",          "reviewer_comment",
        "timestamp",          "created_at",  "task_id",       "data",
        "correction_diff",    "event_type",  "exposure_refs", "review_duration_seconds",
        "approved_output_sha"};
    uint32_t choice = fuzz_take_choice(input, sizeof(names) / sizeof(names[0]) + 1);

    return choice < sizeof(names) / sizeof(names[0]) ? slice_text(names[choice])
                                                     : fuzz_take_text(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    struct entry_field fields[FIELDS_MAX];
    struct stream_entry entry = {.stream = SLICE("s"), .id = SLICE("1-0"), .fields = fields};
    struct reading reading;

    entry.is_cut = fuzz_take_choice(&input, 16) == 1;
    while (!fuzz_is_over(&input) && entry.field_count < FIELDS_MAX) {
        struct entry_field *field = &fields[entry.field_count++];

        field->name = take_name(&input);
        field->value = slice_equal(field->name, SLICE("data"))
                           ? fuzz_take_bytes(&input, fuzz_take_number(&input, 2))
                           : fuzz_take_text(&input);
    }
    reading_init(&reading);
    read_entry(&reading, &entry);
    if (reading.err == OK) {
        read_as_data(&reading, &entry);
    }
    arena_deinit(&reading.arena);
    return 0;
}
