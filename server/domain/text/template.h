/*
 * template.h: the template engine: texts with placeholders. Reads a template once and fills it in
 * one pass: a value is inserted unchanged and is not expanded again. Names and values are supplied
 * by the caller.
 *
 *   template = *( token / any character )
 *   token    = "{{" *space name *space "}}"
 *   name = 1*( A-Z / a-z / 0-9 / "_" ) case-sensitive
 *   space    = U+0020
 *
 * It is read from its beginning, at each position as a token if one matches, otherwise as a
 * character of text. So `{{{A}}}` is `{`, the token A, `}`; `{{A{{B}}}}` is `{{A`, the token B,
 * `}}`; `{{A}`, `{{}}`, `{{A B}}` and `{{A-B}}` are text. A token without a value is kept unchanged.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_TEMPLATE_H
#define ERRATA_SERVER_DOMAIN_TEXT_TEMPLATE_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* Maximum distinct names in one template, far more than people write. Bounds the cost of reading,
 * since each placeholder searches them for its name. */
#define TEMPLATE_NAMES_MAX 256

/* A placeholder and its position. */
struct template_place {
    size_t begin; /* offset of `{{` */
    size_t end; /* offset after `}}` */
    uint32_t name; /* index in the template's names */
};

/* A template that was read. The text and all slices are borrowed from it. */
struct template
{
    struct slice text;
    const struct slice *names; /* distinct names, in the order of their first occurrence */
    size_t name_count;
    const struct template_place *places;
    size_t place_count;
};

/* The value of a name. */
struct template_value {
    bool given; /* false: the placeholder is kept */
    struct slice text;
};

/* Returns whether a text is a valid name of a placeholder. */
bool template_is_name(struct slice text);
/* Reads a template; its names and placeholders are in the arena. ERR_INVALID for more than
 * TEMPLATE_NAMES_MAX different names. */
MUST_CHECK enum err template_read(struct arena *arena, struct slice text,
                                  struct template *ret_template);
/* Returns the size of the filled template; `values` has one entry for each name. */
size_t template_filled_bytes(const struct template *template, const struct template_value *values);
/* Appends the filled template. Reserve the room first, so that nothing is copied twice. */
void template_fill(const struct template *template, const struct template_value *values,
                   struct buffer *body);

#endif
