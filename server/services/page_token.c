/*
 * page_token.c: tokens of pages: base64url of the position and 16 bytes of a keyed hash.
 */
#include "server/services/page_token.h"

#include "server/services/env.h"

#define MAC_BYTES 16

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t page_size_of(int32_t page_size)
{
    return page_size <= 0 ? PAGE_SIZE_DEFAULT : (size_t)page_size;
}

enum err page_filter_of(const struct service *service, const ProtobufCMessage *filter,
                        struct sha256_digest *ret_filter)
{
    size_t size = protobuf_c_message_get_packed_size(filter);
    uint8_t *bytes = (uint8_t *)arena_alloc(service->ctx->arena, size + 1);

    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    *ret_filter = sha256(slice_of(bytes, protobuf_c_message_pack(filter, bytes)));
    return OK;
}

/* Hashed twice with the key, as HMAC does, so that no one can extend what was hashed. */
static struct sha256_digest mac_of(const struct service *service,
                                   const struct sha256_digest *filter, struct slice position)
{
    struct slice key = slice_of(service->env->page_token_key, ENV_PAGE_TOKEN_KEY_BYTES);
    const struct slice inner_pieces[] = {key,
                                         slice_of(service->principal->org.uuid.bytes, UUID_BYTES),
                                         slice_of(filter->bytes, SHA256_BYTES),
                                         service->method->path,
                                         slice_of("", 1),
                                         position};
    struct sha256_digest inner =
        sha256_pieces(inner_pieces, sizeof(inner_pieces) / sizeof(inner_pieces[0]));
    const struct slice outer_pieces[] = {key, slice_of(inner.bytes, SHA256_BYTES)};

    return sha256_pieces(outer_pieces, sizeof(outer_pieces) / sizeof(outer_pieces[0]));
}

/* Appends base64url without padding. */
static void put_base64url(struct buffer *buffer, struct slice bytes)
{
    uint32_t bits = 0;
    unsigned bit_count = 0;

    for (size_t i = 0; i < bytes.size; i++) {
        bits = bits << 8 | bytes.data[i];
        bit_count += 8;
        while (bit_count >= 6) {
            bit_count -= 6;
            buffer_append_byte(buffer, (uint8_t)alphabet[bits >> bit_count & 63]);
        }
    }
    if (bit_count > 0) {
        buffer_append_byte(buffer, (uint8_t)alphabet[bits << (6 - bit_count) & 63]);
    }
}

enum err page_token_write(const struct service *service, const struct sha256_digest *filter,
                          struct slice position, struct slice *ret_text)
{
    struct sha256_digest mac = mac_of(service, filter, position);
    uint8_t bytes[PAGE_POSITION_BYTES_MAX + MAC_BYTES];
    struct buffer text;

    if (position.size > PAGE_POSITION_BYTES_MAX) {
        return ERR_INTERNAL;
    }
    memcpy(bytes, mac.bytes, MAC_BYTES);
    memcpy(bytes + MAC_BYTES, position.data, position.size);
    buffer_init(&text, service->ctx->arena, 128);
    put_base64url(&text, slice_of(bytes, MAC_BYTES + position.size));
    buffer_append_byte(&text, 0); /* for protobuf-c; not counted */
    if (!buffer_ok(&text)) {
        return ERR_MEMORY;
    }
    *ret_text = slice_of(text.data, text.size - 1);
    return OK;
}

static int digit_of(uint8_t byte)
{
    const char *at = byte != 0 ? strchr(alphabet, byte) : NULL;

    return at != NULL ? (int)(at - alphabet) : -1;
}

/* Reads base64url; false for other characters, too long a text, or left-over bits. */
static bool read_base64url(struct slice text, uint8_t *bytes, size_t size, size_t *ret_size)
{
    uint32_t bits = 0;
    unsigned bit_count = 0;
    size_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        int digit = digit_of(text.data[i]);

        if (digit < 0) {
            return false;
        }
        bits = (bits << 6 | (uint32_t)digit) & 0xffff;
        bit_count += 6;
        if (bit_count < 8) {
            continue;
        }
        if (count == size) {
            return false;
        }
        bit_count -= 8;
        bytes[count++] = (uint8_t)(bits >> bit_count);
    }
    *ret_size = count;
    return bit_count < 6 && (bits & ((1u << bit_count) - 1)) == 0;
}

/* In constant time: how far a guess is right shows nowhere. */
static bool mac_equal(const uint8_t *a, const uint8_t *b)
{
    volatile uint8_t differences = 0;

    for (size_t i = 0; i < MAC_BYTES; i++) {
        differences = (uint8_t)(differences | (a[i] ^ b[i]));
    }
    return differences == 0;
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
    if (read_base64url(text, bytes, sizeof(bytes), &size) && size >= MAC_BYTES) {
        struct slice position = slice_of(bytes + MAC_BYTES, size - MAC_BYTES);
        struct sha256_digest mac = mac_of(service, filter, position);

        if (mac_equal(mac.bytes, bytes)) {
            return arena_copy(service->ctx->arena, position, ret_position) ? OK : ERR_MEMORY;
        }
    }
    fault_add(service->ctx->fault, SLICE("page_token"),
              "is not one that this server gave for this list; start again without it, and keep "
              "the filters the same from page to page");
    return ERR_INVALID;
}
