/*
 * prompt_templates.h: an organisation's prompt templates: each version is one event that never
 * changes, EVENT_PROMPT_TEMPLATE_PUT, whose facts and content together are a PromptTemplate. The
 * server ships one template, which every organisation has as version 0 of its name. Retention does
 * not remove them. The syntax of templates is documented in server/domain/text/template.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_PROMPTS_PROMPT_TEMPLATES_H
#define ERRATA_SERVER_DOMAIN_PROMPTS_PROMPT_TEMPLATES_H

#include "server/domain/text/template.h"
#include "store/log.h"
#include "store/page.h"

#include <errata/v1/prompt_template.views.h>

/* The template to store, after prompt_template_prepare has checked it. */
struct prompt_template_draft {
    struct slice name;
    struct slice text;
    struct slice comment; /* comment; may be empty */
    struct slice actor_user_id;
    bool by_program; /* stored by a program: a token without a user */
    struct template read; /* the text */
};

/* Reads the draft's text. ERR_INVALID, with the field, for more names than a template may have. */
MUST_CHECK enum err prompt_template_prepare(struct ctx *ctx, struct prompt_template_draft *draft);
/* Appends the next version of its name and applies it. */
MUST_CHECK enum err prompt_template_put(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                        const struct prompt_template_draft *draft,
                                        uint64_t *ret_seq);

/* The requested version of a template. */
struct prompt_template_query {
    struct org_id org;
    struct slice name;
    bool has_version; /* false: the newest version */
    uint32_t version;
    uint64_t as_of_seq; /* newest version after this event; UINT64_MAX: now */
};

/* A version that was found. Its slices are borrowed from the transaction, or are literals. */
struct prompt_template {
    uint64_t seq; /* number of its event; 0: it ships with the server */
    struct prompt_template_view view; /* version 0 ships with the server */
};

/* Finds a version. ERR_NOT_FOUND with a message that lists the existing versions. Allocated values
 * are in the arena. */
MUST_CHECK enum err prompt_template_find(struct ctx *ctx, struct store_txn *txn,
                                         const struct prompt_template_query *query,
                                         struct prompt_template *ret_template);

/* Reads the template of an EVENT_PROMPT_TEMPLATE_PUT, borrowed from it. ERR_CORRUPT for another
 * event. */
MUST_CHECK enum err prompt_template_of_event(const struct event *event,
                                             struct prompt_template *ret_template);

/* A list of all versions of one name, newest first; or of the newest version of each name, sorted
 * by the first KEY_NAME_BYTES of the names. */
struct prompt_template_list {
    struct org_id org;
    struct slice name; /* empty: the newest version of each name */
    struct page *page;
    /* State while the list is read: */
    struct key shipped; /* the position of the shipped template, which has no row */
    bool
        shipped_due; /* the shipped template is not listed yet, and no stored version replaces it */
    struct key at; /* the position of the last item; empty: the beginning of the list */
};

void prompt_template_list_begin(struct prompt_template_list *list);
/* Returns the next template, without its text; borrowed from the transaction, or in the arena.
 * ERR_NOT_FOUND at the end of the page. */
MUST_CHECK enum err prompt_template_list_next(struct ctx *ctx, struct store_txn *txn,
                                              struct prompt_template_list *list,
                                              struct prompt_template_view *ret_template);

#endif
