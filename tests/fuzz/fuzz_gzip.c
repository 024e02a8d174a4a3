/*
 * fuzz_gzip.c: any bytes as gzip, beside a reading of them by zlib in small steps: what is taken is
 * one member to its last byte, within the limit and with the same bytes; and what is inside the
 * limit costs memory in proportion to it, however much there would be. The first two bytes say the
 * limit, the third how: as they are; as the deflated inside of a member whose head, checksum and
 * length are right; or as plain bytes that are deflated here, and then cut, doubled or spoiled.
 */
#include "server/call/gzip.h"
#include "store/base/assert.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_input.h"

#include <zlib.h>

enum how {
    HOW_AS_IT_IS,
    HOW_INSIDE,
    HOW_PLAIN,
    HOW_COUNT
};

/* accepts only gzip, or only raw deflate, in zlib */
#define WINDOW_GZIP (15 + 16)
#define WINDOW_RAW (-15)
/* Limit of reading, above every tested limit. */
#define READ_BYTES_MAX ((size_t)200 * 1024)
#define MEMBER_HEAD_BYTES 10
#define MEMBER_TAIL_BYTES 8
/* Doubling keeps the pieces that were too small, and has room for one piece that is not full. */
#define ARENA_BYTES_OF(limit) (4 * (limit) + (size_t)64 * 1024)
#define WORK_BYTES ((size_t)16 << 20)

/* The result of zlib for some bytes. */
struct reading {
    struct buffer bytes; /* data of the first stream, at most READ_BYTES_MAX */
    bool whole; /* the stream ended, and nothing is after it */
    bool ended; /* the stream ended */
};

static struct reading read_slowly(struct arena *arena, struct slice packed, int window)
{
    struct reading reading = {0};
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed.data, .avail_in = (uInt)packed.size};
    uint8_t step[509];
    int code = Z_OK;

    buffer_init(&reading.bytes, arena, 0);
    ASSERT(inflateInit2(&stream, window) == Z_OK);
    while (code == Z_OK && reading.bytes.size < READ_BYTES_MAX) {
        stream.next_out = step;
        stream.avail_out = sizeof(step);
        code = inflate(&stream, Z_SYNC_FLUSH);
        buffer_append(&reading.bytes, slice_of(step, sizeof(step) - stream.avail_out));
    }
    reading.ended = code == Z_STREAM_END;
    reading.whole = reading.ended && stream.avail_in == 0;
    ASSERT(buffer_ok(&reading.bytes));
    (void)inflateEnd(&stream);
    return reading;
}

/* Inflates, and compares the result with zlib's. */
static void check(struct arena *work, struct slice packed, size_t limit)
{
    struct reading reading = read_slowly(work, packed, WINDOW_GZIP);
    struct slice bytes = {NULL, 0};
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, ARENA_BYTES_OF(limit));
    err = gzip_inflate(&arena, packed, limit, NULL, &bytes);
    ASSERT(err == OK || err == ERR_MALFORMED || err == ERR_TOO_LARGE);
    ASSERT((err == OK) == (reading.whole && reading.bytes.size <= limit));
    ASSERT(err != ERR_TOO_LARGE || reading.bytes.size > limit);
    ASSERT(err != OK || slice_equal(bytes, buffer_slice(&reading.bytes)));
    arena_deinit(&arena);
}

static void put_le32(struct buffer *buffer, size_t number)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        buffer_append_byte(buffer, (uint8_t)(number >> shift));
    }
}

/* A member around deflated bytes, right where they are. */
static struct slice make_member(struct arena *work, struct slice inside)
{
    static const uint8_t head[MEMBER_HEAD_BYTES] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    struct reading reading = read_slowly(work, inside, WINDOW_RAW);
    struct buffer member;

    buffer_init(&member, work, sizeof(head) + inside.size + MEMBER_TAIL_BYTES);
    buffer_append(&member, slice_of(head, sizeof(head)));
    buffer_append(&member, inside);
    put_le32(&member, crc32(0, reading.bytes.data, (uInt)reading.bytes.size));
    put_le32(&member, reading.bytes.size);
    return buffer_slice(&member);
}

/* Compressed data is decompressed correctly with a limit of its size, but not with a smaller limit;
 * a truncated stream, two streams, or a trailing byte is refused. */
static void check_plain(struct arena *work, struct fuzz_input *input, size_t limit)
{
    size_t cut = fuzz_take_number(input, 2);
    struct slice plain = input->rest;
    struct slice packed;
    struct slice again = {NULL, 0};
    struct buffer buffer;

    buffer_init(&buffer, work, 0);
    ASSERT(gzip_deflate(plain, &buffer) == OK);
    packed = buffer_slice(&buffer);
    ASSERT(gzip_inflate(work, packed, plain.size, NULL, &again) == OK);
    ASSERT(slice_equal(again, plain));
    ASSERT(plain.size == 0 ||
           gzip_inflate(work, packed, plain.size - 1, NULL, &again) == ERR_TOO_LARGE);
    cut %= packed.size;
    ASSERT(gzip_inflate(work, slice_of(packed.data, cut), plain.size, NULL, &again) ==
           ERR_MALFORMED);
    check(work, slice_of(packed.data, cut), limit);
    buffer_append(&buffer, slice_of(buffer.data, cut + 1));
    ASSERT(gzip_inflate(work, buffer_slice(&buffer), plain.size, NULL, &again) == ERR_MALFORMED);
    check(work, buffer_slice(&buffer), limit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    size_t limit = fuzz_take_number(&input, 2);
    enum how how = (enum how)fuzz_take_choice(&input, HOW_COUNT);
    struct arena work;

    arena_init(&work, WORK_BYTES);
    switch (how) {
    case HOW_AS_IT_IS:
        check(&work, input.rest, limit);
        break;
    case HOW_INSIDE:
        check(&work, make_member(&work, input.rest), limit);
        break;
    case HOW_PLAIN:
        check_plain(&work, &input, limit);
        break;
    case HOW_COUNT:
        break;
    }
    arena_deinit(&work);
    return 0;
}
