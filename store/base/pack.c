/*
 * pack.c: compresses in one pass: the last position of each four bytes is found by their hash; if
 * the bytes are equal, the match is extended in both directions. Without matches the steps become
 * longer, so text without repetitions costs little.
 */
#include "store/base/pack.h"

#include "store/base/assert.h"

#define MATCH_MIN 4
/* The largest count that fits into four bits; it means that a varint follows. */
#define COUNT_MORE 15
/* The table of positions is cleared for each use, so a small input gets a small table. */
#define HASH_BITS_MAX 12
#define HASH_BITS_FEW 9
#define FEW_BYTES 1024
/* Number of consecutive misses after which the step grows by one byte. */
#define MISSES_A_STEP 32
#define VARINT_BYTES_MAX 10

/* Copies are counted from the front of the dictionary, as if the bytes followed it. */
struct packer {
    struct slice dictionary;
    struct slice bytes;
    uint8_t *out;
    size_t out_size;
    unsigned hash_bits;
    uint32_t places[1 << HASH_BITS_MAX]; /* last position plus 1, indexed by hash; 0: none */
};

/* A repetition: `size` bytes at `from` that equal those at `at` of the bytes. */
struct match {
    size_t from;
    size_t at;
    size_t size;
};

static uint32_t read_four(const uint8_t *at)
{
    uint32_t four = 0;

    memcpy(&four, at, sizeof(four));
    return four;
}

static uint32_t hash_of(const struct packer *packer, uint32_t four)
{
    return (four * UINT32_C(2654435761)) >>
           (32 -
            packer
                ->hash_bits); /* multiplicative hash (Knuth, 6.4): 2^32 divided by the golden ratio */
}

static size_t put_varint(uint8_t *at, uint64_t value)
{
    size_t size = 0;

    for (; value >= 0x80; value >>= 7) {
        at[size++] = (uint8_t)(value | 0x80);
    }
    at[size++] = (uint8_t)value;
    return size;
}

static uint8_t half_of(size_t count)
{
    return (uint8_t)(count < COUNT_MORE ? count : COUNT_MORE);
}

static void put_rest(struct packer *packer, size_t count)
{
    if (count >= COUNT_MORE) {
        packer->out_size += put_varint(packer->out + packer->out_size, count - COUNT_MORE);
    }
}

/* Writes the literal bytes up to the match, then the match; a match of no bytes ends the stream. */
static void put_sequence(struct packer *packer, size_t literal_at, const struct match *match)
{
    size_t literals = match->at - literal_at;
    size_t more = match->size > 0 ? match->size - MATCH_MIN : 0;

    packer->out[packer->out_size++] = (uint8_t)(half_of(literals) << 4 | half_of(more));
    put_rest(packer, literals);
    if (literals > 0) {
        memcpy(packer->out + packer->out_size, packer->bytes.data + literal_at, literals);
        packer->out_size += literals;
    }
    if (match->size > 0) {
        packer->out_size += put_varint(packer->out + packer->out_size,
                                       packer->dictionary.size + match->at - match->from);
        put_rest(packer, more);
    }
}

/* Returns how many bytes are equal at both, up to `limit`. */
static size_t count_same(const uint8_t *a, const uint8_t *b, size_t limit)
{
    size_t size = 0;

    while (size + sizeof(uint64_t) <= limit) {
        uint64_t left = 0;
        uint64_t right = 0;

        memcpy(&left, a + size, sizeof(left));
        memcpy(&right, b + size, sizeof(right));
        if (left != right) {
            break;
        }
        size += sizeof(uint64_t);
    }
    while (size < limit && a[size] == b[size]) {
        size++;
    }
    return size;
}

/* Returns the longest match of the bytes at `at` with an earlier position; size 0: none. */
static struct match extend_match(const struct packer *packer, size_t from, size_t at,
                                 size_t literal_at)
{
    size_t dictionary = packer->dictionary.size;
    bool in_dictionary = from < dictionary;
    size_t start =
        in_dictionary ? from : from - dictionary; /* offset in the dictionary or in the text */
    const uint8_t *base = in_dictionary ? packer->dictionary.data : packer->bytes.data;
    size_t limit = packer->bytes.size - at;
    struct match match = {from, at, 0};

    if (in_dictionary && dictionary - from < limit) {
        limit = dictionary - from;
    }
    match.size = count_same(base + start, packer->bytes.data + at, limit);
    if (match.size < MATCH_MIN) {
        match.size = 0;
        return match;
    }
    while (start > 0 && match.at > literal_at &&
           base[start - 1] == packer->bytes.data[match.at - 1]) {
        start--;
        match.from--;
        match.at--;
        match.size++;
    }
    return match;
}

/* Records a position, and returns the previous one with the same hash plus 1; 0: none. */
static uint32_t visit(struct packer *packer, const uint8_t *at, size_t place)
{
    uint32_t *slot = &packer->places[hash_of(packer, read_four(at))];
    uint32_t before = *slot;

    *slot = (uint32_t)place + 1;
    return before;
}

static void pack(struct packer *packer)
{
    size_t dictionary = packer->dictionary.size;
    size_t literal_at = 0;
    size_t misses = 0;
    struct match end = {0, packer->bytes.size, 0};

    for (size_t at = 0; at + MATCH_MIN <= dictionary; at++) {
        (void)visit(packer, packer->dictionary.data + at, at);
    }
    for (size_t at = 0; at + MATCH_MIN <= packer->bytes.size;) {
        uint32_t before = visit(packer, packer->bytes.data + at, dictionary + at);
        struct match match = {0, at, 0};

        if (before > 0) {
            match = extend_match(packer, before - 1, at, literal_at);
        }
        if (match.size == 0) {
            misses++;
            at += 1 + misses / MISSES_A_STEP;
            continue;
        }
        put_sequence(packer, literal_at, &match);
        misses = 0;
        at = match.at + match.size;
        literal_at = at;
    }
    if (literal_at < packer->bytes.size) {
        put_sequence(packer, literal_at, &end);
    }
}

