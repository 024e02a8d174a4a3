/*
 * hpack.c: see hpack.h. Numbers in comments are sections of RFC 7541.
 */
#include "tools/bench/load/hpack.h"

#include "store/base/assert.h"

/* The dynamic table begins after the static one (2.3.3). */
#define STATIC_COUNT 61

/* First bits of a field, and how many bits of its first byte are left for a number (6). */
#define INDEXED 0x80
#define INDEXED_BITS 7
#define INSERTED 0x40
#define INSERTED_BITS 6
#define PASSED 0x00
#define PASSED_BITS 4
#define TABLE_SIZE 0x20
#define TABLE_SIZE_BITS 5

/* The entries of the static table (appendix A) that gRPC requests use. */
struct static_entry {
    const char *name;
    const char *value;
    uint8_t index;
};

static const struct static_entry static_entries[] = {
    {":authority", "", 1},     {":method", "GET", 2},    {":method", "POST", 3},
    {":path", "/", 4},         {":scheme", "http", 6},   {":scheme", "https", 7},
    {"authorization", "", 23}, {"content-type", "", 31}, {"user-agent", "", 58},
};
#define STATIC_KNOWN (sizeof(static_entries) / sizeof(static_entries[0]))

enum err hpack_init(struct hpack *hpack, enum hpack_way way)
{
    *hpack = (struct hpack){.way = way, .limit_bytes = HPACK_TABLE_BYTES_MAX};
    if (way == HPACK_LITERAL &&
        nghttp2_hd_deflate_new(&hpack->deflater, HPACK_TABLE_BYTES_MAX) != 0) {
        return ERR_MEMORY;
    }
    return OK;
}

void hpack_deinit(struct hpack *hpack)
{
    if (hpack->deflater != NULL) {
        nghttp2_hd_deflate_del(hpack->deflater);
    }
    *hpack = (struct hpack){0};
}

enum err hpack_set_limit(struct hpack *hpack, uint32_t limit_bytes)
{
    uint32_t limit = limit_bytes < HPACK_TABLE_BYTES_MAX ? limit_bytes : HPACK_TABLE_BYTES_MAX;

    if (hpack->way == HPACK_LITERAL) {
        return nghttp2_hd_deflate_change_table_size(hpack->deflater, limit) == 0 ? OK : ERR_MEMORY;
    }
    if (limit != hpack->limit_bytes) {
        /* Both sides forget all entries and insert them again: this happens at most once. */
        hpack->limit_bytes = limit;
        hpack->limit_changed = true;
        hpack->count = 0;
        hpack->used_bytes = 0;
        hpack->generation++;
    }
    return OK;
}

/* Writes an integer after the first bits of its byte (5.1). */
static uint8_t *put_number(uint8_t *out, uint8_t first, unsigned bits, size_t number)
{
    size_t most = ((size_t)1 << bits) - 1;

    if (number < most) {
        *out++ = (uint8_t)(first | number);
        return out;
    }
    *out++ = (uint8_t)(first | most);
    for (number -= most; number >= 0x80; number >>= 7) {
        *out++ = (uint8_t)(0x80 | (number & 0x7f));
    }
    *out++ = (uint8_t)number;
    return out;
}

/* Writes a text without Huffman code (5.2). */
static uint8_t *put_text(uint8_t *out, struct slice text)
{
    out = put_number(out, 0, 7, text.size);
    if (text.size > 0) {
        memcpy(out, text.data, text.size);
    }
    return out + text.size;
}

/* Returns the index of the field (`ret_whole`), or of only its name; 0 if there is none. */
static size_t find_static(const struct hpack_field *field, bool *ret_whole)
{
    size_t name_index = 0;

    *ret_whole = false;
    for (size_t i = 0; i < STATIC_KNOWN; i++) {
        const struct static_entry *entry = &static_entries[i];

        if (!slice_equal(field->name, slice_text(entry->name))) {
            continue;
        }
        if (entry->value[0] != '\0' && slice_equal(field->value, slice_text(entry->value))) {
            *ret_whole = true;
            return entry->index;
        }
        name_index = name_index == 0 ? entry->index : name_index;
    }
    return name_index;
}

