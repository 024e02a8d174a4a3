/*
 * prompts.h: a prompt made of a template: the layout's examples and the caller's values in the places
 * of its tokens. A read: what was served is proved by the reference in the answer. `hint_examples` is
 * ours; every other token is the caller's, who says which values people, documents or models wrote:
 * those pass the sanitiser. Inserted text is not expanded again.
 */
#ifndef ERRATA_SERVER_DOMAIN_PROMPTS_PROMPTS_H
#define ERRATA_SERVER_DOMAIN_PROMPTS_PROMPTS_H

#include "server/domain/corrections/examples.h"
#include "server/domain/prompts/prompt_templates.h"

/* The longest prompt: a million tokens of a model, about. */
#define PROMPT_BYTES_MAX ((size_t)4 * 1024 * 1024)
/* Values in one map of a caller. */
#define PROMPT_VALUES_MAX 100

/* A value of a placeholder. */
struct prompt_value {
    struct slice name;
    struct slice text;
};

/* Values by name; of one that is given twice the last counts. */
struct prompt_values {
    const struct prompt_value *items;
    size_t count;
};

/* Parameters of a prompt. */
struct prompt_query {
    struct prompt_template_query
        stored; /* the stored template; with an empty name, the text below is used */
    struct slice template_text;
    struct prompt_values context; /* values that are sanitised */
    struct prompt_values trusted; /* values that are used unchanged */
    struct examples_query
        examples; /* an empty fingerprint: that of the document, where it has one */
};

/* A prompt that only has to be filled in. Lives in the arena, and borrows from the query and the
 * transaction. */
struct prompt {
    struct template template;
    const struct template_value *values; /* values in the order of the template's names */
    struct prompt_template stored; /* the stored template, if there is one */
    struct slice layout_fingerprint; /* the requested layout; empty: none */
    struct examples_found examples; /* the examples in the prompt */
    size_t bytes; /* size of the text */
    struct slice text; /* set by prompt_fill, together with the reference of the exposure */
    struct slice exposure_ref;
};

/* Names and values that a caller may not give, all at once. */
MUST_CHECK enum err prompt_check(struct ctx *ctx, const struct prompt_query *query);
/* Finds the template and the examples and sanitises what is used. ERR_NOT_FOUND without the template;
 * ERR_INVALID for a prompt over PROMPT_BYTES_MAX, even if sanitising would shorten it, with both sizes.
 * The query has passed the check. */
MUST_CHECK enum err prompt_prepare(struct ctx *ctx, struct store_txn *txn,
                                   const struct prompt_query *query, struct prompt *ret_prompt);
/* Returns whether a placeholder of the prompt's template has this name. */
bool prompt_uses(const struct prompt *prompt, struct slice name);
/* Fills a prompt again with examples that were served before, in the arena; `query->examples` is not used. Errors
 * as of prompt_prepare. */
MUST_CHECK enum err prompt_fill_again(struct ctx *ctx, struct store_txn *txn,
                                      const struct prompt_query *query,
                                      struct slice hint_examples_json, struct slice *ret_text);
/* Writes the text and its reference (none if the query has an as_of), in the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err prompt_fill(struct arena *arena, const struct prompt_query *query,
                                struct prompt *prompt);

#endif
