/*
 * options.c: see options.h.
 */
#include "client/library/options.h"

#include "client/header.h"

#define KEY_BYTES_MAX 255

const struct method_info *library_method(const char *path)
{
    struct slice name = slice_text(path);
    char whole[LIBRARY_METHOD_BYTES_MAX + 1];
    const struct method_info *method = NULL;

    if (name.size > 0 && name.data[0] == '/') {
        name = slice_after(name, 1);
    }
    if (name.size == 0 || name.size >= sizeof(whole)) {
        return NULL;
    }
    whole[0] = '/';
    memcpy(whole + 1, name.data, name.size);
    method = contract_find_method(slice_of(whole, name.size + 1));
    return method != NULL && method->stream != METHOD_BIDI_STREAM ? method : NULL;
}

/* HTTP/2 peers refuse a field that begins or ends with a blank (RFC 9113, 8.2.1). */
static bool has_blank_end(struct slice text)
{
    return text.size > 0 && (text.data[0] == ' ' || text.data[text.size - 1] == ' ');
}

static bool read_metadata(const struct errata_metadata *given, bool has_token,
                          struct client_metadata *ret_metadata)
{
    struct client_metadata metadata = {slice_text(given->key),
                                       slice_of(given->value.data, given->value.size)};

    if (metadata.key.size > KEY_BYTES_MAX ||
        (metadata.value.data == NULL && metadata.value.size > 0) ||
        !client_metadata_valid(&metadata)) {
        return false;
    }
    if (slice_equal(metadata.key, SLICE("idempotency-key")) ||
        (has_token && slice_equal(metadata.key, SLICE("authorization"))) ||
        (!client_key_is_binary(metadata.key) && has_blank_end(metadata.value))) {
        return false;
    }
    *ret_metadata = metadata;
    return true;
}

static bool read_all_metadata(const struct errata_options *options, bool has_token,
                              struct library_options *ret)
{
    size_t left_bytes = ERRATA_METADATA_BYTES_MAX;

    if (options->metadata_count > ERRATA_METADATA_MAX ||
        (options->metadata == NULL && options->metadata_count > 0)) {
        return false;
    }
    for (size_t i = 0; i < options->metadata_count; i++) {
        size_t bytes = 0;

        if (!read_metadata(&options->metadata[i], has_token, &ret->metadata[i])) {
            return false;
        }
        bytes = ret->metadata[i].key.size + ret->metadata[i].value.size;
        if (bytes > left_bytes) {
            return false;
        }
        left_bytes -= bytes;
    }
    ret->lower.metadata_count = options->metadata_count;
    return true;
}

static bool read_key(const struct errata_options *options, struct library_options *ret)
{
    struct client_metadata metadata = {SLICE("idempotency-key"),
                                       slice_text(options->idempotency_key)};

    if (options->idempotency_key == NULL) {
        return true;
    }
    if (metadata.value.size == 0 || metadata.value.size > ERRATA_IDEMPOTENCY_KEY_BYTES_MAX ||
        has_blank_end(metadata.value) || !client_metadata_valid(&metadata)) {
        return false;
    }
    ret->metadata[ret->lower.metadata_count++] = metadata;
    return true;
}

bool library_options_read(const struct errata_options *options, bool has_token,
                          struct library_options *ret_options)
{
    static const struct errata_options none = {.timeout_ms = 0};
    const struct errata_options *given = options != NULL ? options : &none;

    *ret_options = (struct library_options){.lower = {.timeout_ms = given->timeout_ms,
                                                      .gzip = given->gzip,
                                                      .wait_for_ready = given->wait_for_ready,
                                                      .no_retry = given->no_retry}};
    ret_options->lower.metadata = ret_options->metadata;
    return given->timeout_ms >= -1 && read_all_metadata(given, has_token, ret_options) &&
           read_key(given, ret_options);
}
