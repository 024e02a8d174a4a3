/*
 * page_token.c: tokens of pages: base64url of 16 bytes of an HMAC and the position.
 */
#include "server/pipeline/page_token.h"

#include "server/pipeline/env.h"
#include "store/base/base64.h"
#include "store/base/hmac.h"

#define MAC_BYTES 16

static struct sha256_digest mac_of(const struct service *service,
                                   const struct sha256_digest *filter, struct slice position)
{
    const struct slice pieces[] = {slice_of(service->principal->org.uuid.bytes, UUID_BYTES),
                                   slice_of(filter->bytes, SHA256_BYTES), service->method->path,
                                   slice_of("", 1), position};
    struct hmac_key key;

    hmac_key_init(&key, slice_of(service->env->page_token_key, ENV_PAGE_TOKEN_KEY_BYTES));
    return hmac_sha256(&key, pieces, sizeof(pieces) / sizeof(pieces[0]));
}

enum err page_token_write(const struct service *service, const struct sha256_digest *filter,
                          struct slice position, struct slice *ret_text)
{
    struct sha256_digest mac = mac_of(service, filter, position);
    uint8_t bytes[PAGE_POSITION_BYTES_MAX + MAC_BYTES];
    uint8_t *text = NULL;
    size_t size = 0;

    if (position.size > PAGE_POSITION_BYTES_MAX) {
        return ERR_INTERNAL;
    }
    memcpy(bytes, mac.bytes, MAC_BYTES);
    memcpy(bytes + MAC_BYTES, position.data, position.size);
    text = arena_alloc(service->ctx->arena, BASE64_DIGITS(sizeof(bytes)) + 1);
    if (text == NULL) {
        return ERR_MEMORY;
    }
    size = base64_write(slice_of(bytes, MAC_BYTES + position.size), BASE64_URL, text);
    text[size] = 0; /* for protobuf-c; not counted */
    *ret_text = slice_of(text, size);
    return OK;
}

enum err page_token_read(const struct service *service, const struct sha256_digest *filter,
                         struct slice text, struct slice *ret_position)
{
    uint8_t bytes[PAGE_POSITION_BYTES_MAX + MAC_BYTES];
    size_t size = 0;

    *ret_position = slice_of(NULL, 0);
    if (text.size == 0) {
        return OK;
    }
    if (text.size <= BASE64_DIGITS(sizeof(bytes)) &&
        base64_read(text, BASE64_URL | BASE64_EXACT, bytes, &size) && size >= MAC_BYTES) {
        struct slice position = slice_of(bytes + MAC_BYTES, size - MAC_BYTES);
        struct sha256_digest mac = mac_of(service, filter, position);

        if (hmac_equal(mac.bytes, bytes, MAC_BYTES)) {
            return arena_copy(service->ctx->arena, position, ret_position) ? OK : ERR_MEMORY;
        }
    }
    fault_add(service->ctx->fault, SLICE("page_token"),
              "not a page token of this list and filter; expected the next_page_token of the "
              "previous page, or no value for the first page");
    return ERR_INVALID;
}