/* A sequence needs at most 3 bytes more than its literal bytes and its copy have; with fewer than
 * 19 of both it needs no more. */
static size_t packed_bytes_max(size_t size)
{
    return VARINT_BYTES_MAX + 16 + size + size / 4;
}

enum err pack_write(struct arena *arena, struct slice dictionary, struct slice bytes,
                    struct slice *ret_packed)
{
    struct packer packer;

    if (dictionary.size > PACK_BYTES_MAX || bytes.size > PACK_BYTES_MAX) {
        return ERR_INVALID;
    }
    packer.dictionary = dictionary;
    packer.bytes = bytes;
    packer.hash_bits = dictionary.size + bytes.size <= FEW_BYTES ? HASH_BITS_FEW : HASH_BITS_MAX;
    memset(packer.places, 0, sizeof(packer.places[0]) << packer.hash_bits);
    packer.out = arena_alloc(arena, packed_bytes_max(bytes.size));
    if (packer.out == NULL) {
        return ERR_MEMORY;
    }
    packer.out_size = put_varint(packer.out, bytes.size);
    pack(&packer);
    ASSERT(packer.out_size <= packed_bytes_max(bytes.size));
    *ret_packed = slice_of(packer.out, packer.out_size);
    return OK;
}

/* Reads a number below 2^28, which covers PACK_BYTES_MAX. */
static bool take_varint(struct slice *rest, size_t *ret_value)
{
    size_t value = 0;

    for (size_t i = 0; i < rest->size && i < 4; i++) {
        value |= (size_t)(rest->data[i] & 0x7f) << (7 * i);
        if (rest->data[i] < 0x80) {
            *rest = slice_after(*rest, i + 1);
            *ret_value = value;
            return true;
        }
    }
    return false;
}

static bool take_rest(struct slice *rest, size_t *count)
{
    size_t more = 0;

    if (*count == COUNT_MORE) {
        if (!take_varint(rest, &more)) {
            return false;
        }
        *count += more;
    }
    return true;
}

/* State of unpacking. */
struct unpacker {
    struct slice dictionary;
    struct slice rest; /* packed bytes that have not been read */
    uint8_t *out;
    size_t at; /* bytes written */
    size_t size; /* total size */
};

static bool copy_literals(struct unpacker *unpacker, size_t count)
{
    if (count > unpacker->rest.size || count > unpacker->size - unpacker->at) {
        return false;
    }
    if (count > 0) {
        memcpy(unpacker->out + unpacker->at, unpacker->rest.data, count);
        unpacker->rest = slice_after(unpacker->rest, count);
        unpacker->at += count;
    }
    return true;
}

/* Copies from `distance` bytes back; the copy may overlap its source, and then repeats itself. */
static void copy_back(uint8_t *to, size_t distance, size_t count)
{
    const uint8_t *from = to - distance;

    while (count > 0) {
        size_t piece = (size_t)(to - from) < count ? (size_t)(to - from) : count;

        memcpy(to, from, piece); /* the number of bytes between `from` and `to` doubles each time */
        to += piece;
        count -= piece;
    }
}

static bool copy_match(struct unpacker *unpacker, size_t distance, size_t count)
{
    size_t before = unpacker->dictionary.size + unpacker->at;
    uint8_t *to = unpacker->out + unpacker->at;

    if (distance == 0 || distance > before || count > unpacker->size - unpacker->at) {
        return false;
    }
    if (distance > unpacker->at) {
        size_t from = before - distance;

        if (count > unpacker->dictionary.size - from) {
            return false;
        }
        memcpy(to, unpacker->dictionary.data + from, count);
    } else {
        copy_back(to, distance, count);
    }
    unpacker->at += count;
    return true;
}

static bool unpack_sequence(struct unpacker *unpacker)
{
    size_t literals = 0;
    size_t count = 0;
    size_t distance = 0;

    if (unpacker->rest.size == 0) {
        return false;
    }
    literals = unpacker->rest.data[0] >> 4;
    count = unpacker->rest.data[0] & 0x0f;
    unpacker->rest = slice_after(unpacker->rest, 1);
    if (!take_rest(&unpacker->rest, &literals) || !copy_literals(unpacker, literals)) {
        return false;
    }
    if (unpacker->at == unpacker->size) {
        return literals > 0 && count == 0;
    }
    return take_varint(&unpacker->rest, &distance) && take_rest(&unpacker->rest, &count) &&
           copy_match(unpacker, distance, count + MATCH_MIN);
}

bool pack_read_size(struct slice packed, size_t *ret_size)
{
    return take_varint(&packed, ret_size) && *ret_size <= PACK_BYTES_MAX;
}

bool pack_read(struct slice dictionary, struct slice packed, uint8_t *out)
{
    struct unpacker unpacker = {.dictionary = dictionary, .rest = packed};

    unpacker.out = out;
    if (!take_varint(&unpacker.rest, &unpacker.size) || unpacker.size > PACK_BYTES_MAX) {
        return false;
    }
    while (unpacker.at < unpacker.size) {
        if (!unpack_sequence(&unpacker)) {
            return false;
        }
    }
    return unpacker.rest.size == 0;
}
