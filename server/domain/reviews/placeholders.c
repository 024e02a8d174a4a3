/*
 * placeholders.c: see placeholders.h.
 */
#include "server/domain/reviews/placeholders.h"

#include "server/domain/experiment/arm.h"
#include "server/domain/reviews/fragment_sets.h"
#include "server/domain/reviews/items.h"
#include "server/domain/settings/redacted_members.h"
#include "server/domain/text/template.h"
#include "store/base/bytes.h"
#include "store/base/wire.h"

/* Field number of each name in a list of tokens. */
#define TOKEN_FIELD 1
/* The wording and the item. */
#define ARTIFACTS_MAX 2

/* The contributions of stored reviews. */
struct stored_signals {
    struct review_triggers triggers;
    struct slice item_json;
    struct slice redacted_members; /* a RedactedMembers of the item */
    uint64_t item_seq;
    struct fragment_set fragments;
};

/* Returns the wording without any guidance. */
static struct fragment_set no_wording(void)
{
    struct fragment_set set = *fragment_set_default();

    for (size_t i = 0; i < FRAGMENT_PAIRS; i++) {
        set.fragments[i].text = slice_of(NULL, 0);
    }
    return set;
}

static struct stored_signals no_signals(void)
{
    return (struct stored_signals){
        .triggers = {.low_confidence = true},
        .redacted_members = redacted_members_default(),
        .fragments = no_wording(),
    };
}

/* Records damaged data as the failure of a part; returns other errors. */
static enum err note_failure(struct placeholders *placeholders, enum placeholder_part part,
                             enum err err)
{
    if (err != ERR_CORRUPT && err != ERR_INVALID) {
        return err;
    }
    placeholders->failed[part] = true;
    placeholders->degraded = true;
    return OK;
}

static enum err read_example(struct arena *arena, struct store_txn *txn,
                             const struct review_window_query *query, struct stored_signals *stored)
{
    struct slice members = {NULL, 0};
    struct slice item_json = {NULL, 0};
    uint64_t seq = 0;
    enum err err = run_item_example(arena, txn, query, &seq);

    if (err == OK && seq != 0) {
        err = run_item_read(txn, query->org, seq, &item_json);
    }
    if (err == OK && seq != 0) {
        err = redacted_members_read(txn, query->org, query->as_of_seq, &members);
    }
    if (err == OK && seq != 0) {
        stored->item_seq = seq;
        stored->item_json = item_json;
        stored->redacted_members = members;
    }
    return err;
}

static enum err read_wording(struct store_txn *txn, const struct review_window_query *query,
                             struct stored_signals *stored)
{
    struct fragment_set fragments;
    enum err err = fragment_set_active(txn, query->org, query->as_of_seq, &fragments);

    if (err == OK) {
        stored->fragments = fragments;
    }
    return err;
}

/* Reads the stored parts, omitting each part that cannot be read. */
static enum err read_or_degrade(struct arena *arena, struct store_txn *txn,
                                const struct placeholders_request *request,
                                struct stored_signals *stored, struct placeholders *placeholders)
{
    struct review_window_query query = request->query;
    struct review_triggers triggers;
    enum err err = OK;

    placeholders->arm = request->arm;
    if (!request->has_arm) {
        placeholders->arm = EXPERIMENT_ARM_NONE;
        err = note_failure(
            placeholders, PLACEHOLDER_PART_ARM,
            arm_of_document(txn, query.org, request->run_id, query.as_of_seq, &placeholders->arm));
    }
    if (err != OK) {
        return err;
    }
    err = review_triggers_read(arena, txn, &query, &triggers);
    if (err == OK) {
        stored->triggers = triggers;
    }
    err = note_failure(placeholders, PLACEHOLDER_PART_TRIGGERS, err);
    if (err == OK) {
        err = note_failure(placeholders, PLACEHOLDER_PART_EXAMPLE,
                           read_example(arena, txn, &query, stored));
    }
    if (err == OK) {
        err =
            note_failure(placeholders, PLACEHOLDER_PART_WORDING, read_wording(txn, &query, stored));
    }
    return err;
}

