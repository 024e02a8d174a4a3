/*
 * json_tokens.h: a flat walk over the tokens of a JSON text, for those who write it again with some
 * of its strings changed. It needs no stack: a string is a member's name exactly where a colon
 * follows it. Takes only text that json_check let pass; checks nothing itself and allocates nothing.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_JSON_TOKENS_H
#define ERRATA_SERVER_DOMAIN_TEXT_JSON_TOKENS_H

#include "store/base/slice.h"

enum json_token_kind {
    JSON_TOKEN_OPEN, /* { or [ */
    JSON_TOKEN_CLOSE, /* } or ] */
    JSON_TOKEN_COMMA,
    JSON_TOKEN_COLON,
    JSON_TOKEN_NAME, /* a member's name, with its quotes */
    JSON_TOKEN_STRING, /* a string other than a name, with its quotes */
    JSON_TOKEN_SCALAR /* a number, true, false, null */
};

struct json_token {
    enum json_token_kind kind;
    struct slice text; /* text as written; borrowed from the walked text */
};

/* The position of a walk. */
struct json_tokens {
    struct slice rest;
};

static inline struct json_tokens json_tokens_of(struct slice text)
{
    return (struct json_tokens){text};
}

/* The next token; false at the end. */
bool json_tokens_next(struct json_tokens *tokens, struct json_token *ret_token);
/* Passes over one whole value, with all that is in it. */
void json_tokens_skip_value(struct json_tokens *tokens);

#endif
