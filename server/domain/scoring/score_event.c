/*
 * score_event.c: see score_event.h.
 */
#include "server/domain/scoring/score_event.h"

#include <errata/v1/learned_rule.fields.h>
#include <errata/v1/verdict_service.views.h>

enum err score_event_put(struct arena *arena, const struct score_event *event, uint32_t field,
                         struct buffer *run)
{
    struct rule_evidence_view evidence = {
        .feedback_count = event->count,
        .accuracy = (double)event->accuracy / (double)VERDICT_UNIT,
    };
    struct score_event_view view = {
        .severity = SCORE_SEVERITY_INFO,
        .weight = (double)event->weight / (double)VERDICT_UNIT,
        .has_evidence = true,
        .suppressed_by = event->suppressed_by,
    };
    char id[UUID_TEXT_BYTES];

    uuid_format(event->id, id);
    view.rule_id = arena_printf(arena, "LEARNED_%.*s", (int)sizeof(id), id);
    view.message = arena_printf(arena, "Learned rule applied: %.*s", (int)event->pattern.size,
                                (const char *)event->pattern.data);
    if (!learned_rule_type_from_wire((int32_t)event->rule_type, &evidence.rule_type)) {
        return ERR_CORRUPT;
    }
    if (view.rule_id.size == 0 || view.message.size == 0 ||
        !view_encode(&rule_evidence_view_type, &evidence, arena, &view.evidence)) {
        return ERR_MEMORY;
    }
    score_event_view_put(&view, field, run);
    return OK;
}
