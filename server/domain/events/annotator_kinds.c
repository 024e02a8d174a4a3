/*
 * annotator_kinds.c: see annotator_kinds.h.
 */
#include "server/domain/events/annotator_kinds.h"

#include "store/base/assert.h"
#include "store/base/view.h"

struct slice annotator_kinds_run(uint32_t kinds)
{
    /* Indexed by the bits of the set without the lowest bit, which no kind uses. */
    static const struct slice runs[] = {
        {(const uint8_t *)"", 0},         {(const uint8_t *)"\x01", 1},
        {(const uint8_t *)"\x02", 1},     {(const uint8_t *)"\x01\x02", 2},
        {(const uint8_t *)"\x03", 1},     {(const uint8_t *)"\x01\x03", 2},
        {(const uint8_t *)"\x02\x03", 2}, {(const uint8_t *)"\x01\x02\x03", 3},
    };

    ASSERT(annotator_kinds_is_valid(kinds));
    return runs[kinds >> 1];
}

enum err annotator_kinds_read(struct slice run, uint32_t *ret_kinds)
{
    uint32_t kinds = 0;
    uint64_t number = 0;

    while (view_next_number(&run, &number)) {
        if (number < ANNOTATOR_KIND_HUMAN || number > ANNOTATOR_KIND_LLM) {
            return ERR_CORRUPT;
        }
        kinds |= 1u << number;
    }
    *ret_kinds = kinds;
    return OK;
}
