/*
 * compat.c: see compat.h.
 */
#include "tests/suites/compat.h"

#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/base/wire.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define PREFIX_BYTES 4

/* Field numbers of connectrpc/conformance/v1/server_compat.proto. */
enum {
    REQUEST_USE_TLS = 4,
    REQUEST_CLIENT_CERT = 5,
    REQUEST_MESSAGE_BYTES_MAX = 6,
    REQUEST_CREDS = 7,
    CREDS_CERT = 1,
    CREDS_KEY = 2,
    RESPONSE_HOST = 1,
    RESPONSE_PORT = 2,
    RESPONSE_CERT = 3
};

static void read_creds(struct compat *compat, struct slice creds)
{
    struct wire_reader reader = wire_reader_of(creds);
    struct wire_field field;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == CREDS_CERT) {
            compat->cert = field.bytes;
        } else if (field.number == CREDS_KEY) {
            compat->key = field.bytes;
        }
    }
}

static void read_field(struct compat *compat, const struct wire_field *field)
{
    if (field->number == REQUEST_USE_TLS) {
        compat->use_tls = field->value != 0;
    } else if (field->number == REQUEST_CLIENT_CERT) {
        compat->client_ca = field->bytes;
    } else if (field->number == REQUEST_MESSAGE_BYTES_MAX) {
        compat->message_bytes_max = (size_t)field->value;
    } else if (field->number == REQUEST_CREDS) {
        read_creds(compat, field->bytes);
    }
}

bool compat_read(struct compat *ret_compat)
{
    struct wire_reader reader;
    struct wire_field field;
    uint32_t size = 0;

    memset(ret_compat, 0, sizeof(*ret_compat));
    if (fread(ret_compat->bytes, 1, PREFIX_BYTES, stdin) != PREFIX_BYTES) {
        return false;
    }
    size = bytes_get_be32(ret_compat->bytes);
    if (size > sizeof(ret_compat->bytes) || fread(ret_compat->bytes, 1, size, stdin) != size) {
        return false;
    }
    reader = wire_reader_of(slice_of(ret_compat->bytes, size));
    while (wire_next(&reader, &field) == OK) {
        read_field(ret_compat, &field);
    }
    return !ret_compat->use_tls || (ret_compat->cert.size > 0 && ret_compat->key.size > 0);
}

void compat_write(const struct compat *compat, uint32_t port)
{
    uint8_t prefix[PREFIX_BYTES];
    struct arena arena;
    struct buffer reply;

    arena_init(&arena, 2 * COMPAT_BYTES_MAX);
    buffer_init(&reply, &arena, 64 + compat->cert.size);
    wire_put_bytes(&reply, RESPONSE_HOST, SLICE("127.0.0.1"));
    wire_put_varint(&reply, RESPONSE_PORT, port);
    if (compat->use_tls) {
        wire_put_bytes(&reply, RESPONSE_CERT, compat->cert);
    }
    ASSERT(buffer_ok(&reply));
    bytes_put_be32(prefix, (uint32_t)reply.size);
    (void)fwrite(prefix, 1, sizeof(prefix), stdout);
    (void)fwrite(reply.data, 1, reply.size, stdout);
    arena_deinit(&arena);
}

bool compat_file(struct slice text, char *ret_path, size_t path_bytes)
{
    int fd = memfd_create("pem", MFD_CLOEXEC);

    if (fd < 0 || write(fd, text.data, text.size) != (ssize_t)text.size) {
        return false;
    }
    return snprintf(ret_path, path_bytes, "/proc/self/fd/%d", fd) < (int)path_bytes;
}
