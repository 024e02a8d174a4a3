/*
 * fuzz_template.c: any bytes as a template, with values that are made of the same pieces. What comes
 * out is what a second, naive reading makes of it, a byte at a time; its size is what was said; the
 * names are each once, in order; and the reader stops at its bounds. With an odd first byte the
 * input names pieces of a table, so that braces meet.
 */
#include "server/domain/text/template.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#define ARENA_BYTES ((size_t)64 << 20)
#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

static const char *const pieces[] = {"{",     "}",        "{{", "}}",   "A", "B",
                                     "{{A}}", "{{ B }}",  " ",  "_",    "-", "\xc3\xa4",
                                     "\n",    "{{none}}", "9",  "{{A{{"};

/* The values: as wild as the template. */
struct values {
    struct slice a;
    struct slice b;
};

static struct slice build(struct arena *arena, struct slice choices)
{
    struct buffer text;

    buffer_init(&text, arena, choices.size * 4);
    for (size_t i = 0; i < choices.size; i++) {
        buffer_append(&text, slice_text(pieces[choices.data[i] % COUNT_OF(pieces)]));
    }
    ASSERT(buffer_ok(&text));
    return buffer_slice(&text);
}

static struct template_value value_of(const struct values *values, struct slice name)
{
    if (slice_equal(name, SLICE("A"))) {
        return (struct template_value){true, values->a};
    }
    if (slice_equal(name, SLICE("B"))) {
        return (struct template_value){true, values->b};
    }
    return (struct template_value){false, {NULL, 0}};
}

/* Returns the length of the placeholder at the start of `text`, by the documented grammar; 0:
 * none. */
static size_t naive_token(struct slice text, struct slice *ret_name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    struct slice rest = text;
    size_t name = 0;

    if (!slice_starts_with(rest, SLICE("{{"))) {
        return 0;
    }
    rest = slice_after(rest, 2);
    while (slice_starts_with(rest, SLICE(" "))) {
        rest = slice_after(rest, 1);
    }
    while (name < rest.size && memchr(letters, rest.data[name], sizeof(letters) - 1) != NULL) {
        name++;
    }
    *ret_name = slice_of(rest.data, name);
    rest = slice_after(rest, name);
    while (slice_starts_with(rest, SLICE(" "))) {
        rest = slice_after(rest, 1);
    }
    return name > 0 && slice_starts_with(rest, SLICE("}}")) ? text.size - rest.size + 2 : 0;
}

/* Computes the expected text, and the names, each followed by NUL. */
static void naive_fill(struct slice text, const struct values *values, struct buffer *filled,
                       struct buffer *names)
{
    while (text.size > 0) {
        struct slice name = {NULL, 0};
        size_t token = naive_token(text, &name);
        struct template_value value = value_of(values, name);
        struct slice original = slice_of(text.data, token == 0 ? 1 : token);

        buffer_append(filled, token > 0 && value.given ? value.text : original);
        if (token > 0) {
            buffer_append(names, name);
            buffer_append_byte(names, 0);
        }
        text = slice_after(text, original.size);
    }
}

/* Each name of the template is new, and is in the naive list after the one before. */
static void check_names(const struct template *template, struct slice naive)
{
    size_t count = 0;

    while (naive.size > 0) {
        struct slice name = slice_text((const char *)naive.data);
        size_t i = 0;

        while (i < count && !slice_equal(template->names[i], name)) {
            i++;
        }
        if (i == count) {
            ASSERT(count < template->name_count && slice_equal(template->names[count], name));
            count++;
        }
        naive = slice_after(naive, name.size + 1);
    }
    ASSERT(count == template->name_count);
}

static void check(struct arena *arena, struct slice text, const struct values *values)
{
    struct template_value found[TEMPLATE_NAMES_MAX];
    struct template template;
    struct buffer filled;
    struct buffer naive;
    struct buffer names;
    size_t bytes = 0;

    if (template_read(arena, text, &template) != OK) {
        ASSERT(text.size > TEMPLATE_NAMES_MAX * sizeof("{{}}"));
        return;
    }
    ASSERT(template.name_count <= TEMPLATE_NAMES_MAX);
    for (size_t i = 0; i < template.name_count; i++) {
        found[i] = value_of(values, template.names[i]);
    }
    bytes = template_filled_bytes(&template, found);
    buffer_init(&filled, arena, bytes);
    template_fill(&template, found, &filled);
    buffer_init(&naive, arena, bytes);
    buffer_init(&names, arena, text.size);
    naive_fill(text, values, &naive, &names);
    ASSERT(buffer_ok(&filled) && buffer_ok(&naive) && buffer_ok(&names));
    ASSERT(filled.size == bytes);
    ASSERT(slice_equal(buffer_slice(&filled), buffer_slice(&naive)));
    check_names(&template, buffer_slice(&names));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    bool built = (fuzz_take_byte(&input) & 1) != 0;
    struct values values = {.a = fuzz_take_bytes(&input, fuzz_take_choice(&input, 16)),
                            .b = fuzz_take_bytes(&input, fuzz_take_choice(&input, 16))};
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    if (built) {
        values.a = build(&arena, values.a);
        values.b = build(&arena, values.b);
        check(&arena, build(&arena, input.rest), &values);
    } else {
        check(&arena, input.rest, &values);
    }
    arena_deinit(&arena);
    return 0;
}
