/*
 * fuzz_exposure.c: references to served content. A valid reference returns its content only to its
 * organisation and server; any other text is refused: bytes, bytes in base64, a modified reference,
 * or an unknown body with a valid tag.
 */
#include "server/domain/exposures/exposures.h"
#include "store/base/assert.h"
#include "store/base/base64.h"
#include "store/base/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#define ARENA_BYTES ((size_t)4 << 20)
#define TAG_BYTES 16
/* Maximum artifacts that an input brings; a step of the numbers is repeated for more. */
#define STEPS_MAX 8
/* Artifacts of filled placeholders at most: the wording and the item. */
#define PLACEHOLDER_ARTIFACTS 2

struct server {
    struct arena arena;
    struct exposure_key key;
    struct org_id org;
};

static void server_init(struct server *server)
{
    uint8_t bytes[EXPOSURE_KEY_BYTES];

    memset(bytes, 'k', sizeof(bytes));
    memset(server, 0, sizeof(*server));
    arena_init(&server->arena, ARENA_BYTES);
    exposure_key_init(&server->key, bytes);
    memset(server->org.uuid.bytes, 'o', UUID_BYTES);
}

static enum err read_text(struct server *server, struct slice text, struct exposure *ret_exposure)
{
    return exposure_read(&server->arena, &server->key, server->org, text, ret_exposure);
}

static void expect_refused(struct server *server, struct slice text)
{
    struct exposure exposure = {.artifact_count = 77};

    ASSERT(read_text(server, text, &exposure) == ERR_INVALID);
    ASSERT(exposure.artifact_count == 77);
}

static struct slice write_text(struct server *server, const struct exposure *exposure)
{
    struct wire_reader reader;
    struct wire_field field = {0};
    struct buffer body;

    buffer_init(&body, &server->arena, 0);
    exposure_write(&server->key, server->org, exposure, 1, &body);
    ASSERT(buffer_ok(&body));
    reader = wire_reader_of(buffer_slice(&body));
    ASSERT(wire_next(&reader, &field) == OK && reader.rest.size == 0);
    ASSERT(field.bytes.size <= EXPOSURE_REFERENCE_CHARACTERS_MAX);
    return field.bytes;
}

static void expect_same_rule(const struct exposed_rule *read, const struct exposed_rule *written)
{
    ASSERT(read->count == written->count && read->accuracy == written->accuracy);
    ASSERT(read->suppressed_by == written->suppressed_by && read->reduced == written->reduced);
    ASSERT(read->shadow == written->shadow && read->raises == written->raises);
}

static void expect_same(const struct exposure *read, const struct exposure *written)
{
    ASSERT(read->kind == written->kind && read->arm == written->arm);
    ASSERT(read->served_at_us == written->served_at_us);
    ASSERT(read->as_of_seq == written->as_of_seq);
    ASSERT(read->artifact_count == written->artifact_count);
    ASSERT(memcmp(read->text_hash, written->text_hash, EXPOSURE_TEXT_HASH_BYTES) == 0);
    ASSERT(read->is_listed || written->artifact_count > 20);
    ASSERT(read->verdicts.base == written->verdicts.base);
    ASSERT(read->verdicts.live == written->verdicts.live);
    ASSERT(read->verdicts.shadow == written->verdicts.shadow);
    ASSERT(read->placeholders.signals == written->placeholders.signals);
    ASSERT(slice_equal(read->placeholders.subcategory, written->placeholders.subcategory));
    for (size_t i = 0; read->is_listed && i < read->artifact_count; i++) {
        ASSERT(read->artifacts[i].seq == written->artifacts[i].seq);
        ASSERT(read->artifacts[i].version == written->artifacts[i].version);
        ASSERT(read->artifacts[i].line_count == written->artifacts[i].line_count);
        expect_same_rule(&read->artifacts[i].rule, &written->artifacts[i].rule);
    }
}

/* An accepted text equals the one that would be written for its content. */
static void check_taken(struct server *server, struct slice text)
{
    struct exposure exposure;

    if (read_text(server, text, &exposure) != OK) {
        expect_refused(server, text);
    } else if (exposure.is_listed) {
        ASSERT(slice_equal(write_text(server, &exposure), text));
    }
}

static struct exposed_rule make_rule(uint64_t step)
{
    return (struct exposed_rule){
        .count = step,
        .accuracy = step % 1000000007,
        .suppressed_by = (enum score_gate)(step % (SCORE_GATE_POS_LAYOUT + 1)),
        .reduced = step % 2 == 0,
        .shadow = step % 3 == 0,
        .raises = step % 5 == 0,
    };
}

/* Sets what only some kinds have. */
static void make_more(struct fuzz_input *input, struct exposure *made)
{
    if (made->kind == EXPOSURE_KIND_SCORE) {
        made->verdicts = (struct exposed_verdicts){(enum verdict)(1 + fuzz_take_choice(input, 3)),
                                                   (enum verdict)(1 + fuzz_take_choice(input, 3)),
                                                   (enum verdict)(1 + fuzz_take_choice(input, 3))};
    } else if (made->kind == EXPOSURE_KIND_PLACEHOLDERS) {
        made->placeholders.signals = fuzz_take_choice(input, 1 << (EXPOSURE_SIGNALS_END - 1)) << 1;
        made->placeholders.subcategory = fuzz_take_text(input);
    }
}

