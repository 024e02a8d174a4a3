/*
 * request.c: see request.h.
 */
#include "client/request.h"

#include "store/base/assert.h"
#include "store/base/base64.h"

#include <stdlib.h>

static void fields_add(struct client_request_fields *fields, struct slice name, struct slice value)
{
    ASSERT(fields->count < sizeof(fields->list) / sizeof(fields->list[0]));
    /* nghttp2 copies both; it only lacks the const. */
    fields->list[fields->count++] =
        (nghttp2_nv){(uint8_t *)(uintptr_t)name.data, (uint8_t *)(uintptr_t)value.data, name.size,
                     value.size, NGHTTP2_NV_FLAG_NONE};
}

static enum err fields_add_metadata(struct client_request_fields *fields, struct client_call *call,
                                    const struct client_metadata *metadata)
{
    uint8_t *text = NULL;

    if (!client_metadata_valid(metadata)) {
        return ERR_INVALID;
    }
    if (!client_key_is_binary(metadata->key)) {
        fields_add(fields, metadata->key, metadata->value);
        return OK;
    }
    text = arena_alloc(&call->arena, BASE64_DIGITS(metadata->value.size) + 1);
    if (text == NULL) {
        return ERR_MEMORY;
    }
    fields_add(fields, metadata->key,
               slice_of(text, base64_write(metadata->value, BASE64_STANDARD, text)));
    return OK;
}

enum err client_request_build(const struct client_session_config *config, struct client_call *call,
                              const struct client_options *options,
                              struct client_request_fields *fields)
{
    enum err err = OK;

    fields_add(fields, SLICE(":method"), SLICE("POST"));
    fields_add(fields, SLICE(":scheme"), config->secure ? SLICE("https") : SLICE("http"));
    fields_add(fields, SLICE(":path"), call->method->path);
    fields_add(fields, SLICE(":authority"), config->authority);
    fields_add(fields, SLICE("te"), SLICE("trailers"));
    fields_add(fields, SLICE("content-type"), SLICE("application/grpc"));
    fields_add(fields, SLICE("user-agent"), config->user_agent);
    if (options->timeout_ms > 0) {
        client_timeout_write(options->timeout_ms, fields->timeout);
        fields_add(fields, SLICE("grpc-timeout"), slice_text(fields->timeout));
    }
    if (options->gzip) {
        fields_add(fields, SLICE("grpc-encoding"), SLICE("gzip"));
        fields_add(fields, SLICE("grpc-accept-encoding"), SLICE("identity,gzip"));
    }
    if (config->token.size > 0) {
        fields_add(fields, SLICE("authorization"), config->token);
    }
    for (size_t i = 0; i < options->metadata_count && err == OK; i++) {
        err = fields_add_metadata(fields, call, &options->metadata[i]);
    }
    return err;
}

static uint8_t *bytes_place(uint8_t **at, const uint8_t *bytes, size_t size)
{
    uint8_t *placed = *at;

    if (size > 0) {
        memcpy(placed, bytes, size);
    }
    *at += size;
    return placed;
}

nghttp2_nv *client_request_keep(const struct client_request_fields *fields)
{
    size_t size = fields->count * sizeof(nghttp2_nv);
    nghttp2_nv *kept = NULL;
    uint8_t *at = NULL;

    for (size_t i = 0; i < fields->count; i++) {
        size += fields->list[i].namelen + fields->list[i].valuelen;
    }
    kept = malloc(size);
    if (kept == NULL) {
        return NULL;
    }
    at = (uint8_t *)(kept + fields->count);
    for (size_t i = 0; i < fields->count; i++) {
        kept[i] = fields->list[i];
        kept[i].name = bytes_place(&at, kept[i].name, kept[i].namelen);
        kept[i].value = bytes_place(&at, kept[i].value, kept[i].valuelen);
    }
    return kept;
}
