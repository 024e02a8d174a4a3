/*
 * package.c: SHA-512 by OpenSSL, gzip by zlib, and the few fields of tar that matter: a file's name
 * and size.
 */
#include "tools/mkmodel/pack/package.h"

#include "store/base/base64.h"

#include <openssl/evp.h>
#include <zlib.h>

/* A tar archive has blocks of 512 bytes: a head, then the content. */
#define TAR_BLOCK_BYTES 512
#define TAR_NAME_BYTES 100
#define TAR_SIZE_AT 124
#define TAR_SIZE_BYTES 12
/* Windows of zlib with a gzip head. */
#define GZIP_WINDOW (15 + 16)

enum err package_check(struct slice packed, struct slice sha512_base64, struct fault *fault)
{
    uint8_t hash[EVP_MAX_MD_SIZE];
    uint8_t text[BASE64_PADDED_BYTES(EVP_MAX_MD_SIZE)];
    unsigned size = 0;
    size_t length = 0;

    if (EVP_Digest(packed.data, packed.size, hash, &size, EVP_sha512(), NULL) != 1) {
        return fault_say(fault, ERR_INTERNAL, "OpenSSL computes no SHA-512");
    }
    length = base64_write(slice_of(hash, size), BASE64_STANDARD | BASE64_PADDED, text);
    if (!slice_equal(slice_of(text, length), sha512_base64)) {
        return fault_say(fault, ERR_INVALID, "package: SHA-512 is %.*s; expected %.*s", (int)length,
                         (const char *)text, (int)sha512_base64.size,
                         (const char *)sha512_base64.data);
    }
    return OK;
}

/* The last four bytes of a gzip file are the size of its content. */
static size_t read_unpacked_size(struct slice packed)
{
    const uint8_t *end = packed.data + packed.size;

    return (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
}

enum err package_unpack(struct arena *arena, struct slice packed, struct slice *ret_tar,
                        struct fault *fault)
{
    z_stream stream = {0};
    size_t size = packed.size < 18 ? 0 : read_unpacked_size(packed);
    uint8_t *tar = NULL;
    int result = 0;

    if (size == 0 || size > PACKAGE_BYTES_MAX || packed.size > PACKAGE_BYTES_MAX) {
        return fault_say(fault, ERR_INVALID, "package: not a gzip file of at most 64 MiB");
    }
    tar = (uint8_t *)arena_alloc(arena, size);
    if (tar == NULL || inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        return fault_say(fault, ERR_MEMORY, "no memory for the package");
    }
    stream.next_in = (Bytef *)packed.data;
    stream.avail_in = (uInt)packed.size;
    stream.next_out = tar;
    stream.avail_out = (uInt)size;
    result = inflate(&stream, Z_FINISH);
    (void)inflateEnd(&stream);
    if (result != Z_STREAM_END || stream.avail_out != 0) {
        return fault_say(fault, ERR_INVALID, "package: damaged gzip file");
    }
    *ret_tar = slice_of(tar, size);
    return OK;
}

/* Reads octal digits. */
static size_t read_size(const uint8_t *field)
{
    size_t size = 0;

    for (size_t i = 0; i < TAR_SIZE_BYTES && field[i] >= '0' && field[i] <= '7'; i++) {
        size = size * 8 + (size_t)(field[i] - '0');
    }
    return size;
}

bool package_find(struct slice tar, const char *name, struct slice *ret_content)
{
    while (tar.size >= TAR_BLOCK_BYTES && tar.data[0] != 0) {
        size_t length = strnlen((const char *)tar.data, TAR_NAME_BYTES);
        size_t size = read_size(tar.data + TAR_SIZE_AT);
        size_t blocks = (size + TAR_BLOCK_BYTES - 1) / TAR_BLOCK_BYTES * TAR_BLOCK_BYTES;

        if (size > tar.size - TAR_BLOCK_BYTES) {
            return false;
        }
        if (slice_equal(slice_of(tar.data, length), slice_text(name))) {
            *ret_content = slice_of(tar.data + TAR_BLOCK_BYTES, size);
            return true;
        }
        if (blocks > tar.size - TAR_BLOCK_BYTES) {
            return false;
        }
        tar = slice_after(tar, TAR_BLOCK_BYTES + blocks);
    }
    return false;
}
