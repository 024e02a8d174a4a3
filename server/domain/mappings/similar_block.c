/*
 * similar_block.c: see similar_block.h. A block consists of the number of entries, its capacity in
 * entries (8, 32, 128 or 512) and the minimum number of trigrams of an entry, 2 bytes each; 2 zero
 * bytes; the rows; the entries' numbers of trigrams; their mappings. Bits and numbers of unused
 * entries are zero.
 */
#include "server/domain/mappings/similar_block.h"

#include "store/base/assert.h"

#define HEADER_BYTES 8
#define COUNT_BYTES 2
#define ROOM_AT 2 /* offset of the capacity in the header */
#define LEAST_AT 4
#define SEQ_BYTES 8
#define ROOM_MIN 8
/* The factor by which the capacity of a full block grows. */
#define ROOM_FACTOR 4

/* If LMDB stores a value in pages of its own, the first page begins with a header of 16 bytes. */
_Static_assert(SIMILAR_BLOCK_BYTES_MAX <= 4 * 4096 - 16, "a full block is four pages");
_Static_assert(SIMILAR_ENTRIES_MAX == 8 * sizeof(similar_lanes), "a row is one vector");
_Static_assert(TRIGRAMS_MAX < 1 << SIMILAR_PLANES_MAX, "all of a text's trigrams can be counted");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "lanes are loaded as they are stored");

/* A block that is being written: the same parts, in memory of its own. */
struct draft {
    uint8_t *bytes;
    size_t room;
    size_t count;
};

static size_t block_bytes(size_t room)
{
    return HEADER_BYTES + room / 8 * SIMILAR_ROWS + room * (COUNT_BYTES + SEQ_BYTES);
}

