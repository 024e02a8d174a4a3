/*
 * script.c: see script.h. Every time lies in the second half of its second: its nanoseconds then always
 * have as many bytes on the wire.
 */
#include "tools/bench/preload/script_internal.h"

#include "server/domain/admin/admin.h"
#include "server/domain/settings/settings.h"

#include <errata/v1/role.fields.h>

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

void script_start_write(struct script *script, struct store_txn *txn, int64_t time_us)
{
    arena_reset(&script->arena);
    fault_init(&script->write_fault, &script->arena);
    script->clock.wall_us =
        time_us / SECOND_US * SECOND_US + SECOND_US / 2 + time_us % SECOND_US / 2;
    log_begin_write(txn, NULL);
}

/* Describes the error of a write, in a text that remains valid after it. */
enum err script_end_write(struct script *script, const char *what, enum err err)
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

/* Holds out some documents, so that there is an experiment. */
static enum err hold_out_some(struct script *script, struct store_txn *txn, uint32_t org)
{
    const struct settings_change change = {
        .by_program = true, .has_holdout_percent = true, .holdout_percent = SCRIPT_HOLDOUT_PERCENT};
    uint64_t seq = 0;

    return settings_update(&script->ctx, txn, script->orgs[org], SLICE("system"), &change, &seq);
}

enum err script_make_org(struct script *script, struct store_txn *txn, uint32_t org)
{
    const struct admin_actor actor = {SLICE("system"), ANNOTATOR_CODE, SOURCE_SYSTEM, true};
    struct work_result result;
    struct slice name = SLICE("default");
    enum err err = OK;

    script_start_write(script, txn,
                       first_event_us(script->options) - FOUNDING_US + org * SECOND_US);
    if (org > 0) {
        name = arena_printf(&script->arena, "bench-%03" PRIu32, org);
    }
    err = admin_create_organization(&script->ctx, txn, &actor, name, &result);
    if (err == OK) {
        script->orgs[org] = result.org;
        err = make_token(script, txn, &actor, org);
    }
    if (err == OK && script->options->extraction_count > 0) {
        err = hold_out_some(script, txn, org);
    }
    return script_end_write(script, "an organisation can't be made", err);
}

/* If the count is not a multiple of the organisations, the first ones get one more. */
static uint64_t share_of(const struct preload_options *options, uint64_t count, uint32_t org)
{
    return count / options->org_count + (org < count % options->org_count ? 1 : 0);
}

uint64_t script_count(const struct preload_options *options, uint32_t org,
                      enum script_stream stream)
{
    const uint64_t counts[SCRIPT_STREAM_COUNT] = {
        [SCRIPT_DOCUMENTS] = 0,
        [SCRIPT_MAPPINGS] = options->mapping_count,
        [SCRIPT_EXTRACTIONS] = options->extraction_count,
        [SCRIPT_CORRECTIONS] = options->event_count,
    };

    if (stream == SCRIPT_DOCUMENTS) {
        return options->family_count > 0
                   ? PRELOAD_LAYOUT_DOCUMENTS * (uint64_t)options->layout_count
                   : 0;
    }
    return share_of(options, counts[stream], org);
}

uint64_t script_event_count(const struct preload_options *options, uint32_t org)
{
    uint64_t count = 0;

    for (int stream = 0; stream < SCRIPT_STREAM_COUNT; stream++) {
        count += script_count(options, org, (enum script_stream)stream);
    }
    return count;
}

void script_start_org(struct script *script, uint32_t org)
{
    random_seeded_init(&script->random, script->options->seed + org + 1);
    script->org = org;
    memset(script->done, 0, sizeof(script->done));
}

/* The stream with the most events left, so that all of them end together; documents come before. */
static enum script_stream next_stream(const struct script *script)
{
    enum script_stream next = SCRIPT_CORRECTIONS;
    double least = 2;

    if (script->done[SCRIPT_DOCUMENTS] <
        script_count(script->options, script->org, SCRIPT_DOCUMENTS)) {
        return SCRIPT_DOCUMENTS;
    }
    for (int stream = 0; stream < SCRIPT_STREAM_COUNT; stream++) {
        uint64_t count = script_count(script->options, script->org, (enum script_stream)stream);
        double share = count > 0 ? (double)script->done[stream] / (double)count : 2;

        if (share < least) {
            least = share;
            next = (enum script_stream)stream;
        }
    }
    return next;
}

enum err script_step(struct script *script, struct store_txn *txn)
{
    uint64_t count = script_event_count(script->options, script->org);
    int64_t step_us = SCRIPT_DAYS * DAY_US / (int64_t)count;
    enum script_stream stream = next_stream(script);
    uint64_t step = 0;

    for (int i = 0; i < SCRIPT_STREAM_COUNT; i++) {
        step += script->done[i];
    }
    script_start_write(script, txn, first_event_us(script->options) + (int64_t)step * step_us);
    return script_writes[stream](script, txn, script->done[stream]++);
}
