/*
 * placeholders_encode.c: filled placeholders and prompts as fields of a response, of ResolvePlaceholders and of ExplainExposure.
 */
#include "server/domain/reviews/placeholders.h"

#include "store/base/wire.h"

#include <errata/v1/review_prompts.views.h>

/* The fields of an entry of a map. */
#define ENTRY_KEY_FIELD 1
#define ENTRY_VALUE_FIELD 2

enum err placeholders_put_texts(struct arena *arena, const struct resolved *resolved,
                                uint32_t field, struct buffer *run)
{
    for (int32_t i = 1; i <= PLACEHOLDER_COUNT; i++) {
        const struct resolved_text *text = &resolved->texts[i];
        struct resolved_placeholder_view view = {
            .placeholder = (enum review_placeholder)i,
            .source = text->source,
            .text = text->text,
        };
        struct buffer signals;

        buffer_init(&signals, arena, SIGNAL_COUNT);
        for (int32_t j = 1; j <= SIGNAL_COUNT; j++) {
            if (text->signals[j]) {
                resolved_placeholder_view_add_signals(&signals, (enum review_signal)j);
            }
        }
        view.signals.run = buffer_slice(&signals);
        resolved_placeholder_view_put(&view, field, run);
        if (!buffer_ok(&signals)) {
            return ERR_MEMORY;
        }
    }
    return buffer_ok(run) ? OK : ERR_MEMORY;
}

enum err placeholders_put_prompts(struct arena *arena, const struct placeholders *placeholders,
                                  uint32_t field, struct buffer *run)
{
    for (size_t i = 0; i < placeholders->prompt_count; i++) {
        const struct named_prompt *prompt = &placeholders->prompts[i];
        struct buffer entry;

        buffer_init(&entry, arena, prompt->name.size + prompt->text.size + 2 * WIRE_OVERHEAD_BYTES);
        wire_put_bytes(&entry, ENTRY_KEY_FIELD, prompt->name);
        wire_put_bytes(&entry, ENTRY_VALUE_FIELD, prompt->text);
        wire_put_bytes(run, field, buffer_slice(&entry));
        if (!buffer_ok(&entry)) {
            return ERR_MEMORY;
        }
    }
    return buffer_ok(run) ? OK : ERR_MEMORY;
}
