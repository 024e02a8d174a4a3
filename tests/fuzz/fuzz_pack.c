/*
 * fuzz_pack.c: any bytes as packed bytes, and as bytes to pack. Unpacking writes no more than it says and gives
 * the same again; what is packed unpacks to what it was, with the dictionary that it was packed with. The first
 * two bytes state how much of the rest is the dictionary.
 */
#include "store/base/assert.h"
#include "store/base/pack.h"
#include "tests/fuzz/fuzz.h"

#define ARENA_BYTES ((size_t)64 << 20)

/* A block of its own, so that a sanitizer sees a byte too many. */
static uint8_t *unpack(struct arena *arena, struct slice dictionary, struct slice packed,
                       size_t size)
{
    uint8_t *out = arena_alloc(arena, size > 0 ? size : 1);

    ASSERT(out != NULL);
    return pack_read(dictionary, packed, out) ? out : NULL;
}

static void try_packed(struct arena *arena, struct slice dictionary, struct slice packed)
{
    const uint8_t *once = NULL;
    const uint8_t *twice = NULL;
    size_t size = 0;

    if (!pack_read_size(packed, &size)) {
        return;
    }
    once = unpack(arena, dictionary, packed, size);
    twice = unpack(arena, dictionary, packed, size);
    ASSERT((once == NULL) == (twice == NULL));
    ASSERT(once == NULL || memcmp(once, twice, size) == 0);
}

static void try_bytes(struct arena *arena, struct slice dictionary, struct slice bytes)
{
    struct slice packed = {NULL, 0};
    const uint8_t *out = NULL;
    size_t size = 0;

    ASSERT(pack_write(arena, dictionary, bytes, &packed) == OK);
    ASSERT(pack_read_size(packed, &size));
    ASSERT(size == bytes.size);
    out = unpack(arena, dictionary, packed, size);
    ASSERT(out != NULL);
    ASSERT(size == 0 || memcmp(out, bytes.data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct slice dictionary = {NULL, 0};
    struct slice rest = {NULL, 0};
    size_t split = 0;

    if (size < 2 || size > PACK_BYTES_MAX) {
        return 0;
    }
    rest = slice_of(data + 2, size - 2);
    split = rest.size * ((size_t)data[0] << 8 | data[1]) / 65535;
    dictionary = slice_of(rest.data, split);
    rest = slice_after(rest, split);
    arena_init(&arena, ARENA_BYTES);
    try_packed(&arena, dictionary, rest);
    try_bytes(&arena, dictionary, rest);
    arena_deinit(&arena);
    return 0;
}
