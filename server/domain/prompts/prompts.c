/*
 * prompts.c: see prompts.h.
 */
#include "server/domain/prompts/prompts.h"

#include "server/domain/corrections/example_layout.h"
#include "server/domain/corrections/examples_removed.h"
#include "server/domain/text/sanitise.h"
#include "store/base/sha256.h"

/* The placeholder whose value the server provides. */
static struct slice hint_name(void)
{
    return SLICE("hint_examples");
}

/* Returns the last value of a name; NULL if there is none. */
static const struct prompt_value *find_value(const struct prompt_values *values, struct slice name)
{
    for (size_t i = values->count; i > 0; i--) {
        if (slice_equal(values->items[i - 1].name, name)) {
            return &values->items[i - 1];
        }
    }
    return NULL;
}

/* Reports invalid names in one map. */
static void check_names(struct fault *fault, const struct prompt_values *values, struct slice field)
{
    for (size_t i = 0; i < values->count; i++) {
        struct slice name = values->items[i].name;
        struct slice shown = fault_shorten(fault, name);

        if (!template_is_name(name)) {
            fault_add(fault, field, "invalid key '%.*s'; expected letters, digits and _",
                      (int)shown.size, (const char *)shown.data);
        } else if (slice_equal(name, hint_name())) {
            fault_add(fault, field,
                      "reserved key 'hint_examples'; expected another key, since the server sets "
                      "this one to the layout's examples");
        }
    }
}

enum err prompt_check(struct ctx *ctx, const struct prompt_query *query)
{
    struct fault *fault = ctx->fault;

    check_names(fault, &query->context, SLICE("context"));
    check_names(fault, &query->trusted, SLICE("trusted_context"));
    for (size_t i = 0; i < query->trusted.count; i++) {
        struct slice name = query->trusted.items[i].name;

        if (find_value(&query->context, name) != NULL) {
            struct slice shown = fault_shorten(fault, name);

            fault_add(fault, SLICE("trusted_context"),
                      "key '%.*s' is also in context; expected it in only one of the two",
                      (int)shown.size, (const char *)shown.data);
        }
    }
    return fault_result(fault);
}

static enum err find_template(struct ctx *ctx, struct store_txn *txn,
                              const struct prompt_query *query, struct prompt *prompt)
{
    struct slice text = query->template_text;
    enum err err = OK;

    if (query->stored.name.size > 0) {
        err = prompt_template_find(ctx, txn, &query->stored, &prompt->stored);
        if (err != OK) {
            return err;
        }
        text = prompt->stored.view.text;
    }
    err = template_read(ctx->arena, text, &prompt->template);
    if (err == ERR_INVALID) {
        fault_add(ctx->fault, SLICE("template"),
                  "too many different placeholders; expected at most %d", TEMPLATE_NAMES_MAX);
    }
    return err;
}

bool prompt_uses(const struct prompt *prompt, struct slice name)
{
    for (size_t i = 0; i < prompt->template.name_count; i++) {
        if (slice_equal(prompt->template.names[i], name)) {
            return true;
        }
    }
    return false;
}

/* Looks up the arm of the experiment, and the examples if the template has a placeholder for them. */
static enum err find_examples(struct ctx *ctx, struct store_txn *txn,
                              const struct prompt_query *query, struct prompt *prompt)
{
    struct examples_query examples = query->examples;
    enum err err = example_layout_find(txn, &examples);

    if (err != OK) {
        return err;
    }
    prompt->layout_fingerprint = examples.layout_fingerprint;
    if (!prompt_uses(prompt, hint_name())) {
        examples.layout_fingerprint = slice_of(NULL, 0);
    }
    err = examples_check_removed(ctx, txn, &examples);
    return err != OK ? err : examples_find(ctx->arena, txn, &examples, &prompt->examples);
}

/* Returns the value of one name, unchanged. */
static struct template_value find_one(const struct prompt_query *query, const struct prompt *prompt,
                                      struct slice name)
{
    const struct prompt_value *value = NULL;

    if (slice_equal(name, hint_name())) {
        return (struct template_value){true, prompt->examples.hint_examples_json};
    }
    value = find_value(&query->trusted, name);
    if (value == NULL) {
        value = find_value(&query->context, name);
    }
    return value != NULL ? (struct template_value){true, value->text}
                         : (struct template_value){false, {NULL, 0}};
}

