/*
 * allowed.c: see allowed.h.
 */
#include "server/domain/text/allowed.h"

#include "server/domain/text/fold.h"

#include <stddef.h>
#include <utf8proc.h>

struct code_range {
    uint32_t first;
    uint32_t last;
};

static const struct code_range forbidden[] = {
#define FORBIDDEN(first, last) {first, last},
#include "server/domain/text/forbidden.def"
#undef FORBIDDEN
};

static bool is_forbidden(uint32_t code_point)
{
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
        if (code_point < forbidden[i].first) {
            return false;
        }
        if (code_point <= forbidden[i].last) {
            return true;
        }
    }
    return false;
}

static bool has_allowed_category(uint32_t code_point)
{
    switch ((int)utf8proc_category((utf8proc_int32_t)code_point)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    default:
        return true; /* the remaining categories are L*, M*, N*, P* and S* */
    }
}

bool allowed_in_field(uint32_t code_point)
{
    if (code_point < 0x7F) {
        return code_point >= ' ' || code_point == '\n';
    }
    if (code_point >= 0xC0 && code_point < 0x180) {
        return true; /* letters of Latin-1 and Extended-A, and the multiplication and division signs */
    }
    return has_allowed_category(code_point) && !is_forbidden(code_point) &&
           !fold_is_ignorable(code_point);
}