static uint16_t get_le16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static void put_le16(uint8_t *at, size_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static uint8_t *draft_row(const struct draft *draft, size_t row)
{
    return draft->bytes + HEADER_BYTES + row * (draft->room / 8);
}

static uint8_t *draft_trigram_count(const struct draft *draft, size_t entry)
{
    return draft_row(draft, SIMILAR_ROWS) + entry * COUNT_BYTES;
}

static uint8_t *draft_seq(const struct draft *draft, size_t entry)
{
    return draft_trigram_count(draft, draft->room) + entry * SEQ_BYTES;
}

size_t similar_row_of(uint64_t trigram)
{
    /* Returns the upper half of the product with an odd constant (2^64 divided by the golden
     * ratio), scaled. */
    uint64_t mixed = trigram * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(((mixed >> 32) * SIMILAR_ROWS) >> 32);
}

enum err similar_block_read(struct slice bytes, struct similar_block *ret_block)
{
    size_t room = bytes.size < HEADER_BYTES ? 0 : get_le16(bytes.data + ROOM_AT);
    size_t count = room == 0 ? 0 : get_le16(bytes.data);

    if ((room != 8 && room != 32 && room != 128 && room != SIMILAR_ENTRIES_MAX) ||
        bytes.size != block_bytes(room) || count == 0 || count > room) {
        return ERR_CORRUPT;
    }
    ret_block->least_trigrams = get_le16(bytes.data + LEAST_AT);
    ret_block->rows = bytes.data + HEADER_BYTES;
    ret_block->row_bytes = room / 8;
    ret_block->trigram_counts = ret_block->rows + SIMILAR_ROWS * ret_block->row_bytes;
    ret_block->seqs = ret_block->trigram_counts + room * COUNT_BYTES;
    ret_block->count = count;
    return OK;
}

uint16_t similar_block_trigram_count(const struct similar_block *block, size_t entry)
{
    return get_le16(block->trigram_counts + entry * COUNT_BYTES);
}

uint64_t similar_block_seq(const struct similar_block *block, size_t entry)
{
    uint64_t seq = 0;

    memcpy(&seq, block->seqs + entry * SEQ_BYTES, sizeof(seq));
    return seq;
}

size_t similar_block_find(const struct similar_block *block, uint64_t seq)
{
    size_t entry = 0;

    while (entry < block->count && similar_block_seq(block, entry) != seq) {
        entry++;
    }
    return entry;
}

/* Copies a block into one with room for `room` entries. */
static enum err make_draft(struct arena *arena, struct slice bytes, size_t room,
                           struct draft *ret_draft)
{
    struct similar_block block = {.count = 0};
    struct draft draft = {.room = room};
    enum err err = bytes.size == 0 ? OK : similar_block_read(bytes, &block);

    if (err != OK) {
        return err;
    }
    draft.bytes = arena_calloc(arena, 1, block_bytes(room));
    if (draft.bytes == NULL) {
        return ERR_MEMORY;
    }
    draft.count = block.count;
    for (size_t row = 0; row < SIMILAR_ROWS && block.count > 0; row++) {
        memcpy(draft_row(&draft, row), block.rows + row * block.row_bytes, block.row_bytes);
    }
    if (block.count > 0) {
        memcpy(draft_trigram_count(&draft, 0), block.trigram_counts, block.count * COUNT_BYTES);
        memcpy(draft_seq(&draft, 0), block.seqs, block.count * SEQ_BYTES);
    }
    *ret_draft = draft;
    return OK;
}

static size_t least_trigrams(const struct draft *draft)
{
    size_t least = TRIGRAMS_MAX;

    for (size_t entry = 0; entry < draft->count; entry++) {
        size_t count = get_le16(draft_trigram_count(draft, entry));

        least = count < least ? count : least;
    }
    return least;
}

static struct slice end_draft(const struct draft *draft)
{
    put_le16(draft->bytes, draft->count);
    put_le16(draft->bytes + ROOM_AT, draft->room);
    put_le16(draft->bytes + LEAST_AT, least_trigrams(draft));
    return slice_of(draft->bytes, block_bytes(draft->room));
}

/* Returns the capacity of a block; 0 if there is no block. */
static size_t room_of(struct slice bytes)
{
    return bytes.size < HEADER_BYTES ? 0 : get_le16(bytes.data + ROOM_AT);
}

enum err similar_block_add(struct arena *arena, struct slice bytes, uint64_t seq,
                           const struct trigrams *trigrams, struct slice *ret_bytes)
{
    size_t room = bytes.size == 0 ? ROOM_MIN : room_of(bytes);
    struct draft draft = {.room = 0};
    enum err err = OK;

    if (bytes.size > 0 && get_le16(bytes.data) == room && room < SIMILAR_ENTRIES_MAX) {
        room *= ROOM_FACTOR;
    }
    err = make_draft(arena, bytes, room, &draft);
    if (err != OK) {
        return err;
    }
    if (draft.count == draft.room) {
        return ERR_CORRUPT;
    }
    for (size_t i = 0; i < trigrams->count; i++) {
        draft_row(&draft, similar_row_of(trigrams->items[i]))[draft.count / 8] |=
            (uint8_t)(1 << draft.count % 8);
    }
    put_le16(draft_trigram_count(&draft, draft.count), trigrams->count);
    memcpy(draft_seq(&draft, draft.count), &seq, sizeof(seq));
    draft.count++;
    *ret_bytes = end_draft(&draft);
    return OK;
}

enum err similar_block_replace(struct arena *arena, struct slice bytes, size_t entry, uint64_t seq,
                               struct slice *ret_bytes)
{
    struct draft draft = {.room = 0};
    enum err err = make_draft(arena, bytes, room_of(bytes), &draft);

    if (err != OK) {
        return err;
    }
    ASSERT(entry < draft.count);
    memcpy(draft_seq(&draft, entry), &seq, sizeof(seq));
    *ret_bytes = end_draft(&draft);
    return OK;
}

/* Moves the last entry's bit of a row to the position of another entry, and clears it. */
static void move_bit(uint8_t *row, size_t from, size_t to)
{
    uint8_t bit = (uint8_t)(row[from / 8] >> from % 8 & 1);

    row[to / 8] = (uint8_t)((row[to / 8] & ~(1 << to % 8)) | bit << to % 8);
    row[from / 8] = (uint8_t)(row[from / 8] & ~(1 << from % 8));
}

enum err similar_block_remove(struct arena *arena, struct slice bytes, size_t entry,
                              struct slice *ret_bytes)
{
    struct draft draft = {.room = 0};
    size_t last = 0;
    enum err err = make_draft(arena, bytes, room_of(bytes), &draft);

    if (err != OK) {
        return err;
    }
    ASSERT(entry < draft.count);
    draft.count--;
    last = draft.count;
    if (last == 0) {
        *ret_bytes = slice_of(NULL, 0);
        return OK;
    }
    for (size_t row = 0; row < SIMILAR_ROWS; row++) {
        move_bit(draft_row(&draft, row), last, entry);
    }
    memmove(draft_trigram_count(&draft, entry), draft_trigram_count(&draft, last), COUNT_BYTES);
    memset(draft_trigram_count(&draft, last), 0, COUNT_BYTES);
    memmove(draft_seq(&draft, entry), draft_seq(&draft, last), SEQ_BYTES);
    memset(draft_seq(&draft, last), 0, SEQ_BYTES);
    *ret_bytes = end_draft(&draft);
    return OK;
}

void similar_query_init(struct similar_query *query, const struct trigrams *trigrams)
{
    query->count = trigrams->count;
    for (size_t i = 0; i < trigrams->count; i++) {
        query->rows[i] = (uint16_t)similar_row_of(trigrams->items[i]);
    }
}

/* Returns the number of binary digits of a number. */
static size_t digits_of(size_t number)
{
    size_t digits = 0;

    while (number >> digits != 0) {
        digits++;
    }
    return digits;
}

/* A full row is copied with a constant size, so that the compiler inlines the copy. */
static void load_row(const struct similar_block *block, size_t row, similar_lanes *lanes)
{
    const uint8_t *at = block->rows + row * block->row_bytes;

    if (block->row_bytes == sizeof(*lanes)) {
        memcpy(lanes, at, sizeof(*lanes));
    } else {
        memset(lanes, 0, sizeof(*lanes));
        memcpy(lanes, at, block->row_bytes);
    }
}

/* Adds a row to the first plane, and the carries to the following ones, up to `plane_count`. */
static void add_row(struct similar_sums *sums, const similar_lanes *row, size_t plane_count)
{
    similar_lanes carry = *row;

    for (size_t plane = 0; plane < plane_count; plane++) {
        similar_lanes next = sums->planes[plane] & carry;

        sums->planes[plane] ^= carry;
        carry = next;
    }
}

/* Adds two rows at once, which costs little more than one: both are added to the first plane, with
 * one carry. */
static void add_rows(struct similar_sums *sums, const similar_lanes *a, const similar_lanes *b,
                     size_t plane_count)
{
    similar_lanes either = *a ^ *b;
    similar_lanes carry = (*a & *b) | (sums->planes[0] & either);

    sums->planes[0] ^= either;
    for (size_t plane = 1; plane < plane_count; plane++) {
        similar_lanes next = sums->planes[plane] & carry;

        sums->planes[plane] ^= carry;
        carry = next;
    }
}

void similar_block_sum(const struct similar_block *block, const struct similar_query *query,
                       struct similar_sums *ret_sums)
{
    similar_lanes rows[2];
    size_t i = 0;

    ret_sums->plane_count = digits_of(query->count);
    memset(ret_sums->planes, 0, ret_sums->plane_count * sizeof(ret_sums->planes[0]));
    for (; i + 1 < query->count; i += 2) {
        load_row(block, query->rows[i], &rows[0]);
        load_row(block, query->rows[i + 1], &rows[1]);
        add_rows(ret_sums, &rows[0], &rows[1], digits_of(i + 2));
    }
    if (i < query->count) {
        load_row(block, query->rows[i], &rows[0]);
        add_row(ret_sums, &rows[0], ret_sums->plane_count);
    }
}

void similar_sums_from(const struct similar_sums *sums, size_t least, similar_lanes *ret_lanes)
{
    const similar_lanes none = {0};
    similar_lanes equal = ~none; /* lanes that are equal so far, from the highest digit on */
    similar_lanes more = none;

    if (least >> sums->plane_count != 0) {
        *ret_lanes = none;
        return;
    }
    for (size_t plane = sums->plane_count; plane > 0; plane--) {
        const similar_lanes *digit = &sums->planes[plane - 1];

        if ((least >> (plane - 1) & 1) != 0) {
            equal &= *digit;
        } else {
            more |= equal & *digit;
            equal &= ~*digit;
        }
    }
    *ret_lanes = more | equal;
}

size_t similar_sums_get(const struct similar_sums *sums, size_t entry)
{
    size_t number = 0;

    for (size_t plane = 0; plane < sums->plane_count; plane++) {
        number |= (size_t)(sums->planes[plane][entry / 64] >> entry % 64 & 1) << plane;
    }
    return number;
}
