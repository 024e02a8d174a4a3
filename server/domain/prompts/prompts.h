/*
 * prompts.h: renders a prompt from a template: replaces its placeholders by the layout's examples
 * and the caller's values. Writes nothing: the reference in the response proves what was served.
 * The server provides the value of `hint_examples`, the caller those of all other placeholders. The
 * caller specifies which values were written by people, documents or models; these are sanitised.
 * Inserted text is not expanded again.
 */
#ifndef ERRATA_SERVER_DOMAIN_PROMPTS_PROMPTS_H
#define ERRATA_SERVER_DOMAIN_PROMPTS_PROMPTS_H

#include "server/domain/corrections/examples.h"
#include "server/domain/prompts/prompt_templates.h"

/* Maximum bytes of a prompt: about a million tokens of a model. */
#define PROMPT_BYTES_MAX ((size_t)4 * 1024 * 1024)
/* Maximum values in one map of a request. */
#define PROMPT_VALUES_MAX 100

/* A value of a placeholder. */
struct prompt_value {
    struct slice name;
    struct slice text;
};

/* Values by name; if a name occurs twice, the last value is used. */
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
        examples; /* if the fingerprint is empty, the document's is used, if it has one */
};

/* A prompt with all values known. In the arena; borrows from the query and the transaction. */
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

/* Adds all invalid names and values of a request to the fault. */
MUST_CHECK enum err prompt_check(struct ctx *ctx, const struct prompt_query *query);
/* Finds the template and the examples, and sanitises the values that are used. ERR_NOT_FOUND if the
 * template does not exist; ERR_INVALID for a prompt over PROMPT_BYTES_MAX, even if sanitising would
 * shorten it, with both sizes. The query must have passed prompt_check. */
MUST_CHECK enum err prompt_prepare(struct ctx *ctx, struct store_txn *txn,
                                   const struct prompt_query *query, struct prompt *ret_prompt);
/* Returns whether a placeholder of the prompt's template has this name. */
bool prompt_uses(const struct prompt *prompt, struct slice name);
/* Renders a prompt again with examples that were served before, in the arena; `query->examples` is
 * not used. Same errors as prompt_prepare. */
MUST_CHECK enum err prompt_fill_again(struct ctx *ctx, struct store_txn *txn,
                                      const struct prompt_query *query,
                                      struct slice hint_examples_json, struct slice *ret_text);
/* Writes the text and its reference (none if the query has an as_of), in the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err prompt_fill(struct arena *arena, const struct prompt_query *query,
                                struct prompt *prompt);

#endif
