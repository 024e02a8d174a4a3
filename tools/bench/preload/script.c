/*
 * script.c: see script.h. Every text has a fixed length, whatever the numbers in it are, and every
 * time lies in the second half of its second: its nanoseconds then always have as many bytes on the
 * wire.
 */
#include "tools/bench/preload/script.h"

#include "server/domain/admin/admin.h"
#include "server/domain/corrections/capture.h"

#include <string.h>

#define WRITE_BYTES_MAX ((size_t)16 << 20)
#define SECOND_US INT64_C(1000000)
#define DAY_US (INT64_C(86400) * SECOND_US)
/* The first events come this long after the organisations. */
#define FOUNDING_US (3600 * SECOND_US)

void script_init(struct script *script, const struct preload_options *options, struct fault *fault)
{
    memset(script, 0, sizeof(*script));
    script->options = options;
    script->fault = fault;
    arena_init(&script->arena, WRITE_BYTES_MAX);
    clock_manual_init(&script->clock, 0);
    random_seeded_init(&script->random, options->seed);
    script->ctx = (struct ctx){.arena = &script->arena,
                               .clock = &script->clock.clock,
                               .random = &script->random.random,
                               .fault = &script->write_fault};
}

void script_deinit(struct script *script)
{
    arena_deinit(&script->arena);
}

static void start_write(struct script *script, struct store_txn *txn, int64_t time_us)
{
    arena_reset(&script->arena);
    fault_init(&script->write_fault, &script->arena);
    script->clock.wall_us =
        time_us / SECOND_US * SECOND_US + SECOND_US / 2 + time_us % SECOND_US / 2;
    log_begin_write(txn, NULL);
}

/* What a write failed by, in words that outlive it. */
static enum err end_write(struct script *script, const char *what, enum err err)
{
    const struct fault *fault = &script->write_fault;

    if (err == OK) {
        return OK;
    }
    if (fault->count > 0) {
        const struct fault_entry *entry = &fault->entries[0];

        return fault_say(script->fault, err, "%s: %.*s %.*s", what, (int)entry->field.size,
                         (const char *)entry->field.data, (int)entry->description.size,
                         (const char *)entry->description.data);
    }
    return fault_say(script->fault, err, "%s: %s %.*s", what, err_text(err),
                     (int)fault->message.size, (const char *)fault->message.data);
}

static int64_t first_event_us(const struct preload_options *options)
{
    return options->end_us - SCRIPT_DAYS * DAY_US;
}

static enum err make_token(struct script *script, struct store_txn *txn,
                           const struct admin_actor *actor, uint32_t org)
{
    struct ctx *ctx = &script->ctx;
    struct token_secret secret = token_make_secret(ctx->random);
    struct admin_token_draft draft = {.org = script->orgs[org],
                                      .role = ROLE_ADMIN,
                                      .server = org == 0,
                                      .secret_sha256 = token_hash_secret(&secret)};
    struct work_result result;
    struct event event;
    uint32_t key_id = 0;
    enum err err = admin_create_token(ctx, txn, actor, &draft, &result);

    if (err == OK) {
        err = log_read(txn, result.org, result.first_seq, &event);
    }
    if (err == OK) {
        err = admin_created_key_id(&event, &key_id);
    }
    if (err == OK) {
        token_format(key_id, &secret, script->tokens[org]);
    }
    token_cleanse(&secret, sizeof(secret));
    return err;
}

enum err script_make_org(struct script *script, struct store_txn *txn, uint32_t org)
{
    const struct admin_actor actor = {SLICE("system"), ANNOTATOR_CODE, SOURCE_SYSTEM};
    struct work_result result;
    struct slice name = SLICE("default");
    enum err err = OK;

    start_write(script, txn, first_event_us(script->options) - FOUNDING_US + org * SECOND_US);
    if (org > 0) {
        name = arena_printf(&script->arena, "bench-%03" PRIu32, org);
    }
    err = admin_create_organization(&script->ctx, txn, &actor, name, &result);
    if (err == OK) {
        script->orgs[org] = result.org;
        err = make_token(script, txn, &actor, org);
    }
    return end_write(script, "an organisation can't be made", err);
}

uint64_t script_event_count(const struct preload_options *options, uint32_t org)
{
    /* The first organisations get one more where the events do not divide. */
    return options->event_count / options->org_count +
           (org < options->event_count % options->org_count ? 1 : 0);
}

void script_start_org(struct script *script, uint32_t org)
{
    random_seeded_init(&script->random, script->options->seed + org + 1);
}

/* Letters and spaces: nothing that JSON escapes. */
static struct slice make_text(struct script *script, size_t size)
{
    static const char letters[32] = "abcdefghijklmnopqrstuvwxyz     0";
    uint8_t *text = arena_alloc(&script->arena, size + 1);

    if (text == NULL) {
        return slice_of(NULL, 0);
    }
    random_fill(script->ctx.random, text, size);
    for (size_t i = 0; i < size; i++) {
        text[i] = (uint8_t)letters[text[i] % sizeof(letters)];
    }
    return slice_of(text, size);
}

/* One line correction. */
static void fill_input(struct script *script, uint64_t index, struct capture_input *input)
{
    struct arena *arena = &script->arena;
    struct slice snippet = make_text(script, script->texts.snippet_bytes);
    struct slice output = make_text(script, script->texts.output_bytes);

    input->event_type = EVENT_TYPE_EXTRACTION_LINE_CORRECTED;
    input->actor_user_id = SLICE("operator-1");
    input->entity_type = SLICE("draft_order_line");
    input->entity_id = arena_printf(arena, "line-%012" PRIu64, index);
    input->document_id = arena_printf(arena, "document-%012" PRIu64, index);
    input->draft_order_id = arena_printf(arena, "draft-%012" PRIu64, index);
    input->layout_fingerprint = arena_printf(arena, PRELOAD_LAYOUT_FORMAT,
                                             (uint32_t)(index % script->options->layout_count));
    input->before_json = SLICE("{\"line_no\":3,\"qty\":10}");
    input->after_json = arena_printf(arena, "{\"line_no\":3,\"qty\":12,\"description\":\"%.*s\"}",
                                     (int)output.size, (const char *)output.data);
    input->meta_json = arena_printf(arena, "{\"model\":\"m-1\",\"input_snippet\":\"%.*s\"}",
                                    (int)snippet.size, (const char *)snippet.data);
}

enum err script_capture(struct script *script, struct store_txn *txn, uint32_t org, uint64_t index)
{
    static const struct capture_caller caller = {.role = ROLE_ADMIN, .key_id = 1};
    uint64_t count = script_event_count(script->options, org);
    int64_t step_us = SCRIPT_DAYS * DAY_US / (int64_t)count;
    struct capture_input input = {0};
    struct capture_event event;
    uint64_t seq = 0;
    enum err err = OK;

    start_write(script, txn, first_event_us(script->options) + (int64_t)index * step_us);
    fill_input(script, index, &input);
    err = capture_prepare(&script->ctx, &caller, &input, SLICE("event"), &event);
    if (err == OK) {
        err = capture_store(&script->ctx, txn, script->orgs[org], &event, 1, &seq);
    }
    return end_write(script, "an event can't be captured", err);
}