static enum err resolve(struct arena *arena, const struct placeholders_request *request,
                        const struct stored_signals *stored, struct resolved *ret_resolved)
{
    const struct resolve_request resolve = {
        .review = request->review,
        .has_static_example = request->has_static_example,
        .static_example = request->static_example,
        .triggers = &stored->triggers,
        .fragments = &stored->fragments,
        .item_json = stored->item_json,
        .redacted_members = stored->redacted_members,
    };

    return resolve_placeholders(arena, &resolve, ret_resolved);
}

/* Builds the texts without any signal, for a held-out run, or if the others cannot be built. */
static enum err resolve_baseline(struct arena *arena, const struct placeholders_request *request,
                                 struct resolved *ret_resolved)
{
    const struct stored_signals none = no_signals();
    struct placeholders_request baseline = *request;

    baseline.review = (struct current_review){.notes = {NULL, 0}};
    return resolve(arena, &baseline, &none, ret_resolved);
}

static uint32_t signals_of(const struct resolved *resolved)
{
    uint32_t signals = 0;

    for (size_t i = 1; i <= PLACEHOLDER_COUNT; i++) {
        for (uint32_t j = 1; j < EXPOSURE_SIGNALS_END; j++) {
            signals |= resolved->texts[i].signals[j] ? 1u << j : 0;
        }
    }
    return signals;
}

static enum err resolve_all(struct arena *arena, const struct placeholders_request *request,
                            struct stored_signals *stored, struct placeholders *placeholders)
{
    struct resolved *resolved = &placeholders->resolved;
    enum err err = note_failure(placeholders, PLACEHOLDER_PART_TEXTS,
                                resolve(arena, request, stored, resolved));

    if (err == OK && placeholders->failed[PLACEHOLDER_PART_TEXTS]) {
        *stored = no_signals();
        err = resolve_baseline(arena, request, resolved);
    }
    if (err != OK) {
        return err;
    }
    placeholders->triggers = stored->triggers;
    placeholders->fragments = stored->fragments;
    placeholders->expired_seq = stored->item_json.size == 0 ? stored->item_seq : 0;
    placeholders->signals = signals_of(resolved);
    if (resolved->texts[REVIEW_PLACEHOLDER_EXAMPLE_ITEM].signals[REVIEW_SIGNAL_EXAMPLE_ITEM]) {
        placeholders->item_seq = stored->item_seq;
    }
    return placeholders->arm == EXPERIMENT_ARM_CONTROL ? resolve_baseline(arena, request, resolved)
                                                       : OK;
}

/* --- prompts --- */

/* Lists a token once. */
static void put_token(struct slice name, struct buffer *run)
{
    struct slice rest = buffer_slice(run);
    struct slice found = {NULL, 0};

    while (view_next(&rest, &found)) {
        if (slice_equal(found, name)) {
            return;
        }
    }
    wire_put_bytes(run, TOKEN_FIELD, name);
}

/* Sets the values of a template's names, and lists other names. */
static void set_values(const struct template *template, const struct resolved *resolved,
                       struct template_value *values, struct buffer *other_tokens)
{
    for (size_t i = 0; i < template->name_count; i++) {
        for (int32_t j = 1; j <= PLACEHOLDER_COUNT; j++) {
            if (slice_equal(template->names[i], placeholder_name((enum review_placeholder)j))) {
                values[i] = (struct template_value){true, resolved->texts[j].text};
            }
        }
        if (!values[i].given) {
            put_token(template->names[i], other_tokens);
        }
    }
}

static enum err fill_one(struct ctx *ctx, const struct named_prompt *prompt,
                         const struct resolved *resolved, struct buffer *other_tokens,
                         struct slice *ret_text)
{
    struct template template;
    struct template_value *values = NULL;
    struct buffer filled;
    enum err err = template_read(ctx->arena, prompt->text, &template);

    if (err == ERR_INVALID) {
        fault_add(ctx->fault,
                  arena_printf(ctx->arena, "prompts[%.*s]", (int)prompt->name.size,
                               (const char *)prompt->name.data),
                  "too many different tokens; expected at most %d", TEMPLATE_NAMES_MAX);
        return OK;
    }
    values = arena_calloc(ctx->arena, template.name_count + 1, sizeof(*values));
    if (err != OK || values == NULL) {
        return err != OK ? err : ERR_MEMORY;
    }
    set_values(&template, resolved, values, other_tokens);
    buffer_init(&filled, ctx->arena, template_filled_bytes(&template, values));
    template_fill(&template, values, &filled);
    *ret_text = buffer_slice(&filled);
    return buffer_ok(&filled) ? OK : ERR_MEMORY;
}

