/*
 * proto_json.c: CPU time of converting a reply between wire bytes and proto JSON, beside protobuf-c's unpack and pack of
 * the same bytes. Two replies: GetExamples with three examples of 1.2 KB (texts with escapes), and ListMappings with 50
 * mappings (many short fields). Prints the fastest of some rounds. One thread. Usage: bench_proto_json [CONVERSIONS]
 */
#include "server/codec/proto_json.h"

#include <errata/contract_messages.h>
#include <errata/v1/mapping_service.pb-c.h>
#include <errata/v1/prompt_service.pb-c.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 7
#define EXAMPLES 3
#define MAPPINGS 50
#define SNIPPET_BYTES 700
#define ARENA_BYTES ((size_t)16 << 20)
#define ID "01890a5d-ac96-774b-bcce-b302099a8057"

struct sample {
    const char *name;
    const struct message_info *message;
    const ProtobufCMessageDescriptor *descriptor;
    struct slice wire;
    struct slice json;
};

struct bench {
    struct arena arena; /* the samples */
    struct arena scratch; /* one conversion */
    struct fault fault;
    struct ctx ctx;
    unsigned conversions;
};

typedef void convert_fn(struct bench *bench, const struct sample *sample);

static void must(bool is_good, const char *what)
{
    if (!is_good) {
        fprintf(stderr, "bench_proto_json: %s failed\n", what);
        exit(2);
    }
}

static double cpu_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void put_examples(struct buffer *json)
{
    buffer_append(json, SLICE("{\"examples\":["));
    for (unsigned i = 0; i < EXAMPLES; i++) {
        buffer_printf(json,
                      "%s{\"id\":\"" ID "\",\"layoutFingerprint\":\"%064x\",\"inputSnippet\":\"",
                      i > 0 ? "," : "", i);
        for (size_t bytes = 0; bytes < SNIPPET_BYTES; bytes += 35) {
            buffer_printf(json, "Pos %2u  Artikel 4711  2 St\\u00fcck  9,90\\n", i);
        }
        buffer_append(json, SLICE("\",\"output\":\"{"));
        for (unsigned line = 0; line < 12; line++) {
            buffer_printf(json, "%s\\\"line_%u\\\":{\\\"sku\\\":\\\"A-%u\\\",\\\"qty\\\":%u}",
                          line > 0 ? "," : "", line, 4711 + line, line);
        }
        buffer_append(json,
                      SLICE("}\",\"createdAt\":\"2026-01-02T03:04:05.678901Z\",\"matchLevel\":"
                            "\"MATCH_LEVEL_EXACT\",\"confidenceImprovement\":0.125,"
                            "\"eventIds\":[\"" ID "\"]}"));
    }
    buffer_append(json,
                  SLICE("],\"matchLevel\":\"MATCH_LEVEL_EXACT\",\"exposureRef\":\"" ID "\"}"));
}

static void put_mappings(struct buffer *json)
{
    buffer_append(json, SLICE("{\"mappings\":["));
    for (unsigned i = 0; i < MAPPINGS; i++) {
        buffer_printf(json,
                      "%s{\"id\":\"" ID "\",\"orgId\":\"" ID "\",\"customerId\":\"customer-%u\","
                      "\"customerSku\":\"C-%u\",\"internalSku\":\"I-%u\",\"status\":"
                      "\"MAPPING_STATUS_CONFIRMED\",\"confidence\":0.%u,\"supportCount\":\"%u\","
                      "\"useCount\":\"%u\",\"createdAt\":\"2026-01-02T03:04:05.678901Z\","
                      "\"updatedAt\":\"2026-02-02T03:04:05.678901Z\"}",
                      i > 0 ? "," : "", i, 1000 + i, 2000 + i, 100 + i, 3 * i + 1, 7 * i + 1);
    }
    buffer_append(json, SLICE("],\"nextPageToken\":\"bm90IGEgdG9rZW4\"}"));
}