static enum err check_size(struct ctx *ctx, const struct prompt *prompt,
                           const struct template_value *values)
{
    size_t bytes = template_filled_bytes(&prompt->template, values);

    if (bytes <= PROMPT_BYTES_MAX) {
        return OK;
    }
    return fault_say(ctx->fault, ERR_INVALID,
                     "context: the prompt would have %zu bytes; expected at most %zu, including "
                     "the template of %zu bytes and the values of its %zu placeholders",
                     bytes, PROMPT_BYTES_MAX, prompt->template.text.size,
                     prompt->template.place_count);
}

/* Sets the values; those of the context are sanitised, but only if the prompt is not too long. */
static enum err find_values(struct ctx *ctx, const struct prompt_query *query,
                            struct prompt *prompt)
{
    const struct slice *names = prompt->template.names;
    size_t count = prompt->template.name_count;
    struct template_value *values = arena_calloc(ctx->arena, count + 1, sizeof(*values));
    enum err err = OK;

    if (values == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = find_one(query, prompt, names[i]);
    }
    err = check_size(ctx, prompt, values);
    for (size_t i = 0; i < count && err == OK; i++) {
        if (find_value(&query->context, names[i]) != NULL) {
            err = sanitise_example(ctx->arena, values[i].text, &values[i].text);
        }
    }
    prompt->values = values;
    prompt->bytes = template_filled_bytes(&prompt->template, values);
    return err;
}

enum err prompt_prepare(struct ctx *ctx, struct store_txn *txn, const struct prompt_query *query,
                        struct prompt *ret_prompt)
{
    struct prompt prompt = {.bytes = 0};
    enum err err = find_template(ctx, txn, query, &prompt);

    if (err == OK) {
        err = find_examples(ctx, txn, query, &prompt);
    }
    if (err == OK) {
        err = find_values(ctx, query, &prompt);
    }
    if (err == OK) {
        *ret_prompt = prompt;
    }
    return err;
}

/* Builds the reference: the template, if it is stored, then the examples, and the hash of the
 * text. */
static enum err make_reference(struct arena *arena, const struct prompt_query *query,
                               struct prompt *prompt)
{
    struct exposed_artifact artifacts[1 + EXAMPLES_LIMIT_MAX];
    struct sha256_digest digest = sha256(prompt->text);
    struct exposure exposure = {
        .kind = EXPOSURE_KIND_PROMPT,
        .served_at_us = query->examples.now_us,
        .as_of_seq = prompt->examples.as_of_seq,
        .arm = prompt->examples.arm,
        .layout_ready = prompt->examples.layout_ready,
        .artifacts = artifacts,
        .is_listed = true,
        .documents = prompt->examples.documents,
    };

    if (prompt->stored.seq != 0) {
        artifacts[0] = (struct exposed_artifact){.seq = prompt->stored.seq,
                                                 .version = prompt->stored.view.version};
        exposure.artifact_count = 1;
    }
    for (size_t i = 0; i < prompt->examples.artifact_count; i++) {
        artifacts[exposure.artifact_count] = prompt->examples.artifacts[i];
        exposure.artifact_count++;
    }
    memcpy(exposure.text_hash, digest.bytes, EXPOSURE_TEXT_HASH_BYTES);
    return exposure_reference(arena, query->examples.exposure_key, query->examples.org, &exposure,
                              &prompt->exposure_ref);
}

static enum err fill(struct arena *arena, const struct prompt *prompt, struct slice *ret_text)
{
    struct buffer text;

    buffer_init(&text, arena, prompt->bytes);
    template_fill(&prompt->template, prompt->values, &text);
    *ret_text = buffer_slice(&text);
    return buffer_ok(&text) ? OK : ERR_MEMORY;
}

enum err prompt_fill_again(struct ctx *ctx, struct store_txn *txn, const struct prompt_query *query,
                           struct slice hint_examples_json, struct slice *ret_text)
{
    struct prompt prompt = {.examples = {.hint_examples_json = hint_examples_json}};
    enum err err = find_template(ctx, txn, query, &prompt);

    if (err == OK) {
        err = find_values(ctx, query, &prompt);
    }
    return err != OK ? err : fill(ctx->arena, &prompt, ret_text);
}

enum err prompt_fill(struct arena *arena, const struct prompt_query *query, struct prompt *prompt)
{
    enum err err = fill(arena, prompt, &prompt->text);

    if (err != OK) {
        return err;
    }
    return query->examples.has_as_of ? OK : make_reference(arena, query, prompt);
}