static enum err fill_prompts(struct ctx *ctx, const struct placeholders_request *request,
                             struct placeholders *placeholders)
{
    struct buffer other_tokens;
    enum err err = OK;

    buffer_init(&other_tokens, ctx->arena, 0);
    for (size_t i = 0; i < request->prompt_count && err == OK; i++) {
        struct named_prompt *filled = &placeholders->prompts[i];

        filled->name = request->prompts[i].name;
        err = fill_one(ctx, &request->prompts[i], &placeholders->resolved, &other_tokens,
                       &filled->text);
    }
    placeholders->prompt_count = request->prompt_count;
    placeholders->other_tokens = buffer_slice(&other_tokens);
    if (err == OK && !buffer_ok(&other_tokens)) {
        err = ERR_MEMORY;
    }
    return err != OK ? err : fault_result(ctx->fault);
}

enum err placeholders_fill(struct ctx *ctx, struct store_txn *txn,
                           const struct placeholders_request *request,
                           struct placeholders *ret_placeholders)
{
    struct placeholders *placeholders = arena_calloc(ctx->arena, 1, sizeof(*placeholders));
    struct stored_signals stored = no_signals();
    enum err err = placeholders != NULL ? OK : ERR_MEMORY;

    if (err == OK) {
        err = read_or_degrade(ctx->arena, txn, request, &stored, placeholders);
    }
    if (err == OK) {
        err = resolve_all(ctx->arena, request, &stored, placeholders);
    }
    if (err == OK) {
        err = fill_prompts(ctx, request, placeholders);
    }
    if (err == OK) {
        *ret_placeholders = *placeholders;
    }
    return err;
}

/* --- exposures --- */

static void add_text(struct sha256_state *state, struct slice text)
{
    uint8_t size[4];

    bytes_put_be32(size, (uint32_t)text.size);
    sha256_add(state, slice_of(size, sizeof(size)));
    sha256_add(state, text);
}

/* Hashes the texts, each after its size: those of the placeholders, then names and texts of the prompts, in the order of
 * their names, since a map has no order. */
static struct sha256_digest hash_texts(const struct placeholders *placeholders)
{
    const struct named_prompt *sorted[PLACEHOLDER_PROMPTS_MAX];
    struct sha256_state state;

    sha256_begin(&state);
    for (size_t i = 1; i <= PLACEHOLDER_COUNT; i++) {
        add_text(&state, placeholders->resolved.texts[i].text);
    }
    for (size_t i = 0; i < placeholders->prompt_count; i++) {
        size_t at = i;

        while (at > 0 && slice_compare(sorted[at - 1]->name, placeholders->prompts[i].name) > 0) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = &placeholders->prompts[i];
    }
    for (size_t i = 0; i < placeholders->prompt_count; i++) {
        add_text(&state, sorted[i]->name);
        add_text(&state, sorted[i]->text);
    }
    return sha256_read(&state);
}

enum err placeholders_expose(struct arena *arena, const struct placeholders_request *request,
                             const struct placeholders *placeholders, struct exposure *ret_exposure)
{
    const struct sha256_digest digest = hash_texts(placeholders);
    struct exposed_artifact *artifacts = arena_calloc(arena, ARTIFACTS_MAX, sizeof(*artifacts));
    struct exposure exposure = {
        .kind = EXPOSURE_KIND_PLACEHOLDERS,
        .arm = placeholders->arm,
        .artifacts = artifacts,
        .is_listed = true,
        .placeholders = {request->query.subcategory, placeholders->signals},
    };

    if (artifacts == NULL) {
        return ERR_MEMORY;
    }
    if (placeholders->signals != 0) {
        artifacts[exposure.artifact_count++] = (struct exposed_artifact){
            .seq = placeholders->fragments.seq, .version = placeholders->fragments.version};
    }
    if (placeholders->item_seq != 0) {
        artifacts[exposure.artifact_count++] =
            (struct exposed_artifact){.seq = placeholders->item_seq, .version = 1};
    }
    memcpy(exposure.text_hash, digest.bytes, EXPOSURE_TEXT_HASH_BYTES);
    *ret_exposure = exposure;
    return OK;
}
