/*
 * grpc_status.c: see grpc_status.h.
 */
#include "tools/bench/load/grpc_status.h"

#include "tools/bench/load/parse.h"

#include <stddef.h>
#include <string.h>

static const char *const names[GRPC_STATUS_COUNT] = {
#define STATUS(name, number) [number] = #name,
#include "store/base/status_codes.def"
#undef STATUS
};

const char *grpc_status_name(uint32_t code)
{
    return code < GRPC_STATUS_COUNT ? names[code] : NULL;
}

bool grpc_status_find(const char *text, uint32_t *ret_code)
{
    uint64_t number = 0;

    for (uint32_t i = 0; i < GRPC_STATUS_COUNT; i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret_code = i;
            return true;
        }
    }
    if (!parse_count(text, &number) || number > 999) {
        return false;
    }
    *ret_code = (uint32_t)number;
    return true;
}
