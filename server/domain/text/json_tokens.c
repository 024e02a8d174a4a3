/*
 * json_tokens.c: see json_tokens.h. White space and structure are single bytes, strings end at the
 * first quote that follows an even number of backslashes, and everything else runs up to the
 * next of those.
 */
#include "server/domain/text/json_tokens.h"

#include "store/base/json.h"

static bool is_white(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static bool is_structure(uint8_t byte)
{
    return byte == '{' || byte == '}' || byte == '[' || byte == ']' || byte == ',' || byte == ':';
}

static size_t skip_white(struct slice text, size_t at)
{
    while (at < text.size && is_white(text.data[at])) {
        at++;
    }
    return at;
}

static size_t scalar_bytes(struct slice text)
{
    size_t at = 0;

    while (at < text.size && !is_white(text.data[at]) && !is_structure(text.data[at])) {
        at++;
    }
    return at;
}

static enum json_token_kind structure_kind(uint8_t byte)
{
    if (byte == '{' || byte == '[') {
        return JSON_TOKEN_OPEN;
    }
    if (byte == '}' || byte == ']') {
        return JSON_TOKEN_CLOSE;
    }
    return byte == ',' ? JSON_TOKEN_COMMA : JSON_TOKEN_COLON;
}

bool json_tokens_next(struct json_tokens *tokens, struct json_token *ret_token)
{
    struct slice rest = slice_after(tokens->rest, skip_white(tokens->rest, 0));
    enum json_token_kind kind = JSON_TOKEN_SCALAR;
    size_t size = 1;

    if (rest.size == 0) {
        tokens->rest = rest;
        return false;
    }
    if (rest.data[0] == '"') {
        size_t next = 0;

        size = json_skip_value(rest, 0);
        next = skip_white(rest, size);
        kind = next < rest.size && rest.data[next] == ':' ? JSON_TOKEN_NAME : JSON_TOKEN_STRING;
    } else if (is_structure(rest.data[0])) {
        kind = structure_kind(rest.data[0]);
    } else {
        size = scalar_bytes(rest);
    }
    *ret_token = (struct json_token){kind, slice_of(rest.data, size)};
    tokens->rest = slice_after(rest, size);
    return true;
}

void json_tokens_skip_value(struct json_tokens *tokens)
{
    struct json_token token = {JSON_TOKEN_SCALAR, {NULL, 0}};
    size_t depth = 0;

    do {
        if (!json_tokens_next(tokens, &token)) {
            return;
        }
        if (token.kind == JSON_TOKEN_OPEN) {
            depth++;
        } else if (token.kind == JSON_TOKEN_CLOSE && depth > 0) {
            depth--;
        }
    } while (depth > 0);
}
