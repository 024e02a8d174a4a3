/*
 * contract.c: searches the generated tables by binary search. The generator sorts them; a test
 * checks that.
 */
#include "server/codec/contract.h"

#include "store/base/buffer.h"

#define ENUM_WORDS_BYTES_MAX 600

const struct method_info *contract_find_method(struct slice path)
{
    uint32_t low = 0;
    uint32_t high = contract_method_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = slice_compare(path, contract_methods[middle].path);

        if (order == 0) {
            return &contract_methods[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

const struct message_info *contract_find_message(struct slice full_name)
{
    uint32_t low = 0;
    uint32_t high = contract_message_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = slice_compare(full_name, contract_messages[middle]->full_name);

        if (order == 0) {
            return contract_messages[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

const struct contract_symbol *contract_find_symbol(struct slice name)
{
    uint32_t low = 0;
    uint32_t high = contract_symbol_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = slice_compare(name, contract_symbols[middle].name);

        if (order == 0) {
            return &contract_symbols[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

const struct field_info *contract_find_field(const struct message_info *message, uint32_t number)
{
    uint32_t low = 0;
    uint32_t high = message->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (message->fields[middle].number == number) {
            return &message->fields[middle];
        }
        if (number < message->fields[middle].number) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

struct slice contract_enum_words(struct arena *arena, const struct enum_info *enumeration)
{
    const struct enum_value_info *last = NULL;
    struct buffer words;

    buffer_init(&words, arena, ENUM_WORDS_BYTES_MAX);
    for (uint32_t i = 0; i < enumeration->count && words.size < ENUM_WORDS_BYTES_MAX; i++) {
        if (enumeration->values[i].number == 0) {
            continue;
        }
        if (last != NULL) {
            buffer_append(&words, words.size > 0 ? SLICE(", ") : SLICE(""));
            buffer_append(&words, last->short_name);
        }
        last = &enumeration->values[i];
    }
    if (last != NULL) {
        bool is_all = words.size < ENUM_WORDS_BYTES_MAX;

        buffer_append(&words, words.size > 0 ? SLICE(" or ") : SLICE(""));
        buffer_append(&words, is_all ? last->short_name : SLICE("..."));
    }
    return buffer_ok(&words) ? buffer_slice(&words) : slice_of(NULL, 0);
}
