/*
 * page_token.c: tokens of pages: base64url of the position and 16 bytes of a keyed hash.
 */
#include "server/pipeline/page_token.h"

#include "server/pipeline/env.h"
#include "store/base/assert.h"
#include "store/base/base64.h"
#include "store/base/wire.h"

#define MAC_BYTES 16

size_t page_size_of(int32_t page_size)
{
    if (page_size <= 0) {
        return PAGE_SIZE_DEFAULT;
    }
    return page_size < PAGE_SIZE_MAX ? (size_t)page_size : PAGE_SIZE_MAX;
}

/* Where a List request has one of the fields of its page. */
static void *page_field(ProtobufCMessage *request, const char *name)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(request->descriptor, name);

    ASSERT(field != NULL);
    return (uint8_t *)request + field->offset;
}

/* The request without what differs from page to page. NULL where there is no memory. */
static ProtobufCMessage *copy_filter(struct arena *arena, const ProtobufCMessage *request)
{
    ProtobufCMessage *filter = arena_alloc(arena, request->descriptor->sizeof_message);

    if (filter != NULL) {
        memcpy(filter, request, request->descriptor->sizeof_message);
        *(int32_t *)page_field(filter, "page_size") = 0;
        *(char **)page_field(filter, "page_token") = (char *)protobuf_c_empty_string;
    }
    return filter;
}

enum err page_filter_of(const struct service *service, const ProtobufCMessage *request,
                        struct sha256_digest *ret_filter)
{
    const ProtobufCMessage *filter = copy_filter(service->ctx->arena, request);
    size_t size = filter != NULL ? protobuf_c_message_get_packed_size(filter) : 0;
    uint8_t *bytes = (uint8_t *)arena_alloc(service->ctx->arena, size + 1);

    if (filter == NULL || bytes == NULL) {
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
    if (text.size <= BASE64_DIGITS(sizeof(bytes)) &&
        base64_read(text, BASE64_URL | BASE64_EXACT, bytes, &size) && size >= MAC_BYTES) {
        struct slice position = slice_of(bytes + MAC_BYTES, size - MAC_BYTES);
        struct sha256_digest mac = mac_of(service, filter, position);

        if (mac_equal(mac.bytes, bytes)) {
            return arena_copy(service->ctx->arena, position, ret_position) ? OK : ERR_MEMORY;
        }
    }
    fault_add(service->ctx->fault, SLICE("page_token"),
              "not a token of this list and filter; expected the next_page_token of the previous "
              "page, or none for the first page");
    return ERR_INVALID;
}

enum err page_token_begin(const struct service *service, const ProtobufCMessage *request,
                          const char *page_token, struct sha256_digest *ret_filter,
                          struct slice *ret_after)
{
    enum err err = page_filter_of(service, request, ret_filter);

    return err != OK ? err
                     : page_token_read(service, ret_filter, slice_text(page_token), ret_after);
}

enum err page_token_append(const struct service *service, const struct sha256_digest *filter,
                           const struct key *last, uint32_t field, struct buffer *body)
{
    struct slice text = {NULL, 0};
    enum err err = page_token_write(service, filter, key_slice(last), &text);

    if (err != OK) {
        return err;
    }
    wire_put_bytes(body, field, text);
    return buffer_ok(body) ? OK : ERR_MEMORY;
}
