/*
 * json_sides.h: the before and the after of a change, read and compared. Anything that goes wrong in it
 * fails the test.
 */
#ifndef ERRATA_TESTS_SUPPORT_JSON_JSON_SIDES_H
#define ERRATA_TESTS_SUPPORT_JSON_JSON_SIDES_H

#include "server/domain/json/members.h"

/* Two objects, read and compared. */
struct json_sides {
    struct arena arena;
    struct slice before_json;
    struct slice after_json;
    struct members before;
    struct members after;
};

/* Both must be checked JSON texts; borrowed. The caller frees `sides->arena`. */
void json_sides_init(struct json_sides *sides, struct slice before, struct slice after);

#endif
