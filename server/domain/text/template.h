/*
 * template.h: texts with places for what is put in: the one template engine. It reads a template once
 * and fills it in one pass: a value is put in as it is and never read again, so text in it
 * stays text. It knows no names and no values; where they come from is the caller's.
 *
 *   template = *( token / any character )
 *   token    = "{{" *space name *space "}}"
 *   name     = 1*( A-Z / a-z / 0-9 / "_" )         case counts
 *   space    = U+0020
 *
 * It is read from its beginning: where a token begins, it is the token; else the character is text.
 * So `{{{A}}}` is `{`, the token A, `}`; `{{A{{B}}}}` is `{{A`, the token B, `}}`; `{{A}`, `{{}}`,
 * `{{A B}}` and `{{A-B}}` are text. A token without a value stays as it was written.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_TEMPLATE_H
#define ERRATA_SERVER_DOMAIN_TEXT_TEMPLATE_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* Different names in one template: far more than people write. Bounds what reading costs, since each
 * place looks for its name among them. */
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
/* Reads a template; what it finds lies in the arena. ERR_INVALID for more than TEMPLATE_NAMES_MAX
 * different names. */
MUST_CHECK enum err template_read(struct arena *arena, struct slice text,
                                  struct template *ret_template);
/* Returns the size of the filled template; `values` has one entry for each name. */
size_t template_filled_bytes(const struct template *template, const struct template_value *values);
/* Appends the filled template. Reserve the room first: then nothing is copied twice. */
void template_fill(const struct template *template, const struct template_value *values,
                   struct buffer *body);

#endif
