/*
 * kinds.c: all kinds of attacks, by name.
 */
#include "tests/attack/attack.h"

#include <string.h>

const struct attack_kind *attack_kind_at(size_t index)
{
    const struct attack_kind *const tables[] = {kinds_of_frames, kinds_of_slowness,
                                                kinds_of_messages};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const struct attack_kind *kind = tables[i];

        for (; kind->name != NULL && index > 0; kind++) {
            index--;
        }
        if (kind->name != NULL) {
            return kind;
        }
    }
    return NULL;
}

const struct attack_kind *attack_find_kind(const char *name)
{
    size_t index = 0;
    const struct attack_kind *kind = NULL;

    while ((kind = attack_kind_at(index)) != NULL && strcmp(kind->name, name) != 0) {
        index++;
    }
    return kind;
}
