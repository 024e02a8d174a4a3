/*
 * contract.c: searches the generated tables by binary search. The generator sorts them; a test
 * checks that.
 */
#include "server/codec/contract.h"

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
