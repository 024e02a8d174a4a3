/*
 * json_tokens.h: reads the tokens of a JSON text in order, for code that copies it with some
 * strings changed. It needs no stack: a string is a member's name if and only if a colon follows
 * it. The text must have passed json_check; nothing is checked or allocated here.
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

/* Reads the next token; returns false at the end. */
bool json_tokens_next(struct json_tokens *tokens, struct json_token *ret_token);
/* Skips one value including everything in it. */
void json_tokens_skip_value(struct json_tokens *tokens);

#endif
