/*
 * specs.c: see specs.h.
 */
#include "server/domain/reviews/specs.h"

#include "server/domain/text/case_fold.h"
#include "server/domain/text/sku.h"
#include "store/base/text.h"

#include <errata/v1/review.views.h>

struct spec {
    struct slice text;
    struct slice folded;
};

struct specs {
    struct spec *items;
    size_t count;
};

/* Returns the text without control characters and without white space at its ends, in the arena. */
static bool clean(struct arena *arena, struct slice text, struct slice *ret_text)
{
    struct buffer buffer;
    size_t at = 0;

    buffer_init(&buffer, arena, text.size);
    while (at < text.size) {
        size_t begin = at;
        struct slice character = {NULL, 0};

        (void)text_next(text, &at);
        character = slice_of(text.data + begin, at - begin);
        if (!text_has_control(character)) {
            buffer_append(&buffer, character);
        }
    }
    *ret_text = sku_trim(buffer_slice(&buffer));
    return buffer_ok(&buffer);
}

static bool is_too_long(struct slice text)
{
    return text_first_characters(text, REVIEW_SPEC_CHARACTERS_MAX).size < text.size;
}

/* Adds a text, or gives an earlier one its spelling. */
static void add(struct specs *specs, const struct spec *spec)
{
    for (size_t i = 0; i < specs->count; i++) {
        if (slice_equal(specs->items[i].folded, spec->folded)) {
            specs->items[i].text = spec->text;
            return;
        }
    }
    specs->items[specs->count++] = *spec;
}

static enum err read_one(struct ctx *ctx, struct slice field, struct slice text,
                         struct specs *specs)
{
    struct spec spec;
    enum err err = clean(ctx->arena, text, &spec.text) ? OK : ERR_MEMORY;

    if (err == OK) {
        err = case_fold(ctx->arena, spec.text, &spec.folded);
    }
    if (err != OK || spec.text.size == 0) {
        return err;
    }
    if (is_too_long(spec.text)) {
        fault_add(ctx->fault, field, "too long; expected at most %d characters",
                  REVIEW_SPEC_CHARACTERS_MAX);
        return OK;
    }
    add(specs, &spec);
    return OK;
}

enum err review_specs_normalise(struct ctx *ctx, struct slice path, char *const *texts,
                                size_t count, struct slice *ret_run)
{
    struct specs specs = {.items = arena_calloc(ctx->arena, count + 1, sizeof(*specs.items))};
    struct buffer run;
    enum err err = specs.items != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; i < count && err == OK; i++) {
        struct slice field = arena_printf(ctx->arena, "%.*s.missing_spec[%zu]", (int)path.size,
                                          (const char *)path.data, i);

        err = read_one(ctx, field, slice_text(texts[i]), &specs);
    }
    if (err != OK) {
        return err;
    }
    if (specs.count > REVIEW_SPECS_MAX) {
        fault_add(
            ctx->fault,
            arena_printf(ctx->arena, "%.*s.missing_spec", (int)path.size, (const char *)path.data),
            "%zu different fields; expected at most %d", specs.count, REVIEW_SPECS_MAX);
    }
    buffer_init(&run, ctx->arena, 0);
    for (size_t i = 0; i < specs.count; i++) {
        review_view_add_missing_spec(&run, specs.items[i].text);
    }
    *ret_run = buffer_slice(&run);
    return buffer_ok(&run) ? OK : ERR_MEMORY;
}
