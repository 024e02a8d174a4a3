/*
 * id_prefix.c: see id_prefix.h.
 */
#include "store/id_prefix.h"

#include "store/base/hex.h"

static bool is_dash(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

static bool add_digit(struct id_prefix *prefix, size_t bytes_max, uint8_t letter)
{
    int value = hex_value(letter);
    size_t at = prefix->digit_count / 2;

    if (value < 0 || at >= bytes_max) {
        return false;
    }
    prefix->bytes[at] |= (uint8_t)(prefix->digit_count % 2 == 0 ? value << 4 : value);
    prefix->digit_count++;
    return true;
}

bool id_prefix_parse_uuid(struct slice text, struct id_prefix *ret_prefix)
{
    struct id_prefix prefix = {.digit_count = 0};

    for (size_t at = 0; at < text.size; at++) {
        if (is_dash(at) ? text.data[at] != '-' : !add_digit(&prefix, UUID_BYTES, text.data[at])) {
            return false;
        }
    }
    *ret_prefix = prefix;
    return true;
}

bool id_prefix_parse_hex(struct slice text, size_t bytes_max, struct id_prefix *ret_prefix)
{
    struct id_prefix prefix = {.digit_count = 0};

    for (size_t at = 0; at < text.size; at++) {
        if (!add_digit(&prefix, bytes_max, text.data[at])) {
            return false;
        }
    }
    *ret_prefix = prefix;
    return true;
}

bool id_prefix_matches(const struct id_prefix *prefix, struct slice id)
{
    size_t whole = prefix->digit_count / 2;

    if (id.size < (prefix->digit_count + 1) / 2 ||
        (whole > 0 && memcmp(prefix->bytes, id.data, whole) != 0)) {
        return false;
    }
    return prefix->digit_count % 2 == 0 || prefix->bytes[whole] >> 4 == id.data[whole] >> 4;
}

void id_prefix_put(const struct id_prefix *prefix, struct key *key)
{
    key_put_bytes(key, prefix->bytes, prefix->digit_count / 2);
}

enum err id_prefix_open_page(const struct id_prefix *prefix, struct store_txn *txn,
                             enum store_table table, struct key organization, struct page *page)
{
    struct scan_range range = {.table = table, .prefix = organization, .after = page->after};

    id_prefix_put(prefix, &range.prefix);
    return page_open(page, txn, &range);
}

enum err id_prefix_next_row(const struct id_prefix *prefix, struct page *page,
                            struct slice *ret_key, struct slice *ret_value)
{
    enum err err = OK;

    do {
        err = page_next(page, ret_key, ret_value);
    } while (err == OK && !id_prefix_matches(prefix, slice_after(*ret_key, KEY_ORG_BYTES)));
    return err;
}
