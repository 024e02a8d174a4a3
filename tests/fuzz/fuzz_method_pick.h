/*
 * fuzz_method_pick.h: selects a method of the contract by two bytes: the one whose name has the next hash. So stored
 * inputs select the same methods when the contract grows, except those just before a new method.
 */
#ifndef ERRATA_TESTS_FUZZ_FUZZ_METHOD_PICK_H
#define ERRATA_TESTS_FUZZ_FUZZ_METHOD_PICK_H

#include "server/codec/contract.h"
#include "tests/fuzz/fuzz_input.h"

/* FNV-1a, folded to 16 bits. */
static inline uint16_t fuzz_method_hash(const struct method_info *method)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < method->path.size; i++) {
        hash = (hash ^ method->path.data[i]) * 16777619u;
    }
    return (uint16_t)(hash ^ hash >> 16);
}

static inline const struct method_info *fuzz_pick_method(struct fuzz_input *input)
{
    uint16_t place = (uint16_t)fuzz_take_number(input, 2);
    const struct method_info *found = &contract_methods[0];
    uint16_t found_distance = UINT16_MAX;

    for (uint32_t i = 0; i < contract_method_count; i++) {
        uint16_t distance = (uint16_t)(fuzz_method_hash(&contract_methods[i]) - place);

        if (distance <= found_distance) {
            found = &contract_methods[i];
            found_distance = distance;
        }
    }
    return found;
}

#endif
