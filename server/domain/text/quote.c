/*
 * quote.c: see quote.h.
 */
#include "server/domain/text/quote.h"

#include "server/domain/text/allowed.h"
#include "server/domain/text/sanitise.h"
#include "store/base/text.h"

void quote_init(struct quote *quote, struct arena *arena)
{
    buffer_init(&quote->text, arena, 0);
    quote->left_characters = QUOTE_CHARACTERS_MAX;
    quote->is_cut = false;
    quote->fallbacks = 0;
}

static void append_mark(struct buffer *text, uint32_t mark)
{
    uint8_t bytes[4];
    size_t size = text_encode(mark, bytes);

    buffer_append(text, slice_of(bytes, size));
}

static size_t count_characters(struct slice text)
{
    size_t count = 0;

    for (size_t at = 0; at < text.size; count++) {
        (void)text_next(text, &at);
    }
    return count;
}

enum err quote_add(struct quote *quote, struct slice note)
{
    struct sanitised sanitised = sanitise_note(quote->text.arena, note, quote->left_characters);

    quote->fallbacks += sanitised.failed ? 1 : 0;
    quote->is_cut = quote->is_cut || sanitised.is_cut;
    if (sanitised.text.size == 0) {
        return OK;
    }
    if (quote->text.size > 0) {
        buffer_append_byte(&quote->text, '\n');
    }
    append_mark(&quote->text, ALLOWED_QUOTE_OPEN);
    buffer_append(&quote->text, sanitised.text);
    append_mark(&quote->text, ALLOWED_QUOTE_CLOSE);
    quote->left_characters -= count_characters(sanitised.text);
    return buffer_ok(&quote->text) ? OK : ERR_MEMORY;
}
