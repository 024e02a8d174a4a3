/*
 * prompts.h: calls for prompts and their templates, for tests.
 */
#ifndef ERRATA_TESTS_RPC_PROMPTS_H
#define ERRATA_TESTS_RPC_PROMPTS_H

#include "tests/rpc/fixture.h"

#define PUT "errata.v1.PromptService/PutPromptTemplate"
#define GET "errata.v1.PromptService/GetPromptTemplate"
#define LIST "errata.v1.PromptService/ListPromptTemplates"
#define PREPARE "errata.v1.PromptService/PreparePrompt"
#define SHIPPED "pdf_extract_text_v1"

typedef Errata__V1__PreparePromptRequest__ContextEntry context_entry;
typedef Errata__V1__PreparePromptRequest__TrustedContextEntry trusted_entry;

/* Casts a text for messages, whose texts are not const. */
static inline char *text_of(const char *text)
{
    return (char *)(uintptr_t)text;
}

static inline bool is_inside(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* Puts a version; returns the code, and the reply if it is OK and `ret` is not NULL. */
enum status_code prompts_put(struct fixture *fixture, const struct exchange_start *start,
                             const char *name, const char *text,
                             Errata__V1__PromptTemplate **ret_template);
/* Puts a template, and expects this version. */
void prompts_put_version(struct fixture *fixture, const char *token, const char *name,
                         const char *text, uint32_t version);
/* Returns a version, or the newest one for -1; NULL if there is none. */
Errata__V1__PromptTemplate *prompts_get(struct fixture *fixture, const char *token,
                                        const char *name, int64_t version);

/* Builds requests for a prompt from a text, or from a stored template. */
Errata__V1__PreparePromptRequest prompts_of_template(const char *text);
Errata__V1__PreparePromptRequest prompts_of_stored(const char *name);
void prompts_set_layout(Errata__V1__PreparePromptRequest *request, const char *layout);
void prompts_set_document(Errata__V1__PreparePromptRequest *request, const char *document_id);

/* Entries for one value in each map of a request. */
struct prompts_entries {
    context_entry context;
    context_entry *context_list[1];
    trusted_entry trusted;
    trusted_entry *trusted_list[1];
};

void prompts_set_context(Errata__V1__PreparePromptRequest *request, struct prompts_entries *entries,
                         const char *name, const char *value);
void prompts_set_trusted(Errata__V1__PreparePromptRequest *request, struct prompts_entries *entries,
                         const char *name, const char *value);

/* Returns the prompt; the call must succeed. */
Errata__V1__PreparePromptResponse *prompts_prepare(struct fixture *fixture, const char *token,
                                                   const Errata__V1__PreparePromptRequest *request);
/* Captures a correction of a layout, a second after the one before. */
Errata__V1__FeedbackEvent *prompts_capture(struct fixture *fixture, const char *token,
                                           const char *layout, const char *after, const char *meta);

#endif