/* Sets the wire bytes of a JSON text, and the text as the codec writes it. */
static void set_sample(struct bench *bench, struct sample *sample, const struct buffer *text)
{
    const struct proto_json_style style = {0};
    struct buffer wire;
    struct buffer json;

    bench->ctx.arena = &bench->arena;
    buffer_init(&wire, &bench->arena, 0);
    must(proto_json_read(&bench->ctx, sample->message, buffer_slice(text), true, &wire) == OK,
         "reading a sample");
    buffer_init(&json, &bench->arena, 0);
    must(proto_json_write(&bench->ctx, sample->message, buffer_slice(&wire), &style, &json) == OK,
         "writing a sample");
    sample->wire = buffer_slice(&wire);
    sample->json = buffer_slice(&json);
    bench->ctx.arena = &bench->scratch;
}

static void read_json(struct bench *bench, const struct sample *sample)
{
    struct buffer wire;

    buffer_init(&wire, &bench->scratch, sample->wire.size + sample->wire.size / 4);
    must(proto_json_read(&bench->ctx, sample->message, sample->json, false, &wire) == OK &&
             wire.size == sample->wire.size,
         "reading");
}

static void write_json(struct bench *bench, const struct sample *sample)
{
    const struct proto_json_style style = {0};
    struct buffer json;

    buffer_init(&json, &bench->scratch, 2 * sample->wire.size);
    must(proto_json_write(&bench->ctx, sample->message, sample->wire, &style, &json) == OK &&
             json.size == sample->json.size,
         "writing");
}

static void unpack_and_pack(struct bench *bench, const struct sample *sample)
{
    ProtobufCMessage *message =
        protobuf_c_message_unpack(sample->descriptor, NULL, sample->wire.size, sample->wire.data);
    uint8_t *bytes = arena_alloc(&bench->scratch, sample->wire.size);

    must(message != NULL && bytes != NULL, "unpacking");
    must(protobuf_c_message_pack(message, bytes) == sample->wire.size, "packing");
    protobuf_c_message_free_unpacked(message, NULL);
}

/* Returns the CPU time of one conversion in nanoseconds: the fastest round. */
static double measure(struct bench *bench, const struct sample *sample, convert_fn *convert)
{
    double best = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        double start = cpu_ns();
        double each = 0;

        for (unsigned i = 0; i < bench->conversions; i++) {
            convert(bench, sample);
            arena_reset(&bench->scratch);
        }
        each = (cpu_ns() - start) / bench->conversions;
        best = round == 0 || each < best ? each : best;
    }
    return best;
}

static void report(struct bench *bench, const struct sample *sample)
{
    double json_bytes = (double)sample->json.size;
    double read = measure(bench, sample, read_json);
    double write = measure(bench, sample, write_json);
    double packed = measure(bench, sample, unpack_and_pack);

    printf("%s: %zu bytes on the wire, %zu of JSON\n", sample->name, sample->wire.size,
           sample->json.size);
    printf("  JSON to wire            %9.0f ns  %5.2f ns/byte of JSON\n", read, read / json_bytes);
    printf("  wire to JSON            %9.0f ns  %5.2f ns/byte of JSON\n", write,
           write / json_bytes);
    printf("  protobuf-c, both ways   %9.0f ns  %5.2f ns/byte of wire\n", packed,
           packed / (double)sample->wire.size);
}

int main(int count, char **arguments)
{
    struct bench bench = {.conversions = 2000};
    struct buffer text;
    struct sample examples = {.name = "GetExamplesResponse",
                              .message = &contract_errata_v1_get_examples_response,
                              .descriptor = &errata__v1__get_examples_response__descriptor};
    struct sample mappings = {.name = "ListMappingsResponse",
                              .message = &contract_errata_v1_list_mappings_response,
                              .descriptor = &errata__v1__list_mappings_response__descriptor};

    if (count > 1) {
        bench.conversions = (unsigned)strtoul(arguments[1], NULL, 10);
    }
    must(bench.conversions > 0, "reading the number of conversions");
    arena_init(&bench.arena, ARENA_BYTES);
    arena_init(&bench.scratch, ARENA_BYTES);
    fault_init(&bench.fault, &bench.arena);
    bench.ctx = (struct ctx){.arena = &bench.arena, .fault = &bench.fault};
    buffer_init(&text, &bench.arena, 0);
    put_examples(&text);
    set_sample(&bench, &examples, &text);
    buffer_init(&text, &bench.arena, 0);
    put_mappings(&text);
    set_sample(&bench, &mappings, &text);
    report(&bench, &examples);
    report(&bench, &mappings);
    arena_deinit(&bench.scratch);
    arena_deinit(&bench.arena);
    return 0;
}
