/*
 * masks.c: see masks.h.
 */
#include "server/domain/cues/masks.h"

/* Maximum words of a title. */
#define TITLE_WORDS_MIN 2
#define TITLE_WORDS_MAX 12

/* Finds the next place of a span; SIZE_MAX if it does not occur again. */
static size_t find(struct slice text, size_t from, struct slice span)
{
    const void *found = span.size > 0 && from < text.size
                            ? memmem(text.data + from, text.size - from, span.data, span.size)
                            : NULL;

    return found == NULL ? SIZE_MAX : (size_t)((const uint8_t *)found - text.data);
}

/* Removes all occurrences of one span. */
static enum err remove_span(struct arena *arena, struct slice text, struct slice span,
                            struct slice *ret_text)
{
    size_t at = find(text, 0, span);
    uint8_t *bytes = NULL;
    size_t used = 0;
    size_t from = 0;

    if (at == SIZE_MAX) {
        *ret_text = text;
        return OK;
    }
    bytes = arena_alloc(arena, text.size + 1);
    if (bytes == NULL) {
        return ERR_MEMORY;
    }
    while (at != SIZE_MAX) {
        memcpy(bytes + used, text.data + from, at - from);
        used += at - from;
        bytes[used] = '\n';
        used++;
        from = at + span.size;
        at = find(text, from, span);
    }
    memcpy(bytes + used, text.data + from, text.size - from);
    *ret_text = slice_of(bytes, used + text.size - from);
    return OK;
}

enum err masks_remove_spans(struct arena *arena, struct slice message, const struct slice *spans,
                            size_t count, struct slice *ret_message)
{
    enum err err = OK;

    *ret_message = message;
    for (size_t i = 0; i < count && err == OK; i++) {
        err = remove_span(arena, *ret_message, spans[i], ret_message);
    }
    return err;
}

/* Returns whether a word of the previous turn may be part of a title; `is_first`: its first word. */
static bool is_title_word(const struct cue_word *word, bool is_first)
{
    return word->is_quoted || word->is_capital || (!is_first && word->text.size <= 3);
}

/* Returns how many words at `at` of the message are the title that begins at `from`. */
static size_t match_title(const struct cue_words *message, size_t at, const struct cue_words *named,
                          size_t from)
{
    size_t count = 0;
    size_t capitals = 0;
    size_t whole = 0;

    while (count < TITLE_WORDS_MAX && at + count < message->count && from + count < named->count) {
        const struct cue_word *word = &named->items[from + count];

        if (!slice_equal(word->text, message->items[at + count].text) ||
            !is_title_word(word, count == 0) || (count > 0 && word->begins_sentence)) {
            break;
        }
        capitals += word->is_quoted || (word->is_capital && !word->begins_sentence);
        count++;
        whole = word->is_quoted || word->is_capital ? count : whole;
    }
    return capitals >= TITLE_WORDS_MIN - 1 && whole >= TITLE_WORDS_MIN ? whole : 0;
}

static void mask_title(struct cue_words *message, size_t at, const struct cue_words *named)
{
    for (size_t from = 0; from < named->count; from++) {
        size_t count = 0;

        if (named->items[from].text.data[0] != message->items[at].text.data[0]) {
            continue;
        }
        count = match_title(message, at, named, from);
        for (size_t i = 0; i < count; i++) {
            message->items[at + i].is_masked = true;
        }
    }
}

void masks_set(struct cue_words *message, const struct cue_words *named)
{
    for (size_t i = 0; i < message->count; i++) {
        message->items[i].is_masked = message->items[i].is_masked || message->items[i].is_quoted;
        if (!message->items[i].is_masked) {
            mask_title(message, i, named);
        }
    }
}
