/*
 * python_list.c: see python_list.h.
 */
#include "tools/errata/import/python_list.h"

struct list {
    struct slice rest;
    struct buffer json;
};

static void add_separator(struct list *list)
{
    if (list->json.size > 1) {
        buffer_append_byte(&list->json, ',');
    }
}

/* Returns the byte of an escape of one letter. */
static uint8_t unescape(uint8_t letter)
{
    switch (letter) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    default:
        return letter;
    }
}

/* Reads a quoted text; returns false if it does not end, or has a numeric escape. */
static bool take_quoted(struct list *list, struct arena *arena)
{
    uint8_t quote = list->rest.data[0];
    struct buffer text;
    size_t at = 1;

    buffer_init(&text, arena, list->rest.size);
    while (at < list->rest.size && list->rest.data[at] != quote) {
        uint8_t byte = list->rest.data[at++];

        if (byte == '\\') {
            if (at == list->rest.size || memchr("xuUN01234567", list->rest.data[at], 12) != NULL) {
                return false;
            }
            byte = unescape(list->rest.data[at++]);
        }
        buffer_append_byte(&text, byte);
    }
    if (at == list->rest.size || !buffer_ok(&text)) {
        return false;
    }
    add_separator(list);
    json_write_string(&list->json, buffer_slice(&text), false);
    list->rest = slice_after(list->rest, at + 1);
    return true;
}

/* Reads a number or a word up to the next separator. */
static bool take_word(struct list *list)
{
    static const struct {
        struct slice word;
        struct slice json;
    } words[] = {{SLICE("None"), SLICE("null")},
                 {SLICE("nan"), SLICE("null")},
                 {SLICE("True"), SLICE("true")},
                 {SLICE("False"), SLICE("false")}};
    size_t size = 0;
    struct slice word = {NULL, 0};

    while (size < list->rest.size && memchr(", \n]", list->rest.data[size], 4) == NULL) {
        size++;
    }
    word = slice_of(list->rest.data, size);
    list->rest = slice_after(list->rest, size);
    add_separator(list);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (slice_equal(word, words[i].word)) {
            buffer_append(&list->json, words[i].json);
            return true;
        }
    }
    buffer_append(&list->json, word);
    return size > 0;
}

struct json_value python_list_read(struct arena *arena, struct slice text)
{
    const struct json_value none = {JSON_NULL, {NULL, 0}};
    const struct json_rules rules = {.depth_max = 2};
    struct json_value value = none;
    struct json_problem problem = {NULL, 0};
    struct list list = {.rest = text};
    bool fits = text.size >= 2 && text.data[0] == '[' && text.data[text.size - 1] == ']';

    if (!fits) {
        return none;
    }
    list.rest = slice_of(text.data + 1, text.size - 2);
    buffer_init(&list.json, arena, text.size + 16);
    buffer_append_byte(&list.json, '[');
    while (fits && list.rest.size > 0) {
        uint8_t byte = list.rest.data[0];

        if (byte == ',' || byte == ' ' || byte == '\n') {
            list.rest = slice_after(list.rest, 1);
        } else if (byte == '\'' || byte == '"') {
            fits = take_quoted(&list, arena);
        } else {
            fits = take_word(&list);
        }
    }
    buffer_append_byte(&list.json, ']');
    return fits && buffer_ok(&list.json) &&
                   json_check(arena, buffer_slice(&list.json), &rules, &value, &problem) == OK
               ? value
               : none;
}
