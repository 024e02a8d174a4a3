/*
 * annotators.c: see annotators.h.
 */
#include "server/api/annotators.h"

#include "store/base/assert.h"

enum err annotators_read(struct ctx *ctx, const char *path, const Errata__V1__AnnotatorKind *kinds,
                         size_t count, uint32_t *ret_kinds)
{
    uint32_t set = 0;

    for (size_t i = 0; i < count; i++) {
        enum annotator_kind kind = ANNOTATOR_KIND_UNSPECIFIED;

        if (UNEXPECTED(!annotator_kind_from_wire((int32_t)kinds[i], &kind))) {
            return ERR_INTERNAL;
        }
        if (kind == ANNOTATOR_KIND_UNSPECIFIED) {
            fault_add(ctx->fault, arena_printf(ctx->arena, "%s[%zu]", path, i),
                      "UNSPECIFIED; expected HUMAN, CODE or LLM");
        }
        set |= 1u << kind;
    }
    *ret_kinds = set;
    return OK;
}
