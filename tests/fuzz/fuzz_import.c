/*
 * fuzz_import.c: any bytes as an export of any tool. Reading ends; no record is larger than allowed; each row of the
 * normal form gives requests that are JSON objects, the same again when it is read again. The first byte picks the
 * source, the second the file's name.
 */
#include "store/base/assert.h"
#include "store/base/sha256.h"
#include "tests/fuzz/fuzz.h"
#include "tools/errata/import/import_request.h"
#include "tools/errata/import/record_reader.h"

#define ARENA_BYTES (256u << 20)
/* No file has more records than bytes. */
#define RECORDS_MAX(size) ((size) + 2)

struct reading {
    struct arena *arena;
    const struct import_source *source;
    const struct import_choices *choices;
    struct sha256_state digest; /* digest of all requests */
    size_t rows;
};

static void check_object(struct reading *reading, struct slice text)
{
    const struct json_rules rules = {.depth_max = JSON_DEPTH_MAX};
    struct json_value value = {JSON_NULL, {NULL, 0}};
    struct json_problem problem = {NULL, 0};

    ASSERT(json_check(reading->arena, text, &rules, &value, &problem) == OK);
    ASSERT(value.kind == JSON_OBJECT);
    sha256_add(&reading->digest, text);
}

static void take_row(void *user, const struct import_row *row)
{
    struct reading *reading = user;
    struct import_request request;

    reading->rows++;
    ASSERT(row->text[IMPORT_ID].size > 0);
    if (row->kind == IMPORT_OUTPUT) {
        return;
    }
    ASSERT(import_request_make(reading->arena, reading->source, reading->choices, row, &request));
    ASSERT(request.ref.size > 0 && request.ref.size <= IMPORT_OPAQUE_BYTES_MAX);
    check_object(reading, request.json);
    if (request.lookup_method != NULL) {
        check_object(reading, request.lookup);
    }
}

static void take_skip(void *user, const char *reason, struct slice id)
{
    (void)user;
    (void)id;
    ASSERT(reason[0] != '\0');
}

static void take_damaged(void *user, struct slice problem)
{
    (void)user;
    ASSERT(problem.size > 0);
}

static void take_loss(void *user, size_t loss)
{
    struct reading *reading = user;

    ASSERT(reading->source->losses != NULL && reading->source->losses[loss].what != NULL);
}

/* Reads the whole file; returns the digest of its requests. */
static struct sha256_digest read_file(struct reading *reading, const uint8_t *data, size_t size,
                                      const char *path)
{
    const struct import_sink sink = {reading, take_row, take_skip, take_damaged, take_loss};
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "rb");
    struct import_call call = {reading->arena, reading->choices, &sink, reading->source};
    struct record_reader reader;
    bool more = false;

    ASSERT(file != NULL);
    sha256_begin(&reading->digest);
    more = record_reader_open(&reader, file, path, reading->source->lists);
    ASSERT(more || reader.problem[0] != '\0');
    for (size_t i = 0; more; i++) {
        struct json_value record = {JSON_NULL, {NULL, 0}};
        enum record_step step = record_reader_read(&reader, reading->arena, &record);

        ASSERT(i < RECORDS_MAX(size));
        more = step == RECORD_READ || step == RECORD_DAMAGED;
        ASSERT(step == RECORD_READ || step == RECORD_END || reader.problem[0] != '\0');
        if (step == RECORD_READ) {
            import_source_read(&call, record);
        }
        arena_reset(reading->arena);
    }
    record_reader_close(&reader);
    ASSERT(fclose(file) == 0);
    return sha256_read(&reading->digest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"a.jsonl", "a.json", "a.csv", "a"};
    static const struct import_member map[] = {
        {IMPORT_ID, "id"},           {IMPORT_SUBJECT, "a.b"},   {IMPORT_BEFORE, "was"},
        {IMPORT_AFTER, "is"},        {IMPORT_VALUE, "value"},   {IMPORT_AT, "at"},
        {IMPORT_PATTERN, "pattern"}, {IMPORT_AGENTS, "agents"}, {IMPORT_RULE_CONTENT, "rule"},
        {IMPORT_NO_FIELD, NULL}};
    const struct import_threshold threshold = {SLICE(""), 0.5};
    const struct import_choices choices = {
        .trusts_status = true, .thresholds = &threshold, .threshold_count = 1, .map = map};
    struct arena arena;
    struct reading reading = {.arena = &arena, .choices = &choices};
    struct sha256_digest first;
    struct sha256_digest second;
    size_t count = 0;

    if (size < 3) {
        return 0;
    }
    while (import_sources[count] != NULL) {
        count++;
    }
    reading.source = import_sources[data[0] % count];
    arena_init(&arena, ARENA_BYTES);
    first = read_file(&reading, data + 2, size - 2, paths[data[1] % 4]);
    second = read_file(&reading, data + 2, size - 2, paths[data[1] % 4]);
    ASSERT(memcmp(&first, &second, sizeof(first)) == 0);
    arena_deinit(&arena);
    return 0;
}