static void make_exposure(struct server *server, struct fuzz_input *input, struct exposure *made)
{
    size_t count = fuzz_take_number(input, 2) % (EXPOSURE_ARTIFACTS_MAX + 100);
    struct exposed_artifact *artifacts =
        arena_calloc(&server->arena, count + 1, sizeof(*artifacts));
    uint64_t steps[STEPS_MAX];

    ASSERT(artifacts != NULL);
    made->kind = (enum exposure_kind)(1 + fuzz_take_choice(input, EXPOSURE_KIND_AGENT_PROMPT));
    make_more(input, made);
    if (made->kind == EXPOSURE_KIND_PLACEHOLDERS) {
        count %= PLACEHOLDER_ARTIFACTS + 1;
    }
    made->arm = (enum experiment_arm)(1 + fuzz_take_choice(input, 3));
    made->served_at_us = (int64_t)fuzz_take_number(input, 8);
    made->as_of_seq = fuzz_take_number(input, 7);
    for (size_t i = 0; i < STEPS_MAX; i++) {
        steps[i] = fuzz_take_number(input, 1 + i % 4);
    }
    for (size_t i = 0; i < count; i++) {
        artifacts[i].seq = (i + 1) * steps[i % STEPS_MAX];
        artifacts[i].version = (uint32_t)(1 + steps[(i + 1) % STEPS_MAX] % 3);
        artifacts[i].line_count =
            made->kind == EXPOSURE_KIND_MATCHES ? (uint32_t)steps[(i + 2) % STEPS_MAX] : 0;
        if (made->kind == EXPOSURE_KIND_SCORE) {
            artifacts[i].rule = make_rule(steps[(i + 3) % STEPS_MAX]);
        }
    }
    made->artifacts = artifacts;
    made->artifact_count = count;
    made->is_listed = true;
    memset(made->text_hash, fuzz_take_byte(input), EXPOSURE_TEXT_HASH_BYTES);
}

/* The same text elsewhere. */
static void check_binding(struct server *server, struct slice text)
{
    uint8_t other[EXPOSURE_KEY_BYTES] = {0};
    struct exposure_key key = server->key;

    server->org.uuid.bytes[15] ^= 1;
    expect_refused(server, text);
    server->org.uuid.bytes[15] ^= 1;
    exposure_key_init(&server->key, other);
    expect_refused(server, text);
    server->key = key;
}

/* A part of the text replaced by bytes of the input. */
static void check_changed(struct server *server, struct slice text, struct fuzz_input *input)
{
    size_t at = fuzz_take_byte(input) % (text.size + 1);
    size_t gone = fuzz_take_byte(input) % (text.size - at + 1);
    struct buffer changed;

    buffer_init(&changed, &server->arena, 0);
    buffer_append(&changed, slice_of(text.data, at));
    buffer_append(&changed, fuzz_take_text(input));
    buffer_append(&changed, slice_after(text, at + gone));
    ASSERT(buffer_ok(&changed));
    check_taken(server, buffer_slice(&changed));
}

static void check_own(struct server *server, struct fuzz_input *input)
{
    struct exposure made = {.artifact_count = 0};
    struct exposure read;
    struct slice text;

    make_exposure(server, input, &made);
    text = write_text(server, &made);
    ASSERT(read_text(server, text, &read) == OK);
    expect_same(&read, &made);
    check_binding(server, text);
    check_changed(server, text, input);
}

/* Any body under a right tag, as if a later version had made it: it is read or refused. */
static void check_tagged(struct server *server, struct slice body)
{
    const struct slice pieces[] = {slice_of(server->org.uuid.bytes, UUID_BYTES), body};
    struct sha256_digest tag = hmac_sha256(&server->key.mac, pieces, 2);
    uint8_t *bytes = arena_alloc(&server->arena, body.size + TAG_BYTES);
    uint8_t *text = arena_alloc(&server->arena, BASE64_DIGITS(body.size + TAG_BYTES) + 1);
    struct exposure exposure;

    ASSERT(bytes != NULL && text != NULL);
    if (body.size > 0) {
        memcpy(bytes, body.data, body.size);
    }
    memcpy(bytes + body.size, tag.bytes, TAG_BYTES);
    if (read_text(
            server,
            slice_of(text, base64_write(slice_of(bytes, body.size + TAG_BYTES), BASE64_URL, text)),
            &exposure) == OK &&
        exposure.is_listed) {
        ASSERT(exposure.artifact_count <= body.size);
    }
}

/* Texts that are not a reference, as text and as the bytes after one. The key is one with which no
 * reference was ever made: a fuzzer learns those of the other. */
static void check_foreign(struct server *server, struct slice bytes)
{
    uint8_t other[EXPOSURE_KEY_BYTES] = {0};
    uint8_t *text = arena_alloc(&server->arena, BASE64_DIGITS(bytes.size) + 1);

    exposure_key_init(&server->key, other);
    ASSERT(text != NULL);
    expect_refused(server, bytes);
    expect_refused(server, slice_of(text, base64_write(bytes, BASE64_URL, text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    struct server server;

    server_init(&server);
    switch (fuzz_take_choice(&input, 3)) {
    case 0:
        check_own(&server, &input);
        break;
    case 1:
        check_tagged(&server, input.rest);
        break;
    default:
        check_foreign(&server, input.rest);
        break;
    }
    arena_deinit(&server.arena);
    return 0;
}