/* The newest entry has the lowest index. 0 if the field is not in the table. */
static size_t find_dynamic(const struct hpack *hpack, const struct hpack_field *field)
{
    for (uint32_t i = 0; i < hpack->count; i++) {
        if (slice_equal(hpack->entries[i].name, field->name) &&
            slice_equal(hpack->entries[i].value, field->value)) {
            return STATIC_COUNT + (hpack->count - i);
        }
    }
    return 0;
}

static bool insert(struct hpack *hpack, const struct hpack_field *field)
{
    size_t size = field->name.size + field->value.size + HPACK_ENTRY_BYTES;

    if (field->varies || size > hpack->limit_bytes - hpack->used_bytes) {
        return false;
    }
    ASSERT(hpack->count < HPACK_ENTRIES_MAX);
    hpack->entries[hpack->count++] = *field;
    hpack->used_bytes += (uint32_t)size;
    hpack->generation++;
    return true;
}

static uint8_t *put_field(struct hpack *hpack, const struct hpack_field *field, uint8_t *out)
{
    bool whole = false;
    size_t index = find_static(field, &whole);
    size_t known = whole ? index : find_dynamic(hpack, field);

    if (known != 0) {
        return put_number(out, INDEXED, INDEXED_BITS, known);
    }
    out = insert(hpack, field) ? put_number(out, INSERTED, INSERTED_BITS, index)
                               : put_number(out, PASSED, PASSED_BITS, index);
    if (index == 0) {
        out = put_text(out, field->name);
    }
    return put_text(out, field->value);
}

static enum err encode_literal(struct hpack *hpack, const struct hpack_field *fields, size_t count,
                               uint8_t *out, size_t *ret_size)
{
    nghttp2_nv pairs[HPACK_FIELDS_MAX];
    ssize_t size = 0;

    for (size_t i = 0; i < count; i++) {
        pairs[i] = (nghttp2_nv){.name = (uint8_t *)fields[i].name.data,
                                .value = (uint8_t *)fields[i].value.data,
                                .namelen = fields[i].name.size,
                                .valuelen = fields[i].value.size};
    }
    size = nghttp2_hd_deflate_hd(hpack->deflater, out, HPACK_BLOCK_BYTES_MAX, pairs, count);
    if (size < 0) {
        return ERR_MEMORY;
    }
    *ret_size = (size_t)size;
    return OK;
}

enum err hpack_encode(struct hpack *hpack, const struct hpack_field *fields, size_t count,
                      uint8_t *out, size_t *ret_size)
{
    uint8_t *at = out;

    ASSERT(count <= HPACK_FIELDS_MAX);
    if (hpack->way == HPACK_LITERAL) {
        return encode_literal(hpack, fields, count, out, ret_size);
    }
    if (hpack->limit_changed) {
        /* The size in between empties the peer's table (4.3). */
        at = put_number(at, TABLE_SIZE, TABLE_SIZE_BITS, 0);
        if (hpack->limit_bytes > 0) {
            at = put_number(at, TABLE_SIZE, TABLE_SIZE_BITS, hpack->limit_bytes);
        }
        hpack->limit_changed = false;
    }
    for (size_t i = 0; i < count; i++) {
        at = put_field(hpack, &fields[i], at);
    }
    *ret_size = (size_t)(at - out);
    return OK;
}

bool hpack_fit(const struct hpack_field *fields, size_t count)
{
    size_t size = HPACK_OVERHEAD_BYTES;

    for (size_t i = 0; i < count; i++) {
        size += fields[i].name.size + fields[i].value.size;
    }
    return count <= HPACK_FIELDS_MAX && size <= HPACK_BLOCK_BYTES_MAX;
}
