/*
 * header.c: see header.h. The tables are those of the gRPC documents named there.
 */
#include "client/header.h"

#include "store/base/base64.h"
#include "store/base/hex.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>

/* The greatest number that eight digits hold. */
#define TIMEOUT_VALUE_MAX 99999999

size_t client_percent_decode(struct slice text, uint8_t *bytes)
{
    size_t size = 0;

    for (size_t at = 0; at < text.size; at++) {
        if (text.data[at] == '%' && at + 2 < text.size) {
            int high = hex_value(text.data[at + 1]);
            int low = hex_value(text.data[at + 2]);

            if (high >= 0 && low >= 0) {
                bytes[size++] = (uint8_t)(high * 16 + low);
                at += 2;
                continue;
            }
        }
        bytes[size++] = text.data[at];
    }
    return size;
}

bool client_base64_decode(struct slice text, uint8_t *bytes, size_t *ret_size)
{
    while (text.size > 0 && text.data[text.size - 1] == '=') {
        text.size--;
    }
    return base64_read(text, BASE64_STANDARD, bytes, ret_size);
}

void client_timeout_write(int64_t timeout_ms, char text[CLIENT_TIMEOUT_BYTES])
{
    static const struct {
        int64_t ms;
        char unit;
    } units[] = {{1, 'm'}, {1000, 'S'}, {60000, 'M'}, {3600000, 'H'}};
    int64_t value = TIMEOUT_VALUE_MAX;
    char unit = 'H';

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        int64_t rounded = timeout_ms / units[i].ms + (timeout_ms % units[i].ms != 0);

        if (rounded <= TIMEOUT_VALUE_MAX) {
            value = rounded;
            unit = units[i].unit;
            break;
        }
    }
    (void)snprintf(text, CLIENT_TIMEOUT_BYTES, "%u%c", (unsigned)value % (TIMEOUT_VALUE_MAX + 1U),
                   unit);
}

bool client_code_read(struct slice text, uint32_t *ret_code)
{
    uint32_t code = 0;

    if (text.size == 0 || text.size > 9) {
        return false;
    }
    for (size_t at = 0; at < text.size; at++) {
        if (text.data[at] < '0' || text.data[at] > '9') {
            return false;
        }
        code = code * 10 + (uint32_t)(text.data[at] - '0');
    }
    *ret_code = code > CLIENT_CODE_UNAUTHENTICATED ? CLIENT_CODE_UNKNOWN : code;
    return true;
}

uint32_t client_code_of_http(int http_status)
{
    switch (http_status) {
    case 400:
        return CLIENT_CODE_INTERNAL;
    case 401:
        return CLIENT_CODE_UNAUTHENTICATED;
    case 403:
        return CLIENT_CODE_PERMISSION_DENIED;
    case 404:
        return CLIENT_CODE_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return CLIENT_CODE_UNAVAILABLE;
    default: /* other numbers are mapped to UNKNOWN */
        return CLIENT_CODE_UNKNOWN;
    }
}

uint32_t client_code_of_reset(uint32_t http2_error)
{
    switch (http2_error) {
    case NGHTTP2_REFUSED_STREAM:
        return CLIENT_CODE_UNAVAILABLE;
    case NGHTTP2_CANCEL:
        return CLIENT_CODE_CANCELLED;
    case NGHTTP2_ENHANCE_YOUR_CALM:
        return CLIENT_CODE_RESOURCE_EXHAUSTED;
    case NGHTTP2_INADEQUATE_SECURITY:
        return CLIENT_CODE_PERMISSION_DENIED;
    default: /* other numbers are mapped to INTERNAL */
        return CLIENT_CODE_INTERNAL;
    }
}

const char *client_code_name(uint32_t code)
{
    static const char *const names[] = {"OK",
                                        "CANCELLED",
                                        "UNKNOWN",
                                        "INVALID_ARGUMENT",
                                        "DEADLINE_EXCEEDED",
                                        "NOT_FOUND",
                                        "ALREADY_EXISTS",
                                        "PERMISSION_DENIED",
                                        "RESOURCE_EXHAUSTED",
                                        "FAILED_PRECONDITION",
                                        "ABORTED",
                                        "OUT_OF_RANGE",
                                        "UNIMPLEMENTED",
                                        "INTERNAL",
                                        "UNAVAILABLE",
                                        "DATA_LOSS",
                                        "UNAUTHENTICATED"};

    return code < sizeof(names) / sizeof(names[0]) ? names[code] : "UNKNOWN";
}

bool client_key_is_binary(struct slice key)
{
    return key.size > 4 && memcmp(key.data + key.size - 4, "-bin", 4) == 0;
}

static bool key_is_reserved(struct slice key)
{
    static const struct slice names[] = {SLICE("te"),
                                         SLICE("content-type"),
                                         SLICE("content-length"),
                                         SLICE("user-agent"),
                                         SLICE("host"),
                                         SLICE("connection"),
                                         SLICE("proxy-connection"),
                                         SLICE("transfer-encoding"),
                                         SLICE("upgrade"),
                                         SLICE("keep-alive")};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (slice_equal(key, names[i])) {
            return true;
        }
    }
    return slice_starts_with(key, SLICE("grpc-"));
}

bool client_metadata_valid(const struct client_metadata *metadata)
{
    struct slice key = metadata->key;

    if (key.size == 0 || key_is_reserved(key)) {
        return false;
    }
    for (size_t at = 0; at < key.size; at++) {
        uint8_t byte = key.data[at];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');

        if (!letter && byte != '-' && byte != '_' && byte != '.') {
            return false;
        }
    }
    for (size_t at = 0; at < metadata->value.size && !client_key_is_binary(key); at++) {
        if (metadata->value.data[at] < 0x20 || metadata->value.data[at] > 0x7e) {
            return false;
        }
    }
    return true;
}
